"""Kernels: functions of two samples, and features whose inner products are the kernel.

The models know samples through X^T X alone, so any X whose Gram matrix is the kernel will do. Kernels
compare all samples with a limited number of them, the anchors, so that no n x n kernel is needed for long
recordings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from seqspan._core.checks import check_choice
from seqspan._core.eigen import symmetric_eigenpairs
from seqspan._core.memory import require_memory
from seqspan._core.scaling import scale_columns
from seqspan._core.types import Array, IntArray

__all__ = ["kernel_map"]

Kernel: TypeAlias = "str | Callable[[Array, Array], Array]"
KERNELS = ("linear", "cosine", "rbf")
MAX_ANCHORS = 2000  # samples; up to this many the map is exact
MIN_EIGENVALUE = 1e-6  # of the largest; directions below are rounding
ROUNDING = 16  # units in the last place by which equal samples, and their distances, may differ
TOLERANCE = 1e-3  # of the largest value: how far a kernel may be from symmetric and positive semidefinite


def check_kernel(kernel: Kernel) -> Kernel:
    """Return a kernel's name or function, or say what is wrong with it."""
    return kernel if callable(kernel) else check_choice("kernel", kernel, KERNELS)


def kernel_map(X: Array, kernel: Kernel) -> Array:
    """Map samples so that their inner products are the kernel's values.

    Exact up to 2,000 samples. Of more, 2,000 spread evenly in time span the space (Nystroem).

    Parameters
    ----------
    X : array of shape (d, n)
    kernel : {"linear", "cosine", "rbf"} or callable
        A callable gets two arrays of columns, (d, a) and (d, b), and returns their values, (a, b). It must be
        symmetric and positive semidefinite. "rbf" is ``exp(-||x - y||^2 / m)``, with m the median squared
        distance.

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
    anchors = spread_anchors(n, MAX_ANCHORS)
    require_memory(
        8 * len(anchors) * (12 * len(anchors) + 5 * n),
        f"A kernel of {n} samples",
        "Use fewer samples, or kernel='linear'.",
    )
    between, to_all = _call(kernel, X, anchors) if callable(kernel) else _rbf(X, anchors)
    eigenvalues, vectors = _decompose(between)
    kept = eigenvalues > MIN_EIGENVALUE * eigenvalues[-1]
    if not kept.any():  # a kernel of zeros, as of samples of zeros
        return np.zeros((1, n), dtype=X.dtype)
    mapped: Array = (vectors[:, kept] / np.sqrt(eigenvalues[kept])).T @ to_all
    return np.ascontiguousarray(mapped.astype(X.dtype, copy=False))


def spread_anchors(n_samples: int, limit: int) -> IntArray:
    """Pick at most `limit` samples, spread evenly in time from the first to the last.

    Examples
    --------
    >>> spread_anchors(9, 3), spread_anchors(2, 3)
    (array([0, 4, 8]), array([0, 1]))
    """
    return np.unique(np.linspace(0, n_samples - 1, min(n_samples, limit)).round().astype(np.intp))


def squared_distances(X: Array, anchors: IntArray) -> Array:
    """Squared distances of all samples from the anchors, of shape (n, n_anchors), in X's precision.

    Examples
    --------
    >>> squared_distances(np.array([[300.0, 301.0, 303.0]]), np.array([0, 2]))
    array([[0., 9.],
           [1., 4.],
           [9., 0.]])
    """
    X = X - X.mean(axis=1, keepdims=True)  # distances stay, and keep more digits if X is far from 0
    squares = np.einsum("ij,ij->j", X, X)
    distances: Array = squares[:, None] + squares[anchors] - 2 * (X.T @ X[:, anchors])
    return np.maximum(distances, 0, out=distances)


def median_distance(distances: Array, anchors: IntArray, negligible: float) -> float:
    """Median squared distance between different anchors; 1 if all are the same.

    Parameters
    ----------
    distances : array of shape (n, n_anchors)
    anchors : array of int, shape (n_anchors,)
    negligible : float
        Squared distance up to which anchors are the same, as a fraction of the largest.

    Examples
    --------
    >>> anchors = np.array([0, 1, 2])
    >>> median_distance(squared_distances(np.array([[0.0, 1.0, 3.0]]), anchors), anchors, 1e-7)
    4.0
    """
    between = distances[anchors][np.triu_indices(len(anchors), 1)]
    different = between[between > negligible * max(float(between.max(initial=0)), np.finfo(float).tiny)]
    return float(np.median(different)) if len(different) else 1.0


def _rbf(X: Array, anchors: IntArray) -> tuple[Array, Array]:
    """Gaussian kernel of the anchors among themselves and with all samples, as wide as anchors are apart."""
    distances = squared_distances(X.astype(np.float64), anchors)
    largest = float(np.einsum("ij,ij->j", X, X, dtype=np.float64).max())
    if distances.max() <= (ROUNDING * float(np.finfo(X.dtype).eps)) ** 2 * largest:
        distances[:] = 0  # all samples are the same
    width = median_distance(distances, anchors, ROUNDING * float(np.finfo(np.float64).eps))
    values = np.exp(-distances / width)
    return values[anchors], values.T


def _call(function: Callable[[Array, Array], Array], X: Array, anchors: IntArray) -> tuple[Array, Array]:
    """Values of a given kernel of the anchors among themselves and with all samples."""
    return _values(function, X[:, anchors], X[:, anchors]), _values(function, X[:, anchors], X)


def _values(function: Callable[[Array, Array], Array], A: Array, B: Array) -> Array:
    """Values between two arrays of columns, checked."""
    values = np.asarray(function(A, B), dtype=np.float64)
    expected = (A.shape[1], B.shape[1])
    if values.shape != expected:
        raise ValueError(
            f"kernel must return values of shape {expected} for {expected[0]} and {expected[1]} samples; "
            f"got shape {values.shape}."
        )
    if not np.all(np.isfinite(values)):
        raise ValueError(
            f"kernel must return finite values; got {values.size - np.isfinite(values).sum()} of "
            f"{values.size} that are not."
        )
    return values


def _decompose(values: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors of a kernel, or say why it is none."""
    largest = float(np.abs(values).max())
    difference = float(np.abs(values - values.T).max())
    if difference > TOLERANCE * largest:
        raise ValueError(
            f"kernel must be symmetric; got values that differ by {difference:.3g} beside a largest of "
            f"{largest:.3g}."
        )
    eigenvalues, vectors = symmetric_eigenpairs((values + values.T) / 2)
    if eigenvalues[0] < -TOLERANCE * max(eigenvalues[-1], 0):
        raise ValueError(
            f"kernel must have no negative eigenvalues; got one of {eigenvalues[0]:.3g} beside a largest of "
            f"{eigenvalues[-1]:.3g}."
        )
    return eigenvalues, vectors
