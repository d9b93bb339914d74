"""The choice of steps by ``"auto"``: what the data show, and the reasons in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqspan._core.scaling import binary_exponent
from seqspan._core.spans import part_slices
from seqspan._core.text import percent
from seqspan._core.types import Array, IntArray
from seqspan.preprocess._statistics import column_deviations, column_means
from seqspan.preprocess._steps import (
    Centre,
    Delay,
    Matrix,
    Scale,
    Step,
    UnitNorm,
    as_floats,
)

MEAN_SHARE = 0.5  # of the sum of squares; if the column means make up more, they hide the variation
NEGLIGIBLE = 1e-4  # of the largest value; what lies below zero by less is noise
LOW_RATIO = 0.5  # of a column's mean; columns whose low values stay above it have an offset
SPREAD_RATIO = 1.5  # largest over median standard deviation; above it, a few columns dominate
DOMINANT = 0.5  # of the variance; a column of amounts with more hides the others
UNITS_RATIO = 5.0  # largest over smallest standard deviation; above it, columns of a table differ in unit
LOW_PERCENTILE = 1.0  # percent of a column's samples that count as outliers when its low values are judged
FEW_COLUMNS = 2  # with no more than that, a single sample has no direction to speak of
SATURATED = 1.1  # ratio of differences at twice the lag
MAX_LAG_SHARE = 0.01  # of the samples; what is further apart says little about a sample
COLUMN_PERCENTILE = 25.0  # percent of the columns that must come near zero for zero to be meaningful
LIGHT = "video", "spectra"  # kinds of recordings in which zero means no light
UNIT_NORM_REASON = "unit norm: the models compare directions, not lengths"


def choose_steps(
    X: Matrix, kind: str | None = None, joins: Sequence[int] = ()
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Choose steps that suit the data, and say why.

    Centring moves the origin that all subspaces share. That is right only if zero is arbitrary, as for joint
    angles, or for channels whose offset outweighs their variation, as for temperatures. It is wrong if zero
    is meaningful, as for pixels, spectra and histograms, whose values come close to it. Scaling is for
    columns of different units or sizes, of which a few would otherwise dominate.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    kind : str, optional
        Kind of recording.
    joins : sequence of int
        Rows at which another recording begins.

    Returns
    -------
    steps : tuple of Step
        The last one is unit norm, which the models assume.
    reasons : tuple of str
        One sentence for each decision, including those against a step.

    Examples
    --------
    >>> angles = np.random.default_rng(0).normal([90, -30, 0], [1, 20, 1], (50, 3))
    >>> steps, reasons = choose_steps(angles, "mocap")
    >>> [step.name for step in steps]
    ['centre', 'scale', 'unit_norm']
    >>> reasons[0]
    'centred: the zero of joint angles and positions is arbitrary'
    """
    varying = _find_varying(X, kind)
    if X.shape[1] <= FEW_COLUMNS or 0 < len(varying) <= FEW_COLUMNS:
        return _embed(X[:, varying] if len(varying) else X, joins)
    if kind in LIGHT:
        return (UnitNorm(),), (f"not centred: zero means no light in {kind}", UNIT_NORM_REASON)
    deviations = _varying_deviations(X)
    if kind != "mocap" and _are_amounts(X, kind):
        centre = False
        reason = "not centred: no value is clearly negative and some columns come close to zero"
        scaling = _choose_scaling_of_amounts(deviations) if kind == "table" else None
    else:
        centre, reason = _choose_centring(X, kind, deviations)
        scaling = _choose_scaling(deviations, kind) if centre else None
    steps: list[Step] = [Centre()] if centre else []
    reasons = [reason]
    if scaling is not None:
        scale, reason = scaling
        steps += [Scale()] if scale else []
        reasons.append(reason)
    return (*steps, UnitNorm()), (*reasons, UNIT_NORM_REASON)


def _find_varying(X: Matrix, kind: str | None) -> IntArray:
    """Columns of a table that are not constant; of others all, so that no film is gone through."""
    if kind != "table":
        return np.arange(X.shape[1])
    return np.flatnonzero(X.max(axis=0) > X.min(axis=0)) if len(X) else np.arange(0)


def _embed(X: Matrix, joins: Sequence[int]) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Steps for one or two columns that vary, whose states differ in their course over time."""
    delay = Delay(lag=_choose_lag(X, joins))
    columns = "one column" if X.shape[1] == 1 else f"{X.shape[1]} columns"
    reason = (
        f"delay embedding: single samples of {columns} say little, so each is put beside its neighbours, "
        f"{delay.window} samples {delay.lag} apart"
    )
    reasons = f"centred and scaled: {columns}", reason, UNIT_NORM_REASON
    return (Centre(), Scale(), delay, UnitNorm()), reasons


def _choose_lag(X: Matrix, joins: Sequence[int]) -> int:
    """The first lag from which samples twice as far apart differ hardly more.

    Medians are used, so that rare changes have no say.
    """
    halves = X / 2  # differences of the largest numbers would overflow
    parts = [halves[part] for part in part_slices(joins, len(X))]
    longest = max(len(part) for part in parts)
    most = max(1, int(MAX_LAG_SHARE * longest))
    if longest <= 2 * most:
        return 1
    steps = [[part[lag:] - part[:-lag] for part in parts] for lag in range(1, 2 * most + 1)]
    differ = [float(np.median(np.abs(np.concatenate(each)))) for each in steps]
    return next((lag for lag in range(1, most) if differ[2 * lag - 1] <= SATURATED * differ[lag - 1]), most)


def _are_amounts(X: Matrix, kind: str | None) -> bool:
    """Whether zero is meaningful: no value is clearly negative, and some columns come close to zero."""
    return X.size > 0 and not _is_negative(X, kind) and low_to_mean_ratio(X) < LOW_RATIO


def _choose_centring(X: Matrix, kind: str | None, deviations: Array) -> tuple[bool, str]:
    """Decide whether to centre what are no amounts, and why."""
    if kind == "mocap":
        return True, "centred: the zero of joint angles and positions is arbitrary"
    units = _differ_in_unit(deviations, kind)
    share = mean_share(Scale().apply(as_floats(X)) if units else X)
    found = f"{percent(share)} of the sum of squares{' in units of their deviations' if units else ''}"
    if share > MEAN_SHARE:
        return True, f"centred: the column means make up {found}"
    return False, f"not centred: the column means make up only {found}"


def _is_negative(X: Matrix, kind: str | None) -> bool:
    """Whether any value is clearly negative, or a column of a table: it may be in a unit of its own."""
    lows, highs = X.min(axis=0), X.max(axis=0)
    signed = kind == "table" and np.any(lows < -LOW_RATIO * highs)
    return bool(signed or lows.min() < -NEGLIGIBLE * highs.max())


def _differ_in_unit(deviations: Array, kind: str | None) -> bool:
    """Whether these are of the columns of a table, which may have different units, and so different."""
    return kind == "table" and _units_ratio(deviations) > UNITS_RATIO


def _units_ratio(deviations: Array) -> float:
    return float(deviations.max()) / float(deviations.min())  # may be infinite


def _choose_scaling(deviations: Array, kind: str | None) -> tuple[bool, str]:
    """Decide whether to scale what is centred, and why."""
    if _differ_in_unit(deviations, kind):
        ratio = _units_ratio(deviations)
        return True, f"scaled: one column varies {ratio:.2g} times as much as another (different units)"
    ratio = float(deviations.max()) / float(np.median(deviations))
    found = f"the most variable column varies {ratio:.1f} times as much as the median column"
    return (True, f"scaled: {found}") if ratio > SPREAD_RATIO else (False, f"not scaled: {found}")


def _choose_scaling_of_amounts(deviations: Array) -> tuple[bool, str]:
    """Decide whether to scale columns of a table that are not centred, and why."""
    squares = (deviations / deviations.max()) ** 2
    share = float(squares.max() / squares.sum())
    found = f"the most variable column has {percent(share)} of the variance"
    return (True, f"scaled: {found}") if share > DOMINANT else (False, f"not scaled: {found}")


def mean_share(X: Matrix) -> float:
    """Return the share of the sum of squares that is due to the column means.

    Examples
    --------
    >>> mean_share(np.array([[2.0], [4.0]]))  # 2 * 3^2 / (2^2 + 4^2)
    0.9
    """
    rows = as_floats(X)
    rows = np.ldexp(rows, -binary_exponent(rows))  # squares would over- or underflow
    energy = float(np.sum(np.square(rows, dtype=float)))
    return len(X) * float(np.sum(rows.mean(axis=0, dtype=float) ** 2)) / energy if energy else 0.0


def low_to_mean_ratio(X: Matrix) -> float:
    """Return the ratio of low values to the mean that a quarter of the columns stay below."""
    means = column_means(as_floats(X))
    lows = np.percentile(X, LOW_PERCENTILE, axis=0)[means > 0]
    return float(np.percentile(lows / means[means > 0], COLUMN_PERCENTILE)) if lows.size else 0.0


def _varying_deviations(X: Matrix) -> Array:
    """Return the standard deviations of the columns that are not constant; if all are, a single 1."""
    deviations = column_deviations(as_floats(X))
    varying = deviations[deviations > 0]
    return varying if varying.size else np.ones(1)
