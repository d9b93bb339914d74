"""From named columns to a recording: the time column, the labels, and what is left out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.types import Array, IntArray
from seqspan.readers._missing import CHOICES, WAYS_ON, require_choice, resolve_missing
from seqspan.recording import Recording

TIME_NAME = re.compile(
    r"(?P<name>time|t|timestamp|date|datetime|seconds?|elapsed|depth|frame|index)(?P<rest>[\s_.(\[].*)?", re.I
)
UNIT = re.compile(r"(?<![a-z])(ns|us|ms|s|sec|seconds?|min|h|mm|cm|m|km|ft)(?![a-z])", re.I)
UNITS_BY_NAME = {"frame": "sample", "index": "sample", "seconds": "s", "second": "s"}


@dataclass(frozen=True)
class TableOptions:
    """Which columns of a table are what, and what happens where values are missing.

    Parameters
    ----------
    missing : {"error", "interpolate", "drop"}
        Raise, fill linearly along the rows, or leave out the rows.
    time : str, optional
        Name of the column of times or depths; recognised by its name by default.
    labels : str, optional
        Name of a column of true labels, which is then no feature.
    """

    missing: str = "error"
    time: str | None = None
    labels: str | None = None

    def __post_init__(self) -> None:
        require_choice("missing", self.missing, CHOICES)


@dataclass(frozen=True)
class Columns:
    """A table once its text is parsed.

    Parameters
    ----------
    X : float array of shape (n_samples, n_columns)
        NaN where a value is missing.
    names : tuple of str
    temporal : tuple of str
        Columns that hold dates, in seconds since 1970.
    text : dict of str to array
        Columns that are no numbers, as strings where they may serve as labels.
    notes : list of str
    problems : list of str
        Cells that count as missing because they could not be read.
    """

    X: Array
    names: tuple[str, ...]
    temporal: tuple[str, ...] = ()
    text: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def table_sequence(columns: Columns, options: TableOptions) -> Recording:
    """Sort the columns of a table into times, labels and features."""
    names = columns.names
    if not len(columns.X):
        raise ValueError("expected rows of values; it holds none.")
    times, unit, time_name, notes = _find_times(columns, options)
    labels, label_names = _find_labels(columns, options)
    left_out = [name for name in columns.text if name not in (options.labels, options.time)]
    if left_out:
        notes.append(f"left out, not numbers: {', '.join(left_out)}")
    unused = {time_name, options.labels, *columns.temporal}
    keep = np.array([name not in unused for name in names], dtype=bool)
    if not keep.any():
        raise ValueError(
            f"no column of numbers is left; it has the columns {', '.join((*names, *columns.text))}."
        )
    dropped = [name for name in columns.temporal if name != time_name]
    if dropped:
        notes.append(f"left out, dates that are not the time: {', '.join(dropped)}")
    kept = tuple(name for name, wanted in zip(names, keep, strict=True) if wanted)
    if columns.problems and options.missing == "error":
        raise ValueError(f"{'; '.join(columns.problems)}; {WAYS_ON}")
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


def select_columns(X: Array, keep: Array) -> Array:
    """Return some columns, without a copy where they lie side by side."""
    wanted = np.flatnonzero(keep)
    if wanted[-1] - wanted[0] + 1 == len(wanted):
        return X[:, wanted[0] : wanted[-1] + 1]
    return X[:, wanted]


def _find_times(columns: Columns, options: TableOptions) -> tuple[Array, str, str | None, list[str]]:
    """Return times, their unit, the column they are from, and notes."""
    if options.time is not None:
        if options.time not in columns.names:
            raise ValueError(
                f"time={options.time!r} must name a column of numbers or dates; there are "
                f"{', '.join(columns.names)}."
            )
        times, unit = _times_of(columns, options.time)
        if not is_ordered(times):
            raise ValueError(f"the column {options.time!r} must not decrease to serve as time.")
        return times, unit, options.time, []
    notes = []
    for name in columns.names:
        if name in columns.temporal or TIME_NAME.fullmatch(name.strip()):
            times, unit = _times_of(columns, name)
            if is_ordered(times):
                return times, unit, name, [f"times are from the column {name!r}"]
            notes.append(f"the column {name!r} has the name of a time, but decreases or has gaps")
    return np.arange(len(columns.X), dtype=float), "sample", None, notes


def is_ordered(times: Array) -> bool:
    """Tell whether values can be times: finite, and never decreasing."""
    return bool(np.isfinite(times).all() and (np.diff(times) >= 0).all())


def _times_of(columns: Columns, name: str) -> tuple[Array, str]:
    """Return the values of a column as times; dates count from the first."""
    times = np.array(columns.X[:, columns.names.index(name)])
    if name in columns.temporal:
        return times - times[0], "s"
    return times, unit_of(name)


def unit_of(name: str) -> str:
    """Read the unit out of a name such as "depth [m]" or "time_ms".

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
    """Number the labels of the column that was named, in order of their values."""
    if options.labels is None:
        return None, ()
    if options.labels in columns.names:
        values: object = columns.X[:, columns.names.index(options.labels)]
    elif options.labels in columns.text:
        values = columns.text[options.labels]
    else:
        known = ", ".join((*columns.names, *columns.text))
        raise ValueError(f"labels={options.labels!r} must name a column; there are {known}.")
    return number_labels(np.asarray(values))


def number_labels(values: npt.NDArray[Any]) -> tuple[IntArray, tuple[str, ...]]:
    """Number labels from 0 in order of their values, and name them.

    Examples
    --------
    >>> number_labels(np.array(["walk", "jump", "walk"]))
    (array([1, 0, 1]), ('jump', 'walk'))
    """
    kinds, labels = np.unique(values, return_inverse=True)
    names = tuple(f"{kind:g}" if isinstance(kind, float) else str(kind) for kind in kinds.tolist())
    return labels.astype(np.intp), names
