r"""Labels of spans: spans that one model describes well together get the same label.

Samples of one span resemble each other more than samples of two spans with the same label, as pupils of one
class do. In surveys that is the design effect [Kish 1965]: N samples of a cluster are worth

    N / (1 + (N - 1) rho)

independent ones, with rho the correlation within clusters. So a long span counts for at most 1 / rho samples,
and two long spans may share a label although each has a mean of its own.

A few samples say little about a covariance of 16 features, but all spans together say much about what spans
have in common. So labels expect the covariance within spans, pooled over all of them (empirical Bayes).
Labels are counted with several priors, which expect it more or less strongly, because in the noise of many
features labels that nearly share a covariance have far more evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import is_on_gpu, to_host
from seqspan._core.spans import (
    MIN_LENGTH,
    number_in_order,
)
from seqspan._core.threads import Team, count_threads
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.device_functions import MAX_PAIR_FEATURES, MIN_GROUPS
from seqspan.cuts.ordered.merging import Merging
from seqspan.cuts.ordered.view_model import PRIOR_VARIANCE

CORRELATION = 0.1  # rho: of two samples of a span, given its label
FIXED_CORRELATION = 0.03  # the same where labels expect a fixed covariance: in streams, and known ones
PRIOR_SAMPLES = float(MIN_LENGTH)  # that the prior's covariance counts for: as many as the shortest span has
STRENGTHS = 1, 4, 16  # times as many while labels are counted; the evidence chooses
MAX_LAGS = 1_000_000  # x features that are transformed at a time
ALIKE_SAMPLES = 1000.0  # that the prior counts for where all labels have the same covariance


@dataclass(frozen=True)
class Merges:
    """How groups of spans were merged, two at a time, until one was left.

    Parameters
    ----------
    pairs : list of (int, int)
        Which group took in which other one.
    evidence : array of shape (n_priors, n_spans)
        With each prior, for 1, 2, ..., n_spans groups.
    """

    pairs: list[tuple[int, int]]
    evidence: Array

    def groups(self, count: int) -> IntArray:
        """Group of each span when `count` of them are left."""
        return next(groups for left, groups in self._steps() if left == count)

    def fewest_apart(self, together: npt.NDArray[np.bool_]) -> int:
        """Fewest groups for which none has two neighbours; `together` says which neighbours count."""
        counts = (left for left, groups in self._steps() if np.any((groups[1:] == groups[:-1]) & together))
        return next(counts, 0) + 1

    def _steps(self) -> Iterator[tuple[int, IntArray]]:
        """How many groups are left, and the group of each span, before the first merge and after each."""
        groups = np.arange(len(self.pairs) + 1)
        yield len(groups), groups
        for merged, (kept, gone) in enumerate(self.pairs, start=1):
            groups[groups == gone] = kept
            yield len(groups) - merged, groups


class LabelTree:
    """Spans merged two groups at a time, always the pair that loses least evidence.

    Always taking the next best can go wrong: of many features, the covariance of a few samples is costly to
    say, and a small group is better off with a large one than with its like. So spans are merged a second
    time as if all had the same covariance. For each number of labels, the better answer counts.

    Parameters
    ----------
    Y : array of shape (n, p)
        Features of the samples. If they are on a GPU, many spans are merged there.
    boundaries : array of int
        Interior starts of the spans.
    joins : tuple of int
        Those at which another recording begins.
    n_jobs : int, optional
        Number of threads; two are used at most.

    Attributes
    ----------
    inflation : float
        Number of samples that say as much as one independent sample.
    evidence : array of shape (n_spans,)
        For 1, 2, ..., n_spans labels: the log evidence in nats, with so many samples counted as one, less
        what it takes to say which spans belong together; of several priors, with the best.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(m, 0.1, (20, 2)) for m in (-1, 1, -1)])
    >>> tree = LabelTree(Y, np.array([20, 40]))
    >>> tree.labels(2), tree.count_labels()
    (array([0, 1, 0]), 2)
    """

    def __init__(
        self, Y: Array, boundaries: IntArray, joins: tuple[int, ...] = (), n_jobs: int | None = 1
    ) -> None:
        edges = np.concatenate([[0], boundaries, [len(Y)]])
        self._on_gpu = is_on_gpu(Y) and len(edges) > MIN_GROUPS and Y.shape[1] <= MAX_PAIR_FEATURES
        Y = standardise_within(to_host(Y), edges)
        self._priors = [GaussianCost([Y], prior_samples=PRIOR_SAMPLES * strength) for strength in STRENGTHS]
        self.cost = self._priors[0]
        self.boundaries, self.joins = boundaries, joins
        self.n_spans = len(edges) - 1
        self._spans = [self.cost.summarise(start, end) for start, end in pairwise(edges)]
        # the halves of a span that swings have equal means, but its samples are not independent
        self.inflation = max(variance_inflation(Y, edges), correlation_time(Y, edges))
        self._ways = self._merge_both_ways(n_jobs)
        evidences = np.array([merges.evidence for merges in self._ways])
        self._better = np.argmax(evidences[:, 0], axis=0)
        self.evidence: Array = evidences.max(axis=(0, 1))

    def labels(self, n_labels: int) -> IntArray:
        """Label of each span when `n_labels` groups are left, numbered in the order of appearance."""
        return number_in_order(self._ways[self._better[n_labels - 1]].groups(n_labels))

    def count_labels(self, fewest: int = 1) -> int:
        """Number of labels with the most evidence, at least `fewest`."""
        return fewest + int(np.argmax(self.evidence[fewest - 1 :]))

    def fewest_apart(self) -> int:
        """Fewest labels from which on no two neighbouring spans of a recording have the same."""
        together = ~np.isin(self.boundaries, self.joins)
        fewest = np.array([merges.fewest_apart(together) for merges in self._ways])
        shared = np.arange(1, self.n_spans + 1) < fewest[self._better]
        return int(np.flatnonzero(shared).max(initial=-1)) + 2  # one more than the most that share

    def _merge_both_ways(self, n_jobs: int | None) -> list[Merges]:
        """Merge with a covariance for each group and with one for all, each in a thread if there are two."""
        costs = self.cost, GaussianCost(self.cost.views, prior_samples=ALIKE_SAMPLES)
        with Team(1 if self._on_gpu else min(count_threads(n_jobs), 2)) as team:
            shares = team.map(lambda ways: [self._merge_all(costs[way]) for way in ways], 2)
        return [merges for share in shares for merges in share]

    def _merge_all(self, cost: GaussianCost) -> Merges:
        """Merge until one group is left, always the pair that loses least by a cost."""
        merging = Merging(cost, [s * effective_share(s.count) for s in self._spans], on_gpu=self._on_gpu)
        pairs = [merging.merge() for _ in range(self.n_spans - 1)]
        return Merges(pairs, np.array([self._measure_evidence(pairs, prior) for prior in self._priors]))

    def _measure_evidence(self, pairs: list[tuple[int, int]], prior: GaussianCost) -> Array:
        """Evidence for 1, 2, ..., n_spans groups that come from merging pairs."""
        counted = [span * (1 / self.inflation) for span in self._spans]
        costs = prior.costs(counted)
        totals = [float(costs.sum())]
        for i, j in pairs:
            counted[i] = counted[i] + counted[j]
            apart, costs[i] = costs[i] + costs[j], prior.costs([counted[i]])[0]
            totals.append(totals[-1] - apart + float(costs[i]))
        evidence: Array = -np.array(totals[::-1]) - log_partitions(self.n_spans)
        return evidence


def log_partitions(n: int) -> Array:
    """Log of the number of ways to divide n things into 1, 2, ..., n groups: Stirling numbers.

    Examples
    --------
    >>> np.exp(log_partitions(4)).round().astype(int)
    array([1, 7, 6, 1])
    """
    logs, sizes = np.full(n, -np.inf), np.log(np.arange(1.0, n + 1))
    logs[0] = 0.0
    for _ in range(n - 1):  # one more thing is a group of its own, or joins any group
        logs[1:] = np.logaddexp(logs[:-1], sizes[1:] + logs[1:])
    return logs


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


def variance_inflation(Y: Array, edges: IntArray) -> float:
    """How often the variance of a span's mean is that of independent samples.

    By batch means: the means of the two halves of a span differ by so much more than those of independent
    samples do, because neighbours are alike, and because spans drift. The geometric mean over spans counts,
    so that a single span that holds a change says little.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> independent, edges = rng.standard_normal((1000, 32)), np.arange(0, 1001, 100)
    >>> [round(variance_inflation(Y, edges)) for Y in (independent, np.repeat(independent[:200], 5, axis=0))]
    [1, 5]
    """
    between, within = [], []
    for start, end in pairwise(edges.tolist()):
        half = (end - start) // 2  # the same from both ends: time may run backwards
        if half < 2:
            continue
        halves = Y[start : start + half], Y[end - half : end]
        between.append(half * np.mean((halves[0].mean(axis=0) - halves[1].mean(axis=0)) ** 2) / 2)
        within.append(np.mean([each.var(axis=0, ddof=1) for each in halves]))
    varying = np.array(within) > np.finfo(float).eps * max(within, default=0.0)
    if not varying.any():
        return 1.0
    ratios = np.array(between)[varying] / np.array(within)[varying]
    return max(float(np.exp(np.mean(np.log(np.maximum(ratios, np.finfo(float).tiny))))), 1.0)


def correlation_time(Y: Array, edges: IntArray) -> float:
    """Integrated autocorrelation time within spans, in samples, averaged over the features that vary there.

    Autocorrelations are added up to the first that independent samples could have by chance. Where a feature
    only has rounding within spans, its neighbours are alike however long the spans are, which says nothing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> independent = rng.standard_normal((1000, 2))
    >>> edges = np.array([0, 500, 1000])
    >>> [round(correlation_time(Y, edges)) for Y in (independent, np.repeat(independent[:200], 5, axis=0))]
    [1, 5]
    """
    longest = int(np.diff(edges).max())
    blocks = np.array_split(np.arange(Y.shape[1]), min(-(-longest * Y.shape[1] // MAX_LAGS), Y.shape[1]))
    times = np.concatenate([_correlation_times(Y[:, block], edges) for block in blocks])
    varying = np.isfinite(times)
    return float(times[varying].mean()) if varying.any() else 1.0


def _correlation_times(Y: Array, edges: IntArray) -> Array:
    """Integrated autocorrelation time of each feature, NaN if it does not vary within spans."""
    products = np.zeros((int(np.diff(edges).max()), Y.shape[1]))  # with the sample 0, 1, ... later, summed up
    for start, end in pairwise(edges.tolist()):
        products[: end - start] += _lagged_products(Y[start:end] - Y[start:end].mean(axis=0))
    correlations = products[1:] / np.maximum(products[0], np.finfo(float).tiny)
    alike = np.logical_and.accumulate(correlations > 2 / np.sqrt(len(Y)), axis=0)
    times = 1 + 2 * np.sum(correlations, axis=0, where=alike)
    varying = products[0] > np.finfo(float).eps * np.sum(Y**2, axis=0)
    found: Array = np.where(varying, times, np.nan)
    return found


def _lagged_products(Y: Array) -> Array:
    """Sums of products of samples with those 0, 1, ... later: convolutions, by Fourier transforms."""
    length = 2 ** (2 * len(Y) - 1).bit_length()  # so that no sample meets one before it
    spectrum = np.abs(np.fft.rfft(Y, length, axis=0)) ** 2
    products: Array = np.fft.irfft(spectrum, length, axis=0)[: len(Y)]
    return products
