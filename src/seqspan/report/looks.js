/* What a span looks like: frames, stick figures, a mean spectrum, or components over time. */
const shownSamples = Object.keys(DATA.view.pictures || DATA.view.poses || {})
  .map(Number)
  .sort((a, b) => a - b);

/** The sample nearest to i that has a picture, inside the span if possible. */
function nearestShown(i, span) {
  const inside = shownSamples.filter((j) => j >= span.start && j < span.end);
  return (inside.length ? inside : shownSamples).reduce((best, j) =>
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
function looksOf(span) {
  const box = make("div", { class: "looks" });
  const kind = DATA.view.kind;
  if (kind === "spectra") box.append(spectrumOf(span));
  else if (kind === "components") box.append(componentsOf(span.start, span.end, 230, 58));
  else if (shownSamples.length) {
    const seen = new Set();
    for (const [word, sample] of keySamples(span)) {
      const shown = nearestShown(sample, span);
      if (!seen.has(shown)) box.append(pictureOf(shown, `${word}: ${timeText(edge(shown))}`));
      seen.add(shown);
    }
  }
  return box;
}

/** One frame or pose. */
function pictureOf(sample, text) {
  if (DATA.view.kind === "frames")
    return make("img", { src: DATA.view.pictures[sample], alt: text, title: text });
  return poseOf(sample, text);
}

/** A stick figure; only the joints if no bones are known. */
function poseOf(sample, text) {
  const flat = DATA.view.poses[sample];
  const point = (j) => [flat[2 * j], -flat[2 * j + 1]];
  const svg = make("svg", {
    viewBox: "-1060 -1060 2120 2120",
    class: "pose",
    role: "img",
    "aria-label": text,
  });
  for (const [a, b] of DATA.view.edges) {
    const [x1, y1] = point(a),
      [x2, y2] = point(b);
    svg.append(make("line", { x1, y1, x2, y2, class: "bone", "vector-effect": "non-scaling-stroke" }));
  }
  if (!DATA.view.edges.length) {
    for (let j = 0; 2 * j < flat.length; j++) {
      const [cx, cy] = point(j);
      svg.append(make("circle", { cx, cy, r: 28, class: "joint" }));
    }
  }
  return svg;
}

/** The mean spectrum of a span; all spans share one scale. */
function spectrumOf(span) {
  const { blocks, size, bands, unit } = DATA.view;
  const first = Math.floor(span.start / size),
    last = Math.max(first + 1, Math.ceil(span.end / size));
  const part = blocks.slice(first, last);
  const mean = bands.map((_, b) => part.reduce((sum, block) => sum + block[b], 0) / part.length);
  const ends = `${bands[0]} to ${bands[bands.length - 1]} ${unit}`.trim();
  return curve([mean], 230, 58, `Mean spectrum, ${ends}`);
}

/** The components between two samples. */
function componentsOf(start, end, width, height) {
  const { components, size } = DATA.view;
  const first = Math.floor(start / size),
    last = Math.max(first + 2, Math.ceil(end / size));
  const text = components.map((component, i) => `component ${i + 1}: mostly ${component.names.join(", ")}`).join("; ");
  return curve(
    components.map((component) => component.values.slice(first, last)),
    width,
    height,
    text,
  );
}

/** Draw lines of values from 0 to 999 across the width of a picture. */
function curve(lines, width, height, text) {
  const svg = make("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    class: "curve",
    role: "img",
    "aria-label": text,
    preserveAspectRatio: "none",
  });
  svg.append(make("title", {}, text));
  lines.forEach((values, i) => {
    const x = (j) => (values.length > 1 ? (j / (values.length - 1)) * width : width / 2);
    const d = values.map(
      (value, j) =>
        `${j ? "L" : "M"}${x(j).toFixed(1)} ${(height - 3 - (value / 999) * (height - 6)).toFixed(1)}`,
    );
    svg.append(
      make("path", { d: d.join(""), class: `line component-${i}`, "vector-effect": "non-scaling-stroke" }),
    );
  });
  return svg;
}
