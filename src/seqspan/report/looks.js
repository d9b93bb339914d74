/* What a span looks like: frames, moving figures, a mean spectrum, or features over time. */
const shownSamples = (DATA.view.samples || Object.keys(DATA.view.pictures || {}))
  .map(Number)
  .sort((a, b) => a - b);
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const MAX_PLAYED = 36; // poses of a span that are played on hover: about three seconds

/** Position of the first shown sample at or after i. */
function firstShown(i) {
  let low = 0,
    high = shownSamples.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shownSamples[middle] < i) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The sample nearest to i that has a picture, inside the span if possible. */
function nearestShown(i, span) {
  const at = firstShown(i);
  const near = [shownSamples[at - 1], shownSamples[at]].filter((j) => j !== undefined);
  const inside = near.filter((j) => j >= span.start && j < span.end);
  return (inside.length ? inside : near).reduce((best, j) =>
    Math.abs(j - i) < Math.abs(best - i) ? j : best,
  );
}

/** First, middle and last sample of a span. */
function keySamples(span) {
  const last = span.end - 1;
  return [
    ["first", span.start],
    ["middle", (span.start + last) >> 1],
    ["last", last],
  ];
}

/** A box with up to three pictures of a span. */
function looksOf(span, width = 230, height = 58) {
  const box = make("div", { class: "looks" });
  const kind = DATA.view.kind;
  if (kind === "spectra") box.append(spectrumOf(span, width, height));
  else if (kind === "channels") box.append(channelsOf([span.start, span.end], width, height));
  else if (shownSamples.length) {
    const seen = new Set();
    for (const [word, sample] of keySamples(span)) {
      const shown = nearestShown(sample, span);
      if (!seen.has(shown)) box.append(pictureOf(shown, `${word}: ${timeText(edge(shown))}`, span));
      seen.add(shown);
    }
  }
  return box;
}

/** One frame or pose. */
function pictureOf(sample, text, span) {
  if (DATA.view.kind === "frames")
    return make("img", { src: DATA.view.pictures[sample], alt: text, title: text, loading: "lazy" });
  return poseOf(sample, text, span);
}

const posePoints =
  DATA.view.kind === "poses" ? Int8Array.from(atob(DATA.view.points), (c) => c.charCodeAt(0)) : null;

const POSE_BOX = `${-DATA.view.wide} -128 ${2 * DATA.view.wide} 256`; // bodies are taller than wide

/** The bones of a pose as one path; a dot for every joint if no bones are known. */
function posePath(at) {
  const { joints, edges } = DATA.view;
  const point = (j) => {
    const start = 2 * (at * joints + j);
    return `${posePoints[start]} ${-posePoints[start + 1]}`;
  };
  if (edges.length) return edges.map(([a, b]) => `M${point(a)}L${point(b)}`).join("");
  return Array.from({ length: joints }, (_, j) => `M${point(j)}h0`).join("");
}

/** A stick figure that moves through its span while the pointer is on it. */
function poseOf(sample, text, span) {
  const at = firstShown(sample);
  const path = make("path", { d: posePath(at), class: DATA.view.edges.length ? "bone" : "joint" });
  const svg = make("svg", { viewBox: POSE_BOX, class: "pose", role: "img", "aria-label": text }, path);
  svg.addEventListener("pointerenter", () => play(svg, path, span, at));
  return svg;
}

/** Show the poses of a span one after the other until the pointer leaves. */
function play(svg, path, span, still) {
  if (STILL.matches) return;
  const first = firstShown(span.start),
    last = Math.max(first + 1, firstShown(span.end));
  const step = Math.max(1, Math.ceil((last - first) / MAX_PLAYED / 4));
  const length = Math.min(last - first, MAX_PLAYED * step);
  const from = Math.max(first, Math.min(still - (length >> 1), last - length));
  let frame = 0;
  const timer = setInterval(() => {
    frame = (frame + step) % length;
    path.setAttribute("d", posePath(from + frame));
  }, 1000 / 12);
  const stop = () => {
    clearInterval(timer);
    path.setAttribute("d", posePath(still));
  };
  svg.addEventListener("pointerleave", stop, { once: true });
}

/** Mean spectrum of some spans, in the units of the recording. */
function meanSpectrum(spans) {
  const { blocks, size, bands, low, high } = DATA.view;
  const sums = new Array(bands.length).fill(0);
  let count = 0;
  for (const { start, end } of spans) {
    const first = Math.floor(start / size),
      last = Math.max(first + 1, Math.floor(end / size));
    for (let block = first; block < last && block < blocks.length; block++, count++)
      blocks[block].forEach((value, band) => (sums[band] += value));
  }
  return sums.map((sum) => low + (sum / Math.max(count, 1) / 999) * (high - low));
}

/** Mean spectrum of a label: exact for the spans as they were found. */
function labelSpectrum(label) {
  const { low, high, labels, labelMeans } = DATA.view;
  if (isAsFound())
    return labelMeans[labels.indexOf(label)].map((value) => low + (value / 999) * (high - low));
  return meanSpectrum(state.spans.filter((span) => span.label === label));
}

/** The mean spectrum of a span; all spans share one scale. */
function spectrumOf(span, width, height) {
  const { bands, unit, low, high } = DATA.view;
  const ends = `${bands[0]} to ${bands[bands.length - 1]} ${unit}`.trim();
  const values = meanSpectrum([span]).map((value) => (value - low) / (high - low || 1));
  return curve([values], width, height, `Mean spectrum, ${ends}`);
}

/** The channel that matters most in a span; blocks that it shares with its neighbours are left out. */
function channelsOf(range, width, height) {
  const svg = make("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "curve",
    role: "img",
    preserveAspectRatio: "none",
    "aria-label": `${DATA.view.channels[0].name} over time`,
  });
  const channel = DATA.view.channels[0];
  const { size } = DATA.view;
  const inside = [Math.ceil(range[0] / size) * size, Math.floor(range[1] / size) * size];
  const shown = inside[1] - inside[0] > size ? inside : range;
  svg.append(make("title", {}, channel.name), ...channelPaths(channel, shown, width, height));
  return svg;
}

/** Lowest and highest value of a channel, in standard deviations from its mean. */
function channelExtent(channel) {
  if (!channel.extent) {
    const low = (channel.lows || channel.means).reduce((a, b) => Math.min(a, b));
    const high = (channel.highs || channel.means).reduce((a, b) => Math.max(a, b));
    channel.extent = high > low ? [low, high] : [low - 1, high + 1];
  }
  return channel.extent;
}

/** The range and the mean of a channel in every pixel between two samples. */
function channelPaths(channel, range, width, height) {
  const { size } = DATA.view;
  const first = Math.max(0, Math.floor(range[0] / size)),
    last = Math.max(first + 1, Math.min(channel.means.length, Math.ceil(range[1] / size)));
  const pixels = Math.max(1, Math.min(Math.ceil(width), last - first));
  const [low, high] = channelExtent(channel);
  const y = (value) => (height - 3 - ((value - low) / (high - low)) * (height - 6)).toFixed(1);
  const [start, end] = [place(range[0]), place(range[1])];
  const x = (from, to) => {
    const middle = (place(Math.min(N, from * size)) + place(Math.min(N, to * size))) / 2;
    return Math.max(0, Math.min(width, ((middle - start) / (end - start || 1)) * width));
  };
  const tops = [],
    bottoms = [],
    line = [];
  for (let pixel = 0; pixel < pixels; pixel++) {
    const from = first + Math.floor((pixel * (last - first)) / pixels);
    const to = Math.max(from + 1, first + Math.floor(((pixel + 1) * (last - first)) / pixels));
    const at = x(from, to).toFixed(1);
    const part = (name) => (channel[name] || channel.means).slice(from, to);
    tops.push(`${at} ${y(Math.max(...part("highs")))}`);
    bottoms.push(`${at} ${y(Math.min(...part("lows")))}`);
    const means = part("means");
    line.push(`${at} ${y(means.reduce((a, b) => a + b, 0) / means.length)}`);
  }
  // half a block is left at either end, or the whole span if it is as short as one
  line.unshift(line[0].replace(/^\S+/, "0"));
  line.push(line[line.length - 1].replace(/^\S+/, String(width)));
  const paths = [make("path", { d: `M${line.join("L")}`, class: "line" })];
  if (last - first > pixels || channel.lows)
    paths.unshift(make("path", { d: `M${tops.join("L")}L${bottoms.reverse().join("L")}Z`, class: "area" }));
  return paths;
}

/** Draw lines of shares of the height across the width of a picture. */
function curve(lines, width, height, text) {
  const svg = make("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "curve",
    role: "img",
    "aria-label": text,
    preserveAspectRatio: "none",
  });
  svg.append(make("title", {}, text));
  for (const values of lines) {
    const x = (j) => (values.length > 1 ? (j / (values.length - 1)) * width : width / 2);
    const d = values.map(
      (value, j) => `${j ? "L" : "M"}${x(j).toFixed(1)} ${(height - 3 - value * (height - 6)).toFixed(1)}`,
    );
    svg.append(make("path", { d: d.join(""), class: "line", "vector-effect": "non-scaling-stroke" }));
  }
  return svg;
}
