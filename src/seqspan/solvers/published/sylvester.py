"""The CVPR 2014 scheme: ADMM on S = Z and SR = J, with a Sylvester equation in every step.

Kept as published, cost included: every iteration takes O(n^3) time. :mod:`seqspan.solvers.fast` exploits the
structure of the same equation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_sylvester

from seqspan._core.solution import Solution
from seqspan._core.types import Array
from seqspan.models import Coupling, Model
from seqspan.solvers.loop import Algorithm, Stopping, run
from seqspan.solvers.published.common import MU, penalty_growth, require_coupling, require_squares
from seqspan.solvers.scaling import at_ordinary_scale

MIN_DECREASE = 1e-3  # of the objective per iteration; the published rule stops below it


@dataclass(frozen=True)
class State:
    """Iterates of the scheme: S is the smooth copy of Z; Y1 and Y2 multiply Z - S and J - SR."""

    Z: Array
    S: Array
    J: Array
    Y1: Array
    Y2: Array
    mu: float


@at_ordinary_scale
def solve_sylvester_admm(
    model: Model, X: Array, *, stopping: Stopping | None = None, start: State | None = None, mu: float = MU
) -> Solution[State]:
    """Minimise a model with coupled columns by the CVPR 2014 scheme.

    As published, the penalty grows by a factor of 1.1 in every step, which freezes the iterates before they
    are optimal. Here it grows only with ``Stopping(published=True)`` and is constant otherwise.

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
    >>> solution = solve_sylvester_admm(Osc(0.1, 1.0), X, stopping=Stopping(tol=1e-3))
    >>> solution.converged, solution.gap <= 1e-3
    (True, True)
    """
    coupling = require_coupling(model, "sylvester")
    require_squares(model, "sylvester")
    stopping = stopping or Stopping()
    G = X.T @ X
    laplacian = coupling.operator.adjoint(coupling.operator.apply(np.eye(len(G), dtype=X.dtype)))
    growth = penalty_growth(stopping)
    first = start or _cold_start(coupling, G, mu)

    def settled(old: State, new: State) -> bool:
        # Z starts at zero and stays there until S has pulled it over the threshold; that is not convergence
        waiting = np.array_equal(new.Z, first.Z) and np.linalg.norm(new.Z - new.S) > MIN_DECREASE
        return bool(not waiting and abs(model.value(X, old.Z) - model.value(X, new.Z)) < MIN_DECREASE)

    algorithm = Algorithm(
        step=lambda s: _step(model, coupling, G, laplacian, s, growth),
        certify=lambda s: (model.value(X, s.Z), model.lower_bound(X, X - X @ s.S, -s.Y2)),
        coefficients=lambda s: s.Z,
        settled=settled,
    )
    return run(algorithm, first, stopping, warm=start is not None)


def _cold_start(coupling: Coupling, G: Array, mu: float) -> State:
    """All zeros."""
    Z = np.zeros_like(G)
    J = coupling.operator.apply(Z)
    return State(Z, Z, J, Z, J, mu)


def _step(model: Model, coupling: Coupling, G: Array, laplacian: Array, s: State, growth: float) -> State:
    """One iteration: Z, then S by a Sylvester solve, then J, then the multipliers."""
    operator, mu = coupling.operator, s.mu
    Z = model.penalty.prox(s.S - s.Y1 / mu, 1 / mu)
    right_side = G + mu * Z + s.Y1 + operator.adjoint(mu * s.J + s.Y2)
    S = solve_sylvester(G + mu * np.eye(len(G), dtype=G.dtype), mu * laplacian, right_side)
    SR = operator.apply(S)
    J = coupling.term.prox(SR - s.Y2 / mu, 1 / mu)
    return State(Z, S, J, s.Y1 + mu * (Z - S), s.Y2 + mu * (J - SR), growth * mu)
