/* The table of spans: sorted by any column, searched, grouped by label; rows are drawn as they are needed. */
const COLUMNS = [
  ["start", "Span", (span) => span.start],
  ["label", DATA.noun[0].toUpperCase() + DATA.noun.slice(1), (span) => span.label],
  ["looks", DATA.view.kind === "channels" ? DATA.view.channels[0].name : "Looks like", null],
  ["time", "Start", (span) => edge(span.start)],
  ["end", "End", (span) => edge(span.end)],
  ["length", "Length", (span) => edge(span.end) - edge(span.start)],
  ["confidence", "Confidence", (span) => confidence(span) ?? 2],
];
const CHUNK = 50; // rows that are drawn at once
const MANY = 30; // spans; if there are more, they are grouped by label

/** Whether a span matches what is searched for: its number, its label or one of its times. */
function matches(span, i) {
  const query = state.query.trim().toLowerCase();
  if (!query) return true;
  const name = nameOf(span.label).toLowerCase();
  if (/^\d+$/.test(query) && Number(query) === i + 1) return true;
  const times = [timeText(edge(span.start)), timeText(edge(span.end))];
  return (
    name === query ||
    (query.length > 1 && name.includes(query)) ||
    times.some((time) => time.startsWith(query))
  );
}

/** Indices of the spans that match, in the order of the table. */
function order() {
  const key = COLUMNS.find(([name]) => name === state.sort)[2];
  const sign = state.up ? 1 : -1;
  return state.spans
    .map((_, i) => i)
    .filter((i) => matches(state.spans[i], i))
    .sort((a, b) => sign * (key(state.spans[a]) - key(state.spans[b])) || a - b);
}

function tableHead() {
  const head = make("tr");
  for (const [name, text, key] of COLUMNS) {
    const sorted = state.sort === name ? (state.up ? "ascending" : "descending") : null;
    const arrow = sorted ? (state.up ? " ↑" : " ↓") : "";
    const content = key
      ? make("button", { type: "button", id: `sort-${name}`, "data-sort": name }, text + arrow)
      : text;
    head.append(make("th", { scope: "col", "aria-sort": sorted }, content));
  }
  return make("thead", {}, head);
}

function drawTable() {
  const found = order();
  byId("grouped").checked = state.grouped;
  byId("matches").textContent = state.query.trim()
    ? `${countOf(found.length, "span")} of ${state.spans.length}`
    : "";
  const bodies = state.grouped ? groupBodies(found) : [chunkedBody(found)];
  const table = make("table", { class: DATA.dates ? "dated" : null }, tableHead(), ...bodies);
  byId("spans").replaceChildren(table);
}

/** A heading for every label; its spans follow when it is open, or when there is something to find. */
function groupBodies(found) {
  const searching = state.query.trim() !== "";
  const chosen = state.spans[state.selected]?.label;
  return groupByLabel().flatMap(({ label, spans, samples }) => {
    const own = found.filter((i) => state.spans[i].label === label);
    if (!own.length) return [];
    const open = searching || state.open.has(label) || label === chosen;
    const what = `${countOf(spans.length, "span")}, ${((100 * samples) / N).toFixed(0)} % of the recording`;
    const button = make(
      "button",
      { type: "button", id: `group-${label}`, "data-group": label, "aria-expanded": String(open) },
      make("span", { class: "caret", "aria-hidden": "true" }, open ? "▾" : "▸"),
      paint(make("span", { class: "swatch", "aria-hidden": "true" }), label),
      make("b", {}, nameOf(label)),
      make("span", { class: "quiet" }, what),
    );
    const head = make(
      "tr",
      { class: "group" },
      make("th", { colspan: COLUMNS.length, scope: "rowgroup" }, button),
    );
    return [make("tbody", {}, head), ...(open ? [chunkedBody(own)] : [])];
  });
}

/** The first rows, and a button that draws more; it presses itself when it comes into sight. */
function chunkedBody(indices) {
  const body = make("tbody");
  const at = indices.indexOf(state.selected);
  let next = Math.max(CHUNK, at + 5);
  body.append(...indices.slice(0, next).map(rowOf));
  if (next >= indices.length) return body;
  const button = make("button", { type: "button", class: "link" });
  const row = make("tr", { class: "more" }, make("td", { colspan: COLUMNS.length }, button));
  const show = () => {
    row.before(...indices.slice(next, next + CHUNK).map(rowOf));
    next += CHUNK;
    button.textContent = `Show more: ${indices.length - next} are left`;
    if (next >= indices.length) row.remove();
  };
  button.textContent = `Show more: ${indices.length - next} are left`;
  button.addEventListener("click", show);
  new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && show()).observe(row);
  body.append(row);
  return body;
}

function rowOf(i) {
  const span = state.spans[i];
  const cell = (name, ...content) => make("td", name ? { "data-name": name } : {}, ...content);
  const looks = make("td", { class: "looks-cell" }, looksOf(span));
  const confidenceCell = cell("Confidence", ...confidenceMeter(span));
  confidenceCell.classList.add("confidence-cell");
  const number = { type: "button", id: `row-${i}`, "aria-label": `Zoom to span ${i + 1}` };
  return make(
    "tr",
    { "data-span": i, class: i === state.selected ? "selected" : null },
    cell("", make("button", number, String(i + 1))),
    cell("", paint(make("span", { class: "swatch" }), span.label), make("b", {}, nameOf(span.label))),
    looks,
    cell("Start", timeText(edge(span.start))),
    cell("End", timeText(edge(span.end))),
    cell("Length", lengthText(edge(span.end) - edge(span.start))),
    confidenceCell,
  );
}

function confidenceMeter(span) {
  const value = confidence(span);
  if (value === null) return [span.start === 0 || DATA.joins.includes(span.start) ? "start" : "set by hand"];
  const bar = make("i", { class: value < DATA.minLikely ? "uncertain" : null });
  bar.style.width = `${100 * value}%`;
  return [make("span", { class: "meter", "aria-hidden": "true" }, bar), `${Math.round(100 * value)} %`];
}
