"""Greedy merging against all pairs compared anew after every merge."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.cuts.ordered.gaussian import features

from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.loops import LANES
from seqspan.cuts.ordered.merging import Merging


def merge_anew(cost, groups):
    """Pairs in the order in which they are merged; of equally good ones the first."""
    groups, pairs = dict(enumerate(groups)), []
    while len(groups) > 1:
        costs = dict(zip(groups, cost.costs(list(groups.values())), strict=True))
        candidates = list(combinations(groups, 2))
        together = cost.costs([groups[i] + groups[j] for i, j in candidates])
        losses = together - [costs[i] + costs[j] for i, j in candidates]
        i, j = candidates[int(np.argmin(losses))]
        groups[i] = groups[i] + groups.pop(j)
        pairs.append((i, j))
    return pairs


def summaries(cost, n_groups, length):
    weights = np.linspace(0.3, 1.2, n_groups)
    return [cost.summarise(k * length, (k + 1) * length) * weights[k] for k in range(n_groups)]


@pytest.mark.parametrize("n_groups", [1, 2, 7, LANES, LANES + 1, 2 * LANES + 5])
@pytest.mark.parametrize("shape", [(1,), (5,), (16,), (3, 6)])
def test_pairs_are_those_that_lose_least(n_groups, shape):
    length = 8
    rng = np.random.default_rng(n_groups)
    steps = np.repeat(rng.integers(0, 4, n_groups), length)[:, None]
    views = [features(n_groups * length, p, seed=p) + 2 * steps for p in shape]
    cost = GaussianCost(views, prior_samples=5.0)
    groups = summaries(cost, n_groups, length)
    merging = Merging(cost, groups)
    assert [merging.merge() for _ in range(n_groups - 1)] == merge_anew(cost, groups)


def test_of_equally_good_pairs_the_first_is_merged():
    cost = GaussianCost([features(10, 4, seed=0)])
    merging = Merging(cost, [cost.summarise(0, 10)] * (LANES + 2))
    assert merging.merge() == (0, 1)


@pytest.mark.parametrize("prior_samples", [1.0, 5.0])
@pytest.mark.parametrize("p", [1, 3, 16])
def test_pairs_cost_what_their_sums_cost(p, prior_samples):
    n_groups, length = LANES + 3, 6
    cost = GaussianCost([features(n_groups * length, p, seed=1)], prior_samples=prior_samples)
    groups = summaries(cost, n_groups, length)
    stacked = (
        np.array([group.count for group in groups]),
        np.stack([group.totals[0] for group in groups], axis=-1),
        np.stack([group.products[0] for group in groups], axis=-1),
    )
    others = np.delete(np.arange(n_groups), 4)
    found = cost.costs_of_pairs([stacked], 4, others)
    np.testing.assert_allclose(found, cost.costs([groups[4] + groups[k] for k in others]), rtol=1e-10)


class PlainPairs:
    """What `PairCosts` does on a GPU."""

    def __init__(self, cost, groups):
        self.cost, self.groups, self.asked = cost, groups, []

    def __call__(self, ones, others):
        self.asked.append(len(ones))
        pairs = zip(ones.tolist(), others.tolist(), strict=True)
        return np.array([self.cost.costs_of_pairs(self.groups, i, np.array([j]))[0] for i, j in pairs])

    def merge(self, i, j):
        for moments in self.groups[0]:
            moments[..., i] += moments[..., j]


def test_pairs_may_be_computed_elsewhere():
    cost = GaussianCost([features(160, 3, seed=2)], prior_samples=5.0)
    made = []

    def pairs_on_gpu(groups):
        made.append(PlainPairs(cost, groups))
        return made[-1]

    cost.pairs_on_gpu = pairs_on_gpu
    here, there = (Merging(cost, summaries(cost, 20, 8), on_gpu=on_gpu) for on_gpu in (False, True))
    assert [there.merge() for _ in range(19)] == [here.merge() for _ in range(19)]
    assert [pairs.asked for pairs in made] == [[190, *range(18, -1, -1)]]  # all pairs, then those of each sum
