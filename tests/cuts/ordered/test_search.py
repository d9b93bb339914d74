"""Dynamic programming against every way to divide a short recording."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.problems import make_cost

from seqspan.cuts.ordered import device_functions, loops
from seqspan.cuts.ordered import search as module
from seqspan.cuts.ordered.loops import best_path
from seqspan.cuts.ordered.search import (
    MAX_UNDIVIDED,
    MIN_WINDOW,
    JoinedSearch,
    SpanSearch,
    divide_long,
    grid_step,
    share_out,
)


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


@pytest.mark.parametrize("shortest", [1, 3])
def test_several_searches_at_once_are_those_one_by_one(shortest, monkeypatch):
    """What a GPU computes for several arrays of costs, here computed by the host, is found by each search."""
    asked = []

    def add_spans(C, shortest, best):
        asked.append((C.shape, best.shape))
        for costs, own in zip(C, best, strict=True):
            loops.add_spans(costs, shortest, own)

    C = np.stack([random_costs(25, seed) for seed in range(3)])
    plain = SpanSearch.several(C, shortest, 6)
    assert asked == []
    monkeypatch.setattr(module, "is_on_gpu", lambda array: array is C)
    monkeypatch.setattr(device_functions, "add_spans", add_spans)
    found = SpanSearch.several(C, shortest, 6)
    for search, one, costs in zip(found, plain, C, strict=True):
        np.testing.assert_array_equal(search.costs(6), one.costs(6))
        for k in (2, 6, 8):  # more than were computed at once
            assert search.cost(k) == pytest.approx(cost_of(costs, search.divide(k)), abs=1e-12)
            np.testing.assert_array_equal(search.divide(k), one.divide(k))
    assert asked == [((3, 25, 25), (3, 7, 25))]


def test_spans_are_shared_out_as_brute_force_does():
    rng = np.random.default_rng(3)
    curves = [rng.standard_normal(size) for size in (3, 1, 4)]
    for total in range(3, 9):
        counts = [(a, 1, c) for a in range(1, 4) for c in range(1, 5) if a + 1 + c == total]
        costs = [sum(curve[n - 1] for curve, n in zip(curves, each, strict=True)) for each in counts]
        least, shares = share_out(curves, total)
        assert least[total] == pytest.approx(min(costs))
        assert tuple(shares) == counts[int(np.argmin(costs))]
    assert share_out(curves, 9)[0][9] == np.inf


def test_a_joined_search_is_one_search_that_may_not_cross():
    """The same as one search in which spans across the join cost too much."""
    X = np.cumsum(np.random.default_rng(1).standard_normal((4, 60)), axis=1)
    cost, joins = make_cost(X), (23,)
    parts = [cost.places(1, part) for part in (slice(0, 23), slice(23, 60))]
    joined = JoinedSearch([SpanSearch(cost.span_costs(p, 3), 3, places=p) for p in parts], joins)
    C = cost.span_costs(cost.places(1), 3).astype(float)
    C[:23, 24:] = np.inf
    whole = SpanSearch(C, 3)
    for n_spans in range(2, 9):
        assert joined.costs(n_spans)[-1] == pytest.approx(whole.cost(n_spans), rel=1e-5)
        np.testing.assert_array_equal(joined.divide(n_spans), whole.divide(n_spans))


def test_one_number_of_spans_after_another_is_computed_in_batches(monkeypatch):
    asked = []

    def add_spans(C, shortest, best, compute=loops.add_spans):
        asked.append(len(best) - 1)
        compute(C, shortest, best)

    monkeypatch.setattr(loops, "add_spans", add_spans)
    search = SpanSearch(random_costs(60, 0))
    costs = [search.cost(k) for k in range(1, 31)]
    assert asked == [17, 17]  # how many numbers of spans more
    many = SpanSearch(random_costs(60, 0))
    np.testing.assert_array_equal(many.costs(30), costs)
    assert asked[2:] == [30]


def test_no_more_spans_of_a_recording_are_tried_than_the_others_leave():
    asked = []

    class Search(SpanSearch):
        def costs(self, most):
            asked.append(most)
            return super().costs(most)

    joined = JoinedSearch([Search(random_costs(20, seed)) for seed in range(3)], (19, 38))
    assert joined.costs(7).shape == (7,)
    assert len(joined.divide(9)) == 8
    assert asked == [5] * 3 + [7] * 3


@pytest.mark.parametrize("n_spans", [1, 13])
def test_more_spans_than_all_recordings_have_room_for_are_refused(n_spans):
    joined = JoinedSearch([SpanSearch(random_costs(7, 0)), SpanSearch(random_costs(7, 1))], (6,))
    assert joined.max_spans == 12
    with pytest.raises(ValueError, match=rf"^n_spans must be in \[2, 12\] for these .*; got {n_spans}\.$"):
        joined.divide(n_spans)


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


@pytest.mark.parametrize("lengths", [(60_000, 60_000), (60_000, 80_000), (10_000,) * 99])
def test_recordings_are_divided_only_if_together_they_have_too_many_spans(lengths):
    edges = np.cumsum([0, *lengths]).tolist()
    parts = [slice(start, end) for start, end in pairwise(edges)]
    assert divide_long(parts) == parts
    longer = [*parts, slice(edges[-1], edges[-1] + 90_000)]
    windows = divide_long(longer)
    assert len(windows) > len(longer)
    longest = max(MAX_UNDIVIDED**2 / longer[-1].stop, MIN_WINDOW)
    assert max(window.stop - window.start for window in windows) <= longest


def test_a_window_is_no_shorter_than_it_has_to_be():
    assert divide_long([slice(0, 2_000_000)])[:2] == [slice(0, MIN_WINDOW), slice(MIN_WINDOW, 2 * MIN_WINDOW)]
    assert [window.stop for window in divide_long([slice(0, 110_000)])] == [55_000, 110_000]
