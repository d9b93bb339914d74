"""The published algorithms step by step, against the paper's equations typed out with dense matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.oracles import dense_R
from tests.problems import WIDE, two_subspaces

from seqspan.models import GraphRegularised, Lrr, Osc, OscLowRank, SpatSc, Ssc
from seqspan.solvers import SOLVERS, Stopping
from seqspan.solvers.published import common as published
from seqspan.solvers.published import ladmpsap, sylvester, vladmap

PUBLISHED = ("vladmap", "ladmpsap", "sylvester")
N = WIDE[1]


def _soft(V, t):
    return np.sign(V) * np.maximum(np.abs(V) - t, 0)


def _columns(V, t):
    return np.column_stack([max(1 - t / np.linalg.norm(v), 0) * v for v in V.T])


def _drawn(seed):
    rng = np.random.default_rng(seed)
    return two_subspaces(WIDE, seed), lambda *shape: rng.standard_normal(shape)


@pytest.mark.parametrize(("seed", "mu", "gamma"), [(1, 1.0, 1.0), (2, 0.3, 1.1)])
def test_vladmap_is_algorithm_1(seed, mu, gamma):
    X, draw = _drawn(seed)
    R, lam1, lam2 = dense_R(N), 0.1, 0.7
    Z0, J0, Y0 = draw(N, N), draw(N, N - 1), draw(N, N - 1)
    lipschitz = np.linalg.norm(X, 2) ** 2
    sigma = mu * 4 + lipschitz  # ||R||^2 < 4
    gradient = -X.T @ (X - X @ Z0) - (Y0 + mu * (J0 - Z0 @ R)) @ R.T
    Z = _soft(Z0 - gradient / sigma, lam1 / sigma)
    J = _columns(Z @ R - Y0 / mu, lam2 / mu)
    Y = Y0 + mu * (J - Z @ R)
    model = Osc(lam1, lam2)
    s = vladmap._step(model, model.coupling, X, vladmap.State(Z0, J0, Y0, mu), lipschitz, gamma)
    for got, expected in ((s.Z, Z), (s.J, J), (s.Y, Y)):
        np.testing.assert_allclose(got, expected, atol=1e-12)
    assert s.mu == mu  # a large change: the penalty stays
    assert not s.settled


@pytest.mark.parametrize(("seed", "mu"), [(3, 1.0), (4, 0.2)])
def test_ladmpsap_is_algorithm_2_with_its_steps_mended(seed, mu):
    X, draw = _drawn(seed)
    R, lam1, lam2 = dense_R(N), 0.1, 0.7
    Z0, E0, J0 = draw(N, N), draw(*X.shape), draw(N, N - 1)
    Y1, Y2 = draw(*X.shape), draw(N, N - 1)
    norm = np.linalg.norm(X, 2) ** 2
    eta = 3 * 1.02
    sigma_z, sigma = mu * eta * (norm + 4), mu * eta
    ahead1, ahead2 = Y1 + mu * (X @ Z0 - X + E0), Y2 + mu * (J0 - Z0 @ R)
    Z = _soft(Z0 - (X.T @ ahead1 - ahead2 @ R.T) / sigma_z, lam1 / sigma_z)
    # argmin ||E||^2/2 + <ahead1, E> + sigma/2 ||E - E0||^2, by its derivative
    E = (sigma * E0 - ahead1) / (1 + sigma)
    J = _columns(J0 - ahead2 / sigma, lam2 / sigma)
    model = Osc(lam1, lam2)
    state = ladmpsap.State(Z0, E0, J0, Y1, Y2, mu)
    s = ladmpsap._step(model, model.coupling, X, state, norm, 1.1)
    expected = (Z, E, J, Y1 + mu * (X @ Z - X + E), Y2 + mu * (J - Z @ R))
    for got, wanted in zip((s.Z, s.E, s.J, s.Y1, s.Y2), expected, strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12)


@pytest.mark.parametrize(("seed", "mu"), [(5, 1.0), (6, 2.5)])
def test_sylvester_minimises_the_augmented_lagrangian_over_S(seed, mu):
    """The Sylvester equation is solved as one large linear system here."""
    X, draw = _drawn(seed)
    R, lam1, lam2 = dense_R(N), 0.1, 0.7
    S0, J0, Y1, Y2 = draw(N, N), draw(N, N - 1), draw(N, N), draw(N, N - 1)
    G = X.T @ X
    Z = _soft(S0 - Y1 / mu, lam1 / mu)
    right = G + mu * Z + Y1 + (mu * J0 + Y2) @ R.T
    # column-major: vec(A S) = (I x A) vec S, vec(S B) = (B^T x I) vec S
    system = np.kron(np.eye(N), G + mu * np.eye(N)) + np.kron(mu * R @ R.T, np.eye(N))
    S = np.linalg.solve(system, right.ravel(order="F")).reshape(N, N, order="F")
    J = _columns(S @ R - Y2 / mu, lam2 / mu)
    model = Osc(lam1, lam2)
    state = sylvester.State(Z, S0, J0, Y1, Y2, mu)
    s = sylvester._step(model, model.coupling, G, R @ R.T, state, 1.1)
    expected = (Z, S, J, Y1 + mu * (Z - S), Y2 + mu * (J - S @ R))
    for got, wanted in zip((s.Z, s.S, s.J, s.Y1, s.Y2), expected, strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-11)
    assert s.mu == pytest.approx(1.1 * mu)


@pytest.mark.parametrize("seed", [7, 8])
def test_the_result_does_not_depend_on_where_the_multipliers_start(seed):
    """The paper starts them at one, the authors' code at zero."""
    X = two_subspaces(WIDE, seed)
    model, stopping = Osc(0.1, 0.2), Stopping(tol=1e-6, max_iter=30_000)
    shape = (N, N - 1)
    zero, one = np.zeros((N, N)), np.ones(shape)
    start1 = vladmap.State(zero, np.zeros(shape), one, 0.3)
    start2 = ladmpsap.State(zero, np.zeros_like(X), np.zeros(shape), np.ones_like(X), one, 0.3)
    for name, start in (("vladmap", start1), ("ladmpsap", start2)):
        from_zero = SOLVERS[name](model, X, stopping=stopping, mu=0.3)
        from_one = SOLVERS[name](model, X, stopping=stopping, start=start)
        assert from_one.objective == pytest.approx(from_zero.objective, rel=2e-6)  # both within tol


@pytest.mark.parametrize("name", PUBLISHED)
def test_mu_changes_the_way_and_not_the_end(name):
    X = two_subspaces(WIDE, 9, noise=0.3)
    model, stopping = Osc(0.1, 0.2), Stopping(tol=1e-5, max_iter=30_000)
    runs = [SOLVERS[name](model, X, stopping=stopping, mu=mu) for mu in (0.2, 1.0)]
    assert runs[0].history[0].objective != runs[1].history[0].objective
    assert runs[0].objective == pytest.approx(runs[1].objective, rel=2e-5)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_penalty_grows_with_the_published_rule_only(name):
    X = two_subspaces(WIDE, 10)
    model = Osc(0.1, 0.2)
    certified = SOLVERS[name](model, X, stopping=Stopping(tol=1e-3, max_iter=30_000))
    by_rule = SOLVERS[name](model, X, stopping=Stopping(published=True, max_iter=30_000))
    assert certified.state.mu == published.MU
    assert published.MU < by_rule.state.mu <= published.MU_MAX


@pytest.mark.parametrize("module", [vladmap, ladmpsap])
def test_the_penalty_grows_up_to_its_limit_when_little_changes(module):
    """At a fixed point nothing changes, so the penalty takes its factor, and stops at mu_max."""
    X = two_subspaces(WIDE, 11)
    model = Osc(100.0, 1.0)  # Z = 0 is optimal
    step = lambda s: module._step(model, model.coupling, X, s, np.linalg.norm(X, 2) ** 2, 1.1)  # noqa: E731
    start = module._cold_start(model.coupling, X, 1.0)
    if module is ladmpsap:
        start = replace(start, E=X, Y1=-X)
    assert step(start).mu == pytest.approx(1.1)
    assert step(start).settled
    assert step(replace(start, mu=published.MU_MAX)).mu == published.MU_MAX


@pytest.mark.parametrize("module", [vladmap, ladmpsap])
def test_small_steps_alone_are_not_settled(module):
    """Changes are counted times mu: with a tiny one they vanish while the constraints are far from met."""
    X, draw = _drawn(19)
    model = Osc(0.1, 0.7)
    cold = module._cold_start(model.coupling, X, 1e-9)
    s = module._step(model, model.coupling, X, replace(cold, Z=draw(N, N)), np.linalg.norm(X, 2) ** 2, 1.1)
    assert s.mu > 1e-9  # so the change did count as small
    missed = s.J - s.Z @ dense_R(N) if module is vladmap else X @ s.Z + s.E - X
    assert np.linalg.norm(missed) > 0.1
    assert not s.settled


def test_sylvester_does_not_settle_before_it_has_started():
    """Z rests at zero until S has pulled it over the threshold lam1 / mu; that is no stop."""
    X = two_subspaces(WIDE, 12)
    for mu in (0.05, 1.0):
        solution = SOLVERS["sylvester"](Osc(0.1, 0.2), X, mu=mu, stopping=Stopping(published=True))
        assert np.any(solution.Z)
    # and where zero is optimal it does stop there
    solution = SOLVERS["sylvester"](Osc(5.0, 0.2), X, stopping=Stopping(published=True, max_iter=500))
    assert solution.converged
    assert not np.any(solution.Z)


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("model", [Ssc(0.1), Lrr(0.1)])
def test_models_without_a_coupling_are_refused(name, model):
    with pytest.raises(ValueError, match=f"{name} solves models that couple columns; {type(model).__name__}"):
        SOLVERS[name](model, two_subspaces(WIDE, 13))


class _OtherLoss(Osc):
    @property
    def loss(self):
        from seqspan.models.terms import Absolute

        return Absolute(1.0)


@pytest.mark.parametrize("name", ["vladmap", "sylvester"])
def test_other_losses_are_refused(name):
    with pytest.raises(ValueError, match=rf"{name} needs the loss \|\|X - XZ\|\|_F\^2 / 2"):
        SOLVERS[name](_OtherLoss(0.1, 0.2), two_subspaces(WIDE, 14))


@pytest.mark.parametrize("seed", [15, 16])
def test_ladmpsap_takes_any_loss(seed):
    """l1 loss with a coupling: no other published scheme solves it, splitting does."""
    X = two_subspaces(WIDE, seed, noise=0.3)
    model = _OtherLoss(0.3, 0.2)
    other = SOLVERS["splitting"](model, X, stopping=Stopping(tol=1e-3, max_iter=20_000))
    here = SOLVERS["ladmpsap"](model, X, stopping=Stopping(tol=1e-3, max_iter=20_000), mu=0.3)
    assert here.objective == pytest.approx(other.objective, rel=1e-3)


@pytest.mark.parametrize("name", PUBLISHED)
def test_strongly_coupled_columns_become_equal(name):
    X = two_subspaces(WIDE, 17)
    Z = SOLVERS[name](Osc(0.05, 50.0), X, stopping=Stopping(tol=1e-6, max_iter=30_000)).Z
    assert np.abs(Z).max() > 1e-2
    # lam2 ||ZR|| <= tol * objective, and the objective is below 5.5
    assert 50 * np.linalg.norm(Z @ dense_R(N), axis=0).sum() <= 1e-6 * 10


def test_what_each_can_solve_is_said_in_types():
    X = two_subspaces(WIDE, 18)
    W = np.zeros((N, N))
    W[0, 1] = W[1, 0] = 1.0
    for model in (Osc(0.1, 1.0), SpatSc(0.1, 0.01), OscLowRank(0.1, 0.1), GraphRegularised(0.1, 0.1, W)):
        for name in PUBLISHED:
            assert SOLVERS[name](model, X, stopping=Stopping(tol=0.3)).gap <= 0.3
