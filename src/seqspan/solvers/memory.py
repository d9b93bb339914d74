"""Memory that solvers take at their peak, known before they start.

Counted in arrays as large as the coefficients, plus what many features, threads and factorisations take;
measured and rounded up. ``python -m benchmarks.soak memory`` compares it with what is really taken.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqspan._core.threads import count_threads
from seqspan.models import Model
from seqspan.models.terms import SingularValues
from seqspan.solvers.fast.sweeps import BLOCK_WIDTH

DOUBLE = 8  # bytes: factorisations are in double precision, whatever the samples are in
#: Arrays of n x n at the peak of each solver, coefficients included.
ARRAYS = {"vladmap": 21.5, "ladmpsap": 22, "sylvester": 32, "splitting": 28, "closed_form": 2.5, "fast": 3.5}
UNCOUPLED = 15.5  # arrays of the splitting solver if nothing couples the columns
LOW_RANK = 9  # further arrays, in double precision, for singular values


def solver_bytes(
    solver: str,
    model: Model,
    shape: tuple[int, int],
    dtype: npt.DTypeLike,
    *,
    n_atoms: int | None = None,
    n_jobs: int | None = None,
) -> int:
    """Most memory that a solver holds at once, coefficients included.

    Parameters
    ----------
    solver : str
        A name in :data:`seqspan.solvers.SOLVERS`.
    model : Model
    shape : (d, n)
        Of the samples, as columns.
    dtype : float32 or float64
    n_atoms : int, optional
        Landmarks in place of samples, for the fast solver.
    n_jobs : int, optional
        Of the fast solver.

    Returns
    -------
    int

    Examples
    --------
    >>> from seqspan.models import Osc
    >>> round(solver_bytes("fast", Osc(0.1, 1.0), (30, 10_000), np.float32, n_jobs=2) / 1e9, 1)
    1.4
    """
    d, n = shape
    size = np.dtype(dtype).itemsize
    m = n if n_atoms is None else n_atoms
    if solver == "fast":
        buffers = n * BLOCK_WIDTH * (2 * count_threads(n_jobs) + 1)
        return int(size * (ARRAYS[solver] * m * n + buffers + 3 * d * n) + _factorisation(d, m))
    if solver == "closed_form":
        return int((size + ARRAYS[solver] * DOUBLE) * n * n + _factorisation(d, n))
    arrays = UNCOUPLED if solver == "splitting" and model.coupling is None else ARRAYS[solver]
    singular = LOW_RANK * DOUBLE if isinstance(model.penalty, SingularValues) else 0
    return int((size * arrays + singular) * n * n + 3 * size * d * n)


def _factorisation(d: int, n: int) -> int:
    """Singular values and vectors of (d, n), in double precision."""
    return DOUBLE * (3 * d * n + 11 * min(d, n) ** 2)
