"""The tables of a result: one with a row per span, one with a row per sample."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seqspan._core.dates import Dates
from seqspan._core.spans import Span
from seqspan._core.text import name_label, title_of
from seqspan._core.types import Array, IntArray
from seqspan.recording import Recording, sampling_rate

if TYPE_CHECKING:
    import polars as pl

SPAN_COLUMNS = ("start", "end", "start_time", "end_time", "label", "confidence", "name")
SAMPLE_COLUMNS = ("index", "time", "label", "row", "name")
RECORDING = "recording"  # last column of both tables, if there are several recordings


def span_rows(
    spans: Iterable[Span],
    dates: Dates | None = None,
    names: Sequence[str] = (),
    recordings: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """The rows of segments.csv as plain values, as result.json and ``--json`` hold them.

    Parameters
    ----------
    spans : iterable of Span
    dates : Dates, optional
        Of the samples; times are then written as dates.
    names : sequence of str
        Names of the labels; others are called A, B, ...
    recordings : sequence of str
        Names of the recordings, if there are several; the rows then have a column more.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> span_rows([Span(0, 2, 0.0, 1.0, 0)], names=["walk"])[0]["name"]
    'walk'
    """
    rows = []
    for own in _by_recording(spans):
        first, last = own[0].start, own[-1].end
        edges = None if dates is None else dates.take(np.arange(first, last)).edges().to_iso()
        for span in own:
            times: tuple[Any, Any] = (span.start_time, span.end_time)
            if edges is not None:
                times = edges[span.start - first], edges[span.end - first]
            cells = (span.start, span.end, *times, span.label, span.confidence, title_of(span.label, names))
            row = dict(zip(SPAN_COLUMNS, cells, strict=True))
            rows.append(row | ({RECORDING: recordings[span.recording]} if recordings else {}))
    return rows


def spans_frame(
    spans: Iterable[Span],
    dates: Dates | None = None,
    names: Sequence[str] = (),
    recordings: Sequence[str] = (),
) -> pl.DataFrame:
    """The rows of segments.csv as a polars data frame; times are dates if the samples have dates.

    Parameters
    ----------
    spans, dates, names, recordings
        As for `span_rows`.

    Returns
    -------
    polars.DataFrame

    Examples
    --------
    >>> spans_frame([Span(0, 2, 0.0, 1.0, 0)]).columns
    ['start', 'end', 'start_time', 'end_time', 'label', 'confidence', 'name']
    """
    import polars as pl

    spans = list(spans)
    rows = span_rows(spans, None, names, recordings)
    frame = pl.DataFrame(rows, schema_overrides={"confidence": pl.Float64}, infer_schema_length=None)
    if dates is None:
        return frame
    edges = dates.take(np.arange(0))
    for own in _by_recording(spans):
        first = own[0].start
        part = dates.take(np.arange(first, own[-1].end)).edges()
        ends = part.instants[[span.end - first for span in own]]
        edges = replace(edges, instants=np.append(edges.instants, ends))
    both = {"start_time": dates.take(frame["start"].to_numpy()), "end_time": edges}
    return frame.with_columns(_date_column(column, name) for name, column in both.items())


def _by_recording(spans: Iterable[Span]) -> list[list[Span]]:
    """The spans of each recording."""
    return [list(own) for _, own in groupby(spans, key=lambda span: span.recording)]


def _date_column(dates: Dates, name: str) -> pl.Series:
    """Dates as a polars column in their zone; a fixed offset has no name there, so it becomes UTC."""
    import polars as pl

    column = pl.Series(name, dates.instants)
    if not dates.zone:
        return column
    return column.dt.replace_time_zone("UTC").dt.convert_time_zone("UTC" if ":" in dates.zone else dates.zone)


def note_idle_names(labels: IntArray, names: Sequence[str]) -> list[str]:
    """Say so if a name belongs to no label.

    Examples
    --------
    >>> note_idle_names(np.array([0, 0, 1]), ["walk", "", "run"])
    ['there are names for labels that were not found: C (run)']
    """
    known = set(np.unique(labels).tolist())
    idle = [
        f"{name_label(label)} ({name})" for label, name in enumerate(names) if name and label not in known
    ]
    return [f"there are names for labels that were not found: {', '.join(idle)}"] if idle else []


def write_segments(
    path: str | PathLike[str],
    spans: Iterable[Span],
    dates: Dates | None = None,
    names: Sequence[str] = (),
    recordings: Sequence[str] = (),
) -> None:
    """Write one row per span, with the confidence in the boundary at its start.

    Parameters
    ----------
    path : path
        CSV file to write.
    spans : iterable of Span
    dates, names, recordings
        As for `span_rows`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "segments.csv"
    ...     write_segments(path, [Span(0, 2, 0.0, 1.0, 0), Span(2, 3, 1.0, 1.5, 1, 0.9)])
    ...     print(path.read_text(), end="")
    start,end,start_time,end_time,label,confidence,name
    0,2,0,1,0,,A
    2,3,1,1.5,1,0.9,B
    """
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*SPAN_COLUMNS, RECORDING) if recordings else SPAN_COLUMNS)
        for row in span_rows(spans, dates, names, recordings):
            confidence = "" if row["confidence"] is None else f"{row['confidence']:.3g}"
            times = {name: write_time(row[name]) for name in ("start_time", "end_time")}
            writer.writerow((row | times | {"confidence": confidence}).values())


def write_labels(
    path: str | PathLike[str], labels: IntArray, recording: Recording, names: Sequence[str] = ()
) -> None:
    """Write one row per sample.

    Parameters
    ----------
    path : path
        CSV file to write.
    labels : array of int, shape (n,)
    recording : Recording
        Of n samples.
    names : sequence of str
        As for `span_rows`.

    Examples
    --------
    >>> import tempfile
    >>> recording = Recording(X=np.eye(2), times=np.array([0.0, 0.5]), time_unit="s",
    ...                       feature_names=("a", "b"), kind="table", rows=np.array([0, 3]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     write_labels(path, np.array([0, 1]), recording)
    ...     print(path.read_text(), end="")
    index,time,label,row,name
    0,0,0,0,A
    1,0.5,1,3,B
    """
    dates = recording.dates
    times = [write_time(t) for t in recording.times.tolist()] if dates is None else dates.to_iso()
    titles = {label: title_of(label, names) for label in np.unique(labels).tolist()}
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        several = len(recording.lengths) > 1
        writer.writerow((*SAMPLE_COLUMNS, RECORDING) if several else SAMPLE_COLUMNS)
        own = np.repeat(recording.names, recording.lengths).tolist() if several else [""] * len(labels)
        columns = zip(times, labels.tolist(), recording.file_rows.tolist(), own, strict=True)
        for index, (time, label, row, name) in enumerate(columns):
            writer.writerow((index, time, label, row, titles[label], *([name] if several else ())))


def write_time(time: float | str) -> str:
    """Write a time with every digit that it has, up to rounding errors of a calculation; dates stay text.

    Examples
    --------
    >>> write_time(0.1 + 0.2), write_time(1700000000123.0), write_time(1700000000.123456)
    ('0.3', '1700000000123', '1700000000.123456')
    """
    if isinstance(time, str):
        return time
    short = f"{time:.15g}"
    return short if abs(float(short) - time) <= 2 * np.spacing(abs(time)) else f"{time:.17g}"


def describe_recording(recording: Recording) -> dict[str, Any]:
    """What result.json says about the input; `read_recording` needs it.

    Parameters
    ----------
    recording : Recording

    Returns
    -------
    dict
    """
    return {
        "path": recording.source,
        "kind": recording.kind,
        "n_samples": len(recording),
        "n_features": int(recording.X.shape[1]),
        "time_unit": recording.time_unit,
        "rate": sampling_rate(recording),
        "time_zone": None if recording.dates is None else recording.dates.zone,
        "read_options": dict(recording.read_options),
        "notes": list(recording.notes),
    } | ({"recordings": _describe_parts(recording)} if len(recording.lengths) > 1 else {})


def _describe_parts(recording: Recording) -> list[dict[str, Any]]:
    """Names, paths and lengths of several recordings."""
    sources = recording.sources or ("",) * len(recording.lengths)
    return [
        {"name": name, "path": source, "n_samples": length}
        for name, source, length in zip(recording.names, sources, recording.lengths, strict=True)
    ]


def describe_ends(spans: Sequence[Span], recording: Recording) -> tuple[str, str]:
    """Where a recording begins and ends, in words; of several, the first and the last.

    Examples
    --------
    >>> core = Recording(X=np.eye(2), times=np.array([0.0, 0.5]), time_unit="m", feature_names=("a", "b"),
    ...                  kind="spectra")
    >>> describe_ends([Span(0, 2, 0.0, 1.0, 0)], core)
    ('0 m', '1 m')
    """
    if len(recording.lengths) > 1:
        return recording.names[0], recording.names[-1]
    if recording.calendar is not None:
        edges = recording.calendar.edges().to_iso()
        return edges[0], edges[-1]
    first, last = (write_time(time) for time in (spans[0].start_time, spans[-1].end_time))
    return f"{first} {recording.time_unit}", f"{last} {recording.time_unit}"


def read_recording(samples: Mapping[str, Sequence[str]], about: Mapping[str, Any]) -> Recording:
    """The recording of a result folder: with times, dates and rows, but without features.

    Parameters
    ----------
    samples : mapping of str to sequence of str
        The columns of labels.csv.
    about : mapping
        What result.json says about the input.

    Returns
    -------
    Recording
    """
    given = list(samples["time"])
    dates = Dates.from_iso(given, about["time_zone"]) if about.get("time_zone") is not None else None
    times: Array = np.array(given, dtype=float) if dates is None else dates.seconds
    return Recording(
        X=np.empty((len(times), 0)),
        times=times,
        time_unit=about["time_unit"],
        feature_names=(),
        kind=about["kind"],
        source=about["path"],
        read_options=about["read_options"],
        dates=dates,
        rows=np.array(samples["row"], dtype=np.intp) if "row" in samples else None,
        lengths=tuple(part["n_samples"] for part in about.get("recordings", ())),
        sources=tuple(part["path"] for part in about.get("recordings", ())),
    )
