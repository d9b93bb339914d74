"""The preprocessing steps: each holds its settings and turns rows into rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from seqspan._core.scaling import binary_exponent, binary_units, scale_to_unit_norm
from seqspan._core.types import Array, IntArray

Matrix: TypeAlias = npt.NDArray[Any]
TINY = 1e-12  # relative to the data; smaller deviations and variances are rounding errors
MEAN_TINY = 1e-8  # relative to the data; a shorter rest of the mean is rounding error in any precision


def as_floats(X: Matrix) -> Array:
    """Convert to floats; 8- and 16-bit integers (pixels) become float32, which holds them exactly."""
    if X.dtype.kind == "f":
        return X
    return X.astype(np.float32 if X.dtype.itemsize <= 2 else np.float64)


def column_means(X: Array) -> Array:
    """Means of the columns, in double precision; exact for constant columns.

    Examples
    --------
    >>> column_means(np.array([[1e308, 1.0], [1e308, 2.0]]))
    array([1.0e+308, 1.5e+000])
    """
    units = binary_units(X)  # sums of the largest floats would overflow
    means = (X / units).mean(axis=0, dtype=float) * units
    return np.asarray(np.clip(means, X.min(axis=0), X.max(axis=0)) if len(X) else means)


def column_deviations(X: Array) -> Array:
    """Standard deviations of the columns, in double precision; zero for columns that are constant.

    Examples
    --------
    >>> column_deviations(np.array([[0.0, 0.1], [4e200, 0.1], [8e200, 0.1]])).round(-199)
    array([3.3e+200, 0.0e+000])
    """
    units = binary_units(X)  # squares would over- or underflow
    scaled = X / units
    largest = np.abs(scaled).max(axis=0, initial=0)
    scaled -= scaled.mean(axis=0, dtype=float).astype(X.dtype)
    squares = np.einsum("ij,ij->j", scaled, scaled, dtype=float)
    deviations = np.sqrt(squares / max(len(X), 1))
    return np.asarray(np.where(deviations > TINY * largest, deviations, 0) * units)


@dataclass(frozen=True)
class Step:
    """One step: `apply` turns rows into rows, the other methods say where rows and columns come from."""

    name: ClassVar[str] = ""

    def apply(self, X: Array) -> Array:
        """Return new rows; X, of shape (n_samples, n_features), is not changed."""
        raise NotImplementedError

    def rows(self, n_samples: int) -> IntArray:
        """Return the index of the original row for each row after the step."""
        return np.arange(n_samples)

    def name_features(self, names: tuple[str, ...], n_features: int) -> tuple[str, ...]:
        """Return the column names after the step."""
        return names

    def record(self) -> dict[str, Any]:
        """Return the name and settings as JSON values."""
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
        means = column_means(X)
        rounded = means.astype(X.dtype)
        centred: Array = X - rounded
        centred -= (means - rounded).astype(X.dtype)  # what rounding took from the means
        return centred


@dataclass(frozen=True)
class Scale(Step):
    """Divide every column by its standard deviation; constant columns are not changed.

    Examples
    --------
    >>> Scale().apply(np.array([[0.0, 5.0], [4.0, 5.0]]))
    array([[0., 5.],
           [2., 5.]])
    """

    name: ClassVar[str] = "scale"

    def apply(self, X: Array) -> Array:
        """Return ``X / deviation``."""
        deviations = column_deviations(X)
        scaled: Array = X / np.where(deviations > 0, deviations, 1).astype(X.dtype)
        return scaled


@dataclass(frozen=True)
class UnitNorm(Step):
    """Scale every row to norm one; rows of zeros are not changed.

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
    """Append to each sample its neighbours in time, so that the direction of motion counts.

    Row t becomes a window of rows around t, `lag` apart, side by side. The first and last rows are repeated
    beyond the ends, so the number of rows stays the same.

    Parameters
    ----------
    window : int
        Number of rows in a window. It is odd, so that row t is in the middle.
    lag : int
        Distance between the rows of a window.

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
        """Distances from row t to the rows of its window."""
        return self.lag * (np.arange(self.window) - self.window // 2)

    def apply(self, X: Array) -> Array:
        """Return rows of `window` times as many values."""
        rows = np.arange(len(X))
        return np.hstack([X[np.clip(rows + offset, 0, len(X) - 1)] for offset in self.offsets])

    def name_features(self, names: tuple[str, ...], n_features: int) -> tuple[str, ...]:
        """Append its offset to every name."""
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
        """Return every stride-th row."""
        return X[:: self.stride]

    def rows(self, n_samples: int) -> IntArray:
        """Return the indices of the rows that are kept."""
        return np.arange(0, n_samples, self.stride)


@dataclass(frozen=True)
class Pca(Step):
    """Keep the principal directions that hold most of the variance.

    The data are rotated but not shifted. If they are not centred, the direction of their mean is kept as an
    additional coordinate, so that subspaces through the origin remain subspaces through the origin.

    Parameters
    ----------
    variance : float
        Share of the variance to keep, in (0, 1].

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
        """Return the coordinates along the principal directions, most variance first."""
        coordinates: Array = (X @ self.directions(X)).astype(X.dtype, copy=False)
        return coordinates

    def directions(self, X: Array) -> Array:
        """Return the principal directions, (n_features, n_directions), most variance first."""
        scaled = np.ldexp(X, -binary_exponent(X))  # squares of the entries stay within range
        mean = scaled.mean(axis=0, dtype=float)
        directions = principal_directions(scaled - mean, self.variance)
        rest = mean - directions @ (directions.T @ mean)
        length = np.linalg.norm(rest)
        rounding = float(np.finfo(X.dtype).eps) * np.sqrt(X.shape[1])
        if length > max(MEAN_TINY, rounding) * np.abs(scaled).max(initial=0):
            directions = np.column_stack([directions, rest / length])
        # if all samples are zero, keep one coordinate
        return directions if directions.shape[1] else np.eye(X.shape[1], 1)

    def name_features(self, names: tuple[str, ...], n_features: int) -> tuple[str, ...]:
        """Number the components."""
        return tuple(f"component_{number}" for number in range(n_features))


def principal_directions(centred: Array, share: float) -> Array:
    """Return as few orthonormal directions as hold `share` of the variance.

    Computed from the smaller of the two Gram matrices: frames have far more pixels than there are frames.

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
    # The sign of a direction is arbitrary; making the largest entry positive makes runs repeatable.
    largest = np.abs(directions).argmax(axis=0)
    fixed: Array = directions * np.sign(directions[largest, np.arange(count)])
    return fixed


STEPS: dict[str, type[Step]] = {step.name: step for step in (Centre, Scale, UnitNorm, Delay, Subsample, Pca)}


def parse_step(given: str | Mapping[str, Any] | Step) -> Step:
    """Make a step from its name or its record.

    Parameters
    ----------
    given : str, mapping or Step
        A name with its settings after colons, in order: ``"centre"``, ``"pca:0.95"``, ``"delay:5:2"``; or a
        record, or a step.

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
    """Find a step by name."""
    if name not in STEPS:
        raise ValueError(f"a preprocessing step must be one of {', '.join(STEPS)}; got {name!r}.")
    return STEPS[name]


def _number(word: str) -> float:
    """Read an int if possible, else a float."""
    try:
        return int(word) if word.lstrip("+-").isdigit() else float(word)
    except ValueError as error:
        raise ValueError(f"a setting of a step must be a number; got {word!r}.") from error
