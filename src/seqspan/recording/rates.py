"""Sampling rates: what they are, whether they agree, and recordings at another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from seqspan._core.dates import Dates
from seqspan._core.text import list_names
from seqspan._core.types import Array
from seqspan.recording.recording import Recording

MAX_RATE_RATIO = 1.01  # of sampling rates that count as the same
MAX_NAMED = 5  # recordings that an error names for each rate
MAX_SAMPLES = 10**8  # of a resampled recording; more are a mistake in the rate


def sampling_rate(recording: Recording) -> float | None:
    """Samples per unit of time; None if only their order is known, or if there is one.

    Parameters
    ----------
    recording : Recording

    Returns
    -------
    float or None

    Examples
    --------
    >>> walk = Recording(X=np.eye(3), times=np.arange(3) / 50, time_unit="s", feature_names=tuple("abc"),
    ...                  kind="mocap")
    >>> round(sampling_rate(walk))
    50
    """
    return None if recording.time_unit == "sample" else _rate(recording)


def _rate(recording: Recording) -> float | None:
    """Samples per unit, whatever the unit."""
    steps = np.delete(np.diff(recording.times), np.array(recording.joins, dtype=np.intp) - 1)
    interval = float(np.median(steps)) if len(steps) else 0.0
    return 1 / interval if interval > 0 else None


def have_same_rate(rate: float, other: float) -> bool:
    """Whether two sampling rates count as the same.

    Examples
    --------
    >>> have_same_rate(29.97, 30.0), have_same_rate(25.0, 30.0)
    (True, False)
    """
    return max(rate, other) <= MAX_RATE_RATIO * min(rate, other)


def describe_rate(rate: float, recording: Recording) -> str:
    """A rate in words.

    Examples
    --------
    >>> core = Recording(X=np.eye(1), times=np.zeros(1), time_unit="m", feature_names=("a",), kind="spectra")
    >>> describe_rate(4.0, core)
    '4 samples per m'
    """
    return f"{rate:.4g} Hz" if recording.time_unit == "s" else f"{rate:.4g} samples per {recording.time_unit}"


def check_rates(recordings: Sequence[Recording]) -> None:
    """Refuse recordings with different sampling rates, with a list of them."""
    named: dict[float, list[str]] = {}
    for each in recordings:
        rate = _rate(each)
        if rate is None:
            continue
        same = [known for known in named if have_same_rate(known, rate)]
        named.setdefault(same[0] if same else rate, []).append(PurePath(each.source).name or "recording")
    if len(named) <= 1:
        return
    listed = "; ".join(
        f"{describe_rate(rate, recordings[0])}: {list_names(names, MAX_NAMED)}"
        for rate, names in named.items()
    )
    raise ValueError(
        f"the recordings have different sampling rates ({listed}). Resample them to that of the first, or to "
        "one that you choose (--resample first, or resample='first' in Python), or segment them one by one."
    )


def resample_one(recording: Recording, rate: float) -> Recording:
    """Resample one recording, from its first time on."""
    times = recording.times
    if len(times) == 1:
        return recording
    n_samples = int((times[-1] - times[0]) * rate + 1e-6) + 1
    if n_samples > MAX_SAMPLES:
        raise ValueError(
            f"{describe_rate(rate, recording)} would be {n_samples} samples; at most {MAX_SAMPLES} are made."
        )
    new = times[0] + np.arange(n_samples) / rate
    after = np.clip(np.searchsorted(times, new), 1, len(times) - 1)
    nearest = np.where(new - times[after - 1] <= times[after] - new, after - 1, after)
    taken = replace(recording.take(nearest), times=new, dates=_dates_at(recording, new))
    if recording.X.dtype.kind != "f":
        return taken
    exponents = np.frexp(np.abs(recording.X).max(axis=0))[1]  # sums of the largest numbers would overflow
    ordinary = replace(recording, X=np.ldexp(recording.X.astype(np.float64), -exponents))
    means = rate * MAX_RATE_RATIO < (_rate(recording) or rate)
    values = _averages(ordinary, new, 1 / rate) if means else _between(ordinary, new)
    return replace(taken, X=np.ldexp(values, exponents).astype(recording.X.dtype))


def _dates_at(recording: Recording, new: Array) -> Dates | None:
    """Dates of new samples, if the recording has dates."""
    if recording.dates is None:
        return None
    instants = recording.dates.instants
    if instants.dtype != "M8[ns]":  # whole seconds, or days, have no room for samples between them
        instants = instants.astype("M8[us]")
    counts = np.interp(new, recording.times, (instants - instants[0]).astype(np.int64))
    return replace(recording.dates, instants=instants[0] + counts.round().astype(np.int64))


def _between(recording: Recording, new: Array) -> Array:
    """Values on the lines between samples."""
    return np.column_stack([np.interp(new, recording.times, column) for column in recording.X.T])


def _averages(recording: Recording, new: Array, width: float) -> Array:
    """Averages of the lines between samples, over a time around each new one."""
    times = recording.times
    starts, ends = np.maximum(new - width / 2, times[0]), np.minimum(new + width / 2, times[-1])
    steps, found = np.diff(times), []
    middles = recording.X.mean(axis=0)  # far from zero, areas would lose the digits in which samples differ
    for column in (recording.X - middles).T:
        areas = np.concatenate([[0.0], np.cumsum(steps * (column[1:] + column[:-1]) / 2)])
        found.append(
            (_area(ends, times, column, areas) - _area(starts, times, column, areas)) / (ends - starts)
        )
    averages: Array = np.column_stack(found) + middles
    return averages


def _area(places: Array, times: Array, column: Array, areas: Array) -> Array:
    """Area under the lines between samples, from the first time to each place."""
    before = np.clip(np.searchsorted(times, places) - 1, 0, len(times) - 2)
    rest = places - times[before]
    area: Array = areas[before] + rest * (column[before] + np.interp(places, times, column)) / 2
    return area
