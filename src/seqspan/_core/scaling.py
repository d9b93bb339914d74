"""Scaling samples: to unit norm, as the models assume, and into the range in which squares are safe.

Squares of entries above 1e154 overflow in double precision, and squares below 1e-154 underflow; in single
precision that happens at 1e19 and 1e-19. Dividing by a power of two avoids both and rounds nothing.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import is_on_gpu
from seqspan._core.types import Array

HEADROOM_BITS = 32  # powers of two below the largest float that leave room for sums and norms


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


def largest_entry(X: Array) -> float:
    """Largest absolute value; 0 if X is empty.

    Examples
    --------
    >>> largest_entry(np.array([[3.0, -4.0]]))
    4.0
    """
    if is_on_gpu(X):
        return float(abs(X).max()) if X.size else 0.0  # the host waits only once
    return float(max(X.max(), -X.min())) if X.size else 0.0


def binary_exponent(X: Array) -> int:
    """Exponent e with ``2**e <= largest entry < 2**(e + 1)``; 0 if all entries are zero.

    Examples
    --------
    >>> binary_exponent(np.array([3.0, -5.0])), binary_exponent(np.zeros(2))
    (2, 0)
    """
    largest = largest_entry(X)
    return int(np.frexp(largest)[1]) - 1 if largest > 0 else 0


def binary_units(X: Array) -> Array:
    """For every column, the largest power of two that does not exceed its entries; 1 for a column of zeros.

    Dividing by it leaves entries below 2 without rounding them.

    Examples
    --------
    >>> binary_units(np.array([[3.0, 0.0], [-5.0, 0.0]]))
    array([4., 1.])
    """
    largest = np.maximum(X.max(axis=0, initial=0), -X.min(axis=0, initial=0))
    exponents = np.where(largest > 0, np.frexp(largest)[1] - 1, 0)
    return np.asarray(np.ldexp(np.ones_like(largest), exponents))


def times_power_of_two(number: float, exponent: int) -> float:
    """``number * 2**exponent``; infinite or zero beyond the range of floats.

    Examples
    --------
    >>> times_power_of_two(3.0, 2), times_power_of_two(-3.0, 2000)
    (12.0, -inf)
    """
    try:
        return math.ldexp(number, exponent)
    except OverflowError:
        return math.copysign(math.inf, number)


def leave_headroom(X: Array) -> Array:
    """Divide by a power of two if entries are so large that their sums might overflow; integers never are.

    Examples
    --------
    >>> leave_headroom(np.array([1.0, 1e308])) < 1e299
    array([ True,  True])
    """
    if X.dtype.kind != "f":
        return X
    limit = int(np.finfo(X.dtype).maxexp) - HEADROOM_BITS
    return np.asarray(np.ldexp(X, -HEADROOM_BITS)) if binary_exponent(X) >= limit else X


def convert_precision(X: Array, dtype: npt.DTypeLike) -> Array:
    """Convert to another precision; raise a ValueError if it cannot hold the largest entry.

    Examples
    --------
    >>> convert_precision(np.array([1e300]), "float32")
    Traceback (most recent call last):
      ...
    ValueError: float32 cannot hold samples as large as 1e+300: use normalize=True, float64 or other units.
    """
    target = np.dtype(dtype)
    if X.dtype == target:
        return X
    largest, limits = largest_entry(X), np.finfo(target)
    if largest and not float(limits.tiny) <= largest <= float(limits.max):
        raise ValueError(
            f"{target} cannot hold samples as {'large' if largest > 1 else 'small'} as {largest:.3g}: use "
            "normalize=True, float64 or other units."
        )
    return X.astype(target)
