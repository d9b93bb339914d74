"""Kernels: subspaces of a wider space, through features whose inner products are the kernel.

The models know the samples through X^T X alone, so any X with the kernel as its Gram matrix will do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from seqspan._core.checks import check_choice
from seqspan._core.eigen import symmetric_eigenpairs
from seqspan._core.memory import require_memory
from seqspan._core.scaling import scale_columns
from seqspan._core.types import Array

__all__ = ["kernel_map"]

Kernel: TypeAlias = "str | Callable[[Array, Array], Array]"
NAMES = ("linear", "cosine", "rbf")
LARGEST_EXACT = 2000  # samples; more are mapped by what they share with as many of them
NEGLIGIBLE = 1e-6  # of the largest eigenvalue
ROUNDING = 16  # units in the last place that a squared distance may be wrong by
TOLERANCE = 1e-3  # of the largest value: what a kernel may lack in symmetry and in sign


def check_kernel(kernel: Kernel) -> Kernel:
    """Return a kernel's name or function, or say what is wrong with it."""
    return kernel if callable(kernel) else check_choice("kernel", kernel, NAMES)


def kernel_map(X: Array, kernel: Kernel) -> Array:
    """Map samples so that their inner products are the kernel's values.

    Exact up to 2,000 samples; of more, 2,000 spread evenly in time span the space (Nystroem).

    Parameters
    ----------
    X : array of shape (d, n)
    kernel : {"linear", "cosine", "rbf"} or callable
        A callable gets two arrays of columns, (d, a) and (d, b), and returns the values, (a, b); they
        must be those of a kernel, with no negative eigenvalues to speak of. "rbf" is
        ``exp(-||x - y||^2 / m)``, with m the median squared distance.

    Returns
    -------
    Y : array of shape (r, n)
        ``Y^T Y`` is the kernel.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((3, 20))
    >>> Y = kernel_map(X, lambda A, B: (A.T @ B + 1) ** 2)
    >>> Y.shape, bool(np.allclose(Y.T @ Y, (X.T @ X + 1) ** 2))
    ((10, 20), True)
    """
    if kernel == "linear":
        return X
    if kernel == "cosine":
        return scale_columns(X)
    n = X.shape[1]
    few = min(n, LARGEST_EXACT)
    require_memory(
        8 * few * (12 * few + 5 * n), f"A kernel of {n} samples", "Take fewer samples, or kernel='linear'."
    )
    anchors = X[:, np.unique(np.linspace(0, n - 1, min(n, LARGEST_EXACT)).round().astype(np.intp))]
    function = kernel if callable(kernel) else _rbf(anchors)
    eigenvalues, vectors = _decompose(_values(function, anchors, anchors))
    kept = eigenvalues > NEGLIGIBLE * eigenvalues[-1]
    if not kept.any():  # a kernel of zeros, as of samples of zeros
        return np.zeros((1, n), dtype=X.dtype)
    mapped: Array = (vectors[:, kept] / np.sqrt(eigenvalues[kept])).T @ _values(function, anchors, X)
    return np.ascontiguousarray(mapped.astype(X.dtype, copy=False))


def _values(function: Callable[[Array, Array], Array], A: Array, B: Array) -> Array:
    """Values between two arrays of columns, checked."""
    values = np.asarray(function(A, B), dtype=np.float64)
    wanted = (A.shape[1], B.shape[1])
    if values.shape != wanted:
        raise ValueError(
            f"kernel must return values of shape {wanted} for {wanted[0]} and {wanted[1]} samples; "
            f"got shape {values.shape}."
        )
    if not np.all(np.isfinite(values)):
        raise ValueError(
            f"kernel must return finite values; got {values.size - np.isfinite(values).sum()} of "
            f"{values.size} that are not."
        )
    return values


def _decompose(values: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors of what must be a kernel."""
    size = float(np.abs(values).max())
    uneven = float(np.abs(values - values.T).max())
    if uneven > TOLERANCE * size:
        raise ValueError(
            f"kernel must be symmetric; got values that differ by {uneven:.3g} beside a largest of "
            f"{size:.3g}."
        )
    eigenvalues, vectors = symmetric_eigenpairs((values + values.T) / 2)
    if eigenvalues[0] < -TOLERANCE * max(eigenvalues[-1], 0):
        raise ValueError(
            f"kernel must have no negative eigenvalues; got one of {eigenvalues[0]:.3g} beside a largest of "
            f"{eigenvalues[-1]:.3g}."
        )
    return eigenvalues, vectors


def _rbf(anchors: Array) -> Callable[[Array, Array], Array]:
    """Gaussian kernel, as wide as the anchors are apart."""

    def distances(A: Array, B: Array) -> Array:
        sizes = np.sum(A**2, axis=0)[:, None] + np.sum(B**2, axis=0)
        squared = sizes - 2 * (A.T @ B)
        # what is left of equal samples is rounding, of either sign
        return np.asarray(np.where(squared > ROUNDING * np.finfo(A.dtype).eps * sizes, squared, 0))

    between = distances(anchors, anchors)[np.triu_indices(anchors.shape[1], 1)]
    positive = between[between > 0]
    width = float(np.median(positive)) if len(positive) else 1.0
    return lambda A, B: np.exp(-distances(A, B) / width)
