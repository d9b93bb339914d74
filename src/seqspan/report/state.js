/* The data of the page, the state that the reader can change, and the formatting of values. */
const DATA = JSON.parse(document.getElementById("data").textContent);
const N = DATA.n;
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const state = {
  k: DATA.chosen,
  spans: [],
  edited: false,
  view: [0, N],
  selected: -1,
  sort: "start",
  up: true,
};

/** Time at which sample i starts; for N, the time at which the last one ends. */
function edge(i) {
  return Array.isArray(DATA.edges) ? DATA.edges[i] : DATA.edges.start + DATA.edges.step * i;
}

/** Position of sample i on the time axis; its index if all times are equal. */
function place(i) {
  return edge(N) > edge(0) ? edge(i) : i;
}

/** The sample at a position on the time axis, by bisection. */
function sampleAt(value) {
  let low = 0,
    high = N - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (place(middle) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Spans from their starts and labels. */
function toSpans([starts, labels]) {
  return starts.map((start, i) => ({
    start,
    end: i + 1 < starts.length ? starts[i + 1] : N,
    label: labels[i],
  }));
}

/** Confidence in the boundary at the start of a span; null if it was set by hand. */
function confidence(span) {
  return DATA.confidence[state.k][span.start] ?? null;
}

/** A to Z, then AA, AB, ... as in the exports. */
function nameOf(label) {
  let name = "";
  for (let rest = label + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  }
  return name;
}

/** A time with its unit; minutes and seconds if the recording is long. */
function timeText(value, digits = 2) {
  if (DATA.unit === "sample") return String(Math.round(value));
  if (DATA.unit === "s" && edge(N) >= 100) {
    const minutes = Math.floor(value / 60);
    return `${minutes}:${(value - 60 * minutes).toFixed(digits).padStart(digits ? digits + 3 : 2, "0")}`;
  }
  return `${Number(value.toFixed(digits))} ${DATA.unit}`.trim();
}

/** Create an element with attributes and children. Strings become text nodes, never HTML. */
function make(name, attributes = {}, ...children) {
  const node = ["svg", "path", "line", "circle", "text", "g", "rect", "title"].includes(name)
    ? document.createElementNS(SVG, name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false)
      node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/** Colour and pattern of a label: no two of the first 64 labels share both. */
function paint(node, label) {
  node.style.backgroundColor = DATA.colours[label % DATA.colours.length];
  const pattern = (label + Math.floor(label / DATA.colours.length)) % 8;
  if (pattern) node.classList.add(`pattern-${pattern}`);
  return node;
}

/** Round steps for about `count` ticks between two values. */
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}
