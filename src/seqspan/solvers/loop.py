"""The loop that all solvers share: when to compute the gap, when to stop, what to report."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from seqspan._core.convergence import warn_not_converged
from seqspan._core.solution import Progress, Solution
from seqspan._core.types import Array

State = TypeVar("State")


@dataclass(frozen=True)
class Stopping:
    """When to stop, and the callback that is notified.

    Parameters
    ----------
    tol : float
        Stop at ``gap <= tol``. The gap is relative to the objective.
    max_iter : int
    published : bool
        Stop by the rule in the solver's paper instead, if there is one. The gap is still reported.
    callback : callable, optional
        Called with a :class:`Progress` whenever the gap has been computed.

    Examples
    --------
    >>> Stopping(tol=1e-4).max_iter
    10000
    """

    tol: float = 1e-2
    max_iter: int = 10_000
    published: bool = False
    callback: Callable[[Progress], None] | None = None


@dataclass(frozen=True)
class Algorithm(Generic[State]):
    """What the loop needs from a solver.

    Parameters
    ----------
    step : callable, state -> state
    certify : callable, state -> (objective, lower bound on the minimum)
    coefficients : callable, state -> Z
    settled : callable, (old state, new state) -> bool
        The stopping rule in the solver's paper.
    check_every : int
        Iterations between certificates; a certificate costs about as much as this many iterations.

    Examples
    --------
    >>> halving = Algorithm(step=lambda z: z / 2, certify=lambda z: (1 + z, 1.0), coefficients=lambda z: z)
    >>> halving.step(1.0)
    0.5
    """

    step: Callable[[State], State]
    certify: Callable[[State], tuple[float, float]]
    coefficients: Callable[[State], Array]
    settled: Callable[[State, State], bool] | None = None
    check_every: int = 10


class _Record:
    """The history of certificates. The best lower bound so far remains valid."""

    def __init__(self, callback: Callable[[Progress], None] | None, began: float) -> None:
        self.history: list[Progress] = []
        self._best_bound = -np.inf
        self._callback = callback
        self._began = began

    def add(self, iteration: int, objective: float, bound: float) -> Progress:
        if not np.isfinite(objective):
            raise ValueError(
                f"The objective overflowed after {iteration} iterations: use samples of unit norm "
                "(normalize=True), float64 or smaller weights."
            )
        self._best_bound = max(self._best_bound, bound)
        # rounding may push the bound above the objective; a negative gap would only confuse
        gap = max(objective - self._best_bound, 0.0) / objective if objective != 0 else 0.0
        progress = Progress(iteration, objective, gap, time.perf_counter() - self._began)
        self.history.append(progress)
        if self._callback is not None:
            self._callback(progress)
        return progress


def run(
    algorithm: Algorithm[State],
    start: State,
    stopping: Stopping,
    *,
    warm: bool = False,
    began: float | None = None,
    warns: bool = True,
) -> Solution[State]:
    """Iterate until the certified gap, or the published rule, says stop.

    Parameters
    ----------
    algorithm : Algorithm
    start : State
    stopping : Stopping
    warm : bool
        Whether `start` may already be good enough. If so, it is certified before the first step.
    began : float, optional
        ``time.perf_counter()`` when the solver was called; now by default.
    warns : bool
        Whether to warn if the gap is too large at the end.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        If the objective overflows.

    Examples
    --------
    >>> halving = Algorithm(step=lambda z: z / 2, certify=lambda z: (1 + z, 1.0), coefficients=lambda z: z)
    >>> solution = run(halving, 1.0, Stopping(tol=1e-6))
    >>> solution.n_iter, solution.gap <= 1e-6
    (20, True)
    """
    record = _Record(stopping.callback, time.perf_counter() if began is None else began)
    published = stopping.published and algorithm.settled is not None
    state, iteration, settled = start, 0, False
    progress = record.add(0, *algorithm.certify(state)) if warm else None
    done = progress is not None and not published and progress.gap <= stopping.tol
    while not done and iteration < stopping.max_iter:
        previous, state = state, algorithm.step(state)
        iteration += 1
        if published and algorithm.settled is not None:
            settled = done = algorithm.settled(previous, state)
        elif iteration % algorithm.check_every == 0:
            progress = record.add(iteration, *algorithm.certify(state))
            done = progress.gap <= stopping.tol
    if progress is None or progress.iteration != iteration:
        progress = record.add(iteration, *algorithm.certify(state))
    converged = settled or (not published and progress.gap <= stopping.tol)
    wanted = "the published stopping rule" if published else f"tol={stopping.tol:.1e}"
    message = "" if converged or not warns else warn_of_gap(progress, wanted)
    Z = algorithm.coefficients(state)
    return Solution(Z, progress.objective, progress.gap, iteration, converged, state, record.history, message)


def warn_of_gap(progress: Progress, wanted: str) -> str:
    """Warn that the gap is too large, with the remedy, and return the message."""
    message = (
        f"Stopped after max_iter={progress.iteration} iterations with a relative duality gap of "
        f"{progress.gap:.1e}, before {wanted} was met. The result is within that gap of the optimum; raise "
        "max_iter or tol to silence this warning."
    )
    warn_not_converged(message, stacklevel=5)
    return message
