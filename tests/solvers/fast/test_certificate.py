"""Means over runs and scales of time steps: what they are, that they are proofs, and what they save."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from benchmarks.common import paper_problem
from benchmarks.one_scale import certify_with_one_scale
from tests.oracles import dense_R, minimum
from tests.problems import two_subspaces

from seqspan._core.threads import Team
from seqspan.models import Osc, SpatSc
from seqspan.models.certificate import tighten
from seqspan.solvers import Stopping
from seqspan.solvers.fast import certificate, solver
from seqspan.solvers.fast import sweeps as sweeps_module
from seqspan.solvers.fast.certificate import certify
from seqspan.solvers.fast.reduced import reduce
from seqspan.solvers.fast.solver import solve_fast
from seqspan.solvers.fast.steps import advance_weighted
from seqspan.solvers.fast.sweeps import Sweeps

BANDS = np.array([0.1, 0.12, 1e3])


@pytest.fixture(autouse=True)
def _narrow_blocks(monkeypatch):
    """Several blocks, the last of them padded, and parts of time."""
    monkeypatch.setattr(sweeps_module, "BLOCK_WIDTH", 16)
    monkeypatch.setattr(sweeps_module, "PART_ENTRIES", 128)
    monkeypatch.setattr(sweeps_module, "MIN_ENTRIES", 128)


def advanced(model, X, n_iterations=30, n_jobs=1):
    """Sweeps and a state after some iterations."""
    with Team(n_jobs) as team:
        sweeps = Sweeps(model, reduce(X, X.dtype), team)
        state = sweeps.zero_state(10.0, 15.0)
        for _ in range(n_iterations):
            advance_weighted(sweeps, state)
    return sweeps, state


@pytest.mark.parametrize("dtype", [float, np.float32])
@pytest.mark.parametrize("joins", [(), (7, 20)], ids=["one recording", "three recordings"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_means_over_runs_are_certified_and_returned(joins, dtype, n_jobs):
    X = two_subspaces((6, 37), seed=3, noise=0.05).astype(dtype)
    model = Osc(0.1, 0.5, joins=joins)
    sweeps, state = advanced(model, X, n_jobs=n_jobs)
    with Team(n_jobs) as sweeps.team:
        Z = sweeps.coefficients(state)
        objective, _ = certify(sweeps, state)
        means = sweeps.coefficients(state)
    assert state.averaged
    edges = [0, *(t + 1 for t in range(36) if sweeps.jumps(state)[t] > 0 or t + 1 in joins), 37]
    assert 1 < len(edges) - 1 < 30  # or this shows nothing
    for first, after in pairwise(edges):
        mean = np.broadcast_to(Z[:, first:after].mean(axis=1, keepdims=True), (37, after - first))
        np.testing.assert_allclose(means[:, first:after], mean, atol=1e-6 if dtype == np.float32 else 1e-14)
    assert objective == pytest.approx(model.value(X, means), rel=1e-5 if dtype == np.float32 else 1e-11)
    assert objective < model.value(X, Z)


@pytest.mark.parametrize("model", [Osc(0.1, 0.5, zero_diagonal=True), SpatSc(0.1, 0.05, False)], ids=str)
def test_a_fixed_diagonal_and_single_entries_are_not_averaged(model):
    X = two_subspaces((6, 37), seed=3, noise=0.05)
    sweeps, state = advanced(model, X)
    with Team(1) as sweeps.team:
        objective, _ = certify(sweeps, state)
        Z = sweeps.coefficients(state)
    assert not state.averaged
    assert objective == pytest.approx(model.value(X, Z), rel=1e-11)


def test_without_a_jump_the_mean_of_all_counts():
    """Without any iteration J is zero, so the mean over everything would be the only one."""
    X = two_subspaces((6, 37), seed=3)
    model = Osc(0.1, 0.01)
    with Team(1) as team:
        sweeps = Sweeps(model, reduce(X, float), team)
        state = sweeps.zero_state(10.0, 15.0)
        state.V[0, :, :4] = np.random.default_rng(0).standard_normal((37, 4))
        Z = sweeps.coefficients(state)
        objective, _ = certify(sweeps, state)
    everywhere = np.broadcast_to(Z.mean(axis=1, keepdims=True), Z.shape)
    assert model.value(X, everywhere) < model.value(X, Z)
    assert state.averaged
    assert objective == pytest.approx(model.value(X, everywhere), rel=1e-11)


def test_means_that_are_worse_do_not_count():
    """Every sample represents itself, and the mean of all represents none."""
    X = 100 * two_subspaces((6, 37), seed=3)
    model = Osc(0.1, 0.01)
    with Team(1) as team:
        sweeps = Sweeps(model, reduce(X, float), team)
        state = sweeps.zero_state(10.0, 15.0)
        for t in range(37):
            state.V[t // 16, t, t % 16] = 1.0
        Z = sweeps.coefficients(state)
        objective, _ = certify(sweeps, state)
    np.testing.assert_allclose(Z, np.diag(np.diag(Z)))
    everywhere = np.broadcast_to(Z.mean(axis=1, keepdims=True), Z.shape)
    assert model.value(X, everywhere) > model.value(X, Z)
    assert not state.averaged
    assert objective == pytest.approx(model.value(X, Z), rel=1e-11)


def residual(sweeps, state):
    """``U^T (X - XS)`` of all time steps, transposed."""
    return np.concatenate([E for _, E in sweeps.data.residuals(state.fitted)])


@pytest.mark.parametrize(
    "model", [Osc(0.1, 0.5), Osc(0.1, 0.5, zero_diagonal=True), SpatSc(0.1, 0.05)], ids=str
)
def test_lengths_and_largest_entries_are_those_of_the_twin(model):
    X = two_subspaces((6, 37), seed=4, noise=0.1)
    sweeps, state = advanced(model, X, 12)
    with Team(1) as sweeps.team:
        E = residual(sweeps, state)
        squares, largest, worst, P = sweeps.tighten(state, E * sweeps.data.sigma, BANDS, project=True)
        assert sweeps.tighten(state, E * sweeps.data.sigma, BANDS)[3].size == 0
        b = np.vstack([sweeps.split(state, block)[3].T for block in range(sweeps.n_blocks)])[:37, :-1]
    C = sweeps.data.Q @ (E * sweeps.data.sigma).T
    for j, band in enumerate(BANDS):
        V = tighten(C, state.r2 * b, band, model.zero_diagonal)
        M = np.abs(C - V @ dense_R(37).T)
        if model.zero_diagonal:
            np.fill_diagonal(M, 0)
        np.testing.assert_allclose(squares[j, :-1], np.sum(V**2, axis=0), rtol=1e-9)
        np.testing.assert_allclose(largest[j, :-1], np.abs(V).max(axis=0), rtol=1e-9)
        assert worst[j] == pytest.approx(M.max(), rel=1e-9)
        if j == 0:
            np.testing.assert_allclose(P[:-1], V.T @ sweeps.data.Q, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(P[-1], 0, atol=1e-12)


@pytest.mark.parametrize("model", [Osc(0.1, 0.5), SpatSc(0.1, 0.05), Osc(0.1, 0.5, joins=(6,))], ids=str)
def test_the_bound_is_better_than_with_one_scale_and_still_a_bound(model):
    X = two_subspaces((5, 18), seed=10, noise=0.1)
    lowest = minimum(model, X)
    for n_iterations in (5, 15, 40, 100):
        sweeps, state = advanced(model, X, n_iterations)
        with Team(1) as sweeps.team:
            state.gap = 1.0  # the bands depend on it
            plain = certify_with_one_scale(sweeps, state)
            state.gap = 1.0
            value, bound = certify(sweeps, state)
        assert plain[1] - 1e-12 <= bound <= lowest * (1 + 1e-7)  # the oracle's own tolerance
        assert lowest * (1 - 1e-7) <= value <= plain[0] + 1e-12


def shorten_plainly(data, E, V, lam2):
    """Columns of V that are longer than lam2, shortened by X^T G; returns E, V and G.

    The shortest root of ``||v - step X^T X v|| = lam2``, or the step that makes the column shortest.
    """
    X = (data.Q * data.sigma).T
    G = np.zeros_like(E.T)
    for t, v in enumerate(V.T):
        if np.linalg.norm(v) > lam2:
            slope, curvature = np.sum((X @ v) ** 2), np.sum((X.T @ X @ v) ** 2)
            roots = np.roots([curvature, -2 * slope, v @ v - lam2**2])
            step = roots.min() if np.isreal(roots).all() else slope / curvature
            G[:, t] = step * (X @ v)
    return E.T + G - np.column_stack([np.zeros(len(G)), G[:, :-1]]), V - X.T @ G[:, :-1], G


SHORTENED = [Osc(0.1, 0.5), Osc(0.1, 0.05), Osc(0.1, 0.5, zero_diagonal=True), Osc(0.1, 0.5, joins=(7, 20))]


@pytest.mark.parametrize("model", SHORTENED, ids=str)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_column_that_is_too_long_is_shortened_at_the_cost_of_the_residual(model, n_jobs, monkeypatch):
    """And what the l1 norm's ball bounds does not change."""
    X = two_subspaces((6, 37), seed=4, noise=0.1)
    sweeps, state = advanced(model, X, 12, n_jobs)
    points, original = [], certificate.DualPoint
    monkeypatch.setattr(
        certificate, "DualPoint", lambda *given: points.append(original(*given)) or points[-1]
    )
    with Team(n_jobs) as sweeps.team:
        state.gap = 1e-3
        E = residual(sweeps, state)
        certify(sweeps, state)
        b = np.vstack([sweeps.split(state, block)[3].T for block in range(sweeps.n_blocks)])[:37]
    plain, shortened = points
    C = sweeps.data.Q @ (E * sweeps.data.sigma).T
    coupled = np.setdiff1d(np.arange(36), np.array(model.joins, dtype=int) - 1)
    V = np.zeros((37, 36))
    V[:, coupled] = tighten(C, state.r2 * b[:, coupled], model.lam1, model.zero_diagonal, model.joins)
    E_moved, V_moved, G = shorten_plainly(sweeps.data, E, V, model.lam2)
    moved = np.linalg.norm(G, axis=0) > 0
    assert 0 < np.count_nonzero(moved) < 36  # or this shows nothing
    C_moved = sweeps.data.Q @ (E_moved.T * sweeps.data.sigma).T
    np.testing.assert_allclose(C_moved - V_moved @ dense_R(37).T, C - V @ dense_R(37).T, atol=1e-12)
    np.testing.assert_allclose(shortened.linear, np.sum(E_moved.T * sweeps.data.Y, axis=1), atol=1e-10)
    np.testing.assert_allclose(shortened.quadratic, np.sum(E_moved**2, axis=0) / 2, atol=1e-10)
    np.testing.assert_allclose(shortened.lengths[:-1], np.linalg.norm(V_moved, axis=0), atol=1e-7)
    assert np.all(shortened.largest[:-1] >= np.abs(V_moved).max(axis=0) - 1e-12)
    atoms = np.linalg.norm(sweeps.data.Q * sweeps.data.sigma, axis=1)
    bounds = plain.largest + np.linalg.norm(G, axis=0) * atoms.max()
    np.testing.assert_allclose(shortened.largest, bounds, rtol=1e-7)
    assert shortened.lengths.max() < plain.lengths.max()


@pytest.mark.parametrize("dtype", [float, np.float32])
@pytest.mark.parametrize("model", [Osc(0.1, 0.5), Osc(0.1, 0.5, joins=(6,)), Osc(0.1, 0.5, True)], ids=str)
def test_however_far_from_the_minimum_the_bound_with_shortened_columns_holds(model, dtype):
    X = two_subspaces((5, 18), seed=11, noise=0.1).astype(dtype)
    lowest = minimum(model, X.astype(float))
    for n_iterations in (1, 5, 15, 40, 100):
        sweeps, state = advanced(model, X, n_iterations)
        state.gap = 1e-3
        with Team(1) as sweeps.team:
            bound = certify(sweeps, state)[1]
        assert bound <= lowest * (1 + (1e-7 if dtype is float else 1e-6))  # the oracle's tolerance, rounding


def test_shortened_columns_prove_more(monkeypatch):
    """Most of the bound's distance from the minimum was in columns that were too long."""
    X, model = paper_problem(100, 0.2), Osc(0.1, 1.0)
    best = solve_fast(model, X, stopping=Stopping(1e-8, 5000), n_jobs=1).objective
    sweeps, state = advanced(model, X, 100)
    points, original = [], certificate.DualPoint
    monkeypatch.setattr(
        certificate, "DualPoint", lambda *given: points.append(original(*given)) or points[-1]
    )
    with Team(1) as sweeps.team:
        state.gap = 1e-3
        certify(sweeps, state)
    plain, shortened = (best - point.bound(model.lam1, model.lam2) for point in points)
    assert shortened < 0.6 * plain


@pytest.mark.parametrize(
    ("model", "gap", "n_bands", "n_points"),
    [
        (Osc(0.1, 0.5), 0.5, 4, 4),
        (Osc(0.1, 0.5), 0.06, 3, 3),
        (Osc(0.1, 0.5), 1e-3, 1, 2),
        (SpatSc(0.1, 0.05), 1e-3, 3, 3),
    ],
)
def test_close_to_the_minimum_one_band_is_enough(model, gap, n_bands, n_points, monkeypatch):
    sweeps, state = advanced(model, two_subspaces((6, 37), seed=4, noise=0.1), 12)
    tried, points, original, point = [], [], sweeps.tighten, certificate.DualPoint

    def tighten_and_note(s, scaled, bands, *, project=False):
        tried.append(bands)
        return original(s, scaled, bands, project=project)

    monkeypatch.setattr(sweeps, "tighten", tighten_and_note)
    monkeypatch.setattr(certificate, "DualPoint", lambda *given: points.append(given) or point(*given))
    state.gap = gap
    with Team(1) as sweeps.team:
        certify(sweeps, state)
    widths = [0.1, 0.1 * (1 + gap / 6), 0.1 * (1 + gap / 2)]
    np.testing.assert_allclose(tried[0][:3], widths[:n_bands])
    assert len(tried[0]) == n_bands
    assert len(points) == n_points
    if n_bands == 4:
        assert tried[0][-1] > 1e6  # as good as none


def test_a_third_of_the_iterations_to_a_tight_gap_is_saved(monkeypatch):
    """And the objective is the same: the certificate changes what is proved, not what is computed."""
    X, stopping = paper_problem(100), Stopping(1e-4, 1000)
    after = solve_fast(Osc(0.1, 1.0), X, stopping=stopping, n_jobs=1)
    monkeypatch.setattr(solver, "certify", certify_with_one_scale)
    before = solve_fast(Osc(0.1, 1.0), X, stopping=stopping, n_jobs=1)
    assert 3 * after.n_iter <= 2 * before.n_iter
    assert after.objective == pytest.approx(before.objective, rel=2e-4)


def test_single_precision_hardly_loosens_what_is_clipped():
    """What is ahead of a step may be as large as a sum over all steps; it is added up in double precision."""
    X = paper_problem(500).astype(np.float32)
    sweeps, state = advanced(Osc(0.1, 1.0), X, 60)
    with Team(1) as sweeps.team:
        scaled = residual(sweeps, state) * sweeps.data.sigma
        worst = sweeps.tighten(state, scaled.astype(np.float32), np.array([0.1], np.float32))[2]
    assert worst[0] <= 0.1 * (1 + 5e-5)  # 1.3e-5, and 1.7e-4 if it were added up in single precision
