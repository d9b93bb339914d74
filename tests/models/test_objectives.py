"""Models: values typed out, bounds that bound, gaps that vanish at optima known by construction."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import dense_incidence, minimum, objective, plain_bound
from tests.problems import CASES, identical_columns, planted, ring_weights, two_subspaces

from seqspan.models import (
    GraphRegularised,
    Lrr,
    LrrColumnNoise,
    LrrNoiseFree,
    Lsr,
    Model,
    Osc,
    OscLowRank,
    SpatSc,
    Ssc,
    SscNoiseFree,
    SscOutliers,
)
from seqspan.models.certificate import scaled_bound
from seqspan.solvers import SOLVERS, Stopping

unhurried = settings(deadline=None)  # a busy machine is no bug
EVERY = pytest.mark.parametrize("name", CASES)
COUPLED = [name for name, case in CASES.items() if case.coupled and case.squares]
seeds = st.integers(0, 2**32 - 1)


@cache
def _solved(name, seed):
    """A problem with its minimum: computed once, whatever hypothesis tries."""
    model, X = CASES[name].problem("wide" if seed % 2 else "tall", seed)
    return model, X, minimum(model, X)


def _edges(model, n):
    """Number of columns of Z D."""
    if isinstance(model, GraphRegularised):
        return dense_incidence(model.weights).shape[1]
    return n - 1 - len(getattr(model, "joins", ()))


@EVERY
@unhurried
@given(seed=seeds)
def test_value_is_the_formula(name, seed):
    model, X = CASES[name].problem("wide", seed)
    Z = np.random.default_rng(seed).standard_normal((X.shape[1], X.shape[1]))
    np.fill_diagonal(Z, 0)
    # the oracle's nuclear norm takes square roots of eigenvalues of Z^T Z
    assert model.value(X, Z) == pytest.approx(objective(model, X, Z), rel=1e-6)


@EVERY
@settings(unhurried, max_examples=40)
@given(seed=seeds, size=st.floats(0.01, 10), which=st.sampled_from([61, 62]))
def test_any_dual_point_bounds_the_minimum_from_below(name, seed, size, which):
    model, X, least = _solved(name, which)
    rng = np.random.default_rng(seed)
    # residuals of a random Z are better dual points than noise; both must do
    E = size * (X - X @ rng.standard_normal((X.shape[1], X.shape[1])) / 5 + rng.standard_normal(X.shape) / 9)
    V = (
        0.3 * size * rng.standard_normal((X.shape[1], _edges(model, X.shape[1])))
        if CASES[name].coupled
        else None
    )
    assert model.lower_bound(X, E, V) <= least * (1 + 1e-6)  # the oracle stops at 1e-8


@EVERY
@settings(unhurried, max_examples=40)
@given(seed=seeds, which=st.sampled_from([61, 62]))
def test_the_gap_of_any_coefficients_covers_their_distance_from_the_minimum(name, seed, which):
    model, X, least = _solved(name, which)
    n = X.shape[1]
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, n)) / n
    np.fill_diagonal(Z, 0)
    V = 0.1 * rng.standard_normal((n, _edges(model, n))) if CASES[name].coupled else None
    gap = model.gap(X, Z, V=V)
    assert gap >= 0
    assert gap >= model.value(X, Z) - least * (1 + 1e-6)


@pytest.mark.parametrize("name", COUPLED)
@unhurried
@given(seed=seeds)
def test_the_bound_is_never_below_the_plain_certificate(name, seed):
    model, X = CASES[name].problem("wide", seed)
    rng = np.random.default_rng(seed)
    E, V = rng.standard_normal(X.shape), rng.standard_normal((X.shape[1], _edges(model, X.shape[1])))
    plain = plain_bound(model, X, E, V)
    assert model.lower_bound(X, E, V) >= plain - 1e-9 * abs(plain)


@pytest.mark.parametrize("kind", ["osc", "spatsc", "osc_low_rank"])
@pytest.mark.parametrize(("m", "seed"), [(2, 41), (5, 42), (9, 43)])
def test_the_gap_vanishes_at_a_planted_optimum(kind, m, seed):
    p = planted(kind, m, seed)
    assert p.model.value(p.X, p.Z) == pytest.approx(p.minimum, rel=1e-12)
    assert p.model.lower_bound(p.X, p.E, p.V) == pytest.approx(p.minimum, rel=1e-12)
    assert abs(p.model.gap(p.X, p.Z, V=p.V)) <= 1e-12
    # away from it the gap is at least what was lost, and the bound is no better than the minimum
    worse = 0.9 * p.Z
    assert p.model.gap(p.X, worse, V=p.V) >= p.model.value(p.X, worse) - p.minimum > 1e-3
    assert scaled_bound(p.model, p.X, p.E, p.V) == pytest.approx(p.minimum, rel=1e-12)
    assert scaled_bound(p.model, p.X, p.E, -p.V) < 0.95 * p.minimum  # (tightening would mend the sign)


@pytest.mark.parametrize("kind", ["osc", "spatsc"])
@pytest.mark.parametrize("factor", [0.0, -1.0])
def test_the_bound_finds_a_multiplier_where_it_is_given_a_bad_one(kind, factor):
    p = planted(kind, 5, 42)
    assert p.model.lower_bound(p.X, p.E, factor * p.V) == pytest.approx(p.minimum, rel=1e-9)
    assert scaled_bound(p.model, p.X, p.E, factor * p.V) < 0.9 * p.minimum


@pytest.mark.parametrize("model", [Osc(0.1, 0.3, zero_diagonal=True), SpatSc(0.05, 0.1)])
def test_a_free_diagonal_is_made_use_of_by_the_bound(model):
    """What the constraint fixes may be anything in the dual: worth half as much again here."""
    X = two_subspaces((5, 11), 71)
    Z, V = _solve(model, X), np.zeros((11, 10))
    E = X - X @ Z
    assert 1.5 * scaled_bound(model, X, E, V) < model.lower_bound(X, E, V) <= model.value(X, Z)


@pytest.mark.parametrize("low_rank", [False, True])
def test_a_path_graph_is_the_path(low_rank):
    """The graph-regularised model on a chain is OSC, so it shares the planted optimum."""
    p = planted("osc_low_rank" if low_rank else "osc", 4, 44)
    n = p.X.shape[1]
    W = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    model = GraphRegularised(0.1, 0.2, W, low_rank=low_rank)
    assert model.value(p.X, p.Z) == pytest.approx(p.minimum, rel=1e-12)
    assert abs(model.gap(p.X, p.Z, V=-p.V)) <= 1e-12  # its edges point backwards in time


N = 6
IDENTICAL = {
    # model: (minimum, t = sum of a column of Z, E per unit of x); x is one copied unit vector
    "ssc": (Ssc(0.3), N * (0.3 - 0.3**2 / 2), 0.7, 0.3),
    "ssc_per_sample": (
        Ssc(np.linspace(0.1, 0.6, N)),
        sum(w - w**2 / 2 for w in np.linspace(0.1, 0.6, N)),
        1 - np.linspace(0.1, 0.6, N),
        np.linspace(0.1, 0.6, N),
    ),
    "ssc_noise_free": (SscNoiseFree(), N, 1.0, 1.0),
    "ssc_only_noise": (SscOutliers(4.0, None), N * (1 - 1 / 8), 0.75, 1.0),
    "lrr": (Lrr(0.6), 0.6 * 0.9 + N * 0.1**2 / 2, 0.9, 0.1),
    "lrr_noise_free": (LrrNoiseFree(), 1.0, 1.0, 1 / N),
    "lrr_column_noise": (LrrColumnNoise(0.5), 1.0, 1.0, 1 / N),
    "lsr": (Lsr(1.5), 1.5 / 2 * N / (N + 1.5), N / (N + 1.5), 1.5 / (N + 1.5)),
    "osc": (Osc(0.3, 2.0), N * (0.3 - 0.3**2 / 2), 0.7, 0.3),
    "osc_low_rank": (OscLowRank(0.6, 2.0), 0.6 * 0.9 + N * 0.1**2 / 2, 0.9, 0.1),
}


@pytest.mark.parametrize("name", IDENTICAL)
def test_equal_samples_have_a_minimum_in_closed_form(name):
    """Z spreads t evenly over the other samples; minima were derived from the formulas by hand."""
    model, least, t, e = IDENTICAL[name]
    X, x = identical_columns(N, 4, 51)
    diagonal_free = isinstance(model, Ssc | SscNoiseFree | SscOutliers)
    Z = (np.ones((N, N)) - np.eye(N)) / (N - 1) if diagonal_free else np.ones((N, N)) / N
    Z = Z * t
    E = x[:, None] * np.broadcast_to(e, N)
    V = np.zeros((N, N - 1))
    assert model.value(X, Z) == pytest.approx(least, rel=1e-12)
    assert model.lower_bound(X, E, V) == pytest.approx(least, rel=1e-12)
    assert abs(model.gap(X, Z, E, V)) <= 1e-7  # X - XZ is 1e-16 instead of zero without noise


@pytest.mark.parametrize("model", [SscOutliers(None, 0.0), SscOutliers(0.0, None)])
def test_a_weight_of_zero_frees_the_errors_and_makes_zero_optimal(model):
    X = two_subspaces((5, 11), 60)
    assert model.value(X, np.zeros((11, 11))) == 0


def test_outliers_are_paid_linearly():
    """One sample off by a spike: the spike is S, priced at lam2, and E stays within lam2 / lam1."""
    model = SscOutliers(10.0, 2.0)
    X = np.array([[1.0, 1.0], [0.0, 0.7]])
    Z = np.array([[0.0, 0.9], [0.8, 0.0]])
    residuals = [1 - 0.8, 0.0 - 0.56, 1 - 0.9, 0.7]
    best = sum(min(5 * e**2 + 2 * abs(r - e) for e in np.linspace(-1, 1, 20001)) for r in residuals)
    assert model.value(X, Z) == pytest.approx(best + 1.7, abs=1e-7)  # grid of 1e-4, curvature 10


@pytest.mark.parametrize("model", [SscOutliers(None, 0.05), SscOutliers(2.0, 0.05), LrrColumnNoise(0.02)])
@pytest.mark.parametrize("seed", [54, 55])
def test_a_cheap_loss_limits_the_dual_point(model, seed):
    """Where errors cost little, the ball of the loss decides, and the bound stays below the value at zero."""
    X = two_subspaces((5, 11), seed)
    nothing = model.value(X, np.zeros((11, 11)))
    for E in (X, np.sign(X), 1e3 * X):
        assert 0 < model.lower_bound(X, E) <= nothing * (1 + 1e-12)


@pytest.mark.parametrize("model", [SscNoiseFree(), LrrNoiseFree()])
@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_breaking_the_constraint_cannot_pass_for_optimal(model, size):
    """However small the multiplier on the way: Z = 0 is cheap but far from X = XZ."""
    X = size * two_subspaces((5, 11), 52, noise=0.0)
    Z = np.zeros((11, 11))
    for E in (X, 1e-6 * X, 1e6 * X, np.zeros_like(X)):
        total = model.value(X, Z) + model.violation(X, Z, E)
        assert model.gap(X, Z, E) >= 0.3 * total > 0
    relaxed = Ssc(0.1)
    assert relaxed.violation(X, Z, X) == 0


@pytest.mark.parametrize("seed", [56, 57])
def test_the_price_of_a_broken_constraint_is_its_formula(seed):
    """Twice the residual's norm times that of E, each column scaled until its dual constraint binds."""
    X, rng = two_subspaces((5, 11), seed), np.random.default_rng(seed)
    Z, E = rng.standard_normal((11, 11)) / 11, rng.standard_normal((5, 11))
    correlations = np.abs(X.T @ E)
    np.fill_diagonal(correlations, 0)
    price = 2 * np.linalg.norm(X - X @ Z) * np.linalg.norm(E / correlations.max(axis=0))
    assert SscNoiseFree().violation(X, Z, E) == pytest.approx(price, rel=1e-12)
    assert LrrNoiseFree().violation(X, Z, E) == pytest.approx(
        2 * np.linalg.norm(X - X @ Z) * np.linalg.norm(E) / np.linalg.norm(X.T @ E, 2), rel=1e-12
    )
    np.fill_diagonal(Z, 0)
    price = SscNoiseFree().violation(X, Z, E)
    expected = np.abs(Z).sum() + price - SscNoiseFree().lower_bound(X, E)
    assert SscNoiseFree().gap(X, Z, E) == pytest.approx(expected, rel=1e-12)
    # without a multiplier X itself sets the price; where nothing binds, it is not scaled
    assert SscNoiseFree().violation(X, Z, 0 * E) == SscNoiseFree().violation(X, Z, X)
    assert SscNoiseFree().violation(np.eye(4), np.zeros((4, 4)), np.eye(4)) == pytest.approx(2 * 4)


@pytest.mark.parametrize(("lam1", "lam2"), [(0.3, 2.0), (0.05, 0.1)])
def test_other_atoms_than_the_samples_have_their_own_minimum(lam1, lam2):
    """Copies of one of several orthogonal atoms: that atom alone is used, by 1 - lam1."""
    atoms = np.linalg.qr(np.random.default_rng(58).standard_normal((6, 3)))[0]
    X = np.tile(atoms[:, :1], 5)
    Z = np.zeros((3, 5))
    Z[0] = 1 - lam1
    model, least = Osc(lam1, lam2), 5 * (lam1 - lam1**2 / 2)
    assert model.value(X, Z, atoms) == pytest.approx(least, rel=1e-12)
    assert model.lower_bound(X, lam1 * X, np.zeros((3, 4)), atoms) == pytest.approx(least, rel=1e-12)
    ridge = Lsr(lam1)
    Z[0] = 1 / (1 + lam1)
    assert ridge.value(X, Z, atoms) == pytest.approx(5 * lam1 / (1 + lam1) / 2, rel=1e-12)
    assert ridge.lower_bound(X, X - atoms @ Z, None, atoms) == pytest.approx(
        5 * lam1 / (1 + lam1) / 2, rel=1e-12
    )


@pytest.mark.parametrize("size", [0.1, 10.0])
def test_a_multiplier_is_made_feasible_by_the_least_change(size):
    V = size * np.random.default_rng(59).standard_normal((6, 5))
    lengths = np.linalg.norm(V, axis=0)
    np.testing.assert_allclose(Osc(0.1, 0.7).coupling.feasible(V), V * np.minimum(1, 0.7 / lengths))
    np.testing.assert_allclose(SpatSc(0.1, 0.7).coupling.feasible(V), np.clip(V, -0.7, 0.7))


def test_a_coupled_model_asks_for_its_multiplier():
    X = two_subspaces((5, 11), 53)
    with pytest.raises(ValueError, match="Osc couples columns: its bound needs a multiplier V"):
        Osc(0.1, 1.0).lower_bound(X, X)


def _solve(model, X):
    return SOLVERS["splitting"](model, X, stopping=Stopping(tol=1e-7, max_iter=20_000)).Z


@pytest.mark.parametrize("seed", [71, 72, 73])
def test_ssc_is_zero_from_its_critical_weights_on_column_by_column(seed):
    X = two_subspaces((5, 11), seed)
    critical = Ssc(1.0).critical_weight(X)
    factors = np.where(np.arange(11) % 2, 1.001, 0.95)
    Z = _solve(Ssc(critical * factors), X)
    np.testing.assert_array_equal(np.abs(Z).max(axis=0) > 0, factors < 1)


@pytest.mark.parametrize("seed", [74, 75])
@pytest.mark.parametrize(
    ("make", "diagonal"),
    [
        (lambda w: Lrr(w), True),
        (lambda w: Osc(w, 1e-6), True),
        (lambda w: Osc(w, 1e-6, zero_diagonal=True), False),
        (lambda w: SpatSc(w, 1e-6), False),
        (lambda w: SpatSc(w, 1e-6, zero_diagonal=False), True),
    ],
)
def test_zero_at_the_critical_weight_and_not_just_below(make, diagonal, seed):
    X = two_subspaces((5, 11), seed)
    X *= np.linspace(0.5, 1.5, 11)  # so that the largest entry of X^T X is not shared by all samples
    critical = make(1.0).critical_weight(X).max()
    # independent of the code: the dual norm of X^T X
    G = X.T @ X if diagonal else X.T @ X - np.diag((X**2).sum(axis=0))
    expected = np.linalg.eigvalsh(G)[-1] if isinstance(make(1.0), Lrr) else np.abs(G).max()
    assert critical == pytest.approx(expected, rel=1e-12)
    assert not np.any(_solve(make(1.001 * critical), X))
    assert np.any(_solve(make(0.99 * critical), X))


@pytest.mark.parametrize("scale", [0.1, 10.0, 1e150, 1e-150])
@pytest.mark.parametrize(
    "model", [Ssc(1.0), Lrr(1.0), Osc(1.0, 1.0), Osc(1.0, 1.0, zero_diagonal=True), SpatSc(1.0, 1.0)]
)
def test_critical_weights_grow_with_the_square_of_the_data(model, scale):
    X = two_subspaces((5, 11), 78)
    expected = scale**2 * model.critical_weight(X)
    np.testing.assert_allclose(model.critical_weight(scale * X), expected, rtol=1e-12)


@pytest.mark.parametrize("exponent", [-3, 4])
@pytest.mark.parametrize("name", CASES)
def test_rescaled_samples_have_the_same_objective_in_other_units(name, exponent):
    model, X = CASES[name].problem("wide", 81)
    Z = 0.1 * np.random.default_rng(82).standard_normal((X.shape[1], X.shape[1]))
    np.fill_diagonal(Z, 0)
    value = model.rescaled(exponent).value(np.ldexp(X, exponent), Z)
    assert value == pytest.approx(2.0 ** (exponent * model.objective_power) * model.value(X, Z), rel=1e-12)


@pytest.mark.parametrize("model", [Osc(0.1, 1.0), Ssc(np.full(3, 0.1)), LrrColumnNoise(1.0)])
@pytest.mark.parametrize("exponent", [-600, 600])
def test_weights_that_cannot_be_rescaled_are_refused(model, exponent):
    with pytest.raises(ValueError, match=r"The weight lam1?=.* does not suit samples of this size"):
        model.rescaled(exponent)


def test_a_model_that_does_not_say_how_its_weights_grow_is_not_rescaled():
    class Own(Model):
        pass

    with pytest.raises(ValueError, match="Own has no weight_powers"):
        Own().rescaled(40)


@pytest.mark.parametrize(
    ("model", "allowed"),
    [
        (Ssc(0.5), False),
        (SscNoiseFree(), False),
        (SscOutliers(1.0, 1.0), False),
        (SpatSc(0.5, 0.5), False),
        (SpatSc(0.5, 0.5, zero_diagonal=False), True),
        (Osc(0.5, 0.5), True),
        (Osc(0.5, 0.5, zero_diagonal=True), False),
        (OscLowRank(0.5, 0.5), True),
        (Lrr(0.5), True),
        (Lsr(0.5), True),
    ],
)
def test_a_sample_may_represent_itself_or_must_not(model, allowed):
    X = two_subspaces((5, 11), 79)
    assert np.isfinite(model.value(X, np.eye(11))) == allowed


@pytest.mark.parametrize("lam2", [0.05, 5.0])
def test_above_the_critical_weight_zero_is_optimal_whatever_the_coupling(lam2):
    X = two_subspaces((5, 11), 76)
    model = Osc(1.0001 * Osc(1.0, lam2).critical_weight(X).max(), lam2)
    gap = model.gap(X, np.zeros((11, 11)), V=np.zeros((11, 10)))
    assert gap <= 1e-12


def test_weights_of_a_graph_multiply_its_norms():
    X, W = two_subspaces((5, 11), 77), ring_weights(11, 8)
    Z = np.random.default_rng(9).standard_normal((11, 11))
    whole = GraphRegularised(0.0, 2.0, W).value(X, Z)
    fit = GraphRegularised(0.0, 0.0, W).value(X, Z)
    assert GraphRegularised(0.0, 1.0, 2 * W).value(X, Z) == pytest.approx(whole, rel=1e-12)
    assert whole > fit


def test_a_loss_that_is_not_squares_has_no_critical_weight():
    with pytest.raises(ValueError, match=r"critical_weight needs the loss .* LrrColumnNoise has another"):
        LrrColumnNoise(1.0).critical_weight(np.eye(3))
