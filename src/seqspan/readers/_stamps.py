"""Columns that are the time together: a date and a time of day, or a year, a month, a day and an hour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from seqspan._core.dates import Dates, microseconds
from seqspan._core.types import Array
from seqspan.readers._dates import DAY

Values = Callable[[str, int | None], Array]  # all values of a column, or so many of the first

#: Names of the parts of a date, from the largest on.
PARTS = {
    "year": ("year", "yr", "yyyy", "yy", "jahr", "année", "año"),
    "month": ("month", "mon", "mo", "monat", "mois", "mes"),
    "day": ("day", "dd", "dy", "tag", "jour", "día"),
    "hour": ("hour", "hr", "hh", "stunde", "heure", "hora"),
    "minute": ("minute", "min", "mn", "mi"),
    "second": ("second", "sec", "ss"),
}
PART_OF = {name: part for part, names in PARTS.items() for name in names}
IN_CAPITALS = {"MM": "month", "mm": "minute"}
SECONDS = {"hour": 3600.0, "minute": 60.0, "second": 1.0}


def part_of(name: str) -> str:
    """The part of a date that a column has, by its name; empty if it has none.

    Examples
    --------
    >>> part_of("Year"), part_of("mm"), part_of("MM"), part_of("flow")
    ('year', 'minute', 'month', '')
    """
    name = name.strip().strip("<>#")
    return IN_CAPITALS.get(name) or PART_OF.get(name.lower(), "")


def find_parts(names: Sequence[str], first: str) -> tuple[str, ...]:
    """Columns of the parts of a date from the first on, as far as there is one for each.

    Examples
    --------
    >>> find_parts(["No", "year", "month", "day", "hour", "pm2.5", "min"], "year")
    ('year', 'month', 'day', 'hour', 'min')
    """
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(part_of(name), name)
    parts = list(PARTS)[list(PARTS).index(first) :]
    missing = next((place for place, part in enumerate(parts) if part not in found), len(parts))
    return tuple(found[part] for part in parts[:missing])


def find_calendar(numeric: Sequence[str], values: Values) -> tuple[str, ...]:
    """Columns of numbers that are dates together; none if there is no year and month, or no such date."""
    names = find_parts(numeric, "year")
    columns = [values(name, None) for name in names]
    counts = range(len(names), 1, -1)  # "min" may be the least of something
    n_parts = next((n for n in counts if Dates.from_parts(*columns[:n]) is not None), 0)
    return names[:n_parts]


def is_whole_days(seconds: Array) -> bool:
    """Whether dates, in seconds since the first, have no time of day."""
    return bool(np.isfinite(seconds).all() and (seconds % DAY == 0).all())


def find_clock(numeric: Sequence[str], values: Values) -> tuple[str, ...]:
    """Columns of numbers that are the hour, the minute and the second of a day; none if there is no hour."""
    names = find_parts(numeric, "hour")
    for name in names:
        column, most = values(name, None), 24 if part_of(name) == "hour" else 60
        if not ((column >= 0) & (column <= most)).all():
            return ()
    return names


def join(
    names: Sequence[str], dates: Mapping[str, Dates], clocks: Mapping[str, Array], values: Values
) -> Dates:
    """The dates that several columns are together.

    Parameters
    ----------
    names : sequence of str
        A column of dates, or those of a calendar, and then those of the time of day.
    dates, clocks : mapping of str to Dates, and to array
        Columns of dates, and of seconds since midnight.
    values : callable
        As for `choose_columns`: the values of other columns.

    Examples
    --------
    >>> days = Dates.from_parts(np.array([2024.0]), np.array([2.0]), np.array([29.0]))
    >>> hours = {"hour": np.array([10.0]), "min": np.array([30.0])}
    >>> join(["Date", *hours], {"Date": days}, {}, lambda name, n_rows: hours[name]).to_iso()
    ['2024-02-29T10:30:00']
    """
    if names[0] in dates:
        days, times = dates[names[0]], {name: values(name, None) for name in names[1:] if name not in clocks}
    else:
        parts = Dates.from_parts(*(values(name, None) for name in names if name not in clocks))
        assert parts is not None  # or they were no calendar
        days, times = parts, {}
    seconds = [SECONDS[part_of(name)] * column for name, column in times.items()]
    seconds += [clocks[name] for name in names if name in clocks]
    return replace(days, instants=days.instants + microseconds(np.sum(seconds, axis=0))) if seconds else days
