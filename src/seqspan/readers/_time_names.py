"""Names of times: which words they have, in which unit they are, and which dates their numbers stand for."""

from __future__ import annotations

import re

from seqspan._core.dates import PER_SECOND, Dates
from seqspan._core.types import Array

TIME_NAME = re.compile(
    r"(?P<name>time|t|timestamps?|ts|epoch|date|datetime|seconds?|elapsed|depth|frame|index"
    r"|zeit|uhrzeit|zeitstempel|datum|heure|horodatage|hora|tiempo|fecha|tijd)(?P<rest>[\s_.(\[/,].*)?",
    re.I,
)
#: Such a word within a name, as in "S_Timestamp_Unix" and "Run time (s)".
TIME_WITHIN = re.compile(r".*[\s_.-](?P<name>time|timestamp|date|datum)(?P<rest>[\s_.(\[/,-].*)?", re.I)
#: Words that are also names of features: T is a temperature, too, and a diver's depth changes.
AMBIGUOUS = ("t", "depth")
DATES = ("date", "datetime", "timestamp", "datum", "fecha")  # words for what may be written as 20240131
DAYS = ("date", "datetime", "datum", "fecha")  # and as 45322, the number of a day
COUNTS = ("frame", "index")  # words for a number of samples, which says less than a time
#: Words for each unit: "time (minutes)" is not in seconds.
UNIT_WORDS = {
    "ns": "ns nsec nsecs nanosecond nanoseconds",
    "us": "us µs μs usec usecs microsecond microseconds",
    "ms": "ms msec msecs millis millisecond milliseconds",
    "s": "s sec secs second seconds",
    "min": "min mins minute minutes",
    "h": "h hr hrs hour hours",
    "d": "d day days",
    "mm": "mm",
    "cm": "cm",
    "m": "m metre metres meter meters",
    "km": "km",
    "ft": "ft foot feet",
}
UNITS = {word: unit for unit, words in UNIT_WORDS.items() for word in words.split()}
BRACKETS = re.compile(r"[\[(/]([^\])]*)")
UNIT = re.compile(r"(?<![a-zµμ])(ns|us|µs|μs|ms|s|sec|seconds?|min|h|mm|cm|m|km|ft)(?![a-z])", re.I)
UNITS_BY_NAME = {"frame": "sample", "index": "sample", "seconds": "s", "second": "s"}


def word_in(name: str) -> str:
    """The word in a name that makes it a time: "time" in "Time (ms)"; empty if there is none."""
    match = TIME_NAME.fullmatch(name.strip())
    return match["name"].lower() if match else ""


def may_be_time(name: str) -> bool:
    """Whether a name has a word for a time in it; features may have one, too.

    Examples
    --------
    >>> may_be_time("Unix Time"), may_be_time("Time (s)"), may_be_time("timeout")
    (True, True, False)
    """
    return bool(_match(name))


def _match(name: str) -> re.Match[str] | None:
    """The word for a time in a name, and what follows it."""
    return TIME_NAME.fullmatch(name.strip()) or TIME_WITHIN.fullmatch(name.strip())


def is_time(name: str) -> bool:
    """Whether a name is that of a time, and cannot be that of a feature.

    Examples
    --------
    >>> is_time("Time (s)"), is_time("T"), is_time("pressure")
    (True, False, False)
    """
    return word_in(name) not in ("", *AMBIGUOUS)


def dates_of(name: str, times: Array) -> tuple[Dates | None, str]:
    """The dates that the numbers of a column of dates stand for, if they do, and a note.

    Examples
    --------
    >>> import numpy as np
    >>> dates_of("Date", np.array([20240131.0]))[0].to_iso(), dates_of("time", np.array([20240131.0]))
    (['2024-01-31'], (None, ''))
    """
    match = _match(name)
    word = match["name"].lower() if match else ""
    dates = Dates.from_digits(times) if word in DATES else None
    if dates is not None or word not in DAYS or _is_stated(name, times):
        return dates, ""
    dates = Dates.from_spreadsheet(times)
    what = "no dates: they are taken for seconds" if dates is None else "days since 30 December 1899"
    return dates, f"the numbers in column {name!r} are {what}"


def _is_stated(name: str, times: Array) -> bool:
    """Whether the name of a time or the size of its values says in which unit it is."""
    return bool(_stated_unit(name)) or any(Dates.since_1970(times, unit) for unit in PER_SECOND)


def unit_of(name: str, times: Array | None = None) -> str:
    """Find the unit in a name such as "depth [m]" or "time_ms", or else in the size of the times.

    Times from 2001 to 2100 that count from 1970 show by their size whether they are in seconds,
    milliseconds, microseconds or nanoseconds.

    Examples
    --------
    >>> import numpy as np
    >>> unit_of("depth_m"), unit_of("Time (MS)"), unit_of("elapsed minutes"), unit_of("frame"), unit_of("t")
    ('m', 'ms', 'min', 'sample', 's')
    >>> unit_of("timestamp", np.array([1.7e12, 1.7e12 + 100]))
    'ms'
    """
    match = _match(name)
    if found := _stated_unit(name):
        return found
    if match is None:
        return ""
    word = match["name"].lower()
    if word not in (*COUNTS, "depth") and times is not None:
        for unit in PER_SECOND:
            if Dates.since_1970(times[[0, -1]], unit) is not None:
                return unit
    return UNITS_BY_NAME.get(word, "m" if word == "depth" else "s")


def _stated_unit(name: str) -> str:
    """The unit in a name: all that follows the word for a time, what is in brackets, or a short word."""
    match = _match(name)
    text = (match["rest"] or "").replace("_", " ") if match else name
    inside = BRACKETS.search(text)
    for words in (text, inside[1] if inside else ""):
        if (word := words.lower().strip(" .,;:-/()[]")) in UNITS:
            return UNITS[word]
    found = UNIT.search(text)
    return UNITS[found[0].lower()] if found else ""
