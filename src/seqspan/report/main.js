/* What the reader can do: zoom, recut, select, edit, sort, save, change the theme. */
function draw() {
  const focused = document.activeElement && document.activeElement.id;
  drawTimeline();
  drawLegend();
  drawTable();
  drawEditor();
  DATA.labelEvidence ? drawLabelEvidence() : drawSpectrum();
  drawHeat("Z");
  drawHeat("W");
  if (focused && byId(focused) && document.activeElement !== byId(focused))
    byId(focused).focus({ preventScroll: true });
}

/** Show the cut into k labels; it was computed with the page. */
function recut(k) {
  state.k = k;
  state.spans = toSpans(k === DATA.chosen ? DATA.found : DATA.cuts[k]);
  state.edited = false;
  state.selected = -1;
  state.view = [0, N];
  byId("number").value = k;
  byId("number-value").textContent = k === DATA.chosen ? `${k} (as found)` : String(k);
  byId("number").setAttribute("aria-valuetext", `${k}, ${state.spans.length} spans`);
  draw();
}

/** Select a span and zoom to it, with a small margin. */
function zoomTo(i) {
  const span = state.spans[i];
  if (!span) return;
  const margin = Math.max(2, Math.round(0.15 * (span.end - span.start)));
  state.selected = i;
  state.view = [Math.max(0, span.start - margin), Math.min(N, span.end + margin)];
  byId("readout").textContent =
    `Span ${i + 1}, ${DATA.noun} ${nameOf(span.label)}: ${rangeText(span)}, ` +
    `samples ${span.start} to ${span.end - 1}.`;
  draw();
}

function showAll() {
  state.view = [0, N];
  state.selected = -1;
  byId("readout").textContent = "The whole recording is shown.";
  draw();
}

function drawEditor() {
  const span = state.spans[state.selected];
  byId("editor").hidden = !span;
  byId("undo").disabled = !state.edited;
  if (!span) return;
  byId("span-title").textContent = `Span ${state.selected + 1}: ${nameOf(span.label)}, ${rangeText(span)}`;
  byId("span-looks").replaceChildren(looksOf(span));
  const start = byId("edit-start"),
    before = state.spans[state.selected - 1];
  start.value = span.start;
  start.min = before ? before.start + 1 : 0;
  start.max = span.end - 1;
  start.disabled = byId("merge").disabled = !before;
  byId("split").disabled = span.end - span.start < 2;
  const labels = [...new Set(state.spans.map((other) => other.label))].sort((a, b) => a - b);
  const options = [...labels, Math.max(...labels) + 1].map((label, i) =>
    make("option", { value: label }, i < labels.length ? nameOf(label) : `${nameOf(label)} (new)`),
  );
  byId("edit-label").replaceChildren(...options);
  byId("edit-label").value = span.label;
}

/** Change the spans and keep the edited one selected. */
function edit(change, selected = state.selected) {
  change();
  state.edited = true;
  zoomTo(selected);
}

function moveStart() {
  const i = state.selected,
    field = byId("edit-start");
  const start = Math.round(Math.min(Math.max(Number(field.value), Number(field.min)), Number(field.max)));
  edit(() => {
    state.spans[i].start = state.spans[i - 1].end = start;
  });
}

function mergeWithPrevious() {
  const i = state.selected;
  edit(() => {
    state.spans[i - 1].end = state.spans[i].end;
    state.spans.splice(i, 1);
  }, i - 1);
}

function splitInTheMiddle() {
  const i = state.selected,
    span = state.spans[i],
    middle = (span.start + span.end) >> 1;
  edit(() => state.spans.splice(i, 1, { ...span, end: middle }, { ...span, start: middle }), i + 1);
}

function sortBy(name) {
  state.up = state.sort === name ? !state.up : true;
  state.sort = name;
  draw();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Switch to the ${theme === "dark" ? "light" : "dark"} theme`);
  drawHeat("Z");
  drawHeat("W");
}

function onKey(event) {
  if (event.key === "Escape") return showAll();
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || !event.target.classList.contains("span")) return undefined;
  event.preventDefault();
  const i = Math.max(0, Math.min(state.spans.length - 1, Number(event.target.dataset.span) + step));
  if (!byId(`span-${i}`)) zoomTo(i);
  if (byId(`span-${i}`)) byId(`span-${i}`).focus();
  return undefined;
}

function onClick(event) {
  const sorter = event.target.closest("[data-sort]");
  if (sorter) return sortBy(sorter.dataset.sort);
  const target = event.target.closest("[data-span]");
  if (target) zoomTo(Number(target.dataset.span));
  return undefined;
}

function wire() {
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  byId("number").addEventListener("input", (event) => recut(Number(event.target.value)));
  byId("as-found").addEventListener("click", () => recut(DATA.chosen));
  byId("undo").addEventListener("click", () => recut(state.k));
  byId("whole").addEventListener("click", showAll);
  byId("previous").addEventListener("click", () => zoomTo(Math.max(0, state.selected - 1)));
  byId("next").addEventListener("click", () => zoomTo(Math.min(state.spans.length - 1, state.selected + 1)));
  byId("edit-start").addEventListener("change", moveStart);
  byId("edit-label").addEventListener("change", (event) =>
    edit(() => {
      state.spans[state.selected].label = Number(event.target.value);
    }),
  );
  byId("merge").addEventListener("click", mergeWithPrevious);
  byId("split").addEventListener("click", splitInTheMiddle);
  byId("save").addEventListener("click", saveCsv);
  byId("theme").addEventListener("click", () =>
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
  );
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  setTheme(dark.matches ? "dark" : "light");
  // paper is light; CSS cannot restyle the heat maps, so they are drawn again for printing
  let before = null;
  matchMedia("print").addEventListener("change", ({ matches }) => {
    if (matches) before = document.documentElement.dataset.theme;
    setTheme(matches ? "light" : before);
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) {
      width = innerWidth;
      draw();
      drawConvergence();
    }
  });
  ["Z", "W"].forEach((name) => {
    loadHeat(name);
    wireHeat(name);
  });
}

wire();
recut(DATA.chosen);
drawConvergence();
drawCaption();
document.documentElement.dataset.ready = "yes";
