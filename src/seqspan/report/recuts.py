"""Labels for other numbers of subspaces, so that the page can cut anew without computing."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from seqspan._core.spans import boundaries_from_labels, labels_from_boundaries
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cut import MIN_LENGTH, OrderedCutter
from seqspan.cuts.peaks import boundary_strength
from seqspan.cuts.spectral.affinity import SharedAffinity
from seqspan.cuts.spectral.ncut import normalised_cuts
from seqspan.pipeline import segment
from seqspan.report.findings import Findings

MAX_SUBSPACES = 20
MAX_GRID = 1500  # points of time between which the page's spans run
MAX_GROUPS = 720  # samples are cut in groups of neighbours, so that twenty cuts cost less than one exact


def recut(findings: Findings) -> dict[int, IntArray]:
    """Cut into 1 to 20 subspaces (spans, where the cut is by peaks).

    Parameters
    ----------
    findings : Findings

    Returns
    -------
    dict of int to array of shape (n_samples,)
        Labels; for the number that was found, the very labels.
    """
    n = findings.solved.Z.shape[1]
    numbers = range(1, min(MAX_SUBSPACES, n) + 1)
    if findings.cut == "peaks":
        cuts = {k: segment(findings.solved.Z, cut="peaks", n_spans=k).labels for k in numbers}
    elif findings.cut == "ordered":
        cuts = _ordered_cuts(findings, list(numbers))
    else:
        cuts = _coarse_cuts(findings, list(numbers))
    return {k: findings.to_samples(labels) for k, labels in cuts.items()} | {
        findings.n_subspaces: findings.labels
    }


def _ordered_cuts(findings: Findings, numbers: list[int]) -> dict[int, IntArray]:
    """Cut into the best spans for each number of labels, on a grid where there are many samples."""
    cutter = OrderedCutter(findings.X, findings.solved.Z, rng=0, exact_up_to=MAX_GRID)
    n = findings.X.shape[1]
    return {k: cutter.cut(n_subspaces=k).sample_labels(n) for k in numbers if k <= n // MIN_LENGTH}


def _coarse_cuts(findings: Findings, numbers: list[int]) -> dict[int, IntArray]:
    """Cut groups of neighbours, then move every boundary to the strongest change nearby."""
    n = len(findings.W)
    size = -(-n // MAX_GROUPS)
    W = pool_sum(findings.W, size)
    strength = boundary_strength(findings.solved.Z)
    columns = np.searchsorted(findings.rows, findings.boundaries)
    with threadpool_limits(1):  # threads of factorisations this small mostly wait for each other
        groups = normalised_cuts(W, [k for k in numbers if k <= len(W)], rng=0, n_starts=4)
    cuts = {k: np.repeat(labels, size)[:n] for k, labels in groups.items()}
    if size == 1:
        return cuts
    return {k: snap(labels, strength, columns, size) for k, labels in cuts.items()}


def pool_sum(W: Array | SharedAffinity, size: int) -> Array:
    """Add up blocks of `size` rows and columns; the last may be smaller.

    A cut of the pooled graph costs what the same cut of W costs, if no group of neighbours is torn apart.

    Examples
    --------
    >>> pool_sum(np.ones((5, 5)), 2)
    array([[4., 4., 2.],
           [4., 4., 2.],
           [2., 2., 1.]])
    """
    if isinstance(W, SharedAffinity):
        return W.pooled(size)
    starts = np.arange(0, len(W), size)
    pooled: Array = np.add.reduceat(np.add.reduceat(W, starts, axis=0), starts, axis=1)
    return (pooled + pooled.T) / 2  # sums in another order differ by rounding


def snap(labels: IntArray, strength: Array, exact: IntArray, reach: int) -> IntArray:
    """Move boundaries by less than `reach`: to one of `exact` if there is any, else to the strongest change.

    Examples
    --------
    >>> strength = np.array([0.0, 0.1, 0.9, 0.0, 0.2])
    >>> snap(np.array([0, 0, 1, 1, 1, 1]), strength, np.array([], dtype=int), 2)
    array([0, 0, 0, 1, 1, 1])
    """
    boundaries = boundaries_from_labels(labels)
    names = labels[np.concatenate([[0], boundaries])]
    moved = [0]
    for boundary in boundaries:
        first, last = max(boundary - reach + 1, moved[-1] + 1), min(boundary + reach, len(labels))
        known = exact[(exact >= first) & (exact < last)]
        moved.append(int(known[0]) if known.size else first + int(np.argmax(strength[first - 1 : last - 1])))
    spans = labels_from_boundaries(np.array(moved[1:], dtype=np.intp), len(labels))
    return np.asarray(names[spans])
