"""The fast certified solver for OSC and SpatSC: ADMM on S = Z and SR = J, block by block.

Each iteration solves ``(X^T X + r1 I) S + r2 S R R^T = X^T X + F``, the Sylvester equation that made the
CVPR 2014 scheme slow. It exploits the structure: with ``X^T X = Q diag(w) Q^T`` from one thin SVD and
``T_c = (c + r1) I + r2 R R^T``,

    S = F T_0^-1 + Q [ (Q^T F + Q^T X^T X) T_w^-1 - (Q^T F) T_0^-1 ].

That is one tridiagonal recursion shared by all rows, r small ones, and two thin products.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from seqspan._core.solution import Solution
from seqspan._core.threads import Team
from seqspan._core.types import Array
from seqspan.models import Model, Osc, SpatSc
from seqspan.models.certificate import parabola_top
from seqspan.solvers.fast.certificate import certify
from seqspan.solvers.fast.coarse import coarsen, halve, prolong
from seqspan.solvers.fast.reduced import Reduced, column_blocks, reduce, reduce_onto
from seqspan.solvers.fast.steps import advance, advance_weighted
from seqspan.solvers.fast.sweeps import LANDMARK_WIDTH, TINY, State, Sweeps
from seqspan.solvers.loop import Algorithm, Stopping, run
from seqspan.solvers.scaling import at_ordinary_scale

PENALTIES = 10.0, 30.0  # initial r1, and initial r2 per unit of lam2; good for unit columns
MAX_INITIAL_R2 = 300.0  # a larger second penalty would drown the first in rounding error
MIN_COARSE_SAMPLES = 512  # with fewer samples the solver starts from zero
MIN_PART_SAMPLES = 4  # on average; with shorter recordings the solver starts from zero
COARSE_TOL = 0.02  # relative gap; the coarse problem is no better an approximation than this
COARSE_ITERATIONS = 200  # at most, for a coarse problem
NEGLIGIBLE = 0.03  # share of the gap that is not worth computing with more coordinates of the samples
CHECK_EVERY = 5  # iterations between certificates


@at_ordinary_scale
def solve_fast(
    model: Model,
    X: Array,
    *,
    dictionary: Array | None = None,
    stopping: Stopping | None = None,
    start: State | None = None,
    n_jobs: int | None = None,
) -> Solution[State]:
    """Minimise OSC or SpatSC in the precision of X (float32 or float64).

    Parameters
    ----------
    model : Osc or SpatSc
    X : array of shape (d, n)
    dictionary : array of shape (d, n_atoms), optional
        Atoms D that represent the samples instead of X: the loss is ``||X - DZ||_F^2 / 2``, Z (n_atoms, n).
    stopping : Stopping, optional
    start : State, optional
        Warm start: the ``state`` of an earlier solution. It is modified in place.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Returns
    -------
    Solution

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> from seqspan.models import Osc
    >>> X, labels = make_subspaces(3, 2, 20, 10, rng=0)
    >>> first = solve_fast(Osc(0.1, 1.0), X, stopping=Stopping(tol=1e-3))
    >>> second = solve_fast(Osc(0.1, 1.1), X, stopping=Stopping(tol=1e-3), start=first.state)
    >>> first.gap <= 1e-3, second.n_iter < first.n_iter
    (True, True)
    """
    if not isinstance(model, Osc | SpatSc):
        raise ValueError(f"the fast solver minimises Osc and SpatSc; got {type(model).__name__}.")
    began = time.perf_counter()
    if dictionary is not None:
        data = reduce_onto(dictionary, column_blocks(X), X.shape[1], X.dtype)
        return solve_reduced(model, data, stopping=stopping, start=start, n_jobs=n_jobs)
    with Team(n_jobs) as team:
        data = reduce(X, X.dtype, NEGLIGIBLE * (stopping or Stopping()).tol * least_objective(model, X))
        sweeps = Sweeps(model, data, team)
        state = _warm_start(start, sweeps) or _cold_start(model, X, sweeps)
        state.model = model
        algorithm = _algorithm(sweeps, advance_weighted)
        return run(algorithm, state, stopping or Stopping(), warm=start is not None, began=began)


def solve_reduced(
    model: Osc | SpatSc,
    data: Reduced,
    *,
    stopping: Stopping | None = None,
    start: State | None = None,
    n_jobs: int | None = None,
) -> Solution[State]:
    """Minimise OSC or SpatSC on samples that are already expressed in the coordinates of a dictionary.

    Parameters
    ----------
    model : Osc or SpatSc, with ``zero_diagonal=False`` because the atoms are not the samples
    data : Reduced
    stopping, start, n_jobs
        As for :func:`solve_fast`.

    Returns
    -------
    Solution
    """
    if model.zero_diagonal:
        raise ValueError("zero_diagonal=True needs the samples as atoms; got another dictionary.")
    began = time.perf_counter()
    with Team(n_jobs) as team:
        sweeps = Sweeps(model, data, team, width=LANDMARK_WIDTH)
        state = _warm_start(start, sweeps) or _cold_start_same_atoms(sweeps)
        state.model = model
        algorithm = _algorithm(sweeps, advance_weighted)
        return run(algorithm, state, stopping or Stopping(), warm=start is not None, began=began)


def least_objective(model: Osc | SpatSc, X: Array) -> float:
    """A lower bound on the minimum, from the dual point that is a multiple of X.

    Examples
    --------
    >>> from seqspan.models import Osc
    >>> round(least_objective(Osc(0.1, 1.0), np.eye(3)), 3)  # Z = 0 costs 1.5, Z = I costs 2.3
    0.285
    """
    squares = np.einsum("ij,ij->j", X, X, dtype=float)
    limit = model.lam1 / max(float(squares.max()), TINY)  # entries of X^T X are no larger
    total = np.asarray(squares.sum())
    return float(parabola_top(total, total / 2, np.asarray(limit)))


def _algorithm(sweeps: Sweeps, step: Callable[[Sweeps, State], State] = advance) -> Algorithm[State]:
    return Algorithm(
        step=lambda s: step(sweeps, s),
        certify=lambda s: certify(sweeps, s),
        coefficients=sweeps.coefficients,
        check_every=CHECK_EVERY,
    )


def _warm_start(start: State | None, sweeps: Sweeps) -> State | None:
    """The given state. If it is from another model, its penalties are reset, because they may not fit."""
    if start is not None and start.model != sweeps.model:
        r1, r2 = _penalties(sweeps.model)
        sweeps.weigh(start, sweeps.coupled)
        sweeps.rescale(start, r1 / start.r1, r2 / start.r2)
        sweeps.settle(start)  # recordings may end elsewhere
        start.iteration, start.weights = 0, None
    if start is not None and start.fitted.shape[1] != sweeps.rank:  # another gap takes other coordinates
        start.fitted = sweeps.evaluate(start)[2]
    return start


def _penalties(model: Osc | SpatSc) -> tuple[float, float]:
    """Initial penalties."""
    return PENALTIES[0], min(PENALTIES[1] * model.lam2, MAX_INITIAL_R2)


def _cold_start(model: Osc | SpatSc, X: Array, sweeps: Sweeps) -> State:
    """Start from the solution for the pairwise means, recursively down to a size that is almost free."""
    if not _worth_halving(sweeps):
        return sweeps.zero_state(*_penalties(model))
    if sweeps.rank < len(X):
        X = sweeps.data.Y.T  # the same samples in fewer coordinates
    means, coarse_model = halve(X, model.joins), coarsen(model)
    coarse = Sweeps(coarse_model, reduce(means, X.dtype), sweeps.team)
    return _start_from(coarse, _cold_start(coarse_model, means, coarse), sweeps)


def _cold_start_same_atoms(sweeps: Sweeps) -> State:
    """The same for a fixed dictionary: only the samples are averaged, not the atoms."""
    if not _worth_halving(sweeps):
        return sweeps.zero_state(*_penalties(sweeps.model))
    data, joins = sweeps.data, sweeps.model.joins
    means = replace(data, Y=np.ascontiguousarray(halve(data.Y.T, joins).T), outside=data.outside / 2)
    coarse = Sweeps(coarsen(sweeps.model, same_atoms=True), means, sweeps.team, width=sweeps.width)
    return _start_from(coarse, _cold_start_same_atoms(coarse), sweeps)


def _worth_halving(sweeps: Sweeps) -> bool:
    """Whether pairwise means are a much smaller problem: many short recordings have few pairs."""
    return bool(sweeps.n >= max(MIN_COARSE_SAMPLES, MIN_PART_SAMPLES * len(sweeps.recordings)))


def _start_from(coarse: Sweeps, state: State, sweeps: Sweeps) -> State:
    """Solve a coarse problem loosely and carry its state over."""
    algorithm = replace(_algorithm(coarse), coefficients=lambda s: np.empty((0, 0)))  # nobody needs them
    # no warning: any starting point will do
    solution = run(algorithm, state, Stopping(COARSE_TOL, COARSE_ITERATIONS), warns=False)
    coarse.release()
    return prolong(coarse, solution.state, sweeps)
