"""The streamed sweeps against plain dense formulas: blocks, threads, precisions, diagonal or not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_sylvester
from tests.oracles import dense_R, minimum, plain_bound
from tests.problems import two_subspaces

from seqspan._core.threads import Team
from seqspan.models import Osc, SpatSc
from seqspan.solvers.fast import sweeps as sweeps_module
from seqspan.solvers.fast.certificate import certify
from seqspan.solvers.fast.reduced import reduce
from seqspan.solvers.fast.sweeps import RELAXATION, Sweeps

MODELS = [Osc(0.1, 0.7), Osc(0.1, 0.7, zero_diagonal=True), SpatSc(0.1, 0.05), SpatSc(0.1, 0.05, False)]
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=str)


@pytest.fixture(autouse=True)
def _narrow_blocks(monkeypatch):
    """Several blocks, the last of them padded, and parts of time, at sizes that dense formulas can follow."""
    monkeypatch.setattr(sweeps_module, "BLOCK_WIDTH", 16)
    monkeypatch.setattr(sweeps_module, "PART_ENTRIES", 128)
    monkeypatch.setattr(sweeps_module, "MIN_ENTRIES", 128)


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def team(request):
    with Team(request.param) as team:
        yield team


def random_state(sweeps: Sweeps, seed: int, r2: float = 5.0):
    """Any V and U of the right shape, made consistent."""
    rng = np.random.default_rng(seed)
    state = sweeps.zero_state(2.0, r2)
    state.V[:] = 0.1 * rng.standard_normal(state.V.shape)
    state.U[:] = 0.1 * rng.standard_normal(state.U.shape)
    sweeps.settle(state)
    return state


def dense(sweeps: Sweeps, blocks) -> np.ndarray:
    """A blocked array as (n_atoms, n) in double precision."""
    return np.vstack([block.T for block in blocks])[: sweeps.n_atoms].astype(float)


class DenseState:
    """The same iterate in the letters of the formulas."""

    def __init__(self, model, sweeps, s):
        self.model, self.r1 = model, s.r1
        self.r2 = s.r2 if s.weights is None else s.r2 * s.weights[:-1]  # one per column of U
        V, U = dense(sweeps, s.V), dense(sweeps, s.U)[:, :-1]
        self.V, self.U = V, U
        self.a = np.clip(V, -model.lam1 / s.r1, model.lam1 / s.r1)
        if model.zero_diagonal:
            np.fill_diagonal(self.a, np.diag(V))
        t2 = model.lam2 / self.r2
        if isinstance(model, SpatSc):
            self.b = np.clip(U, -t2, t2)
        else:
            self.b = U * np.minimum(1, t2 / np.linalg.norm(U, axis=0))
        self.Z, self.J = V - self.a, U - self.b

    def smooth(self, X):
        """Solve for S with a real Sylvester solver."""
        R, G = dense_R(X.shape[1]), X.T @ X
        right = G + self.r1 * (self.Z - self.a) + (self.r2 * (self.J - self.b)) @ R.T
        return solve_sylvester(G + self.r1 * np.eye(len(G)), (self.r2 * R) @ R.T, right)


WEIGHTED = [(model, None) for model in MODELS] + [(model, 10.0) for model in MODELS[:2]]


@pytest.mark.parametrize(("model", "spread"), WEIGHTED, ids=str)
@pytest.mark.parametrize("shape", [(6, 37), (50, 37)], ids=["wide", "tall"])
def test_an_iteration_is_the_formula(model, spread, shape, team):
    X = two_subspaces(shape, seed=shape[0])
    sweeps = Sweeps(model, reduce(X, float), team)
    state = random_state(sweeps, seed=1)
    if spread is not None:
        state.weights = spread ** np.random.default_rng(2).uniform(-1, 1, sweeps.n)
    before = DenseState(model, sweeps, state)
    S = before.smooth(X)
    sweeps.iterate(state)
    V = before.V + RELAXATION * (S - before.Z)
    U = before.U + RELAXATION * (np.diff(S, axis=1) - before.J)
    # rounding of two different direct solvers of one equation of condition 1e2
    np.testing.assert_allclose(dense(sweeps, state.V), V, atol=1e-11)
    np.testing.assert_allclose(dense(sweeps, state.U)[:, :-1], U, atol=1e-11)
    np.testing.assert_allclose(state.norms[:-1], np.sum(U**2, axis=0), rtol=1e-9)
    np.testing.assert_allclose(state.fitted, S.T @ sweeps.data.Q, atol=1e-11)
    assert np.all(state.U[:, -1] == 0)


@pytest.mark.parametrize("r2", [1e-6, 0.02, 1.0, 1e4])
@pytest.mark.parametrize("weighted", [False, True])
def test_windows_of_time_solve_the_equation_however_far_steps_reach(r2, weighted, team):
    X = two_subspaces((6, 90), seed=3)
    sweeps = Sweeps(Osc(0.1, 0.7), reduce(X, float), team)
    state = random_state(sweeps, seed=4, r2=r2)
    if weighted:
        state.weights = 10.0 ** np.random.default_rng(5).uniform(-1, 1, sweeps.n)
    S = DenseState(sweeps.model, sweeps, state).smooth(X)
    before = DenseState(sweeps.model, sweeps, state)
    reaches = sweeps._system(state).reaches
    assert (len(reaches) > 1) == (r2 < 1)  # both ways of dealing with influence from elsewhere
    sweeps.iterate(state)
    # rounding relative to the largest penalty
    np.testing.assert_allclose(state.fitted, S.T @ sweeps.data.Q, atol=1e-11 * max(r2, 1))
    V = before.V + RELAXATION * (S - before.Z)
    np.testing.assert_allclose(dense(sweeps, state.V), V, atol=1e-11 * max(r2, 1))


@EVERY_MODEL
def test_float32_follows_float64(model):
    X = two_subspaces((6, 37), seed=3)
    results = []
    for dtype in (np.float64, np.float32):
        with Team(1) as team:
            sweeps = Sweeps(model, reduce(X, dtype), team)
            state = sweeps.zero_state(2.0, 5.0)
            for _ in range(20):
                sweeps.iterate(state)
            results.append((sweeps.coefficients(state), certify(sweeps, state)))
    assert results[1][0].dtype == np.float32
    np.testing.assert_allclose(results[1][0], results[0][0], atol=2e-5)  # twenty times rounding at 1e-7
    np.testing.assert_allclose(results[1][1], results[0][1], rtol=1e-4)


@EVERY_MODEL
def test_measured_residuals_are_those_of_the_update(model, team):
    X = two_subspaces((6, 37), seed=4)
    sweeps = Sweeps(model, reduce(X, float), team)
    state = random_state(sweeps, seed=5)
    before = DenseState(model, sweeps, state)
    S = before.smooth(X)
    residuals = sweeps.iterate(state, measure=True)
    after = DenseState(model, sweeps, state)
    expected = [S - after.Z, S, after.Z - before.Z, after.a if not model.zero_diagonal else None]
    for measured, matrix in zip(residuals[:4], expected, strict=True):
        if matrix is not None:
            assert measured == pytest.approx(np.sum(matrix**2), rel=1e-9)
    if isinstance(model, SpatSc):  # OSC measures J with the shares of before the update
        SR = np.diff(S, axis=1)
        expected = [SR - after.J, SR, after.J - before.J, after.b]
        assert residuals[4:] == pytest.approx([np.sum(matrix**2) for matrix in expected], rel=1e-9)


@EVERY_MODEL
def test_rescaling_keeps_coefficients_and_multipliers(model, team):
    X = two_subspaces((6, 37), seed=6)
    sweeps = Sweeps(model, reduce(X, float), team)
    state = random_state(sweeps, seed=7)
    before = DenseState(model, sweeps, state)
    sweeps.rescale(state, 1.7, 0.6)
    after = DenseState(model, sweeps, state)
    assert (state.r1, state.r2) == (2.0 * 1.7, 5.0 * 0.6)
    for old, new in [(before.Z, after.Z), (before.J, after.J)]:
        np.testing.assert_allclose(new, old, atol=1e-12)
    np.testing.assert_allclose(after.r1 * after.a, before.r1 * before.a, atol=1e-12)
    np.testing.assert_allclose(after.r2 * after.b, before.r2 * before.b, atol=1e-12)
    np.testing.assert_allclose(state.norms[:-1], np.sum(after.U**2, axis=0), rtol=1e-9)


@pytest.mark.parametrize("model", MODELS[:2], ids=str)
def test_weighing_keeps_coefficients_and_multipliers(model, team):
    X = two_subspaces((6, 37), seed=6)
    sweeps = Sweeps(model, reduce(X, float), team)
    state = random_state(sweeps, seed=7)
    before = DenseState(model, sweeps, state)
    bound = certify(sweeps, state)[1]
    for seed in (1, 2):  # from equal weights, and from others
        sweeps.weigh(state, 3 ** np.random.default_rng(seed).uniform(-1, 1, sweeps.n))
        after = DenseState(model, sweeps, state)
        np.testing.assert_allclose(after.J, before.J, atol=1e-12)
        np.testing.assert_allclose(after.r2 * after.b, before.r2 * before.b, atol=1e-12)
        np.testing.assert_allclose(state.norms[:-1], np.sum(after.U**2, axis=0), rtol=1e-9)
        np.testing.assert_allclose(sweeps.jumps(state)[:-1], np.linalg.norm(after.J, axis=0), atol=1e-12)
        state.gap = 1.0  # the bands of the certificate depend on it
        assert certify(sweeps, state)[1] == pytest.approx(bound, rel=1e-12)


@EVERY_MODEL
def test_the_objective_and_the_coefficients_are_the_models(model, team):
    X = two_subspaces((6, 37), seed=8)
    sweeps = Sweeps(model, reduce(X, float), team)
    state = random_state(sweeps, seed=9)
    Z = sweeps.coefficients(state)
    np.testing.assert_array_equal(Z, DenseState(model, sweeps, state).Z)
    assert certify(sweeps, state)[0] == pytest.approx(model.value(X, Z), rel=1e-10)


@EVERY_MODEL
def test_the_bound_holds_and_beats_scaling_alone(model, team):
    X = two_subspaces((5, 18), seed=10)
    sweeps = Sweeps(model, reduce(X, float), team)
    state = sweeps.zero_state(2.0, 7 * model.lam2)
    lowest = minimum(model, X)
    for _ in range(5):
        for _ in range(40):
            sweeps.iterate(state)
        now = DenseState(model, sweeps, state)
        E = X - X @ _smooth_of(sweeps, state, X)
        bound = certify(sweeps, state)[1]
        assert bound <= lowest * (1 + 1e-7)  # the oracle's own tolerance
        assert bound >= plain_bound(model, X, E, now.r2 * now.b) - 1e-9
    assert bound == pytest.approx(lowest, rel=2e-2)


def _smooth_of(sweeps, state, X):
    """A matrix S with Q^T S = fitted: all that X S needs."""
    return sweeps.data.Q @ state.fitted.T


def test_padding_and_threads_change_nothing():
    X = two_subspaces((6, 37), seed=11)
    objectives = []
    for width, threads in [(16, 1), (16, 3), (48, 1)]:
        sweeps_module.BLOCK_WIDTH = width
        with Team(threads) as team:
            sweeps = Sweeps(MODELS[0], reduce(X, float), team)
            state = sweeps.zero_state(2.0, 5.0)
            for _ in range(30):
                sweeps.iterate(state)
            objectives.append(certify(sweeps, state))
    np.testing.assert_allclose(objectives, [objectives[0]] * 3, rtol=1e-10)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_share_many_coordinates_and_change_nothing(n_jobs):
    X = np.random.default_rng(0).standard_normal((70, 90))
    model, states = Osc(0.1, 0.5), []
    for threads in (1, n_jobs):
        with Team(threads) as team:
            sweeps = Sweeps(model, reduce(X, float), team)
            state = sweeps.zero_state(2.0, 5.0)
            for _ in range(3):
                sweeps.iterate(state)
        states.append(state)
    np.testing.assert_array_equal(states[0].fitted, states[1].fitted)
    np.testing.assert_array_equal(states[0].V, states[1].V)
    np.testing.assert_array_equal(states[0].U, states[1].U)
