/* What tells labels apart: channels and wavelengths, in the units of the recording. */
const MAX_ROWS = 12; // labels per plot; those with most samples
const N_TYPICAL = 3; // channels named on the card of a label

/** Mean and standard deviation of a channel over the samples of each label, in its own deviations. */
function labelMoments(channel) {
  if (isAsFound()) {
    const { labelMeans, labelSpreads } = channel;
    return new Map(
      DATA.view.labels.map((label, i) => [label, { mean: labelMeans[i], spread: labelSpreads[i] }]),
    );
  }
  const { size } = DATA.view;
  const sums = new Map();
  let i = 0;
  channel.means.forEach((mean, block) => {
    const first = block * size,
      count = Math.min(size, N - first),
      middle = first + (count >> 1);
    while (i + 1 < state.spans.length && state.spans[i].end <= middle) i++;
    const sum = sums.get(state.spans[i].label) || [0, 0, 0];
    const square = channel.squares ? channel.squares[block] : mean * mean;
    sums.set(state.spans[i].label, [sum[0] + count, sum[1] + count * mean, sum[2] + count * square]);
  });
  const moments = new Map();
  for (const [label, [count, total, squares]] of sums) {
    const mean = total / count;
    moments.set(label, { mean, spread: Math.sqrt(Math.max(squares / count - mean * mean, 0)) });
  }
  return moments;
}

let momentsOf = { spans: null, channels: [] }; // of the spans that were drawn last

function allMoments() {
  const key = JSON.stringify([isAsFound(), state.spans]);
  if (momentsOf.spans !== key) momentsOf = { spans: key, channels: DATA.view.channels.map(labelMoments) };
  return momentsOf.channels;
}

/** How unlike the whole recording a label is in a channel: the divergence of two Gaussians, in nats. */
function divergence({ mean, spread }) {
  const s = Math.max(spread, 1e-3);
  return -Math.log(s) + (s * s + mean * mean - 1) / 2;
}

/** The values in which a label differs most from the whole recording. */
function typicalValues(label) {
  const rows = DATA.view.channels
    .map((channel, i) => ({ channel, moments: allMoments()[i].get(label) }))
    .filter(({ channel, moments }) => moments && channel.unit > 0)
    .sort((a, b) => divergence(b.moments) - divergence(a.moments))
    .slice(0, N_TYPICAL)
    .map(({ channel: { name, zero, unit }, moments: { mean, spread } }) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, name),
        ...meanTexts(zero + unit * mean, unit * spread).map((text) => make("td", { class: "figure" }, text)),
      ),
    );
  return rows.length ? make("table", { class: "typical" }, make("tbody", {}, ...rows)) : null;
}

function drawTelling() {
  const { kind } = DATA.view;
  const groups = groupByLabel();
  const shown = (kind === "channels" || kind === "spectra") && groups.length > 1;
  byId("telling").hidden = !shown;
  if (!shown) return;
  const most = [...groups].sort((a, b) => b.samples - a.samples).slice(0, MAX_ROWS);
  const labels = most.map(({ label }) => label).sort((a, b) => a - b);
  const some = labels.length < groups.length ? ` The ${MAX_ROWS} longest ${DATA.nouns} are shown.` : "";
  if (kind === "spectra") return drawTellingSpectra(labels, some);
  const { channels, total } = DATA.view;
  byId("telling-text").textContent =
    (channels.length < total
      ? `The ${channels.length} of ${total} channels that differ most`
      : "All channels") +
    `, most telling first: mean and standard deviation within each ${DATA.noun}.` +
    some;
  const plots = channels.map((channel, i) => channelPlot(channel, allMoments()[i], labels));
  byId("telling-plots").className = "plots";
  byId("telling-plots").replaceChildren(...plots);
}

/** One channel: a bar from mean minus to mean plus one standard deviation for each label. */
function channelPlot(channel, moments, labels) {
  const [width, row, left] = [340, 22, 64];
  const height = labels.length * row + 24;
  const ends = labels.flatMap((label) => {
    const { mean, spread } = moments.get(label) || { mean: 0, spread: 0 };
    return [mean - spread, mean + spread];
  });
  const value = (deviations) => channel.zero + (channel.unit || 1) * deviations;
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const x = (deviations) => left + ((deviations - low) / (high - low || 1)) * (width - left - 14);
  const svg = make("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": channelText(channel, moments, labels),
  });
  let found = [];
  for (let count = 3; found.length < 2 && count < 9; count++)
    ({ found } = ticks(value(low), value(high), count));
  for (const tick of found) {
    const at = x((tick - channel.zero) / (channel.unit || 1));
    svg.append(make("line", { x1: at, x2: at, y1: 0, y2: height - 20, class: "grid" }));
    const anchor = at > width - 24 ? "end" : "middle";
    svg.append(make("text", { x: anchor === "end" ? width : at, y: height - 5, "text-anchor": anchor }, valueText(tick)));
  }
  labels.forEach((label, i) => {
    const found = moments.get(label);
    if (!found) return;
    const y = i * row + row / 2;
    svg.append(make("text", { x: 0, y: y + 4, class: "strong" }, shorten(nameOf(label))));
    const bar = {
      x: x(found.mean - found.spread),
      y: y - 5,
      height: 10,
      rx: 3,
      fill: colourOf(label),
      opacity: 0.55,
    };
    svg.append(make("rect", { ...bar, width: Math.max(1, x(found.mean + found.spread) - bar.x) }));
    svg.append(make("circle", { cx: x(found.mean), cy: y, r: 4.5, class: "dot", fill: colourOf(label) }));
  });
  return make("figure", {}, make("figcaption", {}, make("b", {}, channel.name)), svg);
}

const shorten = (name) => (name.length > 8 ? `${name.slice(0, 7)}…` : name);

function channelText(channel, moments, labels) {
  const parts = labels
    .filter((label) => moments.has(label))
    .map((label) => `${nameOf(label)} ${valueText(channel.zero + channel.unit * moments.get(label).mean)}`);
  return `${channel.name}, mean: ${parts.join(", ")}`;
}

/** The mean spectra of the labels on one scale, and the wavelengths at which they differ most. */
function drawTellingSpectra(labels, some) {
  const { bands, unit, telling, low, high } = DATA.view;
  const box = byId("telling-plots");
  box.className = "plot";
  const best = telling.map((band) => `${valueText(bands[band])} ${unit}`.trim());
  byId("telling-text").textContent =
    `The mean spectrum of each ${DATA.noun}.` +
    (best.length ? ` They differ most near ${best.join(", ")} (dashed lines).` : "") +
    some;
  const { svg, width, height, x, y } = frame(box, 280, "Mean spectra");
  const level = (value) => y((value - low) / (high - low || 1));
  const across = (value) => x((value - bands[0]) / (bands[bands.length - 1] - bands[0] || 1));
  for (const value of ticks(low, high, 4).found) write(svg, 44, level(value) + 4, valueText(value), "end");
  const wavelengths = ticks(Math.min(...bands), Math.max(...bands), width / 70).found;
  for (const value of wavelengths)
    write(svg, across(value), height - 8, `${valueText(value)} ${unit}`.trim());
  for (const band of telling) dash(svg, across(bands[band]), y(0), across(bands[band]), y(1));
  for (const label of labels) {
    const mean = labelSpectrum(label);
    const d = mean.map((value, band) => `${across(bands[band]).toFixed(1)} ${level(value).toFixed(1)}`);
    const path = make(
      "path",
      { d: `M${d.join("L")}`, class: "line spectrum" },
      make("title", {}, nameOf(label)),
    );
    path.style.stroke = colourOf(label);
    svg.append(path);
  }
  const key = make("ul", { class: "stack-key" });
  for (const label of labels)
    key.append(make("li", {}, paint(make("span", { class: "swatch" }), label), make("b", {}, nameOf(label))));
  box.replaceChildren(svg, key);
}
