"""From samples and coefficients to spans in the order of time, with one label for spans that recur.

Every span is described by one Gaussian in the features of :mod:`seqspan.cuts.ordered.features`. Dynamic
programming finds the spans that are described best (:mod:`seqspan.cuts.ordered.search`), and spans that one
Gaussian describes together get the same label (:mod:`seqspan.cuts.ordered.merging`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from seqspan._core.backend import to_host
from seqspan._core.spans import MIN_LENGTH, Division
from seqspan._core.types import Array, IntArray
from seqspan.cuts.cutter import Cutter, check_auto, copy_generator
from seqspan.cuts.ordered.cost import SpanCost
from seqspan.cuts.ordered.jumps import find_jumps
from seqspan.cuts.ordered.n_spans import choose_n_spans, span_penalty
from seqspan.cuts.ordered.null_distribution import NullComparison, compare_with_null
from seqspan.cuts.ordered.search import SpanSearch

EXACT_UP_TO = 10_000  # samples; longer recordings are divided on a grid first, then refined
GRID_POINTS = 3000  # size of that grid, roughly


class OrderedCutter(Cutter):
    """Cuts one recording into any number of spans and labels; what the answers share is computed once.

    Parameters
    ----------
    X : array of shape (d, n)
        Samples in the order of time.
    Z : array of shape (m, n)
        Their coefficients.
    min_length : int
        Length of the shortest span, in samples.
    rng : numpy.random.Generator, int or None
        Draws the surrogates that a change is compared with. A generator is copied as it is now.
    n_jobs : int, optional
        Number of threads; all cores by default.
    exact_up_to : int
        Number of samples up to which the search is exact; longer recordings are divided on a grid first.

    Attributes
    ----------
    cost : SpanCost
        What spans cost.

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
        X: Array | None,
        Z: Array,
        *,
        min_length: int = MIN_LENGTH,
        rng: np.random.Generator | int | None = None,
        n_jobs: int | None = None,
        exact_up_to: int = EXACT_UP_TO,
    ) -> None:
        if X is None:
            raise ValueError("cut='ordered' needs the samples X as well as Z; got X=None.")
        self._samples: Array = to_host(X)
        super().__init__(self._samples, to_host(Z))
        n = X.shape[1]
        self._min_length, self._rng, self._n_jobs = min_length, copy_generator(rng), n_jobs
        self._step = 1 if n <= exact_up_to else -(-n // min(GRID_POINTS, exact_up_to))
        missing = -n % self._step  # samples that the last grid step, and so a span that ends there, lacks
        self._shortest = max(1, -(-(min(min_length, n) + missing) // self._step))
        self._costs = self.cost.span_costs(self._step, self._shortest, n_jobs)
        self._jumps = find_jumps(self._samples)
        self._searches: dict[tuple[int, ...], SpanSearch] = {}
        self._divisions: dict[tuple[SpanSearch, int], IntArray] = {}

    def cut(self, n_spans: int | str = "auto", n_subspaces: int | str = "auto") -> Division:
        """Divide the recording into spans and label them.

        Parameters
        ----------
        n_spans : int or "auto"
        n_subspaces : int or "auto"
            Number of labels, at most as many as spans.

        Returns
        -------
        Division
        """
        check_auto("n_spans", n_spans)
        check_auto("n_subspaces", n_subspaces)
        if isinstance(n_spans, str):
            boundaries = self._choose(n_subspaces)
        else:
            boundaries = self._divide(*self._search(n_spans, n_spans), n_spans)
        merging = self.merging(boundaries)
        n_labels = merging.count_labels() if isinstance(n_subspaces, str) else n_subspaces
        return Division(boundaries, merging.labels(min(n_labels, merging.n_spans)))

    @cached_property
    def null(self) -> NullComparison:
        """What spans explain of the recording, compared with chance."""
        return compare_with_null(self._samples, self._rng, self._min_length)

    def _search(self, fewest: int, most: int | None = None) -> tuple[SpanSearch, IntArray]:
        """Search between the sharpest jumps that still leave room for the spans wanted; these jumps."""
        starts, sharpness = self._jumps
        points = _nearest_point(starts, self._step)
        kept = _keep_jumps(points, sharpness, self._shortest, len(self._costs) - 1, (fewest, most))
        if tuple(kept) not in self._searches:
            search = SpanSearch(self._costs, self._shortest, fixed=points[kept], n_jobs=self._n_jobs)
            self._searches[tuple(kept)] = search
        return self._searches[tuple(kept)], starts[kept]

    def _choose(self, n_subspaces: int | str) -> IntArray:
        """Boundaries of as many spans as save more than they cost."""
        n_labels = 1 if isinstance(n_subspaces, str) else n_subspaces
        search, jumps = self._search(n_labels)
        fewest = min(max(len(jumps) + 1, n_labels), search.max_spans)
        count = fewest
        # asking for several labels says that something changes
        if n_labels > 1 or len(self._jumps[0]) or self.null.shows_change:
            count = choose_n_spans(search, fewest, span_penalty(self.null.slope, self.cost.n_samples))
        if not isinstance(n_subspaces, str):
            while count > fewest and self._one_span_less_is_better(search, jumps, count, n_labels):
                count -= 1
        return self._divide(search, jumps, count)

    def _one_span_less_is_better(
        self, search: SpanSearch, jumps: IntArray, n_spans: int, n_labels: int
    ) -> bool:
        """Whether merging down to few labels costs more, on a span of mean length, than dropping a span."""
        merging = self.merging(self._divide(search, jumps, n_spans))
        worst = max(merging.evidence_against[: n_spans - n_labels], default=0.0)
        return worst * self.cost.n_samples / n_spans > search.cost(n_spans - 1) - search.cost(n_spans)

    def _divide(self, search: SpanSearch, jumps: IntArray, n_spans: int) -> IntArray:
        """Boundaries of the best `n_spans` spans, as samples."""
        if (search, n_spans) not in self._divisions:
            starts = search.divide(n_spans)
            if self._step > 1:
                starts = _refine(self.cost, starts, jumps, self._step, self._min_length)
            self._divisions[search, n_spans] = starts
        return self._divisions[search, n_spans]


def _nearest_point(starts: IntArray, step: int) -> IntArray:
    """Grid points nearest to samples; halves go up, so that samples a whole step apart stay a step apart."""
    return (starts + step // 2) // step


def _keep_jumps(
    points: IntArray, sharpness: Array, shortest: int, end: int, limits: tuple[int, int | None]
) -> list[int]:
    """Indices of the sharpest jumps that still leave room for (fewest, most) spans, in order."""
    fewest = min(limits[0], end // shortest)
    most = end if limits[1] is None else limits[1]
    kept: list[int] = []
    for index in np.argsort(-sharpness, kind="stable"):
        room = np.diff(np.sort([0, end, *points[kept], points[index]])) // shortest
        if len(kept) + 1 < most and room.min() >= 1 and room.sum() >= fewest:
            kept.append(int(index))
    return sorted(kept)


def _refine(cost: SpanCost[Any], points: IntArray, jumps: IntArray, step: int, min_length: int) -> IntArray:
    """Move boundaries from grid points to the sample where they save most; jumps stay where they are."""
    starts = points * step
    fixed = np.isin(points, _nearest_point(jumps, step))
    starts[fixed] = jumps
    edges = np.concatenate([[0], starts, [cost.n_samples]])
    for index in np.flatnonzero(~fixed) + 1:
        left, start, right = (int(edge) for edge in edges[index - 1 : index + 2])
        places = range(max(start - step, left + min_length), min(start + step, right - min_length) + 1)
        if not places:
            continue
        before = cost.costs([cost.summarise(left, place) for place in places])
        after = cost.costs([cost.summarise(place, right) for place in places])
        edges[index] = places[int(np.argmin(before + after))]
    return edges[1:-1]
