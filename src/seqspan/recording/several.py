"""Several recordings, so that they are segmented together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from seqspan._core.dates import Dates
from seqspan._core.text import list_names
from seqspan._core.types import IntArray
from seqspan.recording.rates import (
    check_rates,
    describe_rate,
    have_same_rate,
    resample_one,
    sampling_rate,
)
from seqspan.recording.recording import Recording
from seqspan.recording.views import FrameView, PoseView, SpectrumView, View

FIRST = "first"  # recording, whose sampling rate the others get


def concatenate(recordings: Sequence[Recording], resample: float | str | None = None) -> Recording:
    """Put several recordings one after another, so that they are segmented with the same labels.

    Parameters
    ----------
    recordings : sequence of Recording
        Of one kind, with the same columns in any order.
    resample : float or "first", optional
        Sampling rate of all, or that of the first recording. By default, different rates are refused.

    Returns
    -------
    Recording
        With the columns in the order of the first one. Every recording keeps its times.

    Raises
    ------
    ValueError
        If columns are missing or additional, or if kinds, units or, unless resampled, sampling rates differ.

    Examples
    --------
    >>> walk = Recording(X=np.eye(3), times=np.arange(3.0), time_unit="s", feature_names=("a", "b", "c"),
    ...                  kind="table", source="walk.csv")
    >>> both = concatenate([walk, replace(walk, feature_names=("c", "b", "a"), source="run.csv")])
    >>> both.lengths, both.joins, both.names
    ((3, 3), (3,), ('walk.csv', 'run.csv'))
    >>> both.X[3]
    array([0., 0., 1.])
    """
    if not recordings:
        raise ValueError("several recordings need at least one; got none.")
    recordings = _at_one_rate(recordings, resample)
    first = recordings[0]
    if len(recordings) == 1:
        return first
    orders = [_match_columns(first, each) for each in recordings]
    for each in recordings[1:]:
        _check_alike(first, each)
    check_rates(recordings)
    label_names = tuple(dict.fromkeys(name for each in recordings for name in each.label_names))
    dates = _concatenate_dates([each.dates for each in recordings])
    return replace(
        first,
        X=np.concatenate([each.X[:, order] for each, order in zip(recordings, orders, strict=True)]),
        times=np.concatenate([each.times for each in recordings]),
        source="",
        files=tuple(file for each in recordings for file in each.files),
        notes=(*_concatenate_notes(recordings), *_note_dates(recordings, dates)),
        labels=_concatenate_labels(recordings, label_names),
        label_names=label_names,
        view=_concatenate_views([each.view for each in recordings]),
        dates=dates,
        rows=np.concatenate([each.file_rows for each in recordings]),
        lengths=tuple(length for each in recordings for length in each.lengths or (len(each),)),
        sources=tuple(source for each in recordings for source in each.sources or (each.source,)),
    )


def split_at_gaps(recording: Recording, gap: float) -> Recording:
    """Treat what comes after a long gap in the time stamps as another recording.

    Parameters
    ----------
    recording : Recording
    gap : float
        In the unit of the times; samples further apart than that are not neighbours. It must not be shorter
        than the usual time from one sample to the next.

    Returns
    -------
    Recording

    Examples
    --------
    >>> log = Recording(X=np.eye(4), times=np.array([0.0, 1.0, 60.0, 61.0]), time_unit="s",
    ...                 feature_names=tuple("abcd"), kind="table", source="log.csv")
    >>> split_at_gaps(log, 10.0).names
    ('log.csv 1', 'log.csv 2')
    """
    times, rate = recording.times, sampling_rate(recording)
    rounding = 4 * np.spacing(np.abs(times).max())  # of times, and of their differences
    if not gap > 0 or (rate is not None and gap + rounding < 1 / rate):
        usual = (
            "0" if rate is None else f"{1 / rate:.4g} {recording.time_unit}, the time from sample to sample"
        )
        raise ValueError(f"a gap must be longer than {usual}; got {gap:g}.")
    joins = np.union1d(recording.joins, np.flatnonzero(np.diff(times) > gap + rounding) + 1).astype(np.intp)
    if not joins.size:
        return recording
    sources = recording.sources or (recording.source,)
    places = np.searchsorted(recording.joins, [0, *joins], side="right")
    lengths = tuple(np.diff([0, *joins, len(recording)]).tolist())
    return replace(recording, lengths=lengths, sources=tuple(sources[place] for place in places))


def resample_to(recording: Recording, rate: float) -> Recording:
    """Take samples at another rate, evenly spaced.

    Values between two samples are on the line between them. At a lower rate, they are averaged over the time
    from one new sample to the next, so that fast changes do not turn into slow ones. Whole numbers such as
    pixels, labels and views are those of the nearest sample.

    Parameters
    ----------
    recording : Recording
        With times. Several recordings are resampled one by one.
    rate : float
        Samples per unit of time, such as 50 for 50 Hz.

    Returns
    -------
    Recording
        From the first time to the last, at most. One that has this rate is returned as it is.

    Examples
    --------
    >>> ramp = Recording(X=np.arange(5.0)[:, None], times=np.arange(5.0), time_unit="s",
    ...                  feature_names=("a",), kind="table")
    >>> resample_to(ramp, 2.0).X.T
    array([[0. , 0.5, 1. , 1.5, 2. , 2.5, 3. , 3.5, 4. ]])
    >>> resample_to(ramp, 0.5).times
    array([0., 2., 4.])
    """
    if not (np.isfinite(rate) and rate > 0):
        raise ValueError(f"a sampling rate must be positive; got {rate}.")
    before = sampling_rate(recording)
    if before is None:
        raise ValueError(
            f"{name_of(recording)} cannot be resampled: it has no times; got {len(recording)} samples with "
            f"times in {recording.time_unit}."
        )
    if have_same_rate(before, rate):
        return recording
    parts = [resample_one(part, rate) for part in recording.split()]
    note = f"resampled from {describe_rate(before, recording)} to {describe_rate(rate, recording)}"
    if len(parts) == 1:
        return parts[0].with_notes(note)
    return replace(concatenate(parts), source=recording.source, notes=recording.notes).with_notes(note)


def name_of(recording: Recording) -> str:
    """The name of a recording's file, for messages."""
    return PurePath(recording.source).name or "recording"


def _match_columns(first: Recording, other: Recording) -> list[int]:
    """Where the columns of the first recording are in another one."""
    if first.feature_names == other.feature_names:
        return list(range(len(first.feature_names)))
    missing = [name for name in first.feature_names if name not in other.feature_names]
    additional = [name for name in other.feature_names if name not in first.feature_names]
    if missing or additional or len(set(first.feature_names)) < len(first.feature_names):
        found = [("missing", missing), ("additional", additional)]
        listed = "; ".join(f"{word}: {list_names(names)}" for word, names in found if names)
        raise ValueError(
            f"{name_of(other)} has other columns than {name_of(first)}, so they cannot be segmented together "
            f"({listed or 'some have the same name'})."
        )
    return [other.feature_names.index(name) for name in first.feature_names]


def _check_alike(first: Recording, other: Recording) -> None:
    """Refuse recordings whose samples mean something else."""
    named = f"{name_of(first)} and {name_of(other)}"
    if (first.kind, first.time_unit, first.steps) != (other.kind, other.time_unit, other.steps):
        raise ValueError(
            f"{named} cannot be segmented together: they must have the same kind, unit of time and "
            f"preprocessing; got {first.kind} in {first.time_unit} and {other.kind} in {other.time_unit}."
        )


def _at_one_rate(recordings: Sequence[Recording], rate: float | str | None) -> Sequence[Recording]:
    """Recordings at the rate that is wanted, if one is."""
    if rate is None:
        return recordings
    if isinstance(rate, str) and rate != FIRST:
        raise ValueError(f"resample must be a sampling rate or {FIRST!r}; got {rate!r}.")
    wanted = sampling_rate(recordings[0]) if isinstance(rate, str) else rate
    if wanted is None:
        raise ValueError(f"{name_of(recordings[0])} has no sampling rate that others could be resampled to.")
    return [resample_to(each, wanted) for each in recordings]


def _concatenate_notes(recordings: Sequence[Recording]) -> tuple[str, ...]:
    """What holds for all recordings once, and the rest with their names."""
    shared = [note for note in recordings[0].notes if all(note in each.notes for each in recordings)]
    own = [f"{name_of(each)}: {note}" for each in recordings for note in each.notes if note not in shared]
    return (*shared, *own)


def _concatenate_labels(recordings: Sequence[Recording], names: tuple[str, ...]) -> IntArray | None:
    """True labels, numbered by name; None unless all recordings have them."""
    numbered = []
    for each in recordings:
        if each.labels is None:
            return None
        own = np.array([*(names.index(name) for name in each.label_names), -1])  # which is unlabelled
        numbered.append(own[each.labels] if each.label_names else each.labels)
    return np.concatenate(numbered)


def _concatenate_dates(dates: Sequence[Dates | None]) -> Dates | None:
    """Dates of all samples; None unless all have them, in one zone."""
    known = [each for each in dates if each is not None]
    if len(known) < len(dates) or len({each.zone for each in known}) > 1:
        return None
    return Dates(np.concatenate([each.instants for each in known]), known[0].zone)


def _note_dates(recordings: Sequence[Recording], dates: Dates | None) -> list[str]:
    """Say so if some of the recordings have dates, and together they have none."""
    zones = dict.fromkeys(each.dates.zone or "no zone" for each in recordings if each.dates is not None)
    if dates is not None or not zones:
        return []
    why = f"they are in different time zones ({', '.join(zones)})" if len(zones) > 1 else "some have none"
    return [
        f"left out the dates of the recordings, because {why}: times count seconds from each first sample"
    ]


def _concatenate_views(views: Sequence[View | None]) -> View | None:
    """One view of all samples; None unless they show the same thing."""
    first = views[0]
    if isinstance(first, FrameView):
        pixels = [view.pixels for view in views if isinstance(view, FrameView)]
        alike = len(pixels) == len(views) and len({frames.shape[1:] for frames in pixels}) == 1
        return FrameView(np.concatenate(pixels)) if alike else None
    if isinstance(first, PoseView):
        poses = [
            view for view in views if isinstance(view, PoseView) and view.joint_names == first.joint_names
        ]
        joined = [view.positions for view in poses]
        return replace(first, positions=np.concatenate(joined)) if len(poses) == len(views) else None
    if isinstance(first, SpectrumView):
        scans = [view for view in views if isinstance(view, SpectrumView)]
        alike = len(scans) == len(views) and all(
            np.array_equal(scan.wavelengths, first.wavelengths) for scan in scans
        )
        return replace(first, spectra=np.concatenate([scan.spectra for scan in scans])) if alike else None
    return None
