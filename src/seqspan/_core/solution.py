"""What a solver returns, and the progress it reports along the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from seqspan._core.types import Array

State = TypeVar("State")


@dataclass(frozen=True)
class Progress:
    """State of the solver at one of the iterations where the gap was computed.

    Parameters
    ----------
    iteration : int
    objective : float
    gap : float
        Duality gap relative to the objective.
    seconds : float
        Time since the solver was called.

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
    """Coefficients, how good they are, and the solver's state for a warm start.

    Parameters
    ----------
    Z : array of shape (n_atoms, n)
    objective : float
    gap : float
        Upper bound on how far the objective is above the minimum, as a fraction of the objective.
    n_iter : int
    converged : bool
        Whether the stopping rule was met.
    state : State
        For a warm start.
    history : list of Progress
    message : str
        Why the solution falls short of the requested tolerance; empty if it does not.

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
