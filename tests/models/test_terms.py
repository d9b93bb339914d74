"""Terms: values typed out, conjugates by Fenchel and Young, proxes by rivals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqspan.models.terms import Absolute, ColumnNorms, Nothing, SingularValues, Squares, SquaresAndOutliers

unhurried = settings(deadline=None)  # a busy machine is no bug
matrices = arrays(float, (4, 4), elements=st.floats(-3, 3))
steps = st.floats(0.1, 3)


def _brute_huber(A):
    """min 1.5/2 e^2 + 0.8 |a - e| over a fine grid of e, entry by entry."""
    fractions = np.linspace(0, 1, 4001)
    E = A.reshape(-1, 1) * fractions
    return (1.5 / 2 * E**2 + 0.8 * np.abs(A.reshape(-1, 1) - E)).min(axis=1).sum()


def _identity(A):
    return A


def _off_diagonal(A):
    return A - np.diag(np.diag(A))


PER_COLUMN = np.array([0.2, 0.7, 1.1, 2.0])
# term, its formula on its domain, the projection on its domain
TERMS = {
    "squares": (Squares(1.7), lambda A: 1.7 / 2 * (A**2).sum(), _identity),
    "nothing": (Nothing(), lambda A: 0.0, np.zeros_like),
    "absolute": (Absolute(0.6), lambda A: 0.6 * np.abs(A).sum(), _identity),
    "absolute_off_diagonal": (Absolute(0.6, True), lambda A: 0.6 * np.abs(A).sum(), _off_diagonal),
    "absolute_per_column": (
        Absolute(PER_COLUMN, True),
        lambda A: sum(w * np.abs(A[:, j]).sum() for j, w in enumerate(PER_COLUMN)),
        _off_diagonal,
    ),
    "columns": (ColumnNorms(0.9), lambda A: 0.9 * sum(np.sqrt(a @ a) for a in A.T), _identity),
    "nuclear": (
        SingularValues(0.8),
        lambda A: 0.8 * np.sqrt(np.maximum(np.linalg.eigvalsh(A.T @ A), 0)).sum(),
        _identity,
    ),
    "huber": (SquaresAndOutliers(1.5, 0.8), _brute_huber, _identity),
}
EVERY = pytest.mark.parametrize("name", TERMS)
# the square roots of eigenvalues, and the grid of 4001 points (error below 1.5/2 (3/4000)^2 per entry)
ROUGH = {"nuclear": 1e-6, "huber": 16 * 1.5 * (3 / 4000) ** 2}


@EVERY
@unhurried
@given(A=matrices)
def test_value_is_the_formula(name, A):
    term, formula, project = TERMS[name]
    A = project(A)
    assert term.value(A) == pytest.approx(formula(A), abs=ROUGH.get(name, 1e-10))


@EVERY
@unhurried
@given(A=matrices, U=matrices, step=steps)
def test_prox_beats_every_rival(name, A, U, step):
    term, _, project = TERMS[name]
    P, U = term.prox(A, step), project(U)
    np.testing.assert_array_equal(project(P), P)

    def cost(B):
        return step * term.value(B) + np.sum((B - A) ** 2) / 2

    assert cost(P) + np.sum((U - P) ** 2) / 2 <= cost(U) + 1e-9  # rounding of costs below 1e3


@EVERY
@unhurried
@given(A=matrices, B=matrices, step=steps)
def test_prox_never_pulls_apart(name, A, B, step):
    prox = TERMS[name][0].prox
    moved = prox(A, step) - prox(B, step)
    assert np.sum(moved**2) <= np.sum(moved * (A - B)) + 1e-9


@EVERY
@unhurried
@given(A=matrices, M=matrices, shrink=arrays(float, 4, elements=st.floats(0, 1)))
def test_fenchel_young_holds_within_the_limit(name, A, M, shrink):
    """value(A) + conjugate(M) >= <A, M> for every M that the limit allows, each column shrunk at will."""
    term, _, project = TERMS[name]
    A = project(A)
    M = M * np.minimum(term.limit(M), 10) * shrink
    assert term.value(A) + term.conjugate(M).sum() >= np.sum(A * M) - 1e-9


@EVERY
@unhurried
@given(A=matrices, step=steps)
def test_fenchel_young_is_an_equation_at_the_prox(name, A, step):
    """M = (A - prox(A)) / step is a subgradient: inside the limit, and the inequality is tight."""
    term = TERMS[name][0]
    P = term.prox(A, step)
    M = (A - P) / step
    assert np.all(term.limit(M) >= 1 - 1e-9)
    assert term.value(P) + term.conjugate(M).sum() == pytest.approx(np.sum(P * M), abs=1e-9)


@pytest.mark.parametrize(
    "name", ["absolute", "absolute_off_diagonal", "absolute_per_column", "columns", "huber"]
)
def test_the_limit_is_reached_column_by_column(name):
    """Just beyond the limit some matrix of one column violates Fenchel and Young."""
    term, _, project = TERMS[name]
    rng = np.random.default_rng(11)
    M = rng.standard_normal((4, 4))
    beyond = 1.01 * M * term.limit(M)
    for j in range(4):
        A = np.zeros((4, 4))
        column = project(beyond)[:, j]
        i = np.abs(column).argmax()
        A[:, j] = column if name == "columns" else np.where(np.arange(4) == i, column, 0)
        A *= 1e4  # far out, where linear growth decides
        assert term.value(A) + term.conjugate(beyond).sum() < np.sum(A * beyond)


def test_the_limit_of_the_nuclear_norm_is_one_for_all_columns():
    M = np.random.default_rng(12).standard_normal((5, 4))
    limit = SingularValues(0.8).limit(M)
    np.testing.assert_allclose(limit, 0.8 / np.linalg.svd(M, compute_uv=False)[0])


@EVERY
def test_nothing_limits_zero(name):
    assert np.all(np.isinf(TERMS[name][0].limit(np.zeros((4, 4)))))


@EVERY
def test_float32_stays_and_the_argument_is_kept(name):
    A = np.random.default_rng(13).standard_normal((4, 4)).astype(np.float32)
    A.setflags(write=False)
    assert TERMS[name][0].prox(A, 0.5).dtype == np.float32


def test_a_diagonal_that_must_be_zero_is_infinitely_expensive_otherwise():
    A = np.array([[0.0, 2.0], [-1.0, 0.0]])
    assert Absolute(0.5, zero_diagonal=True).value(A) == 1.5
    assert Absolute(0.5, zero_diagonal=True).value(A + 1e-9 * np.eye(2)) == np.inf
    assert Absolute(0.5).value(A + np.eye(2)) == 2.5
