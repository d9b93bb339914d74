"""Scaling samples to unit norm, as the models assume."""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array


def scale_to_unit_norm(X: Array, axis: int) -> Array:
    """Divide samples by their Euclidean norm; samples that are all zero stay zero.

    Parameters
    ----------
    X : array with two axes
    axis : {0, 1}
        0 if samples are columns, 1 if they are rows.

    Returns
    -------
    array of the same shape

    Examples
    --------
    >>> scale_to_unit_norm(np.array([[3e200, 4e200], [0.0, 0.0]]), axis=1)
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    if not X.size:
        return X.copy()
    # Divide by the largest entry first: squares of very large or small entries would over- or underflow.
    largest = np.maximum(X.max(axis=axis, keepdims=True), -X.min(axis=axis, keepdims=True))
    scaled: Array = X / np.where(largest > 0, largest, 1)
    norms = np.linalg.norm(scaled, axis=axis, keepdims=True)
    scaled /= np.where(norms > 0, norms, 1)
    return scaled


def scale_columns(X: Array) -> Array:
    """Scale samples that are columns, of shape (d, n), to unit norm."""
    return scale_to_unit_norm(X, axis=0)
