"""The pieces of the certificate against brute force: grids, and linear programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.oracles import dense_R, minimum
from tests.problems import WIDE, planted, two_subspaces

from seqspan.models import GraphRegularised, Lrr, Osc, SpatSc, Ssc
from seqspan.models.certificate import DualPoint, parabola_top, scaled_bound, tighten

unhurried = settings(deadline=None)  # a busy machine is no bug
seeds = st.integers(0, 2**32 - 1)


@unhurried
@given(linear=st.floats(-5, 5), quadratic=st.floats(0.01, 5), limit=st.floats(0, 4))
def test_parabola_top_beats_a_grid(linear, quadratic, limit):
    s = np.linspace(0, limit, 2001)
    grid = (s * linear - s**2 * quadratic).max()
    top = parabola_top(np.array(linear), np.array(quadratic), np.array(limit))
    # the top lies at most half a grid step away from a point, so 5 (limit / 4000)^2 above it
    assert grid - 1e-12 <= top <= grid + 5 * (limit / 4000) ** 2 + 1e-12


def test_parabola_top_of_lines():
    linear, quadratic = np.array([2.0, -2.0, 2.0, 0.0]), np.zeros(4)
    limit = np.array([3.0, 3.0, np.inf, np.inf])
    np.testing.assert_array_equal(parabola_top(linear, quadratic, limit), [6, 0, 0, 0])


@pytest.mark.parametrize("size", [1e-300, 1e-165, 1e-160, 1e-20, 1.0, 1e20, 1e100])
def test_the_bound_does_not_depend_on_the_size_of_the_dual_point(size):
    """The best scaling undoes any other; where squares underflow a bound is still a bound."""
    X = two_subspaces(WIDE, 21)
    model, V = Osc(0.1, 0.3), np.zeros((WIDE[1], WIDE[1] - 1))
    expected = scaled_bound(model, X, X, V)
    bound = scaled_bound(model, X, size * X, V)
    if size > 1e-150:
        assert bound == pytest.approx(expected, rel=1e-12)
    else:
        assert np.isfinite(bound)


def _multiplier_problem(seed, m, n):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, n)), rng.standard_normal((m, n - 1))


def _excess(C, V, diagonal_free):
    M = np.abs(C - V @ dense_R(C.shape[1]).T)
    if diagonal_free:
        k = min(M.shape)
        M[np.arange(k), np.arange(k)] = 0
    return M.max(axis=1)


def _feasible(c, band, row, diagonal_free):
    """Ask a linear program whether any v obeys |c - v R^T| <= band."""
    n = len(c)
    R = dense_R(n)
    counts = np.arange(n) != row if diagonal_free else np.ones(n, bool)
    A = np.vstack([R[counts], -R[counts]])
    b = np.concatenate([band + c[counts], band - c[counts]])
    return linprog(np.zeros(n - 1), A_ub=A, b_ub=b, bounds=[(None, None)] * (n - 1)).status == 0


@pytest.mark.parametrize("diagonal_free", [False, True])
@unhurried
@given(seed=seeds, n=st.integers(2, 7), band=st.floats(0.05, 2))
def test_tighten_obeys_its_band_wherever_that_is_possible(diagonal_free, seed, n, band):
    """Row by row; what is possible is sum(c) within n bands, and anything if the diagonal is free."""
    C, V = _multiplier_problem(seed, n, n)
    assume(np.all(np.abs(np.abs(C.sum(axis=1)) - n * band) > 1e-6))  # not on the border
    excess = _excess(C, tighten(C, V, band, diagonal_free), diagonal_free)
    possible = diagonal_free | (np.abs(C.sum(axis=1)) < n * band)
    np.testing.assert_array_equal(excess <= band + 1e-12, possible)


@pytest.mark.parametrize("diagonal_free", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_tighten_succeeds_exactly_where_a_linear_program_does(seed, diagonal_free):
    n, band = 5, 0.35  # |sum of 5 normals| is below 5 * 0.35 in about half of the rows
    C, V = _multiplier_problem(100 + seed, n, n)
    done = _excess(C, tighten(C, V, band, diagonal_free), diagonal_free) <= band + 1e-12
    expected = [_feasible(C[i], band, i, diagonal_free) for i in range(n)]
    np.testing.assert_array_equal(done, expected)


@pytest.mark.parametrize("diagonal_free", [False, True])
@unhurried
@given(seed=seeds, n=st.integers(2, 7), band=st.floats(0.05, 2))
def test_tighten_leaves_a_feasible_multiplier_alone(diagonal_free, seed, n, band):
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((n, n - 1))
    C = V @ dense_R(n).T + 0.99 * rng.uniform(-band, band, (n, n))
    if diagonal_free:
        C += np.diag(10 * rng.standard_normal(n))
    np.testing.assert_allclose(tighten(C, V, band, diagonal_free), V, atol=1e-12)


def test_tighten_keeps_its_arguments_and_float32():
    C, V = (A.astype(np.float32) for A in _multiplier_problem(7, 5, 5))
    C.setflags(write=False)
    V.setflags(write=False)
    assert tighten(C, V, 0.3, True).dtype == np.float32


@pytest.mark.parametrize("seed", [31, 32])
def test_tightening_mends_a_disturbed_multiplier(seed):
    """One entry outside the ball of the l1 norm ruins the plain scaling; clipping costs next to nothing."""
    p = planted("osc", 5, seed)
    V = p.V.copy()
    V[2, 1] += 0.05  # column 1 is shorter than its ball, so V stays feasible there
    plain = scaled_bound(p.model, p.X, p.E, V)
    assert plain < 0.9 * p.minimum
    assert p.model.lower_bound(p.X, p.E, V) == pytest.approx(p.minimum, rel=1e-9)


@pytest.mark.parametrize("make", [Osc, SpatSc])
def test_tightening_knows_that_a_fixed_diagonal_is_free(make):
    X = two_subspaces(WIDE, 33)
    model = make(0.1, 1.0, zero_diagonal=True)
    E, V = 0.5 * X, np.zeros((WIDE[1], WIDE[1] - 1))
    free, bound = (scaled_bound(model, X, E, tighten(X.T @ E, V, 0.1, fixed)) for fixed in (True, False))
    assert free > 1.5 * max(bound, scaled_bound(model, X, E, V))  # or this shows nothing
    assert model.lower_bound(X, E, V) >= free


def test_columns_are_scaled_apart_without_a_coupling():
    """One bad column costs only its own part of the bound."""
    X = two_subspaces(WIDE, 23)
    E = X.copy()
    E[:, 0] *= 50
    assert scaled_bound(Ssc(0.1), X, E, None) == pytest.approx(scaled_bound(Ssc(0.1), X, X, None))
    assert scaled_bound(Lrr(0.1), X, E, None) < scaled_bound(Lrr(0.1), X, X, None)


def test_a_graph_without_edges_still_has_a_bound():
    X = two_subspaces(WIDE, 24)
    model = GraphRegularised(0.2, 0.5, np.zeros((WIDE[1], WIDE[1])))
    alone = Lrr(0.2).lower_bound(X, 0.1 * X)
    assert model.lower_bound(X, 0.1 * X, np.zeros((WIDE[1], 0))) == pytest.approx(alone, rel=1e-9)


def _scales_step_by_step(lengths, largest, lam1, lam2):
    """Scales of V's columns and of E's, by the definition: as large as lam2 and both neighbours allow."""
    tau = np.minimum(1, lam2 / np.maximum(lengths, 1e-300))
    for order in (range(1, len(tau)), range(len(tau) - 2, -1, -1)):
        for t in order:
            before = tau[t - order.step]
            tau[t] = min(tau[t], before + (1 - before) * lam1 / max(largest[t], 1e-300))
    return tau, np.minimum(tau, np.append(1, tau[:-1]))


@pytest.mark.parametrize("joins", [(), (4,)], ids=["one recording", "two recordings"])
@pytest.mark.parametrize("make", [Osc, SpatSc])
@unhurried
@given(seed=seeds, excess=st.floats(1.01, 3), spread=st.floats(0.05, 5))
def test_a_scale_for_each_time_step_keeps_the_dual_point_feasible(make, joins, seed, excess, spread):
    """Any E and V whose ``X^T E - V R^T`` is within lam1, but whose columns of V are too long."""
    rng = np.random.default_rng(seed)
    X, E, R = rng.standard_normal((3, 9)), rng.standard_normal((3, 9)), dense_R(9, joins)
    V = spread * rng.standard_normal((9, R.shape[1]))
    lam1 = np.abs(X.T @ E - V @ R.T).max()
    norms = np.abs(V).max(axis=0) if make is SpatSc else np.linalg.norm(V, axis=0)
    model = make(lam1, norms.max() / excess, zero_diagonal=False, joins=joins)
    here = np.flatnonzero([t + 1 not in joins for t in range(8)])
    lengths, largest = np.zeros((2, 9))
    lengths[here], largest[here] = norms, np.abs(V).max(axis=0)
    tau, sigma = _scales_step_by_step(lengths, largest, lam1, model.lam2)

    scaled_E, scaled_V = sigma * E, tau[here] * V
    assert np.abs(X.T @ scaled_E - scaled_V @ R.T).max() <= lam1 * (1 + 1e-12)
    assert model.coupling.term.limit(scaled_V).min() >= 1 - 1e-12
    linear, quadratic = np.sum(E * X, axis=0), np.sum(E * E, axis=0) / 2
    bound = DualPoint(linear, quadratic, lengths, largest, lam1).bound(lam1, model.lam2)
    # both are the best multiple of a feasible point
    stepwise = parabola_top(np.sum(scaled_E * X), np.sum(scaled_E**2) / 2, np.array(1.0))
    assert bound == pytest.approx(max(stepwise, scaled_bound(model, X, E, V)), rel=1e-9, abs=1e-12)


def test_a_column_that_is_too_long_costs_its_neighbourhood_only():
    e, lengths = np.ones(100), np.full(100, 0.9)
    lengths[-1] = 0
    feasible = DualPoint(e, e / 2, lengths, lengths / 5, 0.1).bound(0.1, 1.0)
    lengths[50] = 1.1
    disturbed = DualPoint(e, e / 2, lengths, lengths / 5, 0.1).bound(0.1, 1.0)
    assert feasible == pytest.approx(50)
    # largest entries around 0.2 halve what the scales lack with every step: 1/11 in two rows, then 4/99, ...
    lost = [1 / 11, 1 / 11, 4 / 99, 4 / 99]
    assert 50 - 2 * np.sum(np.square(lost)) < disturbed < 50 - np.sum(np.square(lost)) / 2


@pytest.mark.parametrize("make", [Osc, SpatSc])
@pytest.mark.parametrize("joins", [(), (5,)], ids=["one recording", "two recordings"])
@pytest.mark.parametrize("seed", range(3))
def test_no_dual_point_proves_more_than_the_minimum(make, joins, seed):
    rng = np.random.default_rng(seed)
    X = two_subspaces((4, 11), seed)
    model = make(0.1, 0.3, zero_diagonal=False, joins=joins)
    lowest = minimum(model, X)
    for size in (0.01, 0.1, 1.0):
        E = 0.2 * X + size * rng.standard_normal(X.shape)
        V = size * rng.standard_normal((11, 10 - len(joins)))
        assert model.lower_bound(X, E, V) <= lowest * (1 + 1e-6)  # the oracle's own tolerance
