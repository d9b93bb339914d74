/* Plots that explain the number of labels and the convergence of the solver. */

/** A plot with a baseline; x and y convert shares of its width and height to pixels. */
function frame(box, height, text) {
  const width = box.clientWidth || 600;
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": text });
  svg.append(make("line", { x1: 44, x2: width - 8, y1: height - 26, y2: height - 26, class: "axis" }));
  return {
    svg,
    width,
    height,
    x: (part) => 52 + part * (width - 76),
    y: (part) => height - 30 - part * (height - 46),
  };
}

function write(svg, x, y, text, anchor = "middle", strong = false) {
  svg.append(make("text", { x, y, "text-anchor": anchor, class: strong ? "strong" : null }, text));
}

function dot(svg, cx, cy, text, chosen = true) {
  const shape = { cx, cy, r: chosen ? 5 : 4, class: chosen ? "chosen" : "other" };
  svg.append(make("circle", shape, make("title", {}, text)));
}

function dash(svg, x1, y1, x2, y2) {
  svg.append(make("line", { x1, y1, x2, y2, class: "mark", "stroke-dasharray": "4 4" }));
}

function drawSpectrum() {
  const box = byId("number-plot");
  const values = DATA.spectrum;
  const top = Math.max(...values) || 1;
  const text = `Eigenvalues: ${values.map((value) => value.toPrecision(2)).join(", ")}`;
  const { svg, width, height, x, y } = frame(box, 210, text);
  const at = (i) => x(values.length > 1 ? i / (values.length - 1) : 0.5);
  values.forEach((value, i) => {
    svg.append(make("line", { x1: at(i), x2: at(i), y1: y(0), y2: y(value / top), class: "axis" }));
    dot(svg, at(i), y(value / top), `${i + 1}: ${value.toPrecision(3)}`, i < state.k);
    // on a phone there is room only for every third number
    if (width > 600 || i % 3 === 0) write(svg, at(i), height - 8, String(i + 1), "middle", i + 1 === state.k);
  });
  for (const value of ticks(0, top, 3).found) {
    write(svg, 40, y(value / top) + 4, String(Number(value.toPrecision(3))), "end");
  }
  if (state.k < values.length) markGap(svg, (at(state.k - 1) + at(state.k)) / 2, y, width);
  box.replaceChildren(svg);
}

/** Evidence for each label beyond the first; drawn on a square-root scale, because it varies widely. */
function drawLabelEvidence() {
  const box = byId("number-plot");
  const { values } = DATA.labelEvidence;
  if (!values.length) return box.replaceChildren();
  const top = Math.sqrt(Math.max(...values, 1));
  const text = `Evidence for the second, third, ... ${DATA.noun}: ${values.map((value) => value.toPrecision(2)).join(", ")}`;
  const { svg, width, height, x, y } = frame(box, 210, text);
  const at = (i) => x(values.length > 1 ? i / (values.length - 1) : 0.5);
  const level = (value) => y(Math.sqrt(Math.max(value, 0)) / top);
  values.forEach((value, i) => {
    const label = i + 2;
    svg.append(make("line", { x1: at(i), x2: at(i), y1: y(0), y2: level(value), class: "axis" }));
    dot(svg, at(i), level(value), `${label}: ${value.toPrecision(3)} nats`, label <= state.k);
    if (width > 600 || i % 3 === 0) write(svg, at(i), height - 8, String(label), "middle", label === state.k);
  });
  for (const value of rootTicks(top)) write(svg, 40, level(value) + 4, String(value), "end");
  box.replaceChildren(svg);
}

/** Round values for a square-root axis. */
function rootTicks(top) {
  const step = ticks(0, top * top, 3).found[1];
  return [0, step / 5, step, 2 * step, 3 * step].filter((value) => value <= top * top);
}

/** Mark the gap after the chosen number of eigenvalues. */
function markGap(svg, middle, y, width) {
  const left = middle > width / 2;
  dash(svg, middle, y(0), middle, y(1));
  write(svg, middle + (left ? -8 : 8), y(1) + 4, `${state.k} before the gap`, left ? "end" : "start", true);
}

function drawConvergence() {
  const box = byId("convergence");
  const points = DATA.history.filter(([, gap]) => gap > 0);
  if (points.length < 2) {
    const text = "There is no curve: the solution has a closed form or was certified only once.";
    box.replaceChildren(make("p", { class: "quiet" }, text));
    return;
  }
  const logs = points.map(([, gap]) => Math.log10(gap));
  const goal = DATA.tol ? Math.log10(DATA.tol) : Math.min(...logs);
  const [low, high] = [Math.min(goal, ...logs) - 0.2, Math.max(goal, ...logs) + 0.2];
  const [last, gap] = points[points.length - 1];
  const text = `Certified gap after ${last} iterations: ${gap.toPrecision(2)}`;
  const { svg, height, x, y } = frame(box, 190, text);
  const level = (value) => y((value - low) / (high - low));
  const places = points.map(([iteration], i) => [x(iteration / last), level(logs[i])]);
  svg.append(make("path", { d: `M${places.map((at) => at.join(" ")).join("L")}`, class: "line" }));
  points.forEach(([iteration, value, seconds], i) => {
    dot(svg, ...places[i], `iteration ${iteration}, ${seconds} s: gap ${(100 * value).toPrecision(2)} %`);
  });
  dash(svg, x(0), level(goal), x(1), level(goal));
  write(svg, x(0), level(goal) - 6, `target: ${Number((100 * 10 ** goal).toPrecision(2))} %`, "start", true);
  for (let power = Math.ceil(low); power <= high; power++) {
    write(svg, 40, level(power) + 4, `${Number((100 * 10 ** power).toPrecision(2))} %`, "end");
  }
  for (const value of ticks(0, last, 6).found) {
    write(svg, x(value / last), height - 8, value === 0 ? "iteration 0" : String(value));
  }
  box.replaceChildren(svg);
}
