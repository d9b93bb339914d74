"""Solving at an ordinary scale: squares of very large or small samples over- or underflow.

Samples multiplied by a power of two have the same coefficients if the weights change accordingly
(:meth:`seqspan.models.Model.rescaled`), and multiplying by a power of two rounds nothing. Besides, the
initial penalties of all solvers were tuned for unit columns: on samples 256 times as long, the fast solver
would take more than 2,000 iterations instead of 25.
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

TUNED_BITS = 2  # samples whose norms are between 2**-2 and 2**3 converge as fast as unit columns
SAFE_BITS = 16  # squares of samples between 2**-16 and 2**16 stay within range in any precision

Solver = TypeVar("Solver", bound=Callable[..., Solution[Any]])


def at_ordinary_scale(solve: Solver) -> Solver:
    """Make a solver accept samples of any size; arrays among its arguments are samples or atoms.

    Examples
    --------
    >>> from seqspan.models import Lsr
    >>> from seqspan.solvers import solve_closed_form
    >>> solve_closed_form(Lsr(1e100), 1e50 * np.eye(2)).Z.round(9)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    @wraps(solve)
    def rescale_and_solve(model: Model, X: Array, *more: Any, **options: Any) -> Solution[Any]:
        stopping = options.get("stopping") or Stopping()
        # a published algorithm gets the samples as they are, if it can
        as_given = stopping.published or model.weight_powers is None
        exponent = -unusual_exponent(X, SAFE_BITS if as_given else TUNED_BITS)
        if not exponent:
            return solve(model, X, *more, **options)
        if options.get("dictionary") is not None:
            options["dictionary"] = np.ldexp(options["dictionary"], exponent)
        back = -exponent * model.objective_power
        options["stopping"] = replace(stopping, callback=_scaled_callback(stopping.callback, back))
        given = [np.ldexp(one, exponent) if hasattr(one, "dtype") else one for one in (X, *more)]
        solution = solve(model.rescaled(exponent), *given, **options)
        history = [_scaled(progress, back) for progress in solution.history]
        objective = times_power_of_two(solution.objective, back)
        if not np.isfinite(objective) or (objective == 0) != (solution.objective == 0):
            raise ValueError(
                f"The objective for samples as large as {largest_entry(X):.3g} is not a float: use samples "
                "of unit norm (normalize=True) or other units."
            )
        return replace(solution, objective=objective, history=history)

    return cast(Solver, rescale_and_solve)


def unusual_exponent(X: Array, bits: int = SAFE_BITS) -> int:
    """Binary exponent of the typical norm of a column; 0 if it is at most `bits`, either way.

    If the largest norm would then be out of range, it decides instead.

    Examples
    --------
    >>> unusual_exponent(np.array([[1.0, 3.0, 2.0]])), unusual_exponent(np.array([[2.0**40, 2.0**41, 3.0]]))
    (0, 40)
    """
    exponent = binary_exponent(X)
    norms = np.linalg.norm(np.ldexp(X, -exponent), axis=0)
    if not norms.any():
        return 0
    largest, typical = (exponent + binary_exponent(size) for size in (norms, np.median(norms[norms > 0])))
    exponent = max(typical, largest - SAFE_BITS)
    return exponent if abs(exponent) > bits else 0


def _scaled(progress: Progress, exponent: int) -> Progress:
    """Progress with the objective in the caller's units."""
    return replace(progress, objective=times_power_of_two(progress.objective, exponent))


def _scaled_callback(
    callback: Callable[[Progress], None] | None, exponent: int
) -> Callable[[Progress], None] | None:
    """A callback that gets the objective in the caller's units."""
    return None if callback is None else lambda progress: callback(_scaled(progress, exponent))
