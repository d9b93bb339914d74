"""Whether a noise-free model has a solution at all: every sample must be a combination of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.models.terms import Absolute, Nothing

if TYPE_CHECKING:
    from seqspan.models import Model

MIN_FREE_SHARE = 1e-12  # squared; a smaller share would take coefficients above 1e6
MAX_NAMED = 5  # samples that an error lists


def check_feasible(model: Model, X: Array) -> None:
    """Raise a ValueError if no Z satisfies the model's constraints, and name the samples that rule it out.

    Only ``X = XZ`` together with ``diag(Z) = 0`` can be infeasible. With a free diagonal, Z = I is feasible.

    Parameters
    ----------
    model : Model
    X : array of shape (d, n)

    Examples
    --------
    >>> from seqspan.models import SscNoiseFree
    >>> check_feasible(SscNoiseFree(), np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]))
    Traceback (most recent call last):
      ...
    ValueError: X = XZ with diag(Z) = 0 is infeasible: 1 of 3 samples is no combination of the others (2). ...
    """
    penalty = model.penalty
    if model.loss != Nothing() or not (isinstance(penalty, Absolute) and penalty.zero_diagonal):
        return
    alone = independent_samples(X)
    if len(alone):
        named = ", ".join(map(str, alone[:MAX_NAMED])) + (", ..." if len(alone) > MAX_NAMED else "")
        verb = "is no combination" if len(alone) == 1 else "are no combinations"
        raise ValueError(
            f"X = XZ with diag(Z) = 0 is infeasible: {len(alone)} of {X.shape[1]} samples {verb} of the "
            f"others ({named}). Use a model with noise (noise='gaussian' or 'outliers')."
        )


def independent_samples(X: Array) -> IntArray:
    """Indices of the columns that are not linear combinations of the others, up to the precision of X.

    If ``Xv = 0`` with ``v_j != 0``, the others represent column j. So column j is independent exactly if unit
    vector j is in the row space of X. The distance of the two is computed from an SVD.

    Parameters
    ----------
    X : array of shape (d, n)

    Returns
    -------
    array of int

    Examples
    --------
    >>> independent_samples(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]))
    array([2])
    """
    sigma, Qt = np.linalg.svd(X.astype(float, copy=False), full_matrices=False)[1:]
    rounding = max(X.shape) * float(np.finfo(X.dtype).eps)
    kept = Qt[sigma > rounding * sigma.max(initial=0.0)]
    free_share = 1 - np.einsum("ij,ij->j", kept, kept)
    return np.flatnonzero(free_share <= max(MIN_FREE_SHARE, rounding**2))
