"""The preprocessing steps: each a frozen record of its settings, and a function from rows to rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from seqspan._core.scaling import scale_to_unit_norm
from seqspan._core.types import Array, IntArray

Matrix: TypeAlias = npt.NDArray[Any]
TINY = 1e-12  # relative size below which a norm or a spread is rounding


def as_floats(X: Matrix) -> Array:
    """Return floats; small whole numbers (pixels) become float32, which holds them exactly."""
    if X.dtype.kind == "f":
        return X
    return X.astype(np.float32 if X.dtype.itemsize <= 2 else np.float64)


@dataclass(frozen=True)
class Step:
    """One step. `apply` turns rows into rows; the others say what became of rows and columns."""

    name: ClassVar[str] = ""

    def apply(self, X: Array) -> Array:
        """Return the new rows; X, of shape (n_samples, n_features), is left alone."""
        raise NotImplementedError

    def rows(self, n_samples: int) -> IntArray:
        """Return which of the rows before the step each row after it stands for."""
        return np.arange(n_samples)

    def name_features(self, names: tuple[str, ...], n_features: int) -> tuple[str, ...]:
        """Return the names of the columns after the step."""
        return names

    def record(self) -> dict[str, Any]:
        """Return name and settings as JSON knows them."""
        return {"step": self.name, **asdict(self)}


@dataclass(frozen=True)
class Centre(Step):
    """Subtract the mean of every column.

    Examples
    --------
    >>> Centre().apply(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    name: ClassVar[str] = "centre"

    def apply(self, X: Array) -> Array:
        """Return ``X - mean``."""
        centred: Array = X - X.mean(axis=0)
        return centred


@dataclass(frozen=True)
class Scale(Step):
    """Divide every column by its standard deviation; constant columns are left alone.

    Examples
    --------
    >>> Scale().apply(np.array([[0.0, 5.0], [4.0, 5.0]]))
    array([[0., 5.],
           [2., 5.]])
    """

    name: ClassVar[str] = "scale"

    def apply(self, X: Array) -> Array:
        """Return ``X / deviation``."""
        deviation = X.std(axis=0)
        constant = deviation <= TINY * np.abs(X).max(axis=0, initial=0)
        scaled: Array = X / np.where(constant, 1, deviation).astype(X.dtype)
        return scaled


@dataclass(frozen=True)
class UnitNorm(Step):
    """Scale every row to length one; rows of zeros stay.

    Examples
    --------
    >>> UnitNorm().apply(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """

    name: ClassVar[str] = "unit_norm"

    def apply(self, X: Array) -> Array:
        """Return ``X / ||x||``, row by row."""
        return scale_to_unit_norm(X, axis=1)


@dataclass(frozen=True)
class Delay(Step):
    """Put a sample's neighbours in time beside it, so that direction of motion counts.

    Row t becomes rows ``t - h, ..., t + h`` side by side, `lag` apart; the first and the last row stand in
    beyond the ends, so that there are as many rows as before.

    Parameters
    ----------
    window : int
        Number of rows put together, odd so that a row stays in their middle.
    lag : int
        Steps from one to the next.

    Examples
    --------
    >>> Delay(window=3).apply(np.array([[1.0], [2.0], [3.0]]))
    array([[1., 1., 2.],
           [1., 2., 3.],
           [2., 3., 3.]])
    """

    name: ClassVar[str] = "delay"
    window: int = 5
    lag: int = 1

    def __post_init__(self) -> None:
        if self.window < 1 or self.window % 2 == 0:
            raise ValueError(f"the window of delay must be odd and at least 1; got {self.window}.")
        if self.lag < 1:
            raise ValueError(f"the lag of delay must be at least 1; got {self.lag}.")

    @property
    def offsets(self) -> IntArray:
        """Steps from a row to those put beside it."""
        return self.lag * (np.arange(self.window) - self.window // 2)

    def apply(self, X: Array) -> Array:
        """Return rows of `window` times as many values."""
        rows = np.arange(len(X))
        return np.hstack([X[np.clip(rows + offset, 0, len(X) - 1)] for offset in self.offsets])

    def name_features(self, names: tuple[str, ...], n_features: int) -> tuple[str, ...]:
        """Mark every name with its offset."""
        return tuple(f"{name}[{offset:+d}]" for offset in self.offsets for name in names)


@dataclass(frozen=True)
class Subsample(Step):
    """Keep every stride-th row.

    Parameters
    ----------
    stride : int

    Examples
    --------
    >>> Subsample(2).apply(np.array([[1.0], [2.0], [3.0]]))
    array([[1.],
           [3.]])
    """

    name: ClassVar[str] = "subsample"
    stride: int = 2

    def __post_init__(self) -> None:
        if self.stride < 1:
            raise ValueError(f"the stride of subsample must be at least 1; got {self.stride}.")

    def apply(self, X: Array) -> Array:
        """Return fewer rows."""
        return X[:: self.stride]

    def rows(self, n_samples: int) -> IntArray:
        """Return the rows that are kept."""
        return np.arange(0, n_samples, self.stride)


@dataclass(frozen=True)
class Pca(Step):
    """Keep the directions that hold a share of the variance.

    The data are turned, not shifted: where they are not centred the direction of their mean is kept as one
    more coordinate, so that subspaces through the origin stay such.

    Parameters
    ----------
    variance : float
        Share of the variance that is kept, in (0, 1].

    Examples
    --------
    >>> X = np.outer([-1.0, 0.0, 1.0], [3.0, 4.0])  # all variance along one direction
    >>> Pca().apply(X)
    array([[-5.],
           [ 0.],
           [ 5.]])
    """

    name: ClassVar[str] = "pca"
    variance: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.variance <= 1:
            raise ValueError(f"the variance of pca must be a share in (0, 1]; got {self.variance}.")

    def apply(self, X: Array) -> Array:
        """Return coordinates along the directions, most variance first."""
        mean = X.mean(axis=0, dtype=float)
        directions = principal_directions(X - mean, self.variance)
        rest = mean - directions @ (directions.T @ mean)
        length = np.linalg.norm(rest)
        if length > 1e-8 * np.abs(X).max(initial=0):
            directions = np.column_stack([directions, rest / length])
        if not directions.shape[1]:  # samples of zeros keep a coordinate too
            directions = np.eye(X.shape[1], 1)
        coordinates: Array = (X @ directions).astype(X.dtype, copy=False)
        return coordinates

    def name_features(self, names: tuple[str, ...], n_features: int) -> tuple[str, ...]:
        """Number the components."""
        return tuple(f"component_{number}" for number in range(n_features))


def principal_directions(centred: Array, share: float) -> Array:
    """Return orthonormal directions that hold `share` of the variance, the fewest that do.

    Through the smaller of the two Gram matrices: frames have far more pixels than there are frames.

    Parameters
    ----------
    centred : array of shape (n_samples, n_features), columns of mean zero
    share : float in (0, 1]

    Returns
    -------
    array of shape (n_features, n_directions)
    """
    n_samples, n_features = centred.shape
    wide = n_features > n_samples
    values, vectors = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    held = np.cumsum(values) / max(values.sum(), np.finfo(float).tiny)
    positive = int(np.count_nonzero(values > values[0] * np.finfo(centred.dtype).eps * max(centred.shape)))
    count = min(int(np.searchsorted(held, share * (1 - TINY))) + 1, positive)
    vectors = vectors[:, :count]
    directions = centred.T @ vectors / np.sqrt(values[:count]) if wide else vectors
    # A direction is known up to its sign; the largest entry is made positive so that a second run agrees.
    largest = np.abs(directions).argmax(axis=0)
    fixed: Array = directions * np.sign(directions[largest, np.arange(count)])
    return fixed


STEPS: dict[str, type[Step]] = {step.name: step for step in (Centre, Scale, UnitNorm, Delay, Subsample, Pca)}


def parse_step(given: str | Mapping[str, Any] | Step) -> Step:
    """Understand a step as a user or a record writes it.

    Parameters
    ----------
    given : str, mapping or Step
        ``"centre"``, ``"pca:0.95"``, ``"delay:5:2"`` (settings in order, after colons), a record, or a step.

    Returns
    -------
    Step

    Examples
    --------
    >>> parse_step("delay:7"), parse_step({"step": "pca", "variance": 0.9})
    (Delay(window=7, lag=1), Pca(variance=0.9))
    """
    if isinstance(given, Step):
        return given
    if isinstance(given, str):
        name, *words = given.split(":")
        kind = _kind(name)
        known = fields(kind)
        if len(words) > len(known):
            raise ValueError(f"{name} takes at most {len(known)} settings; got {given!r}.")
        settings = {field.name: _number(word) for field, word in zip(known, words, strict=False)}
        return kind(**settings)
    settings = dict(given)
    kind = _kind(str(settings.pop("step", "")))
    unknown = sorted(set(settings) - {field.name for field in fields(kind)})
    if unknown:
        raise ValueError(f"{kind.name} has no setting {', '.join(unknown)}.")
    return kind(**settings)


def _kind(name: str) -> type[Step]:
    """Look a step up by name."""
    if name not in STEPS:
        raise ValueError(f"a preprocessing step must be one of {', '.join(STEPS)}; got {name!r}.")
    return STEPS[name]


def _number(word: str) -> float:
    """Read a whole number as such, others as floats."""
    try:
        return int(word) if word.lstrip("+-").isdigit() else float(word)
    except ValueError as error:
        raise ValueError(f"the setting of a step must be a number; got {word!r}.") from error
