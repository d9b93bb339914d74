/* Heat maps of Z and W, with the spans along their edges. */
const STRIP = 10; // pixels; width of the strip of spans along the edges of a heat map
const heats = {};

function colourMap() {
  const style = getComputedStyle(document.documentElement);
  const stops = [0, 1, 2].map((i) => style.getPropertyValue(`--heat-${i}`).split(",").map(Number));
  return (v) => {
    const part = v < 128 ? [stops[0], stops[1], v / 128] : [stops[1], stops[2], (v - 128) / 127];
    return part[0].map((low, c) => low + (part[1][c] - low) * part[2]);
  };
}

/** Decode a picture once, then draw it. */
function loadHeat(name) {
  const picture = new Image();
  picture.onload = () => {
    const canvas = make("canvas", { width: picture.width, height: picture.height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(picture, 0, 0);
    const pixels = context.getImageData(0, 0, picture.width, picture.height);
    heats[name] = {
      width: picture.width,
      height: picture.height,
      values: pixels.data.filter((_, i) => i % 4 === 0),
      at: null,
      isSquare: name === "W" || !DATA.landmarks, // otherwise rows are landmarks
    };
    drawHeat(name);
  };
  picture.src = DATA.heat[name].picture;
}

function drawHeat(name) {
  const heat = heats[name];
  if (!heat) return;
  const map = colourMap(),
    pixels = new ImageData(heat.width, heat.height);
  heat.values.forEach((v, i) => pixels.data.set([...map(v), 255], 4 * i));
  const cells = make("canvas", { width: heat.width, height: heat.height });
  cells.getContext("2d").putImageData(pixels, 0, 0);
  const canvas = byId(`heat-${name}`),
    side = 560;
  canvas.width = canvas.height = side;
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, STRIP, STRIP, side - STRIP, side - STRIP);
  for (const span of state.spans) {
    const [from, to] = [columnOf(span.start), columnOf(span.end)].map(
      (c) => STRIP + (c / columnOf(N)) * (side - STRIP),
    );
    context.fillStyle = colourOf(span.label);
    context.fillRect(from, 0, to - from - 1, STRIP - 2);
    if (heat.isSquare) context.fillRect(0, from, STRIP - 2, to - from - 1);
  }
}

/** Column of Z that stands for a sample, by bisection; after subsampling, several samples share one. */
function columnOf(sample) {
  if (!DATA.rows) return sample;
  let low = 0,
    high = DATA.rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (DATA.rows[middle] < sample) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sampleOf(column) {
  const n = DATA.rows ? DATA.rows.length : N;
  const inside = Math.min(column, n - 1);
  return DATA.rows ? DATA.rows[inside] : inside;
}

/** Show the value of a cell. */
function readHeat(name, x, y) {
  const heat = heats[name],
    { size, top, what } = DATA.heat[name];
  if (!heat) return;
  heat.at = [Math.max(0, Math.min(heat.width - 1, x)), Math.max(0, Math.min(heat.height - 1, y))];
  const shade = heat.values[heat.at[1] * heat.width + heat.at[0]];
  const value = top * (shade / 255) ** 2;
  const where = (sample) => `sample ${sample}${DATA.unit === "sample" ? "" : ` (${timeText(edge(sample))})`}`;
  const limit = shade === 255 ? "at least " : "";
  const column = where(sampleOf(heat.at[0] * size[1]));
  const row = heat.isSquare ? where(sampleOf(heat.at[1] * size[0])) : `landmark ${heat.at[1] * size[0]}`;
  const block = Math.max(...size) > 1 ? `, the ${what} of ${size.join(" × ")} cells` : "";
  byId("heat-readout").textContent =
    `${name}: column ${column}, row ${row}: ${limit}${value.toPrecision(3)}${block}`;
}

function wireHeat(name) {
  const canvas = byId(`heat-${name}`);
  canvas.addEventListener("pointermove", (event) => {
    const heat = heats[name],
      box = canvas.getBoundingClientRect(),
      strip = (STRIP / 560) * box.width;
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
