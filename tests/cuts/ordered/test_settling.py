"""Settled divisions against what they promise."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cuts.ordered.gaussian import BOUNDARIES, LENGTHS, ORDER, cost_of_group, features, places, spans_of

from seqspan._core.spans import Division, merge_neighbours, number_in_order
from seqspan.cuts.ordered import settling as settling_module
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.labels import PRIOR_SAMPLES, effective_share
from seqspan.cuts.ordered.settling import Settling, give_lost_labels


def settling(Y, min_length=5, inflation=1.0):
    return Settling(GaussianCost([Y], prior_samples=PRIOR_SAMPLES), min_length, inflation)


@pytest.mark.parametrize("seed", range(5))
def test_boundaries_and_labels_that_are_wrong_settle(seed):
    rng = np.random.default_rng(seed)
    Y = places(ORDER, LENGTHS, seed=seed)
    moved = BOUNDARIES + rng.integers(-7, 8, len(BOUNDARIES))
    found = settling(Y).settle(Division(moved, np.array([0, 1, 0, 2, 1, 1])), 6)
    assert found.labels.tolist() == ORDER
    assert np.abs(found.boundaries - BOUNDARIES).max() <= 1


def test_spans_are_added_where_the_label_models_say():
    """Two neighbours had one label, so they became one span; settling finds the sixth elsewhere."""
    Y = places(ORDER, LENGTHS, noise=0.2)
    rough = Division(np.array([30, 52, 77, 117]), np.array([0, 1, 0, 2, 1]))
    found = settling(Y).settle(rough, 6)
    np.testing.assert_array_equal(found.boundaries, BOUNDARIES)
    assert found.labels.tolist() == ORDER


def test_neighbours_of_one_label_become_one_span_unless_a_number_is_asked_for():
    Y = places(ORDER, LENGTHS, noise=0.2)
    rough = Division(np.array([15, *BOUNDARIES]), np.array([0, 0, 1, 0, 2, 1, 0]))
    found = settling(Y).settle(rough)
    np.testing.assert_array_equal(found.boundaries, BOUNDARIES)
    assert found.labels.tolist() == ORDER
    assert len(settling(Y).settle(rough, 7).labels) == 7


def test_with_too_many_paths_boundaries_stay_and_a_neighbour_takes_another_label(monkeypatch):
    monkeypatch.setattr(settling_module, "MAX_PATHS", 0)
    Y = places(ORDER, LENGTHS, noise=0.2)
    halved = Division(np.append(BOUNDARIES, 150), np.array([0, 1, 0, 2, 1, 0, 0]))
    joined, apart = settling(Y).settle(halved), settling(Y).settle(halved, 7)
    np.testing.assert_array_equal(joined.boundaries, BOUNDARIES)
    assert joined.labels.tolist() == ORDER
    np.testing.assert_array_equal(apart.boundaries, halved.boundaries)
    assert apart.labels[:-1].tolist() == ORDER
    assert apart.labels[-1] in (1, 2)


@pytest.mark.parametrize("rows", [7, 1000])
def test_spans_cost_what_their_samples_do_in_blocks_of_any_size(rows, monkeypatch):
    monkeypatch.setattr("seqspan.cuts.ordered.cost.CACHED_ROWS", rows)
    solver = settling(places(ORDER, LENGTHS, noise=0.2))
    division = Division(BOUNDARIES, np.array(ORDER))
    n = solver.cost.n_samples
    edges = np.array([0, *BOUNDARIES, n])
    densities = solver.cost.densities(solver.cost.summarise_labels(division, effective_share))
    wanted = [densities[:, start:end].sum(axis=1) for start, end in pairwise(edges)]
    np.testing.assert_allclose(solver._span_densities(division, edges).T, wanted, rtol=1e-12)


def test_densities_of_long_recordings_are_not_held_at_once(monkeypatch):
    monkeypatch.setattr("seqspan.cuts.ordered.cost.CACHED_ROWS", 500)
    rng, n_labels, length = np.random.default_rng(0), 100, 200
    Y = np.repeat(rng.normal(0, 4, (n_labels, 4)), length, axis=0)
    Y += rng.normal(0, 0.5, Y.shape)
    division = Division(length * np.arange(1, n_labels), np.arange(n_labels))
    solver = settling(Y)
    tracemalloc.start()
    try:
        found = solver.settle(division)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.abs(found.boundaries - division.boundaries).max() <= 1
    assert taken < 8 * len(Y) * n_labels / 2  # bytes of all densities


def test_fewer_spans_than_labels_are_not_looked_for_in_tables_that_are_too_large(monkeypatch):
    Y = np.random.default_rng(0).standard_normal((60, 2))
    rough = Division(np.array([20, 40]), np.array([0, 1, 2]))
    monkeypatch.setattr(settling_module, "MAX_PATHS", 3 * 3 * 60 - 1)
    assert settling(Y).settle(rough).boundaries.tolist() == [20, 40]


def test_spans_that_return_are_found_where_the_first_search_saw_none():
    Y = places(ORDER * 3, LENGTHS * 3, noise=0.2)
    edges = np.cumsum(LENGTHS * 3)
    rough = Division(edges[:5], np.array(ORDER))  # the last twelve spans are one
    found = settling(Y).settle(rough)
    np.testing.assert_array_equal(found.boundaries, np.delete(edges[:-1], [5, 11]))  # where 0 follows 0
    assert found.n_labels == 3


@pytest.mark.parametrize(("share", "n_spans"), [(0.8, 4), (1.2, 2)])
def test_a_span_has_to_be_worth_its_price(share, n_spans):
    """Ten samples of the first span look like the second, which takes two more spans to say."""
    Y = places([0, 1, 0, 1], [20, 10, 30, 20], noise=0.2)
    rough = Division(np.array([60]), np.array([0, 1]))
    solver = settling(Y, inflation=3.0)
    densities = solver.cost.densities(solver.cost.summarise_labels(rough, effective_share))
    gained = float((densities[0] - densities[1])[20:30].sum()) / 3
    price_of_two = 2 * np.log(80 * 2)  # for one of 80 places and one of 2 labels
    found = solver.settle(rough, patience=share * gained / price_of_two)
    assert len(found.labels) == n_spans


def test_recordings_are_settled_each_on_its_own():
    Y = places([0, 1, 1, 0], [30, 30, 30, 30], noise=0.2)
    cost = GaussianCost([Y], prior_samples=PRIOR_SAMPLES)
    rough = Division(np.array([27, 60, 95]), np.array([0, 1, 1, 0]))
    found = Settling(cost, 5, joins=(60,)).settle(rough)
    assert found.boundaries.tolist() == [30, 60, 90]
    assert found.labels.tolist() == [0, 1, 1, 0]


def test_a_recording_too_short_for_a_span_is_one():
    Y = places([0, 1, 0, 1, 0], [30, 30, 3, 30, 30], noise=0.2)
    cost = GaussianCost([Y], prior_samples=PRIOR_SAMPLES)
    rough = Division(np.array([27, 60, 63, 97]), np.array([0, 1, 0, 1, 0]))
    found = Settling(cost, 5, joins=(60, 63)).settle(rough, 5)
    assert found.boundaries.tolist() == [30, 60, 63, 93]
    assert found.labels.tolist() == [0, 1, 0, 1, 0]


def test_one_label_alone_does_not_cross_a_join():
    cost = GaussianCost([places([0], [60])], prior_samples=PRIOR_SAMPLES)
    rough = Division(np.array([20, 40]), np.array([0, 0, 0]))
    assert Settling(cost, 5, joins=(40,)).settle(rough).boundaries.tolist() == [40]


def test_as_many_labels_are_kept_as_there_were():
    """One kind of samples under three labels: the cheapest path has one span, the answer three."""
    Y = np.random.default_rng(0).standard_normal((60, 2))
    found = settling(Y).settle(Division(np.array([20, 40]), np.array([0, 1, 2])))
    assert found.n_labels == 3


def test_the_more_densities_the_fewer_turns_but_at_least_one(monkeypatch):
    rough = Division(np.array([25]), np.array([0, 1]))
    solver = settling(places([0, 1], [30, 30], noise=0.2))
    turns = []
    path = Settling._cheapest_path
    monkeypatch.setattr(Settling, "_cheapest_path", lambda *given: turns.append(1) or path(*given))
    for most in (1, 2 * 2 * 60 - 1, 2 * 2 * 60):
        turns.clear()
        monkeypatch.setattr(settling_module, "MAX_DENSITIES", most)
        assert solver.settle(rough).boundaries.tolist() == [30]
        assert len(turns) == max(most // 120, 1)


@settings(max_examples=40)
@given(
    n=st.integers(2, 40),
    n_spans=st.integers(2, 8),
    n_labels=st.integers(2, 5),
    min_length=st.integers(1, 6),
    seed=st.integers(0, 999),
)
def test_whatever_settles_has_the_numbers_asked_for(n, n_spans, n_labels, min_length, seed):
    n_spans = min(n_spans, n)
    n_labels = min(n_labels, n_spans)
    rng = np.random.default_rng(seed)
    starts = np.sort(rng.choice(np.arange(1, n), n_labels - 1, replace=False))
    found = settling(features(n, 2, seed), min_length).settle(Division(starts, np.arange(n_labels)), n_spans)
    assert len(found.labels) == n_spans
    assert found.n_labels == n_labels
    assert np.all(found.labels[1:] != found.labels[:-1])
    assert min(end - start for start, end in spans_of(found, n)) >= min(min_length, n // n_spans)
    np.testing.assert_array_equal(found.labels, number_in_order(found.labels))


def total_cost(Y, division, inflation=1.0):
    edges = np.array([0, *division.boundaries, len(Y)])
    groups = [np.flatnonzero(division.labels == label) for label in range(division.n_labels)]
    return sum(cost_of_group(Y, edges, group, lambda count: 1 / inflation) for group in groups)


@pytest.mark.parametrize("inflation", [1.0, 4.0])
@pytest.mark.parametrize("seed", range(4))
def test_it_stops_at_the_least_cost_that_it_met(seed, inflation, monkeypatch):
    Y = places(ORDER, LENGTHS, noise=2.0, seed=seed)
    rough = Division(np.array([20, 60, 90, 110, 140]), np.array([0, 1, 2, 0, 2, 1]))
    costs = []
    for rounds in range(1, 7):
        monkeypatch.setattr(settling_module, "TURNS", rounds)
        costs.append(total_cost(Y, settling(Y, inflation=inflation).settle(rough, 6), inflation))
    assert np.all(np.diff(costs) <= 1e-9)
    assert costs[-1] < costs[0]


@pytest.mark.parametrize(("boundaries", "labels"), [([], [0]), ([70], [0, 1])])
def test_one_label_has_nothing_to_settle(boundaries, labels):
    rough = Division(np.array(boundaries, dtype=np.intp), np.array(labels))
    found = settling(places([0, 1], [60, 60])).settle(rough, len(labels))
    assert found.boundaries.tolist() == [60] * len(boundaries)
    assert found.labels.tolist() == labels


@pytest.mark.parametrize(
    ("boundaries", "labels", "n_labels", "expected"),
    [
        ([2, 5, 6], [0, 1, 0, 1], 2, [0, 1, 0, 1]),
        ([2, 5, 6], [0, 1, 0, 1], 3, [0, 1, 0, 2]),  # [2, 5) is the longest that shares its label
        ([2, 5, 6], [0, 1, 0, 1], 4, [0, 1, 2, 3]),
        ([9, 10], [5, 3, 5], 3, [0, 1, 2]),
    ],
)
def test_lost_labels_are_given_to_the_longest_spans(boundaries, labels, n_labels, expected):
    given_labels = np.array(labels)
    found = give_lost_labels(Division(np.array(boundaries), given_labels), n_labels)
    assert found.labels.tolist() == expected
    assert found.boundaries.tolist() == boundaries
    assert given_labels.tolist() == labels


@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_neighbours_of_one_label_are_joined(labels):
    n = len(labels)
    samples = np.array(labels)
    found = merge_neighbours(Division(np.arange(1, n), samples))
    assert np.all(found.labels[1:] != found.labels[:-1])
    np.testing.assert_array_equal(found.sample_labels(n), number_in_order(samples))
    expected = list(dict.fromkeys(labels))
    assert [expected[label] for label in found.sample_labels(n)] == labels
