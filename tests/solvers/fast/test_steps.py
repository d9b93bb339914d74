"""Penalties on the way to a tight gap: which time steps weigh more, and what it saves."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.common import paper_problem
from tests.problems import two_subspaces

from seqspan._core.threads import Team
from seqspan.models import Osc, SpatSc
from seqspan.solvers import Stopping
from seqspan.solvers.fast import solver
from seqspan.solvers.fast.reduced import reduce
from seqspan.solvers.fast.solver import solve_fast
from seqspan.solvers.fast.steps import advance, advance_weighted
from seqspan.solvers.fast.sweeps import Sweeps


def advanced(model, n_iterations, gap):
    """Sweeps and a state after some iterations, the last one with a given gap."""
    X = two_subspaces((6, 37), seed=3, noise=0.2)
    with Team(1) as team:
        sweeps = Sweeps(model, reduce(X, float), team)
        state = sweeps.zero_state(10.0, 15.0)
        for _ in range(n_iterations - 1):
            advance_weighted(sweeps, state)
        assert state.weights is None  # the gap is not known to be moderate
        state.gap = gap
        advance_weighted(sweeps, state)
    return sweeps, state


def test_jumps_that_nearly_vanish_weigh_more():
    sweeps, state = advanced(Osc(0.1, 0.5), 40, gap=1e-3)
    by_length = state.weights[np.argsort(sweeps.jumps(state)[:-1])]
    assert np.all(np.diff(by_length) <= 1e-12)
    assert by_length[0] > 2 * by_length[-1]
    assert np.log(state.weights).mean() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("model", "n_iterations", "gap"),
    [(Osc(0.1, 0.5), 40, 1e-2), (Osc(0.1, 0.5), 39, 1e-3), (SpatSc(0.1, 1.0), 40, 1e-3)],
    ids=["a large gap", "another iteration", "entries, not columns"],
)
def test_otherwise_all_time_steps_weigh_the_same(model, n_iterations, gap):
    assert advanced(model, n_iterations, gap)[1].weights is None


@pytest.mark.parametrize(
    ("model", "gap", "expected"),
    [(Osc(0.1, 0.5), 1e-3, 0.09), (Osc(0.1, 0.5), 1e-2, 0.08), (SpatSc(0.1, 1.0), 1e-3, 0.08)],
    ids=["a moderate gap", "a large gap", "entries, not columns"],
)
def test_columns_that_were_too_long_are_shortened_from_a_moderate_gap_on(model, gap, expected):
    with Team(1) as team:
        sweeps = Sweeps(model, reduce(two_subspaces((6, 37), seed=3), float), team)
        state = sweeps.zero_state(10.0, 15.0)
        state.gap, state.shortened, state.excess = gap, np.full(37, 0.08), np.full(37, 0.05)
        advance_weighted(sweeps, state)
        np.testing.assert_allclose(state.shortened, expected)
        for _ in range(10):  # without another certificate nothing more is known
            advance_weighted(sweeps, state)
        np.testing.assert_allclose(state.shortened, expected)


@pytest.mark.parametrize(("n", "ratio"), [(100, 0.1), (500, 0.1), (1000, 0.05), (10_000, 0.025)])
def test_the_dual_side_is_preferred_the_more_atoms_there_are(n, ratio, monkeypatch):
    asked = []
    monkeypatch.setattr("seqspan.solvers.fast.steps.advance", lambda sweeps, s, *target: asked.extend(target))
    sweeps = SimpleNamespace(entrywise=False, n_atoms=n)
    state = SimpleNamespace(gap=1e-3, iteration=1, excess=None)
    advance_weighted(sweeps, state)
    assert asked == [pytest.approx(ratio)]


def test_weights_save_a_fifth_of_the_iterations_to_a_tight_gap(monkeypatch):
    X, stopping = paper_problem(100), Stopping(1e-6, 1000)
    after = solve_fast(Osc(0.1, 1.0), X, stopping=stopping, n_jobs=1)
    assert after.state.weights is not None
    monkeypatch.setattr(solver, "advance_weighted", advance)
    before = solve_fast(Osc(0.1, 1.0), X, stopping=stopping, n_jobs=1)
    assert after.n_iter <= 0.8 * before.n_iter
    assert after.objective == pytest.approx(before.objective, rel=2e-6)


def test_another_model_starts_without_weights():
    """They belong to the jumps of the model that the state is from."""
    X = two_subspaces((6, 37), seed=3, noise=0.2)
    first = solve_fast(Osc(0.1, 0.5), X, stopping=Stopping(1e-6, 5000), n_jobs=1)
    assert first.state.weights is not None
    assert first.state.shortened is not None
    fresh = solve_fast(Osc(0.1, 0.6), X, stopping=Stopping(1e-6, 5000), n_jobs=1)
    again = solve_fast(Osc(0.1, 0.6), X, stopping=Stopping(0.5), start=first.state, n_jobs=1)
    assert again.state.weights is None
    assert again.state.shortened is None
    assert fresh.objective <= again.objective <= 1.5 * fresh.objective
