"""Named columns become a recording: one may hold the times, one the labels, the rest are features."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.checks import check_choice
from seqspan._core.types import Array, IntArray
from seqspan.readers._missing import MISSING_CHOICES, REMEDY, resolve_missing
from seqspan.recording import Recording

TIME_NAME = re.compile(
    r"(?P<name>time|t|timestamp|date|datetime|seconds?|elapsed|depth|frame|index)(?P<rest>[\s_.(\[].*)?", re.I
)
UNIT = re.compile(r"(?<![a-z])(ns|us|ms|s|sec|seconds?|min|h|mm|cm|m|km|ft)(?![a-z])", re.I)
UNITS_BY_NAME = {"frame": "sample", "index": "sample", "seconds": "s", "second": "s"}


@dataclass(frozen=True)
class TableOptions:
    """Which columns of a table hold times and labels, and what to do about missing values.

    Parameters
    ----------
    missing : {"error", "interpolate", "drop"}
        If values are missing: raise, interpolate linearly along the rows, or skip the rows.
    time : str, optional
        Name of the column of times or depths. By default it is recognised by its name.
    labels : str, optional
        Name of a column of true labels, which is then not used as a feature.
    """

    missing: str = "error"
    time: str | None = None
    labels: str | None = None

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, MISSING_CHOICES)


@dataclass(frozen=True)
class Columns:
    """A parsed table.

    Parameters
    ----------
    X : float array of shape (n_samples, n_columns)
        NaN where a value is missing.
    names : tuple of str
    temporal : tuple of str
        Names of the date columns, which are given in seconds since 1970.
    text : dict of str to array
        Columns that are not numeric, by name; None for values that nobody needs.
    notes : list of str
    problems : list of str
        Descriptions of cells that could not be read, and so count as missing.
    """

    X: Array
    names: tuple[str, ...]
    temporal: tuple[str, ...] = ()
    text: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def table_to_recording(columns: Columns, options: TableOptions) -> Recording:
    """Sort the columns of a table into times, labels and features."""
    if not len(columns.X):
        raise ValueError("the table has no rows.")
    times, unit, time_name, notes = _find_times(columns, options)
    labels, label_names = _find_labels(columns, options)
    unused = {time_name, options.labels, *columns.temporal}
    keep = np.array([name not in unused for name in columns.names], dtype=bool)
    if not keep.any():
        known = ", ".join((*columns.names, *columns.text))
        raise ValueError(f"the table has no numeric column to use as a feature; its columns are {known}.")
    notes += _list_left_out(columns, options, time_name)
    if columns.problems and options.missing == "error":
        raise ValueError(f"{'; '.join(columns.problems)}; {REMEDY}")
    kept = tuple(name for name, wanted in zip(columns.names, keep, strict=True) if wanted)
    complete = resolve_missing(select_columns(columns.X, keep), kept, options.missing)
    return Recording(
        X=complete.X,
        times=times[complete.rows],
        time_unit=unit,
        feature_names=complete.names,
        kind="table",
        notes=(*columns.notes, *columns.problems, *notes, *complete.notes),
        labels=None if labels is None else labels[complete.rows],
        label_names=label_names,
    )


def _list_left_out(columns: Columns, options: TableOptions, time_name: str | None) -> list[str]:
    """Note the columns that are not used at all."""
    text = [name for name in columns.text if name not in (options.labels, options.time)]
    dates = [name for name in columns.temporal if name != time_name]
    notes = [f"left out columns that are not numeric: {', '.join(text)}"] if text else []
    return notes + ([f"left out date columns that are not the time: {', '.join(dates)}"] if dates else [])


def select_columns(X: Array, keep: Array) -> Array:
    """Return some of the columns, without a copy if they are adjacent."""
    wanted = np.flatnonzero(keep)
    if wanted[-1] - wanted[0] + 1 == len(wanted):
        return X[:, wanted[0] : wanted[-1] + 1]
    return X[:, wanted]


def _find_times(columns: Columns, options: TableOptions) -> tuple[Array, str, str | None, list[str]]:
    """Return the times, their unit, the name of their column, and notes."""
    if options.time is not None:
        if options.time not in columns.names:
            known = ", ".join(columns.names)
            raise ValueError(f"time must be a numeric or date column ({known}); got {options.time!r}.")
        times, unit = _times_of(columns, options.time)
        check_times(f"column {options.time!r}", times)
        return times, unit, options.time, []
    notes = []
    for name in time_candidates(columns.names, columns.temporal):
        times, unit = _times_of(columns, name)
        if is_ordered(times):
            return times, unit, name, [f"times come from column {name!r}"]
        notes.append(f"column {name!r} is not used as time because it decreases or has gaps")
    return np.arange(len(columns.X), dtype=float), "sample", None, notes


def time_candidates(names: Iterable[str], temporal: Container[str]) -> list[str]:
    """Columns that hold dates or are named like a time or a depth; the first that is ordered is the time."""
    return [name for name in names if name in temporal or TIME_NAME.fullmatch(name.strip())]


def is_ordered(times: Array) -> bool:
    """Whether values can be times: finite, and never decreasing."""
    return bool(np.isfinite(times).all() and (np.diff(times) >= 0).all())


def check_times(name: str, times: Array) -> None:
    """Raise if the values of a column or array cannot be times."""
    if not is_ordered(times):
        raise ValueError(f"{name} cannot be the time: its values must be finite and never decrease.")


def _times_of(columns: Columns, name: str) -> tuple[Array, str]:
    """Return the values of a column as times; dates become seconds since the first."""
    times = np.array(columns.X[:, columns.names.index(name)])
    if name in columns.temporal:
        return times - times[0], "s"
    return times, unit_of(name)


def unit_of(name: str) -> str:
    """Find the unit in a name such as "depth [m]" or "time_ms".

    Examples
    --------
    >>> unit_of("depth_m"), unit_of("Time (ms)"), unit_of("frame"), unit_of("t")
    ('m', 'ms', 'sample', 's')
    """
    match = TIME_NAME.fullmatch(name.strip())
    if match is None:
        found = UNIT.search(name)
        return found[0] if found else ""
    found = UNIT.search((match["rest"] or "").replace("_", " "))
    if found:
        return found[0]
    word = match["name"].lower()
    return UNITS_BY_NAME.get(word, "m" if word == "depth" else "s")


def _find_labels(columns: Columns, options: TableOptions) -> tuple[IntArray | None, tuple[str, ...]]:
    """Number the labels of the named column, in the order of their values."""
    if options.labels is None:
        return None, ()
    if options.labels in columns.names:
        values: object = columns.X[:, columns.names.index(options.labels)]
    elif options.labels in columns.text:
        values = columns.text[options.labels]
    else:
        known = ", ".join((*columns.names, *columns.text))
        raise ValueError(f"labels must be one of the columns ({known}); got {options.labels!r}.")
    return number_labels(np.asarray(values))


def number_labels(values: npt.NDArray[Any]) -> tuple[IntArray, tuple[str, ...]]:
    """Number labels from 0 in the order of their values, and return their names.

    Examples
    --------
    >>> number_labels(np.array(["walk", "jump", "walk"]))
    (array([1, 0, 1]), ('jump', 'walk'))
    """
    kinds, labels = np.unique(values, return_inverse=True)
    names = tuple(f"{kind:g}" if isinstance(kind, float) else str(kind) for kind in kinds.tolist())
    return labels.astype(np.intp), names
