"""The growing path against every possible division; decisions that stay."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from seqspan.cuts.online.scatter import MIN_LENGTH_PER_PENALTY, ScatterPath, scatter_cut


def scatter(Y):
    return float(np.sum((Y - Y.mean(axis=0)) ** 2))


def best_by_trying_all(Y, penalty):
    """Every set of boundaries whose spans are long enough, one after the other."""
    n, best, found = len(Y), np.inf, ()
    for count in range(n):
        for boundaries in combinations(range(1, n), count):
            edges = [0, *boundaries, n]
            if min(np.diff(edges)) < MIN_LENGTH_PER_PENALTY * penalty and count:
                continue
            cost = sum(scatter(Y[a:b]) for a, b in pairwise(edges)) + penalty * count
            if cost < best - 1e-12:
                best, found = cost, boundaries
    return list(found)


def spans(rng, lengths, noise=0.1):
    """Spans of constant features and noise."""
    levels = rng.standard_normal((len(lengths), 2))
    return np.repeat(levels, lengths, axis=0) + noise * rng.standard_normal((sum(lengths), 2))


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), penalty=st.floats(0.3, 4))
@example(seed=1132, penalty=2.5)  # the last span is as long as the others
def test_no_other_division_is_better(seed, penalty):
    Y = spans(np.random.default_rng(seed), [3, 2, 4], noise=0.5)
    assert scatter_cut(Y, penalty).tolist() == best_by_trying_all(Y, penalty)


@pytest.mark.parametrize("pieces", [1, 7, 40])
def test_how_samples_are_handed_in_changes_nothing(pieces):
    Y = spans(np.random.default_rng(3), [30, 41, 25, 33])
    path = ScatterPath(2, penalty=5.0, step=3)
    for piece in np.array_split(Y, pieces):
        path.extend(piece)
    assert path.boundaries().tolist() == scatter_cut(Y, 5.0, step=3).tolist()
    assert len(path.boundaries()) == 3


def test_boundaries_lie_on_the_grid_near_the_change():
    Y = spans(np.random.default_rng(1), [50, 47, 61])
    found = scatter_cut(Y, 5.0, step=4)
    assert np.all(found % 4 == 0)
    assert np.all(np.abs(found - [50, 97]) <= 4)


def test_final_boundaries_stay_and_come_in_time():
    Y = spans(np.random.default_rng(2), [40] * 12, noise=0.4)
    path = ScatterPath(2, penalty=6.0, delay=60)
    before = []
    for start in range(0, len(Y), 10):
        path.extend(Y[start : start + 10])
        assert path.final[: len(before)] == before
        assert path.boundaries()[: len(path.final)].tolist() == path.final
        seen = start + 10
        # whatever is older than the delay is either final or not a boundary at all
        assert [b for b in path.boundaries() if b <= seen - 60] == path.final
        before = list(path.final)
    assert len(before) >= 9


def test_what_is_decided_is_kept_even_if_the_future_speaks_against_it():
    rng = np.random.default_rng(0)
    doubtful = np.concatenate([np.zeros((20, 1)), np.full((20, 1), 0.6), np.zeros((200, 1))])
    Y = doubtful + 0.01 * rng.standard_normal(doubtful.shape)
    path = ScatterPath(1, penalty=3.0, delay=10)
    for start in range(0, len(Y), 5):
        path.extend(Y[start : start + 5])
    assert 20 in path.final or 20 not in path.boundaries()
    assert path.boundaries().tolist() == sorted(set(path.boundaries().tolist()))


def test_memory_does_not_grow_with_time():
    rng = np.random.default_rng(4)
    path = ScatterPath(2, penalty=10.0, step=2, delay=200)
    sizes = []
    for _ in range(20):
        path.extend(spans(rng, [60, 50, 70, 40], noise=0.3))
        sizes.append(len(path._places))
    assert max(sizes) <= 200 / 2 + 220 / 2 + 2
    still = ScatterPath(1, penalty=10.0, step=1, delay=100)  # nothing ever happens: one start stays besides
    still.extend(np.zeros((1000, 1)))
    assert len(still._places) <= 1000 + 1
    still.extend(np.zeros((1000, 1)))
    assert len(still._places) <= 102


def test_a_bound_on_the_starts_that_are_kept_costs_no_boundary(monkeypatch):
    Y = spans(np.random.default_rng(5), [60, 50, 70, 40], noise=0.3)
    free, bounded = ScatterPath(2, penalty=10.0), ScatterPath(2, penalty=10.0)
    free.extend(Y)
    monkeypatch.setattr("seqspan.cuts.online.scatter.MAX_STARTS", 12)
    most = 0
    for row in Y:
        bounded.extend(row[None])
        most = max(most, len(bounded._places))
    assert len(free._places) > most
    assert most <= 12 + 2  # those as good as the twelfth, and the one that begins now
    assert bounded.boundaries().tolist() == free.boundaries().tolist() == [60, 110, 180]
