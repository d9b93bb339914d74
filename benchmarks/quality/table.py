"""Tables in Markdown: for each set and setting the best variant of each peer, then all variants."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from benchmarks.quality.methods import GIVEN
from benchmarks.quality.rows import Row
from benchmarks.quality.scores import SCORES

GIVEN_WORDS = {
    "both": "numbers of spans and labels given",
    "subspaces": "number of labels given",
    "nothing": "nothing given",
    "boundaries": "boundaries and number of labels given",
}
HEADS = {
    "accuracy": "accuracy", "nmi": "NMI", "ari": "ARI", "covering": "covering", "boundary_f1": "boundary F1",
    "seconds": "seconds", "spans_off": "spans off", "labels_off": "labels off",
}  # fmt: skip
NO_DATA = "equal split"  # a yardstick that ignores the data: shown, never bold
Average = dict[str, float]


def write_tables(rows: list[Row]) -> str:
    """Write all tables of the rows as one Markdown text."""
    parts = []
    for name in dict.fromkeys(row["set"] for row in rows):
        for given in GIVEN:
            chosen = [row for row in rows if row["set"] == name and row["given"] == given]
            if chosen:
                parts.append(_table_pair(name, given, chosen))
    return "\n".join(parts)


def _table_pair(name: str, given: str, rows: list[Row]) -> str:
    """Write the table of best variants and, folded, the table of all."""
    sequences = {row["sequence"] for row in rows}
    averages = {method: average_rows(own, len(sequences)) for method, own in by_method(rows).items()}
    best = best_variants(rows)
    n_variants = Counter(own[0]["peer"] for own in by_method(rows).values())  # variants run in this setting
    noun = "sequence" if len(sequences) == 1 else "sequences"
    title = f"### {name}, {len(sequences)} {noun}: {GIVEN_WORDS[given]}\n"
    words = {
        method: f"{method} (best of {n_variants[peer]})" if n_variants[peer] > 1 else method
        for peer, method in best.items()
    }
    film = any("cuts_found" in row for row in rows)
    short = _table({words[method]: averages[method] for method in best.values()}, given, film, rows)
    full = _table(averages, given, film, rows)
    troubles = _troubles(rows)
    return f"{title}\n{short}\n{troubles}<details><summary>All variants</summary>\n\n{full}\n</details>\n"


def by_method(rows: list[Row]) -> dict[str, list[Row]]:
    """Group rows by method."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["method"]].append(row)
    return groups


def average_rows(rows: list[Row], n_sequences: int) -> Average:
    """Average over the recordings that were done; `share` is their share of all."""
    done = [row for row in rows if row["status"] == "done"]
    averages: Average = {"share": len(done) / n_sequences}
    if not done:
        return averages
    for name in (*SCORES, "seconds"):
        averages[name] = float(np.mean([float(row[name]) for row in done]))
    for noun in ("spans", "labels"):
        off = [abs(int(row[f"found_{noun}"]) - int(row[f"true_{noun}"])) for row in done]
        averages[f"{noun}_off"] = float(np.mean(off))
    if "cuts_found" in done[0]:
        for name in ("cuts_found", "cuts_false"):
            averages[name] = float(np.mean([float(row[name]) for row in done]))
    return averages


def best_variants(rows: list[Row]) -> dict[str, str]:
    """Find the variant of each peer with the highest accuracy plus boundary F1, with hindsight.

    Hindsight favours peers with many variants. A variant that did not finish everywhere comes last.
    """
    n_sequences = len({row["sequence"] for row in rows})
    best: dict[str, tuple[tuple[float, float], str]] = {}
    for method, own in by_method(rows).items():
        averages = average_rows(own, n_sequences)
        merit = averages.get("accuracy", -1) + averages.get("boundary_f1", -1)
        candidate = ((averages["share"], merit), method)
        peer = own[0]["peer"]
        if peer not in best or candidate[0] > best[peer][0]:
            best[peer] = candidate
    return {peer: method for peer, (_, method) in best.items()}


def _table(averages: dict[str, Average], given: str, film: bool, rows: list[Row]) -> str:
    """Write one Markdown table, with the best of every column in bold."""
    columns = [*SCORES, "seconds"]
    if given != "both":
        columns += ["spans_off", "labels_off"]
    if film:
        columns += ["cuts_found", "cuts_false"]
    n_cuts = int(rows[0]["true_spans"]) - 1
    heads = HEADS | {"cuts_found": f"cuts found of {n_cuts}", "cuts_false": "false boundaries"}
    lines = [
        "| method | " + " | ".join(heads[column] for column in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    best = {column: _best(column, averages) for column in columns}
    for method, own in averages.items():
        looks = not method.startswith(NO_DATA)
        cells = [_cell(own, column, best[column] if looks else None) for column in columns]
        note = "" if own["share"] == 1 else f" [{own['share']:.0%} done]"
        lines.append(f"| {method}{note} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _best(column: str, averages: dict[str, Average]) -> float | None:
    """Return the best value among methods that use the data and finished everywhere."""
    values = [
        own[column]
        for method, own in averages.items()
        if own["share"] == 1 and not method.startswith(NO_DATA) and column in own
    ]
    if not values or column == "seconds":
        return None
    return min(values) if column in ("spans_off", "labels_off", "cuts_false") else max(values)


def _cell(own: Average, column: str, best: float | None) -> str:
    """Write a number, in bold if it equals the best to the digits shown."""
    if column not in own:
        return "-"
    digits = 3 if column in SCORES else 1
    text = f"{own[column]:.{digits}f}"
    is_best = best is not None and own["share"] == 1 and text == f"{best:.{digits}f}"
    return f"**{text}**" if is_best else text


def _troubles(rows: list[Row]) -> str:
    """List which methods did not finish where, and why."""
    lines = [
        f"- {row['method']} on {row['sequence']}: {row['status']}" for row in rows if row["status"] != "done"
    ]
    return "Not finished:\n" + "\n".join(lines) + "\n\n" if lines else ""
