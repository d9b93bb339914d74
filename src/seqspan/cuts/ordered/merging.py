"""Groups of samples that are merged two at a time, always the pair that costs least more together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import GaussianCost, Moments
from seqspan.cuts.ordered.view_model import Stacked


class Merging:
    """Greedy merging. Costs of all pairs are kept, and the cheapest partner of every group.

    Parameters
    ----------
    cost : GaussianCost
    groups : sequence of Moments
    on_gpu : bool
        Compute costs of pairs on a GPU. The cost has to have a single view.

    Examples
    --------
    >>> Y = np.repeat([[-1.0], [1.0], [-1.1]], 20, axis=0)
    >>> cost = GaussianCost([Y])
    >>> merging = Merging(cost, [cost.summarise(start, start + 20) for start in (0, 20, 40)])
    >>> merging.merge(), merging.merge()
    ((0, 2), (0, 1))
    """

    def __init__(self, cost: GaussianCost, groups: Sequence[Moments], *, on_gpu: bool = False) -> None:
        n_groups = len(groups)
        self._cost = cost
        self._stacked = _stack(groups)
        self._costs = cost.costs(groups)
        self._alive = np.ones(n_groups, dtype=bool)
        self._losses = np.full((n_groups, n_groups), np.inf)  # of pairs (i, j), i < j
        self._on_gpu = cost.pairs_on_gpu(self._stacked) if on_gpu else None
        if self._on_gpu is not None:
            ones, others = np.triu_indices(n_groups, 1)
            self._losses[ones, others] = self._on_gpu(ones, others) - self._costs[ones] - self._costs[others]
        else:
            for i in range(n_groups - 1):
                self._losses[i, i + 1 :] = self._losses_of(i, np.arange(i + 1, n_groups))
        self._partners = np.argmin(self._losses, axis=1)
        self._least = np.take_along_axis(self._losses, self._partners[:, None], axis=1)[:, 0]

    def merge(self) -> tuple[int, int]:
        """Merge the pair that loses least; the first of the two stands for both from now on."""
        i = int(np.argmin(self._least))
        j = int(self._partners[i])
        self._costs[i] += self._costs[j] + self._losses[i, j]
        self._add(i, j)
        self._alive[j], self._least[j] = False, np.inf
        self._losses[j, :] = self._losses[:, j] = np.inf
        others = np.flatnonzero(self._alive)
        others = others[others != i]
        losses = self._losses_of(i, others)
        self._losses[np.minimum(i, others), np.maximum(i, others)] = losses
        self._update_partners(i, j)
        return i, j

    def _add(self, i: int, j: int) -> None:
        """Add the moments of group j to those of group i."""
        if self._on_gpu is not None:
            self._on_gpu.merge(i, j)
            return
        for view in self._stacked:
            for moments in view[1:]:
                moments[..., i] += moments[..., j]
        self._stacked[0][0][i] += self._stacked[0][0][j]  # all views share the counts

    def _losses_of(self, one: int, others: IntArray) -> Array:
        """What merging a group with each of some others loses."""
        if self._on_gpu is not None:
            together = self._on_gpu(np.full_like(others, one), others)
        else:
            together = self._cost.costs_of_pairs(self._stacked, one, others)
        losses: Array = together - self._costs[one] - self._costs[others]
        return losses

    def _update_partners(self, i: int, j: int) -> None:
        """Find the cheapest partners again of groups whose costs with i or j have changed."""
        changed = (self._partners == i) | (self._partners == j) | (self._losses[:, i] <= self._least)
        changed &= self._alive
        changed[i] = True
        rows = np.flatnonzero(changed)
        partners = np.argmin(self._losses[rows], axis=1)
        self._partners[rows], self._least[rows] = partners, self._losses[rows, partners]


def _stack(groups: Sequence[Moments]) -> list[Stacked]:
    """Moments of all groups as arrays, for each view."""
    counts = np.array([group.count for group in groups], dtype=float)
    return [
        (
            counts,
            np.stack([group.totals[view] for group in groups], axis=-1),
            np.stack([group.products[view] for group in groups], axis=-1),
        )
        for view in range(len(groups[0].totals))
    ]
