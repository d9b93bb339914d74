"""Kernels: functions of two samples, and features whose inner products are the kernel.

The models see samples only through X^T X, so any X whose Gram matrix is the kernel will do. All samples are
compared with a limited number of them, the anchors, so a long recording needs no n x n kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self, TypeAlias

import numpy as np

from seqspan._core.backend import column_squares, to_host
from seqspan._core.checks import check_choice
from seqspan._core.eigen import symmetric_eigenpairs
from seqspan._core.memory import require_memory
from seqspan._core.scaling import binary_exponent, convert_precision, scale_columns
from seqspan._core.types import Array, IntArray

__all__ = ["kernel_map"]

Kernel: TypeAlias = "str | Callable[[Array, Array], Array]"
KERNELS = ("linear", "cosine", "rbf")
MAX_ANCHORS = 2000  # samples; the map is exact up to this many
BLOCK_SAMPLES = 512  # that are compared with anchors at a time
MIN_EIGENVALUE = 1e-6  # fraction of the largest eigenvalue; anything smaller is rounding error
ROUNDING_ULPS = 16  # units in the last place by which equal samples, and their distances, may differ
KERNEL_TOLERANCE = 1e-3  # fraction of the largest value; allowed asymmetry and negative eigenvalues


def check_kernel(kernel: Kernel) -> Kernel:
    """Return the kernel if it is a function or a known name; otherwise raise a ValueError."""
    return kernel if callable(kernel) else check_choice("kernel", kernel, KERNELS)


def kernel_map(X: Array, kernel: Kernel) -> Array:
    """Map samples so that their inner products are the kernel's values.

    The map is exact up to 2,000 samples. Beyond that it is the Nystroem approximation from 2,000 samples
    spread evenly over time.

    Parameters
    ----------
    X : array of shape (d, n)
    kernel : {"linear", "cosine", "rbf"} or callable
        A callable takes two arrays of columns, (d, a) and (d, b), and returns the kernel values, (a, b). It
        must be symmetric and positive semidefinite. "rbf" is ``exp(-||x - y||^2 / m)``, where m is the median
        squared distance.

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
        f"A kernel on {n} samples",
        "Use fewer samples, or kernel='linear'.",
    )
    between, to_all = _call(kernel, X, anchors) if callable(kernel) else _rbf(X, anchors)
    eigenvalues, vectors = _decompose(between)
    kept = eigenvalues > MIN_EIGENVALUE * eigenvalues[-1]
    if not kept.any():  # all kernel values are zero, for example because all samples are
        return np.zeros((1, n), dtype=X.dtype)
    mapped: Array = (vectors[:, kept] / np.sqrt(eigenvalues[kept])).T @ to_all
    return np.ascontiguousarray(convert_precision(mapped, X.dtype))


def spread_anchors(n_samples: int, limit: int) -> IntArray:
    """Pick at most `limit` samples, spread evenly over time from the first to the last.

    Examples
    --------
    >>> spread_anchors(9, 3), spread_anchors(2, 3)
    (array([0, 4, 8]), array([0, 1]))
    """
    return np.unique(np.linspace(0, n_samples - 1, min(n_samples, limit)).round().astype(np.intp))


def sample_blocks(n_samples: int, size: int | None = None) -> list[slice]:
    """Blocks of samples that are compared with the anchors at a time: small enough for the cache.

    Examples
    --------
    >>> sample_blocks(1000)
    [slice(0, 512, None), slice(512, 1024, None)]
    """
    size = size or BLOCK_SAMPLES
    return [slice(start, start + size) for start in range(0, n_samples, size)]


def squared_distances(X: Array, anchors: IntArray) -> Array:
    """Squared distances from all samples to the anchors, of shape (n, n_anchors), in the precision of X.

    Examples
    --------
    >>> squared_distances(np.array([[300.0, 301.0, 303.0]]), np.array([0, 2]))
    array([[0., 9.],
           [1., 4.],
           [9., 0.]])
    """
    # the mean changes no distance, but without it less cancels if X is far from 0
    return _squared_distances(X - X.mean(axis=1, keepdims=True), anchors)[0]


def _squared_distances(X: Array, anchors: IntArray) -> tuple[Array, Array]:
    """Squared distances of centred samples to the anchors, and their squared norms."""
    squares = column_squares(X)
    distances: Array = X.T @ (-2 * X[:, anchors])
    distances += squares[anchors]
    distances += squares[:, None]
    return np.maximum(distances, 0, out=distances), squares


@lru_cache(maxsize=4)
def _pairs(count: int) -> tuple[IntArray, IntArray]:
    """Places above the diagonal. Features of surrogates ask for the same ones again and again."""
    return np.triu_indices(count, 1)


def median_distance(distances: Array, anchors: IntArray, negligible: float) -> float:
    """Median squared distance between distinct anchors; 1 if they are all equal.

    Parameters
    ----------
    distances : array of shape (n, n_anchors)
    anchors : array of int, shape (n_anchors,)
    negligible : float
        Squared distance up to which two anchors count as equal, as a fraction of the largest.

    Examples
    --------
    >>> anchors = np.array([0, 1, 2])
    >>> median_distance(squared_distances(np.array([[0.0, 1.0, 3.0]]), anchors), anchors, 1e-7)
    4.0
    """
    between = to_host(distances[anchors])[_pairs(len(anchors))]
    distinct = between[between > negligible * max(float(between.max(initial=0)), np.finfo(float).tiny)]
    return float(np.median(distinct)) if len(distinct) else 1.0


@dataclass(frozen=True, eq=False)
class RelativeDistances:
    """Squared distances to anchors, divided by their median: of the samples at hand, or of others.

    They are all zero if the samples at hand differ by no more than rounding.

    Parameters
    ----------
    exponent : int
        Power of two that samples are divided by, so that their squares stay within range.
    centre : array of shape (d, 1)
        Subtracted from samples, so that less cancels.
    anchors : array of shape (d, n_anchors)
        Scaled and centred.
    squares : array of shape (n_anchors,)
        Their squared norms.
    unit : float
        Median squared distance between distinct anchors; infinite if all samples are equal.

    Examples
    --------
    >>> X = np.array([[0.0, 1e200, 3e200]])
    >>> distances, found = RelativeDistances.fit(X, np.array([0, 1, 2]), 1e-7, 1e-16)
    >>> found[0], distances(np.array([[-1e200]]))
    (array([0.  , 0.25, 2.25]), array([[0.25, 1.  , 4.  ]]))
    """

    exponent: int
    centre: Array
    anchors: Array
    squares: Array
    unit: float

    @classmethod
    def fit(cls, X: Array, anchors: IntArray, negligible: float, rounding: float) -> tuple[Self, Array]:
        """Learn distances, and also return those of all samples, in the precision of X."""
        found = cls.learn(X, anchors, negligible, rounding)
        return found, found(X)

    @classmethod
    def learn(cls, X: Array, anchors: IntArray, negligible: float, rounding: float) -> Self:
        """Choose the unit.

        Parameters
        ----------
        X : array of shape (d, n)
        anchors : array of int, shape (n_anchors,)
        negligible : float
            Squared distance up to which two anchors count as equal, as a fraction of the largest.
        rounding : float
            Relative rounding error of the samples.

        Returns
        -------
        RelativeDistances
        """
        # only ratios of distances count, so samples may be scaled until their squares stay within range
        exponent = binary_exponent(X)
        X = np.ldexp(X, -exponent)
        centre = X.mean(axis=1, keepdims=True)
        largest = float(column_squares(X).max())
        some, within = X[:, anchors] - centre, np.arange(len(anchors))
        distances, squares = _squared_distances(some, within)
        unit = median_distance(distances, within, negligible)
        found = cls(exponent, centre, some, squares, unit)
        rounded = (ROUNDING_ULPS * rounding) ** 2 * largest
        if unit <= rounded or distances.max() <= rounded:  # else no need to look at all samples
            apart = max(float(found._squared(X[:, block]).max()) for block in sample_blocks(X.shape[1]))
            if apart <= rounded:
                return replace(found, unit=np.inf)  # all samples are equal
        return found

    def __call__(self, X: Array) -> Array:
        """Distances of samples (d, n) to the anchors, of shape (n, n_anchors)."""
        distances = self._squared(np.ldexp(X, -self.exponent))
        distances /= self.unit
        return distances

    def _squared(self, X: Array) -> Array:
        """Squared distances of scaled samples."""
        X = X - self.centre
        distances: Array = X.T @ (-2 * self.anchors)
        distances += self.squares
        distances += column_squares(X)[:, None]
        return np.maximum(distances, 0, out=distances)


def _rbf(X: Array, anchors: IntArray) -> tuple[Array, Array]:
    """Gaussian kernel between anchors, and from anchors to all samples, scaled by the median distance."""
    negligible = ROUNDING_ULPS * float(np.finfo(np.float64).eps)
    rounding = float(np.finfo(X.dtype).eps)
    _, distances = RelativeDistances.fit(X.astype(np.float64), anchors, negligible, rounding)
    values = np.exp(-distances)
    return values[anchors], values.T


def _call(function: Callable[[Array, Array], Array], X: Array, anchors: IntArray) -> tuple[Array, Array]:
    """Values of the caller's kernel between anchors, and from anchors to all samples."""
    return _values(function, X[:, anchors], X[:, anchors]), _values(function, X[:, anchors], X)


def _values(function: Callable[[Array, Array], Array], A: Array, B: Array) -> Array:
    """Kernel values between two arrays of columns, checked for shape and finiteness."""
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
            f"{values.size} values that are infinite or NaN."
        )
    return values


def _decompose(values: Array) -> tuple[Array, Array]:
    """Eigenvalues (ascending) and eigenvectors of a kernel, which must be symmetric and semidefinite."""
    largest = float(np.abs(values).max())
    difference = float(np.abs(values - values.T).max())
    if difference > KERNEL_TOLERANCE * largest:
        raise ValueError(
            f"kernel must be symmetric; got values that differ by {difference:.3g} when the largest value is "
            f"{largest:.3g}."
        )
    eigenvalues, vectors = symmetric_eigenpairs((values + values.T) / 2)
    if eigenvalues[0] < -KERNEL_TOLERANCE * max(eigenvalues[-1], 0):
        raise ValueError(
            f"kernel must have no negative eigenvalues; got {eigenvalues[0]:.3g} when the largest eigenvalue "
            f"is {eigenvalues[-1]:.3g}."
        )
    return eigenvalues, vectors
