"""From samples and coefficients to spans, in the order of time, and labels of spans that return.

Every span is described by one Gaussian in the features of :mod:`seqspan.cuts.ordered.features`; dynamic
programming finds the spans that are described best (:mod:`seqspan.cuts.ordered.search`), and spans that one
Gaussian describes together get one label (:mod:`seqspan.cuts.ordered.merging`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.confidence import boundary_confidence
from seqspan.cuts.ordered.cost import Evidence
from seqspan.cuts.ordered.features import coefficient_features, sample_features
from seqspan.cuts.ordered.jumps import sharp_jumps
from seqspan.cuts.ordered.merging import Joining
from seqspan.cuts.ordered.number import Stationarity, measure_stationarity
from seqspan.cuts.ordered.search import SpanSearch

__all__ = ["OrderedCut", "OrderedCutter", "ordered_cut"]

MIN_LENGTH = 5
EXACT_UP_TO = 10_000  # samples; longer sequences are divided on a grid of about COARSE points, then refined
COARSE = 3000
SPAN_PRICE = 4.2  # nats per sample; docs/quality.md says how this and the next three were chosen
SLOPE_POWER = 1 / 3
CHANGED = 1.35  # times what the surrogates explain, from which on a sequence is said to change at all
SAME = 4.75  # nats per sample that joining two spans may lose


@dataclass(frozen=True)
class OrderedCut:
    """Spans and their labels.

    Parameters
    ----------
    boundaries : array of int
        Interior starts.
    labels : array of int, shape (n_spans,)
        One for each span, in the order of first appearance.
    confidence : array of shape (n_spans - 1,)
        How sure each boundary is (:func:`seqspan.cuts.ordered.confidence.boundary_confidence`).

    Examples
    --------
    >>> found = OrderedCut(np.array([2, 3]), np.array([0, 1, 0]), np.array([0.9, 0.8]))
    >>> found.sample_labels(5)
    array([0, 0, 1, 0, 0])
    """

    boundaries: IntArray
    labels: IntArray
    confidence: Array

    def sample_labels(self, n_samples: int) -> IntArray:
        """Label of each sample."""
        edges = np.concatenate([[0], self.boundaries, [n_samples]])
        return np.repeat(self.labels, np.diff(edges))


def ordered_cut(
    X: Array,
    Z: Array,
    *,
    n_spans: int | str = "auto",
    n_subspaces: int | str = "auto",
    min_length: int = MIN_LENGTH,
    rng: np.random.Generator | int | None = None,
    n_threads: int | None = None,
) -> OrderedCut:
    """Divide a sequence into spans and label them.

    Parameters
    ----------
    X : array of shape (d, n)
        Samples in the order of time.
    Z : array of shape (m, n)
        Their coefficients.
    n_spans : int or "auto"
    n_subspaces : int or str
        Number of labels, no more than spans; any word is "auto".
    min_length : int
        Samples that a span has at least.
    rng : numpy.random.Generator, int or None
        Draws the surrogates that a found change is compared with.
    n_threads : int, optional

    Returns
    -------
    OrderedCut

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> X, _ = make_subspaces(rng=0)
    >>> Z = np.kron(np.eye(5), np.ones((20, 20)))
    >>> ordered_cut(X, Z, rng=0).boundaries
    array([20, 40, 60, 80])
    """
    return OrderedCutter(X, Z, min_length=min_length, rng=rng, n_threads=n_threads).cut(n_spans, n_subspaces)


def describe(X: Array, Z: Array) -> Evidence:
    """How well spans can be described, by the samples and by their coefficients."""
    return Evidence([sample_features(X), coefficient_features(Z)])


class OrderedCutter:
    """Cuts one sequence into any number of spans and labels; what they share is computed once.

    Parameters
    ----------
    X, Z, min_length, rng, n_threads
        As for :func:`ordered_cut`.
    exact_up_to : int
        Longer sequences are divided on a grid first.

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> X, _ = make_subspaces(rng=0)
    >>> cutter = OrderedCutter(X, np.kron(np.eye(5), np.ones((20, 20))), rng=0)
    >>> [cutter.cut(n_spans).boundaries.tolist() for n_spans in (1, 5)]
    [[], [20, 40, 60, 80]]
    """

    def __init__(
        self,
        X: Array,
        Z: Array,
        *,
        min_length: int = MIN_LENGTH,
        rng: np.random.Generator | int | None = None,
        n_threads: int | None = None,
        exact_up_to: int = EXACT_UP_TO,
    ) -> None:
        n = X.shape[1]
        self._X, self._min_length, self._rng, self._n_threads = X, min_length, rng, n_threads
        self._step = 1 if n <= exact_up_to else -(-n // min(COARSE, exact_up_to))
        missing = -n % self._step  # samples that the last step of the grid lacks, and a span there too
        self._shortest = max(1, -(-(min(min_length, n) + missing) // self._step))
        self.evidence = describe(X, Z)
        self._costs = self.evidence.span_costs(self._step, self._shortest, n_threads)
        self._jumps = sharp_jumps(X)
        self._searches: dict[tuple[int, ...], SpanSearch] = {}
        self._joinings: dict[tuple[SpanSearch, int], Joining] = {}

    def cut(self, n_spans: int | str = "auto", n_subspaces: int | str = "auto") -> OrderedCut:
        """Divide into spans and label them."""
        if isinstance(n_spans, str):
            joining = self._choose(n_subspaces)
        else:
            joining = self._join(self._search(n_spans, n_spans), n_spans)
        most = _count_labels(joining) if isinstance(n_subspaces, str) else n_subspaces
        sure = boundary_confidence(self.evidence, joining.boundaries)
        return OrderedCut(joining.boundaries, joining.labels(min(most, joining.n_spans)), sure)

    def _search(self, fewest: int, most: int | None = None) -> tuple[SpanSearch, IntArray]:
        """Spans between jumps, of which those are kept that leave room for so many spans, and these jumps."""
        starts, sharpness = self._jumps
        points = _nearest(starts, self._step)
        kept = _strongest(points, sharpness, self._shortest, len(self._costs) - 1, (fewest, most))
        if tuple(kept) not in self._searches:
            search = SpanSearch(self._costs, self._shortest, fixed=points[kept], n_threads=self._n_threads)
            self._searches[tuple(kept)] = search
        return self._searches[tuple(kept)], starts[kept]

    @cached_property
    def _chance(self) -> Stationarity:
        """What is explained beyond chance."""
        return measure_stationarity(self._X, np.random.default_rng(self._rng), self._min_length)

    @property
    def _price(self) -> float:
        """Nats that the first boundary has to save."""
        return float(SPAN_PRICE * self._chance.slope**SLOPE_POWER * self.evidence.n_samples)

    def _choose(self, n_subspaces: int | str) -> Joining:
        """Take as many spans as save more than they cost."""
        n_labels = 1 if isinstance(n_subspaces, str) else n_subspaces
        search, jumps = self._search(n_labels)
        fewest = min(max(len(jumps) + 1, n_labels), search.n_most)
        # who asks for several labels knows that something changes
        changes = (
            n_labels > 1 or len(self._jumps[0]) or self._chance.ratio >= CHANGED or self._chance.has_peak
        )
        count = self._cheapest(search, fewest) if changes else fewest
        joining = self._join((search, jumps), count)
        if isinstance(n_subspaces, str):
            return joining
        # Where so few labels ask for joining what differs more than two neighbours do, spans are too many.
        while count > fewest and self._is_torn(search, joining, n_labels):
            count -= 1
            joining = self._join((search, jumps), count)
        return joining

    def _cheapest(self, search: SpanSearch, fewest: int) -> int:
        """Minimise ``cost(k) + price sqrt(k)``; looks well past the minimum."""
        best, least, k = fewest, np.inf, fewest
        while k <= min(search.n_most, 2 * best + 8):
            total = search.cost(k) + self._price * np.sqrt(k)
            if total < least:
                best, least = k, total
            k += 1
        return best

    def _is_torn(self, search: SpanSearch, joining: Joining, n_labels: int) -> bool:
        """Whether so few labels lose more, on a span of mean length, than one span less would."""
        k = joining.n_spans
        worst = max(joining.losses[: k - n_labels], default=0.0)
        return worst * self.evidence.n_samples / k > search.cost(k - 1) - search.cost(k)

    def _join(self, found: tuple[SpanSearch, IntArray], n_spans: int) -> Joining:
        """The best `n_spans` spans, and how they are joined."""
        search, jumps = found
        if (search, n_spans) not in self._joinings:
            starts = search.divide(n_spans)
            if self._step > 1:
                starts = _refine(self.evidence, starts, jumps, self._step, self._min_length)
            self._joinings[search, n_spans] = Joining(self.evidence, starts)
        return self._joinings[search, n_spans]


def _nearest(starts: IntArray, step: int) -> IntArray:
    """Grid points nearest to samples; halves go up, so that what is a whole step apart stays so."""
    return (starts + step // 2) // step


def _strongest(
    points: IntArray, sharpness: Array, shortest: int, end: int, limits: tuple[int, int | None]
) -> list[int]:
    """Which jumps to keep, in order: the sharpest that leave room for the spans wanted."""
    fewest = min(limits[0], end // shortest)
    most = end if limits[1] is None else limits[1]
    kept: list[int] = []
    for index in np.argsort(-sharpness, kind="stable"):
        room = np.diff(np.sort([0, end, *points[kept], points[index]])) // shortest
        if len(kept) + 1 < most and room.min() >= 1 and room.sum() >= fewest:
            kept.append(int(index))
    return sorted(kept)


def label_worths(joining: Joining) -> Array:
    """What the second, third, ... label is worth: nats per sample lost by doing with one label less.

    A later joining may lose less than one before it; what counts is the largest loss up to it.

    Parameters
    ----------
    joining : Joining

    Returns
    -------
    array of shape (n_spans - 1,)
        Descending. Labels worth less than ``SAME`` are not kept apart.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(m, 0.1, (20, 2)) for m in (-1, 1, -1)])
    >>> second, third = label_worths(Joining(Evidence([Y]), np.array([20, 40])))
    >>> bool(second > 2 > third)
    True
    """
    return np.maximum.accumulate(np.array(joining.losses))[::-1]


def _count_labels(joining: Joining) -> int:
    """Labels that are worth keeping apart."""
    return 1 + int(np.sum(label_worths(joining) >= SAME))


def _refine(evidence: Evidence, points: IntArray, jumps: IntArray, step: int, min_length: int) -> IntArray:
    """Move boundaries from the grid to the sample where they save most; jumps are where they are."""
    starts = points * step
    fixed = np.isin(points, _nearest(jumps, step))
    starts[fixed] = jumps
    edges = np.concatenate([[0], starts, [evidence.n_samples]])
    for index in np.flatnonzero(~fixed) + 1:
        left, start, right = (int(edge) for edge in edges[index - 1 : index + 2])
        places = range(max(start - step, left + min_length), min(start + step, right - min_length) + 1)
        if not places:
            continue
        before = evidence.costs([evidence.moments(left, place) for place in places])
        after = evidence.costs([evidence.moments(place, right) for place in places])
        edges[index] = places[int(np.argmin(before + after))]
    return edges[1:-1]
