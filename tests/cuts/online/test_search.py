"""The growing search against every possible division."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqspan.cuts.online.search import TOLERANCE, GrowingSearch
from seqspan.cuts.ordered.cost import GaussianCost


def spans(rng, lengths, noise=0.3, p=2):
    levels = rng.standard_normal((len(lengths), p))
    return np.repeat(levels, lengths, axis=0) + noise * rng.standard_normal((sum(lengths), p))


def search_of(Y, price, step=1, min_length=1):
    search = GrowingSearch(Y.shape[1], step=step, min_length=min_length, price=price, max_samples=len(Y) + 1)
    search.extend(Y)
    return search


def all_divisions(Y, price, shortest):
    """Cost of every set of boundaries whose spans are long enough, by the cost of the ordered cut."""
    cost, n = GaussianCost([Y], step=Y.shape[1]), len(Y)
    of_span = {span: cost.error(*span) for span in combinations(range(n + 1), 2)}
    costs = {}
    for count in range(n // shortest):
        for boundaries in combinations(range(shortest, n), count):
            edges = [0, *boundaries, n]
            if min(np.diff(edges)) >= shortest:
                costs[boundaries] = sum(of_span[span] for span in pairwise(edges)) + price * count
    return costs


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), price=st.floats(0, 6), min_length=st.integers(1, 3))
def test_no_other_division_is_better(seed, price, min_length):
    Y = spans(np.random.default_rng(seed), [4, 3, 4])
    costs = all_divisions(Y, price, min_length)
    found = tuple(search_of(Y, price, min_length=min_length).boundaries().tolist())
    assert costs[found] == pytest.approx(min(costs.values()))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), margin=st.floats(0.1, 8))
def test_a_boundary_is_final_if_all_divisions_in_play_have_it_and_none_before_it(seed, margin):
    Y = spans(np.random.default_rng(seed), [5, 4, 3], noise=0.2)
    costs = all_divisions(Y, 2.0, 1)
    best = min(costs, key=costs.get)
    in_play = [division for division, cost in costs.items() if cost <= costs[best] + margin]
    search = search_of(Y, 2.0)
    if not best:
        assert search.settle(margin) == []
        return
    edges = [0, *best, len(Y)]
    reach = max(int(TOLERANCE * min(edges[1], edges[2] - edges[1])), 1)
    agree = all(division and abs(division[0] - best[0]) <= reach for division in in_play)
    final = search.settle(margin)
    assert (final[:1] == [best[0]]) if agree else (final == [])


@pytest.mark.parametrize("pieces", [1, 7, 40])
def test_how_samples_are_handed_in_changes_nothing(pieces):
    Y = spans(np.random.default_rng(3), [30, 41, 25, 33])
    search = GrowingSearch(2, step=3, min_length=5, price=10.0, max_samples=200)
    for piece in np.array_split(Y, pieces):
        search.extend(piece)
    assert search.boundaries().tolist() == search_of(Y, 10.0, step=3, min_length=5).boundaries().tolist()
    np.testing.assert_allclose(search.boundaries(), [30, 71, 96], atol=3)


def test_fewer_samples_than_from_one_place_to_the_next_wait():
    Y = spans(np.random.default_rng(3), (30, 30))
    piecewise = GrowingSearch(2, step=10, min_length=1, price=2.0, max_samples=61)
    for row in Y:
        piecewise.extend(row[None])
    np.testing.assert_array_equal(piecewise.boundaries(), search_of(Y, 2.0, step=10).boundaries())
    assert piecewise.boundaries().tolist() == [30]


def test_what_follows_a_final_boundary_is_divided_as_if_it_began_there():
    Y = spans(np.random.default_rng(2), [40, 30, 50, 20], noise=0.1)
    search = search_of(Y, 5.0)
    assert search.settle(5.0) == [40, 70, 120]
    assert (search.origin, search.n_places) == (120, 21)
    more = spans(np.random.default_rng(5), [30], noise=0.1) + 3
    search.extend(more)
    assert search.boundaries().tolist() == [140]


def test_boundaries_can_be_made_final_before_the_evidence_suffices():
    Y = spans(np.random.default_rng(2), [40, 30, 50, 20], noise=0.1)
    search = search_of(Y, 5.0)
    assert search.settle(1e9) == []
    assert search.force(100) == [40, 70]
    assert search.boundaries().tolist() == [120]
    search.forget(90)
    assert search.origin == 90
    assert search.boundaries().tolist() == [120]


def test_even_the_first_place_can_be_forgotten_and_the_last_cannot():
    Y = spans(np.random.default_rng(2), [40, 30], noise=0.1)
    search = search_of(Y, 5.0)
    search.forget(1)
    assert (search.origin, search.n_places) == (1, 70)
    assert search.boundaries().tolist() == [40]
    search.forget(1)
    search.forget(100)
    assert (search.origin, search.n_places) == (1, 70)
