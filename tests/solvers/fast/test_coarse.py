from __future__ import annotations

import numpy as np
import pytest
from tests.problems import two_subspaces

from seqspan._core.threads import Team
from seqspan.datasets import make_motion
from seqspan.models import Osc, SpatSc
from seqspan.solvers import Stopping
from seqspan.solvers.fast import solver as fast_module
from seqspan.solvers.fast import sweeps as sweeps_module
from seqspan.solvers.fast.certificate import certify
from seqspan.solvers.fast.coarse import coarsen, halve, prolong
from seqspan.solvers.fast.reduced import reduce
from seqspan.solvers.fast.solver import solve_fast
from seqspan.solvers.fast.sweeps import Sweeps

MODELS = [Osc(0.1, 0.5), SpatSc(0.1, 0.05, zero_diagonal=False)]


@pytest.fixture(autouse=True)
def _narrow_blocks(monkeypatch):
    monkeypatch.setattr(sweeps_module, "BLOCK_WIDTH", 16)


def test_halving_averages_pairs_and_keeps_an_odd_last_sample():
    X = np.arange(10.0).reshape(2, 5)
    np.testing.assert_allclose(halve(X), [[0.5, 2.5, 4], [5.5, 7.5, 9]])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_twins_have_the_prolonged_optimum(model):
    """Where neighbours are equal the coarse problem is exact: its solution is optimal twice as fine."""
    X = np.repeat(two_subspaces((6, 20), seed=1), 2, axis=1)
    with Team(1) as team:
        solution = solve_fast(coarsen(model), halve(X), stopping=Stopping(1e-6, 20_000), n_jobs=1)
        coarse = Sweeps(coarsen(model), reduce(halve(X), float), team)
        fine = Sweeps(model, reduce(X, float), team)
        state = prolong(coarse, solution.state, fine)
        Z = fine.coefficients(state)
        assert model.value(X, Z) == pytest.approx(2 * solution.objective, rel=1e-9)
        fine.iterate(state)  # the bound needs the fit of one iteration
        objective, bound = certify(fine, state)
    assert (objective - bound) / objective < 1e-3


@pytest.mark.parametrize("n", [38, 37])
@pytest.mark.parametrize("zero_diagonal", [False, True])
def test_how_many_steps_are_carried_over_at_once_does_not_matter(n, zero_diagonal, monkeypatch):
    X = two_subspaces((6, n), seed=n)
    model = Osc(0.1, 0.5, zero_diagonal, joins=(9,))
    states = []
    with Team(1) as team:
        data = reduce(halve(X, model.joins), float)
        coarse = Sweeps(coarsen(model), data, team)
        state = coarse.zero_state(2.0, 5.0)
        for _ in range(10):
            coarse.iterate(state)
        for entries in (10_000, 100):
            monkeypatch.setattr(sweeps_module, "MIN_ENTRIES", entries)
            coarse = Sweeps(coarsen(model), data, team)
            states.append(prolong(coarse, state, Sweeps(model, reduce(X, float), team)))
    assert coarse.n_windows > 1
    np.testing.assert_array_equal(states[0].V, states[1].V)
    np.testing.assert_array_equal(states[0].U, states[1].U)


@pytest.mark.parametrize("n", [38, 37])
@pytest.mark.parametrize("zero_diagonal", [False, True])
def test_prolonged_states_are_consistent(n, zero_diagonal):
    X = two_subspaces((6, n), seed=n)
    model = Osc(0.1, 0.5, zero_diagonal)
    with Team(1) as team:
        coarse = Sweeps(coarsen(model), reduce(halve(X), float), team)
        state = coarse.zero_state(2.0, 5.0)
        for _ in range(10):
            coarse.iterate(state)
        fine = Sweeps(model, reduce(X, float), team)
        prolonged = prolong(coarse, state, fine)
    assert np.all(prolonged.U[:, -1] == 0)
    assert np.all(prolonged.V[-1, :, n - 32 :] == 0)  # the padding of the third block of 16 atoms
    np.testing.assert_allclose(prolonged.norms, np.sum(prolonged.U**2, axis=(0, 2)))
    Z, Z_coarse = fine.coefficients(prolonged), coarse.coefficients(state)
    shared = Z_coarse[np.ix_(np.arange(n) // 2, np.arange(n) // 2)] / 2
    off = ~np.eye(n, dtype=bool) | (not zero_diagonal)
    np.testing.assert_allclose(Z[off], shared[off], atol=1e-12)


def test_a_coarse_start_saves_iterations_and_changes_no_answer(monkeypatch):
    monkeypatch.setattr(sweeps_module, "BLOCK_WIDTH", 128)
    X = make_motion(2000, rng=0)[0].astype(np.float32)
    X /= np.linalg.norm(X, axis=0)
    model, stopping = Osc(0.1, 1.0), Stopping(1e-2, 500)
    started = solve_fast(model, X, stopping=stopping)
    monkeypatch.setattr(fast_module, "MIN_COARSE_SAMPLES", 10_000)
    direct = solve_fast(model, X, stopping=stopping)
    assert started.n_iter < direct.n_iter
    assert started.objective == pytest.approx(direct.objective, rel=1e-2)
