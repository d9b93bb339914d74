"""How columns are coupled: the paper's operator R, and its counterpart on a graph.

Neither matrix is ever formed. ``Z R`` holds differences of neighbouring columns, ``V R^T`` is its adjoint,
and ``R R^T`` is the Laplacian of a path, which the DCT-II diagonalises. Where one recording ends and the next
begins, R has no column: the path falls into one part per recording.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from seqspan._core.spans import part_slices
from seqspan._core.types import Array, IntArray


def differences(Z: Array) -> Array:
    """Compute ``Z R = [z_2 - z_1, ..., z_n - z_{n-1}]`` [paper, Eq. Rdef].

    Parameters
    ----------
    Z : array of shape (m, n)

    Returns
    -------
    array of shape (m, n - 1)

    Examples
    --------
    >>> differences(np.array([[1.0, 4.0, 9.0]]))
    array([[3., 5.]])
    """
    return np.diff(Z, axis=1)


def spread(V: Array) -> Array:
    """Compute ``V R^T``, the adjoint of :func:`differences`.

    Parameters
    ----------
    V : array of shape (m, n - 1)

    Returns
    -------
    array of shape (m, n)

    Examples
    --------
    >>> spread(np.array([[3.0, 5.0]]))
    array([[-3., -2.,  5.]])
    """
    out = np.zeros((V.shape[0], V.shape[1] + 1), dtype=V.dtype)
    out[:, 1:] = V
    out[:, :-1] -= V
    return out


def path_laplacian_eigenvalues(n: int) -> Array:
    """Eigenvalues ``2 - 2 cos(pi j / n)`` of ``R R^T``, in the order of the DCT-II.

    Parameters
    ----------
    n : int
        Number of columns that R couples.

    Returns
    -------
    array of shape (n,), increasing from 0 to less than 4

    Examples
    --------
    >>> path_laplacian_eigenvalues(2)
    array([0., 2.])
    """
    return np.asarray(2 - 2 * np.cos(np.pi * np.arange(n) / n))


class Operator(Protocol):
    """A linear coupling D of the columns of Z: the map, its adjoint, and the eigenbasis of ``D D^T``.

    Examples
    --------
    >>> operator: Operator = Path()
    >>> Z, V = np.array([[1.0, 4.0, 9.0]]), np.array([[1.0, 2.0]])
    >>> float(np.vdot(operator.apply(Z), V)) == float(np.vdot(Z, operator.adjoint(V)))
    True
    """

    def apply(self, Z: Array) -> Array:
        """Compute ``Z D``."""

    def adjoint(self, V: Array) -> Array:
        """Compute ``V D^T``."""

    def norm_squared(self) -> float:
        """Upper bound on ``||D||_2^2``."""

    def eigenvalues(self, n: int) -> Array:
        """Eigenvalues of ``D D^T`` for n columns."""

    def to_eigenbasis(self, F: Array) -> Array:
        """Express the rows of F in the eigenvectors of ``D D^T``."""

    def from_eigenbasis(self, F: Array) -> Array:
        """Undo :meth:`to_eigenbasis`."""


@dataclass(frozen=True)
class Path:
    """Neighbours in time: ``D = R``, without the columns of R that would couple two recordings.

    Parameters
    ----------
    joins : tuple of int
        Columns of Z at which another recording begins, ascending.

    Examples
    --------
    >>> Path().apply(np.array([[1.0, 4.0, 9.0]]))
    array([[3., 5.]])
    >>> Path(joins=(2,)).apply(np.array([[1.0, 4.0, 9.0]]))
    array([[3.]])
    """

    joins: tuple[int, ...] = ()

    def apply(self, Z: Array) -> Array:
        """Compute ``Z R``."""
        return np.delete(differences(Z), self._left_out, axis=1) if self.joins else differences(Z)

    def adjoint(self, V: Array) -> Array:
        """Compute ``V R^T``."""
        if not self.joins:
            return spread(V)
        n_differences = V.shape[1] + len(self.joins)
        whole = np.zeros((V.shape[0], n_differences), dtype=V.dtype)
        whole[:, np.delete(np.arange(n_differences), self._left_out)] = V
        return spread(whole)

    def norm_squared(self) -> float:
        """Bound on the eigenvalues of the path Laplacian, for any length."""
        return 4.0

    def eigenvalues(self, n: int) -> Array:
        """Eigenvalues of the path Laplacian, part by part."""
        lengths = [part.stop - part.start for part in part_slices(self.joins, n)]
        return np.concatenate([path_laplacian_eigenvalues(length) for length in lengths])

    def to_eigenbasis(self, F: Array) -> Array:
        """Transform rows by the DCT-II, part by part."""
        from scipy.fft import dct  # takes long to import

        parts = part_slices(self.joins, F.shape[1])
        return np.concatenate([dct(F[:, part], axis=1, norm="ortho") for part in parts], axis=1)

    def from_eigenbasis(self, F: Array) -> Array:
        """Transform rows back by the DCT-III, part by part."""
        from scipy.fft import idct  # takes long to import

        parts = part_slices(self.joins, F.shape[1])
        return np.concatenate([idct(F[:, part], axis=1, norm="ortho") for part in parts], axis=1)

    @property
    def _left_out(self) -> IntArray:
        """Columns of R that are left out: those between two recordings."""
        return np.array(self.joins, dtype=np.intp) - 1


@dataclass(frozen=True, eq=False)
class Graph:
    """Neighbours in a weighted graph: one column ``w_ij (z_i - z_j)`` for every edge.

    Parameters
    ----------
    weights : array of shape (n, n), symmetric and non-negative; the diagonal is ignored

    Examples
    --------
    >>> ring = Graph(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]))
    >>> ring.apply(np.array([[1.0, 4.0, 9.0]]))
    array([[ -3., -16.,  -5.]])
    """

    weights: Array

    @cached_property
    def _edges(self) -> tuple[IntArray, IntArray, Array]:
        i, j = np.nonzero(np.triu(self.weights, k=1))
        return i, j, self.weights[i, j]

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        squared = np.triu(self.weights, k=1) ** 2
        squared = squared + squared.T
        values, vectors = np.linalg.eigh(np.diag(squared.sum(axis=0)) - squared)
        return np.maximum(values, 0), vectors

    def apply(self, Z: Array) -> Array:
        """Compute the weighted differences along all edges."""
        i, j, w = self._edges
        return np.asarray((Z[:, i] - Z[:, j]) * w.astype(Z.dtype))

    def adjoint(self, V: Array) -> Array:
        """Add the value of every edge to one of its columns and subtract it from the other."""
        i, j, w = self._edges
        weighted = (V * w.astype(V.dtype)).T
        out = np.zeros((self.weights.shape[0], V.shape[0]), dtype=V.dtype)
        np.add.at(out, i, weighted)
        np.subtract.at(out, j, weighted)
        return np.ascontiguousarray(out.T)

    def norm_squared(self) -> float:
        """Largest eigenvalue of the Laplacian of the squared weights."""
        return float(self._eigen[0][-1])

    def eigenvalues(self, n: int) -> Array:
        """Eigenvalues of the Laplacian of the squared weights."""
        return self._eigen[0]

    def to_eigenbasis(self, F: Array) -> Array:
        """Project rows onto the Laplacian's eigenvectors."""
        return np.asarray(F @ self._eigen[1].astype(F.dtype))

    def from_eigenbasis(self, F: Array) -> Array:
        """Transform rows back from the Laplacian's eigenvectors."""
        return np.asarray(F @ self._eigen[1].T.astype(F.dtype))
