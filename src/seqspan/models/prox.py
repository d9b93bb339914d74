"""Proximal maps: each minimises a penalty plus half the squared distance to its argument.

They are the closed-form steps of every solver. The model defines the penalty, the solver sets the weight.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from seqspan._core.types import Array


def soft_threshold(V: Array, t: float | Array) -> Array:
    """Move every entry of V towards zero by t; smaller entries become zero.

    Minimises ``t * sum_ij |u_ij| + ||U - V||_F^2 / 2`` over U [paper, Eq. SolutionZ_relaxed, where the
    zero in the ``max`` is missing].

    Parameters
    ----------
    V : array of shape (m, p)
    t : float or array that broadcasts against V, non-negative

    Returns
    -------
    U : array of shape (m, p)

    Examples
    --------
    >>> soft_threshold(np.array([[-3.0, 0.5, 2.0]]), 1.0)
    array([[-2.,  0.,  1.]])
    """
    return V - np.clip(V, -t, t)


def shrink_columns(V: Array, t: float) -> Array:
    """Shorten every column of V by t; shorter columns become zero.

    Minimises ``t * sum_j ||u_j|| + ||U - V||_F^2 / 2`` over U [paper, Eq. SolutionJ_relaxed].

    Parameters
    ----------
    V : array of shape (m, p)
    t : float, non-negative

    Returns
    -------
    U : array of shape (m, p)

    Examples
    --------
    >>> shrink_columns(np.array([[3.0, 0.3], [4.0, 0.4]]), 1.0)
    array([[2.4, 0. ],
           [3.2, 0. ]])
    """
    norms = np.linalg.norm(V, axis=0)
    tiny = np.finfo(V.dtype).tiny  # a zero column stays zero instead of becoming 0 / 0
    return np.asarray(V * (np.maximum(norms - t, 0) / np.maximum(norms, tiny)))


def shrink_singular_values(V: Array, t: float) -> Array:
    """Lower every singular value of V by t; smaller ones become zero.

    Minimises ``t * ||U||_* + ||U - V||_F^2 / 2`` over U.

    Parameters
    ----------
    V : array of shape (m, p)
    t : float, non-negative

    Returns
    -------
    U : array of shape (m, p)

    Examples
    --------
    >>> shrink_singular_values(np.diag([3.0, 0.5]), 1.0)
    array([[2., 0.],
           [0., 0.]])
    """
    left, s, right = _svd(V)
    kept = s > t
    return np.asarray((left[:, kept] * (s[kept] - t)) @ right[kept])


def _svd(V: Array) -> tuple[Array, Array, Array]:
    """Thin SVD; uses the slower driver if LAPACK's divide and conquer does not converge."""
    try:
        left, s, right = np.linalg.svd(V, full_matrices=False)
    except np.linalg.LinAlgError:
        left, s, right = linalg.svd(V, full_matrices=False, lapack_driver="gesvd")
    return left, s, right


def zero_diagonal(V: Array) -> Array:
    """Copy V with zeros on its diagonal: the nearest matrix with diag(U) = 0.

    Parameters
    ----------
    V : array of shape (n, n)

    Returns
    -------
    U : array of shape (n, n)

    Examples
    --------
    >>> zero_diagonal(np.ones((2, 2)))
    array([[0., 1.],
           [1., 0.]])
    """
    U = V.copy()
    np.fill_diagonal(U, 0)
    return U
