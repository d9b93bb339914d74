"""What is minimised: the objectives of the paper and of the methods it compares with.

Every model is a sum ``loss(X - XZ) + penalty(Z) + coupling(ZD)`` of :mod:`seqspan.models.terms`. A solver
needs nothing else. With a dictionary D of other atoms the residual is ``X - DZ``. From any ``E`` (d, n) and
``V``, a model computes a lower bound on its minimum, so all solvers are measured by the same number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from seqspan._core.types import Array
from seqspan.models.base import Coupling, Model
from seqspan.models.certificate import BANDS, stepwise_bound, tighten
from seqspan.models.differences import Graph, Path
from seqspan.models.terms import (
    Absolute,
    ColumnNorms,
    Nothing,
    SingularValues,
    Squares,
    SquaresAndOutliers,
    Term,
)

__all__ = [
    "Coupling",
    "GraphRegularised",
    "Lrr",
    "LrrColumnNoise",
    "LrrNoiseFree",
    "Lsr",
    "Model",
    "Osc",
    "OscLowRank",
    "SpatSc",
    "Ssc",
    "SscNoiseFree",
    "SscOutliers",
]


@dataclass(frozen=True)
class Ssc(Model):
    """``||X - XZ||_F^2 / 2 + sum_j lam_j ||z_j||_1`` subject to ``diag(Z) = 0``.

    Parameters
    ----------
    lam : float or array of shape (n,)
        One weight for all samples, or one per sample.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(2)
    >>> Ssc(0.5).value(X, np.array([[0.0, 1.0], [0.0, 0.0]]))
    2.0
    """

    weight_powers: ClassVar[Mapping[str, int] | None] = {"lam": 2}
    lam: float | Array

    @property
    def penalty(self) -> Term:
        """l1 norm without the diagonal."""
        return Absolute(self.lam, zero_diagonal=True)


@dataclass(frozen=True)
class SscNoiseFree(Model):
    """``||Z||_1`` subject to ``X = XZ`` and ``diag(Z) = 0``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0]])  # each sample is represented by the other
    >>> SscNoiseFree().value(X, np.array([[0.0, 2.0], [0.5, 0.0]]))
    2.5
    """

    weight_powers: ClassVar[Mapping[str, int] | None] = {}
    objective_power = 0

    @property
    def loss(self) -> Term:
        """The residual must be zero."""
        return Nothing()

    @property
    def penalty(self) -> Term:
        """l1 norm without the diagonal."""
        return Absolute(1.0, zero_diagonal=True)


@dataclass(frozen=True)
class SscOutliers(Model):
    """``lam1 / 2 ||E||_F^2 + lam2 ||S||_1 + ||Z||_1`` subject to ``X = XZ + E + S``, ``diag(Z) = 0``.

    None drops a term and its variable: ``lam1=None`` models sparse outliers only, ``lam2=None`` Gaussian
    noise only. (A weight of zero would leave the variable unpenalised and make Z = 0 optimal. The paper's
    remark on this is wrong.)

    Parameters
    ----------
    lam1, lam2 : float or None

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 10.0]])
    >>> SscOutliers(1.0, 0.5).value(X, np.zeros((2, 2)))  # the large error counts as an outlier
    5.25
    """

    weight_powers: ClassVar[Mapping[str, int] | None] = {"lam1": -2, "lam2": -1}
    objective_power = 0
    lam1: float | None
    lam2: float | None

    @property
    def loss(self) -> Term:
        """Both kinds of error, combined into one term of their sum."""
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
    """``||X - XZ||_F^2 / 2 + lam ||Z||_*``.

    Parameters
    ----------
    lam : float

    Examples
    --------
    >>> import numpy as np
    >>> Lrr(0.5).value(np.eye(2), 0.5 * np.eye(2))
    0.75
    """

    weight_powers: ClassVar[Mapping[str, int] | None] = {"lam": 2}
    lam: float

    @property
    def penalty(self) -> Term:
        """Nuclear norm."""
        return SingularValues(self.lam)


@dataclass(frozen=True)
class LrrNoiseFree(Model):
    """``||Z||_*`` subject to ``X = XZ``.

    Examples
    --------
    >>> import numpy as np
    >>> LrrNoiseFree().value(np.eye(2), np.eye(2))
    2.0
    """

    weight_powers: ClassVar[Mapping[str, int] | None] = {}
    objective_power = 0

    @property
    def loss(self) -> Term:
        """The residual must be zero."""
        return Nothing()

    @property
    def penalty(self) -> Term:
        """Nuclear norm."""
        return SingularValues(1.0)


@dataclass(frozen=True)
class LrrColumnNoise(Model):
    """``lam ||E||_{1,2} + ||Z||_*`` subject to ``X = XZ + E``: a few samples may be entirely corrupted.

    Parameters
    ----------
    lam : float

    Examples
    --------
    >>> import numpy as np
    >>> LrrColumnNoise(0.5).value(np.array([[3.0], [4.0]]), np.zeros((1, 1)))
    2.5
    """

    weight_powers: ClassVar[Mapping[str, int] | None] = {"lam": -1}
    objective_power = 0
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
    """``||X - XZ||_F^2 / 2 + lam / 2 ||Z||_F^2``.

    Parameters
    ----------
    lam : float

    Examples
    --------
    >>> import numpy as np
    >>> Lsr(1.0).value(np.eye(2), 0.5 * np.eye(2))
    0.5
    """

    weight_powers: ClassVar[Mapping[str, int] | None] = {"lam": 2}
    lam: float

    @property
    def penalty(self) -> Term:
        """Squares."""
        return Squares(self.lam)


@dataclass(frozen=True, eq=False)
class GraphRegularised(Model):
    """``||X - XZ||_F^2 / 2 + f(Z) + lam sum_{i<j} W_ij ||z_i - z_j||``.

    The paper writes Laplacian-regularised LRR and LRR with a local constraint in this common form. ``f`` is
    ``fit_weight`` times the nuclear norm (``low_rank=True``) or the l1 norm.

    Parameters
    ----------
    fit_weight, lam : float
    weights : array of shape (n, n), symmetric
    low_rank : bool

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([[0.0, 2.0], [2.0, 0.0]])  # the two samples should have similar coefficients
    >>> GraphRegularised(1.0, 0.5, weights, low_rank=False).value(np.eye(2), np.eye(2)[:, [0, 0]])
    3.0
    """

    weight_powers: ClassVar[Mapping[str, int] | None] = {"fit_weight": 2, "lam": 2}
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
    """Couples neighbours in time and penalises single entries, so its bound can be tightened."""

    weight_powers: ClassVar[Mapping[str, int] | None] = {"lam1": 2, "lam2": 2}
    lam1: float
    lam2: float
    zero_diagonal: bool
    joins: tuple[int, ...]

    @property
    def penalty(self) -> Term:
        """l1 norm, with or without the diagonal."""
        return Absolute(self.lam1, self.zero_diagonal)

    @property
    def coupling(self) -> Coupling:
        """Term of the differences in time."""
        raise NotImplementedError

    def _bound(self, X: Array, E: Array, V: Array, atoms: Array) -> float:
        # scales of single time steps are derived for this loss, and for balls that are not just zero
        if self.loss != Squares() or not (self.lam1 and self.lam2):
            return super()._bound(X, E, V, atoms)
        return stepwise_bound(self, X, E, V, atoms)

    def _dual_candidates(self, atoms: Array, E: Array, V: Array) -> list[Array]:
        correlations = atoms.T @ E
        bands = (width * self.lam1 for width in BANDS)
        return [V, *(tighten(correlations, V, band, self.zero_diagonal, self.joins) for band in bands)]


@dataclass(frozen=True)
class SpatSc(_PathModel):
    """``||X - XZ||_F^2 / 2 + lam1 ||Z||_1 + lam2 ||ZR||_1``, ``diag(Z) = 0``: YiGuo1 in the paper.

    Parameters
    ----------
    lam1, lam2 : float
    zero_diagonal : bool
    joins : tuple of int
        Samples at which another recording begins; R has no column there.

    Examples
    --------
    >>> import numpy as np
    >>> SpatSc(0.1, 1.0).value(np.eye(2), np.array([[0.0, 0.5], [0.5, 0.0]]))
    2.35
    """

    lam1: float
    lam2: float
    zero_diagonal: bool = True
    joins: tuple[int, ...] = ()

    @property
    def coupling(self) -> Coupling:
        """l1 norm of the differences."""
        return Coupling(Path(self.joins), Absolute(self.lam2))


@dataclass(frozen=True)
class Osc(_PathModel):
    """``||X - XZ||_F^2 / 2 + lam1 ||Z||_1 + lam2 ||ZR||_{1,2}``: the paper's objective.

    The paper's relaxed and exact forms have the same minimum. They differ only in the algorithm.

    Parameters
    ----------
    lam1, lam2 : float
    zero_diagonal : bool
    joins : tuple of int
        Samples at which another recording begins; R has no column there.

    Examples
    --------
    >>> import numpy as np
    >>> model, X, Z = Osc(0.5, 1.0), np.eye(2), np.full((2, 2), 0.25)
    >>> model.value(X, Z)
    1.125
    >>> model.gap(X, Z, V=np.zeros((2, 1)))  # the minimum is at most this much lower
    0.25
    """

    lam1: float
    lam2: float
    zero_diagonal: bool = False
    joins: tuple[int, ...] = ()

    @property
    def coupling(self) -> Coupling:
        """Column norms of the differences."""
        return Coupling(Path(self.joins), ColumnNorms(self.lam2))


@dataclass(frozen=True)
class OscLowRank(Model):
    """``||X - XZ||_F^2 / 2 + lam1 ||Z||_* + lam2 ||ZR||_{1,2}``.

    Parameters
    ----------
    lam1, lam2 : float
    joins : tuple of int
        Samples at which another recording begins; R has no column there.

    Examples
    --------
    >>> import numpy as np
    >>> OscLowRank(0.5, 1.0).value(np.eye(2), np.full((2, 2), 0.5))
    1.0
    """

    weight_powers: ClassVar[Mapping[str, int] | None] = {"lam1": 2, "lam2": 2}
    lam1: float
    lam2: float
    joins: tuple[int, ...] = ()

    @property
    def penalty(self) -> Term:
        """Nuclear norm."""
        return SingularValues(self.lam1)

    @property
    def coupling(self) -> Coupling:
        """Column norms of the differences."""
        return Coupling(Path(self.joins), ColumnNorms(self.lam2))
