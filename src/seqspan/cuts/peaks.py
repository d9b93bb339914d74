"""Boundaries read off the coefficients: where Z changes from one sample to the next.

The difference ``z_{j+1} - z_j``, column j of ZR, belongs to the boundary ``j + 1``.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray


def block_boundaries(Z: Array, tol: float = 1e-6) -> IntArray:
    """Read boundaries off a strictly block-diagonal Z: the non-zero columns of ZR.

    ``{j + 1 : ||z_{j+1} - z_j||_inf > tol max |Z|}``. This reads Z as piecewise constant in time, as OSC
    makes it; with noise nearly every column is non-zero, and :func:`peak_boundaries` is meant.

    Parameters
    ----------
    Z : array of shape (m, n)
        Column j holds the coefficients of sample j.
    tol : float, non-negative
        What counts as zero, relative to the largest entry of Z. Above the error of the solver.

    Returns
    -------
    boundaries : array of int, shape (n_spans - 1,)

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Segmentation", first paragraph.

    Examples
    --------
    >>> block_boundaries(np.kron(np.eye(2), np.ones((3, 3))))
    array([3])
    """
    if tol < 0:
        raise ValueError(f"tol must not be negative; got {tol}.")
    Z = _checked_coefficients(Z)
    steps = np.abs(np.diff(Z, axis=1)).max(axis=0)
    return np.flatnonzero(steps > tol * np.abs(Z).max()) + 1


def boundary_strength(Z: Array) -> Array:
    """Measure how much the coefficients change from each sample to the next.

    ``b_j = mean_i |ZR|_ij``, the column means of ``|[z_2 - z_1, ..., z_n - z_{n-1}]|``.

    Parameters
    ----------
    Z : array of shape (m, n)
        Column j holds the coefficients of sample j.

    Returns
    -------
    strength : array of shape (n - 1,)
        Entry j belongs to the boundary ``j + 1``.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Segmentation", second paragraph.

    Examples
    --------
    >>> boundary_strength(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    array([0., 1.])
    """
    strength: Array = np.abs(np.diff(_checked_coefficients(Z), axis=1)).mean(axis=0)
    return strength


def peak_boundaries(Z: Array, n_spans: int | None = None, *, min_length: int = 1) -> IntArray:
    r"""Place boundaries at the peaks of the column means b of \|ZR\|.

    Peaks are ranked by prominence, their height above the higher of the two valleys that part them from
    higher peaks. With `n_spans` given the ``n_spans - 1`` most prominent are kept. Without, peak j
    is kept if its prominence exceeds ``(mean_i |Z|_ij + mean_i |Z|_i,j+1) / 2``. That is half of what b_j
    can reach: the bound of the triangle inequality, attained if the two samples are represented by
    disjoint sets of others, as samples of different subspaces are.

    Parameters
    ----------
    Z : array of shape (m, n)
        Column j holds the coefficients of sample j.
    n_spans : int, optional
    min_length : int
        No span is shorter; of two peaks closer than this the higher stays.

    Returns
    -------
    boundaries : array of int
        Ascending. Fewer than ``n_spans - 1`` where b hasn't as many peaks.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Segmentation", second paragraph.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z = np.kron(np.eye(3), np.ones((8, 8))) + 0.05 * rng.standard_normal((24, 24))
    >>> peak_boundaries(Z), peak_boundaries(Z, n_spans=2, min_length=5)
    (array([ 8, 16]), array([16]))
    """
    Z = _checked_coefficients(Z)
    n = Z.shape[1]
    if min_length < 1 or (n_spans is not None and not 1 <= n_spans * min_length <= n):
        raise ValueError(
            f"n_spans and min_length must be at least 1, and their product at most {n} for {n} samples; "
            f"got n_spans={n_spans}, min_length={min_length}."
        )
    starts, prominences = _peaks(boundary_strength(Z), min_length)
    if n_spans is None:
        sizes = np.abs(Z).mean(axis=0)
        kept = np.flatnonzero(prominences > (sizes[starts - 1] + sizes[starts]) / 2)
    else:
        kept = np.sort(np.argsort(-prominences, kind="stable")[: n_spans - 1])
    return np.take(starts, kept)


def _peaks(strength: Array, min_length: int) -> tuple[IntArray, Array]:
    """Boundaries at the peaks of `strength`, none within `min_length` of another or of an end."""
    from scipy.signal import find_peaks  # takes longer to import than the rest of seqspan

    allowed = strength[min_length - 1 : len(strength) - min_length + 1]
    # Lower ground on either side, so that the first and last allowed boundaries can be peaks too.
    padded = np.pad(allowed, 1, constant_values=strength.min())
    peaks, properties = find_peaks(padded, distance=min_length, prominence=0)
    return peaks + min_length - 1, properties["prominences"]


def _checked_coefficients(Z: Array) -> Array:
    """Refuse what has no consecutive columns."""
    Z = np.asarray(Z)
    if Z.ndim != 2 or Z.shape[0] < 1 or Z.shape[1] < 2:
        raise ValueError(
            f"Z must be a matrix with one column for each of 2 or more samples; got shape {Z.shape}."
        )
    return Z
