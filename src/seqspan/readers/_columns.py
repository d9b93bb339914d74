"""Which columns of a table are features, which one is the time, and which are neither."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from seqspan._core.dates import Dates, microseconds
from seqspan._core.text import count_of, list_names
from seqspan._core.types import Array
from seqspan.readers._dates import running
from seqspan.readers._stamps import Values, find_calendar, find_clock, is_whole_days, join, part_of
from seqspan.readers._time_names import AMBIGUOUS, COUNTS, TIME_NAME, may_be_time, word_in

Given: TypeAlias = str | int  # a column as users name it: by its name, or by its number

UNNAMED = re.compile(r"|Unnamed: \d+", re.I)  # what programs call the column of row numbers
UNNAMED_CLOCK = re.compile(r"column_\d+")  # of a table without a header
#: Why one column is not the time, and why several are not: they do not change, or are not in order.
WORDS = (
    ("is", "it", ("is constant", "decreases or has gaps")),
    ("are", "they", ("are constant", "decrease or have gaps")),
)
DAYS_AND_ABOVE = 3  # parts of a date: year, month and day
LEAST_ROWS = 10  # so many consecutive numbers in a column are no coincidence
LEAST_STEPS = 20  # a column that grows so often and never falls is no noise, and no few steps of a valve
MAX_RESETS = 0.05  # share of the rows at which a clock that is set back, or runs backwards, turns around
MAX_LISTED = 12  # names of features in a note


@dataclass(frozen=True)
class Header:
    """The columns of a table, by what they hold.

    Parameters
    ----------
    order : tuple of str
        All of them, in the order of the file.
    numeric, temporal, clocks : tuple of str
        Those that hold numbers, dates, and times of day.
    """

    order: tuple[str, ...]
    numeric: tuple[str, ...]
    temporal: tuple[str, ...] = ()
    clocks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wishes:
    """Which columns the user wants; None and empty leave it to the names and values of the columns.

    Parameters
    ----------
    columns, exclude : tuple of str or int
        Features, and columns that are neither a feature nor the time.
    time, labels : str or int, optional
    """

    columns: tuple[Given, ...] = ()
    exclude: tuple[Given, ...] = ()
    time: Given | None = None
    labels: str | None = None


@dataclass(frozen=True)
class Choice:
    """The columns that are used, and notes about the others; several may be the time together."""

    features: tuple[str, ...]
    time: tuple[str, ...]
    notes: tuple[str, ...] = ()


def choose_columns(header: Header, values: Values, wishes: Wishes) -> Choice:
    """Choose features and time.

    Columns that only count the rows, a column without a name that numbers them, further time columns, clocks
    that were set back and a constant column with the name of a time are no features unless the user names
    them.

    Parameters
    ----------
    header : Header
    values : callable
        ``values(name, n)`` returns the first n values of a column, all of them if n is None.
    wishes : Wishes

    Returns
    -------
    Choice
    """
    named = find_columns("columns", wishes.columns, header.order)
    for name in named:
        if name not in header.numeric:
            raise ValueError(
                f"columns must be numeric to be features ({', '.join(header.numeric)}); got {name!r}."
            )
    unwanted = {*find_columns("exclude", wishes.exclude, header.order), wishes.labels}
    time, notes = _choose_time(header, values, wishes.time, unwanted | set(named))
    unwanted |= set(time)
    if named:
        return Choice(tuple(name for name in named if name not in unwanted), time, notes)
    left = [name for name in header.numeric if name not in unwanted]
    reasons = dict.fromkeys(find_calendar(left, values), "is a part of a date")
    reasons |= {name: why for name in left if (why := _reason_against(name, values))}
    if len(reasons) == len(left):  # better a strange feature than none
        return Choice(tuple(left), time, notes)
    keep = "name it in columns to keep it"
    more = [f"left out {_column(name, header.order)}, which {why}; {keep}" for name, why in reasons.items()]
    features = tuple(name for name in left if name not in reasons)
    return Choice(features, time, (*notes, *more, *_note_meters(features, values)))


def _column(name: str, order: Sequence[str]) -> str:
    """A column in words; one without a name by its number, which names it in columns, too."""
    return f"column {name!r}" if name else f"column {order.index(name) + 1}"


def _note_meters(features: Sequence[str], values: Values) -> list[str]:
    """Say so if a feature only grows or falls, as a counter or meter does: then hardly any state returns."""
    notes = []
    for verb, sign in (("grow", 1), ("fall", -1)):
        names = [name for name in features if _is_meter(sign * values(name, None))]
        one = len(names) == 1
        remedy = (
            "it is a counter or meter, exclude it" if one else "they are counters or meters, exclude them"
        )
        if names:
            notes.append(
                f"{list_names(names)} only {verb}{'s' if one else ''} from row to row, so hardly any state "
                f"can return; if {remedy}"
            )
    return notes


def _is_meter(column: Array) -> bool:
    """Whether a column never decreases, and increases at many rows."""
    steps = np.diff(column)
    return bool((steps >= 0).all() and np.count_nonzero(steps) >= LEAST_STEPS)


def find_columns(option: str, given: Iterable[Given], order: Sequence[str]) -> list[str]:
    """Names of the columns that a user asks for by name or number.

    Parameters
    ----------
    option : str
        Name of the option, for errors.
    given : iterable of str or int
        Names; or numbers as text, which count from 1 as in a spreadsheet and may be a range; or ints, which
        count from 0 as in Python.
    order : sequence of str
        All columns of the table.

    Returns
    -------
    list of str

    Examples
    --------
    >>> find_columns("columns", ["flow", "1", 1, "2-3"], ["time", "flow", "pressure"])
    ['flow', 'time', 'pressure']
    """
    return [order[place] for place in find_places(option, given, order)]


def find_places(option: str, given: Iterable[Given], order: Sequence[str]) -> list[int]:
    """Places of the same columns, counted from 0; of arrays, several columns may have one name."""
    found: dict[int, None] = {}
    for item in given:
        places = _places(item, order)
        if not places or not all(0 <= place < len(order) for place in places):
            raise ValueError(
                f"{option} must be among the table's columns ({_list(order)}), or their numbers from 1 "
                f"to {len(order)}; got {item!r}."
            )
        found |= dict.fromkeys(places)
    return list(found)


def _list(names: Iterable[str]) -> str:
    """List columns; quotes make one without a name visible."""
    return ", ".join(name or "''" for name in names)


def _places(given: Given, order: Sequence[str]) -> Sequence[int]:
    """Places of the columns, counted from 0, that one item stands for; none if it stands for nothing."""
    if not isinstance(given, str):
        return [int(given)]
    if given in order:
        return [place for place, name in enumerate(order) if name == given]
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", given.strip(), re.ASCII)
    return range(int(match[1]) - 1, int(match[2] or match[1])) if match else []


def _choose_time(
    header: Header, values: Values, given: Given | None, taken: set[str | None]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The time columns and notes: the one that the user names, or the first that can be the time."""
    usable = (*header.numeric, *header.temporal, *header.clocks)
    if given is not None:
        places = _places(given, header.order)
        named = tuple(header.order[place] for place in places[:2] if 0 <= place < len(header.order))
        if len(places) != 1 or not named or named[0] not in usable:
            known = _list(name for name in header.order if name in usable)
            raise ValueError(f"time must be a numeric or date column ({known}); got {given!r}.")
        check_times(f"column {named[0]!r}", _times(named, header, values))
        return named, ()
    notes: list[str] = []
    for names in _time_candidates(header, values, taken):
        times, columns = _times(names, header, values), _columns(names)
        if is_ordered(times) and (times[-1] > times[0] or len(times) == 1):
            return names, (*notes, f"times come from {columns}")
        are, they, why = WORDS[len(names) > 1]
        notes.append(f"{columns} {are} not used as time because {they} {why[not is_ordered(times)]}")
    return (), tuple(notes)


def _columns(names: Sequence[str]) -> str:
    """Columns in words.

    Examples
    --------
    >>> _columns(["time"]), _columns(["year", "month", "day"])
    ("column 'time'", "columns 'year', 'month' and 'day'")
    """
    *others, last = map(repr, names)
    return f"columns {', '.join(others)} and {last}" if others else f"column {last}"


def _times(names: tuple[str, ...], header: Header, values: Values) -> Array:
    """The values of a column that may be the time; of several together, seconds since the first."""
    first = values(names[0], None)
    if len(names) == 1:
        return running(first) if names[0] in header.clocks else first
    clocks = {name: values(name, None) for name in names if name in header.clocks}
    dates = {names[0]: Dates(microseconds(first).view("M8[us]"))} if names[0] in header.temporal else {}
    return join(names, dates, clocks, values).seconds


def _time_candidates(header: Header, values: Values, taken: set[str | None]) -> list[tuple[str, ...]]:
    """Columns that may be the time, also together.

    Dates come first, then times of day, names of times and depths, years, and counts of samples.
    """
    numeric = [name for name in header.numeric if name not in taken]
    clocks = [name for name in header.clocks if name not in taken and _is_clock(name, values)]
    dates = [name for name in header.temporal if name not in taken]
    joined = [(name, *_clock_of(values(name, None), clocks, numeric, values)) for name in dates]
    calendar = find_calendar(numeric, values)
    if len(calendar) == DAYS_AND_ABOVE:
        calendar += tuple(clocks[:1])
    named = [name for name in numeric if TIME_NAME.fullmatch(name.strip())]
    named += [name for name in numeric if may_be_time(name) and name not in named]
    years = [name for name in numeric if part_of(name) == "year" and name not in calendar]
    clocks = [name for name in clocks if not any(name in names[1:] for names in [*joined, calendar])]
    alone = sorted([*clocks, *named, *years], key=lambda name: word_in(name) in COUNTS)
    return [*joined, *([calendar] if calendar else []), *((name,) for name in alone)]


def _is_clock(name: str, values: Values) -> bool:
    """Whether a column that may hold times of day does: 16:9 may be the shape of a picture."""
    return (
        may_be_time(name)
        or UNNAMED_CLOCK.fullmatch(name) is not None
        or bool((values(name, None) % 60).any())
    )


def _clock_of(days: Array, clocks: list[str], numeric: list[str], values: Values) -> tuple[str, ...]:
    """The columns that say at which time of these days a sample was; none if the dates say it."""
    if not is_whole_days(days):
        return ()
    repeat = bool((np.diff(days) == 0).any())
    named = [name for name in clocks if repeat or TIME_NAME.fullmatch(name.strip())]
    return tuple(named[:1]) or (find_clock(numeric, values) if repeat else ())


def _reason_against(name: str, values: Values) -> str:
    """Why a numeric column that nobody asked for is no feature; empty if it is one."""
    start, word = values(name, LEAST_ROWS), word_in(name)
    if word and word not in AMBIGUOUS and _is_broken_clock(values(name, None)):
        return "is a clock that runs backwards, was set back or has gaps"
    if word == "depth" and (np.diff(start) <= 0).all() and _is_meter(-values(name, None)):
        return "is a depth that only falls: with the rows in the opposite order, it would be the times"
    if not np.isfinite(start).all() or not len(start):
        return ""
    steps = np.diff(start)
    if (steps == 1).all() and (len(start) == LEAST_ROWS or (len(start) > 2 and word in COUNTS)):
        return "counts the rows" if (np.diff(values(name, None)) == 1).all() else ""
    if UNNAMED.fullmatch(name.strip()) and (steps > 0).all():
        numbers = values(name, None)
        return "has no name and numbers the rows" if _are_row_numbers(numbers) else ""
    if word and (steps == 0).all() and np.ptp(values(name, None)) == 0:
        return "is constant"
    if word and word not in AMBIGUOUS and (steps >= 0).all() and is_ordered(values(name, None)):
        return "is a time, too"
    return ""


def _is_broken_clock(times: Array) -> bool:
    """Whether values that cannot be times go in one direction almost everywhere."""
    if is_ordered(times) or len(times) < LEAST_ROWS:
        return False
    steps = np.diff(times[np.isfinite(times)])
    against = min(np.count_nonzero(steps < 0), np.count_nonzero(steps > 0))
    return len(steps) >= len(times) / 2 and bool(against <= MAX_RESETS * len(steps))


def _are_row_numbers(values: Array) -> bool:
    """Whether values are whole and increase."""
    return bool((np.diff(values) > 0).all() and (values == np.floor(values)).all())


def is_ordered(times: Array) -> bool:
    """Whether values can be times: finite, and never decreasing."""
    return bool(np.isfinite(times).all() and (np.diff(times) >= 0).all())


def check_times(name: str, times: Array) -> None:
    """Raise if the values of a column or array cannot be times."""
    if not is_ordered(times):
        raise ValueError(f"{name} cannot be the time: its values must be finite and never decrease.")


def note_features(names: Sequence[str]) -> str:
    """List the features, so that nobody has to guess what was segmented.

    Examples
    --------
    >>> note_features(["flow", "pressure"])
    '2 features: flow, pressure'
    """
    return f"{count_of(len(names), 'feature')}: {list_names(names, MAX_LISTED)}"
