r"""What a span costs: how badly one model describes its samples.

The ordered cut knows its cost through the protocol :class:`SpanCost` alone. To add a cost, write a subclass
of `SpanCost` in a file of its own with two methods, `summarise` and `costs`, and return it from
:func:`make_cost`. The search asks for the costs of all spans at once: override `span_costs` if computing
them one by one is too slow.

The cost in use is :class:`GaussianCost`. A span of samples ``y_1, ..., y_N`` with p features costs

    -log p(y) = -log  integral  prod_t Normal(y_t; m, S) dNIW(m, S),

the negative log evidence that its samples are draws of one Gaussian, under a normal-inverse-Wishart prior.
Mean and covariance are integrated out, so one span in place of two different ones costs more, and so do two
spans in place of one. A low-dimensional subspace is a covariance of low rank, which this model favours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np

from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.features import coefficient_features, sample_features

FEATURE_STEP = 2  # costs are averaged over 2, 4, 6, ... features, so that no number has to be chosen
PRIOR_VARIANCE = 0.1  # expected within a span, as a fraction of that of the whole recording


class Summary(Protocol):
    """What a cost has to know about a set of samples; the sum of two summaries is that of the union."""

    @property
    def count(self) -> int:
        """Number of samples."""

    def __add__(self, other: Self, /) -> Self: ...


S = TypeVar("S", bound=Summary)


class SpanCost(Protocol[S]):
    """Cost of spans and of other sets of samples, in nats."""

    n_samples: int

    def summarise(self, start: int, end: int) -> S:
        """Summarise the samples in [start, end)."""
        ...

    def costs(self, summaries: Sequence[S]) -> Array:
        """Costs of several sets of samples."""
        ...

    def error(self, start: int, end: int) -> float:
        """Cost of the span [start, end)."""
        return float(self.costs([self.summarise(start, end)])[0])

    def span_costs(self, step: int = 1, shortest: int = 1, n_jobs: int | None = None) -> Array:
        """Costs of all spans between points of a grid.

        Parameters
        ----------
        step : int
            Samples from one grid point to the next; the last point is the end of the recording.
        shortest : int
            Length of the shortest span, in grid steps.
        n_jobs : int, optional
            Number of threads.

        Returns
        -------
        C : array of shape (n_grid, n_grid)
            ``C[end, start]``; zero for spans shorter than `shortest`.
        """
        grid = [*range(0, self.n_samples, step), self.n_samples]
        C = np.zeros((len(grid), len(grid)), dtype=np.float32)
        for end in range(len(grid)):
            for start in range(end - shortest + 1):
                C[end, start] = self.error(grid[start], grid[end])
        return C


@dataclass(frozen=True)
class Moments:
    """Number of samples, and for each view their sum and the sum of their outer products."""

    count: int
    totals: tuple[Array, ...]
    products: tuple[Array, ...]

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.count + other.count,
            tuple(a + b for a, b in zip(self.totals, other.totals, strict=True)),
            tuple(a + b for a, b in zip(self.products, other.products, strict=True)),
        )


class GaussianCost(SpanCost[Moments]):
    """Negative log evidence of one Gaussian, averaged over views of the samples and numbers of features.

    Parameters
    ----------
    views : sequence of arrays of shape (n, p)
        Features of the n samples: uncorrelated, mean zero, variance one, most important first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(-1, 0.1, (20, 2)), rng.normal(1, 0.1, (20, 2))])
    >>> cost = GaussianCost([Y])
    >>> cost.error(0, 20) + cost.error(20, 40) < cost.error(0, 40)
    True
    """

    def __init__(self, views: Sequence[Array]) -> None:
        self.views = [np.ascontiguousarray(view[:, : _n_features_used(view.shape[1])]) for view in views]
        self.n_samples = len(self.views[0])
        if any(len(view) != self.n_samples for view in self.views):
            counts = [len(view) for view in self.views]
            raise ValueError(f"All views must describe the same samples; got {counts} samples.")
        self._models = [_ViewModel.for_features(view.shape[1], self.n_samples) for view in self.views]

    def summarise(self, start: int, end: int) -> Moments:
        """Moments of the samples in [start, end)."""
        spans = [view[start:end] for view in self.views]
        return Moments(len(spans[0]), tuple(Y.sum(axis=0) for Y in spans), tuple(Y.T @ Y for Y in spans))

    def costs(self, summaries: Sequence[Moments]) -> Array:
        """Costs of several sets of samples, each given by its moments."""
        if not summaries:
            return np.empty(0)
        counts = np.array([one.count for one in summaries])
        totals = zip(*(one.totals for one in summaries), strict=True)
        products = zip(*(one.products for one in summaries), strict=True)
        each_view = zip(self._models, totals, products, strict=True)
        per_view = [model.costs(counts, np.stack(t), np.stack(p)) for model, t, p in each_view]
        mean: Array = np.mean(per_view, axis=0)
        return mean

    def span_costs(self, step: int = 1, shortest: int = 1, n_jobs: int | None = None) -> Array:
        """Costs of all spans between points of a grid, in O(n^2 p^2 / step)."""
        n_grid = -(-self.n_samples // step) + 1
        C = np.zeros((n_grid, n_grid), dtype=np.float32)
        with Team(n_jobs, uses_blas=False) as team:
            for Y, model in zip(self.views, self._models, strict=True):
                model.add_span_costs(Y, (step, shortest), len(self.views), C, team)
        return C


@dataclass(frozen=True)
class _ViewModel:
    """The Gaussian evidence in one view, as what depends on the log determinants and what does not.

    With D the pivots of a span's scatter plus the prior, N its samples and g a group of `group` features,
    the cost is ``sum_g log prod D_g (slopes[g, 0] + N slopes[g, 1]) + table[N]``.
    """

    group: int
    slopes: Array
    table: Array

    @classmethod
    def for_features(cls, n_features: int, n_samples: int) -> Self:
        """Average over numbers of leading features."""
        group = min(FEATURE_STEP, n_features)
        sizes = np.arange(group, n_features + 1, group)
        freedom = sizes + 2.0  # the fewest degrees for which the prior has a mean
        slopes = np.array([[freedom[g:].sum(), len(sizes) - g] for g in range(len(sizes))]) / (2 * len(sizes))
        lengths = np.arange(n_samples + 1)
        table = np.mean([_length_term(s, v, lengths) for s, v in zip(sizes, freedom, strict=True)], axis=0)
        return cls(int(group), slopes, table)

    def costs(self, counts: IntArray, totals: Array, products: Array) -> Array:
        """Costs of several sets of samples from their moments: the twin of the compiled loop."""
        scatters = products - totals[:, :, None] * (totals / (counts[:, None] + 1))[:, None, :]
        factors = np.linalg.cholesky(scatters + PRIOR_VARIANCE * np.eye(totals.shape[1]))
        pivots = np.log(np.diagonal(factors, axis1=1, axis2=2)) * 2
        grouped = np.add.reduceat(pivots, np.arange(0, totals.shape[1], self.group), axis=1)
        weights = self.slopes[:, 0] + counts[:, None] * self.slopes[:, 1]
        costs: Array = np.sum(grouped * weights, axis=1) + self.table[counts]
        return costs

    def add_span_costs(self, Y: Array, grid: tuple[int, int], n_views: int, C: Array, team: Team) -> None:
        """Add the share of one of several views to the costs of all spans of a grid (step, shortest)."""
        from seqspan.cuts.ordered.loops import LANES, fill_costs  # numba: imported on first use only

        model = PRIOR_VARIANCE, self.group, self.slopes / n_views, self.table / n_views
        firsts = range(0, len(C) - 1, LANES)

        def work(blocks: range) -> None:
            for block in blocks:
                fill_costs(Y, grid, model, firsts[block], C)

        team.map(work, len(firsts))


def make_cost(X: Array, Z: Array | None = None) -> GaussianCost:
    """Make the cost that the ordered cut minimises, and that evidence and confidence are measured in.

    Parameters
    ----------
    X : array of shape (d, n)
        Samples.
    Z : array of shape (m, n), optional
        Coefficients: a second view of the samples.

    Returns
    -------
    SpanCost

    Examples
    --------
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 10, axis=1)
    >>> cost = make_cost(X, np.kron(np.eye(2), np.ones((10, 10))))
    >>> cost.error(0, 10) + cost.error(10, 20) < cost.error(0, 20)
    True
    """
    return GaussianCost([sample_features(X)] + ([] if Z is None else [coefficient_features(Z)]))


def _n_features_used(n_features: int) -> int:
    """Largest multiple of the step; 1 if there is one feature."""
    return max(n_features // FEATURE_STEP * FEATURE_STEP, 1)


def _length_term(size: np.intp, freedom: float, lengths: IntArray) -> Array:
    """All of the cost but the log determinant, for spans of given lengths."""
    from scipy.special import gammaln  # takes long to import

    half = (freedom - np.arange(size)) / 2
    table: Array = gammaln(half).sum() - gammaln(half[:, None] + lengths / 2).sum(axis=0)
    table += size / 2 * np.log1p(lengths) - freedom / 2 * size * np.log(PRIOR_VARIANCE)
    return table
