"""What all models share: the objective value, a lower bound on the minimum, and the gap between them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from seqspan._core.scaling import binary_exponent, times_power_of_two
from seqspan._core.types import Array
from seqspan.models.certificate import scaled_bound
from seqspan.models.differences import Operator
from seqspan.models.terms import Nothing, Squares, Term


@dataclass(frozen=True)
class Coupling:
    """A term on the coupled columns ``Z D``.

    Parameters
    ----------
    operator : Operator
        How columns are coupled, such as :class:`seqspan.models.Path`.
    term : Term

    Examples
    --------
    >>> from seqspan.models.differences import Path
    >>> from seqspan.models.terms import ColumnNorms
    >>> Coupling(Path(), ColumnNorms(2.0)).value(np.array([[0.0, 3.0, 3.0], [0.0, 4.0, 4.0]]))
    10.0
    """

    operator: Operator
    term: Term

    def value(self, Z: Array) -> float:
        """Evaluate the term at ``Z D``."""
        return self.term.value(self.operator.apply(Z))

    def feasible(self, V: Array) -> Array:
        """Project V onto the domain of the term's conjugate, by Moreau's identity."""
        return V - self.term.prox(V, 1.0)


class Model:
    """An objective ``loss(X - XZ) + penalty(Z) + coupling(ZD)``; subclasses define the three terms.

    Examples
    --------
    >>> from seqspan.solvers import solve_splitting
    >>> from seqspan.models.terms import Absolute
    >>> class Lasso(Model):
    ...     @property
    ...     def penalty(self):
    ...         return Absolute(0.25)
    >>> solution = solve_splitting(Lasso(), np.eye(2))  # value, certificate and solver come with the terms
    >>> solution.Z.round(2)
    array([[0.75, 0.  ],
           [0.  , 0.75]])
    """

    #: For each weight, and for the objective, the power of the samples' scale that it grows with. None if
    #: that is not known: such a model takes only samples of ordinary size.
    weight_powers: ClassVar[Mapping[str, int] | None] = None
    objective_power: ClassVar[int] = 2

    @property
    def loss(self) -> Term:
        """Term of the residual ``X - XZ``; half the sum of squares unless a model overrides it."""
        return Squares()

    @property
    def penalty(self) -> Term:
        """Term of Z itself."""
        raise NotImplementedError

    @property
    def coupling(self) -> Coupling | None:
        """Term that couples the columns of Z, if any."""
        return None

    def value(self, X: Array, Z: Array, dictionary: Array | None = None) -> float:
        """Evaluate the objective.

        Parameters
        ----------
        X : array of shape (d, n)
        Z : array of shape (n_atoms, n)
        dictionary : array of shape (d, n_atoms), default X

        Returns
        -------
        float
        """
        coupled = self.coupling.value(Z) if self.coupling else 0.0
        D = X if dictionary is None else dictionary
        return self.loss.value(X - D @ Z) + self.penalty.value(Z) + coupled

    def critical_weight(self, X: Array) -> Array:
        """Smallest penalty weight at which each column of Z is zero, regardless of the coupling.

        At Z = 0 the gradient of the squared loss is ``-X^T X``, so zero is optimal as soon as the dual ball
        of the penalty contains ``X^T X``. If all samples share one weight, the largest entry is critical.

        Parameters
        ----------
        X : array of shape (d, n)

        Returns
        -------
        array of shape (n,)
        """
        if self.loss != Squares():
            raise ValueError(
                f"critical_weight needs the loss ||X - XZ||_F^2 / 2; {type(self).__name__} has another."
            )
        unit = replace(self.penalty, weight=1.0)  # type: ignore[type-var]
        exponent = binary_exponent(X)
        scaled = np.ldexp(X, -exponent)  # squares would over- or underflow
        return np.ldexp(1 / unit.limit(scaled.T @ scaled), 2 * exponent)

    def rescaled(self, exponent: int) -> Self:
        """The model that has the same minimiser for samples multiplied by ``2**exponent``.

        Its objective is ``2**(objective_power * exponent)`` times as large.

        Parameters
        ----------
        exponent : int

        Returns
        -------
        Model

        Raises
        ------
        ValueError
            If a weight leaves the range of floats, or the model does not say how its weights grow.
        """
        if self.weight_powers is None:
            raise ValueError(
                f"{type(self).__name__} has no weight_powers to rescale samples of this size: use samples of "
                "unit norm (normalize=True) or other units."
            )
        weights = {
            name: weight if weight is None else _rescaled_weight(name, weight, power * exponent)
            for name, power in self.weight_powers.items()
            for weight in [getattr(self, name)]
        }
        return replace(self, **weights)  # type: ignore[type-var]

    def lower_bound(
        self, X: Array, E: Array, V: Array | None = None, dictionary: Array | None = None
    ) -> float:
        """Bound the minimum from below by the dual value at the best scaling of ``(E, V)``.

        Models that couple neighbours in time also try a scale for each time step.

        Parameters
        ----------
        X : array of shape (d, n)
        E : array of shape (d, n)
            Any matrix. The closer it is to the gradient of the loss at the optimal residual, the better the
            bound.
        V : array of the shape of Z D, needed by models with a coupling
            Multiplier of ``J = ZD``; any matrix gives a valid bound.
        dictionary : array of shape (d, n_atoms), default X

        Returns
        -------
        float
        """
        atoms = X if dictionary is None else dictionary
        if self.coupling is None:
            return scaled_bound(self, X, E, None, atoms)
        if V is None:
            raise ValueError(f"{type(self).__name__} couples columns: its bound needs a multiplier V.")
        candidates = self._dual_candidates(atoms, E, self.coupling.feasible(V))
        return max(self._bound(X, E, candidate, atoms) for candidate in candidates)

    def _bound(self, X: Array, E: Array, V: Array, atoms: Array) -> float:
        """The bound at a multiplier."""
        return scaled_bound(self, X, E, V, atoms)

    def _dual_candidates(self, atoms: Array, E: Array, V: Array) -> list[Array]:
        """Multipliers to try, given a feasible one; the best bound wins."""
        return [V]

    def gap(self, X: Array, Z: Array, E: Array | None = None, V: Array | None = None) -> float:
        """Bound ``value(X, Z) - minimum`` from above, constraint violation included.

        Parameters
        ----------
        X : array of shape (d, n)
        Z : array of shape (n, n)
        E : array of shape (d, n), default ``X - XZ``
        V : array of the shape of Z D, needed by models with a coupling

        Returns
        -------
        float, non-negative up to rounding
        """
        E = X - X @ Z if E is None else E
        return self.value(X, Z) + self.violation(X, Z, E) - self.lower_bound(X, E, V)

    def violation(self, X: Array, Z: Array, E: Array) -> float:
        """Penalty ``2 ||X - XZ|| ||sE||`` for violating X = XZ; zero for models without this constraint.

        ``sE`` is E scaled to the edge of dual feasibility. For any Z, half the penalty lifts the objective
        to at least the lower bound from sE. A gap of at most tol therefore proves that the other half is at
        most ``tol * objective``: Z satisfies the constraint as accurately as it minimises the objective.

        Parameters
        ----------
        X, E : arrays of shape (d, n)
        Z : array of shape (n, n)

        Returns
        -------
        float
        """
        if self.loss != Nothing():
            return 0.0
        E = E if np.any(E) else X  # no multiplier yet: any non-zero matrix will do
        scale = self.penalty.limit(X.T @ E)
        E = E * np.where(np.isfinite(scale), scale, 1.0)
        return 2 * float(np.linalg.norm(X - X @ Z) * np.linalg.norm(E))


def _rescaled_weight(name: str, weight: float | Array, exponent: int) -> float | Array:
    """A weight times ``2**exponent``; raises a ValueError beyond single precision."""
    low, high = float(np.min(weight)), float(np.max(weight))
    smallest, largest = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
    if times_power_of_two(low, exponent) < smallest or times_power_of_two(high, exponent) > largest:
        raise ValueError(
            f"The weight {name}={high:.3g} does not suit samples of this size; relative to their squares it "
            "is out of range. Use samples of unit norm (normalize=True) or other units."
        )
    return np.ldexp(weight, exponent) if isinstance(weight, np.ndarray) else math.ldexp(weight, exponent)
