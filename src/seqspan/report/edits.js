/* Corrections of the spans, each of which can be undone, and the file that they are saved in. */

/** Make a correction. Corrections with the same tag in a row, as of one handle, are undone together. */
function correct(tag, change, selected = state.selected) {
  const before = state.past[state.past.length - 1];
  if (!before || before.tag !== tag) state.past.push({ tag, ...snapshot() });
  change();
  state.saved = false;
  select(selected);
}

function snapshot() {
  const { answer, selected } = state;
  return { answer, selected, spans: state.spans.map((span) => ({ ...span })), names: { ...state.names } };
}

function restore({ answer, selected, spans, names }) {
  Object.assign(state, { answer, spans, names });
  state.saved = state.past.length === 0;
  showAnswer();
  select(selected);
}

function undo() {
  if (state.past.length) restore(state.past.pop());
}

function undoAll() {
  const [first] = state.past.splice(0);
  if (first) restore(first);
}

/** Keep a span selected without zooming. */
function select(i) {
  state.selected = state.spans[i] ? i : -1;
  if (state.selected >= 0) state.split = strongestInside(state.spans[i]);
  draw();
}

function moveStart(sample) {
  const i = state.selected,
    limits = startLimits();
  if (!limits || !Number.isFinite(sample)) return draw();
  const start = clamp(sample, limits);
  return correct(`start-${i}`, () => {
    state.spans[i].start = state.spans[i - 1].end = start;
  });
}

function moveEnd(sample) {
  const i = state.selected,
    limits = endLimits();
  if (!limits || !Number.isFinite(sample)) return draw();
  const end = clamp(sample, limits);
  return correct(`end-${i}`, () => {
    state.spans[i].end = state.spans[i + 1].start = end;
  });
}

function moveSplit(sample) {
  const limits = splitLimits();
  if (limits && Number.isFinite(sample)) state.split = clamp(sample, limits);
  draw();
}

/** Join span i with the one before it, whose label it gets. */
function join(i, selected) {
  if (!state.spans[i] || i < 1) return;
  const label = state.spans[selected === i ? i : i - 1].label;
  correct(
    `join-${state.past.length}`,
    () => {
      const [gone] = state.spans.splice(i, 1);
      Object.assign(state.spans[i - 1], { end: gone.end, label });
    },
    i - 1,
  );
}

/** Split the selected span; the second half becomes the selected one. */
function split() {
  const i = state.selected,
    span = state.spans[i],
    at = state.split;
  if (!(at > span.start && at < span.end)) return;
  correct(
    `split-${state.past.length}`,
    () => state.spans.splice(i, 1, { ...span, end: at }, { ...span, start: at }),
    i + 1,
  );
}

function relabel(label) {
  const i = state.selected;
  correct(`label-${i}`, () => {
    state.spans[i].label = label;
  });
}

function drawEditor() {
  const span = state.spans[state.selected];
  byId("editor").hidden = !span;
  if (!span) return;
  const [starts, ends, splits] = [startLimits(), endLimits(), splitLimits()];
  byId("span-title").textContent = `Span ${state.selected + 1}: ${nameOf(span.label)}, ${rangeText(span)}`;
  byId("span-looks").replaceChildren(looksOf(span, 900, 110));
  setField("edit-start", span.start, starts);
  setField("edit-end", span.end - 1, ends && ends.map((sample) => sample - 1));
  setField("split-at", state.split, splits);
  byId("join-previous").disabled = !starts;
  byId("join-next").disabled = !ends;
  byId("split").disabled = !splits;
  byId("previous").disabled = !starts;
  byId("next").disabled = !ends;
  const labels = groupByLabel().map(({ label }) => label);
  const fresh = Math.max(...labels) + 1;
  const options = [...labels, fresh].map((label) =>
    make("option", { value: label }, label === fresh ? `${nameOf(label)} (new)` : nameOf(label)),
  );
  byId("edit-label").replaceChildren(...options);
  byId("edit-label").value = span.label;
}

function setField(id, value, limits) {
  const field = byId(id);
  field.disabled = !limits;
  field.value = value;
  if (limits) [field.min, field.max] = limits;
}

/** The bar that says what has been corrected. */
function drawCorrections() {
  const count = state.past.length;
  byId("edited").hidden = !count;
  document.body.classList.toggle("has-bar", count > 0);
  byId("edited-text").textContent =
    `${countOf(count, "correction")}${state.saved ? ", saved" : ", not saved yet"}.`;
}

/** Quote a cell of a CSV file if it needs it. */
function cell(text) {
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** A time as in segments.csv. */
function timeCell(value) {
  return DATA.dates && !DATA.perSecond ? dateText(value, "T") : String(Number(value.toPrecision(15)));
}

/** The spans as segments.csv, in the format of the command line. */
function toCsv() {
  const lines = ["start,end,start_time,end_time,label,confidence,name"];
  for (const span of state.spans) {
    const times = [span.start, span.end].map((sample) => timeCell(edge(sample)));
    const row = [
      span.start,
      span.end,
      ...times,
      span.label,
      confidence(span) ?? "",
      cell(nameOf(span.label)),
    ];
    lines.push(row.join(","));
  }
  return lines.join("\n") + "\n";
}

function saveCsv() {
  const url = URL.createObjectURL(new Blob([toCsv()], { type: "text/csv" }));
  const link = make("a", {
    href: url,
    download: `${DATA.name.replace(/[^\p{L}\p{N}._-]+/gu, "_")}_segments.csv`,
  });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
  state.saved = true;
  drawCorrections();
}
