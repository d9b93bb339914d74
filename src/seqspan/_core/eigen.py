"""Eigenvalues of dense symmetric matrices, with a fallback for when LAPACK's fastest driver fails."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from seqspan._core.types import Array


def symmetric_eigenpairs(matrix: Array, count: int | None = None) -> tuple[Array, Array]:
    """The largest eigenvalues, in ascending order, and their eigenvectors.

    LAPACK's MRRR driver sometimes fails on repeated eigenvalues, which equal samples produce, or finds fewer
    of them than it was asked for. Divide and conquer does not.

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
        if len(values) == n - first:
            return values, vectors
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(matrix)
    return values[first:], vectors[:, first:]


def principal_directions(samples: Array, count: int) -> Array:
    """Orthonormal directions in which samples are longest, from the smaller of their two Gram matrices.

    Parameters
    ----------
    samples : array of shape (d, n)
    count : int
        How many directions, at most; fewer if the samples span fewer.

    Returns
    -------
    array of shape (d, at most count)
        In descending order of importance.

    Examples
    --------
    >>> np.abs(principal_directions(np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]), 3))
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """
    d, n = samples.shape
    wide = d <= n
    values, vectors = symmetric_eigenpairs(samples @ samples.T if wide else samples.T @ samples, count)
    kept = values > max(d, n) * np.finfo(values.dtype).eps * values[-1]  # the others are rounding
    values, vectors = values[kept][::-1], vectors[:, kept][:, ::-1]
    return vectors if wide else np.asarray(samples @ (vectors / np.sqrt(values)))
