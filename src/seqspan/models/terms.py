"""The terms that make up an objective. Each has a value, a proximal map and a convex conjugate.

Every conjugate here is a quadratic restricted to a ball. A certificate needs both parts: ``limit(M)`` is how
far each column of M can be scaled before it leaves the ball, ``conjugate(M)`` is the quadratic per column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from seqspan._core.types import Array
from seqspan.models.prox import shrink_columns, shrink_singular_values, soft_threshold, zero_diagonal


class Term(Protocol):
    """A closed convex function of a matrix.

    Examples
    --------
    >>> term: Term = Absolute(2.0)
    >>> A = np.array([[3.0, -1.0]])
    >>> term.value(A), term.prox(A, 1.0).tolist()
    (8.0, [[1.0, 0.0]])
    """

    def value(self, A: Array) -> float:
        """Evaluate the term."""

    def prox(self, A: Array, step: float) -> Array:
        """Minimise ``step * value(B) + ||B - A||_F^2 / 2`` over B."""

    def limit(self, M: Array) -> Array:
        """Largest factor per column that keeps M inside the conjugate's domain."""

    def conjugate(self, M: Array) -> Array:
        """Quadratic part of the conjugate, per column."""


def _ratio(bound: float | Array, size: Array) -> Array:
    """Compute ``bound / size``; infinite if size is zero."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.where(size > 0, bound / size, np.inf)


@dataclass(frozen=True)
class Squares:
    """``weight / 2 ||A||_F^2``.

    Parameters
    ----------
    weight : float

    Examples
    --------
    >>> Squares(2.0).value(np.array([[1.0, 2.0]]))
    5.0
    """

    weight: float = 1.0

    def value(self, A: Array) -> float:
        """Evaluate the term."""
        return self.weight / 2 * float(np.vdot(A, A))

    def prox(self, A: Array, step: float) -> Array:
        """Scale towards zero."""
        return A / (1 + step * self.weight)

    def limit(self, M: Array) -> Array:
        """Any factor is allowed."""
        return np.full(M.shape[1], np.inf)

    def conjugate(self, M: Array) -> Array:
        """``||m_j||^2 / (2 weight)``."""
        return np.asarray(np.sum(M * M, axis=0) / (2 * self.weight))


@dataclass(frozen=True)
class Nothing:
    """Zero at A = 0, infinite elsewhere: a constraint.

    `value` returns zero everywhere, because iterates satisfy the constraint only approximately. The model
    accounts for the distance (:meth:`seqspan.models.Model.violation`).

    Examples
    --------
    >>> Nothing().prox(np.array([[1.0, 2.0]]), 1.0)
    array([[0., 0.]])
    """

    def value(self, A: Array) -> float:
        """Return zero."""
        return 0.0

    def prox(self, A: Array, step: float) -> Array:
        """Map to zero."""
        return np.zeros_like(A)

    def limit(self, M: Array) -> Array:
        """Any factor is allowed."""
        return np.full(M.shape[1], np.inf)

    def conjugate(self, M: Array) -> Array:
        """Zero everywhere."""
        return np.zeros(M.shape[1])


@dataclass(frozen=True)
class Absolute:
    """``sum_ij weight_j |A_ij|``, optionally with the constraint ``diag(A) = 0``.

    Parameters
    ----------
    weight : float or array of shape (n,)
        One weight for all columns, or one per column.
    zero_diagonal : bool

    Examples
    --------
    >>> Absolute(0.5).value(np.array([[1.0, -2.0]]))
    1.5
    >>> Absolute(0.5, zero_diagonal=True).value(np.eye(2))
    inf
    """

    weight: float | Array
    zero_diagonal: bool = False

    def value(self, A: Array) -> float:
        """Evaluate the term; infinite if the constraint is violated."""
        if self.zero_diagonal and np.any(np.diagonal(A)):
            return np.inf
        return float(np.sum(np.abs(A) * self.weight))

    def prox(self, A: Array, step: float) -> Array:
        """Soft-threshold every entry."""
        B = soft_threshold(A, np.asarray(step * self.weight, dtype=A.dtype))
        return zero_diagonal(B) if self.zero_diagonal else B

    def limit(self, M: Array) -> Array:
        """``weight_j / max_i |m_ij|``, ignoring the diagonal if it is fixed."""
        M = zero_diagonal(M) if self.zero_diagonal else M
        return _ratio(self.weight, np.abs(M).max(axis=0))

    def conjugate(self, M: Array) -> Array:
        """Zero on the ball."""
        return np.zeros(M.shape[1])


@dataclass(frozen=True)
class ColumnNorms:
    """``weight * sum_j ||a_j||``, the paper's l1,2 norm.

    Parameters
    ----------
    weight : float

    Examples
    --------
    >>> ColumnNorms(2.0).value(np.array([[3.0, 0.0], [4.0, 1.0]]))
    12.0
    """

    weight: float

    def value(self, A: Array) -> float:
        """Evaluate the term."""
        return self.weight * float(np.linalg.norm(A, axis=0).sum())

    def prox(self, A: Array, step: float) -> Array:
        """Shorten every column."""
        return shrink_columns(A, step * self.weight)

    def limit(self, M: Array) -> Array:
        """``weight / ||m_j||``."""
        return _ratio(self.weight, np.linalg.norm(M, axis=0))

    def conjugate(self, M: Array) -> Array:
        """Zero on the ball."""
        return np.zeros(M.shape[1])


@dataclass(frozen=True)
class SingularValues:
    """``weight * ||A||_*``, the nuclear norm.

    Parameters
    ----------
    weight : float

    Examples
    --------
    >>> SingularValues(2.0).value(np.diag([3.0, 1.0]))
    8.0
    """

    weight: float

    def value(self, A: Array) -> float:
        """Evaluate the term."""
        return self.weight * float(np.linalg.norm(A, "nuc"))

    def prox(self, A: Array, step: float) -> Array:
        """Lower every singular value."""
        return shrink_singular_values(A, step * self.weight)

    def limit(self, M: Array) -> Array:
        """``weight / ||M||_2`` for every column: smaller factors only lower the norm."""
        return np.full(M.shape[1], _ratio(self.weight, np.asarray(np.linalg.norm(M, 2))))

    def conjugate(self, M: Array) -> Array:
        """Zero on the ball."""
        return np.zeros(M.shape[1])


@dataclass(frozen=True)
class SquaresAndOutliers:
    """``min squares / 2 ||E||_F^2 + outliers ||S||_1`` over ``E + S = A``: quadratic near zero, then linear.

    Parameters
    ----------
    squares, outliers : float
        Weights of the two parts.

    Examples
    --------
    >>> term = SquaresAndOutliers(1.0, 0.5)
    >>> term.value(np.array([[0.25]])), term.value(np.array([[10.0]]))
    (0.03125, 4.875)
    """

    squares: float
    outliers: float

    def value(self, A: Array) -> float:
        """Evaluate the term, Huber's function of every entry."""
        E = np.clip(A, -self.outliers / self.squares, self.outliers / self.squares)
        return self.squares / 2 * float(np.vdot(E, E)) + self.outliers * float(np.abs(A - E).sum())

    def prox(self, A: Array, step: float) -> Array:
        """Scale small entries, shift large ones."""
        bend = self.outliers / self.squares * (1 + step * self.squares)
        inner = A / (1 + step * self.squares)
        return np.where(np.abs(A) <= bend, inner, soft_threshold(A, step * self.outliers))

    def limit(self, M: Array) -> Array:
        """``outliers / max_i |m_ij|``."""
        return _ratio(self.outliers, np.abs(M).max(axis=0))

    def conjugate(self, M: Array) -> Array:
        """``||m_j||^2 / (2 squares)``."""
        return np.asarray(np.sum(M * M, axis=0) / (2 * self.squares))
