"""Every prox against its definition: it beats all rivals, by as much as strong convexity demands."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqspan.models.prox import shrink_columns, shrink_singular_values, soft_threshold, zero_diagonal

unhurried = settings(deadline=None)  # a busy machine is no bug
matrices = arrays(float, (4, 3), elements=st.floats(-3, 3))
squares = arrays(float, (4, 4), elements=st.floats(-3, 3))
weights = st.floats(0, 2)

PROXES = {
    "l1": (soft_threshold, lambda A: np.abs(A).sum(), lambda A: np.abs(A).max()),
    "columns": (
        shrink_columns,
        lambda A: np.sqrt((A**2).sum(axis=0)).sum(),
        lambda A: np.sqrt((A**2).sum(axis=0)).max(),
    ),
    "nuclear": (
        shrink_singular_values,
        lambda A: np.linalg.svd(A, compute_uv=False).sum(),
        lambda A: np.linalg.svd(A, compute_uv=False).max(),
    ),
}
EVERY = pytest.mark.parametrize("name", PROXES)


@EVERY
@unhurried
@given(V=matrices, U=matrices, t=weights)
def test_beats_every_rival(name, V, U, t):
    prox, norm, _ = PROXES[name]

    def cost(A):
        return t * norm(A) + np.sum((A - V) ** 2) / 2

    P = prox(V, t)
    # costs are below 1e3 and made of some 50 rounded operations
    assert cost(P) + np.sum((U - P) ** 2) / 2 <= cost(U) + 1e-9


@EVERY
@unhurried
@given(V=matrices, t=weights)
def test_what_is_taken_away_lies_in_the_dual_ball(name, V, t):
    """Moreau: V - prox(V) is the projection on the ball of radius t, and aligned with what is left."""
    prox, norm, dual_norm = PROXES[name]
    P = prox(V, t)
    D = V - P
    assert dual_norm(D) <= t + 1e-9
    assert np.sum(P * D) == pytest.approx(t * norm(P), abs=1e-9)


@EVERY
@unhurried
@given(V=matrices, U=matrices, t=weights)
def test_never_pulls_apart(name, V, U, t):
    """Firmly non-expansive, as every prox."""
    prox = PROXES[name][0]
    moved = prox(V, t) - prox(U, t)
    assert np.sum(moved**2) <= np.sum(moved * (V - U)) + 1e-9


@EVERY
def test_weight_zero_changes_nothing_and_a_large_one_leaves_nothing(name):
    prox = PROXES[name][0]
    V = np.random.default_rng(1).standard_normal((5, 4))
    np.testing.assert_allclose(prox(V, 0.0), V, atol=1e-14)  # the SVD rounds
    np.testing.assert_array_equal(prox(V, 100.0), 0)


@EVERY
def test_float32_stays_and_the_argument_is_kept(name):
    V = np.random.default_rng(2).standard_normal((5, 4)).astype(np.float32)
    V.setflags(write=False)
    assert PROXES[name][0](V, 0.3).dtype == np.float32


@unhurried
@given(V=matrices, t=arrays(float, 3, elements=weights))
def test_soft_threshold_takes_one_weight_per_column(V, t):
    expected = np.column_stack([soft_threshold(V[:, j], t[j]) for j in range(3)])
    np.testing.assert_array_equal(soft_threshold(V, t), expected)


def test_zero_columns_and_zero_matrices_are_no_trouble():
    V = np.zeros((3, 2))
    V[0, 1] = 5.0
    np.testing.assert_array_equal(shrink_columns(V, 1.0), [[0, 4], [0, 0], [0, 0]])
    np.testing.assert_array_equal(shrink_singular_values(np.zeros((3, 2)), 0.0), np.zeros((3, 2)))


@unhurried
@given(V=squares, U=squares)
def test_zero_diagonal_is_the_nearest_point_of_the_constraint(V, U):
    P = zero_diagonal(V)
    assert np.all(np.diag(P) == 0)
    rival = U - np.diag(np.diag(U))
    assert np.sum((P - V) ** 2) <= np.sum((rival - V) ** 2) + 1e-12
    assert not np.shares_memory(P, V)


def test_singular_values_are_shrunk_where_divide_and_conquer_gives_up(monkeypatch):
    V = np.random.default_rng(0).standard_normal((5, 4))
    wanted = shrink_singular_values(V, 1.0)

    slower = scipy.linalg.svd

    def gives_up(*args, lapack_driver="gesdd", **kwargs):
        if lapack_driver == "gesdd":
            raise np.linalg.LinAlgError("SVD did not converge")
        return slower(*args, lapack_driver=lapack_driver, **kwargs)

    monkeypatch.setattr(np.linalg, "svd", gives_up)
    monkeypatch.setattr(scipy.linalg, "svd", gives_up)
    np.testing.assert_allclose(shrink_singular_values(V, 1.0), wanted, atol=1e-12)
    assert np.abs(wanted).max() > 0.1
