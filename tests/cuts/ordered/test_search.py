"""Dynamic programming against every way to divide a short recording."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from seqspan.cuts.ordered.loops import best_path
from seqspan.cuts.ordered.search import MAX_UNDIVIDED, MIN_WINDOW, SpanSearch, divide_long, grid_step


def random_costs(n_grid, seed):
    return np.random.default_rng(seed).uniform(-1, 2, (n_grid, n_grid)).astype(np.float32)


def cost_of(C, starts):
    """Cost of the spans between 0, the given starts and the end, in double precision."""
    return float(sum(np.float64(C[i, j]) for i, j in pairwise([0, *starts, len(C) - 1])))


def divisions(n_grid, k, shortest):
    """Every way to have k spans that are long enough."""
    for starts in combinations(range(1, n_grid - 1), k - 1):
        if np.diff([0, *starts, n_grid - 1]).min() >= shortest:
            yield starts


@given(n_grid=st.integers(2, 9), shortest=st.integers(1, 4), seed=st.integers(0, 999))
def test_no_division_is_cheaper(n_grid, shortest, seed):
    C = random_costs(n_grid, seed)
    search = SpanSearch(C, shortest)
    feasible = {k: list(divisions(n_grid, k, shortest)) for k in range(1, n_grid)}
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
    start, end = np.indices(C.shape)
    C[end - start < 3] = np.nan
    search = SpanSearch(C, 3)
    assert all(np.isfinite(search.cost(k)) for k in (1, 2, 3))
    assert search.cost(4) == np.inf


def test_one_span_is_the_whole_even_if_another_point_would_be_cheaper():
    C = random_costs(6, 3)
    search = SpanSearch(C)
    assert search.divide(1).shape == (0,)
    assert search.cost(1) == C[0, -1]


@pytest.mark.parametrize("n_spans", [0, 5])
def test_more_spans_than_fit_are_refused(n_spans):
    search = SpanSearch(random_costs(10, 0), 2)
    with pytest.raises(ValueError, match=rf"\[1, 4\].*got {n_spans}"):
        search.divide(n_spans)


def test_a_recording_shorter_than_the_shortest_span_is_one_span():
    search = SpanSearch(random_costs(4, 0), 5)
    assert search.max_spans == 1
    assert search.divide(1).shape == (0,)


def test_starts_are_places():
    C = random_costs(6, 0)
    places = np.array([0, 3, 4, 9, 11, 20])
    inside = SpanSearch(C).divide(3)
    np.testing.assert_array_equal(SpanSearch(C, places=places).divide(3), places[inside])


def test_the_costs_are_left_as_they_are():
    C = random_costs(20, 0)
    C.setflags(write=False)
    SpanSearch(C, 2).divide(4)


def labelled_divisions(n, n_spans, n_labels, shortest):
    """Every way to have that many spans whose neighbours differ in label."""
    for starts in divisions(n + 1, n_spans, shortest):
        for labels in product(range(n_labels), repeat=n_spans):
            if all(a != b for a, b in pairwise(labels)):
                yield (0, *starts), labels


def cost_of_path(costs, starts, labels):
    ends = [*starts[1:], costs.shape[1]]
    each = zip(starts, ends, labels, strict=True)
    return sum(costs[label, start:end].sum() for start, end, label in each)


@given(
    n=st.integers(1, 7),
    n_spans=st.integers(1, 5),
    n_labels=st.integers(2, 3),
    shortest=st.integers(1, 3),
    seed=st.integers(0, 999),
    ties=st.booleans(),
)
def test_no_path_of_labels_is_cheaper(n, n_spans, n_labels, shortest, seed, ties):
    assume(n_spans * shortest <= n)
    rng = np.random.default_rng(seed)
    size = (n_labels, n)
    costs = rng.integers(0, 3, size).astype(float) if ties else rng.uniform(-1, 2, size)
    sums = np.concatenate([np.zeros((n_labels, 1)), np.cumsum(costs, axis=1)], axis=1)
    starts, labels = best_path(sums, n_spans, shortest)
    rivals = list(labelled_divisions(n, n_spans, n_labels, shortest))
    assert (tuple(starts), tuple(labels)) in rivals
    least = min(cost_of_path(costs, *rival) for rival in rivals)
    assert cost_of_path(costs, starts, labels) == pytest.approx(least, abs=1e-9)


@given(lengths=st.lists(st.integers(1, 400_000), min_size=1, max_size=5))
def test_windows_make_up_the_recordings(lengths):
    edges = np.cumsum([0, *lengths]).tolist()
    parts = [slice(start, end) for start, end in pairwise(edges)]
    windows = divide_long(parts)
    assert {*edges} <= {*(window.start for window in windows), edges[-1]}
    assert [window.stop for window in windows[:-1]] == [window.start for window in windows[1:]]
    assert (windows[0].start, windows[-1].stop) == (0, edges[-1])
    assert all(window.stop > window.start for window in windows)
    if np.linalg.norm(lengths) <= MAX_UNDIVIDED:
        assert windows == parts
    if MAX_UNDIVIDED**2 / sum(lengths) >= MIN_WINDOW:  # else the grid gets coarser after all
        assert grid_step(windows, MAX_UNDIVIDED) == 1
