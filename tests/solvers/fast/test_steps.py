"""Penalties on the way to a tight gap: which time steps weigh more, and what it saves."""

from __future__ import annotations

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
    fresh = solve_fast(Osc(0.1, 0.6), X, stopping=Stopping(1e-6, 5000), n_jobs=1)
    again = solve_fast(Osc(0.1, 0.6), X, stopping=Stopping(0.5), start=first.state, n_jobs=1)
    assert again.state.weights is None
    assert fresh.objective <= again.objective <= 1.5 * fresh.objective
