"""Weights that are left to the data.

Weights scale with the squared length of the samples, so "auto" is a fraction of the largest squared length:
the weight lambda_1 from which on all coefficients are zero where a sample may represent itself. On samples of
unit length these fractions are the paper's weights.
"""

from __future__ import annotations

from seqspan._core.backend import namespace
from seqspan._core.checks import check_weight
from seqspan._core.types import Array

SPARSITY = 0.1  # lambda_1 as a fraction of the critical weight: the paper's


def choose_weights(
    X: Array, lambda_1: float | str, lambda_2: float | str, change: float
) -> tuple[float, float]:
    """Return both weights as numbers.

    Parameters
    ----------
    X : array of shape (d, n)
    lambda_1, lambda_2 : float or "auto"
    change : float
        lambda_2 as a fraction of the critical weight: what the paper takes for the model.

    Returns
    -------
    lambda_1, lambda_2 : float

    Examples
    --------
    >>> import numpy as np
    >>> choose_weights(np.array([[3.0, 0.0], [4.0, 1.0]]), "auto", "auto", change=1.0)
    (2.5, 25.0)
    >>> choose_weights(np.eye(2), 0.3, "auto", change=0.01)
    (0.3, 0.01)
    """
    given = {"lambda_1": (lambda_1, SPARSITY), "lambda_2": (lambda_2, change)}
    critical = largest_squared_length(X) if "auto" in (lambda_1, lambda_2) else 0.0
    first, second = (
        fraction * critical if weight == "auto" else check_weight(name, weight)
        for name, (weight, fraction) in given.items()
    )
    return first, second


def largest_squared_length(X: Array) -> float:
    """Squared length of the longest column; 1 if all are zero and there is no scale."""
    return float(namespace(X).einsum("ij,ij->j", X, X).max()) or 1.0
