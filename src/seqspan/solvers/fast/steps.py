"""Iterations of the fast solver, and how they adapt the penalties.

The two penalties are balanced every few iterations. On the way to a tight gap, the second one also gets a
weight at each time step: a jump of length l is a term of curvature lam2 / l, and ADMM converges best if the
penalty grows with the curvature, so jumps that nearly vanish want a large one.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array
from seqspan.solvers.fast.sweeps import TINY, State, Sweeps

BALANCE_EVERY = 5  # iterations between updates of the penalties
BALANCE_UNTIL = 500  # iterations; then the penalties stay constant, as convergence proofs require
GROWING_RATIO = 1e-3  # r2 / r1, relative to the precision, up to which r2 may grow
STABLE_RATIO = 0.1  # r2 / r1, relative to the precision; beyond it iterates overflow as r1 shrinks
TARGET_RESIDUAL_RATIO = 0.1  # relative dual over primal residual; small, because the certificate lags
DEAD_ZONE = 0.2  # of the logarithm of a penalty: smaller changes are not worth a pass over the state
TIGHT_BELOW = 5e-3  # relative gap; before, nobody knows which jumps will vanish
WEIGH_EVERY = 20  # iterations between updates of the weights
MAX_CURVATURE = 1000.0  # of a jump's term, relative to the penalty, that a weight follows


def is_tight(sweeps: Sweeps, s: State) -> bool:
    """Whether the solver is on the way from a moderate gap to a tight one.

    Never for SpatSC: there a step has as many jumps as atoms, and one penalty for all of them.
    """
    return s.gap <= TIGHT_BELOW and not sweeps.entrywise


def advance(sweeps: Sweeps, s: State) -> State:
    """One iteration; every few iterations the penalties are adapted as well."""
    s.iteration += 1
    balance = s.iteration % BALANCE_EVERY == 0 and s.iteration <= BALANCE_UNTIL
    residuals = sweeps.iterate(s, measure=balance)
    if balance:
        _adapt_penalties(sweeps, s, residuals)
    return s


def advance_weighted(sweeps: Sweeps, s: State) -> State:
    """One iteration; on the way to a tight gap, time steps get weights."""
    advance(sweeps, s)
    if is_tight(sweeps, s) and s.iteration % WEIGH_EVERY == 0 and s.iteration <= BALANCE_UNTIL:
        _weigh_steps(sweeps, s)
    return s


def _adapt_penalties(sweeps: Sweeps, s: State, residuals: Array) -> None:
    """Move the ratios of the residuals towards their target."""
    factor_1, factor_2 = (_penalty_factor(*part) for part in (residuals[:4], residuals[4:]))
    # a very small lam1 would drive r1 below this, where (X^T X + r1 I) is numerically singular
    min_r1 = float(np.finfo(sweeps.dtype).eps * sweeps.eigenvalues.max())
    factor_1 = max(factor_1, min(min_r1 / s.r1, 1.0))
    # S is smoothed over sqrt(r2 / r1) steps; beyond some ratio rounding errors would outweigh r1
    largest = s.r1 * factor_1 / float(np.finfo(sweeps.dtype).eps)
    may_grow = max(GROWING_RATIO * largest / s.r2, 1.0)
    factor_2 = min(factor_2, may_grow, STABLE_RATIO * largest / s.r2)
    if (factor_1, factor_2) != (1.0, 1.0):
        sweeps.rescale(s, factor_1, factor_2)


def _penalty_factor(primal: float, scale: float, dual: float, dual_scale: float) -> float:
    """Factor that moves the ratio of the relative residuals towards its target; 1 if it is close."""
    if min(primal, scale, dual, dual_scale) <= 0:
        return 1.0
    ratio = np.sqrt(primal / scale) / np.sqrt(dual / dual_scale)
    factor = float(np.clip(np.sqrt(TARGET_RESIDUAL_RATIO * ratio), 0.5, 2.0))
    return factor if abs(np.log(factor)) > DEAD_ZONE else 1.0


def _weigh_steps(sweeps: Sweeps, s: State) -> None:
    """Weigh the time steps by the curvature of their jumps, on average by one."""
    steps = np.flatnonzero(sweeps.coupled[:-1])
    if not steps.size:  # every recording is a single sample
        return
    curvatures = sweeps.model.lam2 / np.maximum(sweeps.jumps(s)[steps], TINY)
    logarithms = np.log(np.clip(curvatures / s.r2, 1 / MAX_CURVATURE, MAX_CURVATURE)) / 2
    weights = sweeps.coupled.copy()
    weights[steps] = np.exp(logarithms - logarithms.mean())
    change = np.log(weights[steps] if s.weights is None else weights[steps] / s.weights[steps])
    if np.sqrt(np.mean(change**2)) > DEAD_ZONE:
        sweeps.weigh(s, weights)
