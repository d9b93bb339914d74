"""What the authors' code does without the paper saying so: ``Z >= 0``, and a step that may diverge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqspan._core.types import Array
from seqspan.models import Coupling, Osc, SpatSc, Ssc
from seqspan.models.prox import zero_diagonal
from seqspan.models.terms import Absolute, Term

# all of them from the authors' code
MAX_ITER = 200
STEP_MARGIN = 1.1  # by how much ||X||^2 is enlarged before its inverse becomes the step
MU_GROWTH, LARGEST_MU = 1.1, 100.0
SMALL_CHANGE = 1e-4  # of the iterates relative to ||X||, and of the objective
LARGEST_VIOLATION = 1.0  # of U = ZR, as a Frobenius norm
FIRST_OBJECTIVE_CHECK = 5  # iterations before a small change of the objective may stop the loop


@dataclass(frozen=True)
class NonNegative(Absolute):
    """``sum_ij weight_j A_ij`` subject to ``A >= 0``."""

    def value(self, A: Array) -> float:
        """Evaluate the term; infinite if an entry is negative."""
        return np.inf if A.min(initial=0) < 0 else super().value(A)

    def prox(self, A: Array, step: float) -> Array:
        """Lower every entry, down to zero at most."""
        B = np.maximum(A - step * np.asarray(self.weight), 0)
        return zero_diagonal(B) if self.zero_diagonal else B

    def limit(self, M: Array) -> Array:
        """``weight_j / max_i m_ij``: the conjugate bounds M only from above."""
        M = zero_diagonal(M) if self.zero_diagonal else M
        largest = np.maximum(M, 0).max(axis=0)
        with np.errstate(divide="ignore", over="ignore"):
            return np.where(largest > 0, self.weight / largest, np.inf)


class NonNegativeOsc(Osc):
    """OSC with ``Z >= 0``."""

    @property
    def penalty(self) -> Term:
        """Sum of non-negative entries."""
        return NonNegative(self.lam1, self.zero_diagonal)


class NonNegativeSpatSc(SpatSc):
    """SpatSC with ``Z >= 0``."""

    @property
    def penalty(self) -> Term:
        """Sum of non-negative entries."""
        return NonNegative(self.lam1, self.zero_diagonal)


class NonNegativeSsc(Ssc):
    """SSC with ``Z >= 0``."""

    @property
    def penalty(self) -> Term:
        """Sum of non-negative entries."""
        return NonNegative(self.lam, zero_diagonal=True)


def solve_as_coded(model: NonNegativeOsc | NonNegativeSpatSc, X: Array) -> tuple[Array, Array]:
    """Iterate as the authors' code does; its step ignores ``mu ||R||^2``, so it may diverge.

    Parameters
    ----------
    model : NonNegativeOsc or NonNegativeSpatSc
    X : array of shape (d, n)

    Returns
    -------
    Z : array of shape (n, n)
        The last iterate; entries may be astronomically large.
    V : array of shape (n, n - 1)
        The multiplier of ZR there.
    """
    coupling: Coupling = model.coupling
    forward, backward = coupling.operator.apply, coupling.operator.adjoint
    G, mu, step = X.T @ X, 1.0, 1 / (STEP_MARGIN * float(np.linalg.norm(X, 2)) ** 2)
    Z: Array = np.zeros_like(G)
    U = forward(Z)
    Y: Array = np.zeros_like(U)
    objective = np.inf
    with np.errstate(all="ignore"):
        for iteration in range(MAX_ITER):
            pull = mu * (U - forward(Z)) + Y
            Z_new = model.penalty.prox(Z - step * (G @ Z - G - backward(pull)), step)
            U_new = coupling.term.prox(U - step * pull, step)
            Y = Y + mu * (U_new - forward(Z_new))
            moved = float(max(np.linalg.norm(Z_new - Z), np.linalg.norm(U_new - U)) / np.linalg.norm(X))
            mu = min(LARGEST_MU, mu * MU_GROWTH) if mu * moved < SMALL_CHANGE else mu
            Z, U, before, objective = Z_new, U_new, objective, model.value(X, Z_new)
            # with the new mu
            feasible = mu * moved < SMALL_CHANGE and np.linalg.norm(U - forward(Z)) < LARGEST_VIOLATION
            settled = iteration >= FIRST_OBJECTIVE_CHECK and abs(objective - before) < SMALL_CHANGE
            if feasible or settled or not np.isfinite(objective):
                break
    return Z, -Y
