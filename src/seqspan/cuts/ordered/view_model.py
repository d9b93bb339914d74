"""What samples cost in one view: the evidence of one Gaussian, averaged over numbers of features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np

from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray

Grid: TypeAlias = tuple[IntArray, int]  # grid points, and the length of the shortest span in grid steps
# counts of groups of samples, and of one view their sums and products, groups last: compiled loops like it
Stacked: TypeAlias = tuple[Array, Array, Array]
N_DRAWS = 8  # of samples without a change, to learn what those cost
MIN_CELL = 6  # samples between grid points, on average, from which on moments are summed up beforehand
FEW_LENGTHS = 256  # lengths of spans for which one large operation is faster than many small ones
MAX_KEPT = 100_000  # samples up to which tables of lengths are kept for the next recording
LONGEST_DRAW = 1000  # samples; longer spans follow a formula
PRIOR_VARIANCE = 0.2  # expected within a span, as a fraction of that of the whole recording


@dataclass(frozen=True)
class ExpectedGaussian:
    """The Gaussian expected in one view, by what takes a sample to its density.

    That is averaged over numbers of features.

    Parameters
    ----------
    mean : array of shape (p,)
    whitening : array of shape (p, p)
        Right factor after which features are independent.
    weights : array of shape (p,)
        Half the share of the averages that each feature is part of.
    constant : float
    """

    mean: Array
    whitening: Array
    weights: Array
    constant: float

    def densities(self, Y: Array) -> Array:
        """Negative log densities of rows; fewer than the cache holds are fastest."""
        residuals = (Y - self.mean) @ self.whitening
        np.square(residuals, out=residuals)
        densities: Array = residuals @ self.weights + self.constant
        return densities


@dataclass(frozen=True)
class ViewModel:
    """The Gaussian evidence in one view, as what depends on the log determinants and what does not.

    With D the pivots of a span's scatter plus the prior, N its samples and g a group of features, from one of
    `sizes` to the next, the cost is ``sum_g log prod D_g (slopes[g, 0] + N slopes[g, 1])`` plus `length_term`
    of N.
    """

    sizes: IntArray
    prior_samples: float
    prior_variance: float
    slopes: Array

    @classmethod
    def for_features(
        cls, n_features: int, step: int, prior_samples: float, prior_variance: float | None = None
    ) -> Self:
        """Average over numbers of leading features."""
        variance = PRIOR_VARIANCE if prior_variance is None else prior_variance
        group = min(step, n_features)
        sizes = np.minimum(np.arange(group, n_features + group, group), n_features)
        freedom = sizes + 1.0 + prior_samples
        slopes = np.array([[freedom[g:].sum(), len(sizes) - g] for g in range(len(sizes))]) / (2 * len(sizes))
        return cls(sizes, prior_samples, variance, slopes)

    @cached_property
    def _shares(self) -> Array:
        """Of the averages, the share that each feature is part of."""
        shares: Array = np.mean(self.sizes[:, None] > np.arange(self.sizes[-1]), axis=0)
        return shares

    @property
    def prior(self) -> float:
        """What the prior adds to the scatter of every feature."""
        return self.prior_variance * self.prior_samples

    @property
    def _key(self) -> tuple[int, int, float, float]:
        """Arguments of :meth:`for_features`, by which tables are kept."""
        return int(self.sizes[-1]), int(self.sizes[0]), self.prior_samples, self.prior_variance

    def costs(self, counts: Array, totals: Array, products: Array) -> Array:
        """Costs of several sets of samples from their moments: the twin of the compiled loop."""
        scatters = products - totals[:, :, None] * (totals / (counts[:, None] + 1))[:, None, :]
        factors = np.linalg.cholesky(scatters + self.prior * np.eye(totals.shape[1]))
        pivots = np.log(np.diagonal(factors, axis1=1, axis2=2)) * 2
        grouped = np.add.reduceat(pivots, np.append(0, self.sizes[:-1]), axis=1)
        weights = self.slopes[:, 0] + counts[:, None] * self.slopes[:, 1]
        costs: Array = np.sum(grouped * weights, axis=1) + self.length_term(counts)
        return costs

    def costs_of_pairs(self, groups: Stacked, one: int, others: IntArray) -> Array:
        """The same as `costs` of the sums of two groups, in a compiled loop."""
        counts = groups[0]
        return self.determinants_of_pairs(groups, one, others) + self.length_term(
            counts[one] + counts[others]
        )

    def determinants_of_pairs(self, groups: Stacked, one: int, others: IntArray) -> Array:
        """All of these costs but what their number of samples adds."""
        from seqspan.cuts.ordered.loops import fill_costs_of_pairs  # numba: imported on first use only

        costs = np.empty(len(others))
        fill_costs_of_pairs(groups, one, others, (self.prior, self.sizes, self.slopes[None]), costs)
        return costs

    def expect(self, count: float, total: Array, product: Array) -> ExpectedGaussian:
        """The Gaussian that samples of these moments lead to expect."""
        mean = total / (count + 1)
        scatter = product - np.outer(total, mean) + self.prior * np.eye(len(total))
        factor = np.linalg.cholesky(scatter / (self.prior_samples + count))
        # in the unit of costs, which leave out log(pi) / 2 for every sample and feature
        constant = float(self._shares @ (np.log(np.diag(factor)) + np.log(2) / 2))
        return ExpectedGaussian(mean, np.linalg.inv(factor).T, self._shares / 2, constant)

    def scaled_by(self, share: float, table: Array) -> tuple[float, IntArray, Array, Array]:
        """What the loops over all spans call model, for a share of the costs; `table` is what lengths add."""
        return self.prior, self.sizes, self.slopes[None] * share, table[None] * share

    def add_span_costs(self, Y: Array, grid: Grid, table: Array, share: float, C: Array, team: Team) -> None:
        """Add one view's share to the costs of all spans of a grid; `table` is what lengths add."""
        model = self.scaled_by(share, table)
        fill, firsts = filling(Y, grid[0])

        def work(blocks: range) -> None:
            for block in blocks:
                fill(grid, model, firsts[block], C[None])

        team.map(work, len(firsts))

    def cost_of_chance(self, n_samples: int) -> Array:
        """What 0, 1, ..., n_samples independent samples cost that are distributed as the whole recording.

        Draws tell, compared with the log density, whose mean is known. To that of long spans, each parameter
        adds half a log.
        """
        longest = min(n_samples, LONGEST_DRAW)
        lengths, costs = _costs_of_draws(self._key, longest)
        counts = np.arange(n_samples + 1.0)
        density = np.mean(self.sizes) / 2 * counts
        beyond = np.maximum(counts / lengths[-1], 1)
        longer = np.log(2) * np.mean(self.sizes) / 2 * np.maximum(counts - lengths[-1], 0)
        longer += np.log(beyond) * np.mean(self.sizes * (self.sizes + 3)) / 4
        expected: Array = np.interp(counts, np.append(0, lengths), np.append(0, costs)) + density + longer
        return expected

    @property
    def pair_model(self) -> tuple[Any, ...]:
        """What :class:`seqspan.cuts.ordered.device_functions.PairCosts` calls model."""
        halves, weight, constant = self._length_constants
        return self.prior, self.sizes, self.slopes, self._shares, halves, weight, constant

    @cached_property
    def _length_constants(self) -> tuple[Array, float, float]:
        """Arguments of log gamma for no samples, the weight of the log of their number, and a constant."""
        halves = (self.prior_samples + 2 + np.arange(self.sizes[-1])) / 2
        constant = np.mean(self.sizes * (self.sizes + 1 + self.prior_samples)) / 2 * np.log(self.prior)
        return halves, float(np.mean(self.sizes) / 2), float(constant)

    def length_table(self, n_samples: int) -> Array:
        """`length_term` of 0, 1, ..., n_samples."""
        table = _length_table if n_samples <= MAX_KEPT else _length_table.__wrapped__
        return table(self._key, n_samples)

    def length_term(self, counts: Array) -> Array:
        """All of the cost but the log determinant, for numbers of samples."""
        from scipy.special import gammaln  # takes long to import

        halves, weight, constant = self._length_constants
        table = weight * np.log1p(counts)
        table -= constant
        without, shares = gammaln(halves), self._shares
        if counts.size <= FEW_LENGTHS:
            gained = without[:, None] - gammaln(halves[:, None] + counts / 2)
            return np.asarray(table + (shares[:, None] * gained).sum(axis=0))
        # the log gamma function of x + 1 is that of x plus log x, which takes less time
        for first in range(min(2, len(halves))):
            argument = halves[first] + counts / 2
            value = gammaln(argument)
            for share, initial in zip(shares[first::2], without[first::2], strict=True):
                table += share * (initial - value)
                value = value + np.log(argument)
                argument = argument + 1
        return np.asarray(table)


@lru_cache(maxsize=16)
def _length_table(key: tuple[int, int, float, float], n_samples: int) -> Array:
    """The table of a model of a view; views and numbers of features share them."""
    model = ViewModel.for_features(*key)
    table = model.length_term(np.arange(n_samples + 1.0))
    table.flags.writeable = False
    return table


@lru_cache(maxsize=64)
def _costs_of_draws(key: tuple[int, int, float, float], longest: int) -> tuple[IntArray, Array]:
    """Some lengths up to the longest, and what so many independent samples cost beyond their log density."""
    model = ViewModel.for_features(*key)
    lengths = np.unique(np.geomspace(1, longest, 60).round().astype(np.intp))
    costs = np.zeros(len(lengths))
    for seed in range(N_DRAWS):
        Y = np.random.default_rng(seed).standard_normal((lengths[-1], key[0]))
        products = np.stack([Y[:length].T @ Y[:length] for length in lengths])
        totals = np.stack([Y[:length].sum(axis=0) for length in lengths])
        squares = np.diagonal(products, axis1=1, axis2=2) @ model._shares
        costs += (model.costs(lengths.astype(float), totals, products) - squares / 2) / N_DRAWS
    return lengths, costs


def filling(Y: Array, places: IntArray) -> tuple[Callable[..., None], range]:
    """The loop that fills in what spans of a grid cost, and the grid points that it is called for."""
    from seqspan.cuts.ordered import loops  # numba: imported on first use only

    firsts = range(0, len(places) - 1, loops.LANES)
    if places[-1] - places[0] < MIN_CELL * (len(places) - 1):
        return partial(loops.fill_costs, Y), firsts
    cells = [Y[start:end] for start, end in pairwise(places.tolist())]
    totals, products = np.stack([cell.sum(axis=0) for cell in cells]), np.stack([c.T @ c for c in cells])
    return partial(loops.fill_costs_of_cells, (totals, products)), firsts
