"""Dynamic programming against every way to divide a short recording."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan.cuts.ordered import search as search_module
from seqspan.cuts.ordered.search import SpanSearch, least_costs


def random_costs(n_grid, seed):
    return np.random.default_rng(seed).uniform(-1, 2, (n_grid, n_grid)).astype(np.float32)


def cost_of(C, starts):
    """Cost of the spans between 0, the given starts and the end, in double precision."""
    return float(sum(np.float64(C[j, i]) for i, j in pairwise([0, *starts, len(C) - 1])))


def divisions(n_grid, k, shortest, fixed=()):
    """Every way to have k spans that are long enough and keep the fixed points."""
    for starts in combinations(range(1, n_grid - 1), k - 1):
        lengths = np.diff([0, *starts, n_grid - 1])
        if lengths.min() >= shortest and set(fixed) <= set(starts):
            yield starts


@given(
    n_grid=st.integers(2, 9),
    shortest=st.integers(1, 4),
    seed=st.integers(0, 999),
    fixed=st.sets(st.integers(1, 7), max_size=2),
)
def test_no_division_is_cheaper(n_grid, shortest, seed, fixed):
    fixed = sorted(point for point in fixed if point < n_grid - 1)
    C = random_costs(n_grid, seed)
    search = SpanSearch(C, shortest, fixed=np.array(fixed, dtype=np.intp))
    feasible = {k: list(divisions(n_grid, k, shortest, fixed)) for k in range(1, n_grid)}
    for k, rivals in feasible.items():
        if not rivals:
            assert search.cost(k) == np.inf
            continue
        starts = tuple(int(start) for start in search.divide(k))
        assert starts in rivals
        assert search.cost(k) == pytest.approx(cost_of(C, starts), abs=1e-12)
        assert search.cost(k) == pytest.approx(min(cost_of(C, rival) for rival in rivals), abs=1e-12)
    if any(feasible.values()):
        assert search.max_spans == max(k for k, rivals in feasible.items() if rivals)


@given(n_grid=st.integers(2, 8), seed=st.integers(0, 999))
def test_least_costs_are_those_of_every_number_of_spans(n_grid, seed):
    C = random_costs(n_grid, seed)
    expected = [min(cost_of(C, rival) for rival in divisions(n_grid, k, 1)) for k in range(1, n_grid)]
    np.testing.assert_allclose(least_costs(C, n_grid - 1, 1), expected, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_change_nothing(n_jobs, monkeypatch):
    C = random_costs(130, 0)
    fixed = np.array([40, 90])
    alone = SpanSearch(C, 3, fixed=fixed, n_jobs=1)
    monkeypatch.setattr(search_module, "PARALLEL_FROM", 0)
    shared = SpanSearch(C, 3, fixed=fixed, n_jobs=n_jobs)
    for k in (3, 7, 20):
        assert shared.cost(k) == alone.cost(k)
        np.testing.assert_array_equal(shared.divide(k), alone.divide(k))


def test_the_order_of_questions_does_not_matter():
    C = random_costs(30, 1)
    downwards, upwards = SpanSearch(C, 2), SpanSearch(C, 2)
    many = downwards.divide(9)
    few = [upwards.divide(k) for k in range(1, 10)]
    np.testing.assert_array_equal(many, few[-1])
    for k in range(9, 0, -1):
        np.testing.assert_array_equal(downwards.divide(k), few[k - 1])


def test_costs_of_spans_that_are_too_short_are_never_read():
    C = random_costs(12, 2)
    end, start = np.indices(C.shape)
    C[end - start < 3] = np.nan
    search = SpanSearch(C, 3)
    assert all(np.isfinite(search.cost(k)) for k in (1, 2, 3))
    assert search.cost(4) == np.inf


def test_one_span_is_the_whole_even_if_another_point_would_be_cheaper():
    C = random_costs(6, 3)
    search = SpanSearch(C)
    assert search.divide(1).shape == (0,)
    assert search.cost(1) == C[-1, 0]


@pytest.mark.parametrize("n_spans", [0, 5])
def test_more_spans_than_fit_are_refused(n_spans):
    search = SpanSearch(random_costs(10, 0), 2)
    with pytest.raises(ValueError, match=rf"\[1, 4\].*got {n_spans}"):
        search.divide(n_spans)


def test_the_costs_are_left_as_they_are():
    C = random_costs(20, 0)
    C.setflags(write=False)
    SpanSearch(C, 2, fixed=np.array([7])).divide(4)
