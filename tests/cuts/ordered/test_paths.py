"""The cheapest path block by block: against all paths, and against a plain loop over all sums."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan.cuts.online.paths import GrowingPaths
from seqspan.cuts.ordered.paths import CheapestPath


def walk(costs, price, shortest, block):
    path = CheapestPath(*costs.shape, price, shortest)
    for start in range(0, costs.shape[1], block):
        path.extend(costs[:, start : start + block])
    return path.labels()


def plain_path(costs, price, shortest):
    """Every end of a span with every start, from the sums of all samples."""
    n_labels, n = costs.shape
    sums = np.hstack([np.zeros((n_labels, 1)), np.cumsum(costs, axis=1)])
    best, last = np.full(n + 1, np.inf), [(0, 0)] * (n + 1)
    best[0] = -price
    for end in range(shortest, n + 1):
        each = best[: end - shortest + 1, None] + price + (sums[:, end] - sums[:, : end - shortest + 1].T)
        start, label = np.unravel_index(np.argmin(each), each.shape)
        best[end], last[end] = each[start, label], (int(start), int(label))
    path, end = np.zeros(n, dtype=int), n
    while end > 0:
        start, path[last[end][0] : end] = last[end]
        end = start
    return path


def test_the_cheapest_path_is_the_cheapest_of_all():
    rng = np.random.default_rng(3)
    for price, shortest, block in product((0.0, 0.7, 3.0), (1, 2, 3), (1, 2, 7)):
        costs = rng.standard_normal((3, 7))

        def total(path, costs=costs, price=price):
            return costs[path, np.arange(7)].sum() + price * np.count_nonzero(np.diff(path))

        def is_allowed(path, shortest=shortest):
            edges = np.concatenate([[0], np.flatnonzero(np.diff(path)) + 1, [7]])
            return np.diff(edges).min() >= shortest

        paths = [np.array(path) for path in product(range(3), repeat=7)]
        least = min(total(path) for path in paths if is_allowed(path))
        assert total(walk(costs, price, shortest, block)) == pytest.approx(least)


@given(
    seed=st.integers(0, 10**6), n_labels=st.integers(1, 5), n_samples=st.integers(1, 120),
    shortest=st.integers(1, 12), price=st.floats(0.5, 10), block=st.integers(1, 64),
)  # fmt: skip
def test_blocks_of_any_size_give_the_path_of_a_plain_loop(seed, n_labels, n_samples, shortest, price, block):
    costs = np.random.default_rng(seed).standard_normal((n_labels, n_samples))
    shortest = min(shortest, n_samples)
    expected = plain_path(costs, price, shortest)
    np.testing.assert_array_equal(walk(costs, price, shortest, block), expected)


def test_no_more_is_held_than_two_numbers_per_sample_and_a_block():
    n_labels, n_samples, block = 40, 50_000, 500
    costs = np.random.default_rng(0).standard_normal((n_labels, block))
    walk(costs, 5.0, 5, block)  # compiles
    tracemalloc.start()
    try:
        path = CheapestPath(n_labels, n_samples, 5.0, 5)
        for _ in range(n_samples // block):
            path.extend(costs)
        path.labels()
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken < 8 * (3 * n_samples + 4 * n_labels * block)  # the path itself is a third; all costs: 16 MB


def test_starts_have_the_type_of_those_of_a_stream():
    """Otherwise the loop that both call would be compiled twice, which takes seconds."""
    starts = CheapestPath(2, 9, price=1.0, shortest=3)._open[1]
    assert starts.dtype == GrowingPaths(2, price=1.0, shortest=3).state()["path_where"].dtype
