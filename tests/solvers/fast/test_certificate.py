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
from seqspan.solvers.fast import solver
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
        squares, largest, worst = sweeps.tighten(state, E * sweeps.data.sigma, BANDS)
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


@pytest.mark.parametrize("model", [Osc(0.1, 0.5), Osc(0.1, 0.5, joins=(6,)), SpatSc(0.1, 0.05)], ids=str)
def test_however_columns_are_shortened_the_bound_holds(model):
    X = two_subspaces((5, 18), seed=11, noise=0.1)
    lowest = minimum(model, X)
    sweeps, state = advanced(model, X, 60)
    bounds = []
    with Team(1) as sweeps.team:
        for seed, size in enumerate((0.0, 0.01, 0.2)):
            state.shortened = size * np.random.default_rng(seed).random(18)
            bounds.append(certify(sweeps, state)[1])
            assert state.excess.shape == (18,)
            assert np.all(state.excess >= 0)
            scaled = residual(sweeps, state) * sweeps.data.sigma
            squares, _, _ = sweeps.tighten(state, scaled, np.full(4, 0.1))
            np.testing.assert_array_equal(squares[::2], squares[1::2])
            assert np.any(squares[2] < squares[0]) == (size > 0)
    assert max(bounds) <= lowest * (1 + 1e-7)  # the oracle's own tolerance


@pytest.mark.parametrize("shortened", [0.0, 0.1])
def test_the_excess_is_by_how_much_columns_are_too_long_and_decays_in_time(shortened):
    X = two_subspaces((6, 37), seed=4, noise=0.1)
    model = Osc(0.1, 0.05)
    sweeps, state = advanced(model, X, 12)
    state.shortened = np.full(37, shortened) if shortened else None
    with Team(1) as sweeps.team:
        value, bound = certify(sweeps, state)
        E = residual(sweeps, state)
        b = np.vstack([sweeps.split(state, block)[3].T for block in range(sweeps.n_blocks)])[:37, :-1]
    assert state.gap == pytest.approx((value - bound) / value)
    V = tighten(sweeps.data.Q @ (E * sweeps.data.sigma).T, (1 - shortened) * state.r2 * b, model.lam1, False)
    excess = np.maximum(np.append(np.linalg.norm(V, axis=0), 0) / model.lam2 - 1, 0)
    assert 0 < np.count_nonzero(excess) < 36  # or this shows nothing
    away = np.abs(np.arange(37)[:, None] - np.arange(37))
    np.testing.assert_allclose(state.excess, (excess * 0.7**away).max(axis=1), atol=1e-12)


def test_every_band_is_tried_with_columns_of_either_length(monkeypatch):
    X = two_subspaces((6, 37), seed=4, noise=0.1)
    sweeps, state = advanced(Osc(0.1, 0.5), X, 12)
    tried, original = [], sweeps.tighten
    monkeypatch.setattr(
        sweeps, "tighten", lambda s, scaled, bands: tried.append(bands) or original(s, scaled, bands)
    )
    with Team(1) as sweeps.team:
        for state.gap, state.shortened in ((0.06, None), (0.06, np.full(37, 0.1)), (0.5, None)):
            certify(sweeps, state)
    np.testing.assert_allclose(tried[0], [0.1, 0.101, 0.103])
    np.testing.assert_allclose(tried[1], [0.1, 0.101, 0.1, 0.101])
    assert len(tried[2]) == 4
    assert tried[2][-1] > 1e6  # as good as none


def test_a_third_of_the_iterations_to_a_tight_gap_is_saved(monkeypatch):
    """And the objective is the same: the certificate changes what is proved, not what is computed."""
    X, stopping = paper_problem(100), Stopping(1e-4, 1000)
    after = solve_fast(Osc(0.1, 1.0), X, stopping=stopping, n_jobs=1)
    monkeypatch.setattr(solver, "certify", certify_with_one_scale)
    before = solve_fast(Osc(0.1, 1.0), X, stopping=stopping, n_jobs=1)
    assert 3 * after.n_iter <= 2 * before.n_iter
    assert after.objective == pytest.approx(before.objective, rel=2e-4)
