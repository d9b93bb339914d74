"""The promises of the fast solver beyond the shared battery: precision, size, threads, memory."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.oracles import minimum, objective
from tests.problems import two_subspaces

from seqspan.datasets import add_noise, make_subspaces
from seqspan.models import Lrr, Osc, SpatSc
from seqspan.solvers import Stopping
from seqspan.solvers.fast.solver import solve_fast

KINDS = [
    lambda l1, l2: Osc(l1, l2),
    lambda l1, l2: Osc(l1, l2, zero_diagonal=True),
    lambda l1, l2: SpatSc(l1, l2),
    lambda l1, l2: SpatSc(l1, l2, zero_diagonal=False),
]


@pytest.mark.parametrize("seed", range(20))
def test_random_problems_to_seven_digits(seed):
    """cvxpy's minimum to 1e-6 at tol=1e-7: random weights, both shapes, every kind of model."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(3, 7)), int(rng.integers(8, 14)))
    X = two_subspaces(shape if seed % 2 else shape[::-1], seed, noise=rng.uniform(0, 0.5))
    model = KINDS[seed // 2 % 4](10 ** rng.uniform(-2, -0.3), 10 ** rng.uniform(-2, 0.3))
    solution = solve_fast(model, X, stopping=Stopping(1e-7, 200_000))
    assert solution.gap <= 1e-7
    assert objective(model, X, solution.Z) == pytest.approx(minimum(model, X), rel=1e-6)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_the_paper_s_data_at_a_size_with_coarse_start(precision):
    X, _ = make_subspaces(samples_per_subspace=110, rng=3)
    X = add_noise(X / np.linalg.norm(X, axis=0), 20, rng=4).astype(precision)
    model = Osc(0.1, 1.0)
    solution = solve_fast(model, X, stopping=Stopping(1e-2, 300))
    assert solution.converged
    assert solution.Z.dtype == precision
    # the objective is summed in double precision from single-precision coefficients
    assert solution.objective == pytest.approx(
        model.value(X.astype(float), solution.Z.astype(float)), rel=1e-4
    )


def test_one_and_two_threads_agree():
    X, _ = make_subspaces(samples_per_subspace=60, rng=5)
    one, two = (solve_fast(Osc(0.1, 1.0), X, stopping=Stopping(1e-4, 500), n_jobs=k) for k in (1, 2))
    np.testing.assert_allclose(two.Z, one.Z, atol=1e-8)
    assert two.n_iter == one.n_iter


def test_other_models_are_refused_by_name():
    with pytest.raises(ValueError, match="minimises Osc and SpatSc; got Lrr"):
        solve_fast(Lrr(0.1), np.eye(4))


def test_constant_and_zero_data():
    for X in (np.ones((4, 30)), np.zeros((4, 30))):
        solution = solve_fast(Osc(0.1, 1.0), X, stopping=Stopping(1e-4, 500))
        assert solution.converged
        assert np.all(np.isfinite(solution.Z))


@pytest.mark.parametrize("lam2", [1e5, 1e8])
def test_a_huge_weight_in_single_precision_stays_finite_and_its_gap_true(lam2):
    X = two_subspaces((6, 30), seed=2).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = solve_fast(Osc(0.1, lam2), X, stopping=Stopping(1e-2, 300))
    assert np.all(np.isfinite(solution.Z))
    exact = solve_fast(Osc(0.1, lam2), X.astype(float), stopping=Stopping(1e-3, 5000))
    assert solution.objective * (1 - solution.gap) <= exact.objective * (1 + 1e-4)


def test_importing_seqspan_leaves_numba_alone():
    code = "import sys, seqspan; print('numba' in sys.modules, 'av' in sys.modules, 'polars' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["False", "False", "False"]


@pytest.mark.parametrize("iterations_before", [0, 10_000])
def test_a_warm_start_from_far_away_takes_hardly_longer_than_a_cold_one(iterations_before):
    """Penalties that suited another weight, or were balanced long enough for it, must not stay."""
    X, _ = make_subspaces(4, 4, 60, rng=0)
    X = add_noise(X / np.linalg.norm(X, axis=0), 14, rng=0)
    stopping = Stopping(tol=1e-3, max_iter=1000)
    cold = solve_fast(Osc(0.1, 20.0), X, stopping=stopping, n_jobs=1)
    start = solve_fast(Osc(0.1, 0.05), X, stopping=stopping, n_jobs=1).state
    start.iteration = iterations_before
    warm = solve_fast(Osc(0.1, 20.0), X, stopping=stopping, start=start, n_jobs=1)
    assert warm.converged
    assert warm.n_iter <= 2 * cold.n_iter


@pytest.mark.parametrize("lam2", [0.3, 1.0, 3.0])
def test_a_weight_that_single_precision_can_not_see_does_no_harm(lam2):
    """No gap can be proven where rounding is larger than the weight; penalties must not vanish over it."""
    X = np.sign(np.random.default_rng(0).standard_normal((1, 21)))
    model = Osc(2e-9, lam2)
    best = solve_fast(model, X, n_jobs=1).objective
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rough = solve_fast(model, X.astype(np.float32), stopping=Stopping(1e-2, 600), n_jobs=1)
    assert rough.objective <= 1.1 * best
