"""The general ADMM: its linear solve against one large system, its balancing, and its limits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso
from tests.oracles import dense_incidence, dense_R
from tests.problems import CASES, SHAPES, TALL, WIDE, ring_weights, two_subspaces

from seqspan.models import GraphRegularised, Lrr, LrrNoiseFree, Osc, SpatSc, Ssc, SscNoiseFree, SscOutliers
from seqspan.solvers import SOLVERS, Stopping, splitting


def _lasso(X, lam, zero_diagonal):
    """Column by column with scikit-learn, whose loss is divided by the number of rows."""
    d, n = X.shape
    Z = np.zeros((n, n))
    for j in range(n):
        others = np.array([i for i in range(n) if i != j or not zero_diagonal])
        fit = Lasso(alpha=lam / d, fit_intercept=False, tol=1e-10, max_iter=100_000)
        Z[others, j] = fit.fit(X[:, others], X[:, j]).coef_
    return Z


@pytest.mark.parametrize("zero_diagonal", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_without_coupling_osc_is_the_lasso(shape, zero_diagonal):
    X = two_subspaces(SHAPES[shape], 31, noise=0.3)
    model = Osc(0.1, 0.0, zero_diagonal)
    Z = SOLVERS["splitting"](model, X, stopping=Stopping(tol=1e-8, max_iter=20_000)).Z
    expected = _lasso(X, 0.1, zero_diagonal)
    assert model.value(X, Z) == pytest.approx(model.value(X, expected), rel=1e-7)
    # the lasso's answer is unique for data in general position; its error goes with the root of the gap
    np.testing.assert_allclose(Z, expected, atol=5e-4)
    if zero_diagonal:
        ssc = SOLVERS["splitting"](Ssc(0.1), X, stopping=Stopping(tol=1e-8, max_iter=20_000)).Z
        np.testing.assert_allclose(ssc, expected, atol=5e-4)


@pytest.mark.parametrize("seed", [32, 33])
def test_a_weight_per_sample_is_a_lasso_per_sample(seed):
    X = two_subspaces(TALL, seed, noise=0.3)
    lam = np.linspace(0.02, 0.5, TALL[1])
    Z = SOLVERS["splitting"](Ssc(lam), X, stopping=Stopping(tol=1e-8, max_iter=20_000)).Z
    expected = np.column_stack([_lasso(X, w, True)[:, j] for j, w in enumerate(lam)])
    np.testing.assert_allclose(Z, expected, atol=5e-4)


@pytest.mark.parametrize("zero_diagonal", [True, False])
def test_strong_coupling_makes_columns_equal(zero_diagonal):
    """Equal columns with a zero diagonal are zero."""
    X = two_subspaces(WIDE, 34)
    model = Osc(0.05, 100.0, zero_diagonal)
    Z = SOLVERS["splitting"](model, X, stopping=Stopping(tol=1e-7, max_iter=20_000)).Z
    assert 100 * np.linalg.norm(Z @ dense_R(WIDE[1]), axis=0).sum() <= 1e-5
    assert (np.abs(Z).max() > 1e-2) != zero_diagonal


@pytest.mark.parametrize("seed", [35, 36])
def test_a_huge_weight_leaves_nothing(seed):
    X = two_subspaces(WIDE, seed)
    for model in (Lrr(1e3), Ssc(1e3), Osc(1e3, 1.0), SpatSc(1e3, 1.0)):
        solution = SOLVERS["splitting"](model, X)
        assert not np.any(solution.Z)
        assert solution.objective == pytest.approx(np.sum(X**2) / 2)


@pytest.mark.parametrize("kind", ["path", "graph", "none"])
@pytest.mark.parametrize("seed", [37, 38])
def test_the_smooth_step_solves_its_linear_system(kind, seed):
    n = WIDE[1]
    X = two_subspaces(WIDE, seed)
    W = ring_weights(n, seed)
    model, D = {
        "path": (Osc(0.1, 1.0), dense_R(n)),
        "graph": (GraphRegularised(0.1, 1.0, W), dense_incidence(W)),
        "none": (Ssc(0.1), np.zeros((n, 1))),
    }[kind]
    F = np.random.default_rng(seed).standard_normal((n, n))
    none = np.zeros(0)
    splits = {"penalty": splitting.Split(none, none, 1.7), "coupling": splitting.Split(none, none, 2.3)}
    S = splitting._least_squares(model, X)(F, splits)
    G = X.T @ X
    np.testing.assert_allclose(G @ S + 1.7 * S + 2.3 * S @ D @ D.T, F + G, atol=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_at_a_fixed_point_multipliers_are_subgradients_and_copies_agree(name):
    model, X = CASES[name].problem("tall", 39)
    state = SOLVERS["splitting"](model, X, stopping=Stopping(tol=1e-6, max_iter=30_000)).state
    for block in splitting._blocks(model, X):
        split = state.splits[block.name]
        np.testing.assert_allclose(block.image(state.S), split.B, atol=2e-2)  # a gap of 1e-6, its root
        assert np.all(block.term.limit(split.multiplier) >= 1 - 1e-9)


def test_balancing_keeps_the_multiplier_and_moves_the_penalty_the_right_way():
    rng = np.random.default_rng(40)
    old = splitting.Split(rng.standard_normal((3, 3)), rng.standard_normal((3, 3)), 2.0)
    near = splitting.Split(old.B + 1e-6, old.u, 2.0)
    # the copies disagree while B hardly moves: a larger penalty; and the other way round
    stiffer = splitting._balanced(near, old, near.B + 1.0)
    assert stiffer.r == 4.0
    np.testing.assert_allclose(stiffer.multiplier, near.multiplier)
    far = splitting.Split(old.B + 1.0, old.u, 2.0)
    softer = splitting._balanced(far, old, far.B + 1e-6)
    assert softer.r == 1.0
    np.testing.assert_allclose(softer.multiplier, far.multiplier)
    assert splitting._balanced(near, old, near.B) is near


def test_penalties_rest_after_a_while():
    X = two_subspaces(WIDE, 41)
    model = SpatSc(0.1, 0.03)
    blocks, solve = splitting._blocks(model, X), splitting._least_squares(model, X)
    state = splitting._cold_start(blocks, X)
    penalties = []
    for _ in range(splitting.BALANCE_UNTIL + 50):
        state = splitting._step(blocks, solve, state)
        penalties.append(state.splits["coupling"].r)
    assert len(set(penalties[: splitting.BALANCE_UNTIL])) > 3
    assert len(set(penalties[splitting.BALANCE_UNTIL :])) == 1


@pytest.mark.parametrize("model", [SscNoiseFree(), LrrNoiseFree()])
@pytest.mark.parametrize("size", [0.1, 10.0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_constraints_are_not_certified_before_they_hold(model, size):
    """Whatever the size of X and however few the iterations: a small gap means X = XZ."""
    X = size * two_subspaces(WIDE, 42, noise=0.0)
    for max_iter in (0, 10, 20, 400):
        solution = SOLVERS["splitting"](model, X, stopping=Stopping(tol=1e-2, max_iter=max_iter))
        residual = np.linalg.norm(X - X @ solution.Z) / np.linalg.norm(X)
        # bound = <sE, X> <= ||sE|| ||X||, and ||sE|| ||X - XZ|| <= objective - bound: see Model.violation
        assert residual * (1 - solution.gap) <= 1.001 * solution.gap
        assert solution.converged == (solution.gap <= 1e-2)


@pytest.mark.parametrize("model", [SscNoiseFree(), SscOutliers(None, None)])
def test_a_constraint_that_cannot_hold_is_called_infeasible(model):
    with pytest.raises(ValueError, match="infeasible: 4 of 4 samples"):
        SOLVERS["splitting"](model, np.eye(4), stopping=Stopping(max_iter=200))


def test_the_scale_of_the_samples_does_not_matter_without_noise():
    X = two_subspaces((9, 12), seed=5, noise=0.0)
    unit, small = (
        SOLVERS["splitting"](SscNoiseFree(), s * X, stopping=Stopping(1e-4, 5000)) for s in (1.0, 0.1)
    )
    assert small.n_iter == unit.n_iter
    assert small.objective == pytest.approx(unit.objective, rel=1e-9)
