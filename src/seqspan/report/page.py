"""The page: a template with the style, the scripts and the data in it, so that it opens without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup
from scipy.optimize import linear_sum_assignment

from seqspan._core.spans import boundaries_from_labels, edge_times
from seqspan._core.text import printable
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cut import SAME
from seqspan.cuts.peaks import boundary_strength
from seqspan.cuts.spectral.affinity import SharedAffinity
from seqspan.cuts.spectral.spectrum import checked_affinity, degrees, leading_eigenpairs, multiply
from seqspan.plots import COLOURS
from seqspan.report.findings import Findings
from seqspan.report.pictures import affinity_map, heat_map
from seqspan.report.recuts import MAX_SUBSPACES, recut
from seqspan.report.views import STEPS, make_view
from seqspan.report.words import describe_facts, describe_settings

MAX_POINTS = 2400  # of the curve of boundary strength; a wide screen has no more columns
SCRIPTS = ("state.js", "looks.js", "timeline.js", "table.js", "heat.js", "curves.js", "main.js")
EIGENVALUE_RESIDUAL = 1e-2  # of eigenvectors; the eigenvalues err by its square, less than a line's width


def build_report(findings: Findings) -> str:
    """Write the report of a segmented recording.

    Parameters
    ----------
    findings : Findings

    Returns
    -------
    str
        HTML that needs no other file. All text from files is escaped.

    Examples
    --------
    >>> from seqspan import OSC
    >>> from seqspan.datasets import make_subspaces
    >>> from seqspan.results import Solved
    >>> from seqspan.recording import Recording
    >>> X, _ = make_subspaces(rng=0)
    >>> osc = OSC(5, random_state=0).fit(X.T)
    >>> recording = Recording(X=X.T, times=np.arange(100.0), time_unit="s", kind="table",
    ...                     feature_names=tuple(f"x{i}" for i in range(X.shape[0])), source="toy.csv")
    >>> findings = Findings(recording, X, Solved(osc.coef_, osc.objective_, osc.dual_gap_, osc.n_iter_),
    ...                     osc.labels_, osc.boundaries_, osc.n_subspaces_, np.arange(100), "ncut")
    >>> "toy.csv" in build_report(findings)
    True
    """
    data = make_data(findings)
    facts = describe_facts(findings, data["spectrum"])
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_resource("page.html"))
    return template.render(
        name=printable(Path(findings.recording.source).name or "recording"),
        facts=facts,
        settings=describe_settings(findings),
        document=_printable(findings.document),
        has_truth=findings.true_labels is not None,
        most=max(map(int, data["cuts"])),
        chosen=findings.n_subspaces,
        cut=findings.cut,
        landmarks=findings.n_landmarks,
        style=Markup(_resource("page.css")),  # written here, not by strangers
        script=Markup("\n".join(_resource(name) for name in SCRIPTS)),
        data=Markup(to_script_json(data)),
    )


def _resource(name: str) -> str:
    """Text of a file beside this one."""
    return files("seqspan.report").joinpath(name).read_text(encoding="utf-8")


def to_script_json(data: Any) -> str:
    r"""JSON that can stand inside a script element, whatever its strings hold.

    Examples
    --------
    >>> to_script_json({"name": "</script><b>"})
    '{"name":"\\u003c/script\\u003e\\u003cb\\u003e"}'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _printable(value: Any) -> Any:
    """Make every string in a document visible text."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(str(name)): _printable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(item) for item in value]
    return value


def make_data(findings: Findings) -> dict[str, Any]:
    """Collect what the scripts draw."""
    cuts = recut(findings)
    solved = findings.solved
    return {
        "n": len(findings.recording),
        "name": printable(Path(findings.recording.source).stem or "recording"),
        "unit": printable(findings.recording.time_unit),
        "edges": _short_edges(edge_times(findings.recording.times)),
        "colours": COLOURS,
        "chosen": findings.n_subspaces,
        "cuts": {str(k): _runs(labels) for k, labels in sorted(cuts.items())},
        "found": [[0, *findings.boundaries.tolist()], findings.labels[[0, *findings.boundaries]].tolist()],
        "confidence": {str(k): _confidence(findings, labels) for k, labels in cuts.items()},
        "truth": _truth(findings),
        "strength": _strength(findings),
        "spectrum": [] if findings.cut == "ordered" else _spectrum(findings.W),
        "worths": _worths(findings),
        "history": [[p.iteration, _short(p.gap), round(p.seconds, 3)] for p in solved.history],
        "tol": findings.document.get("parameters", {}).get("tol"),
        "rows": None if len(findings.rows) == len(findings.recording) else findings.rows.tolist(),
        "heat": {"Z": heat_map(solved.Z), "W": affinity_map(findings.W)},
        "landmarks": findings.n_landmarks,
        "view": make_view(findings.recording, cuts, findings.n_subspaces),
    }


def _short(value: float) -> float:
    """A number with six significant digits."""
    return float(f"{value:.6g}")


def _short_edges(edges: Array) -> list[float] | dict[str, float]:
    """Times of the samples' edges: start and step where they are even, else all."""
    step = (edges[-1] - edges[0]) / (len(edges) - 1)
    even = edges[0] + step * np.arange(len(edges))
    if np.allclose(edges, even, rtol=0, atol=1e-3 * abs(step)):
        return {"start": float(edges[0]), "step": float(step)}
    return [float(f"{edge:.10g}") for edge in edges]


def _runs(labels: IntArray) -> list[list[int]]:
    """Starts of the spans, and their labels."""
    starts = np.concatenate([[0], boundaries_from_labels(labels)])
    return [starts.tolist(), labels[starts].tolist()]


def _confidence(findings: Findings, labels: IntArray) -> dict[str, float]:
    """Confidence of each boundary of a cut, by its sample; that of the cut as found is known."""
    if labels is findings.labels:
        starts, sure = findings.boundaries, findings.confidence
    else:
        starts = boundaries_from_labels(labels)
        sure = findings.confidence_of(starts)
    return {str(start): round(value, 3) for start, value in zip(starts.tolist(), sure.tolist(), strict=True)}


def _truth(findings: Findings) -> dict[str, Any] | None:
    """The true spans, where they are known."""
    if findings.true_labels is None:
        return None
    starts, labels = _runs(findings.true_labels)
    names = [printable(name) for name in findings.true_names]
    paints = match_labels(findings.true_labels, findings.labels)
    return {"starts": starts, "labels": labels, "names": names, "paints": paints}


def match_labels(true: IntArray, found: IntArray) -> list[int]:
    """The found label that each true one shares most samples with; numbers of their own for those left.

    Examples
    --------
    >>> match_labels(np.array([0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0]))
    [1, 0, 2]
    """
    counts = np.zeros((true.max() + 1, found.max() + 1), dtype=np.intp)
    np.add.at(counts, (true, found), 1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    partners = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    unused = iter(range(int(found.max()) + 1, len(counts) + int(found.max()) + 1))
    return [partners[label] if label in partners else next(unused) for label in range(len(counts))]


def _strength(findings: Findings) -> dict[str, Any]:
    """How much the coefficients change at each sample, the largest of every block, in thousandths."""
    strength = np.concatenate([[0], boundary_strength(findings.solved.Z)])
    size = -(-len(strength) // MAX_POINTS)
    blocks = np.maximum.reduceat(strength, np.arange(0, len(strength), size))
    return {"size": size, "values": np.round(blocks / (blocks.max() or 1) * STEPS).astype(int).tolist()}


def _worths(findings: Findings) -> dict[str, Any] | None:
    """What labels beyond the first are worth to the ordered cut, and the least that it keeps."""
    if findings.cut != "ordered":
        return None
    return {"values": [_short(worth) for worth in findings.label_worths[:MAX_SUBSPACES]], "least": SAME}


def _spectrum(W: Array | SharedAffinity) -> list[float]:
    """Smallest eigenvalues of the normalised Laplacian, one more than there are numbers on the slider."""
    W = checked_affinity(W)
    degree = degrees(W)[:, None]
    scale = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    count = min(MAX_SUBSPACES + 1, len(W))

    def product(V: Array) -> Array:
        return scale * multiply(W, scale * V)

    values, _ = leading_eigenpairs(product, len(W), count, tol=EIGENVALUE_RESIDUAL)
    return [_short(max(1 - float(value), 0.0)) for value in values]
