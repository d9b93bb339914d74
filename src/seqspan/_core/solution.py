"""What a solver returns, and what it says on the way there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from seqspan._core.types import Array

State = TypeVar("State")


@dataclass(frozen=True)
class Progress:
    """What is known after an iteration that was looked at.

    Parameters
    ----------
    iteration : int
    objective : float
    gap : float
        Relative to the objective.
    seconds : float
        Since the solver was called.

    Examples
    --------
    >>> Progress(iteration=20, objective=3.5, gap=0.004, seconds=0.01).gap
    0.004
    """

    iteration: int
    objective: float
    gap: float
    seconds: float


@dataclass(frozen=True)
class Solution(Generic[State]):
    """Coefficients, how good they are, and the solver's state to start again from.

    Parameters
    ----------
    Z : array of shape (n_atoms, n)
    objective : float
    gap : float
        By how much of the objective the minimum could be lower at most.
    n_iter : int
    converged : bool
        Whether the solver stopped because it was done.
    state : State
        For a warm start.
    history : list of Progress
    message : str
        What keeps the solution from being what was asked for; empty if nothing does.

    Examples
    --------
    >>> import numpy as np
    >>> from seqspan.models import Lsr
    >>> from seqspan.solvers import solve_closed_form
    >>> solution = solve_closed_form(Lsr(1.0), np.eye(2))
    >>> solution.Z.tolist(), solution.converged
    ([[0.5, 0.0], [0.0, 0.5]], True)
    """

    Z: Array
    objective: float
    gap: float
    n_iter: int
    converged: bool
    state: State
    history: list[Progress] = field(default_factory=list)
    message: str = ""
