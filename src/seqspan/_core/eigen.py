"""Eigenvalues of dense symmetric matrices, with a fallback for when LAPACK's fastest driver fails."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from seqspan._core.types import Array


def symmetric_eigenpairs(matrix: Array, count: int | None = None) -> tuple[Array, Array]:
    """The largest eigenvalues, in ascending order, and their eigenvectors.

    LAPACK's MRRR driver sometimes fails on repeated eigenvalues, which equal samples produce. Divide and
    conquer does not.

    Parameters
    ----------
    matrix : array of shape (n, n)
    count : int, optional
        How many eigenvalues; all by default.

    Returns
    -------
    values : array of shape (count,)
    vectors : array of shape (n, count)

    Examples
    --------
    >>> symmetric_eigenpairs(np.diag([3.0, 1.0, 2.0]), 2)[0]
    array([2., 3.])
    """
    n = len(matrix)
    first = 0 if count is None else max(n - count, 0)
    try:
        values, vectors = eigh(matrix, subset_by_index=(first, n - 1) if first else None, check_finite=False)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        values, vectors = values[first:], vectors[:, first:]
    return values, vectors
