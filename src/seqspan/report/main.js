/* What the reader can do: zoom, see other answers, select, correct, sort, search, save, change the theme. */
const NUMBERS = Object.keys(DATA.cuts)
  .map(Number)
  .sort((a, b) => a - b);

function draw() {
  const focused = document.activeElement && document.activeElement.id;
  drawTimeline();
  drawLegend();
  drawSureness();
  drawTable();
  drawEditor();
  drawCorrections();
  drawTelling();
  drawExperts();
  if (focused && byId(focused) && document.activeElement !== byId(focused))
    byId(focused).focus({ preventScroll: true });
}

/** Plots and matrices are drawn once they are unfolded. */
function drawExperts() {
  if (byId("why")?.open) DATA.labelEvidence ? drawLabelEvidence() : drawSpectrum();
  if (byId("matrices")?.open) ["Z", "W"].forEach((name) => (heats[name] ? drawHeat(name) : loadHeat(name)));
  if (byId("optimisation")?.open) drawConvergence();
}

/** Show another answer; it was computed with the page. Corrections can be brought back with undo. */
function showOther(answer) {
  if (state.past.length) state.past.push({ tag: `answer-${answer}`, ...snapshot() });
  state.answer = answer;
  state.spans = toSpans(answer === AS_FOUND ? DATA.found : (DATA.grains[answer] ?? DATA.cuts[answer]));
  state.names = answer === AS_FOUND ? { ...DATA.names } : {};
  state.selected = -1;
  state.view = [0, N];
  state.open.clear();
  state.grouped = isLong();
  showAnswer();
  draw();
}

/** Whether a flat table of the spans would be hard to read. */
function isLong() {
  return state.spans.length > MANY && groupByLabel().length < state.spans.length / 2;
}

/** Say which answer is shown. */
function showAnswer() {
  const labels = groupByLabel().length,
    found = state.answer === AS_FOUND;
  const known = groupByLabel().filter(({ label }) => label !== UNKNOWN).length;
  byId("answer-title").textContent =
    `${countOf(state.spans.length, "span")} of ${countOf(known, DATA.noun, DATA.nouns)}` +
    (known < labels ? ", some unknown" : "");
  byId("lead").hidden = !found;
  if (byId("one-span")) byId("one-span").hidden = !found;
  for (const button of document.querySelectorAll("[data-grain]"))
    button.setAttribute("aria-pressed", String(button.dataset.grain === state.answer));
  byId("as-found")?.setAttribute("aria-pressed", String(found));
  if (!byId("number")) return;
  byId("number-value").textContent = String(labels);
  const at = NUMBERS.indexOf(Number(found ? AS_FOUND : state.answer));
  if (at >= 0) byId("number").value = at;
  byId("number").setAttribute("aria-valuetext", `${labels}, ${countOf(state.spans.length, "span")}`);
}

/** Select a span and zoom to it, with half of its length around it. */
function zoomTo(i) {
  const span = state.spans[i];
  if (!span) return;
  const margin = Math.max(3, Math.round(0.5 * (span.end - span.start)));
  state.view = [Math.max(0, span.start - margin), Math.min(N, span.end + margin)];
  byId("readout").textContent =
    `Span ${i + 1}, ${DATA.noun} ${nameOf(span.label)}: ${rangeText(span)}, ` +
    `samples ${span.start} to ${span.end - 1}.`;
  select(i);
}

/** Make the visible range longer or shorter around its middle. */
function zoomBy(factor) {
  const [low, high] = state.view,
    length = Math.min(N, Math.max(2, Math.round((high - low) * factor)));
  const start = Math.max(0, Math.min(N - length, Math.round((low + high - length) / 2)));
  state.view = [start, start + length];
  draw();
}

/** Move the visible range so that its middle is at a sample. */
function centreOn(sample) {
  const length = state.view[1] - state.view[0];
  const start = Math.max(0, Math.min(N - length, sample - (length >> 1)));
  state.view = [start, start + length];
  draw();
}

function showAll() {
  state.view = [0, N];
  state.selected = -1;
  byId("readout").textContent = "The whole recording is shown.";
  draw();
}

function sortBy(name) {
  state.up = state.sort === name ? !state.up : true;
  state.sort = name;
  drawTable();
  byId(`sort-${name}`).focus();
}

/** List the spans of one label in the table. */
function listLabel(label) {
  state.query = byId("search").value = nameOf(label);
  drawTable();
  byId("table-title").scrollIntoView({ block: "start" });
  byId("search").focus({ preventScroll: true });
}

function toggleGroup(label) {
  if (!state.open.delete(label)) state.open.add(label);
  drawTable();
  byId(`group-${label}`).focus();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Switch to the ${theme === "dark" ? "light" : "dark"} theme`);
  if (state.spans.length) draw();
}

function onKey(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape") return showAll();
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && !typing) {
    event.preventDefault();
    return undo();
  }
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || !event.target.classList.contains("span")) return undefined;
  event.preventDefault();
  const i = Math.max(0, Math.min(state.spans.length - 1, Number(event.target.dataset.span) + step));
  if (!byId(`span-${i}`)) zoomTo(i);
  if (byId(`span-${i}`)) byId(`span-${i}`).focus();
  return undefined;
}

function onClick(event) {
  const on = (selector) => event.target.closest(selector);
  if (on("[data-sort]")) return sortBy(on("[data-sort]").dataset.sort);
  if (on("[data-group]")) return toggleGroup(Number(on("[data-group]").dataset.group));
  if (on("[data-rename]")) return rename(Number(on("[data-rename]").dataset.rename));
  if (on("[data-list]")) return listLabel(Number(on("[data-list]").dataset.list));
  if (on("[data-grain]")) return showOther(on("[data-grain]").dataset.grain);
  if (on("[data-span]")) return zoomTo(Number(on("[data-span]").dataset.span));
  if (on(".track.found")) {
    const box = on(".track.found").getBoundingClientRect();
    const sample = sampleAtShare((event.clientX - box.left) / box.width);
    return zoomTo(state.spans.findIndex(({ start, end }) => sample >= start && sample < end));
  }
  if (on("#overview")) {
    const box = on("#overview").getBoundingClientRect();
    return centreOn(sampleAt(place(0) + ((event.clientX - box.left) / box.width) * (place(N) - place(0))));
  }
  if (on("#changes") && state.selected >= 0) {
    const box = on("#changes").getBoundingClientRect();
    return moveSplit(sampleAtShare((event.clientX - box.left) / box.width));
  }
  return undefined;
}

function wireEditor() {
  const click = (id, action) => byId(id).addEventListener("click", action);
  const changed = (id, action) =>
    byId(id).addEventListener("change", ({ target }) => action(Number(target.value)));
  click("previous", () => zoomTo(state.selected - 1));
  click("next", () => zoomTo(state.selected + 1));
  click("close", showAll);
  changed("edit-start", moveStart);
  changed("edit-end", (last) => moveEnd(last + 1));
  changed("edit-label", relabel);
  changed("split-at", moveSplit);
  click("join-previous", () => join(state.selected, state.selected));
  click("join-next", () => join(state.selected + 1, state.selected));
  click("split", split);
  click("undo", undo);
  click("undo-all", undoAll);
  click("save", saveCsv);
  click("save-edited", saveCsv);
  addEventListener("beforeunload", (event) => {
    if (!state.saved) event.preventDefault();
  });
}

function wireView() {
  const click = (id, action) => byId(id).addEventListener("click", action);
  byId("number")?.addEventListener("input", ({ target }) => showOther(String(NUMBERS[target.value])));
  byId("as-found")?.addEventListener("click", () => showOther(AS_FOUND));
  click("whole", showAll);
  click("zoom-in", () => zoomBy(0.5));
  click("zoom-out", () => zoomBy(2));
  click("all-labels", () => {
    state.allLabels = !state.allLabels;
    drawLegend();
  });
  byId("search").addEventListener("input", ({ target }) => {
    state.query = target.value;
    drawTable();
  });
  byId("grouped").addEventListener("change", ({ target }) => {
    state.grouped = target.checked;
    drawTable();
  });
  for (const id of ["why", "matrices", "optimisation"]) byId(id)?.addEventListener("toggle", drawExperts);
}

function wireTheme() {
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
}

function wire() {
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  wireEditor();
  wireView();
  wireTheme();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    draw();
  });
  if (DATA.heat) ["Z", "W"].forEach(wireHeat);
}

wire();
showOther(AS_FOUND);
document.documentElement.dataset.ready = "yes";
