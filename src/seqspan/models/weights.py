"""Weights chosen from the data.

Weights scale with the squared norm of the samples, so "auto" is a fraction of the largest squared norm. If a
sample may represent itself, that norm is the critical lambda_1: all coefficients are zero from there on. For
samples of unit norm, these fractions are the paper's weights.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.backend import namespace
from seqspan._core.checks import check_weight
from seqspan._core.scaling import binary_exponent, largest_entry, times_power_of_two
from seqspan._core.types import Array

LAMBDA_1_FRACTION = 0.1  # lambda_1 as a fraction of the critical weight, as in the paper


def choose_weights(
    X: Array, lambda_1: float | str, lambda_2: float | str, lambda_2_fraction: float
) -> tuple[float, float]:
    """Return both weights as numbers.

    Parameters
    ----------
    X : array of shape (d, n)
    lambda_1, lambda_2 : float or "auto"
    lambda_2_fraction : float
        lambda_2 as a fraction of the critical weight, as in the paper.

    Returns
    -------
    lambda_1, lambda_2 : float

    Examples
    --------
    >>> import numpy as np
    >>> choose_weights(np.array([[3.0, 0.0], [4.0, 1.0]]), "auto", "auto", lambda_2_fraction=1.0)
    (2.5, 25.0)
    >>> choose_weights(np.eye(2), 0.3, "auto", lambda_2_fraction=0.01)
    (0.3, 0.01)
    """
    given = {"lambda_1": (lambda_1, LAMBDA_1_FRACTION), "lambda_2": (lambda_2, lambda_2_fraction)}
    critical = largest_squared_norm(X) if "auto" in (lambda_1, lambda_2) else 0.0
    first, second = (
        fraction * critical if weight == "auto" else check_weight(name, weight)
        for name, (weight, fraction) in given.items()
    )
    return first, second


def largest_squared_norm(X: Array) -> float:
    """Largest squared norm of a column, in double precision; 1 if all columns are zero."""
    exponent = binary_exponent(X)
    scaled = np.ldexp(X, -exponent)
    largest = float(namespace(X).einsum("ij,ij->j", scaled, scaled).max())
    squared = times_power_of_two(largest, 2 * exponent)
    if largest and not np.finfo(float).tiny <= squared < np.inf:
        raise ValueError(
            "Weights given as 'auto' grow with the square of the samples, and the square of "
            f"{largest_entry(X):.3g} is not a float: use normalize=True or other units."
        )
    return squared or 1.0
