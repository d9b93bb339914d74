"""Means, deviations and principal directions, for entries of any size."""

from __future__ import annotations

import numpy as np

from seqspan._core.scaling import binary_units
from seqspan._core.types import Array

TINY = 1e-12  # relative to the data; smaller deviations and variances are rounding errors
EQUAL = 1e-6  # relative difference of variances that count as equal


def column_means(X: Array) -> Array:
    """Means of the columns, in double precision; exact for constant columns.

    Examples
    --------
    >>> column_means(np.array([[1e308, 1.0], [1e308, 2.0]]))
    array([1.0e+308, 1.5e+000])
    """
    units = binary_units(X)  # sums of the largest floats would overflow
    means = (X / units).mean(axis=0, dtype=float) * units
    return np.asarray(np.clip(means, X.min(axis=0), X.max(axis=0)) if len(X) else means)


def column_deviations(X: Array) -> Array:
    """Standard deviations of the columns, in double precision; zero for columns that are constant.

    Examples
    --------
    >>> column_deviations(np.array([[0.0, 0.1], [4e200, 0.1], [8e200, 0.1]])).round(-199)
    array([3.3e+200, 0.0e+000])
    """
    units = binary_units(X)  # squares would over- or underflow
    scaled = X / units
    largest = np.abs(scaled).max(axis=0, initial=0)
    scaled -= scaled.mean(axis=0, dtype=float).astype(X.dtype)
    squares = np.einsum("ij,ij->j", scaled, scaled, dtype=float)
    deviations = np.sqrt(squares / max(len(X), 1))
    return np.asarray(np.where(deviations > TINY * largest, deviations, 0) * units)


def principal_directions(centred: Array, share: float) -> Array:
    """Return as few orthonormal directions as hold `share` of the variance.

    Those that hold as much as the last of them are returned, too: which comes first depends on the order of
    the columns. Computed from the smaller of the two Gram matrices: frames have far more pixels than there
    are frames.

    Parameters
    ----------
    centred : array of shape (n_samples, n_features), columns of mean zero
    share : float in (0, 1]

    Returns
    -------
    array of shape (n_features, n_directions)
    """
    n_samples, n_features = centred.shape
    wide = n_features > n_samples
    values, vectors = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    held = np.cumsum(values) / max(values.sum(), np.finfo(float).tiny)
    positive = int(np.count_nonzero(values > values[0] * np.finfo(centred.dtype).eps * max(centred.shape)))
    count = min(int(np.searchsorted(held, share * (1 - TINY))) + 1, positive)
    count += int(np.count_nonzero(values[count:positive] > (1 - EQUAL) * values[max(count - 1, 0)]))
    vectors = vectors[:, :count]
    directions = centred.T @ vectors / np.sqrt(values[:count]) if wide else vectors
    # The sign of a direction is arbitrary; making the largest entry positive makes runs repeatable.
    largest = np.abs(directions).argmax(axis=0)
    fixed: Array = directions * np.sign(directions[largest, np.arange(count)])
    return fixed
