/* The timeline: pictures, true and found spans, confidence and time axis of the visible range. */
const MIN_BUTTON = 5; // pixels; a narrower span is painted, and found by the arrow keys or after zooming in
const MIN_CHIP = 18; // pixels; a span needs this much room around its name
const LOOKS = { frames: [56, 96, 128], poses: [64, 150, 104] }; // narrowest picture, height, usual width
const CHANNEL_HEIGHT = 52; // pixels
const CHANGES_BASE = 74; // pixels; height of the curve of changes
const MAX_TRACES = 3; // channels above the spans

/** Horizontal position of the start of sample i, as a share of the visible width. */
function share(i) {
  const low = place(state.view[0]),
    high = place(state.view[1]);
  return (place(i) - low) / (high - low || 1);
}

/** The sample at a share of the visible width. */
function sampleAtShare(part) {
  const [low, high] = state.view.map(place);
  return sampleAt(low + part * (high - low));
}

/** Left edge and width of a span as shares of the visible width; null if it is not visible. */
function extent(span) {
  const left = Math.max(share(span.start), 0),
    right = Math.min(share(span.end), 1);
  return right > left ? { left, width: right - left } : null;
}

function position(node, { left, width }) {
  node.style.left = `${100 * left}%`;
  node.style.width = `${100 * width}%`;
  return node;
}

function drawTimeline() {
  const box = byId("timeline");
  const width = box.clientWidth || 600;
  const parts = [lookTrack(width)];
  if (DATA.truth)
    parts.push(
      make("p", { class: "track-name" }, "True"),
      trueTrack(width),
      make("p", { class: "track-name" }, "Found"),
    );
  parts.push(
    spanTrack(width),
    make("p", { class: "track-name" }, "How sure a boundary would be, judged by what is next to it"),
    changesPlot(width),
    overview(width),
  );
  box.replaceChildren(...parts.filter(Boolean));
  const all = state.view[0] === 0 && state.view[1] === N;
  byId("whole").disabled = byId("zoom-out").disabled = all;
  byId("zoom-in").disabled = state.view[1] - state.view[0] < 4;
  drawHandles(box);
}

/** Pictures above the spans; lines for channels, all spectra side by side for spectra. */
function lookTrack(width) {
  const { kind } = DATA.view;
  if (kind === "channels") return channelTrack(width);
  if (kind === "spectra") return waterfall(width);
  if (!shownSamples.length) return null;
  const [, height] = LOOKS[kind];
  const track = make("div", { class: `track strip ${kind}`, "aria-hidden": "true" });
  track.style.height = `${height}px`;
  for (const run of lookRuns(width)) {
    const seen = extent(run);
    const look = make("div", { class: "look" });
    look.append(...runPictures(run, seen.width * width));
    track.append(position(look, seen));
  }
  return track;
}

/** Spans that are wide enough for a picture, and runs of neighbours that are together. */
function lookRuns(width) {
  const [least] = LOOKS[DATA.view.kind];
  const runs = [];
  let open = null; // narrow spans that are still to be shown together
  for (const span of state.spans) {
    const seen = extent(span);
    if (!seen) continue;
    const narrow = seen.width * width < least;
    if (narrow && open) open.end = span.end;
    else if (narrow) runs.push((open = { ...span }));
    else {
      runs.push({ ...span });
      open = null;
    }
  }
  return runs.filter((run) => extent(run).width * width >= least / 2);
}

/** As many pictures of a run, at even steps in time, as have room. */
function runPictures(run, pixels) {
  const [, , usual] = LOOKS[DATA.view.kind];
  const count = Math.max(1, Math.round(pixels / usual));
  const first = Math.max(run.start, state.view[0]),
    last = Math.min(run.end, state.view[1]);
  const seen = new Set();
  for (let i = 0; i < count; i++) {
    const sample = Math.floor(first + ((i + 0.5) * (last - first)) / count);
    seen.add(nearestShown(sample, run));
  }
  return [...seen].map((sample) => {
    const span = state.spans.find(({ start, end }) => sample >= start && sample < end) || run;
    return make("div", { class: "picture" }, pictureOf(sample, timeText(edge(sample)), span));
  });
}

/** The channels that tell the labels apart best, each on its own scale. */
function channelTrack(width) {
  const box = make("div", { class: "traces", "aria-hidden": "true" });
  for (const channel of DATA.view.channels.slice(0, MAX_TRACES)) {
    const [low, high] = channelExtent(channel).map((value) => channel.zero + channel.unit * value);
    const svg = make("svg", { width, height: CHANNEL_HEIGHT, viewBox: `0 0 ${width} ${CHANNEL_HEIGHT}` });
    svg.append(...channelPaths(channel, state.view, width, CHANNEL_HEIGHT));
    const name = make("p", { class: "track-name" }, make("b", {}, channel.name));
    if (channel.unit) name.append(` ${valueText(low)} to ${valueText(high)}`);
    box.append(name, svg);
  }
  return box;
}

/** All spectra side by side: time runs to the right, wavelengths upwards; each band has its own contrast. */
function waterfall(width) {
  const { blocks, size, bands, unit } = DATA.view;
  const lows = bands.map((_, band) => blocks.reduce((low, block) => Math.min(low, block[band]), Infinity));
  const highs = bands.map((_, band) =>
    blocks.reduce((high, block) => Math.max(high, block[band]), -Infinity),
  );
  const columns = Math.max(1, Math.floor(width)),
    map = colourMap();
  const pixels = new ImageData(columns, bands.length);
  for (let x = 0; x < columns; x++) {
    const block = blocks[Math.min(blocks.length - 1, Math.floor(sampleAtShare((x + 0.5) / columns) / size))];
    for (let y = 0; y < bands.length; y++) {
      const band = bands.length - 1 - y;
      const part = (block[band] - lows[band]) / (highs[band] - lows[band] || 1);
      pixels.data.set([...map(255 * part), 255], 4 * (y * columns + x));
    }
  }
  const canvas = make("canvas", {
    class: "waterfall",
    width: columns,
    height: bands.length,
    "aria-hidden": "true",
  });
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  const ends = `${bands[0]} to ${bands[bands.length - 1]} ${unit}`.trim();
  return make("div", {}, make("p", { class: "track-name" }, `Spectra, ${ends} upwards`), canvas);
}

function trueTrack(width) {
  const track = make("div", { class: "track true", role: "group", "aria-label": "True spans" });
  const names = DATA.truth.names;
  for (const span of toSpans([DATA.truth.starts, DATA.truth.labels])) {
    const seen = extent(span);
    if (!seen) continue;
    const text = names.length ? names[span.label] : `${span.label + 1}`;
    const bar = paint(
      make("div", { class: "span", title: `${text}: ${rangeText(span)}` }),
      DATA.truth.paints[span.label],
    );
    if (seen.width * width > MIN_CHIP + 9 * text.length) bar.append(make("span", { class: "chip" }, text));
    track.append(position(bar, seen));
  }
  return track;
}

/** A button for every span that is wide enough; the others are painted below them, one label per pixel. */
function spanTrack(width) {
  const track = make("div", { class: "track found", role: "group", "aria-label": "Spans found" });
  track.append(paintedSpans(width, 52, state.view, "all-spans"));
  const focusable = Math.max(state.selected, 0);
  state.spans.forEach((span, i) => {
    const seen = extent(span);
    if (!seen || (seen.width * width < MIN_BUTTON && i !== focusable)) return;
    track.append(position(spanButton(span, i, seen.width * width, i === focusable), seen));
  });
  if (!track.querySelector('[tabindex="0"]') && track.querySelector("button"))
    track.querySelector("button").setAttribute("tabindex", "0");
  return track;
}

function spanButton(span, i, pixels, focusable) {
  const name = nameOf(span.label);
  const button = paint(
    make("button", {
      type: "button",
      class: "span",
      id: `span-${i}`,
      "data-span": i,
      tabindex: focusable ? 0 : -1,
      "aria-pressed": String(i === state.selected),
      "aria-label": `Span ${i + 1}, ${DATA.noun} ${name}, ${rangeText(span)}`,
      title: `${name}: ${rangeText(span)}`,
    }),
    span.label,
  );
  if (pixels > MIN_CHIP + 8 * name.length) button.append(make("span", { class: "chip" }, name));
  return button;
}

/** Every pixel in the colour of the label that most of its samples have. */
function paintedSpans(width, height, range, className) {
  const columns = Math.max(1, Math.floor(width));
  const canvas = make("canvas", { class: className, width: columns, height: 1, "aria-hidden": "true" });
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  const [low, high] = range.map(place);
  let i = 0;
  for (let x = 0; x < columns; x++) {
    const sample = sampleAt(low + ((x + 0.5) / columns) * (high - low));
    while (i + 1 < state.spans.length && state.spans[i].end <= sample) i++;
    context.fillStyle = colourOf(state.spans[i].label);
    context.fillRect(x, 0, 1, 1);
  }
  return canvas;
}

/** How sure a boundary would be at every sample, the boundaries and the time axis. */
function changesPlot(width) {
  const [height, base] = [CHANGES_BASE + 34, CHANGES_BASE];
  const viewBox = `0 0 ${width} ${height}`;
  const svg = make("svg", {
    width,
    height,
    viewBox,
    id: "changes",
    role: "img",
    "aria-label": "How sure a boundary would be, over time",
  });
  const line = changesLine(width, base);
  if (line.length) {
    const [first, last] = [line[0], line[line.length - 1]].map((point) => point.split(" ")[0]);
    svg.append(make("path", { d: `M${first} ${base}L${line.join("L")}L${last} ${base}Z`, class: "area" }));
    svg.append(make("path", { d: `M${line.join("L")}`, class: "line thin" }));
  }
  for (const percent of [50, 100]) {
    const y = base - (percent / 100) * (base - 14);
    svg.append(make("line", { x1: 0, x2: width, y1: y, y2: y, class: "grid" }));
    svg.append(
      make("rect", { x: 0, y: y - 14, width: 38, height: 14, rx: 3, class: "tag" }),
      make("text", { x: 2, y: y - 3, class: "small" }, `${percent} %`),
    );
  }
  svg.append(
    ...boundaryMarks(width, base),
    make("line", { x1: 0, x2: width, y1: base, y2: base, class: "axis" }),
    ...axisTexts(width, height),
  );
  return svg;
}

/** Where the boundaries are: arrows, ticks where there is no room for arrows, or nothing where all would touch. */
function boundaryMarks(width, base) {
  const places = state.spans
    .slice(1)
    .map((span) => share(span.start) * width)
    .filter((x) => x >= 0 && x <= width);
  if (places.length <= width / 12)
    return places.map((x) =>
      make("path", { d: `M${x - 4} ${base + 8}L${x + 4} ${base + 8}L${x} ${base + 1}Z`, class: "chosen" }),
    );
  if (places.length > width / 3) return [];
  return places.map((x) => make("line", { x1: x, x2: x, y1: base + 2, y2: base + 8, class: "tick" }));
}

function axisTexts(width, height) {
  const [low, high] = state.view.map(place);
  return timeTicks(low, high, width / 110).map(([value, time], i) => {
    const text = DATA.unit === "sample" && i === 0 ? `sample ${time}` : time;
    const x = ((value - low) / (high - low || 1)) * width;
    const anchor = x < 24 ? "start" : x > width - 40 ? "end" : "middle";
    return make("text", { x, y: height - 6, "text-anchor": anchor }, text);
  });
}

/** Points of the curve in the visible range: the largest value of every pixel. */
function changesLine(width, base) {
  const { values, size } = CHANGES;
  const first = Math.max(0, Math.floor(columnOf(state.view[0]) / size) - 1);
  const last = Math.min(values.length, Math.ceil(columnOf(state.view[1]) / size) + 1);
  const best = new Map();
  for (let j = first; j < last; j++) {
    const x = share(sampleOf(j * size)) * width;
    const pixel = last - first > 2 * width ? Math.round(x) : x;
    best.set(pixel, Math.max(best.get(pixel) ?? 0, values[j]));
  }
  return [...best].map(([x, value]) => `${x.toFixed(1)} ${(base - (value / 1000) * (base - 14)).toFixed(1)}`);
}

/** Where the visible range is in the whole recording, when zoomed in; a click moves it. */
function overview(width) {
  if (state.view[0] === 0 && state.view[1] === N) return null;
  const low = place(0),
    range = place(N) - low || 1;
  const part = {
    left: (place(state.view[0]) - low) / range,
    width: (place(state.view[1]) - place(state.view[0])) / range,
  };
  return make(
    "div",
    { class: "overview", id: "overview", "aria-hidden": "true" },
    paintedSpans(width, 14, [0, N], "all-spans"),
    position(make("i"), part),
  );
}
