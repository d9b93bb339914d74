"""Solving at an ordinary scale, because squares of very large or small samples over- or underflow.

Samples multiplied by a power of two have the same coefficients if the weights change accordingly
(:meth:`seqspan.models.Model.rescaled`), and multiplying by a power of two rounds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from seqspan._core.scaling import binary_exponent, largest_entry, times_power_of_two
from seqspan._core.solution import Progress, Solution
from seqspan._core.types import Array
from seqspan.models import Model
from seqspan.solvers.loop import Stopping

ORDINARY_BITS = 16  # largest entries between 2**-16 and 2**16 need no rescaling

Solver = TypeVar("Solver", bound=Callable[..., Solution[Any]])


def at_ordinary_scale(solve: Solver) -> Solver:
    """Make a solver accept samples of any size; all arrays after the model are samples or atoms.

    Examples
    --------
    >>> from seqspan.models import Lsr
    >>> from seqspan.solvers import solve_closed_form
    >>> solve_closed_form(Lsr(1e100), 1e50 * np.eye(2)).Z.round(9)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    @wraps(solve)
    def rescale_and_solve(model: Model, X: Array, *atoms: Array, **options: Any) -> Solution[Any]:
        exponent = -unusual_exponent(X)
        if not exponent:
            return solve(model, X, *atoms, **options)
        if options.get("dictionary") is not None:
            options["dictionary"] = np.ldexp(options["dictionary"], exponent)
        back = -exponent * model.objective_power
        stopping = options.get("stopping") or Stopping()
        options["stopping"] = replace(stopping, callback=_scaled_callback(stopping.callback, back))
        arrays = [np.ldexp(array, exponent) for array in (X, *atoms)]
        solution = solve(model.rescaled(exponent), *arrays, **options)
        history = [_scaled(progress, back) for progress in solution.history]
        objective = times_power_of_two(solution.objective, back)
        if not np.isfinite(objective) or (objective == 0) != (solution.objective == 0):
            raise ValueError(
                f"The objective for samples as large as {largest_entry(X):.3g} is not a float: use samples "
                "of unit norm (normalize=True) or other units."
            )
        return replace(solution, objective=objective, history=history)

    return cast(Solver, rescale_and_solve)


def unusual_exponent(X: Array) -> int:
    """Binary exponent of the largest entry if squares might leave the range of floats, otherwise 0.

    Examples
    --------
    >>> unusual_exponent(np.array([1.0, 3.0])), unusual_exponent(np.array([2.0**40]))
    (0, 40)
    """
    exponent = binary_exponent(X)
    return exponent if abs(exponent) > ORDINARY_BITS else 0


def _scaled(progress: Progress, exponent: int) -> Progress:
    """Progress with the objective in the caller's units."""
    return replace(progress, objective=times_power_of_two(progress.objective, exponent))


def _scaled_callback(
    callback: Callable[[Progress], None] | None, exponent: int
) -> Callable[[Progress], None] | None:
    """A callback that gets the objective in the caller's units."""
    return None if callback is None else lambda progress: callback(_scaled(progress, exponent))
