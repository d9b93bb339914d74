"""Memory that solvers and cuts take at their peak, known before they start.

Counted in arrays as large as the coefficients, and in what they take besides for many features, threads and
factorisations; measured, and rounded up. ``python -m benchmarks.soak memory`` compares it with what is taken.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqspan._core.threads import default_threads
from seqspan.cuts.ordered.cut import COARSE, EXACT_UP_TO
from seqspan.cuts.ordered.features import N_ANCHORS
from seqspan.cuts.spectral.n_subspaces import MAX_SUBSPACES
from seqspan.cuts.spectral.spectrum import DENSE_LIMIT, DEPTH, GUARD
from seqspan.models import Model
from seqspan.models.terms import SingularValues
from seqspan.solvers import ARRAYS
from seqspan.solvers.fast.sweeps import BLOCK_WIDTH

DOUBLE = 8  # bytes: factorisations are in double precision, whatever the samples are in
SPAN_COST = 4  # bytes
UNCOUPLED = 15.5  # arrays of the splitting solver where nothing couples the columns
LOW_RANK = 9  # arrays more, in double precision, for singular values


def solver_bytes(
    solver: str,
    model: Model,
    shape: tuple[int, int],
    dtype: npt.DTypeLike,
    *,
    n_atoms: int | None = None,
    n_threads: int | None = None,
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
    n_threads : int, optional
        Of the fast solver.

    Returns
    -------
    int

    Examples
    --------
    >>> from seqspan.models import Osc
    >>> round(solver_bytes("fast", Osc(0.1, 1.0), (30, 10_000), np.float32, n_threads=2) / 1e9, 1)
    1.4
    """
    d, n = shape
    size = np.dtype(dtype).itemsize
    m = n if n_atoms is None else n_atoms
    if solver == "fast":
        buffers = n * BLOCK_WIDTH * (2 * (n_threads or default_threads()) + 1)
        return int(size * (ARRAYS[solver] * m * n + buffers + 3 * d * n) + _factorisation(d, m))
    if solver == "closed_form":
        return int((size + ARRAYS[solver] * DOUBLE) * n * n + _factorisation(d, n))
    arrays = UNCOUPLED if solver == "splitting" and model.coupling is None else ARRAYS[solver]
    singular = LOW_RANK * DOUBLE if isinstance(model.penalty, SingularValues) else 0
    return int((size * arrays + singular) * n * n + 3 * size * d * n)


def _factorisation(d: int, n: int) -> int:
    """Singular values and vectors of (d, n), in double precision."""
    return DOUBLE * (3 * d * n + 11 * min(d, n) ** 2)


def cut_bytes(cut: str, shape: tuple[int, int], dtype: npt.DTypeLike, n_subspaces: int | str) -> int:
    """Most memory that a cut holds at once, the coefficients not included.

    Parameters
    ----------
    cut : {"ncut", "ordered", "peaks"}
    shape : (m, n)
        Of the coefficients.
    dtype : float32 or float64
    n_subspaces : int or str

    Returns
    -------
    int

    Examples
    --------
    >>> cut_bytes("peaks", (1000, 1000), float, "auto") / 1e6
    16.0
    """
    m, n = shape
    size = np.dtype(dtype).itemsize
    if cut == "peaks":
        return 2 * size * m * n
    if cut == "ordered":
        anchors, grid = min(n, N_ANCHORS), n if n <= EXACT_UP_TO else COARSE
        features = 2 * size * (m + n) * anchors + 5 * DOUBLE * anchors * anchors
        return features + SPAN_COST * grid * grid
    if n_subspaces == 1:
        return 2 * size * m * n
    count = MAX_SUBSPACES + 1 if isinstance(n_subspaces, str) else n_subspaces
    vectors = (count + GUARD) * DEPTH
    if n <= DENSE_LIMIT or vectors > n:
        return 2 * size * m * n + 6 * DOUBLE * n * n
    return 2 * size * m * n + 4 * DOUBLE * n * vectors
