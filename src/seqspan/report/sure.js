/* How sure the boundaries are: how many are clear, and which deserve a look. */
const N_LEAST_SURE = 6;
const CLASSES = [
  ["clear", DATA.minClear, `with ${100 * DATA.minClear} % and more`],
  ["likely", DATA.minLikely, `with ${100 * DATA.minLikely} to ${100 * DATA.minClear} %`],
  ["uncertain", 0, `below ${100 * DATA.minLikely} %`],
];

function drawSureness() {
  const known = state.spans
    .map((span, i) => ({ i, span, value: i ? confidence(span) : null }))
    .filter(({ value }) => value !== null);
  const box = byId("sureness");
  for (const id of ["sure-lead", "support"]) byId(id).hidden = !isAsFound(); // they are about the answer found
  if (!known.length) return box.replaceChildren();
  const counts = CLASSES.map(([name, least], at) => {
    const below = at ? CLASSES[at - 1][1] : Infinity;
    return known.filter(({ value }) => value >= least && value < below).length;
  });
  const text = counts.map((count, at) => `${count} ${CLASSES[at][2]}`).join(", ");
  const bar = make("div", { class: "stack", role: "img", "aria-label": `Boundaries: ${text}` });
  const key = make("ul", { class: "stack-key" });
  counts.forEach((count, at) => {
    const [name, , range] = CLASSES[at];
    const part = make("i", { class: name });
    part.style.flexGrow = count;
    if (count) bar.append(part);
    key.append(make("li", {}, make("i", { class: name }), make("b", {}, String(count)), ` ${range}`));
  });
  return box.replaceChildren(bar, key, leastSure(known));
}

/** Buttons that zoom to the boundaries with the lowest confidence. */
function leastSure(known) {
  const chips = [...known]
    .sort((a, b) => a.value - b.value)
    .slice(0, N_LEAST_SURE)
    .map(({ i, span, value }) =>
      make(
        "button",
        {
          type: "button",
          class: "chip-button",
          "data-span": i,
          "aria-label": `Look at the start of span ${i + 1}`,
        },
        `${timeText(edge(span.start))} `,
        make("b", {}, `${Math.round(100 * value)} %`),
      ),
    );
  return make(
    "div",
    { class: "row controls least" },
    make("span", {}, "Least sure, worth a look:"),
    ...chips,
  );
}
