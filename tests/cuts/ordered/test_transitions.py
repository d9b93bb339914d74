"""Transitions between states are absorbed, and states are not."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from seqspan._core.spans import Division
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.cut import OrderedCutter
from seqspan.cuts.ordered.labels import PRIOR_SAMPLES, effective_share, standardise_within
from seqspan.cuts.ordered.transitions import STEPS, Transitions, mix
from seqspan.cuts.ordered.view_model import PRIOR_VARIANCE
from seqspan.datasets import make_motion
from seqspan.metrics import boundary_f1

STATES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
RAMP = 12


def draw(order, dwell=40, seed=0):
    """States in turn, with a linear way of RAMP samples from each to the next, and the rough division."""
    rng = np.random.default_rng(seed)
    shares = (np.arange(RAMP) + 0.5)[:, None] / RAMP
    pieces = [np.tile(STATES[order[0]], (dwell, 1))]
    labels = [order[0]]
    for before, after in pairwise(order):
        pieces += [STATES[before] * (1 - shares) + STATES[after] * shares, np.tile(STATES[after], (dwell, 1))]
        labels += [3 + before + after, after]  # a label for every pair
    edges = np.cumsum([len(piece) for piece in pieces])
    Y = np.concatenate(pieces)
    return Y + 0.3 * rng.standard_normal(Y.shape), Division(
        edges[:-1], np.unique(labels, return_inverse=True)[1]
    )


def transitions(Y, inflation=1.0, joins=()):
    return Transitions(GaussianCost([Y], prior_samples=PRIOR_SAMPLES), inflation, joins)


@pytest.mark.parametrize("n_returns", [5, 100])
def test_however_often_a_way_is_taken_it_is_no_state(n_returns):
    """No way is quite the one expected: here it bows, and in a long recording that would show."""
    rng = np.random.default_rng(0)
    there, back = 3 * rng.standard_normal((2, 8))
    share = (1 - np.cos(np.pi * (np.arange(RAMP) + 0.5) / RAMP))[:, None] / 2
    bow = 5 * np.sin(np.pi * share) * np.eye(8)[-1]
    ways = (one * (1 - share) + other * share + bow for one, other in ((there, back), (back, there)))
    stays = (np.tile(place, (40, 1)) for place in (there, back))
    once = [piece for stay_and_way in zip(stays, ways, strict=True) for piece in stay_and_way]
    Y = np.concatenate(once * n_returns)[:-RAMP]
    Y += 0.5 * rng.standard_normal(Y.shape)
    edges = np.cumsum([len(piece) for piece in once * n_returns][:-1])
    rough = Division(edges[:-1], np.array([0, 1, 2, 1] * n_returns)[:-1])
    Y = standardise_within(Y, np.append(0, edges))
    assert transitions(Y, inflation=12.0).absorb(rough).labels.tolist() == [0, 1] * n_returns


@pytest.mark.parametrize("inflation", [1.0, 4.0])
@pytest.mark.parametrize("seed", range(5))
def test_ways_from_state_to_state_are_divided_between_them(seed, inflation):
    order = [0, 1, 2, 0, 2, 1, 0, 1]
    Y, rough = draw(order, seed=seed)
    found = transitions(Y, inflation).absorb(rough)
    assert found.labels.tolist() == order
    middles = 40 + RAMP // 2 + (40 + RAMP) * np.arange(len(order) - 1)
    assert np.abs(found.boundaries - middles).max() <= RAMP // 2  # somewhere on the way


@pytest.mark.parametrize(("bow", "n_labels"), [(0.4, 2), (1.2, 3)])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_way_four_deviations_off_the_straight_line_is_a_state(seed, bow, n_labels):
    Y, rough = draw([0, 1], seed=seed)
    Y[40 : 40 + RAMP, 1] += bow * np.sin(np.pi * (np.arange(RAMP) + 0.5) / RAMP)
    assert transitions(Y).absorb(rough).n_labels == n_labels


@pytest.mark.parametrize("seed", range(5))
def test_a_state_halfway_is_a_state_because_samples_stay_there(seed):
    rng = np.random.default_rng(seed)
    levels, lengths = [0.0, 3.0, 6.0, 3.0, 0.0, 3.0, 6.0], [40, 25, 40, 25, 40, 25, 40]
    Y = np.repeat(levels, lengths)[:, None] + 0.3 * rng.standard_normal((sum(lengths), 1))
    division = Division(np.cumsum(lengths)[:-1], np.array([0, 1, 2, 1, 0, 1, 2]))
    assert transitions(Y).absorb(division) is division


def test_a_label_that_is_a_state_anywhere_is_a_state_everywhere():
    """The way from 0 to 1 has its label once more: as a place to stay, between two spans of 0."""
    Y, rough = draw([0, 1, 0], seed=1)
    middle = np.full((30, 2), [3.0, 0.0]) + 0.3 * np.random.default_rng(2).standard_normal((30, 2))
    n = len(Y)
    longer = Division(np.append(rough.boundaries, [n, n + 30]), np.append(rough.labels, [2, 0]))
    assert transitions(np.concatenate([Y, middle, Y[:40]])).absorb(longer) is longer
    assert transitions(Y).absorb(rough).n_labels == 2


@pytest.mark.parametrize("joins", [(40,), (40 + RAMP,)])
def test_nothing_is_between_two_recordings(joins):
    Y, rough = draw([0, 1])
    assert transitions(Y).absorb(rough).boundaries.tolist() != rough.boundaries.tolist()
    assert transitions(Y, joins=joins).absorb(rough) is rough


def test_a_way_in_two_parts_is_absorbed_part_by_part():
    Y, rough = draw([0, 1, 0, 1], seed=3)
    halves = np.sort(np.append(rough.boundaries, rough.boundaries[::2] + RAMP // 2))
    found = transitions(Y).absorb(Division(halves, np.array([0, 2, 3, 1, 3, 2, 0, 2, 3, 1])))
    assert found.labels.tolist() == [0, 1, 0, 1]


def expected_costs(samples, weights, Y):
    """What rows of Y cost under the Gaussian that two features of weighted samples lead to expect."""
    count = weights.sum()
    mean = weights @ samples / (count + 1)
    scatter = (samples * weights[:, None]).T @ samples - (count + 1) * np.outer(mean, mean)
    covariance = (scatter + PRIOR_VARIANCE * PRIOR_SAMPLES * np.eye(2)) / (PRIOR_SAMPLES + count)
    return -multivariate_normal(mean, covariance).logpdf(Y) - np.log(np.pi)  # as costs do


@pytest.mark.parametrize("length", [3, 7, STEPS, 30])
def test_a_transition_costs_what_mixtures_of_its_neighbours_do(length):
    rng = np.random.default_rng(length)
    Y = np.concatenate([rng.normal(-2, 1, (50, 2)), rng.normal(0, 1, (length, 2)), rng.normal(3, 2, (20, 2))])
    solver = transitions(Y)
    division = Division(np.array([50, 50 + length]), np.array([0, 1, 2]))
    models = solver.cost.summarise_labels(division, effective_share)
    costs = solver._costs_between(division, models)
    assert np.isinf(costs[[0, 2]]).all()
    edges = np.linspace(0, length, min(STEPS, length) + 1).round()
    expected = 0.0
    for t in range(length):
        step = int(np.searchsorted(edges, t, side="right")) - 1
        share = (step + 0.5) / (len(edges) - 1)
        worth = [50 * effective_share(50), 20 * effective_share(20)]
        weights = np.repeat([sum(worth) * (1 - share) / 50, sum(worth) * share / 20], [50, 20])
        expected += expected_costs(np.concatenate([Y[:50], Y[50 + length :]]), weights, Y[50 + t])
    assert costs[1] == pytest.approx(expected)


@pytest.mark.parametrize("length", [1, 2, 6])
@pytest.mark.parametrize("seed", range(12))
def test_a_transition_is_divided_where_its_neighbours_describe_it_best(seed, length):
    """States are so close that a fraction of a nat decides, up to all of the samples for one of them."""
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((70 + length, 2)) + np.repeat([0.0, 0.4, 0.8], [40, length, 30])[:, None]
    solver, end = transitions(Y), 40 + length
    division = Division(np.array([40, end]), np.array([0, 1, 2]))
    models = solver.cost.summarise_labels(division, effective_share)
    found = solver._divide(division, models, np.array([False, True, False]))
    before, after = (
        expected_costs(samples, np.full(len(samples), effective_share(len(samples))), Y[40:end])
        for samples in (Y[:40], Y[end:])
    )
    before, after = np.atleast_1d(before), np.atleast_1d(after)  # of one row, SciPy returns a number
    places = [before[:k].sum() + after[k:].sum() for k in range(length + 1)]
    assert found.boundaries.tolist() == [40 + int(np.argmin(places))]


def test_a_mixture_of_equal_shares_is_half_of_either():
    cost = GaussianCost([np.random.default_rng(0).standard_normal((30, 3))])
    one, other = cost.summarise(0, 10), cost.summarise(10, 30)
    mixture = mix(one, other, 0.5)
    assert mixture.count == 30
    np.testing.assert_allclose(mixture.totals[0] / 15, one.totals[0] / 10 + other.totals[0] / 20)
    np.testing.assert_allclose(mixture.products[0] / 15, one.products[0] / 10 + other.products[0] / 20)
    np.testing.assert_allclose(mix(one, other, 0.0).products[0] / 30, one.products[0] / 10)


@settings(max_examples=40)
@given(n_spans=st.integers(2, 12), n_labels=st.integers(2, 6), seed=st.integers(0, 999))
def test_whatever_is_absorbed_leaves_spans_in_order(n_spans, n_labels, seed):
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((80, 2)) + rng.normal(0, 3, 2) * np.linspace(0, 1, 80)[:, None]
    labels = np.cumsum(rng.integers(1, n_labels, n_spans)) % n_labels  # neighbours differ
    labels = np.unique(labels, return_inverse=True)[1]
    starts = np.sort(rng.choice(np.arange(1, 80), n_spans - 1, replace=False))
    found = transitions(Y).absorb(Division(starts, labels))
    assert 1 <= len(found.labels) <= n_spans
    assert len(found.boundaries) == len(found.labels) - 1
    assert np.all(np.diff([0, *found.boundaries, 80]) > 0)
    assert np.all(found.labels[1:] != found.labels[:-1])
    assert set(found.labels) == set(range(found.n_labels))


def test_a_state_between_two_others_is_no_transition_however_noisy():
    """Of five means in the noise of 30 channels, two are only ever between two others."""
    rng = np.random.default_rng(0)
    order = np.array([0, 1, 2, 3, 4, 2, 1, 3, 0])
    means = np.linalg.qr(rng.standard_normal((30, 5)))[0].T * 3
    Y = np.repeat(means[order], 100, axis=0) + rng.standard_normal((900, 30))
    Y = standardise_within(Y, np.arange(0, 901, 100))
    solver = Transitions(GaussianCost([Y], prior_samples=16 * PRIOR_SAMPLES))
    division = Division(np.arange(100, 900, 100), order)
    assert solver.absorb(division).labels.tolist() == order.tolist()


@pytest.mark.parametrize("noise", [0.2, 2.0])
@pytest.mark.parametrize("seed", [1, 2])
def test_activities_that_blend_are_as_many_spans_as_there_are(seed, noise):
    X, labels = make_motion(6000, noise=noise, rng=seed)
    true = np.flatnonzero(np.diff(labels)) + 1
    cutter = OrderedCutter(X, X)  # samples stand for themselves
    found = cutter.cut()
    assert found.n_labels == 4
    assert boundary_f1(true, found.boundaries, margin=15) == 1.0  # blends take thirty samples


def test_numbers_that_are_given_are_exact():
    X, _ = make_motion(3000, rng=1)
    cutter = OrderedCutter(X, X)
    assert len(cutter.cut(n_spans=11).labels) == 11
    assert cutter.cut(n_subspaces=6).n_labels == 6
