/* The labels: a card for each, with its name, how often it occurs, and what it looks like. */
const MAX_CARDS = 12;

function drawLegend() {
  const groups = groupByLabel();
  const shown = state.allLabels ? groups : groups.slice(0, MAX_CARDS);
  byId("legend").replaceChildren(...shown.map(cardOf));
  byId("legend").classList.toggle("few", groups.length < 3);
  byId("legend-more").hidden = groups.length <= MAX_CARDS;
  byId("all-labels").textContent = state.allLabels
    ? `Show ${MAX_CARDS} ${DATA.nouns}`
    : `Show all ${groups.length} ${DATA.nouns}`;
}

function cardOf({ label, spans, samples, longest }) {
  const part = (100 * samples) / N;
  const head = make(
    "div",
    { class: "card-head" },
    paint(make("span", { class: "swatch", "aria-hidden": "true" }), label),
    make("b", {}, nameOf(label)),
    make(
      "button",
      {
        type: "button",
        class: "link",
        id: `rename-${label}`,
        "data-rename": label,
        "aria-label": `Rename ${nameOf(label)}`,
      },
      "Rename",
    ),
  );
  const list = make(
    "button",
    { type: "button", class: "link", "data-list": label, "aria-label": `List the spans of ${nameOf(label)}` },
    spans.length > 1 ? `returns, ${countOf(spans.length, "span")}` : "1 span",
  );
  const share = part < 1 ? "below 1 %" : `${part.toFixed(0)} %`;
  const card = make("li", { class: "label-card" }, head, make("p", { class: "quiet" }, list, ", ", make("span", {}, share)));
  const look = lookOfLabel(label, state.spans[longest]);
  if (look) card.append(look);
  return card;
}

/** The middle of the longest span; for tables, the values that are special. */
function lookOfLabel(label, span) {
  const { kind } = DATA.view;
  if (kind === "channels") return typicalValues(label);
  if (kind === "spectra") {
    const { low, high } = DATA.view;
    const mean = labelSpectrum(label);
    return make(
      "div",
      { class: "looks" },
      curve(
        [mean.map((value) => (value - low) / (high - low || 1))],
        230,
        80,
        `Mean spectrum of ${nameOf(label)}`,
      ),
    );
  }
  if (!shownSamples.length) return null;
  const shown = nearestShown((span.start + span.end) >> 1, span);
  return make(
    "div",
    { class: "looks" },
    pictureOf(shown, `${nameOf(label)}: ${timeText(edge(shown))}`, span),
  );
}

/** Ask for the name of a label where it stands. */
function rename(label) {
  const button = byId(`rename-${label}`),
    shown = button.parentElement.querySelector("b");
  const field = make("input", {
    type: "text",
    class: "name",
    maxlength: 60,
    value: state.names[label] || "",
    placeholder: letterOf(label),
    "aria-label": `Name of ${DATA.noun} ${letterOf(label)}`,
  });
  let open = true;
  const close = (keep) => {
    if (!open) return;
    open = false;
    const name = field.value.trim();
    if (keep && name !== (state.names[label] || "")) {
      correct(`name-${label}`, () => {
        if (name && name !== letterOf(label)) state.names[label] = name;
        else delete state.names[label];
      });
    } else draw();
    byId(`rename-${label}`)?.focus();
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault(); // it would press the button that gets the focus
      close(true);
    }
    if (event.key === "Escape") close(false);
    event.stopPropagation();
  });
  field.addEventListener("blur", () => close(true));
  shown.replaceWith(field);
  button.hidden = true;
  field.focus();
  field.select();
}
