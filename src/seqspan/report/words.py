"""Numbers as sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.spans import edge_times
from seqspan._core.text import count_of, name_label, printable
from seqspan.cuts.ordered.cut import SAME
from seqspan.cuts.spectral.n_subspaces import soft_scores
from seqspan.report.findings import Findings

UNSURE = 0.5  # confidence below which a boundary is worth a look
N_RIVALS = 2


def describe_facts(findings: Findings, spectrum: list[float]) -> dict[str, Any]:
    """Say what was found, how good it is, and why this number of subspaces."""
    return {
        "size": describe_size(findings),
        "found": describe_found(findings),
        "certificate": describe_certificate(findings),
        "number": describe_number(findings, spectrum),
        "unsure": describe_unsure(findings),
        "scores": describe_scores(findings),
    }


def describe_size(findings: Findings) -> str:
    """How long the recording is."""
    recording = findings.recording
    noun = {"video": "frames", "mocap": "poses", "spectra": "spectra"}.get(recording.kind, "samples")
    edges = edge_times(recording.times)
    length = f", {edges[-1] - edges[0]:.6g} {recording.time_unit}" if recording.time_unit != "sample" else ""
    return printable(f"{len(recording):,} {noun}{length}, {recording.X.shape[1]:,} values each")


def describe_found(findings: Findings) -> str:
    """How many spans, of which how many return."""
    labels = findings.labels[np.concatenate([[0], findings.boundaries])]
    counts = np.bincount(labels)
    returning = [f"{name_label(int(label))} ({counts[label]} times)" for label in np.flatnonzero(counts > 1)]
    text = f"{count_of(len(labels), 'span')} in {count_of(findings.n_subspaces, 'subspace')}"
    return f"{text}; returning: {', '.join(returning)}" if returning else f"{text}; none returns"


def describe_certificate(findings: Findings) -> str:
    """How far the solution is from the best possible one at most."""
    solved = findings.solved
    lowest = solved.objective * (1 - solved.gap)
    if solved.gap <= 1e-9:
        return f"The coefficients are the best possible: objective {solved.objective:.6g}, certified exactly."
    return (
        f"The coefficients are within {100 * solved.gap:.2g} % of the best possible: their objective is "
        f"{solved.objective:.6g}, and it is proven that none can be below {lowest:.6g}."
    )


def describe_number(findings: Findings, spectrum: list[float]) -> str:
    """Why this number of subspaces, and which come next."""
    given = findings.document.get("settings", {}).get("subspaces", "auto")
    k = findings.n_subspaces
    verb = "was" if k == 1 else "were"
    if findings.cut == "peaks":
        first = f"{count_of(k, 'span')} {verb} found at the peaks of the boundary strength."
    elif str(given).isdecimal():
        first = f"{count_of(k, 'subspace')} {verb} asked for."
    elif findings.cut == "ordered":
        first = f"{count_of(k, 'subspace')} {verb} found."
    else:
        first = f"{count_of(k, 'subspace')} {verb} chosen by the rule “{printable(str(given))}”."
    if findings.cut == "ordered":
        return f"{first} {describe_worths(findings)} The slider shows other numbers."
    scores = soft_scores(spectrum)
    rivals = [number for number in np.argsort(-scores, kind="stable") + 1 if number != k][:N_RIVALS]
    if not rivals:
        return first
    listed = " and ".join(f"{number} (score {scores[number - 1]:.2g})" for number in rivals)
    own = f" Its gap scores {scores[k - 1]:.2g};" if 1 <= k <= len(scores) else ""
    return f"{first}{own} the runners-up, worth a try with the slider, are {listed}."


def describe_worths(findings: Findings) -> str:
    """What the last label is worth that spans in order were given, and what one more would be."""
    k, worths = findings.n_subspaces, findings.label_worths
    if not len(worths):
        return "There is one span, with nothing to tell apart."
    last = f"Telling {k} apart rather than {k - 1} is worth {_nats(worths[k - 2])}; " if k > 1 else ""
    more = (
        f"one more would be worth {_nats(worths[k - 1])}." if k <= len(worths) else "every span has its own."
    )
    return f"{last}{more} Spans share a subspace where less than {SAME:g} speaks for two."


def _nats(worth: float) -> str:
    """An amount of evidence; there may be some against."""
    return f"{worth:.2g} nats per sample" if worth > 0 else "nothing"


def describe_unsure(findings: Findings) -> str:
    """Which boundaries are worth a look."""
    total = len(findings.boundaries)
    if not total:
        return "There is no boundary."
    unsure = int(np.count_nonzero(findings.confidence < UNSURE))
    if not unsure:
        return "The only boundary is clear." if total == 1 else f"All {total} boundaries are clear."
    subject = "The only boundary" if total == 1 else f"{unsure} of {total} boundaries"
    return f"{subject} {'is' if unsure == 1 else 'are'} unsure (below {UNSURE:.0%}): worth a look."


def describe_scores(findings: Findings) -> list[tuple[str, str, str]]:
    """Name, value and meaning of every score against the truth."""
    scores = findings.document.get("scores", {})
    rows = []
    for name, value in scores.items():
        if name.startswith("boundary_f1_within_"):
            margin = name.rpartition("_")[2]
            where = "exactly" if margin == "0" else f"within {count_of(int(margin), 'sample')}"
            rows.append((f"Boundaries found {where}", f"{value:.3f}", "F1; 1 is perfect"))
        elif name == "covering":
            rows.append(("Spans covered", f"{value:.3f}", "overlap with the true spans; 1 is perfect"))
        else:
            rows.append(
                ("Samples mislabelled", f"{100 * value:.2f} %", "under the best naming; 0 is perfect")
            )
    return rows


def describe_settings(findings: Findings) -> dict[str, str]:
    """The settings that bear on the result."""
    document = findings.document
    settings, parameters = document.get("settings", {}), document.get("parameters", {})
    steps = document.get("preprocessing", {}).get("steps", [])
    rows = {
        "method": settings.get("method"),
        **parameters,
        "cut": findings.cut,
        "subspaces": settings.get("subspaces"),
        "spans": settings.get("spans"),
        "seed": settings.get("seed"),
        "preprocessing": ", ".join(_describe_step(step) for step in steps) or "none",
        "iterations": findings.solved.n_iter,
        "input, SHA-256": document.get("input", {}).get("sha256"),
    }
    return {name: printable(str(value)) for name, value in rows.items() if value is not None}


def _describe_step(step: dict[str, Any]) -> str:
    """One step of preprocessing with its settings."""
    details = ", ".join(f"{name} {value}" for name, value in step.items() if name != "step")
    return f"{step.get('step')} ({details})" if details else str(step.get("step"))
