"""Labels for other numbers of subspaces, computed in advance so that the page only has to show them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from seqspan._core.spans import boundaries_from_labels, labels_from_boundaries
from seqspan._core.types import Array, IntArray
from seqspan.cuts.peaks import boundary_strength
from seqspan.cuts.spectral.affinity import SharedAffinity
from seqspan.cuts.spectral.ncut import normalised_cuts
from seqspan.report._content import Content
from seqspan.segmentation import Segmentation

MAX_SUBSPACES = 20  # largest number on the slider
MAX_GROUPS = 720  # groups of neighbouring samples; cutting groups makes 20 cuts cheaper than one exact cut
# how many other answers of the ordered cut a page has, up to this many samples: they take about two seconds
MOST_ANSWERS = ((400, 22), (4000, 8), (20_000, 2))
GRAINS = ("coarse", "fine")  # beside the default, which was found or can be


def recut(content: Content) -> dict[int, IntArray]:
    """Cut into other numbers of labels (of spans with ``cut="peaks"``), up to 20.

    Parameters
    ----------
    content : Content

    Returns
    -------
    dict of int to array of shape (n_samples,)
        Labels of all samples. For the number that was found, these are exactly the labels found. In long
        recordings the ordered cut offers only the numbers next to it, or no others.
    """
    chosen = content.found.n_subspaces
    if not content.is_solved:
        return {chosen: content.found.labels}
    numbers = _numbers(content)
    if content.cut == "ncut":
        coarse = _coarse_cuts(content, numbers)
        cuts = {k: content.representation.to_rows(labels) for k, labels in coarse.items()}
    else:
        others = [k for k in numbers if k != chosen]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page shows that there are fewer peaks
            cuts = {k: content.found.recut(**_asked(content.cut, k)).labels for k in others}
    return cuts | {chosen: content.found.labels}


def recut_grains(content: Content) -> dict[str, Segmentation]:
    """The ordered cut's coarse and fine answers, if the recording is not too long."""
    given = content.found.cutting
    if not content.is_solved or content.cut != "ordered" or _room(content) < len(GRAINS):
        return {}
    return {grain: content.found.recut(grain=grain) for grain in GRAINS if grain != given.grain}


def _room(content: Content) -> int:
    """How many ordered cuts may be made for the page."""
    n = int(content.Z.shape[1])
    return next((answers for longest, answers in MOST_ANSWERS if n <= longest), 0)


def _numbers(content: Content) -> list[int]:
    """Numbers on the slider, besides the one that was found; of several recordings there are no others."""
    if content.several:
        return []
    n = int(content.Z.shape[1])
    if content.cut != "ordered":
        return list(range(1, min(MAX_SUBSPACES, n) + 1))
    most = max(1, n // content.found.cutting.min_length)
    chosen, room = content.found.n_subspaces, _room(content) - len(GRAINS)
    near = sorted(range(1, most + 1), key=lambda k: abs(k - chosen))
    if room >= MAX_SUBSPACES:
        return list(range(1, min(MAX_SUBSPACES, most) + 1))
    return [k for k in near if k != chosen][: max(room, 0)]


def _asked(cut: str, number: int) -> dict[str, Any]:
    """The argument that the slider sets: the number of labels, or of spans if each has its own label."""
    return {"n_spans": number} if cut == "peaks" else {"n_subspaces": number}


def _coarse_cuts(content: Content, numbers: list[int]) -> dict[int, IntArray]:
    """Cut groups of neighbours, then move every boundary to the strongest change nearby."""
    n = len(content.W)
    size = -(-n // MAX_GROUPS)
    W = pool_sum(content.W, size)
    strength = boundary_strength(content.Z)
    columns = np.searchsorted(content.representation.rows, content.found.boundaries)
    with threadpool_limits(1):  # with factorisations this small, threads mostly wait for each other
        groups = normalised_cuts(W, [k for k in numbers if k <= len(W)], rng=0, n_starts=4)
    cuts = {k: np.repeat(labels, size)[:n] for k, labels in groups.items()}
    if size == 1:
        return cuts
    return {k: snap(labels, strength, columns, size) for k, labels in cuts.items()}


def pool_sum(W: Array | SharedAffinity, size: int) -> Array:
    """Sum W over blocks of `size` rows and columns; the last block may be smaller.

    A cut of the pooled graph has the same cost as the same cut of W, because it never splits a group.

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
    return (pooled + pooled.T) / 2  # summation order makes it asymmetric by rounding errors


def snap(labels: IntArray, strength: Array, exact: IntArray, reach: int) -> IntArray:
    """Move boundaries by less than `reach`: to one in `exact` if possible, else to the strongest change.

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
