"""Named columns become a recording: one may hold the times, one the labels, the rest are features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqspan._core.checks import check_choice
from seqspan._core.dates import Dates
from seqspan._core.types import Array, IntArray
from seqspan.readers._codes import as_codes, note_codes, without_codes
from seqspan.readers._columns import Choice, Given, Header, Wishes, choose_columns, note_features
from seqspan.readers._dates import read_stamps, running
from seqspan.readers._missing import MISSING_CHOICES, REMEDY, resolve_missing
from seqspan.readers._numbers import NULLS
from seqspan.readers._stamps import join, part_of
from seqspan.readers._time_names import dates_of, unit_of
from seqspan.recording import Recording

if TYPE_CHECKING:
    import polars as pl


UNLABELLED = -1
FIRST = 20  # cells that show what a column would be if all were like them


@dataclass(frozen=True)
class TableOptions:
    """Which columns of a table are used for what, and what to do about missing values.

    Parameters
    ----------
    missing : {"error", "interpolate", "drop"}
        If values are missing: raise, interpolate linearly along the rows, or skip the rows.
    time : str or int, optional
        The column of times or depths. By default it is recognised by its name.
    labels : str, optional
        Name of a column of true labels, which is then not used as a feature. Samples without one have -1.
    columns : sequence of str or int
        The columns to use as features: names, numbers as text from "1" on or ranges of them ("3-8"), or
        ints from 0 on. By default all numeric columns except the time, row counters and the like.
    exclude : sequence of str or int
        Columns to use neither as features nor as the time.
    missing_values : float or sequence of float
        Numbers that stand for missing values, such as -9999.
    """

    missing: str = "error"
    time: Given | None = None
    labels: str | None = None
    columns: tuple[Given, ...] = ()
    exclude: tuple[Given, ...] = ()
    missing_values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, MISSING_CHOICES)
        object.__setattr__(self, "missing_values", as_codes(self.missing_values))
        for name in ("columns", "exclude"):
            object.__setattr__(self, name, as_tuple(getattr(self, name)))

    @property
    def wishes(self) -> Wishes:
        """What the user says about the columns."""
        return Wishes(self.columns, self.exclude, self.time, self.labels)


def as_tuple(given: Any) -> tuple[Given, ...]:
    """One name or number, or several of them, as a tuple."""
    return (given,) if isinstance(given, str | int) else tuple(given or ())


@dataclass(frozen=True)
class Columns:
    """A parsed table.

    Parameters
    ----------
    X : float array of shape (n_samples, n_columns)
        The numeric columns, NaN where a value is missing.
    names : tuple of str
        Their names.
    temporal : dict of str to Dates
        Columns of dates.
    clocks : dict of str to array
        Columns of times of day, in seconds since midnight.
    text : dict of str to array
        Columns that are not numeric, by name; None for values that nobody needs.
    order : tuple of str
        Names of all columns, in the order of the file.
    notes : list of str
    problems : dict of str to str
        By column: a description of cells that could not be read, and so count as missing.
    """

    X: Array
    names: tuple[str, ...]
    temporal: dict[str, Dates] = field(default_factory=dict)
    clocks: dict[str, Array] = field(default_factory=dict)
    text: dict[str, object] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def header(self) -> Header:
        """What the columns hold."""
        order = self.order or (*self.names, *self.temporal, *self.clocks, *self.text)
        return Header(order, self.names, tuple(self.temporal), tuple(self.clocks))

    def values(self, name: str, n_rows: int | None = None) -> Array:
        """The first values of a column; dates in seconds since the first."""
        if name in self.temporal:
            return self.temporal[name].seconds[:n_rows]
        if name in self.clocks:
            return self.clocks[name][:n_rows]
        return self.X[:n_rows, self.names.index(name)]


def with_text(columns: Columns, text: Mapping[str, pl.Series]) -> Columns:
    """Add columns of text, of which some may be dates or times of day."""
    temporal, clocks, words = dict(columns.temporal), dict(columns.clocks), dict(columns.text)
    notes = list(columns.notes)
    for name, series in text.items():
        stamps, doubts = read_stamps(series)
        notes += doubts
        if isinstance(stamps, Dates):
            temporal[name] = stamps
        elif stamps is not None:
            clocks[name] = stamps
        else:
            words[name] = series.fill_null("").to_numpy()
            if len(series) > FIRST and read_stamps(series.head(FIRST))[0] is not None:
                notes.append(f"column {name!r} begins with dates or times, but not all of its cells are such")
    return replace(columns, temporal=temporal, clocks=clocks, text=words, notes=notes)


def table_to_recording(columns: Columns, options: TableOptions) -> Recording:
    """Sort the columns of a table into times, labels and features."""
    if not len(columns.X):
        raise ValueError("the table has no rows.")
    columns = replace(columns, X=without_codes(columns.X, options.missing_values))
    choice = choose_columns(columns.header, columns.values, options.wishes)
    labels, label_names = _find_labels(columns, options)
    if not choice.features:
        known = ", ".join(columns.header.order)
        raise ValueError(f"the table has no numeric column to use as a feature; its columns are {known}.")
    problems = [text for name, text in columns.problems.items() if name in (*choice.features, *choice.time)]
    if problems and options.missing == "error":
        raise ValueError(f"{'; '.join(problems)}; {REMEDY}")
    X = select_columns(columns.X, [columns.names.index(name) for name in choice.features])
    complete = resolve_missing(X, choice.features, options.missing)
    times, unit, dates, doubts = _times_of(columns, choice.time)
    notes = (*columns.notes, *problems, *choice.notes, *doubts, *_list_left_out(columns, options, choice))
    notes += tuple(note_codes(X, choice.features))
    return Recording(
        X=complete.X,
        times=times[complete.rows],
        time_unit=unit,
        feature_names=complete.names,
        kind="table",
        notes=(*notes, *complete.notes, note_features(complete.names)),
        labels=None if labels is None else labels[complete.rows],
        label_names=label_names,
        dates=None if dates is None else dates.take(complete.rows),
        rows=complete.rows,
    )


def _list_left_out(columns: Columns, options: TableOptions, choice: Choice) -> list[str]:
    """Note the columns that cannot be features."""
    text = [name for name in columns.text if name != options.labels]
    dates = [name for name in (*columns.temporal, *columns.clocks) if name not in choice.time]
    notes = [f"left out columns that are not numeric: {', '.join(text)}"] if text else []
    return notes + ([f"left out date columns that are not the time: {', '.join(dates)}"] if dates else [])


def select_columns(X: Array, wanted: list[int]) -> Array:
    """Return some of the columns, without a copy if they are adjacent."""
    if wanted == list(range(wanted[0], wanted[0] + len(wanted))):
        return X[:, wanted[0] : wanted[0] + len(wanted)]
    return X[:, wanted]


def _times_of(columns: Columns, names: tuple[str, ...]) -> tuple[Array, str, Dates | None, list[str]]:
    """The times, their unit, the dates if they are dates, and notes; dates become seconds since the first."""
    if not names:
        return np.arange(len(columns.X), dtype=float), "sample", None, []
    name, times, notes = names[0], np.array(columns.values(names[0])), [""]
    if len(names) > 1 or name in columns.temporal:
        dates: Dates | None = join(names, columns.temporal, columns.clocks, columns.values)
    elif name in columns.clocks:
        return running(times), "s", None, []
    elif part_of(name) == "year":
        dates = Dates.from_parts(times)
    else:
        dates, *notes = dates_of(name, times)
    if dates is None:
        return times, unit_of(name, times), None, list(filter(None, notes))
    return dates.seconds, "s", dates, list(filter(None, notes))


def _find_labels(columns: Columns, options: TableOptions) -> tuple[IntArray | None, tuple[str, ...]]:
    """Number the labels of the named column, in the order of their values."""
    if options.labels is None:
        return None, ()
    if options.labels in columns.names:
        values: object = columns.values(options.labels)
    elif options.labels in columns.text:
        values = columns.text[options.labels]
    else:
        known = ", ".join((*columns.names, *columns.text))
        raise ValueError(f"labels must be one of the columns ({known}); got {options.labels!r}.")
    return number_labels(np.asarray(values))


def number_labels(values: npt.NDArray[Any]) -> tuple[IntArray, tuple[str, ...]]:
    """Number labels from 0 in the order of their values, -1 where one is missing, and return their names.

    Examples
    --------
    >>> number_labels(np.array(["walk", "", "jump", "walk"]))
    (array([ 1, -1,  0,  1]), ('jump', 'walk'))
    """
    missing = values != values if values.dtype.kind == "f" else np.isin(values, NULLS)
    kinds, labels = np.unique(values[~missing], return_inverse=True)
    numbered = np.full(len(values), UNLABELLED)
    numbered[~missing] = labels
    # repr has all digits of a float: two labels must not have one name
    names = tuple(
        repr(kind).removesuffix(".0") if isinstance(kind, float) else str(kind) for kind in kinds.tolist()
    )
    return numbered, names
