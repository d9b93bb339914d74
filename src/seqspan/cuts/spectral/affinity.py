"""From coefficients Z to the affinity W of a graph over the samples."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from seqspan._core.types import Array

TINY = 1e-300  # keeps divisions by zero finite


def symmetric_affinity(Z: Array) -> Array:
    """Affinity of two samples: how much each contributes to representing the other.

    ``W = |Z| + |Z|^T``.

    Parameters
    ----------
    Z : array of shape (n, n)
        Column j holds the coefficients that represent sample j. It is not changed.

    Returns
    -------
    W : array of shape (n, n)
        Symmetric and non-negative, in Z's precision.

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


class SharedAffinity:
    """Affinity of samples that are represented by the same few atoms, kept as its factor.

    ``W = |Z|^T diag(|Z| 1)^-1 |Z|``: two steps of a walk on the bipartite graph of samples and atoms whose
    edges are ``|Z|``. Its degrees are the column sums of ``|Z|``. W is never written out: a product costs
    O(m n), and cuts and estimators of the number of subspaces need nothing but products, degrees and the
    length.

    Parameters
    ----------
    Z : array of shape (m, n)
        Column j holds the coefficients that represent sample j by m atoms.

    References
    ----------
    Dhillon, Co-clustering documents and words using bipartite spectral graph partitioning, KDD 2001.
    Liu, He & Chang, Large graph construction for scalable semi-supervised learning, ICML 2010.

    Examples
    --------
    >>> W = SharedAffinity(np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 3.0]]))
    >>> len(W), W.degrees(), W.multiply(np.eye(3))
    (3, array([1., 1., 3.]), array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 3. ]]))
    """

    def __init__(self, Z: Array) -> None:
        if Z.ndim != 2:
            raise ValueError(
                f"Z must be a matrix, one row per atom and one column per sample; got {Z.shape}."
            )
        factor = np.abs(Z)
        uses = factor.sum(axis=1, dtype=float)
        self._degrees: Array = factor.sum(axis=0, dtype=float)
        scale = np.divide(1, np.sqrt(uses), out=np.zeros_like(uses), where=uses > 0)
        factor *= scale[:, None].astype(Z.dtype)  # in place, and in Z's precision: it is as large as Z
        self._factor = factor
        self.dtype = Z.dtype

    def __len__(self) -> int:
        return int(self._factor.shape[1])

    def degrees(self) -> Array:
        """Sums of the rows, in double precision."""
        return self._degrees

    def multiply(self, V: Array) -> Array:
        """W V for V of shape (n, any), in double precision."""
        through_atoms = self._factor @ V.astype(self.dtype)
        return np.asarray(self._factor.T @ through_atoms, dtype=float)

    def pooled(self, size: int) -> Array:
        """Sums over blocks of `size` rows and columns, as an array; the last block may be smaller."""
        sums = np.add.reduceat(self._factor, np.arange(0, len(self), size), axis=1)
        return np.asarray(sums.T @ sums)

    def leading(self, count: int) -> tuple[Array, Array]:
        """Largest eigenvalues of ``D^-1/2 W D^-1/2``, descending, and their eigenvectors (n, count).

        They are singular values and vectors of an (m, n) matrix and come from an m x m one in O(m^2 n). There
        are at most m; the others are zero.
        """
        scale = np.where(self._degrees > 0, 1 / np.sqrt(np.maximum(self._degrees, TINY)), 0)
        scaled = self._factor * scale.astype(self.dtype)
        values, left = np.linalg.eigh((scaled @ scaled.T).astype(float))
        values, left = np.maximum(values[::-1][:count], 0), left[:, ::-1][:, :count]
        vectors = (scaled.T @ left.astype(self.dtype)).astype(float)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=0), TINY)
        missing = count - len(values)
        return np.pad(values, (0, missing)), np.pad(vectors, ((0, 0), (0, missing)))


Affinity: TypeAlias = Array | SharedAffinity


def affinity(Z: Array) -> Affinity:
    """Affinity of the samples: ``SharedAffinity`` if landmarks are the atoms, else an array.

    Parameters
    ----------
    Z : array of shape (m, n)
        Square if the samples themselves are the atoms.

    Returns
    -------
    array of shape (n, n), or SharedAffinity

    Examples
    --------
    >>> affinity(np.eye(3)).shape, type(affinity(np.ones((2, 3)))).__name__
    ((3, 3), 'SharedAffinity')
    """
    return symmetric_affinity(Z) if Z.shape[0] == Z.shape[1] else SharedAffinity(Z)
