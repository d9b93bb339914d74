"""The choice of steps by ``"auto"``: what the data show, and the reasons in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqspan._core.scaling import binary_exponent
from seqspan._core.spans import part_slices
from seqspan._core.text import percent
from seqspan._core.types import Array
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
UNITS_RATIO = 5.0  # largest over smallest standard deviation; above it, columns of a table differ in unit
LOW_PERCENTILE = 1.0  # percent of a column's samples that count as outliers when its low values are judged
FEW_COLUMNS = 2  # with no more than that, a single sample has no direction to speak of
SATURATED = 1.1  # ratio of differences at twice the lag
MAX_LAG_SHARE = 0.01  # of the samples; what is further apart says little about a sample
COLUMN_PERCENTILE = 25.0  # percent of the columns that must come near zero for zero to be meaningful


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
    if X.shape[1] <= FEW_COLUMNS:
        return _embed(X, joins)
    centre, centre_reason = _choose_centring(X, kind)
    steps: list[Step] = [Centre()] if centre else []
    reasons = [centre_reason]
    if centre:
        scale, scale_reason = _choose_scaling(X, kind)
        steps += [Scale()] if scale else []
        reasons.append(scale_reason)
    return (*steps, UnitNorm()), (*reasons, "unit norm: the models compare directions, not lengths")


def _embed(X: Matrix, joins: Sequence[int]) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Steps for one or two columns, whose states differ in their course over time."""
    delay = Delay(lag=_choose_lag(X, joins))
    columns = "one column" if X.shape[1] == 1 else f"{X.shape[1]} columns"
    reason = (
        f"delay embedding: single samples of {columns} say little, so each is put beside its neighbours, "
        f"{delay.window} samples {delay.lag} apart"
    )
    unit = "unit norm: the models compare directions, not lengths"
    return (Centre(), Scale(), delay, UnitNorm()), (f"centred and scaled: {columns}", reason, unit)


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


def _choose_centring(X: Matrix, kind: str | None) -> tuple[bool, str]:
    """Decide whether to centre, and why."""
    if kind in ("video", "spectra"):
        return False, f"not centred: zero means no light in {kind}"
    if kind == "mocap":
        return True, "centred: the zero of joint angles and positions is arbitrary"
    if X.size and not _is_negative(X, kind) and low_to_mean_ratio(X) < LOW_RATIO:
        return False, "not centred: no value is clearly negative and some columns come close to zero"
    share = mean_share(X)
    if share > MEAN_SHARE:
        return True, f"centred: the column means make up {percent(share)} of the sum of squares"
    return False, f"not centred: the column means make up only {percent(share)} of the sum of squares"


def _is_negative(X: Matrix, kind: str | None) -> bool:
    """Whether any value is clearly negative, or a column of a table: it may be in a unit of its own."""
    lows, highs = X.min(axis=0), X.max(axis=0)
    signed = kind == "table" and np.any(lows < -LOW_RATIO * highs)
    return bool(signed or lows.min() < -NEGLIGIBLE * highs.max())


def _choose_scaling(X: Matrix, kind: str | None) -> tuple[bool, str]:
    """Decide whether to scale, and why."""
    deviations = _varying_deviations(X)
    units_ratio = float(deviations.max()) / float(deviations.min())  # may be infinite
    if kind == "table" and units_ratio > UNITS_RATIO:
        return True, f"scaled: one column varies {units_ratio:.2g} times as much as another (different units)"
    ratio = float(deviations.max()) / float(np.median(deviations))
    found = f"the most variable column varies {ratio:.1f} times as much as the median column"
    return (True, f"scaled: {found}") if ratio > SPREAD_RATIO else (False, f"not scaled: {found}")


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
