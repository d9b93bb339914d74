"""Data frames of pandas and polars: their column names are features, their dates or times the times."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from seqspan._core.dates import Dates
from seqspan._core.types import Array
from seqspan.readers._table import Columns, TableOptions, table_to_recording, with_text
from seqspan.readers._time_names import TIME_NAME, unit_of
from seqspan.recording import Recording

INDEX = "index"  # name of a pandas index that has none
DURATIONS = "time (s)"  # name of an index of durations, unless it has the name of a time itself
NUMBERS = "iufb"  # NumPy's letters for kinds of numbers
#: NumPy's names of units other than seconds.
TICKS = {"ns": "ns", "us": "us", "ms": "ms", "min": "m", "h": "h", "d": "D"}


def is_frame(source: Any) -> bool:
    """Whether something is a data frame of pandas or polars; neither is imported for it."""
    frames = [getattr(sys.modules.get(name), "DataFrame", None) for name in ("pandas", "polars")]
    return any(frame is not None and isinstance(source, frame) for frame in frames)


def from_frame(frame: Any, **options: Any) -> Recording:
    """Make a recording from a data frame of pandas or polars.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        One row per sample, in order. Columns are used as those of a table file are: a column of dates or with
        the name of a time has the times, other numeric columns are features. An index of dates, periods or
        durations, or one that has the name of a time, has the times. Durations are numbers of seconds, unless
        the name says otherwise ("time_ms").
    **options
        ``time``, ``columns``, ``exclude``, ``labels``, ``missing`` and ``missing_values``, as for a file.

    Returns
    -------
    Recording

    Examples
    --------
    >>> import polars as pl
    >>> from seqspan.readers import from_frame
    >>> table = pl.DataFrame({"time_s": [0.0, 0.5], "flow": [1.0, 2.0], "valve": ["open", "shut"]})
    >>> recording = from_frame(table)
    >>> recording.feature_names, recording.times
    (('flow',), array([0. , 0.5]))
    """
    names = [str(name) for name in frame.columns]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ValueError(f"columns must have different names; several are called {', '.join(repeated)}.")
    places = range(len(names))
    series = [frame.iloc[:, place] if hasattr(frame, "iloc") else frame[:, place] for place in places]
    columns = _index_column(frame, names) | dict(zip(names, series, strict=True))
    return table_to_recording(_sort(columns), TableOptions(**options))


def _index_column(frame: Any, taken: list[str]) -> dict[str, Any]:
    """The index of a pandas frame as a column, by a name that no other has; nothing if it has no times."""
    index = getattr(frame, "index", None)
    if index is None or index.nlevels > 1:
        return {}
    if str(index.dtype).startswith("period"):
        index = index.to_timestamp()
    kind, name = _kind(index), INDEX if index.name is None else str(index.name)
    is_named = index.name is not None and TIME_NAME.fullmatch(name)
    if not (kind in "mM" or (is_named and kind in NUMBERS)):
        return {}
    if kind == "m" and not is_named:
        name = DURATIONS
    while name in taken:
        name += " (index)"
    return {name: index.to_series()}


def _sort(columns: dict[str, Any]) -> Columns:
    """Sort columns into numbers, dates, times of day and text."""
    import polars as pl

    numbers: dict[str, Array] = {}
    temporal: dict[str, Dates] = {}
    text: dict[str, pl.Series] = {}
    for name, column in columns.items():
        kind = _kind(column)
        if kind == "M":
            temporal[name] = _dates(column)
        elif kind == "m":
            numbers[name] = _durations(column) / seconds_in(unit_of(name))
        elif kind in NUMBERS:
            numbers[name] = _numbers(column)
        else:
            cells = [None if cell is None or cell != cell else str(cell) for cell in column.to_list()]
            text[name] = pl.Series(name, cells, dtype=pl.String)
    n_rows = len(next(iter(columns.values()), ()))
    X = np.column_stack(list(numbers.values())) if numbers else np.empty((n_rows, 0))
    return with_text(Columns(X, tuple(numbers), temporal, order=tuple(columns)), text)


def _kind(column: Any) -> str:
    """NumPy's letter for what a column holds; "O" if it is neither numbers, dates nor durations."""
    dtype = column.dtype
    if not hasattr(dtype, "is_numeric"):  # pandas
        return str(getattr(dtype, "kind", "O"))
    if dtype.is_numeric() or str(dtype) == "Boolean":
        return "f"
    return {"Date": "M", "Dura": "m"}.get(str(dtype)[:4], "O")


def _numbers(column: Any) -> Array:
    """The numbers of a column with NaN for missing ones; single precision stays."""
    kind = np.float32 if str(column.dtype).lower() == "float32" else np.float64
    if hasattr(column, "iloc"):
        return np.asarray(column.to_numpy(dtype=kind, na_value=np.nan))
    return np.asarray(column.cast(float).to_numpy(), dtype=kind)


def _durations(column: Any) -> Array:
    """The durations of a column in seconds, with NaN for missing ones."""
    return np.asarray(column.to_numpy().astype("m8[ns]") / np.timedelta64(1, "s"))


def seconds_in(unit: str) -> float:
    """How many seconds the unit of a time is; one for others, because then durations are in seconds.

    Examples
    --------
    >>> seconds_in("min"), seconds_in("sample")
    (60.0, 1.0)
    """
    return float(np.timedelta64(1, TICKS.get(unit, "s")) / np.timedelta64(1, "s"))  # type: ignore[call-overload]


def _dates(column: Any) -> Dates:
    """The dates of a column in UTC, with their zone."""
    is_pandas = hasattr(column, "iloc")
    arrow = getattr(column.dtype, "pyarrow_dtype", None)  # of pandas, too
    zone = getattr(arrow or column.dtype, "tz" if is_pandas else "time_zone", None)
    if arrow is not None:
        column = np.asarray(column.array.__arrow_array__())  # in UTC
    elif zone is not None and is_pandas:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    elif zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    instants = column if arrow is not None else column.to_numpy()
    if instants.dtype == "M8[D]":  # whole days have no steps of seconds
        instants = instants.astype("M8[us]")
    return Dates(instants, "" if zone is None else str(zone).removeprefix("UTC") or "UTC")
