"""A dictionary of other atoms than the samples: minimum, certificate, start, all against cvxpy or algebra."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from tests.oracles import dense_R
from tests.problems import two_subspaces

from seqspan._core.scaling import scale_columns
from seqspan._core.threads import Team
from seqspan.datasets import make_motion
from seqspan.models import Osc, SpatSc
from seqspan.solvers.fast.certificate import certify, objective
from seqspan.solvers.fast.coarse import coarsen, halve, prolong
from seqspan.solvers.fast.reduced import column_blocks, reduce_onto
from seqspan.solvers.fast.solver import PENALTIES, solve_fast
from seqspan.solvers.fast.sweeps import LANDMARK_WIDTH, Sweeps
from seqspan.solvers.loop import Stopping

MODELS = [Osc(0.1, 0.2), SpatSc(0.1, 0.03, zero_diagonal=False)]
JOINED = [Osc(0.1, 0.2, joins=(5, 6)), SpatSc(0.1, 0.03, False, joins=(9,))]  # several recordings
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=["osc", "spatsc"])
TOL = 4e-6  # as in the battery: certified to TOL and the oracle to 1e-8 agree to 1e-5


def problem(n_atoms, seed, d=6, n=17):
    """Samples near two planes, and atoms that do not span them all."""
    X = two_subspaces((d, n), seed, noise=0.4)
    rng = np.random.default_rng(seed + 1)
    D = X[:, rng.choice(n, n_atoms, replace=False)] + 0.1 * rng.standard_normal((d, n_atoms))
    return X, D / np.linalg.norm(D, axis=0)


def minimum(model, X, D):
    """The optimal value by cvxpy, from the formula."""
    Z = cp.Variable((D.shape[1], X.shape[1]))
    jumps = Z @ dense_R(X.shape[1], model.joins)
    coupled = cp.sum(cp.abs(jumps)) if isinstance(model, SpatSc) else cp.sum(cp.norm(jumps, 2, axis=0))
    cost = cp.sum_squares(X - D @ Z) / 2 + model.lam1 * cp.sum(cp.abs(Z)) + model.lam2 * coupled
    return cp.Problem(cp.Minimize(cost)).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("model", MODELS + JOINED, ids=["osc", "spatsc", "osc_joined", "spatsc_joined"])
@pytest.mark.parametrize("n_atoms", [1, 4, 9])
def test_reaches_the_minimum_found_by_cvxpy_and_certifies_it(model, n_atoms):
    X, D = problem(n_atoms, seed=n_atoms)
    solution = solve_fast(model, X, dictionary=D, stopping=Stopping(TOL, 30_000))
    lowest = minimum(model, X, D)
    assert solution.Z.shape == (n_atoms, X.shape[1])
    assert solution.objective == pytest.approx(lowest, rel=1e-5)
    assert model.value(X, solution.Z, D) == pytest.approx(solution.objective, rel=1e-7)
    assert solution.objective * (1 - solution.gap) <= lowest * (1 + 3e-8)
    assert solution.converged


@EVERY_MODEL
def test_bounds_of_the_model_hold_for_any_dual_point_and_are_tight_at_the_optimum(model):
    X, D = problem(4, seed=3)
    lowest = minimum(model, X, D)
    rng = np.random.default_rng(0)
    for _ in range(20):
        E, V = rng.standard_normal(X.shape), rng.standard_normal((4, X.shape[1] - 1))
        assert model.lower_bound(X, E, V, D) <= lowest * (1 + 1e-7)
    with Team(1) as team:
        sweeps = Sweeps(model, reduce_onto(D, column_blocks(X), X.shape[1], float), team)
        solution = solve_fast(model, X, dictionary=D, stopping=Stopping(TOL, 30_000))
        multiplier = solution.state.r2 * sweeps.split(solution.state, 0)[3][:-1, :4].T
    assert model.lower_bound(X, X - D @ solution.Z, multiplier, D) == pytest.approx(lowest, rel=1e-3)


@EVERY_MODEL
def test_the_samples_as_dictionary_are_the_plain_problem(model):
    X = two_subspaces((5, 12), seed=2, noise=0.3)
    stopping = Stopping(TOL, 30_000)
    plain = solve_fast(model, X, stopping=stopping).objective
    assert solve_fast(model, X, dictionary=X, stopping=stopping).objective == pytest.approx(plain, rel=1e-5)


def test_what_the_atoms_do_not_span_costs_its_squares():
    X, D = np.eye(3)[:, [2, 2, 2, 2]], np.eye(3)[:, :2]
    solution = solve_fast(Osc(0.1, 1.0), X, dictionary=D)
    assert solution.objective == pytest.approx(2.0)
    assert solution.gap == pytest.approx(0, abs=1e-9)
    assert not solution.Z.any()


def test_single_precision_is_kept_and_certified():
    X, D = problem(5, seed=7, n=300)
    single = solve_fast(Osc(0.1, 0.2), X.astype(np.float32), dictionary=D, stopping=Stopping(1e-3))
    double = solve_fast(Osc(0.1, 0.2), X, dictionary=D, stopping=Stopping(1e-5))
    assert single.Z.dtype == np.float32
    assert single.gap <= 1e-3
    # each within its own certificate of the one minimum
    assert single.objective == pytest.approx(double.objective, rel=1.1e-3)


@EVERY_MODEL
def test_a_state_for_means_of_equal_pairs_is_a_state_for_the_pairs(model):
    means, D = problem(5, seed=11, n=40)
    X = np.repeat(means, 2, axis=1)
    assert np.allclose(halve(X), means)
    with Team(1) as team:
        data = reduce_onto(D, column_blocks(X), 80, float)
        fine = Sweeps(model, data, team)
        coarse_model = coarsen(model, same_atoms=True)
        solution = solve_fast(coarse_model, means, dictionary=D, stopping=Stopping(1e-7, 50_000))
        half = replace(data, Y=data.Y[::2].copy(), outside=data.outside / 2)
        state = prolong(Sweeps(coarse_model, half, team), solution.state, fine)
        assert objective(fine, state) == pytest.approx(2 * solution.objective, rel=1e-9)
        fine.iterate(state)  # fills in the smooth copy that the bound is read from
        assert certify(fine, state)[1] == pytest.approx(2 * solution.objective, rel=1e-4)


def test_long_sequences_start_from_their_means():
    """Worth having where neighbours are alike: from zero the same problem takes more iterations."""
    X = scale_columns(make_motion(4000, 20, rng=1)[0])
    D, model, stopping = X[:, ::100], Osc(0.1, 0.1), Stopping(1e-2)
    with Team(1) as team:
        sweeps = Sweeps(
            model, reduce_onto(D, column_blocks(X), X.shape[1], float), team, width=LANDMARK_WIDTH
        )
        zero = sweeps.zero_state(*PENALTIES)
    from_zero = solve_fast(model, X, dictionary=D, stopping=stopping, start=zero)
    assert solve_fast(model, X, dictionary=D, stopping=stopping).n_iter < from_zero.n_iter / 1.5


def test_a_fixed_diagonal_needs_the_samples_as_atoms():
    X, D = problem(4, seed=0)
    with pytest.raises(ValueError, match="zero_diagonal=True needs the samples as atoms"):
        solve_fast(SpatSc(0.1, 0.1), X, dictionary=D)
