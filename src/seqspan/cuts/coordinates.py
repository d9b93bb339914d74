"""Coordinates of samples that keep their distances: of many pixels, a few directions will do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from seqspan._core.eigen import principal_directions
from seqspan._core.kernels import spread_anchors
from seqspan._core.scaling import binary_exponent
from seqspan._core.types import Array

N_ANCHORS = 300  # samples that principal directions are learned from
MAX_COORDINATES = 64  # of a kept sample; samples with more features are reduced to their principal ones
MAX_VALUES = 100_000  # of principal directions that are kept, 400 kB; at least MIN_COORDINATES directions are
MIN_COORDINATES = 8
FAR = 1e60  # coordinate at which larger ones are put, so that their squares stay finite
OFF_ROUNDING = 1e-12  # of squares; less off the principal directions is rounding, of those and of sums


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Samples in a few coordinates that keep their distances: principal ones, and how far off these it is.

    Parameters
    ----------
    exponent : int
        Power of two that samples are divided by.
    directions : array of shape (d, r), optional
        Principal directions; by default the features themselves are the coordinates.

    Examples
    --------
    >>> X = np.outer([3.0, 4.0, 0.0], [1.0, 2.0])
    >>> Coordinates(0, np.array([[0.6], [0.8], [0.0]]))(X + [[0.0], [0.0], [2.0]])
    array([[ 5., 10.],
           [ 2.,  2.]])
    """

    exponent: int
    directions: Array | None = None

    @classmethod
    def fit(cls, X: Array) -> Self:
        """Learn the coordinates of samples (d, n)."""
        exponent, d = binary_exponent(X), len(X)
        if d <= MAX_COORDINATES:
            return cls(exponent)
        some = X[:, spread_anchors(X.shape[1], N_ANCHORS)].astype(np.float64)
        count = min(max(MAX_VALUES // d, MIN_COORDINATES), MAX_COORDINATES)
        directions = principal_directions(np.ldexp(some, -exponent), count)
        return cls(exponent, directions.astype(np.float32))

    def __call__(self, X: Array) -> Array:
        """Coordinates of samples (d, n), in double precision."""
        with np.errstate(over="ignore"):  # from there on, all samples are equally far away
            X = np.ldexp(X.astype(np.float64), -self.exponent)
        if not np.abs(X).max(initial=0) <= FAR:  # nor is NaN
            X = np.nan_to_num(X, nan=FAR).clip(-FAR, FAR)
        if self.directions is None:
            return X
        directions = self.directions.astype(np.float64)
        within = directions.T @ X
        # |x - Dw|^2, without another array as large as X; D is orthonormal up to its single precision
        mixed = (directions.T @ directions - 2 * np.eye(len(within))) @ within
        squares = np.einsum("ij,ij->j", X, X)
        off = squares + np.einsum("ij,ij->j", within, mixed)
        return np.vstack([within, np.sqrt(np.where(off > OFF_ROUNDING * squares, off, 0))])
