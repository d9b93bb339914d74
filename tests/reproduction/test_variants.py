"""What the authors' code adds: Z >= 0 against cvxpy, and its iteration where it converges and where not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqspan._core.scaling import scale_columns
from seqspan.datasets import add_noise, make_subspaces
from seqspan.reproduction._variants import (
    NonNegative,
    NonNegativeOsc,
    NonNegativeSpatSc,
    NonNegativeSsc,
    solve_as_coded,
)
from seqspan.solvers import SOLVERS, Stopping

matrices = arrays(float, (4, 4), elements=st.floats(-3, 3))


@given(A=matrices, B=matrices, step=st.floats(0.01, 2), diagonal=st.booleans())
def test_the_prox_beats_every_rival(A, B, step, diagonal):
    term = NonNegative(0.7, zero_diagonal=diagonal)
    rival = np.abs(B)
    if diagonal:
        np.fill_diagonal(rival, 0)
    P = term.prox(A, step)

    def cost(C):
        return step * term.value(C) + np.sum((C - A) ** 2) / 2

    assert P.min() >= 0
    assert cost(P) + np.sum((rival - P) ** 2) / 2 <= cost(rival) + 1e-9


@given(M=matrices)
@example(M=np.diag([1.1e-308, 0.0, 0.0]) - 3 * np.eye(3, k=-1))  # a limit that makes -3 minus infinity
def test_the_limit_is_where_the_conjugate_becomes_infinite(M):
    # the conjugate, sup over A >= 0 of <M, A> - 0.7 sum A, is zero where M <= 0.7 and infinite elsewhere
    limit = NonNegative(0.7).limit(M)
    finite = np.isfinite(limit)
    with np.errstate(over="ignore"):
        assert np.all((M * np.where(finite, limit, 1e12)) <= 0.7 + 1e-9)
        assert np.allclose((M * np.where(finite, limit, 0)).max(axis=0)[finite], 0.7)


@pytest.mark.parametrize("name", ["osc", "spatsc", "ssc"])
def test_the_minimum_is_that_of_cvxpy(name):
    import cvxpy as cp

    X = scale_columns(np.random.default_rng(4).standard_normal((5, 8)))
    Z = cp.Variable((8, 8), nonneg=True)
    change = Z[:, 1:] - Z[:, :-1]
    cost = cp.sum_squares(X - X @ Z) / 2 + 0.1 * cp.sum(Z)
    model, cost, constraints = {
        "osc": (NonNegativeOsc(0.1, 0.3), cost + 0.3 * cp.sum(cp.norm(change, axis=0)), []),
        "spatsc": (NonNegativeSpatSc(0.1, 0.05), cost + 0.05 * cp.sum(cp.abs(change)), [cp.diag(Z) == 0]),
        "ssc": (NonNegativeSsc(0.1), cost, [cp.diag(Z) == 0]),
    }[name]
    minimum = cp.Problem(cp.Minimize(cost), constraints).solve(solver="CLARABEL")
    solution = SOLVERS["splitting"](model, X, stopping=Stopping(1e-6, 20_000))
    assert solution.Z.min() >= 0
    assert solution.objective == pytest.approx(minimum, rel=1e-4)
    assert solution.objective * (1 - solution.gap) <= minimum * (1 + 1e-6)  # the certificate holds for Z >= 0


def test_a_negative_entry_is_infinitely_expensive():
    assert NonNegative(1.0).value(np.array([[1.0, -1e-9]])) == np.inf


def test_the_authors_iteration_comes_near_the_minimum_without_noise():
    X = scale_columns(make_subspaces(rng=1)[0])
    model = NonNegativeOsc(0.1, 1.0)
    minimum = SOLVERS["splitting"](model, X, stopping=Stopping(1e-4, 5000)).objective
    Z, _ = solve_as_coded(model, X)
    assert Z.min() >= 0
    assert minimum * (1 - 1e-3) <= model.value(X, Z) <= 1.1 * minimum


def written_out(X, lam1, lam2):
    """The iteration with R as a matrix, step by step; the numbers are those of the published MATLAB code."""
    n = X.shape[1]
    R = np.eye(n, n - 1, -1) - np.eye(n, n - 1)
    rho, mu, G = 1.1 * np.linalg.norm(X, 2) ** 2, 1.0, X.T @ X
    Z, U, Y, values = np.zeros((n, n)), np.zeros((n, n - 1)), np.zeros((n, n - 1)), [np.inf]
    for k in range(1, 201):
        pull = mu * (U - Z @ R) + Y
        V, W = Z - (G @ Z - G - pull @ R.T) / rho, U - pull / rho
        Z_new = np.maximum(np.sign(V) * np.maximum(np.abs(V) - lam1 / rho, 0), 0)
        norms = np.linalg.norm(W, axis=0)
        U_new = W * np.maximum(1 - lam2 / rho / norms, 0)
        Y = Y + mu * (U_new - Z_new @ R)
        change = max(np.linalg.norm(Z_new - Z), np.linalg.norm(U_new - U)) / np.linalg.norm(X)
        Z, U = Z_new, U_new
        mu = min(100, 1.1 * mu) if mu * change < 1e-4 else mu
        residual = np.sum((X - X @ Z) ** 2) / 2
        values.append(residual + lam1 * np.abs(Z).sum() + lam2 * np.linalg.norm(Z @ R, axis=0).sum())
        if k > 1 and np.linalg.norm(U - Z @ R) < 1 and mu * change < 1e-4:
            break
        if k > 5 and abs(values[-1] - values[-2]) < 1e-4:
            break
    return Z, values[-1]


def test_the_authors_iteration_is_theirs_and_diverges_under_strong_noise():
    model, objectives = NonNegativeOsc(0.1, 1.0), []
    for seed in (0, 1):  # one diverges, one does not
        rng = np.random.default_rng(seed)
        A = scale_columns(make_subspaces(rng=rng)[0])
        X = scale_columns(add_noise(A, 4, rng=rng))
        with np.errstate(all="ignore"):
            Z, objective = written_out(X, 0.1, 1.0)
        found, _ = solve_as_coded(model, X)
        assert found == pytest.approx(Z, rel=1e-6, abs=1e-9 * np.abs(Z).max())
        assert model.value(X, found) == pytest.approx(objective, rel=1e-6)
        objectives.append(objective)
    assert min(objectives) < 50 < 1e9 < max(objectives)  # Z = 0 has 50


def test_the_authors_iteration_diverges_where_x_is_small_against_the_coupling():
    # ||X||^2 = 1 for orthogonal columns: the step 1 / 1.1 is far too long for mu ||R||^2 of almost 4
    X = np.eye(30)
    model = NonNegativeOsc(0.01, 1.0)
    assert model.value(X, solve_as_coded(model, X)[0]) > 1e3 * model.value(X, np.zeros((30, 30)))
