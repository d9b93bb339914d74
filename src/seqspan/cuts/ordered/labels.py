r"""Labels of spans: spans that one model describes well together get the same label.

Samples of one span resemble each other more than samples of two spans with the same label, as pupils of one
class do. In surveys that is the design effect [Kish 1965]: N samples of a cluster are worth

    N / (1 + (N - 1) rho)

independent ones, with rho the correlation within clusters. So a long span counts for at most 1 / rho samples,
and two long spans may share a label although each has a mean of its own.

A few samples say little about a covariance of 16 features, but all spans together say much about what spans
have in common. So labels expect the covariance within spans, pooled over all of them (empirical Bayes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from seqspan._core.backend import is_on_gpu, to_host
from seqspan._core.spans import MIN_LENGTH, Division, merge_neighbours, number_in_order, part_slices
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import PRIOR_VARIANCE, GaussianCost, Moments
from seqspan.cuts.ordered.device_functions import MAX_PAIR_FEATURES, MIN_GROUPS
from seqspan.cuts.ordered.merging import Merging
from seqspan.cuts.ordered.search import share_out

CORRELATION = 0.1  # rho: of two samples of a span, given its label
FIXED_CORRELATION = 0.03  # the same where labels expect a fixed covariance: in streams, and known ones
PRIOR_SAMPLES = float(MIN_LENGTH)  # that the prior's covariance counts for: as many as the shortest span has
ROUNDS = 8  # of labels and boundaries in turn, at most
MAX_PATHS = 100_000_000  # spans x labels x places: more than that is not searched


class LabelTree:
    """Spans merged two groups at a time, always the pair that loses least evidence.

    Parameters
    ----------
    Y : array of shape (n, p)
        Features of the samples. If they are on a GPU, many spans are merged there.
    boundaries : array of int
        Interior starts of the spans.
    joins : tuple of int
        Those at which another recording begins.

    Attributes
    ----------
    correlation_time : float
        Time over which samples of a span are correlated, in samples.
    evidence : array of shape (n_spans,)
        For 1, 2, ..., n_spans labels: the log evidence in nats, with every sample counted as one of
        `correlation_time` samples that say the same, less the log of their number for each span, which
        is what saying its label takes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(m, 0.1, (20, 2)) for m in (-1, 1, -1)])
    >>> tree = LabelTree(Y, np.array([20, 40]))
    >>> tree.labels(2), tree.count_labels()
    (array([0, 1, 0]), 2)
    """

    def __init__(self, Y: Array, boundaries: IntArray, joins: tuple[int, ...] = ()) -> None:
        edges = np.concatenate([[0], boundaries, [len(Y)]])
        self._on_gpu = is_on_gpu(Y) and len(edges) > MIN_GROUPS and Y.shape[1] <= MAX_PAIR_FEATURES
        Y = standardise_within(to_host(Y), edges)
        self.cost = GaussianCost([Y], prior_samples=PRIOR_SAMPLES)
        self.boundaries, self.joins = boundaries, joins
        self.n_spans = len(edges) - 1
        spans = [self.cost.summarise(start, end) for start, end in pairwise(edges)]
        self.correlation_time = correlation_time(Y, edges)
        self._counted = [span * (1 / self.correlation_time) for span in spans]
        self._pairs: list[tuple[int, int]] = []
        self.evidence = self._merge_all([span * effective_share(span.count) for span in spans])

    def labels(self, n_labels: int) -> IntArray:
        """Label of each span when `n_labels` groups are left, numbered in the order of appearance."""
        groups = np.arange(self.n_spans)
        for kept, gone in self._pairs[: self.n_spans - n_labels]:
            groups[groups == gone] = kept
        return number_in_order(groups)

    def count_labels(self, fewest: int = 1) -> int:
        """Number of labels with the most evidence, at least `fewest`."""
        return fewest + int(np.argmax(self.evidence[fewest - 1 :]))

    def fewest_apart(self) -> int:
        """Fewest labels for which no two neighbouring spans of a recording have the same."""
        groups, together = np.arange(self.n_spans), ~np.isin(self.boundaries, self.joins)
        for merged, (kept, gone) in enumerate(self._pairs):
            groups[groups == gone] = kept
            if np.any((groups[1:] == groups[:-1]) & together):
                return self.n_spans - merged
        return 1

    def _merge_all(self, groups: list[Moments]) -> Array:
        """Merge until one group is left; the evidence for 1, 2, ... labels."""
        merging, counted = Merging(self.cost, groups, on_gpu=self._on_gpu), self.cost.costs(self._counted)
        totals = [float(counted.sum())]
        for _ in range(self.n_spans - 1):
            i, j = merging.merge()
            self._pairs.append((i, j))
            self._counted[i] = self._counted[i] + self._counted[j]
            apart, counted[i] = counted[i] + counted[j], self.cost.costs([self._counted[i]])[0]
            totals.append(totals[-1] - apart + float(counted[i]))
        saying: Array = self.n_spans * np.log(np.arange(1.0, self.n_spans + 1))
        return -np.array(totals[::-1]) - saying


def standardise_within(Y: Array, edges: IntArray) -> Array:
    """Transform features so that their covariance within spans, pooled, is what the prior of a cost expects.

    A triangular matrix does it, so the first 2, 4, ... features remain functions of the first 2, 4, ... The
    pooled covariance has that prior itself: features that never change within spans stay finite.

    Parameters
    ----------
    Y : array of shape (n, p)
    edges : array of int
        Where spans begin, and where the last one ends.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.repeat([[-1.0], [1.0]], 500, axis=0) + 0.1 * rng.standard_normal((1000, 1))
    >>> found = standardise_within(Y, np.array([0, 500, 1000]))
    >>> float(found[:500].var().round(2)), PRIOR_VARIANCE
    (0.2, 0.2)
    """
    residuals = Y - np.repeat(
        [Y[start:end].mean(axis=0) for start, end in pairwise(edges)], np.diff(edges), axis=0
    )
    prior = PRIOR_VARIANCE * PRIOR_SAMPLES * np.eye(Y.shape[1])
    pooled = (residuals.T @ residuals + prior) / (len(Y) + PRIOR_SAMPLES)
    standard: Array = np.linalg.solve(np.linalg.cholesky(pooled / PRIOR_VARIANCE), Y.T).T
    return standard


def effective_share(count: float, correlation: float | None = None) -> float:
    """Share of the samples of a span that are worth as much as independent ones.

    Examples
    --------
    >>> effective_share(1), round(1000 * effective_share(1000))
    (1.0, 10)
    """
    return 1 / (1 + (count - 1) * (CORRELATION if correlation is None else correlation))


def correlation_time(Y: Array, edges: IntArray) -> float:
    """Integrated autocorrelation time within spans, in samples, averaged over features.

    Autocorrelations are added up to the first that independent samples could have by chance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> independent = rng.standard_normal((1000, 2))
    >>> edges = np.array([0, 500, 1000])
    >>> [round(correlation_time(Y, edges)) for Y in (independent, np.repeat(independent[:200], 5, axis=0))]
    [1, 5]
    """
    from seqspan.cuts.ordered.loops import sum_lagged_products  # numba: imported on first use only

    lengths = np.diff(edges)
    residuals = np.repeat([Y[start:end].mean(axis=0) for start, end in pairwise(edges)], lengths, axis=0)
    np.subtract(Y, residuals, out=residuals)
    variances = np.maximum(np.einsum("ti,ti->i", residuals, residuals), np.finfo(float).tiny)
    times, open_ = np.ones(Y.shape[1]), np.ones(Y.shape[1], dtype=bool)
    for lag in range(1, int(lengths.max())):
        products = sum_lagged_products(residuals, edges, lag)
        open_ &= products / variances > 2 / np.sqrt(len(Y))
        if not open_.any():
            break
        times[open_] += 2 * products[open_] / variances[open_]
    return float(times.mean())


@dataclass(frozen=True)
class Settling:
    """Moves boundaries and labels to where the label models describe the samples best, in turn.

    Parameters
    ----------
    cost : GaussianCost
        Of the label models.
    min_length : int
        Length of the shortest span.
    correlation_time : float
        Number of samples that say the same.
    joins : tuple of int
        Samples at which another recording begins.
    n_jobs : int, optional
        Number of threads.
    """

    cost: GaussianCost
    min_length: int
    correlation_time: float = 1.0
    joins: tuple[int, ...] = ()
    n_jobs: int | None = 1

    def settle(self, division: Division, n_spans: int | None = None) -> Division:
        """Improve a division until its evidence stops growing; as many labels, none of them on neighbours.

        There are exactly `n_spans` spans, or as many as are left when neighbours with one label are merged.
        """
        merged, n_labels = merge_neighbours(division, self.joins), division.n_labels
        n_spans = n_spans or len(merged.labels)
        if n_labels == 1 or n_spans * n_labels * self.cost.n_samples > MAX_PATHS:
            return merged if n_spans == len(merged.labels) else self._set_apart(division)
        division = best = merged
        least = np.inf
        for _ in range(ROUNDS):
            found = give_lost_labels(self._best_path(division, n_spans), n_labels)
            cost = self._total(found)
            if cost >= least:
                break
            best, least, division = found, cost, found
        return best

    def _total(self, division: Division) -> float:
        """Cost of all labels. Every sample counts the same, so that divisions can be compared."""
        summaries = self._label_summaries(division, lambda count: 1 / self.correlation_time)
        return float(self.cost.costs(summaries).sum())

    def _label_summaries(self, division: Division, share: Callable[[float], float]) -> list[Moments]:
        """Moments of all samples of each label, of each span the share that counts."""
        edges = np.concatenate([[0], division.boundaries, [self.cost.n_samples]])
        spans = [self.cost.summarise(start, end) for start, end in pairwise(edges)]
        sums: dict[int, Moments] = {}
        for label, span in zip(division.labels.tolist(), spans, strict=True):
            weighted = span * share(span.count)
            sums[label] = sums[label] + weighted if label in sums else weighted
        return [sums[label] for label in sorted(sums)]

    def _best_path(self, division: Division, n_spans: int) -> Division:
        """The best spans and labels for fixed label models: dynamic programming, exact."""
        from seqspan.cuts.ordered.loops import best_path  # numba: imported on first use only

        sums = self._sum_densities(division)
        starts, labels = [], []
        for part, count in self._share_out(sums, n_spans):
            shortest = min(self.min_length, (part.stop - part.start) // count)
            found = best_path(_sums_from(sums, part), count, shortest)
            starts.append(part.start + found[0])
            labels.append(found[1])
        return Division(np.concatenate(starts)[1:].astype(np.intp), np.concatenate(labels))

    def _share_out(self, sums: Array, n_spans: int) -> list[tuple[slice, int]]:
        """The recordings, and how many of the spans each has on the best path."""
        from seqspan.cuts.ordered.loops import path_costs

        parts = part_slices(self.joins, self.cost.n_samples)
        if len(parts) == 1:
            return [(parts[0], n_spans)]
        curves = []
        for part in parts:
            length = part.stop - part.start
            shortest = min(self.min_length, length)
            most = min(length // shortest, n_spans - len(parts) + 1)
            curves.append(path_costs(_sums_from(sums, part), most, shortest))
        return list(zip(parts, share_out(curves, n_spans)[1], strict=True))

    def _set_apart(self, division: Division) -> Division:
        """Keep all boundaries: span by span, the best label that the span before it does not have."""
        edges = np.concatenate([[0], division.boundaries, [self.cost.n_samples]])
        costs = np.diff(self._sum_densities(division)[:, edges], axis=1)
        labels = np.zeros(len(division.labels), dtype=np.intp)
        first = np.isin([0, *division.boundaries], [0, *self.joins])  # of a recording
        for span, of_labels in enumerate(costs.T):
            if not first[span]:
                of_labels[labels[span - 1]] = np.inf
            labels[span] = np.argmin(of_labels)
        return give_lost_labels(Division(division.boundaries, labels), division.n_labels)

    def _sum_densities(self, division: Division) -> Array:
        """What samples 0, ..., t - 1 cost under each label, for all t."""
        densities = self.cost.densities(self._label_summaries(division, effective_share), self.n_jobs)
        sums = np.zeros((len(densities), self.cost.n_samples + 1))
        np.cumsum(densities, axis=1, out=sums[:, 1:])
        return sums


def _sums_from(sums: Array, part: slice) -> Array:
    """The sums of one recording, from its first sample on."""
    return np.ascontiguousarray(sums[:, part.start : part.stop + 1] - sums[:, part.start, None])


def give_lost_labels(division: Division, n_labels: int) -> Division:
    """Give spans that share a label labels of their own until there are `n_labels` again.

    The longest such spans come first, and labels are numbered in the order of appearance.

    Examples
    --------
    >>> give_lost_labels(Division(np.array([2, 5, 6]), np.array([0, 1, 0, 1])), 3).labels
    array([0, 1, 0, 2])
    """
    labels = division.labels.copy()
    lengths = np.diff(np.concatenate([[0], division.boundaries]))  # of all spans but the last
    while len(np.unique(labels)) < n_labels:
        shared = [s for s in range(len(labels)) if np.sum(labels == labels[s]) > 1]
        longest = max((s for s in shared if s < len(lengths)), key=lambda s: lengths[s])
        labels[longest] = labels.max() + 1
    return Division(division.boundaries, number_in_order(labels))
