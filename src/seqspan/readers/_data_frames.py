"""Data frames of pandas and polars: their column names are features, their dates or times the times."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from seqspan._core.dates import Dates
from seqspan._core.types import Array
from seqspan.readers._columns import TIME_NAME
from seqspan.readers._table import Columns, TableOptions, table_to_recording
from seqspan.recording import Recording

INDEX = "index"  # name of a pandas index that has none
NUMBERS = "iufb"  # NumPy's letters for kinds of numbers


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
        the name of a time has the times, other numeric columns are features. An index of dates, or one that
        has the name of a time, has the times.
    **options
        ``time``, ``columns``, ``exclude``, ``labels`` and ``missing``, as for a table file.

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
    columns = dict(zip(names, series, strict=True))
    if _index_has_times(frame):
        name = INDEX if frame.index.name is None else str(frame.index.name)
        columns = {name: frame.index.to_series()} | columns
    return table_to_recording(_sort(columns), TableOptions(**options))


def _index_has_times(frame: Any) -> bool:
    """Whether a pandas frame has an index of dates, or one with the name of a time."""
    index = getattr(frame, "index", None)
    if index is None or index.nlevels > 1:
        return False
    named = index.name is not None and TIME_NAME.fullmatch(str(index.name))
    return _kind(index) == "M" or (bool(named) and _kind(index) in NUMBERS)


def _sort(columns: dict[str, Any]) -> Columns:
    """Sort columns into numbers, dates and text."""
    numbers: dict[str, Array] = {}
    temporal: dict[str, Dates] = {}
    text: dict[str, object] = {}
    for name, column in columns.items():
        kind = _kind(column)
        if kind == "M":
            temporal[name] = _dates(column)
        elif kind in NUMBERS:
            numbers[name] = _numbers(column)
        else:
            text[name] = np.array(["" if cell is None else str(cell) for cell in column.to_list()])
    n_rows = len(next(iter(columns.values()), ()))
    X = np.column_stack(list(numbers.values())) if numbers else np.empty((n_rows, 0))
    return Columns(X, tuple(numbers), temporal, text, tuple(columns))


def _kind(column: Any) -> str:
    """NumPy's letter for what a column holds; "O" if it is neither numbers nor dates."""
    dtype = column.dtype
    if not hasattr(dtype, "is_numeric"):  # pandas
        return str(getattr(dtype, "kind", "O"))
    if dtype.is_numeric() or str(dtype) == "Boolean":
        return "f"
    return "M" if str(dtype).startswith("Date") else "O"


def _numbers(column: Any) -> Array:
    """The numbers of a column with NaN for missing ones; single precision stays."""
    kind = np.float32 if str(column.dtype).lower() == "float32" else np.float64
    if hasattr(column, "iloc"):
        return np.asarray(column.to_numpy(dtype=kind, na_value=np.nan))
    return np.asarray(column.cast(float).to_numpy(), dtype=kind)


def _dates(column: Any) -> Dates:
    """The dates of a column in UTC, with their zone."""
    is_pandas = hasattr(column, "iloc")
    zone = getattr(column.dtype, "tz" if is_pandas else "time_zone", None)
    if zone is not None and is_pandas:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    elif zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    instants = column.to_numpy()
    if instants.dtype == "M8[D]":  # whole days have no steps of seconds
        instants = instants.astype("M8[us]")
    return Dates(instants, "" if zone is None else str(zone).removeprefix("UTC") or "UTC")
