r"""How badly one model describes a span: the evidence that its samples are draws of one Gaussian.

A span of samples ``y_1, ..., y_N`` with p features costs

    -log p(y) = -log  integral  prod_t Normal(y_t; m, S) dNIW(m, S),

the negative logarithm of its marginal likelihood under a normal-inverse-Wishart prior: mean and covariance
are integrated out, so that describing two different stretches as one costs, and describing one stretch as
two costs as well. A low-dimensional subspace is a covariance of low rank, which this model likes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from seqspan._core.memory import require_memory
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray

GROUP = 2  # numbers of features that are averaged: 2, 4, 6, ..., so that none has to be chosen
PRIOR = 0.1  # variance expected within a span, of that of the whole sequence


@dataclass(frozen=True)
class Moments:
    """What the evidence needs to know of a set of samples: their number, sum and sum of products."""

    count: int
    total: Array
    products: Array

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.count + other.count, self.total + other.total, self.products + other.products)


def moments(Y: Array) -> Moments:
    """Sum up rows Y of shape (N, p)."""
    return Moments(len(Y), Y.sum(axis=0), Y.T @ Y)


class Evidence:
    """Costs of spans, averaged over several descriptions of the same samples.

    Parameters
    ----------
    views : sequence of arrays of shape (n, p)
        Features of the n samples, uncorrelated, of mean zero and variance one, most important first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(-1, 0.1, (20, 2)), rng.normal(1, 0.1, (20, 2))])
    >>> evidence = Evidence([Y])
    >>> apart = evidence.cost(evidence.moments(0, 20)) + evidence.cost(evidence.moments(20, 40))
    >>> bool(apart < evidence.cost(evidence.moments(0, 40)))
    True
    """

    def __init__(self, views: Sequence[Array]) -> None:
        self.views = [np.ascontiguousarray(view[:, : max(_whole(view.shape[1]), 1)]) for view in views]
        self.n_samples = len(self.views[0])
        if any(len(view) != self.n_samples for view in self.views):
            counts = [len(view) for view in self.views]
            raise ValueError(f"All views must describe the same samples; got {counts} samples.")
        self._constants = [_constants(view.shape[1], self.n_samples) for view in self.views]

    def moments(self, start: int, end: int) -> list[Moments]:
        """Moments of the samples in [start, end), one for each view."""
        return [moments(view[start:end]) for view in self.views]

    def cost(self, given: Sequence[Moments]) -> float:
        """Negative log evidence of a set of samples, mean over views and numbers of features."""
        return float(self.costs([given])[0])

    def costs(self, given: Sequence[Sequence[Moments]]) -> Array:
        """Costs of several sets of samples at once, each given by its moments in all views."""
        if not given:
            return np.empty(0)
        views = zip(*given, strict=True)
        per_view = [_costs_of_moments(view, *c) for view, c in zip(views, self._constants, strict=True)]
        mean: Array = np.mean(per_view, axis=0)
        return mean

    def span_costs(self, step: int = 1, shortest: int = 1, n_threads: int | None = None) -> Array:
        """Costs of all spans between points of a grid, in O(n^2 p^2 / step).

        Parameters
        ----------
        step : int
            Samples from one grid point to the next; the last point is the end of the sequence.
        shortest : int
            Grid steps that a span has at least.
        n_threads : int, optional

        Returns
        -------
        C : array of shape (n_grid, n_grid)
            ``C[end, start]``; zero where a span would be shorter than `shortest`.
        """
        n_grid = -(-self.n_samples // step) + 1
        require_memory(
            4 * n_grid**2,
            f"The costs of all spans of {self.n_samples} samples",
            "Take fewer samples (preprocess='subsample:2' keeps every second).",
            loads="llvmlite",
        )
        C = np.zeros((n_grid, n_grid), dtype=np.float32)
        with Team(n_threads, uses_blas=False) as team:
            for number in range(len(self.views)):
                self._add_view(number, step, shortest, C, team)
        return C

    def _add_view(self, number: int, step: int, shortest: int, C: Array, team: Team) -> None:
        """Add the share of one view to the costs of all spans."""
        from seqspan.cuts.ordered.loops import LANES, fill_costs  # numba: imported on first use alone

        Y, (group, slopes, table) = self.views[number], self._constants[number]
        slopes, table = slopes / len(self.views), table / len(self.views)
        firsts = range(0, len(C) - 1, LANES)

        def work(share: range) -> None:
            for block in share:
                fill_costs(Y, step, shortest, PRIOR, group, slopes, table, firsts[block], C)

        team.map(work, len(firsts))


def _whole(n_features: int) -> int:
    """Largest number of features that is a whole number of groups."""
    return n_features // GROUP * GROUP


def _sizes(n_features: int) -> IntArray:
    """Numbers of leading features that are averaged over."""
    group = min(GROUP, n_features)
    return np.arange(group, n_features + 1, group)


def _constants(n_features: int, n_samples: int) -> tuple[int, Array, Array]:
    """Group of features, weights of the log determinants, and the part that knows only a span's length."""
    sizes = _sizes(n_features)
    degrees = sizes + 2.0  # the fewest for which the prior has a mean
    slopes = np.array([[degrees[g:].sum(), len(sizes) - g] for g in range(len(sizes))]) / (2 * len(sizes))
    lengths = np.arange(n_samples + 1)
    table = np.mean([_length_part(s, v, lengths) for s, v in zip(sizes, degrees, strict=True)], axis=0)
    return int(sizes[0]), slopes, table


def _length_part(size: int, degrees: float, lengths: IntArray) -> Array:
    """All of the cost but the log determinant, for spans of given lengths."""
    half = (degrees - np.arange(size)) / 2
    table: Array = gammaln(half).sum() - gammaln(half[:, None] + lengths / 2).sum(axis=0)
    table += size / 2 * np.log1p(lengths) - degrees / 2 * size * np.log(PRIOR)
    return table


def _costs_of_moments(given: Sequence[Moments], group: int, slopes: Array, table: Array) -> Array:
    """Negative log evidence of several sets of samples from their moments: the twin of the compiled loop."""
    counts = np.array([one.count for one in given])
    totals = np.stack([one.total for one in given])
    scatters = np.stack([one.products for one in given])
    scatters -= totals[:, :, None] * (totals / (counts[:, None] + 1))[:, None, :]
    factors = np.linalg.cholesky(scatters + PRIOR * np.eye(totals.shape[1]))
    pivots = np.log(np.diagonal(factors, axis1=1, axis2=2)) * 2
    grouped = np.add.reduceat(pivots, np.arange(0, totals.shape[1], group), axis=1)
    costs: Array = np.sum(grouped * (slopes[:, 0] + counts[:, None] * slopes[:, 1]), axis=1) + table[counts]
    return costs
