"""Memory that a cut takes at its peak, known before it starts.

Counted in arrays as large as the coefficients and in what factorisations take; measured and rounded up.
``python -m benchmarks.soak memory`` compares it with what is really taken.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqspan._core.memory import DOUBLE_BYTES
from seqspan.cuts.ordered.cut import GRID_POINTS
from seqspan.cuts.ordered.features import N_ANCHORS
from seqspan.cuts.spectral.n_subspaces import MAX_SUBSPACES
from seqspan.cuts.spectral.spectrum import DENSE_LIMIT, DEPTH, GUARD

SINGLE = 4  # bytes: costs of spans are in single precision


def cut_bytes(cut: str, shape: tuple[int, int], dtype: npt.DTypeLike, n_subspaces: int | str) -> int:
    """Most memory that a cut holds at once, coefficients not included.

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
    affinity = 2 * np.dtype(dtype).itemsize * m * n  # the same for the differences that peaks are found in
    if cut == "ordered":
        return _ordered_bytes(m, n, np.dtype(dtype).itemsize)
    if cut == "peaks" or n_subspaces == 1:
        return affinity
    count = MAX_SUBSPACES + 1 if isinstance(n_subspaces, str) else n_subspaces
    n_vectors = (count + GUARD) * DEPTH
    dense = n <= DENSE_LIMIT or n_vectors > n
    return affinity + (6 * DOUBLE_BYTES * n * n if dense else 4 * DOUBLE_BYTES * n * n_vectors)


def _ordered_bytes(m: int, n: int, size: int) -> int:
    """Features of all samples, then costs of all spans of the grid."""
    n_anchors = min(n, N_ANCHORS)
    n_grid = min(n, GRID_POINTS) + 1
    features = 2 * size * (m + n) * n_anchors + 5 * DOUBLE_BYTES * n_anchors * n_anchors
    return features + SINGLE * n_grid * n_grid
