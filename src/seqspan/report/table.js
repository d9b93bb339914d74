/* The table of spans. It can be sorted by any column; a click on a row zooms the timeline. */
const COLUMNS = [
  ["start", "Span", (span) => span.start],
  ["label", DATA.noun[0].toUpperCase() + DATA.noun.slice(1), (span) => span.label],
  ["looks", "Looks like", null],
  ["time", "Start", (span) => edge(span.start)],
  ["end", "End", (span) => edge(span.end)],
  ["length", "Length", (span) => edge(span.end) - edge(span.start)],
  ["confidence", "Confidence", (span) => confidence(span) ?? 2],
];

/** Indices of the spans in the order of the table. */
function order() {
  const key = COLUMNS.find(([name]) => name === state.sort)[2];
  const sign = state.up ? 1 : -1;
  return state.spans
    .map((_, i) => i)
    .sort((a, b) => sign * (key(state.spans[a]) - key(state.spans[b])) || a - b);
}

function drawTable() {
  const head = make("tr");
  for (const [name, text, key] of COLUMNS) {
    const sorted = state.sort === name ? (state.up ? "ascending" : "descending") : null;
    const arrow = sorted ? (state.up ? " ↑" : " ↓") : "";
    const content = key
      ? make("button", { type: "button", id: `sort-${name}`, "data-sort": name }, text + arrow)
      : text;
    head.append(make("th", { scope: "col", "aria-sort": sorted }, content));
  }
  const body = make("tbody", {}, ...order().map(rowOf));
  byId("spans").replaceChildren(make("table", {}, make("thead", {}, head), body));
}

function rowOf(i) {
  const span = state.spans[i];
  const cell = (name, ...content) => make("td", name ? { "data-name": name } : {}, ...content);
  const looks = make("td", { class: "looks-cell" }, looksOf(span));
  const confidenceCell = cell("Confidence", ...confidenceMeter(span));
  confidenceCell.classList.add("confidence-cell");
  return make(
    "tr",
    { "data-span": i, class: i === state.selected ? "selected" : null },
    cell(
      "",
      make(
        "button",
        { type: "button", id: `row-${i}`, "aria-label": `Zoom to span ${i + 1}` },
        String(i + 1),
      ),
    ),
    cell("", paint(make("span", { class: "swatch" }), span.label), make("b", {}, nameOf(span.label))),
    looks,
    cell("Start", timeText(edge(span.start))),
    cell("End", timeText(edge(span.end))),
    cell("Length", timeText(edge(span.end) - edge(span.start))),
    confidenceCell,
  );
}

function confidenceMeter(span) {
  const value = confidence(span);
  if (value === null) return [span.start === 0 ? "start" : "set by hand"];
  const bar = make("i");
  bar.style.width = `${100 * value}%`;
  return [make("span", { class: "meter", "aria-hidden": "true" }, bar), `${Math.round(100 * value)} %`];
}

/** The spans as segments.csv, in the format of the command line. */
function toCsv() {
  const lines = ["start,end,start_time,end_time,label,confidence"];
  const number = (value) => String(Number(value.toPrecision(10)));
  for (const span of state.spans) {
    const value = confidence(span);
    lines.push(
      [
        span.start,
        span.end,
        number(edge(span.start)),
        number(edge(span.end)),
        span.label,
        value === null ? "" : value,
      ].join(","),
    );
  }
  return lines.join("\n") + "\n";
}

function saveCsv() {
  const url = URL.createObjectURL(new Blob([toCsv()], { type: "text/csv" }));
  const link = make("a", {
    href: url,
    download: `${DATA.name.replace(/[^\p{L}\p{N}._-]+/gu, "_")}_segments.csv`,
  });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
