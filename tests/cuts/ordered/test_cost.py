"""The cost of a span against marginal likelihoods computed in other ways."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import invgamma, multivariate_normal, norm
from tests.cuts.ordered.gaussian import cost_by_chain, features, weighted_cost
from tests.problems import make_cost

from seqspan._core.spans import Division
from seqspan._core.threads import Team
from seqspan.cuts.ordered import cost as cost_module
from seqspan.cuts.ordered import view_model
from seqspan.cuts.ordered.cost import GaussianCost, LeadingCosts
from seqspan.cuts.ordered.features import coefficient_features, sample_features
from seqspan.cuts.ordered.loops import LANES
from seqspan.cuts.ordered.view_model import PRIOR_VARIANCE

LOG_PI = np.log(np.pi)


@pytest.mark.parametrize(
    ("p", "sizes"), [(1, [1]), (2, [2]), (3, [2, 3]), (4, [2, 4]), (7, [2, 4, 6, 7]), (8, [2, 4, 6, 8])]
)
@pytest.mark.parametrize("n", [1, 2, 9, 40])
def test_cost_is_that_of_the_chain_of_predictions(p, sizes, n):
    Y = features(n, p, seed=n + p)
    cost = GaussianCost([Y])
    assert cost.error(0, n) == pytest.approx(cost_by_chain(Y, sizes), rel=1e-9)


@pytest.mark.parametrize("prior_samples", [1.0, 2.5, 10.0])
@pytest.mark.parametrize(
    ("p", "step", "sizes"), [(5, 1, range(1, 6)), (7, 3, [3, 6, 7]), (2, 4, [2]), (8, 8, [8])]
)
def test_prior_and_numbers_of_features_are_those_asked_for(prior_samples, p, step, sizes):
    Y = features(25, p, seed=p)
    cost = GaussianCost([Y], prior_samples=prior_samples, step=step)
    assert cost.error(4, 25) == pytest.approx(cost_by_chain(Y[4:], sizes, prior_samples), rel=1e-9)
    C = cost.span_costs(every(3, 25), 2, n_jobs=1)
    assert C[1, -1] == pytest.approx(cost_by_chain(Y[3:], sizes, prior_samples), rel=1e-6)


@given(
    weights=st.lists(st.floats(0.01, 2), min_size=1, max_size=4),
    prior_samples=st.floats(0.5, 20),
    seed=st.integers(0, 99),
)
@settings(max_examples=30)
def test_spans_with_weights_cost_what_samples_with_weights_cost(weights, prior_samples, seed):
    length = 6
    Y = features(length * len(weights), 4, seed)
    cost = GaussianCost([Y], prior_samples=prior_samples)
    spans = [cost.summarise(length * k, length * (k + 1)) * weight for k, weight in enumerate(weights)]
    whole = spans[0]
    for span in spans[1:]:
        whole = whole + span
    assert whole.count == pytest.approx(length * sum(weights))
    expected = weighted_cost(Y, np.repeat(weights, length), [2, 4], prior_samples)
    assert cost.costs([whole])[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_moments_with_a_weight_are_those_of_samples_with_that_weight():
    views = [features(20, 4, 0), features(20, 2, 1)]
    weighted = GaussianCost(views).summarise(3, 17) * 0.3
    assert weighted.count == pytest.approx(14 * 0.3)
    for number, Y in enumerate(views):
        np.testing.assert_allclose(weighted.totals[number], 0.3 * Y[3:17].sum(axis=0))
        np.testing.assert_allclose(weighted.products[number], 0.3 * Y[3:17].T @ Y[3:17])


def test_densities_are_the_same_in_blocks_of_any_size(monkeypatch):
    Y = features(30, 5, seed=3)
    cost = GaussianCost([Y])
    groups = [cost.summarise(0, 12), cost.summarise(12, 30)]
    expected = cost.densities(groups)
    monkeypatch.setattr(cost_module, "CACHED_ROWS", 7)
    np.testing.assert_allclose(cost.densities(groups), expected, rtol=1e-12)


def test_densities_are_computed_by_as_many_threads_as_are_asked_for(monkeypatch):
    cost, asked = GaussianCost([features(30, 2, seed=0)]), []
    monkeypatch.setattr(cost_module, "Team", lambda n_jobs: asked.append(n_jobs) or Team(n_jobs))
    groups = [cost.summarise(0, 12), cost.summarise(12, 30)]
    np.testing.assert_array_equal(cost.densities(groups, 2), cost.densities(groups))
    assert asked == [2, 1]


@pytest.mark.parametrize(("prior_samples", "weight"), [(1.0, 1.0), (10.0, 1.0), (4.0, 0.2)])
@pytest.mark.parametrize(("p", "sizes"), [(1, [1]), (2, [2]), (5, [2, 4, 5]), (6, [2, 4, 6])])
def test_densities_are_those_of_the_expected_gaussian(prior_samples, weight, p, sizes):
    Y = features(30, p, seed=p)
    cost = GaussianCost([Y], prior_samples=prior_samples)
    spans = [(0, 12), (12, 13), (13, 30)]
    found = cost.densities([cost.summarise(i, j) * weight for i, j in spans])
    assert found.shape == (3, 30)
    for (i, j), densities in zip(spans, found, strict=True):
        count, some = weight * (j - i), Y[i:j]
        mean = weight * some.sum(axis=0) / (count + 1)
        # the mean of the posterior inverse-Wishart: one sample at 0 and prior_samples more for the covariance
        scatter = weight * some.T @ some - (count + 1) * np.outer(mean, mean)
        covariance = (scatter + PRIOR_VARIANCE * prior_samples * np.eye(p)) / (count + prior_samples)
        expected = np.mean(
            [
                -multivariate_normal(mean[:size], covariance[:size, :size]).logpdf(Y[:, :size])
                - size / 2 * LOG_PI  # as costs, too, leave it out
                for size in sizes
            ],
            axis=0,
        )
        np.testing.assert_allclose(densities, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("p", [1, 3, 8])
def test_densities_and_costs_are_in_the_same_unit(p):
    """After many samples, one more costs what the Gaussian that they lead to expect says."""
    Y = features(4000, p, seed=p)
    cost = GaussianCost([Y])
    known = cost.summarise(0, 3990)
    one_more = [cost.costs([known + cost.summarise(t, t + 1)])[0] for t in range(3990, 4000)]
    added = np.array(one_more) - cost.costs([known])[0]
    np.testing.assert_allclose(added, cost.densities([known])[0, 3990:], atol=0.02)


def test_densities_of_several_views_are_averaged():
    views = [features(15, 4, 0), features(15, 2, 1)]
    both = GaussianCost(views)
    each = [GaussianCost([view]) for view in views]
    expected = np.mean([one.densities([one.summarise(0, 9)]) for one in each], axis=0)
    np.testing.assert_allclose(both.densities([both.summarise(0, 9)]), expected, rtol=1e-12)


@pytest.mark.parametrize("y", [[0.3], [-0.2, 1.5], [0.4, 0.5, 0.45, -0.1]])
def test_cost_of_one_feature_is_the_integral_over_mean_and_variance(y):
    log_variance, deviations = np.linspace(-9, 16, 501), np.linspace(-60, 60, 4001)
    variance = np.exp(log_variance)
    mean = np.sqrt(variance)[:, None] * deviations  # drawn from Normal(0, variance), like one sample at 0
    likelihood = np.prod(norm.pdf(np.array(y)[:, None, None], mean, np.sqrt(variance)[:, None]), axis=0)
    given_variance = trapezoid(likelihood * norm.pdf(deviations), deviations, axis=1)
    # in one dimension inverse-Wishart(prior, 3) is inverse-gamma(3/2, prior/2)
    prior = invgamma.pdf(variance, 1.5, scale=PRIOR_VARIANCE / 2) * variance
    integral = trapezoid(given_variance * prior, log_variance)
    cost = GaussianCost([np.array(y)[:, None]])
    found = cost.error(0, len(y))
    # the variances above exp(16) that are left out have a prior probability of 1e-12
    assert found + len(y) / 2 * LOG_PI == pytest.approx(-np.log(integral), abs=1e-7)


def test_what_is_kept_for_one_prior_is_not_used_for_another(monkeypatch):
    places = np.array([0, 9, 30])
    tables = []
    for variance in (PRIOR_VARIANCE, 2 * PRIOR_VARIANCE):
        monkeypatch.setattr(view_model, "PRIOR_VARIANCE", variance)
        cost = GaussianCost([features(30, 4, 0)])
        C = cost.span_costs(places)
        assert C[0, 1] == pytest.approx(cost.error(0, 9), rel=1e-6)
        tables.append(cost.span_costs(places, beyond_chance=True)[0] - C[0])
    assert not np.allclose(*tables)


def test_several_views_are_averaged_and_several_sets_cost_what_each_costs():
    views = [features(30, 4, 0), features(30, 2, 1), features(30, 1, 2)]
    cost = GaussianCost(views)
    spans = [(0, 30), (3, 4), (10, 25)]
    expected = [
        np.mean([cost_by_chain(Y[i:j], s) for Y, s in zip(views, [[2, 4], [2], [1]], strict=True)])
        for i, j in spans
    ]
    found = cost.costs([cost.summarise(i, j) for i, j in spans])
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert cost.costs([]).shape == (0,)


def test_moments_add_up():
    views = [features(20, 4, 0), features(20, 2, 1)]
    cost = GaussianCost(views)
    together, whole = cost.summarise(0, 7) + cost.summarise(7, 20), cost.summarise(0, 20)
    assert together.count == whole.count == 20
    for number, Y in enumerate(views):
        for found in (together, whole):
            np.testing.assert_allclose(found.totals[number], Y.sum(axis=0))
            np.testing.assert_allclose(found.products[number], Y.T @ Y)


def test_moments_of_labels_are_those_of_their_samples_and_spans_are_summed_up_once(monkeypatch):
    Y = features(60, 3, seed=0)
    cost, summed = GaussianCost([Y]), []
    summarise = GaussianCost.summarise
    monkeypatch.setattr(GaussianCost, "summarise", lambda *a: summed.append(a[1:]) or summarise(*a))
    for boundaries, new in (([10, 40], 3), ([10, 40], 0), ([10, 45], 2), ([10, 40], 2)):
        summed.clear()
        found = cost.summarise_labels(Division(np.array(boundaries), np.array([0, 1, 0])), lambda n: 1 / n)
        assert len(summed) == new
        first, last = Y[:10], Y[boundaries[1] :]
        assert found[0].count == pytest.approx(2)
        np.testing.assert_allclose(found[0].totals[0], first.mean(axis=0) + last.mean(axis=0))
        products = first.T @ first / len(first) + last.T @ last / len(last)
        np.testing.assert_allclose(found[0].products[0], products)


def every(step, n):
    """Every `step`-th sample, and the end."""
    return np.array([*range(0, n, step), n])


@given(n=st.integers(1, 60), step=st.integers(1, 9), seed=st.integers(0, 99))
def test_every_block_of_the_grid_has_its_sharpest_change(n, step, seed):
    cost = GaussianCost([features(n, 3, seed), features(n, 2, seed + 100)])
    places = cost.places(step).tolist()
    assert (places[0], places[-1]) == (0, n)
    blocks = [range(first, min(first + step, n)) for first in range(1, n, step)]
    assert len(places) == len(blocks) + 2
    for place, block in zip(places[1:-1], blocks, strict=True):
        change = {t: sum(np.sum((view[t] - view[t - 1]) ** 2) for view in cost.views) for t in block}
        assert place in block
        assert change[place] == max(change.values())


def costs_one_by_one(cost, grid, shortest):
    """The costs of all spans of the grid, each from its own samples."""
    C = np.zeros((len(grid), len(grid)))
    for end in range(len(grid)):
        for start in range(end - shortest + 1):
            C[start, end] = cost.error(grid[start], grid[end])
    return C


@pytest.mark.parametrize("p", [1, 2, 5, 8])
@pytest.mark.parametrize(
    ("n", "step", "shortest"),
    [
        (1, 1, 1),
        (2, 5, 1),  # one step is longer than the sequence
        (LANES - 1, 1, 1),  # as many grid points as lanes
        (LANES, 1, 3),
        (LANES + 1, 1, 1),  # a second block of one start
        (2 * LANES + 9, 1, 5),
        (3 * LANES + 1, 3, 2),  # the last step is shorter
        (3 * LANES, 3, 1),
        (10, 3, 4),  # just one span is long enough
        (10, 3, 5),  # none is
    ],
)
def test_all_spans_at_once_cost_what_each_costs(n, step, shortest, p):
    cost = GaussianCost([features(n, p, seed=n)])
    grid = every(step, n)
    C = cost.span_costs(grid, shortest, n_jobs=1)
    expected = costs_one_by_one(cost, grid, shortest)
    # single precision of the largest cost, twice: rounding of the sum and of its parts
    np.testing.assert_allclose(C, expected, rtol=0, atol=3e-7 * max(np.abs(expected).max(), 1))


@pytest.mark.parametrize("counts", [(1, 2, 4, 8), (3,), (1, 2, 3, 3)])
@pytest.mark.parametrize(("n", "step"), [(LANES + 5, 1), (90, 4)])
def test_leading_features_cost_what_they_cost_alone(counts, n, step):
    Y, grid = features(n, 9, seed=n), every(step, n)
    found = LeadingCosts(n, counts).span_costs(Y, grid, 2)
    for count, C in zip(counts, found, strict=True):
        alone = costs_one_by_one(GaussianCost([Y[:, :count]], step=count), grid, 2)
        np.testing.assert_allclose(C, alone, rtol=0, atol=3e-7 * np.abs(alone).max())


@settings(max_examples=25)
@given(
    n=st.integers(1, 75),
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    inside=st.sets(st.integers(1, 74)),
    shortest=st.integers(1, 6),
)
def test_all_spans_of_several_views_cost_what_each_costs(n, sizes, inside, shortest):
    cost = GaussianCost([features(n, p, seed) for seed, p in enumerate(sizes)])
    grid = np.array([0, *sorted(place for place in inside if place < n), n])
    C = cost.span_costs(grid, shortest, n_jobs=1)
    expected = costs_one_by_one(cost, grid, shortest)
    np.testing.assert_allclose(C, expected, rtol=0, atol=1e-6 * max(np.abs(expected).max(), 1))


def test_threads_change_nothing():
    cost = GaussianCost([features(150, 6, 0), features(150, 3, 1)])
    alone, shared = (cost.span_costs(np.arange(151), 2, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(alone, shared)


def test_a_long_span_keeps_its_digits():
    """Sample by sample, 3,000 updates of the factor lose nothing that single precision would show."""
    cost = GaussianCost([features(3000, 6, 0)])
    grid = every(1000, 3000)
    C = cost.span_costs(grid, 1, n_jobs=1)
    np.testing.assert_allclose(C, costs_one_by_one(cost, grid, 1), rtol=2e-7)


@pytest.mark.parametrize("p", [1, 5, 16])
@pytest.mark.parametrize("length", [1, 8, 40, 700, 3000])
def test_chance_costs_what_independent_samples_cost_on_average(p, length, monkeypatch):
    monkeypatch.setattr(view_model, "LONGEST_DRAW", 500)  # so that the formula for longer spans counts, too
    table = GaussianCost([np.zeros((3000, p))])._models[0].cost_of_chance(3000)
    draws = [np.random.default_rng(seed).standard_normal((length, p)) for seed in range(100, 130)]
    # relative to the log density, whose mean is known, costs of draws hardly vary
    shares = np.mean(np.arange(2, p + 2, 2).clip(max=p)[:, None] > np.arange(p), axis=0)
    costs = [GaussianCost([Y]).error(0, length) - (Y**2 @ shares).sum() / 2 for Y in draws]
    expected = np.mean(costs) + length * shares.sum() / 2
    assert table[length] == pytest.approx(expected, abs=3)  # eight draws, and straight lines between lengths
    assert table[0] == 0


def test_spans_without_a_change_cost_nothing_beyond_chance():
    """So no length of spans is favoured where nothing changes."""
    Y = np.random.default_rng(0).standard_normal((600, 16))
    places = np.arange(0, 601, 20)
    C = GaussianCost([Y]).span_costs(places, beyond_chance=True)
    start, end = np.indices(C.shape)
    means = [C[(end - start) == steps].mean() for steps in (1, 2, 5, 15)]
    np.testing.assert_allclose(means, 0, atol=12)  # 20 samples cost 240 nats, 300 cost 2,600
    plain = GaussianCost([Y]).span_costs(places)
    lengths = (places - places[:, None])[end > start]
    table = GaussianCost([Y])._models[0].cost_of_chance(600)
    np.testing.assert_allclose((plain - C)[end > start], table[lengths], rtol=1e-4)


def test_a_change_is_worth_a_boundary_and_no_change_is_not():
    rng = np.random.default_rng(0)
    same, other = rng.standard_normal((2, 60, 4))
    for Y, worth in ((np.concatenate([same, 3 * other]), True), (np.concatenate([same, other]), False)):
        cost = GaussianCost([Y])
        apart = sum(cost.error(i, j) for i, j in pairwise([0, 60, 120]))
        assert (apart < cost.error(0, 120)) == worth


def test_the_views_are_left_as_they_are():
    Y = features(40, 5, 0)
    Y.setflags(write=False)
    GaussianCost([Y]).span_costs(np.arange(41), n_jobs=1)


def test_an_odd_feature_counts_too():
    """Four places have three features, and the third may be all that tells two of them apart."""
    Y = np.repeat([[1.0, 1, 0], [1, -1, 0], [-1, 0, 1], [-1, 0, -1]], 20, axis=0)
    cost = GaussianCost([Y + 0.01 * np.random.default_rng(0).standard_normal(Y.shape)])
    assert cost.error(40, 60) + cost.error(60, 80) < cost.error(40, 80)


def test_views_of_different_samples_are_refused():
    with pytest.raises(ValueError, match=r"same samples.*\[30, 60\]"):
        GaussianCost([features(30, 2, 0), features(60, 2, 0)])


def test_samples_and_coefficients_are_two_views():
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((5, 40)), rng.standard_normal((40, 40))
    both, samples = make_cost(X, Z), make_cost(X)
    expected = GaussianCost([sample_features(X), coefficient_features(Z)])
    assert both.error(3, 30) == expected.error(3, 30)
    assert samples.error(3, 30) == GaussianCost([sample_features(X)]).error(3, 30)


@pytest.mark.parametrize("shortest", [1, 3])
@pytest.mark.parametrize("n_features", [1, 2, 7])
def test_long_cells_cost_the_same_from_their_moments(monkeypatch, shortest, n_features):
    rng = np.random.default_rng(n_features)
    Y = np.repeat(rng.standard_normal((12, n_features)), 75, axis=0) + rng.standard_normal((900, n_features))
    cost = GaussianCost([Y])
    places = cost.places(20)
    by_moments = cost.span_costs(places, shortest, n_jobs=1)
    monkeypatch.setattr("seqspan.cuts.ordered.view_model.MIN_CELL", 10**9)
    np.testing.assert_allclose(by_moments, cost.span_costs(places, shortest, n_jobs=1), rtol=1e-5, atol=1e-3)


def test_split_costs_are_those_of_the_two_spans():
    cost = GaussianCost([np.random.default_rng(0).standard_normal((60, width)) for width in (3, 5)])
    expected = [cost.error(5, place) + cost.error(place, 50) for place in range(10, 41)]
    np.testing.assert_allclose(cost.split_costs(5, range(10, 41), 50), expected)
