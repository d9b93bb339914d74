"""The page: a template filled with the styles, the scripts and the data, so that it works offline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup

from seqspan._core.dates import PER_SECOND
from seqspan._core.spans import boundaries_from_labels, edge_times
from seqspan._core.text import noun_of, plural_of, printable
from seqspan._core.types import Array, IntArray
from seqspan.cuts.spectral.affinity import SharedAffinity
from seqspan.cuts.spectral.n_subspaces import laplacian_eigenvalues
from seqspan.plots import COLOURS
from seqspan.report._changes import describe_changes
from seqspan.report._content import Content
from seqspan.report._pictures import affinity_map, heat_map, symmetric_heat_map
from seqspan.report._recuts import MAX_SUBSPACES, recut, recut_grains
from seqspan.report._stack import draw_stack
from seqspan.report._views import make_view
from seqspan.report._words import (
    MIN_CLEAR_CONFIDENCE,
    MIN_LIKELY_CONFIDENCE,
    describe_facts,
    describe_settings,
)
from seqspan.segmentation import Segmentation

SCRIPTS = (
    "state.js", "dates.js", "looks.js", "labels.js", "timeline.js", "handles.js", "table.js", "edits.js",
    "sure.js", "telling.js", "heat.js", "curves.js", "main.js",
)  # fmt: skip
#: In place of what the scripts draw of the coefficients, if labels were known and nothing was solved.
NOT_SOLVED: dict[str, Any] = {
    "spectrum": [], "labelEvidence": None, "history": [], "tol": None, "rows": None, "heat": None,
    "landmarks": None,
}  # fmt: skip
EIGENVECTOR_RESIDUAL = 1e-2  # the eigenvalues are off by its square, less than the width of a line


def build_report(
    found: Segmentation,
    document: Mapping[str, Any] | None = None,
    *,
    true_labels: IntArray | None = None,
    true_names: tuple[str, ...] = (),
) -> str:
    """Write the report of a segmentation.

    Parameters
    ----------
    found : Segmentation
    document : mapping, optional
        Content of ``result.json``; ``found.describe()`` by default.
    true_labels : array of int, shape (n_samples,), optional
    true_names : tuple of str
        Names of the true labels; empty if only boundaries are known.

    Returns
    -------
    str
        HTML that needs no other file. All text from files is escaped.

    Examples
    --------
    >>> import seqspan
    >>> from seqspan.datasets import make_subspaces
    >>> X, _ = make_subspaces(rng=0)
    >>> "5 spans" in build_report(seqspan.segment(X.T))
    True
    """
    content = Content(found, found.describe() if document is None else document, true_labels, true_names)
    data = make_data(content)
    facts = describe_facts(content, data["spectrum"])
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_resource("page.html"))
    return template.render(
        name=content.title,
        stacked=Markup(draw_stack(content)),  # all text in it is escaped
        facts=facts,
        settings=describe_settings(content),
        document=_printable(content.document),
        has_truth=content.true_labels is not None,
        numbers=len(data["cuts"]),
        answers=len(data["cuts"]) + len(data["grains"]),
        choices=_choices(list(data["grains"])),
        chosen=content.found.n_subspaces,
        cut=content.cut,
        noun=noun_of(content.recording.kind),
        nouns=plural_of(noun_of(content.recording.kind)),
        landmarks=data["landmarks"],
        solved=content.is_solved,
        style=Markup(_resource("page.css")),  # part of the package, so it can be trusted
        script=Markup("\n".join(_resource(name) for name in SCRIPTS)),
        data=Markup(to_script_json(data)),
    )


def _choices(grains: list[str]) -> list[tuple[str, str]]:
    """Names and titles of the answers to choose from, from coarse to fine.

    Examples
    --------
    >>> _choices(["coarse", "fine"])
    [('coarse', 'Coarse'), ('found', 'As found'), ('fine', 'Fine')]
    """
    named = [(grain, grain.capitalize()) for grain in grains]
    coarse = [choice for choice in named if choice[0] == "coarse"]
    return [*coarse, ("found", "As found"), *(choice for choice in named if choice not in coarse)]


def _resource(name: str) -> str:
    """Text of a file in this package."""
    return files("seqspan.report").joinpath(name).read_text(encoding="utf-8")


def to_script_json(data: Any) -> str:
    r"""JSON that is safe inside a script element, whatever its strings contain.

    Examples
    --------
    >>> to_script_json({"name": "</script><b>"})
    '{"name":"\\u003c/script\\u003e\\u003cb\\u003e"}'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _printable(value: Any) -> Any:
    """Make every string in a document printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(str(name)): _printable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(item) for item in value]
    return value


def make_data(content: Content) -> dict[str, Any]:
    """Collect what the scripts draw."""
    cuts, grains = recut(content), recut_grains(content)
    return {
        **(_solver_data(content) if content.is_solved else NOT_SOLVED),
        "n": len(content.recording),
        "name": printable(Path(content.recording.source).stem or "recording"),
        "joins": list(content.recording.joins),
        "unit": "sample" if content.several else printable(content.recording.time_unit),
        "dates": _dates(content),
        "perSecond": PER_SECOND[content.recording.time_unit] if _counts_from_1970(content) else None,
        "names": _names(content),
        "edges": _short_edges(_edges(content)),
        "colours": COLOURS,
        "chosen": content.found.n_subspaces,
        "cuts": {str(k): _cut_runs(content, labels) for k, labels in sorted(cuts.items())},
        "found": _spans(content.found),
        "grains": {grain: _spans(other) for grain, other in grains.items()},
        "confidence": {str(k): _confidence(content, labels) for k, labels in cuts.items()}
        | {grain: _pairs(other.boundaries, other.confidence) for grain, other in grains.items()},
        "truth": _truth(content),
        "changes": _changes(content),
        "noun": noun_of(content.recording.kind),
        "nouns": plural_of(noun_of(content.recording.kind)),
        "minLikely": MIN_LIKELY_CONFIDENCE,
        "minClear": MIN_CLEAR_CONFIDENCE,
        "view": make_view(content.recording, cuts, content.found.n_subspaces),
    }


def _changes(content: Content) -> dict[str, Any] | None:
    """The confidence that a boundary would have anywhere; None where nobody has measured it."""
    cutter = content.found.cutter
    joins = content.representation.joins if content.is_solved else content.recording.joins
    return None if cutter is None else describe_changes(cutter.features, joins)


def _solver_data(content: Content) -> dict[str, Any]:
    """What the scripts draw of the coefficients, and of the way to them."""
    rows = content.representation.rows
    return {
        "spectrum": [] if content.cut == "ordered" else _spectrum(content.W),
        "labelEvidence": _label_evidence(content),
        "history": [[p.iteration, _short(p.gap), round(p.seconds, 3)] for p in content.solution.history],
        "tol": content.document.get("parameters", {}).get("tol"),
        "rows": None if len(rows) == len(content.recording) else rows.tolist(),
        "heat": {"Z": heat_map(content.Z), "W": _affinity_picture(content)},
        "landmarks": content.n_landmarks,
    }


def _edges(content: Content) -> Array:
    """Start times of the samples; of several recordings, which have times of their own, their numbers."""
    return np.arange(len(content.recording) + 1.0) if content.several else edge_times(content.recording.times)


def _dates(content: Content) -> list[list[Any]] | None:
    """Samples at which spans start, with their dates; None if the recording has no dates."""
    if content.several or content.recording.calendar is None:
        return None
    texts = content.recording.calendar.edges().to_iso()
    return [[start, texts[start]] for start in [0, *content.found.boundaries.tolist()]]


def _counts_from_1970(content: Content) -> bool:
    """Whether times are shown as dates, but written as the numbers that they came as."""
    recording = content.recording
    return not content.several and recording.dates is None and recording.calendar is not None


def _names(content: Content) -> dict[str, str]:
    """Names that the user gave to labels."""
    given = content.document.get("label_names", ())
    return {str(label): printable(name) for label, name in enumerate(given) if name}


def _short(value: float) -> float:
    """A number rounded to six significant digits."""
    return float(f"{value:.6g}")


def _short_edges(edges: Array) -> list[float] | dict[str, float]:
    """Start times of the samples: start and step if they are evenly spaced, otherwise all of them."""
    step = (edges[-1] - edges[0]) / (len(edges) - 1)
    even = edges[0] + step * np.arange(len(edges))
    if np.allclose(edges, even, rtol=0, atol=1e-3 * abs(step)):
        return {"start": float(edges[0]), "step": float(step)}
    return [float(f"{edge:.15g}") for edge in edges]


def _runs(labels: IntArray) -> list[list[int]]:
    """Starts and labels of the spans."""
    starts = np.concatenate([[0], boundaries_from_labels(labels)])
    return [starts.tolist(), labels[starts].tolist()]


def _spans(found: Segmentation) -> list[list[int]]:
    """Starts and labels of the spans of an answer."""
    starts = [0, *found.boundaries.tolist()]
    return [starts, found.labels[starts].tolist()]


def _cut_runs(content: Content, labels: IntArray) -> list[list[int]]:
    """Starts and labels of a cut on the slider; spans as found may have neighbours of the same label."""
    return _spans(content.found) if labels is content.found.labels else _runs(labels)


def _confidence(content: Content, labels: IntArray) -> dict[str, float]:
    """Confidence in each boundary of a cut, keyed by sample; for the cut as found it is already known."""
    if labels is content.found.labels:
        return _pairs(content.found.boundaries, content.confidence)
    starts = boundaries_from_labels(labels)
    return _pairs(starts, content.found.confidence_of(starts))


def _pairs(starts: IntArray, values: Array | None) -> dict[str, float]:
    """Values by sample."""
    known = [] if values is None else values.tolist()
    pairs = zip(starts.tolist(), known, strict=True)
    return {str(start): round(value, 3) for start, value in pairs if np.isfinite(value)}


def _truth(content: Content) -> dict[str, Any] | None:
    """The true spans, if they are known."""
    if content.true_labels is None:
        return None
    starts, labels = _runs(content.true_labels)
    names = [printable(name) for name in content.true_names]
    paints = match_labels(content.true_labels, content.found.labels)
    return {"starts": starts, "labels": labels, "names": names, "paints": paints}


def match_labels(true: IntArray, found: IntArray) -> list[int]:
    """Match each true label to the found label with most common samples; the rest get new numbers.

    Examples
    --------
    >>> match_labels(np.array([0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0]))
    [1, 0, 2]
    """
    from scipy.optimize import linear_sum_assignment  # takes long to import

    counts = np.zeros((true.max() + 1, found.max() + 1), dtype=np.intp)
    np.add.at(counts, (true, found), 1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    partners = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    unused = iter(range(int(found.max()) + 1, len(counts) + int(found.max()) + 1))
    return [partners[label] if label in partners else next(unused) for label in range(len(counts))]


def _label_evidence(content: Content) -> dict[str, Any] | None:
    """The ordered cut's evidence for each label beyond the first."""
    if content.cut != "ordered":
        return None
    values = [_short(value) for value in content.label_evidence[:MAX_SUBSPACES]]
    return {"values": values}


def _spectrum(W: Array | SharedAffinity) -> list[float]:
    """Smallest eigenvalues of the normalised Laplacian, one more than the slider has numbers."""
    values = laplacian_eigenvalues(W, min(MAX_SUBSPACES + 1, len(W)), tol=EIGENVECTOR_RESIDUAL)
    return [_short(max(float(value), 0.0)) for value in values]


def _affinity_picture(content: Content) -> dict[str, Any]:
    """The affinities as a picture."""
    if content.n_landmarks is None:
        return symmetric_heat_map(content.Z)
    return affinity_map(content.Z)
