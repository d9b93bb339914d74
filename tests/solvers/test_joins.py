"""Several recordings in one problem: the fast solver's shortcuts, where recordings meet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.problems import two_subspaces

from seqspan._core.scaling import scale_columns
from seqspan._core.spans import part_slices
from seqspan._core.threads import Team
from seqspan.datasets import make_motion
from seqspan.models import Osc, SpatSc
from seqspan.models.certificate import tighten
from seqspan.solvers import Stopping, solve_fast
from seqspan.solvers.fast import sweeps as sweeps_module
from seqspan.solvers.fast.coarse import coarsen, halve, prolong
from seqspan.solvers.fast.reduced import reduce
from seqspan.solvers.fast.sweeps import Sweeps

JOINS = (9, 10, 25)
MODELS = [Osc(0.1, 0.7), Osc(0.1, 0.7, True), SpatSc(0.1, 0.05), SpatSc(0.1, 0.05, False)]
EVERY_MODEL = pytest.mark.parametrize("model", [replace(model, joins=JOINS) for model in MODELS], ids=str)


@pytest.fixture
def _narrow_blocks(monkeypatch):
    monkeypatch.setattr(sweeps_module, "BLOCK_WIDTH", 16)


@pytest.mark.usefixtures("_narrow_blocks")
@EVERY_MODEL
def test_the_compiled_multiplier_is_the_plain_one(model):
    """Also where the free diagonal entry of an atom is in another recording."""
    X = two_subspaces((6, 37), seed=1)
    with Team(1) as team:
        sweeps = Sweeps(model, reduce(X, float), team)
        state = sweeps.zero_state(2.0, 5.0)
        for _ in range(15):
            sweeps.iterate(state)
        scaled = np.concatenate([E for _, E in sweeps.data.residuals(state.fitted)]) * sweeps.data.sigma
        bands = model.lam1 * np.array([1.0, 1.01, 1.1, 2.0])
        squares = sweeps.tighten(state, scaled, bands)[0]
        multipliers = np.hstack([state.r2 * sweeps.split(state, b)[3] for b in range(sweeps.n_blocks)])
    inside = [t for t in range(36) if t + 1 not in JOINS]
    V = multipliers[inside, :37].T
    for found, band in zip(squares, bands, strict=True):
        plain = tighten(sweeps.data.Q @ scaled.T, V, band, model.zero_diagonal, JOINS)
        np.testing.assert_allclose(found[inside], np.sum(plain**2, axis=0), atol=1e-12)


@pytest.mark.parametrize("model", [Osc(0.1, 0.1), SpatSc(0.1, 0.01, False)], ids=["osc", "spatsc"])
def test_on_given_atoms_recordings_are_independent(model):
    """Long enough to start from pairwise means, of recordings of odd and even lengths."""
    X = scale_columns(make_motion(1300, 12, rng=1)[0])
    joins = (401, 900, 901)
    D, stopping = X[:, ::60], Stopping(1e-5, 20_000)
    together = solve_fast(replace(model, joins=joins), X, dictionary=D, stopping=stopping)
    alone = [
        solve_fast(model, X[:, part], dictionary=D, stopping=stopping) for part in part_slices(joins, 1300)
    ]
    assert together.objective == pytest.approx(sum(each.objective for each in alone), rel=2e-5)


def test_a_coarse_start_saves_iterations(monkeypatch):
    X = scale_columns(make_motion(1300, 12, rng=2)[0])
    model, stopping = Osc(0.1, 1.0, joins=(400, 901)), Stopping(1e-2, 1000)
    started = solve_fast(model, X, stopping=stopping)
    monkeypatch.setattr("seqspan.solvers.fast.solver.MIN_COARSE_SAMPLES", 10_000)
    direct = solve_fast(model, X, stopping=stopping)
    assert started.n_iter < direct.n_iter
    assert started.objective == pytest.approx(direct.objective, rel=1e-2)


def test_pairs_have_samples_of_one_recording():
    X = np.arange(7.0)[None]
    np.testing.assert_allclose(halve(X, (3,)), [[0.5, 2, 3.5, 5.5]])
    assert coarsen(Osc(0.1, 1.0, joins=(3, 4))).joins == (2, 3)


@pytest.mark.usefixtures("_narrow_blocks")
def test_prolonged_states_are_consistent():
    X, model = two_subspaces((6, 37), seed=4), Osc(0.1, 0.5, joins=JOINS)
    with Team(1) as team:
        coarse = Sweeps(coarsen(model), reduce(halve(X, JOINS), float), team)
        state = coarse.zero_state(2.0, 5.0)
        for _ in range(10):
            coarse.iterate(state)
        prolonged = prolong(coarse, state, Sweeps(model, reduce(X, float), team))
        Z, Z_coarse = (
            Sweeps(model, reduce(X, float), team).coefficients(prolonged),
            coarse.coefficients(state),
        )
    assert np.all(prolonged.U[:, [8, 9, 24, 36]] == 0)
    np.testing.assert_allclose(prolonged.norms, np.sum(prolonged.U**2, axis=(0, 2)))
    pairs = np.repeat(np.arange(20), [2, 2, 2, 2, 1, 1, *[2] * 7, 1, *[2] * 6])
    np.testing.assert_allclose(Z[0], Z_coarse[0, pairs] / 2, atol=1e-12)


def test_many_short_recordings_are_one_problem():
    """With two samples or one in each, there is nothing to average."""
    X = two_subspaces((6, 520), seed=5)
    solution = solve_fast(Osc(0.1, 1.0, joins=tuple(range(2, 520, 2))), X, stopping=Stopping(1e-2))
    assert solution.converged
    solution = solve_fast(Osc(0.1, 1.0, joins=tuple(range(1, 520))), X, stopping=Stopping(1e-2))
    assert solution.converged


def test_a_warm_start_may_come_from_other_joins():
    X = two_subspaces((6, 40), seed=6)
    stopping = Stopping(1e-6, 20_000)
    before = solve_fast(Osc(0.1, 0.5, joins=(10, 20)), X, stopping=stopping)
    model = Osc(0.1, 0.5, joins=(20, 30))
    again = solve_fast(model, X, stopping=stopping, start=before.state)
    assert again.objective == pytest.approx(solve_fast(model, X, stopping=stopping).objective, rel=2e-6)
