"""Closed forms against direct solves, other solvers, and the conditions that define them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.problems import SHAPES, WIDE, two_subspaces

from seqspan.datasets.synthetic import make_subspaces
from seqspan.models import Lrr, LrrColumnNoise, LrrNoiseFree, Lsr, Osc, Ssc
from seqspan.solvers import SOLVERS, Progress, Stopping

solve = SOLVERS["closed_form"]
EVERY_SHAPE = pytest.mark.parametrize("shape", SHAPES)


@EVERY_SHAPE
@pytest.mark.parametrize("lam", [1e-3, 0.2, 50.0])
def test_lsr_is_ridge_regression(shape, lam):
    X = two_subspaces(SHAPES[shape], 51)
    G = X.T @ X
    expected = np.linalg.solve(G + lam * np.eye(len(G)), G)
    solution = solve(Lsr(lam), X)
    np.testing.assert_allclose(solution.Z, expected, atol=1e-12)
    assert solution.gap <= 1e-12


@EVERY_SHAPE
@pytest.mark.parametrize("lam", [0.01, 0.5, 2.0])
def test_lrr_obeys_its_optimality_conditions(shape, lam):
    """X^T (X - XZ) = lam (U V^T + W): spectral norm lam, and aligned with Z."""
    X = two_subspaces(SHAPES[shape], 52)
    solution = solve(Lrr(lam), X)
    M = X.T @ (X - X @ solution.Z)
    assert np.linalg.norm(M, 2) <= lam * (1 + 1e-9)
    nuclear = np.linalg.svd(solution.Z, compute_uv=False).sum()
    assert np.sum(M * solution.Z) == pytest.approx(lam * nuclear, rel=1e-9)
    assert solution.gap <= 1e-9


def test_lrr_with_a_huge_weight_is_zero():
    X = two_subspaces(WIDE, 53)
    solution = solve(Lrr(1e6), X)
    assert not np.any(solution.Z)
    assert solution.objective == pytest.approx(np.sum(X**2) / 2)
    assert solution.gap <= 1e-12


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", [54, 55, 56])
def test_the_shape_interaction_matrix_of_data_without_full_rank(dtype, seed):
    """Z projects on the row space: rank 20 of 100, where rounding must not count as rank."""
    X = make_subspaces(rng=seed)[0]
    X = (X / np.linalg.norm(X, axis=0)).astype(dtype)
    solution = solve(LrrNoiseFree(), X)
    eps = float(np.finfo(dtype).eps)
    assert solution.Z.dtype == dtype
    # X has a condition number near 1e2; errors are that times a few eps
    np.testing.assert_allclose(X @ solution.Z, X, atol=1e3 * eps)
    np.testing.assert_allclose(solution.Z @ solution.Z, solution.Z, atol=1e3 * eps)
    assert np.trace(solution.Z) == pytest.approx(20, rel=1e3 * eps)
    assert solution.gap <= 1e4 * eps


@EVERY_SHAPE
@pytest.mark.parametrize("make", [lambda: Lrr(0.3), lambda: Lsr(0.3), LrrNoiseFree])
def test_nothing_near_is_better(shape, make):
    model, X = make(), two_subspaces(SHAPES[shape], 57)
    solution = solve(model, X)
    rng = np.random.default_rng(58)
    null = np.eye(X.shape[1]) - np.linalg.pinv(X) @ X  # moves that keep XZ, for the constraint
    for _ in range(20):
        move = 1e-3 * rng.standard_normal(solution.Z.shape)
        move = null @ move if isinstance(model, LrrNoiseFree) else move
        assert model.value(X, solution.Z + move) >= model.value(X, solution.Z) - 1e-12


def test_it_reports_like_the_others():
    told: list[Progress] = []
    X = two_subspaces(WIDE, 59)
    before = X.copy()
    solution = solve(Lsr(0.1), X, stopping=Stopping(callback=told.append))
    assert told == solution.history
    assert (solution.n_iter, solution.converged) == (1, True)
    np.testing.assert_array_equal(X, before)


def test_zero_data_has_zero_coefficients():
    for model in (Lrr(0.1), Lsr(0.1), LrrNoiseFree()):
        solution = solve(model, np.zeros((3, 4)))
        assert not np.any(solution.Z)
        assert solution.gap == 0


@pytest.mark.parametrize("model", [Ssc(0.1), LrrColumnNoise(0.1), Osc(0.1, 1.0)])
def test_other_models_are_refused(model):
    with pytest.raises(ValueError, match=f"{type(model).__name__} has no closed form"):
        solve(model, two_subspaces(WIDE, 60))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", [Lsr(4e-5), Lrr(4e-5)])
def test_a_certificate_of_a_weight_close_to_nothing(model, dtype):
    """X - XZ is mostly rounding there: the dual point must come from the singular values."""
    X = np.repeat(np.random.default_rng(57).standard_normal((3, 3)), 70, axis=1)
    X = (X / np.linalg.norm(X, axis=0)).astype(dtype)
    assert solve(model, X).gap <= 1e-3


def test_a_gap_that_rounding_leaves_above_tol_is_said():
    X = np.random.default_rng(0).standard_normal((6, 40)).astype(np.float32)
    with pytest.warns(ConvergenceWarning, match=r"float32 rounding leaves .* above tol=1e-12") as caught:
        solution = solve(Lrr(1e-7), X, stopping=Stopping(tol=1e-12))
    assert len(caught) == 1
    assert not solution.converged
    assert solution.gap > 1e-12
    exact = solve(Lrr(0.1), X.astype(float), stopping=Stopping(tol=1e-6))
    assert exact.converged
