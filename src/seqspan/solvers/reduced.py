"""The fit in few coordinates: after one thin SVD nothing depends on the number of features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg

from seqspan._types import Array


@dataclass(frozen=True)
class Reduced:
    """``||X - XZ||_F`` in the left singular basis of X = U diag(sigma) Q^T.

    ``U^T (X - X Z) = Y - diag(sigma) (Q^T Z)`` with ``Y = U^T X``; what U does not span is zero.
    Transposed, as everything the fast solver touches: one time step per row.

    Parameters
    ----------
    sigma : array of shape (r,)
    Q : array of shape (n_atoms, r)
    Y : array of shape (n, r)
    """

    sigma: Array
    Q: Array
    Y: Array

    @property
    def rank(self) -> int:
        """Number of coordinates."""
        return int(self.sigma.size)

    def residual(self, fitted: Array) -> Array:
        """``U^T (X - XZ)``, transposed, in double precision, from ``fitted = (Q^T Z)^T``."""
        return np.asarray(self.Y.astype(float) - self.sigma.astype(float) * fitted)


def reduce(X: Array, dtype: npt.DTypeLike) -> Reduced:
    """Decompose X in double precision, by whichever side is smaller, and keep what `dtype` resolves.

    Parameters
    ----------
    X : array of shape (d, n)
    dtype : float32 or float64

    Returns
    -------
    Reduced
    """
    X = np.asarray(X, dtype=float)
    d, n = X.shape
    precision = np.finfo(np.dtype(dtype)).eps
    if d <= n:
        sigma, Qt = linalg.svd(X, full_matrices=False, check_finite=False)[1:]
        resolution = 8 * precision
    else:
        w, Q = linalg.eigh(X.T @ X, check_finite=False)
        sigma, Qt = np.sqrt(np.maximum(w, 0)), Q.T
        # the Gram matrix squares the condition: below sqrt(eps) its eigenvalues are rounding
        resolution = max(8 * precision, np.sqrt(n * np.finfo(float).eps))
    kept = sigma > resolution * sigma.max()
    kept[np.argmax(sigma)] = True  # all-zero data keep a coordinate too
    sigma, Q = sigma[kept], np.ascontiguousarray(Qt[kept].T)
    return Reduced(sigma.astype(dtype), Q.astype(dtype), (Q * sigma).astype(dtype))
