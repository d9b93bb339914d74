"""v-LADMAP [paper, Algorithm 1]: linearises the loss and the augmented term; one prox per variable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqspan._core.solution import Solution
from seqspan._core.types import Array
from seqspan.models import Coupling, Model
from seqspan.solvers.loop import Algorithm, Stopping, run
from seqspan.solvers.published.common import (
    MU,
    MU_MAX,
    SETTLED_CHANGE,
    penalty_growth,
    require_coupling,
    require_squares,
)
from seqspan.solvers.scaling import at_ordinary_scale


@dataclass(frozen=True)
class State:
    """Iterates of Algorithm 1, and whether its stopping rule holds."""

    Z: Array
    J: Array
    Y: Array
    mu: float
    settled: bool = False


@at_ordinary_scale
def solve_vladmap(
    model: Model, X: Array, *, stopping: Stopping | None = None, start: State | None = None, mu: float = MU
) -> Solution[State]:
    """Minimise a model with coupled columns by v-LADMAP.

    With ``L_z = ||X||^2`` and ``eta_z = ||R||^2``, every step is a descent of the linearised problem. With
    bounded mu this converges, whereas the growth required by Lemma 3 stalls above the optimum.

    Parameters
    ----------
    model : Model with squared loss and a coupling
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
    >>> solution = solve_vladmap(Osc(0.1, 1.0), X, stopping=Stopping(tol=1e-3))
    >>> solution.converged, solution.gap <= 1e-3
    (True, True)
    """
    coupling = require_coupling(model, "vladmap")
    require_squares(model, "vladmap")
    stopping = stopping or Stopping()
    gamma = penalty_growth(stopping)
    lipschitz = float(np.linalg.norm(X, 2) ** 2)
    cold = _cold_start(coupling, X, mu)
    algorithm = Algorithm(
        step=lambda s: _step(model, coupling, X, s, lipschitz, gamma),
        certify=lambda s: (model.value(X, s.Z), model.lower_bound(X, X - X @ s.Z, -s.Y)),
        coefficients=lambda s: s.Z,
        settled=lambda _, s: s.settled,
    )
    return run(algorithm, start or cold, stopping, warm=start is not None)


def _cold_start(coupling: Coupling, X: Array, mu: float) -> State:
    """All zeros (the paper starts Y at one; the result does not depend on it)."""
    n = X.shape[1]
    Z = np.zeros((n, n), dtype=X.dtype)
    J = coupling.operator.apply(Z)
    return State(Z, J, np.zeros_like(J), mu)


def _step(model: Model, coupling: Coupling, X: Array, s: State, lipschitz: float, gamma: float) -> State:
    """One iteration of Algorithm 1."""
    operator, mu = coupling.operator, s.mu
    sigma = mu * operator.norm_squared() + lipschitz
    Y_ahead = s.Y + mu * (s.J - operator.apply(s.Z))
    Z = model.penalty.prox(s.Z + (X.T @ (X - X @ s.Z) + operator.adjoint(Y_ahead)) / sigma, 1 / sigma)
    ZR = operator.apply(Z)
    J = coupling.term.prox(ZR - s.Y / mu, 1 / mu)
    change = mu * max(np.linalg.norm(Z - s.Z), np.linalg.norm(J - s.J))
    settled = bool(np.linalg.norm(J - ZR) < SETTLED_CHANGE and change < SETTLED_CHANGE)
    growth = gamma if change < SETTLED_CHANGE else 1.0
    return State(Z, J, s.Y + mu * (J - ZR), min(MU_MAX, growth * mu), settled)
