"""From samples and coefficients to spans, in the order of time, and labels of spans that return.

Every span is described by one Gaussian in the features of :mod:`seqspan.kernel_features`; dynamic programming
finds the spans that are described best (:mod:`seqspan.span_search`), and spans that one Gaussian describes
together get one label (:mod:`seqspan.span_labels`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqspan._types import Array, IntArray
from seqspan.evidence import Evidence
from seqspan.jumps import sharp_jumps
from seqspan.kernel_features import coefficient_features, sample_features
from seqspan.span_labels import Joining
from seqspan.span_search import SpanSearch
from seqspan.surrogates import test_stationarity

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
    evidence : Evidence
        What the spans were found in.
    price : float
        Nats that a boundary had to save.
    """

    boundaries: IntArray
    labels: IntArray
    evidence: Evidence
    price: float


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
    n_subspaces : int or "auto"
        Number of labels, no more than spans.
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
    >>> X, _ = make_subspaces(3, 2, 20, 10, rng=0)
    >>> Z = np.kron(np.eye(3), np.ones((20, 20)))
    >>> ordered_cut(X, Z, rng=0).boundaries
    array([20, 40])
    """
    n = X.shape[1]
    evidence = Evidence([sample_features(X), coefficient_features(Z)])
    step = 1 if n <= EXACT_UP_TO else -(-n // COARSE)
    shortest = max(1, round(min(min_length, n) / step))
    C = evidence.span_costs(step, shortest, n_threads)
    jumps = _strongest(*sharp_jumps(X), shortest * step, n, n_spans)
    _forbid_crossing(C, np.round(jumps / step).astype(np.intp))
    search = Search(evidence, SpanSearch(C, shortest, n_threads), step, shortest, jumps)
    if isinstance(n_spans, str):
        price = _price(X, jumps, n_subspaces, min_length, np.random.default_rng(rng))
        joining = search.choose(price, n_subspaces)
    else:
        price = 0.0
        joining = search.join(n_spans)
    n_labels = _count_labels(joining) if isinstance(n_subspaces, str) else min(n_subspaces, joining.n_spans)
    return OrderedCut(joining.boundaries, joining.labels(n_labels), evidence, price)


@dataclass(frozen=True)
class Search:
    """Divisions into any number of spans, on the grid and refined, with jumps kept."""

    evidence: Evidence
    spans: SpanSearch
    step: int
    shortest: int
    jumps: IntArray

    def join(self, n_spans: int) -> Joining:
        """The best `n_spans` spans, ready to be joined."""
        starts = self.spans.divide(n_spans) * self.step
        return Joining(self.evidence, _refine(self.evidence, starts, self.jumps, self.step, self.shortest))

    def choose(self, price: float, n_subspaces: int | str) -> Joining:
        """The number of spans at which one more saves less than it costs."""
        if np.isinf(price):
            return self.join(1)
        fewest = max(len(self.jumps) + 1, 1 if isinstance(n_subspaces, str) else n_subspaces)
        count = self._cheapest(price, min(fewest, self.spans.n_most))
        joining = self.join(count)
        if isinstance(n_subspaces, str):
            return joining
        # Where so few labels ask for joining what differs more than two neighbours do, spans are too many.
        while count > fewest and max(joining.losses[: count - n_subspaces]) * self._mean_length(
            count
        ) > self.spans.cost(count - 1) - self.spans.cost(count):
            count -= 1
            joining = self.join(count)
        return joining

    def _mean_length(self, n_spans: int) -> float:
        """Samples in a span, on average."""
        return self.evidence.n_samples / n_spans

    def _cheapest(self, price: float, fewest: int) -> int:
        """Minimise ``cost(k) + price sqrt(k)``, well past the minimum."""
        best, least, k = fewest, np.inf, fewest
        while k <= min(self.spans.n_most, 2 * best + 8):
            total = self.spans.cost(k) + price * np.sqrt(k)
            if total < least:
                best, least = k, total
            k += 1
        return best


def _price(
    X: Array, jumps: IntArray, n_subspaces: int | str, min_length: int, rng: np.random.Generator
) -> float:
    """Nats that the first boundary has to save; infinite where nothing speaks for any change."""
    chance = test_stationarity(X, rng, min_length)
    must_change = len(jumps) > 0 or (not isinstance(n_subspaces, str) and n_subspaces > 1)
    if chance.ratio < CHANGED and not must_change:
        return np.inf
    return SPAN_PRICE * chance.slope**SLOPE_POWER * X.shape[1]


def _strongest(
    starts: IntArray, sharpness: Array, shortest: int, n_samples: int, n_spans: int | str
) -> IntArray:
    """The sharpest jumps that leave every span long enough, no more than there are boundaries."""
    most = len(starts) if isinstance(n_spans, str) else n_spans - 1
    kept: list[int] = []
    for start in starts[np.argsort(-sharpness, kind="stable")]:
        near = min((abs(start - other) for other in [0, n_samples, *kept]), default=n_samples)
        if near >= shortest and len(kept) < most:
            kept.append(int(start))
    return np.sort(np.array(kept, dtype=np.intp))


def _forbid_crossing(C: Array, starts: IntArray) -> None:
    """No span may reach across these grid points."""
    for start in starts:
        C[start + 1 :, :start] = np.inf


def _count_labels(joining: Joining) -> int:
    """Labels left when all has been joined that loses little by it."""
    highest = np.maximum.accumulate(np.array([-np.inf, *joining.losses]))  # a later joining may lose less
    return joining.n_spans - int(np.sum(highest[1:] < SAME))


def _refine(evidence: Evidence, starts: IntArray, jumps: IntArray, step: int, shortest: int) -> IntArray:
    """Move boundaries from the grid to the sample where they save most; jumps are where they are."""
    if step == 1:
        return starts
    starts = starts.copy()
    for index, start in enumerate(starts):
        near = jumps[np.abs(jumps - start) <= step]
        if len(near):
            starts[index] = near[0]
            continue
        left = starts[index - 1] if index else 0
        right = starts[index + 1] if index + 1 < len(starts) else evidence.n_samples
        places = np.arange(max(start - step, left + 1), min(start + step, right - 1) + 1)
        costs = [
            evidence.cost(evidence.moments(left, place)) + evidence.cost(evidence.moments(place, right))
            for place in places
        ]
        starts[index] = places[int(np.argmin(costs))]
    return starts
