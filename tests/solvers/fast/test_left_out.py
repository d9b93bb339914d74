"""Coordinates of the samples that are left out because the gap does not notice them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqspan.models import Osc, SpatSc
from seqspan.solvers import Stopping
from seqspan.solvers.fast import reduced
from seqspan.solvers.fast.reduced import reduce
from seqspan.solvers.fast.solver import least_objective, solve_fast

MODELS = [Osc(0.1, 1.0), Osc(0.02, 0.3, zero_diagonal=True), SpatSc(0.1, 0.01)]


@pytest.fixture(autouse=True)
def _leave_out_of_few_coordinates(monkeypatch):
    monkeypatch.setattr(reduced, "MIN_COORDINATES", 5)


def decaying(d: int, n: int, seed: int = 0) -> np.ndarray:
    """Unit columns whose singular values fall off slowly, as those of films do."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(rng.standard_normal((d, n)), axis=1) + 3 * rng.standard_normal((d, 1))
    X = steps / (1 + np.arange(d))[:, None]
    return np.asarray(X / np.linalg.norm(X, axis=0))


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("d", [60, 200])  # the SVD and the Gram matrix
def test_objective_and_bound_hold_for_all_coordinates(model, d):
    X = decaying(d, 120)
    found = solve_fast(model, X, stopping=Stopping(1e-2))
    assert found.state.fitted.shape[1] < min(X.shape)  # something was left out
    assert found.gap <= 1e-2
    value = model.value(X, found.Z)
    assert value <= found.objective <= value * (1 + 1e-2)
    minimum = solve_fast(model, X, stopping=Stopping(1e-6)).objective
    assert found.objective * (1 - found.gap) <= minimum * (1 + 1e-9)


@pytest.mark.parametrize("d", [60, 200])
def test_the_loss_left_out_is_bounded(d):
    X = decaying(d, 120)
    rng = np.random.default_rng(1)
    data = reduce(X, float, negligible=0.05)
    norm, largest = data.left_out
    assert 0 < norm**2 / 2 <= 0.05
    for scale in (0.0, 0.1, 1.0, 10.0):
        Z = scale * rng.standard_normal((120, 120))
        whole = np.sum((X - X @ Z) ** 2) / 2
        kept = sum(np.sum(E**2) for _, E in data.residuals((data.Q.T @ Z).T)) / 2
        assert kept <= whole + 1e-9
        assert whole <= kept + data.left_out_loss(float(np.linalg.norm(Z))) + 1e-9
    assert largest <= norm


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_least_objective_is_below_the_minimum(model):
    X = decaying(40, 60)
    least = least_objective(model, X)
    assert 0 < least <= solve_fast(model, X, stopping=Stopping(1e-6)).objective
    assert least_objective(model, np.zeros_like(X)) == 0


def test_a_warm_start_may_need_other_coordinates():
    X, model = decaying(200, 120), Osc(0.1, 1.0)
    first = solve_fast(model, X, stopping=Stopping(1e-2))
    rank = first.state.fitted.shape[1]
    second = solve_fast(replace(model, lam2=1.1), X, stopping=Stopping(1e-5), start=first.state)
    assert second.state.fitted.shape[1] > rank
    assert second.gap <= 1e-5
