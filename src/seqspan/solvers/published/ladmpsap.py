"""LADMPSAP [paper, Algorithm 2]: the residual is a separate variable, and all updates run in parallel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqspan._core.solution import Solution
from seqspan._core.types import Array
from seqspan.models import Coupling, Model
from seqspan.solvers.loop import Algorithm, Stopping, run
from seqspan.solvers.published.common import MU, MU_MAX, SETTLED_CHANGE, penalty_growth, require_coupling
from seqspan.solvers.scaling import at_ordinary_scale

# Theorem 1's eta_z > ||X||^2 + ||R||^2 diverges: with three blocks updated in parallel, each needs three
# times its own norm. The extra 2 % keeps the inequality strict.
STEP_FACTOR = 3 * 1.02


@dataclass(frozen=True)
class State:
    """Iterates of Algorithm 2, and whether its stopping rule holds."""

    Z: Array
    E: Array
    J: Array
    Y1: Array
    Y2: Array
    mu: float
    settled: bool = False


@at_ordinary_scale
def solve_ladmpsap(
    model: Model, X: Array, *, stopping: Stopping | None = None, start: State | None = None, mu: float = MU
) -> Solution[State]:
    """Minimise a model with coupled columns by LADMPSAP; works with any loss.

    Parameters
    ----------
    model : Model with a coupling
    X : array of shape (d, n)
    stopping : Stopping, optional
    start : State, optional
        Warm start: the ``state`` of an earlier solution.
    mu : float
        Initial penalty.

    Returns
    -------
    Solution

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> from seqspan.models import Osc
    >>> X, labels = make_subspaces(3, 2, 20, 10, rng=0)
    >>> solution = solve_ladmpsap(Osc(0.1, 1.0), X, stopping=Stopping(tol=1e-3))
    >>> solution.converged, solution.gap <= 1e-3
    (True, True)
    """
    coupling = require_coupling(model, "ladmpsap")
    stopping = stopping or Stopping()
    gamma = penalty_growth(stopping)
    norm_squared = float(np.linalg.norm(X, 2) ** 2)
    cold = _cold_start(coupling, X, mu)
    algorithm = Algorithm(
        step=lambda s: _step(model, coupling, X, s, norm_squared, gamma),
        certify=lambda s: (model.value(X, s.Z), model.lower_bound(X, -s.Y1, -s.Y2)),
        coefficients=lambda s: s.Z,
        settled=lambda _, s: s.settled,
    )
    return run(algorithm, start or cold, stopping, warm=start is not None)


def _cold_start(coupling: Coupling, X: Array, mu: float) -> State:
    """All zeros. Y1 is (d, n) like the constraint it multiplies, not n x n as printed in the paper."""
    n = X.shape[1]
    Z = np.zeros((n, n), dtype=X.dtype)
    J = coupling.operator.apply(Z)
    return State(Z, np.zeros_like(X), J, np.zeros_like(X), np.zeros_like(J), mu)


def _step(model: Model, coupling: Coupling, X: Array, s: State, norm_squared: float, gamma: float) -> State:
    """One iteration of Algorithm 2: every block uses only the old values of the others."""
    operator, mu = coupling.operator, s.mu
    sigma_z = mu * STEP_FACTOR * (norm_squared + operator.norm_squared())
    sigma = mu * STEP_FACTOR
    Y1_ahead = s.Y1 + mu * (X @ s.Z - X + s.E)
    Y2_ahead = s.Y2 + mu * (s.J - operator.apply(s.Z))
    gradient = X.T @ Y1_ahead - operator.adjoint(Y2_ahead)
    Z = model.penalty.prox(s.Z - gradient / sigma_z, 1 / sigma_z)
    E = model.loss.prox(s.E - Y1_ahead / sigma, 1 / sigma)
    J = coupling.term.prox(s.J - Y2_ahead / sigma, 1 / sigma)
    misfit, jump = X @ Z - X + E, J - operator.apply(Z)
    scale = max(np.linalg.norm(X), np.finfo(X.dtype).tiny)  # X may be all zero
    moved = (Z - s.Z, E - s.E, J - s.J, operator.apply(Z - s.Z))
    change = mu * np.sqrt(norm_squared) / scale * max(np.linalg.norm(A) for A in moved)
    primal = max(np.linalg.norm(misfit), np.linalg.norm(jump)) / scale
    growth = gamma if change < SETTLED_CHANGE else 1.0
    settled = bool(primal < SETTLED_CHANGE and change < SETTLED_CHANGE)
    return State(Z, E, J, s.Y1 + mu * misfit, s.Y2 + mu * jump, min(MU_MAX, growth * mu), settled)
