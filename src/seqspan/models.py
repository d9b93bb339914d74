"""What is minimised: the objectives of the paper and of the methods it is compared with.

Every model is a sum ``loss(X - XZ) + penalty(Z) + coupling(ZD)`` of :mod:`seqspan.terms`, and that is
all a solver has to know. A dictionary of other atoms D makes the residual ``X - DZ``. The model, not
the solver, certifies: from any ``E`` (d, n) and ``V`` it
computes a lower bound on its minimum, so all solvers are judged by one number.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from seqspan._types import Array
from seqspan.certificate import BANDS, scaled_bound, tighten
from seqspan.differences import Graph, Operator, Path
from seqspan.terms import Absolute, ColumnNorms, Nothing, SingularValues, Squares, SquaresAndOutliers, Term


@dataclass(frozen=True)
class Coupling:
    """A term on the coupled columns ``Z D``."""

    operator: Operator
    term: Term

    def value(self, Z: Array) -> float:
        """Evaluate the term at ``Z D``."""
        return self.term.value(self.operator.apply(Z))

    def feasible(self, V: Array) -> Array:
        """Nearest point to V of the ball that the term's conjugate allows, by Moreau's identity."""
        return V - self.term.prox(V, 1.0)


class Model:
    """An objective ``loss(X - XZ) + penalty(Z) + coupling(ZD)``; subclasses name the three terms."""

    @property
    def loss(self) -> Term:
        """Term of the residual ``X - XZ``; half its squares unless a model says otherwise."""
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

    def lower_bound(
        self, X: Array, E: Array, V: Array | None = None, dictionary: Array | None = None
    ) -> float:
        """Bound the minimum from below by the dual value at the best scaling of ``(E, V)``.

        Parameters
        ----------
        X : array of shape (d, n)
        E : array of shape (d, n)
            Any matrix; the closer to the optimal residual's gradient, the better the bound.
        V : array of the shape of Z D, needed by models with a coupling
            Multiplier of ``J = ZD``; any matrix will do.
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
        return max(scaled_bound(self, X, E, candidate, atoms) for candidate in candidates)

    def _dual_candidates(self, atoms: Array, E: Array, V: Array) -> list[Array]:
        """Offer multipliers to choose the best of, starting from a feasible one."""
        return [V]

    def gap(self, X: Array, Z: Array, E: Array | None = None, V: Array | None = None) -> float:
        """Bound ``value(X, Z) - minimum`` from above; what a constraint is missed by counts too.

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
        """Price ``2 ||X - XZ|| ||sE||`` of missing the constraint X = XZ; zero for models without it.

        ``sE`` is E scaled to the border of dual feasibility. Half the price lifts the objective to the
        lower bound that sE yields, whatever Z is; so a gap at most tol proves that the other half is
        at most ``tol * objective``: Z obeys the constraint as well as it minimises.

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
        E = E if np.any(E) else X  # no multiplier yet: any will do for a price, and zero is none
        scale = self.penalty.limit(X.T @ E)
        E = E * np.where(np.isfinite(scale), scale, 1.0)
        return 2 * float(np.linalg.norm(X - X @ Z) * np.linalg.norm(E))


@dataclass(frozen=True)
class Ssc(Model):
    """``||X - XZ||_F^2 / 2 + sum_j lam_j ||z_j||_1`` subject to ``diag(Z) = 0``; one lam or one per sample.

    Examples
    --------
    >>> X = np.eye(2)
    >>> Ssc(0.5).value(X, np.array([[0.0, 1.0], [0.0, 0.0]]))
    2.0
    """

    lam: float | Array

    @property
    def penalty(self) -> Term:
        """l1 norm without the diagonal."""
        return Absolute(self.lam, zero_diagonal=True)

    def critical_weight(self, X: Array) -> Array:
        """Smallest weight of every sample at which its column of Z is zero."""
        G = X.T @ X
        np.fill_diagonal(G, 0)
        return np.asarray(np.abs(G).max(axis=0))


@dataclass(frozen=True)
class SscNoiseFree(Model):
    """``||Z||_1`` subject to ``X = XZ`` and ``diag(Z) = 0``."""

    @property
    def loss(self) -> Term:
        """No residual is allowed."""
        return Nothing()

    @property
    def penalty(self) -> Term:
        """l1 norm without the diagonal."""
        return Absolute(1.0, zero_diagonal=True)


@dataclass(frozen=True)
class SscOutliers(Model):
    """``lam1 / 2 ||E||_F^2 + lam2 ||S||_1 + ||Z||_1`` subject to ``X = XZ + E + S``, ``diag(Z) = 0``.

    None drops a term together with its variable: ``lam1=None`` leaves sparse outliers alone,
    ``lam2=None`` noise alone. (A weight of zero would free the variable and make Z = 0 optimal; the
    paper's remark on this is wrong.)
    """

    lam1: float | None
    lam2: float | None

    @property
    def loss(self) -> Term:
        """Both kinds of error, folded into one term of their sum."""
        if self.lam1 is None and self.lam2 is None:
            return Nothing()
        if self.lam1 is None:
            return Absolute(self.lam2 or 0.0)
        return Squares(self.lam1) if self.lam2 is None else SquaresAndOutliers(self.lam1, self.lam2)

    @property
    def penalty(self) -> Term:
        """l1 norm without the diagonal."""
        return Absolute(1.0, zero_diagonal=True)


@dataclass(frozen=True)
class Lrr(Model):
    """``||X - XZ||_F^2 / 2 + lam ||Z||_*``."""

    lam: float

    @property
    def penalty(self) -> Term:
        """Nuclear norm."""
        return SingularValues(self.lam)

    def critical_weight(self, X: Array) -> float:
        """Smallest weight at which Z = 0: the square of the largest singular value of X."""
        return float(np.linalg.norm(X, 2) ** 2)


@dataclass(frozen=True)
class LrrNoiseFree(Model):
    """``||Z||_*`` subject to ``X = XZ``."""

    @property
    def loss(self) -> Term:
        """No residual is allowed."""
        return Nothing()

    @property
    def penalty(self) -> Term:
        """Nuclear norm."""
        return SingularValues(1.0)


@dataclass(frozen=True)
class LrrColumnNoise(Model):
    """``lam ||E||_{1,2} + ||Z||_*`` subject to ``X = XZ + E``: a few samples may be bad altogether."""

    lam: float

    @property
    def loss(self) -> Term:
        """Norms of the residual's columns."""
        return ColumnNorms(self.lam)

    @property
    def penalty(self) -> Term:
        """Nuclear norm."""
        return SingularValues(1.0)


@dataclass(frozen=True)
class Lsr(Model):
    """``||X - XZ||_F^2 / 2 + lam / 2 ||Z||_F^2``."""

    lam: float

    @property
    def penalty(self) -> Term:
        """Squares."""
        return Squares(self.lam)


@dataclass(frozen=True, eq=False)
class GraphRegularised(Model):
    """``||X - XZ||_F^2 / 2 + f(Z) + lam sum_{i<j} W_ij ||z_i - z_j||``.

    The paper's common form of Laplacian-regularised LRR and LRR with local constraint:
    ``f`` is ``fit_weight`` times the nuclear norm (``low_rank=True``) or the l1 norm.

    Parameters
    ----------
    fit_weight, lam : float
    weights : array of shape (n, n), symmetric
    low_rank : bool
    """

    fit_weight: float
    lam: float
    weights: Array
    low_rank: bool = True
    _graph: Graph = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_graph", Graph(self.weights))

    @property
    def penalty(self) -> Term:
        """Nuclear or l1 norm."""
        return SingularValues(self.fit_weight) if self.low_rank else Absolute(self.fit_weight)

    @property
    def coupling(self) -> Coupling:
        """Column norms of the differences along edges."""
        return Coupling(self._graph, ColumnNorms(self.lam))


class _PathModel(Model):
    """Neighbours in time are coupled and single entries penalised: the bound can be tightened."""

    lam1: float
    zero_diagonal: bool

    @property
    def penalty(self) -> Term:
        """l1 norm, with or without the diagonal."""
        return Absolute(self.lam1, self.zero_diagonal)

    def critical_weight(self, X: Array) -> float:
        """Return the lam1 from which on Z = 0 whatever lam2 is (and below which it is not, at lam2 = 0)."""
        G = np.abs(X.T @ X)
        if self.zero_diagonal:
            np.fill_diagonal(G, 0)
        return float(G.max())

    def _dual_candidates(self, atoms: Array, E: Array, V: Array) -> list[Array]:
        correlations = atoms.T @ E
        bands = (width * self.lam1 for width in BANDS)
        return [V, *(tighten(correlations, V, band, self.zero_diagonal) for band in bands)]


@dataclass(frozen=True)
class SpatSc(_PathModel):
    """``||X - XZ||_F^2 / 2 + lam1 ||Z||_1 + lam2 ||ZR||_1``, ``diag(Z) = 0`` [paper, Eq. YiGuo1]."""

    lam1: float
    lam2: float
    zero_diagonal: bool = True

    @property
    def coupling(self) -> Coupling:
        """l1 norm of the differences."""
        return Coupling(Path(), Absolute(self.lam2))


@dataclass(frozen=True)
class Osc(_PathModel):
    """``||X - XZ||_F^2 / 2 + lam1 ||Z||_1 + lam2 ||ZR||_{1,2}`` [paper, Eq. objective].

    The paper's relaxed and exact forms share this minimum: they differ in the algorithm alone.
    """

    lam1: float
    lam2: float
    zero_diagonal: bool = False

    @property
    def coupling(self) -> Coupling:
        """Column norms of the differences."""
        return Coupling(Path(), ColumnNorms(self.lam2))


@dataclass(frozen=True)
class OscLowRank(Model):
    """``||X - XZ||_F^2 / 2 + lam1 ||Z||_* + lam2 ||ZR||_{1,2}``."""

    lam1: float
    lam2: float

    @property
    def penalty(self) -> Term:
        """Nuclear norm."""
        return SingularValues(self.lam1)

    @property
    def coupling(self) -> Coupling:
        """Column norms of the differences."""
        return Coupling(Path(), ColumnNorms(self.lam2))
