/* The timeline: pictures, true and found spans, boundary strength and time axis of the visible range. */
const MIN_LOOK = 26; // pixels; a narrower picture would be unreadable
const MIN_CHIP = 26; // pixels; a narrower span has no room for its name

/** Horizontal position of the start of sample i, as a share of the visible width. */
function share(i) {
  const low = place(state.view[0]),
    high = place(state.view[1]);
  return (place(i) - low) / (high - low || 1);
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
    make("p", { class: "track-name" }, "Boundary strength"),
    strengthPlot(width),
    overview(),
  );
  box.replaceChildren(...parts.filter(Boolean));
  byId("whole").disabled = state.view[0] === 0 && state.view[1] === N;
}

/** A picture above every span that is wide enough; components are drawn as continuous lines. */
function lookTrack(width) {
  const track = make("div", { class: "track strip", "aria-hidden": "true" });
  if (DATA.view.kind === "components") {
    track.append(
      position(make("div", { class: "look" }, componentsOf(state.view[0], state.view[1], width, 82)), {
        left: 0,
        width: 1,
      }),
    );
    return track;
  }
  for (const span of state.spans) {
    const seen = extent(span);
    if (!seen || seen.width * width < MIN_LOOK) continue;
    const look = make("div", { class: "look" });
    const count =
      DATA.view.kind === "spectra" ? 1 : Math.max(1, Math.min(3, Math.floor((seen.width * width) / 150)));
    look.style.display = "grid";
    look.style.gridTemplateColumns = `repeat(${count}, minmax(0, 1fr))`;
    const pictures = [...looksOf(span).children];
    look.append(
      ...(count === 1 ? [pictures[pictures.length >> 1]] : pictures.slice(0, count)).filter(Boolean),
    );
    track.append(position(look, seen));
  }
  return track;
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
    if (seen.width * width > MIN_CHIP + 8 * text.length) bar.append(make("span", { class: "chip" }, text));
    track.append(position(bar, seen));
  }
  return track;
}

function rangeText(span) {
  return `${timeText(edge(span.start))} to ${timeText(edge(span.end))}`;
}

function spanTrack(width) {
  const track = make("div", { class: "track", role: "group", "aria-label": "Spans found" });
  const focusable = Math.max(state.selected, 0);
  state.spans.forEach((span, i) => {
    const seen = extent(span);
    if (!seen) return;
    const button = paint(
      make("button", {
        type: "button",
        class: "span",
        id: `span-${i}`,
        "data-span": i,
        tabindex: i === focusable ? 0 : -1,
        "aria-pressed": String(i === state.selected),
        "aria-label": `Span ${i + 1}, ${DATA.noun} ${nameOf(span.label)}, ${rangeText(span)}`,
        title: `${nameOf(span.label)}: ${rangeText(span)}`,
      }),
      span.label,
    );
    if (seen.width * width > MIN_CHIP) button.append(make("span", { class: "chip" }, nameOf(span.label)));
    track.append(position(button, seen));
  });
  if (!track.querySelector('[tabindex="0"]') && track.firstChild)
    track.firstChild.setAttribute("tabindex", "0");
  return track;
}

/** Strength of the change at every sample, the boundaries and the time axis. */
function strengthPlot(width) {
  const [height, base] = [96, 66];
  const viewBox = `0 0 ${width} ${height}`;
  const svg = make("svg", { width, height, viewBox, role: "img", "aria-label": "Boundary strength over time" });
  const line = strengthLine(width, base);
  if (line.length) svg.append(make("path", { d: `M${line.join("L")}`, class: "line" }));
  for (const span of state.spans.slice(1)) {
    const x = share(span.start) * width;
    const arrow = `M${x - 4} ${base + 7}L${x + 4} ${base + 7}L${x} ${base}Z`;
    if (x >= 0 && x <= width) svg.append(make("path", { d: arrow, class: "chosen" }));
  }
  svg.append(make("line", { x1: 0, x2: width, y1: base, y2: base, class: "axis" }));
  const [low, high] = state.view.map(place);
  const { found, digits } = ticks(low, high, width / 110);
  for (const value of found) {
    const x = ((value - low) / (high - low || 1)) * width;
    const anchor = x < 24 ? "start" : x > width - 30 ? "end" : "middle";
    svg.append(make("text", { x, y: height - 6, "text-anchor": anchor }, timeText(value, digits)));
  }
  return svg;
}

/** Points of the curve in the visible range. */
function strengthLine(width, base) {
  const { values, size } = DATA.strength;
  const first = Math.max(0, Math.floor(columnOf(state.view[0]) / size) - 1);
  const last = Math.min(values.length, Math.ceil(columnOf(state.view[1]) / size) + 1);
  const points = [];
  for (let j = first; j < last; j++) {
    const y = base - (values[j] / 999) * (base - 6);
    points.push(`${(share(sampleOf(j * size)) * width).toFixed(1)} ${y.toFixed(1)}`);
  }
  return points;
}

/** Shows the position of the visible range in the whole recording when zoomed in. */
function overview() {
  if (state.view[0] === 0 && state.view[1] === N) return null;
  const low = place(0),
    range = place(N) - low || 1;
  const part = {
    left: (place(state.view[0]) - low) / range,
    width: (place(state.view[1]) - place(state.view[0])) / range,
  };
  return make("div", { class: "overview", "aria-hidden": "true" }, position(make("i"), part));
}

function drawLegend() {
  const groups = new Map();
  for (const span of state.spans) {
    const group = groups.get(span.label) || { count: 0, samples: 0 };
    groups.set(span.label, { count: group.count + 1, samples: group.samples + span.end - span.start });
  }
  const items = [...groups]
    .sort((a, b) => a[0] - b[0])
    .map(([label, { count, samples }]) => {
      const times = count > 1 ? `recurs, ${count} spans` : "1 span";
      return make(
        "li",
        {},
        paint(make("span", { class: "swatch" }), label),
        make("b", {}, nameOf(label)),
        ` ${times}, ${((100 * samples) / N).toFixed(0)} %`,
      );
    });
  byId("legend").replaceChildren(...items);
}

/** Explain the lines above the timeline. */
function drawCaption() {
  const { kind, components, bands, unit } = DATA.view;
  let text = "";
  if (kind === "spectra")
    text =
      `Above the spans: their mean spectra, from ${bands[0]} to ${bands[bands.length - 1]} ${unit}`.trim() +
      ".";
  if (kind === "components") {
    const lines = ["Solid", "Dashed", "Dotted"];
    text = components
      .map(
        ({ share: part, names }, i) =>
          `${lines[i]}: component ${i + 1}, ${(100 * part).toFixed(0)} % of the variance, ` +
          `mostly ${names.join(", ")}.`,
      )
      .join(" ");
  }
  byId("caption").textContent = text;
}
