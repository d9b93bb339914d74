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
from seqspan.solvers.fast import solver, steps
from seqspan.solvers.fast.reduced import reduce
from seqspan.solvers.fast.solver import solve_fast
from seqspan.solvers.fast.steps import (
    _adapt_penalties,
    _penalty_factor,
    _weigh_steps,
    advance,
    advance_weighted,
)
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
    ("residuals", "factor"),
    [
        ((9.0, 1.0, 1.0, 1.0), np.sqrt(3)),  # relative residuals of 3 and 1, and the ratio wanted is 1
        ((1.0, 9.0, 1.0, 1.0), np.sqrt(1 / 3)),
        ((1.0, 1.0, 9.0, 1.0), np.sqrt(1 / 3)),
        ((1.0, 1.0, 1.0, 9.0), np.sqrt(3)),
        ((1e6, 1.0, 1.0, 1.0), 2.0),  # no step is larger than that
        ((1.0, 1.0, 1e6, 1.0), 0.5),
        ((1.9, 1.0, 1.0, 1.0), 1.0),  # not worth a pass over the state
        ((0.0, 1.0, 1.0, 1.0), 1.0),
        ((1.0, 0.0, 1.0, 1.0), 1.0),
        ((1.0, 1.0, 0.0, 1.0), 1.0),
        ((1.0, 1.0, 1.0, 0.0), 1.0),
    ],
)
def test_penalties_move_by_the_root_of_the_imbalance_of_residuals(residuals, factor, monkeypatch):
    """Squares of: primal residual, its scale, dual residual, its scale."""
    monkeypatch.setattr(steps, "TARGET_RESIDUAL_RATIO", 1.0)
    assert _penalty_factor(*residuals) == pytest.approx(factor)
    if factor not in (0.5, 1.0, 2.0):
        monkeypatch.setattr(steps, "TARGET_RESIDUAL_RATIO", 0.9)
        assert _penalty_factor(*residuals) == pytest.approx(np.sqrt(0.9) * factor)


@pytest.fixture
def _equal_residuals(monkeypatch):
    """Relative residuals are wanted equal."""
    monkeypatch.setattr(steps, "TARGET_RESIDUAL_RATIO", 1.0)


def balance(residuals, r1=1.0, r2=1.0, dtype=np.float32):
    """Penalties after one update; the largest eigenvalue is 4."""
    rescaled = []
    sweeps = SimpleNamespace(
        dtype=np.dtype(dtype), eigenvalues=np.array([1.0, 4.0]), rescale=lambda s, *f: rescaled.append(f)
    )
    _adapt_penalties(sweeps, SimpleNamespace(r1=r1, r2=r2), np.array(residuals))
    return rescaled


@pytest.mark.usefixtures("_equal_residuals")
def test_each_penalty_follows_its_own_residuals():
    assert balance([1.0] * 8) == []
    assert balance([9.0, *[1.0] * 7]) == [(pytest.approx(np.sqrt(3)), 1.0)]
    assert balance([*[1.0] * 4, 9.0, *[1.0] * 3]) == [(1.0, pytest.approx(np.sqrt(3)))]


@pytest.mark.usefixtures("_equal_residuals")
def test_penalties_stay_where_rounding_does_not_outweigh_them():
    eps = float(np.finfo(np.float32).eps)
    down, up = [1.0, 1.0, 1e6, 1.0], [1e6, 1.0, 1.0, 1.0]
    least = 4 * eps  # of the first one, for eigenvalues up to 4
    assert balance([*down, *[1.0] * 4], r1=1.5 * least, r2=1e-9)[0][0] == pytest.approx(1 / 1.5)
    assert balance([*down, *[1.0] * 4], r1=0.5 * least, r2=1e-9) == []  # it does not grow for that
    growing, stable = 1e-3 / eps, 0.1 / eps  # of the second one over the first
    assert balance([*[1.0] * 4, *up], r2=0.4 * growing)[0][1] == pytest.approx(2)
    assert balance([*[1.0] * 4, *up], r2=growing / 1.5)[0][1] == pytest.approx(1.5)
    assert balance([*[1.0] * 4, *up], r2=2 * growing) == []
    assert balance([*down, *[1.0] * 4], r2=stable)[0] == (0.5, pytest.approx(0.5))


def test_penalties_are_balanced_every_fifth_iteration_up_to_a_last_one(monkeypatch):
    measured, adapted = [], []
    monkeypatch.setattr(
        "seqspan.solvers.fast.steps._adapt_penalties", lambda sweeps, s, given: adapted.append(given)
    )
    sweeps = SimpleNamespace(iterate=lambda s, measure: measured.append(measure) or s.iteration)
    state = SimpleNamespace(iteration=0)
    for _ in range(510):
        advance(sweeps, state)
    assert np.flatnonzero(measured).tolist() == list(range(4, 500, 5))
    assert adapted == list(range(5, 501, 5))


def test_weights_that_hardly_change_stay(monkeypatch):
    sweeps, state = advanced(Osc(0.1, 0.5), 40, gap=1e-3)
    weighed = []
    monkeypatch.setattr(sweeps, "weigh", lambda s, weights: weighed.append(weights))
    _weigh_steps(sweeps, state)
    assert weighed == []  # the jumps are those that the weights come from
    state.weights = state.weights * np.exp(0.5 * (-1.0) ** np.arange(37))
    _weigh_steps(sweeps, state)
    assert len(weighed) == 1


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
