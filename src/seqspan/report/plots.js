/* Heat maps of Z and W, the spectrum that explains the number, and the convergence. */
const STRIP = 10; // pixels of the spans along the edges of a heat map
const heats = {};

function colourMap() {
  const style = getComputedStyle(document.documentElement);
  const stops = [0, 1, 2].map((i) => style.getPropertyValue(`--heat-${i}`).split(",").map(Number));
  return (v) => {
    const part = v < 128 ? [stops[0], stops[1], v / 128] : [stops[1], stops[2], (v - 128) / 127];
    return part[0].map((low, c) => low + (part[1][c] - low) * part[2]);
  };
}

/** Read a picture's values once; then draw it. */
function loadHeat(name) {
  const picture = new Image();
  picture.onload = () => {
    const canvas = make("canvas", { width: picture.width, height: picture.height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(picture, 0, 0);
    const pixels = context.getImageData(0, 0, picture.width, picture.height);
    heats[name] = { width: picture.width, height: picture.height, values: pixels.data.filter((_, i) => i % 4 === 0), at: null };
    drawHeat(name);
  };
  picture.src = DATA.heat[name].picture;
}

function drawHeat(name) {
  const heat = heats[name];
  if (!heat) return;
  const map = colourMap(), pixels = new ImageData(heat.width, heat.height);
  heat.values.forEach((v, i) => pixels.data.set([...map(v), 255], 4 * i));
  const cells = make("canvas", { width: heat.width, height: heat.height });
  cells.getContext("2d").putImageData(pixels, 0, 0);
  const canvas = byId(`heat-${name}`), side = 560;
  canvas.width = canvas.height = side;
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, STRIP, STRIP, side - STRIP, side - STRIP);
  for (const span of state.spans) {
    const [from, to] = [columnOf(span.start), columnOf(span.end)].map((c) => STRIP + (c / columnOf(N)) * (side - STRIP));
    context.fillStyle = DATA.colours[span.label % DATA.colours.length];
    context.fillRect(from, 0, to - from - 1, STRIP - 2);
    context.fillRect(0, from, STRIP - 2, to - from - 1);
  }
}

/** Column of Z that stands for a sample, where not every sample has its own. */
function columnOf(sample) {
  if (!DATA.rows) return sample;
  const found = DATA.rows.findIndex((row) => row >= sample);
  return found < 0 ? DATA.rows.length : found;
}

function sampleOf(column) {
  const n = DATA.rows ? DATA.rows.length : N;
  const inside = Math.min(column, n - 1);
  return DATA.rows ? DATA.rows[inside] : inside;
}

/** Say the value of a cell. */
function readHeat(name, x, y) {
  const heat = heats[name], { size, top } = DATA.heat[name];
  if (!heat) return;
  heat.at = [Math.max(0, Math.min(heat.width - 1, x)), Math.max(0, Math.min(heat.height - 1, y))];
  const shade = heat.values[heat.at[1] * heat.width + heat.at[0]];
  const value = top * (shade / 255) ** 2;
  const [column, row] = heat.at.map((cell) => sampleOf(cell * size));
  const where = (sample) => `sample ${sample}${DATA.unit === "sample" ? "" : ` (${timeText(edge(sample))})`}`;
  const limit = shade === 255 ? "at least " : "";
  const block = size > 1 ? `, the largest of ${size} × ${size} cells` : "";
  byId("heat-readout").textContent = `${name}: column ${where(column)}, row ${where(row)}: ${limit}${value.toPrecision(3)}${block}`;
}

function wireHeat(name) {
  const canvas = byId(`heat-${name}`);
  canvas.addEventListener("pointermove", (event) => {
    const heat = heats[name], box = canvas.getBoundingClientRect(), strip = (STRIP / 560) * box.width;
    if (!heat) return;
    const cell = (offset, count) => Math.floor(((offset - strip) / (box.width - strip)) * count);
    readHeat(name, cell(event.clientX - box.left, heat.width), cell(event.clientY - box.top, heat.height));
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step || !heats[name]) return;
    event.preventDefault();
    const [x, y] = heats[name].at || [0, 0];
    readHeat(name, x + step[0], y + step[1]);
  });
}

/** Axes, then points: values over positions, both scaled to the box. */
function frame(box, height, text) {
  const width = box.clientWidth || 600;
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": text });
  svg.append(make("line", { x1: 44, x2: width - 8, y1: height - 26, y2: height - 26, class: "axis" }));
  return { svg, x: (part) => 52 + part * (width - 76), y: (part) => height - 30 - part * (height - 46) };
}

function drawSpectrum() {
  const box = byId("spectrum"), values = DATA.spectrum, top = Math.max(...values) || 1;
  const { svg, x, y } = frame(box, 210, `Eigenvalues: ${values.map((value) => value.toPrecision(2)).join(", ")}`);
  const at = (i) => x(values.length > 1 ? i / (values.length - 1) : 0.5);
  values.forEach((value, i) => {
    const chosen = i < state.k;
    svg.append(make("line", { x1: at(i), x2: at(i), y1: y(0), y2: y(value / top), class: "axis" }));
    const point = make("circle", { cx: at(i), cy: y(value / top), r: chosen ? 6 : 4, class: chosen ? "chosen" : "other" });
    point.append(make("title", {}, `${i + 1}: ${value.toPrecision(3)}`));
    svg.append(point);
    if (values.length < 25 && (box.clientWidth > 600 || i % 3 === 0)) svg.append(make("text", { x: at(i), y: 202, "text-anchor": "middle", class: i + 1 === state.k ? "strong" : null }, String(i + 1)));
  });
  if (state.k < values.length) {
    const middle = (at(state.k - 1) + at(state.k)) / 2;
    svg.append(make("line", { x1: middle, x2: middle, y1: y(0), y2: y(1), class: "mark", "stroke-dasharray": "4 4" }));
    const left = middle > (box.clientWidth || 600) / 2;
    svg.append(make("text", { x: middle + (left ? -8 : 8), y: y(1) + 4, "text-anchor": left ? "end" : "start", class: "strong" }, `${state.k} before the gap`));
  }
  for (const value of ticks(0, top, 3).found) svg.append(make("text", { x: 40, y: y(value / top) + 4, "text-anchor": "end" }, String(Number(value.toPrecision(3)))));
  box.replaceChildren(svg);
}

function drawConvergence() {
  const box = byId("convergence"), points = DATA.history.filter(([, gap]) => gap > 0);
  if (points.length < 2) {
    box.replaceChildren(make("p", { class: "quiet" }, "The answer came from a closed form, or from a single certificate: there is no curve."));
    return;
  }
  const logs = points.map(([, gap]) => Math.log10(gap)), goal = DATA.tol ? Math.log10(DATA.tol) : Math.min(...logs);
  const low = Math.min(goal, ...logs) - 0.2, high = Math.max(...logs) + 0.2, last = points[points.length - 1];
  const { svg, x, y } = frame(box, 190, `Certified gap after ${last[0]} iterations: ${last[1].toPrecision(2)}`);
  const level = (value) => y((value - low) / (high - low));
  const d = points.map(([iteration], i) => `${i ? "L" : "M"}${x(iteration / last[0]).toFixed(1)} ${level(logs[i]).toFixed(1)}`);
  svg.append(make("path", { d: d.join(""), class: "line" }));
  points.forEach(([iteration, gap, seconds], i) => {
    const point = make("circle", { cx: x(iteration / last[0]), cy: level(logs[i]), r: 3.5, class: "chosen" });
    point.append(make("title", {}, `iteration ${iteration}, ${seconds} s: gap ${(100 * gap).toPrecision(2)} %`));
    svg.append(point);
  });
  svg.append(make("line", { x1: x(0), x2: x(1), y1: level(goal), y2: level(goal), class: "mark", "stroke-dasharray": "4 4" }));
  svg.append(make("text", { x: x(0), y: level(goal) - 6, class: "strong" }, `asked for: ${(100 * 10 ** goal).toPrecision(2)} %`));
  for (let power = Math.ceil(low); power <= high; power++) svg.append(make("text", { x: 40, y: level(power) + 4, "text-anchor": "end" }, `${Number((100 * 10 ** power).toPrecision(2))} %`));
  const { found } = ticks(0, last[0], 6);
  for (const value of found) svg.append(make("text", { x: x(value / last[0]), y: 182, "text-anchor": "middle" }, value === 0 ? "iteration 0" : String(value)));
  box.replaceChildren(svg);
}
