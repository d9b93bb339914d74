"""From coefficients Z to the affinity W of a graph over the samples."""

from __future__ import annotations

import numpy as np

from seqspan._types import Array


def symmetric_affinity(Z: Array) -> Array:
    """Affinity of two samples: how much each takes part in representing the other.

    ``W = |Z| + |Z|^T``.

    Parameters
    ----------
    Z : array of shape (n, n)
        Column j holds the coefficients that represent sample j. It isn't changed.

    Returns
    -------
    W : array of shape (n, n)
        Symmetric, without negative entries, in Z's precision.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, Eq. w_def.

    Examples
    --------
    >>> symmetric_affinity(np.array([[0.0, -2.0], [1.0, 0.5]]))
    array([[0., 3.],
           [3., 1.]])
    """
    if Z.ndim != 2 or Z.shape[0] != Z.shape[1]:
        raise ValueError(f"Z must be square, one row and one column per sample; got shape {Z.shape}.")
    magnitudes = np.abs(Z)
    W: Array = magnitudes + magnitudes.T
    return W
