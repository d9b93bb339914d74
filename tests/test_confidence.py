"""The stability of boundaries."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqspan import OSC
from seqspan.confidence import best_split, boundary_confidence
from seqspan.datasets import add_noise, make_subspaces


def scatter(columns: np.ndarray) -> float:
    return float(np.sum((columns - columns.mean(axis=1, keepdims=True)) ** 2))


@given(columns=arrays(float, (3, 7), elements=st.floats(-3, 3, width=16)))
def test_the_best_split_leaves_the_least_scatter(columns):
    split = best_split(columns)
    left = scatter(columns[:, :split]) + scatter(columns[:, split:])
    assert all(left <= scatter(columns[:, :c]) + scatter(columns[:, c:]) + 1e-9 for c in range(1, 7))


@pytest.mark.parametrize("seed", range(3))
def test_true_boundaries_are_stable_and_misplaced_ones_are_not(seed):
    X, labels = make_subspaces(rng=seed)
    Z = OSC(5, random_state=0).fit(X.T).coef_
    true = np.flatnonzero(np.diff(labels)) + 1
    rng = np.random.default_rng(seed)
    assert boundary_confidence(Z, true, rng).min() > 0.9
    assert boundary_confidence(Z, true + 6, rng).max() < 0.2


def test_noise_lowers_it():
    X, labels = make_subspaces(rng=0)
    true = np.flatnonzero(np.diff(labels)) + 1
    means = []
    for level in (40, -6):
        Z = OSC(5, random_state=0).fit(add_noise(X, level, rng=1).T).coef_
        means.append(boundary_confidence(Z, true, np.random.default_rng(0)).mean())
    assert means[0] > means[1] + 0.1


def test_it_is_a_share_repeats_with_its_seed_and_takes_no_boundary():
    Z = np.random.default_rng(0).standard_normal((50, 50)).astype(np.float32)
    boundaries = np.array([1, 2, 30, 49])
    first, again = (boundary_confidence(Z, boundaries, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first.min() >= 0
    assert first.max() <= 1
    assert boundary_confidence(Z, np.array([], dtype=int), np.random.default_rng(0)).shape == (0,)


def test_it_costs_little_beside_a_solve():
    X, labels = make_subspaces(10, 4, 100, 60, rng=0)
    OSC(2).fit(X.T[:50])  # compiles the solver
    start = time.perf_counter()
    Z = OSC(10, random_state=0).fit(X.T).coef_
    solve = time.perf_counter() - start
    true = np.flatnonzero(np.diff(labels)) + 1
    start = time.perf_counter()
    boundary_confidence(Z, true, np.random.default_rng(0))
    # 20 % is promised; a busy machine may stretch either of the two
    assert time.perf_counter() - start < 0.5 * solve
