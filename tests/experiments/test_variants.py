"""What the authors' code adds: Z >= 0 against cvxpy, and its iteration where it converges and where not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqspan.checks import scale_columns
from seqspan.datasets import make_subspaces
from seqspan.experiments._variants import (
    NonNegative,
    NonNegativeOsc,
    NonNegativeSpatSc,
    NonNegativeSsc,
    solve_as_coded,
)
from seqspan.pipeline import represent
from seqspan.solvers import Stopping

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
def test_the_limit_is_where_the_conjugate_becomes_infinite(M):
    # the conjugate, sup over A >= 0 of <M, A> - 0.7 sum A, is zero where M <= 0.7 and infinite elsewhere
    limit = NonNegative(0.7).limit(M)
    finite = np.isfinite(limit)
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
    solution = represent(X, model, "splitting", Stopping(1e-6, 20_000))
    assert solution.Z.min() >= 0
    assert solution.objective == pytest.approx(minimum, rel=1e-4)
    assert solution.objective * (1 - solution.gap) <= minimum * (1 + 1e-6)  # the certificate holds for Z >= 0


def test_a_negative_entry_is_infinitely_expensive():
    assert NonNegative(1.0).value(np.array([[1.0, -1e-9]])) == np.inf


def test_the_authors_iteration_comes_near_the_minimum_without_noise():
    X = scale_columns(make_subspaces(rng=1)[0])
    model = NonNegativeOsc(0.1, 1.0)
    minimum = represent(X, model, "splitting", Stopping(1e-4, 5000)).objective
    Z, _ = solve_as_coded(model, X)
    assert Z.min() >= 0
    assert minimum * (1 - 1e-3) <= model.value(X, Z) <= 1.1 * minimum


def test_the_authors_iteration_diverges_where_x_is_small_against_the_coupling():
    # ||X||^2 = 1 for orthogonal columns: the step 1 / 1.1 is far too long for mu ||R||^2 of almost 4
    X = np.eye(30)
    model = NonNegativeOsc(0.01, 1.0)
    assert model.value(X, solve_as_coded(model, X)[0]) > 1e3 * model.value(X, np.zeros((30, 30)))
