/* Handles in the timeline: the ends of the selected span, and where it would be split. */
const HANDLES = {
  start: { text: "Start of the span", limits: startLimits, set: (sample) => moveStart(sample) },
  end: { text: "End of the span", limits: endLimits, set: (sample) => moveEnd(sample) },
  split: { text: "Where to split", limits: splitLimits, set: (sample) => moveSplit(sample) },
};

/** Samples at which the selected span may start; null if it has to start where it does. */
function startLimits() {
  const i = state.selected;
  return i > 0 ? [state.spans[i - 1].start + 1, state.spans[i].end - 1] : null;
}

function endLimits() {
  const i = state.selected;
  return i + 1 < state.spans.length ? [state.spans[i].start + 1, state.spans[i + 1].end - 1] : null;
}

function splitLimits() {
  const { start, end } = state.spans[state.selected];
  return end - start > 1 ? [start + 1, end - 1] : null;
}

function clamp(value, [low, high]) {
  return Math.round(Math.min(Math.max(value, low), high));
}

/** The sample inside a span at which most changes: where to split it, unless the reader knows better. */
function strongestInside({ start, end }) {
  const { values, size } = CHANGES;
  const middle = (start + end) >> 1;
  let best = -1,
    found = middle;
  const margin = Math.max(1, Math.floor((end - start) / 5)); // boundaries spread to their neighbourhood
  const [first, last] = [start + margin, end - margin].map((sample) => Math.floor(columnOf(sample) / size));
  for (let j = first; j <= last; j++) {
    const sample = sampleOf(j * size);
    if (values[j] > best && sample > start && sample < end) [best, found] = [values[j], sample];
  }
  return found;
}

function drawHandles(box) {
  if (!state.spans[state.selected]) return;
  const samples = { ...state.spans[state.selected], split: state.split };
  const [top, plot] = [box, byId("changes")].map((node) => node.getBoundingClientRect().top);
  for (const [name, { text, limits }] of Object.entries(HANDLES)) {
    const range = limits();
    const part = share(samples[name]);
    if (!range || part < 0 || part > 1) continue;
    const handle = make("div", {
      class: `handle ${name}`,
      id: `handle-${name}`,
      role: "slider",
      tabindex: 0,
      "aria-label": text,
      "aria-valuemin": range[0],
      "aria-valuemax": range[1],
      "aria-valuenow": samples[name],
      "aria-valuetext": `sample ${samples[name]}, ${timeText(edge(samples[name]))}`,
    });
    handle.style.left = `${100 * part}%`;
    handle.style.height = `${plot - top + CHANGES_BASE + 6}px`;
    wireHandle(handle, name);
    box.append(handle);
  }
}

function wireHandle(handle, name) {
  const { limits, set } = HANDLES[name];
  let sample = null; // while it is being dragged
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    sample = Number(handle.getAttribute("aria-valuenow"));
    event.preventDefault();
    handle.focus();
  });
  handle.addEventListener("pointermove", (event) => {
    if (sample === null) return;
    const box = byId("timeline").getBoundingClientRect();
    sample = clamp(sampleAtShare((event.clientX - box.left) / box.width), limits());
    handle.style.left = `${100 * share(sample)}%`;
    byId("readout").textContent = `Sample ${sample}, ${timeText(edge(sample))}`;
  });
  handle.addEventListener("pointerup", () => {
    const found = sample;
    sample = null;
    if (found !== null && found !== Number(handle.getAttribute("aria-valuenow"))) set(found);
  });
  handle.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const now = Number(handle.getAttribute("aria-valuenow"));
    set(clamp(now + step * (event.shiftKey ? 10 : 1), limits()));
  });
}
