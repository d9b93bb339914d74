"""Spans (runs of consecutive samples with one label) and conversions between their representations.

Boundaries are interior starts: ``np.split(X, boundaries, axis=1)`` yields the spans.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from seqspan._core.types import Array, IntArray

MIN_LENGTH = 5  # samples; shortest span that the ordered cut allows by default
UNKNOWN = -1  # label of samples that no known label fits


@dataclass(frozen=True)
class Span:
    """A run of consecutive samples with one label.

    Parameters
    ----------
    start, end : int
        The span covers samples start to end - 1.
    start_time, end_time : float
    label : int
    confidence : float, optional
        Confidence in the boundary at its start.
    recording : int
        Index of the recording, if there are several.

    Examples
    --------
    >>> span = Span(start=120, end=180, start_time=1.0, end_time=1.5, label=0)
    >>> span.end - span.start
    60
    """

    start: int
    end: int
    start_time: float
    end_time: float
    label: int
    confidence: float | None = None
    recording: int = 0


@dataclass(frozen=True, eq=False)
class Division:
    """What a cut found: the spans in temporal order and their labels.

    Parameters
    ----------
    boundaries : array of int, shape (n_spans - 1,)
        Interior starts.
    labels : array of int, shape (n_spans,)
        One per span, numbered in order of first appearance.
    n_final : int, optional
        For a stream: how many of the boundaries are final.

    Examples
    --------
    >>> found = Division(np.array([2, 3]), np.array([0, 1, 0]))
    >>> found.sample_labels(5), found.n_labels
    (array([0, 0, 1, 0, 0]), 2)
    """

    boundaries: IntArray
    labels: IntArray
    n_final: int | None = None

    @classmethod
    def from_sample_labels(cls, labels: IntArray, joins: Sequence[int] = ()) -> Division:
        """Build a division from one label per sample; spans also end at joins of two recordings."""
        boundaries = np.union1d(boundaries_from_labels(labels), np.array(joins, dtype=np.intp))
        return cls(boundaries, labels[np.concatenate([[0], boundaries])])

    @property
    def n_labels(self) -> int:
        """Number of distinct labels."""
        return len(np.unique(self.labels))

    def sample_labels(self, n_samples: int) -> IntArray:
        """Label of every sample."""
        edges = np.concatenate([[0], self.boundaries, [n_samples]])
        return np.repeat(self.labels, np.diff(edges))


def part_slices(joins: Sequence[int] | IntArray, n_samples: int) -> list[slice]:
    """The samples of each recording, if several are concatenated.

    Parameters
    ----------
    joins : sequence of int
        Samples at which another recording begins, ascending.
    n_samples : int

    Returns
    -------
    list of slice

    Examples
    --------
    >>> part_slices((3,), 5)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(start, end) for start, end in pairwise([0, *(int(join) for join in joins), n_samples])]


def merge_neighbours(division: Division, joins: Sequence[int] | IntArray = ()) -> Division:
    """Merge neighbouring spans that have the same label and are of the same recording.

    Examples
    --------
    >>> merge_neighbours(Division(np.array([2, 5]), np.array([0, 0, 1]))).boundaries
    array([5])
    >>> merge_neighbours(Division(np.array([2, 5]), np.array([0, 0, 0])), joins=[5]).boundaries
    array([5])
    """
    kept = (division.labels[1:] != division.labels[:-1]) | np.isin(division.boundaries, joins)
    labels = division.labels[np.concatenate([[True], kept])]
    return Division(division.boundaries[kept], number_in_order(labels))


def divide_short_spans(
    division: Division, shortest: int, n_samples: int, joins: Sequence[int] | IntArray = ()
) -> Division:
    """Divide spans of fewer than `shortest` samples between their neighbours, the shortest first.

    Spans at the ends of recordings stay.

    Examples
    --------
    >>> divide_short_spans(Division(np.array([8, 12]), np.array([0, 1, 2])), 5, 20).boundaries
    array([10])
    """
    edges, labels = [0, *division.boundaries.tolist(), n_samples], division.labels.tolist()
    ends = {0, n_samples, *(int(join) for join in joins)}
    while True:
        short = [
            (end - start, span)
            for span, (start, end) in enumerate(pairwise(edges))
            if end - start < shortest and not ends & {start, end}
        ]
        if not short:
            return merge_neighbours(Division(np.array(edges[1:-1], dtype=np.intp), np.array(labels)), joins)
        span = min(short)[1]
        edges[span : span + 2] = [(edges[span] + edges[span + 1] + 1) // 2]
        del labels[span]


def number_in_order(labels: IntArray) -> IntArray:
    """Number labels in the order in which they first appear.

    Examples
    --------
    >>> number_in_order(np.array([7, 2, 7, 4]))
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def boundaries_from_labels(labels: npt.ArrayLike) -> IntArray:
    """Find the indices at which the label changes.

    ``{t : labels_t != labels_{t-1}}``

    Parameters
    ----------
    labels : array of shape (n,)
        Labels in temporal order, as numbers or strings.

    Returns
    -------
    boundaries : array of int, shape (n_spans - 1,)
        Interior starts of the spans, ascending.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Segmentation".

    Examples
    --------
    >>> boundaries_from_labels(["walk", "walk", "turn", "walk"])
    array([2, 3])
    """
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"labels must be a 1-D array; got shape {labels.shape}.")
    return np.flatnonzero(labels[1:] != labels[:-1]) + 1


def labels_from_boundaries(boundaries: npt.ArrayLike, n_samples: int) -> IntArray:
    """Number the spans between boundaries: 0 up to the first boundary, then 1, and so on.

    ``labels_t = |{b in boundaries : b <= t}|``

    Parameters
    ----------
    boundaries : array of int, shape (n_spans - 1,)
        Interior starts, strictly ascending, each in [1, n_samples - 1].
    n_samples : int

    Returns
    -------
    labels : array of int, shape (n_samples,)
        A different label for every span, because boundaries do not tell which spans belong together.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Segmentation".

    Examples
    --------
    >>> labels_from_boundaries([2, 3], 5)
    array([0, 0, 1, 2, 2])
    """
    starts = np.asarray(boundaries)
    if starts.size == 0:
        return np.zeros(n_samples, dtype=np.intp)
    if starts.ndim != 1 or not np.issubdtype(starts.dtype, np.integer):
        raise ValueError(f"boundaries must be a 1-D array of int; got shape {starts.shape}, {starts.dtype}.")
    if np.any(np.diff(starts) <= 0) or starts[0] < 1 or starts[-1] >= n_samples:
        raise ValueError(
            f"boundaries must ascend strictly within [1, {n_samples - 1}] for {n_samples} samples; "
            f"got {starts.tolist()}."
        )
    return np.searchsorted(starts, np.arange(n_samples), side="right")


def edge_times(times: Array) -> Array:
    """Start times of all samples, followed by the end time of the last one.

    Parameters
    ----------
    times : array of shape (n,)

    Returns
    -------
    edges : array of shape (n + 1,)
        The last sample is given the median duration.

    Examples
    --------
    >>> edge_times(np.array([0.0, 0.5, 1.0]))
    array([0. , 0.5, 1. , 1.5])
    """
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    return np.append(times, times[-1] + step)


def make_spans(
    labels: IntArray,
    boundaries: IntArray,
    times: Array,
    confidence: Array | None = None,
    joins: Sequence[int] = (),
) -> list[Span]:
    """List the spans between boundaries.

    Parameters
    ----------
    labels : array of shape (n,)
    boundaries : array of shape (n_spans - 1,)
    times : array of shape (n,)
    confidence : array of shape (n_spans - 1,), optional
        Confidence in each boundary, NaN if it is not known. The first span has no boundary at its start, so
        it gets None.
    joins : sequence of int
        Boundaries at which another recording begins, with times of its own.

    Returns
    -------
    list of Span

    Examples
    --------
    >>> make_spans(np.array([0, 0, 1]), np.array([2]), np.array([0.0, 0.5, 1.0]), np.array([0.9]))[1]
    Span(start=2, end=3, start_time=1.0, end_time=1.5, label=1, confidence=0.9, recording=0)
    """
    parts = part_slices(joins, len(labels))
    end_times = np.concatenate([edge_times(times[part])[1:] for part in parts])
    known = np.full(len(boundaries), np.nan) if confidence is None else confidence
    at_boundaries = [None if np.isnan(value) else value for value in known.tolist()]
    ends = [0, *(int(b) for b in boundaries), len(labels)]
    return [
        Span(
            start,
            end,
            float(times[start]),
            float(end_times[end - 1]),
            int(labels[start]),
            at_start,
            bisect_right(joins, start),
        )
        for (start, end), at_start in zip(pairwise(ends), [None, *at_boundaries], strict=True)
    ]
