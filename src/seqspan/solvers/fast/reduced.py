"""The loss in few coordinates: after one thin SVD, nothing depends on the number of features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg

from seqspan._core.eigen import symmetric_eigenpairs
from seqspan._core.types import Array

BLOCK_SAMPLES = 16_384  # samples converted to double precision at a time
MIN_COORDINATES = 256  # fewer cost so little that none of them is left out
GRAM_ROWS = 1_024  # features converted to double precision at a time


def column_blocks(X: Array) -> Iterator[Array]:
    """Split X (d, n) into blocks of columns."""
    return (X[:, start : start + BLOCK_SAMPLES] for start in range(0, X.shape[1], BLOCK_SAMPLES))


@dataclass(frozen=True)
class Reduced:
    """``||X - XZ||_F`` in the left singular basis of X = U diag(sigma) Q^T.

    ``U^T (X - X Z) = Y - diag(sigma) (Q^T Z)`` with ``Y = U^T X``; the residual lies in the span of U.
    Arrays are transposed, as everywhere in the fast solver: one time step per row.

    The same holds for a dictionary ``D = U diag(sigma) Q^T`` instead of X, except for the part of X outside
    the span of U. It does not depend on Z and adds ``outside = ||X - U U^T X||_F^2 / 2`` to the objective.
    It adds as much to the lower bound if E contains it unscaled, because ``D^T`` maps it to zero.

    Coordinates in which the samples hardly extend may be left out. The loss can only become smaller by that,
    so a lower bound on the minimum stays one; and `left_out_loss` bounds what the objective lacks.

    Parameters
    ----------
    sigma : array of shape (r,)
    Q : array of shape (n_atoms, r)
    Y : array of shape (n, r)
    outside : float
    left_out : (float, float)
        Frobenius norm and largest singular value of the part of X that is left out.
    """

    sigma: Array
    Q: Array
    Y: Array
    outside: float = 0.0
    left_out: tuple[float, float] = (0.0, 0.0)

    def residuals(self, fitted: Array) -> Iterator[tuple[slice, Array]]:
        """``U^T (X - XZ)`` from ``fitted = (Q^T Z)^T``, transposed, in double precision, block by block."""
        for start in range(0, len(fitted), BLOCK_SAMPLES):
            rows = slice(start, start + BLOCK_SAMPLES)
            yield rows, self.residual(fitted, rows)

    def residual(self, fitted: Array, rows: slice) -> Array:
        """The same for some of the samples."""
        residual: Array = np.multiply(fitted[rows], self.sigma, dtype=float)
        return np.subtract(self.Y[rows], residual, out=residual)

    def left_out_loss(self, norm_Z: float) -> float:
        """Most that the coordinates left out add to the loss, for Z of this Frobenius norm."""
        norm, largest = self.left_out
        return (norm + largest * norm_Z) ** 2 / 2


def reduce_onto(D: Array, blocks: Iterable[Array], n: int, dtype: npt.DTypeLike) -> Reduced:
    """Decompose a dictionary and express samples in its coordinates, block by block to save memory.

    Parameters
    ----------
    D : array of shape (d, n_atoms)
    blocks : iterable of arrays of shape (d, any)
        The n columns of X, in order.
    n : int
    dtype : float32 or float64

    Returns
    -------
    Reduced

    Examples
    --------
    >>> reduced = reduce_onto(np.eye(3)[:, :2], [np.ones((3, 2)), np.ones((3, 2))], 4, float)
    >>> reduced.Q.shape, reduced.Y.shape, reduced.outside
    ((2, 2), (4, 2), 2.0)
    """
    U, sigma, Q = decompose_atoms(D, dtype)
    Y, outside, done = np.empty((n, sigma.size), dtype), 0.0, 0
    for block in blocks:
        X = np.asarray(block, dtype=float)
        inside = X.T @ U
        Y[done : done + len(inside)] = inside
        outside += float(np.sum((X - U @ inside.T) ** 2)) / 2
        done += len(inside)
    return Reduced(sigma.astype(dtype), Q.astype(dtype), Y, outside)


def decompose_atoms(D: Array, dtype: npt.DTypeLike) -> tuple[Array, Array, Array]:
    """``D = U diag(sigma) Q^T`` in double precision, with what `dtype` can resolve."""
    U, sigma, Qt = linalg.svd(np.asarray(D, dtype=float), full_matrices=False, check_finite=False)
    kept = sigma > 8 * np.finfo(np.dtype(dtype)).eps * sigma.max()
    kept[0] = True  # keep one coordinate even if the data are all zero
    return U[:, kept], sigma[kept], np.ascontiguousarray(Qt[kept].T)


def reduce(X: Array, dtype: npt.DTypeLike, negligible: float = 0.0) -> Reduced:
    """Decompose X in double precision along its smaller side, and keep what `dtype` can resolve.

    Parameters
    ----------
    X : array of shape (d, n)
    dtype : float32 or float64
    negligible : float
        Loss that may be left out: of many coordinates, the last ones that are no more than this in all.

    Returns
    -------
    Reduced

    Examples
    --------
    >>> reduce(np.eye(3), float).left_out_loss(1.0)
    0.0
    """
    d, n = X.shape
    precision = np.finfo(np.dtype(dtype)).eps
    if d <= n:
        sigma, Qt = linalg.svd(np.asarray(X, float), full_matrices=False, check_finite=False)[1:]
        resolution = 8 * precision
    else:
        gram = _gram(X)
        sigma = np.sqrt(np.maximum(linalg.eigvalsh(gram, check_finite=False)[::-1], 0))
        # the Gram matrix squares the condition number: below sqrt(eps) its eigenvalues are rounding error
        resolution = max(8 * precision, np.sqrt(n * np.finfo(float).eps))
    # one coordinate even if the data are all zero
    resolved = max(int(np.sum(sigma > resolution * sigma[0])), 1)
    kept = _count_needed(sigma[:resolved], negligible)
    left_out = float(np.linalg.norm(sigma[kept:resolved])), float(sigma[kept:resolved].max(initial=0))
    Q = Qt[:kept].T if d <= n else symmetric_eigenpairs(gram, kept)[1][:, ::-1]
    sigma, Q = sigma[:kept], np.ascontiguousarray(Q)
    return Reduced(sigma.astype(dtype), Q.astype(dtype), (Q * sigma).astype(dtype), left_out=left_out)


def _gram(X: Array) -> Array:
    """``X^T X`` in double precision, without a copy of all of X in it."""
    n = X.shape[1]
    gram = np.zeros((n, n))
    for start in range(0, len(X), GRAM_ROWS):
        rows = X[start : start + GRAM_ROWS].astype(float)
        gram += rows.T @ rows
    return gram


def _count_needed(sigma: Array, negligible: float) -> int:
    """How many of the descending singular values leave out no more than a negligible loss."""
    after = np.cumsum(sigma[::-1] ** 2)[::-1] / 2  # loss if a coordinate and all further ones are left out
    return min(max(int(np.sum(after > negligible)), MIN_COORDINATES), sigma.size)
