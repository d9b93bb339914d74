/* The data of the page, the state that the reader can change, and the formatting of values. */
const DATA = JSON.parse(document.getElementById("data").textContent);
const N = DATA.n;
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const CHANGES = DATA.changes ?? { values: [], size: 1 }; // long recordings of known labels have none
const SECOND = DATA.perSecond ?? 1; // units of time in a second, if times count from 1970
const UNKNOWN = -1; // label of spans that no known label fits
const AS_FOUND = String(DATA.chosen);
const state = {
  answer: AS_FOUND, // key of DATA.cuts or DATA.grains
  spans: [],
  names: {}, // given by the reader, by label
  past: [], // what the spans were before each correction
  saved: true,
  view: [0, N], // samples that the timeline shows
  selected: -1,
  split: 0, // sample before which the selected span would be split
  sort: "start",
  up: true,
  grouped: false,
  query: "",
  open: new Set(), // labels whose spans the table lists
  allLabels: false,
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
  return DATA.confidence[state.answer][span.start] ?? null;
}

/** The reader's name of a label, or A to Z, then AA, AB, ... as in the exports. */
function nameOf(label) {
  return state.names[label] || letterOf(label);
}

function letterOf(label) {
  if (label === UNKNOWN) return "unknown";
  let name = "";
  for (let rest = label + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  }
  return name;
}

/** Whether the spans are those that were found, without corrections. */
function isAsFound() {
  return state.answer === AS_FOUND && state.past.length === 0;
}

/** "1 span", "2 spans". */
function countOf(count, noun, nouns = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
}

const DIGITS = timeDigits(); // after the decimal point, so that neighbouring samples differ

function timeDigits() {
  const step = Math.abs(edge(N) - edge(0)) / N / SECOND;
  return step > 0 ? Math.max(2, Math.min(6, Math.ceil(-Math.log10(step)))) : 2;
}

/** A time with its unit, or a date. */
function timeText(value, digits = DIGITS) {
  return DATA.dates ? dateText(value, " ") : lengthText(value, digits);
}

/** A length of time with its unit; hours, minutes and seconds if the recording is long. */
function lengthText(value, digits = DIGITS) {
  if (DATA.unit === "sample") return String(Math.round(value));
  const unit = DATA.dates ? "s" : DATA.unit,
    longest = DATA.dates ? (edge(N) - edge(0)) / SECOND : edge(N),
    length = value / SECOND;
  if (unit === "s" && longest >= 100) {
    const minutes = Math.floor(length / 60);
    const seconds = (length - 60 * minutes).toFixed(digits).padStart(digits ? digits + 3 : 2, "0");
    if (longest < 3600) return `${minutes}:${seconds}`;
    return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${seconds}`;
  }
  return `${Number(length.toFixed(digits))} ${unit}`.trim();
}

function rangeText(span) {
  const [from, to] = [timeText(edge(span.start)), timeText(edge(span.end))];
  const sameDay = DATA.dates && from.slice(0, 10) === to.slice(0, 10);
  return `${from} to ${sameDay ? to.slice(11) : to}`;
}

/** A value of the recording with four significant digits. */
function valueText(value) {
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-4)) return withMinus(value.toExponential(2));
  return withMinus(Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 8 }));
}

const withMinus = (text) => text.replace("-", "−");

/** A mean and its standard deviation, both with the digits that the deviation leaves. */
function meanTexts(mean, spread) {
  if (!(spread > 1e-12 * Math.abs(mean))) return [valueText(mean), "± 0"];  // no more than rounding
  const digits = Math.max(0, 1 - Math.floor(Math.log10(spread)));
  if (digits > 8 || Math.abs(mean) >= 1e6) return [valueText(mean), `± ${spread.toPrecision(2)}`];
  const text = (value) => withMinus(value.toLocaleString("en", { maximumFractionDigits: digits }));
  return [text(Number(mean.toFixed(digits)) || 0), `± ${text(Number(spread.toPrecision(2)))}`];
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

const colourOf = (label) =>
  label === UNKNOWN ? "#9a9a9a" : DATA.colours[label % DATA.colours.length];

/** Colour and pattern of a label: no two of the first 64 labels share both. */
function paint(node, label) {
  node.style.backgroundColor = colourOf(label);
  if (label === UNKNOWN) return node;
  const pattern = (label + Math.floor(label / DATA.colours.length)) % 8;
  if (pattern) node.classList.add(`pattern-${pattern}`);
  return node;
}

/** Spans, samples and the longest span of every label, in the order of labels. */
function groupByLabel() {
  const groups = new Map();
  state.spans.forEach((span, i) => {
    const group = groups.get(span.label) || { label: span.label, spans: [], samples: 0, longest: i };
    const best = state.spans[group.longest];
    if (span.end - span.start > best.end - best.start) group.longest = i;
    group.spans.push(i);
    group.samples += span.end - span.start;
    groups.set(span.label, group);
  });
  return [...groups.values()].sort((a, b) => a.label - b.label);
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
