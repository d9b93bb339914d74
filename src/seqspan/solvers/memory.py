"""Peak memory of the solvers, estimated before they start.

Counted in arrays the size of the coefficients, plus the memory for features, threads and factorisations. The
numbers were measured and rounded up. ``python -m benchmarks.soak memory`` compares them with actual use.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqspan._core.memory import DOUBLE_BYTES
from seqspan._core.threads import count_threads
from seqspan.models import Model
from seqspan.models.terms import SingularValues
from seqspan.solvers.fast.sweeps import BLOCK_WIDTH, LANDMARK_WIDTH

#: Peak number of n x n arrays of each solver, coefficients included.
PEAK_ARRAYS = {
    "vladmap": 21.5, "ladmpsap": 22, "sylvester": 32, "splitting": 28, "closed_form": 2.5, "fast": 3.5,
}  # fmt: skip
UNCOUPLED_ARRAYS = 15.5  # n x n arrays of the splitting solver for models without a coupling
LOW_RANK_ARRAYS = 9  # additional n x n arrays, in double precision, for singular values


def solver_bytes(
    solver: str,
    model: Model,
    shape: tuple[int, int],
    dtype: npt.DTypeLike,
    *,
    n_atoms: int | None = None,
    n_jobs: int | None = None,
) -> int:
    """Peak memory of a solver in bytes, coefficients included.

    Parameters
    ----------
    solver : str
        A name in :data:`seqspan.solvers.SOLVERS`.
    model : Model
    shape : (d, n)
        Shape of the samples as columns.
    dtype : float32 or float64
    n_atoms : int, optional
        Number of landmarks, if the fast solver uses them instead of the samples.
    n_jobs : int, optional
        Number of threads of the fast solver.

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
        buffers = n * (BLOCK_WIDTH if n_atoms is None else LANDMARK_WIDTH) * (count_threads(n_jobs) + 1)
        return int(size * (PEAK_ARRAYS[solver] * m * n + buffers + 3 * d * n) + _svd_bytes(d, m))
    if solver == "closed_form":
        return int((size + PEAK_ARRAYS[solver] * DOUBLE_BYTES) * n * n + _svd_bytes(d, n))
    arrays = UNCOUPLED_ARRAYS if solver == "splitting" and model.coupling is None else PEAK_ARRAYS[solver]
    singular = LOW_RANK_ARRAYS * DOUBLE_BYTES if isinstance(model.penalty, SingularValues) else 0
    return int((size * arrays + singular) * n * n + 3 * size * d * n)


def _svd_bytes(d: int, n: int) -> int:
    """Memory for an SVD of a (d, n) matrix in double precision."""
    return DOUBLE_BYTES * (3 * d * n + 11 * min(d, n) ** 2)
