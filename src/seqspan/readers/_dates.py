"""Dates and times of day as tables write them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np

from seqspan._core.dates import Dates
from seqspan._core.types import Array

if TYPE_CHECKING:
    import polars as pl

#: Layouts that are tried in order; None stands for ISO 8601 and its relatives.
DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d %B %Y", "%d-%B-%Y", "%B %d, %Y", "%B %d %Y")
CLOCKS = (" %H:%M:%S%.f", " %H:%M", "")
CLOCKS_OF_12 = (" %I:%M:%S%.f %p", " %I:%M %p")  # where they are usual, the month comes first
DATE_FORMATS = (
    *(None, "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f %z"),
    *map("".join, product(DAYS, CLOCKS)),
    *map("".join, product(("%m/%d/%Y", *DAYS), CLOCKS_OF_12)),
    "%Y%m%dT%H%M%S%.f",
)
OFFSET = r":\d\d.*?(Z|[+-]\d\d:?\d\d)$"  # at the end of a date with a time of day
MORE_THAN_MICROSECONDS = r"\.\d{7}"
# at the beginning, or after a day and a month; without it, %Y would read the year 24
FULL_YEAR = r"^\s*(\d\d?[./ -](\d\d?|[A-Za-z]+)[./ -]|[A-Za-z]+ \d\d?,? )?\d{4}"
SLASHES = r"^\s*(?<first>\d\d?)[/-](?<second>\d\d?)[/-]\d"
COMMA = r"(:\d\d),(\d)"  # before the digits of a second, as ISO 8601 allows
FIRST = 100  # rows that show what the others may be
DAY = 86_400.0  # seconds
#: Times of day, and of stopwatches: 10:00:01.250, 18.00.00, 2:00 PM, 125:30:00.
CLOCK = (
    r"^\s*(?:(?<a>\d+):(?<b>[0-5]?\d)(?::(?<c>[0-5]?\d))?(?<rest>[.,]\d+)?|(?<d>\d+)\.(?<e>[0-5]\d)\.(?<f>[0-5]\d))"
    r"(?:\s*(?<half>[AaPp])\.?[Mm]\.?)?\s*$"
)


def parse_dates(series: pl.Series) -> Dates | None:
    """Parse a column of text, or return None if not all of it is dates.

    Parameters
    ----------
    series : polars.Series
        Of strings.

    Returns
    -------
    Dates or None
        In the zone of their offset if all have the same, else in UTC.

    Examples
    --------
    >>> import polars as pl
    >>> parse_dates(pl.Series(["2024-03-01 10:00:00+02:00", "2024-03-01 10:00:01+02:00"])).to_iso()
    ['2024-03-01T10:00:00+02:00', '2024-03-01T10:00:01+02:00']
    """
    series = series.str.replace(COMMA, "$1.$2")
    unit: Literal["us", "ns"] = "ns" if series.str.contains(MORE_THAN_MICROSECONDS).any() else "us"
    short = not series.str.contains(FULL_YEAR).all()
    for layout in DATE_FORMATS:
        if short and layout is None:
            continue
        if _in_layout(series.head(FIRST), layout, unit, short) is None:
            continue
        dates = _in_layout(series, layout, unit, short)
        if dates is not None:
            others = (_in_layout(series, other, unit, short) for other in _other_layouts(layout))
            dates = _nearer(dates, next((other for other in others if other is not None), None))
            return Dates(dates.dt.epoch(unit).to_numpy().astype(f"M8[{unit}]"), _zone(series))
    return None


def _other_layouts(layout: str | None) -> list[str]:
    """Layouts in which days are months, and months days."""
    if layout is None:
        return ["".join(parts) for parts in product(("%m/%d/%Y", "%m-%d-%Y"), CLOCKS)]
    days, months = "%d/%m/", "%m/%d/"
    return [layout.replace(days, months) if days in layout else layout.replace(months, days)]


def _nearer(dates: pl.Series, others: pl.Series | None) -> pl.Series:
    """Of two ways to read dates, that in which samples follow each other sooner.

    Different days without a time of day stay as they are: they may be the first of every month, or the first
    days of January.
    """
    if others is None or (dates.n_unique() == len(dates) and _are_days(dates)):
        return dates
    return min(dates, others, key=_seconds_between)


def _seconds_between(dates: pl.Series) -> float:
    """How far samples are apart, all together."""
    return float(np.abs(np.diff(dates.dt.epoch("s").to_numpy())).sum())


def _are_days(dates: pl.Series) -> bool:
    """Whether dates have no time of day."""
    return bool((dates.dt.truncate("1d") == dates).all())


def _in_layout(
    series: pl.Series, layout: str | None, unit: Literal["us", "ns"], short: bool
) -> pl.Series | None:
    """The dates that a layout reads, with short years or full ones; None if it does not read all of them."""
    if short and layout is not None:
        layout = layout.replace("%Y", "%y")
    try:
        dates = series.str.to_datetime(layout, strict=False, time_unit=unit)
    except Exception:  # polars raises various errors for text that is not a date
        return None
    return None if dates.null_count() else dates


def parse_clock(series: pl.Series) -> Array | None:
    """Seconds since midnight of a column of times of day, or None if not all of it is such.

    Two numbers are hours and minutes, unless others in the column have three, or the first exceeds 23.

    Examples
    --------
    >>> import polars as pl
    >>> parse_clock(pl.Series(["18.00.00", "18.00.01"])), parse_clock(pl.Series(["1:30 PM", "12:05 AM"]))
    (array([64800., 64801.]), array([48600.,   300.]))
    >>> parse_clock(pl.Series(["59:30.5", "1:00:00.0"]))
    array([3570.5, 3600. ])
    """
    series = series.str.strip_chars("' ")
    if not len(series) or not series.head(FIRST).str.contains(CLOCK).all():
        return None
    found = series.str.extract_groups(CLOCK).struct
    first, second, third = (  # hours, minutes and seconds
        found.field(colon).fill_null(found.field(point)).cast(float).to_numpy()
        for colon, point in (("a", "d"), ("b", "e"), ("c", "f"))
    )
    if np.isnan(first).any():
        return None
    rest = found.field("rest").str.replace(",", ".", literal=True).cast(float).fill_null(0.0).to_numpy()
    short = np.isnan(third)
    if not short.all() or rest.any() or first.max() > 23:  # hours may be left out, but not seconds
        first, second, third = (
            np.where(short, values, others)
            for values, others in ((0.0, first), (first, second), (second, third))
        )
    hours = _of_24(first, found.field("half").str.to_lowercase())
    return None if hours is None else np.asarray(3600 * hours + 60 * second + np.nan_to_num(third) + rest)


def _of_24(hours: Array, half: pl.Series) -> Array | None:
    """Hours since midnight, of a clock of twelve hours if there is AM or PM; None if they contradict."""
    if half.null_count() == len(half):
        return hours
    if half.null_count() or hours.min() < 1 or hours.max() > 12:
        return None
    return np.asarray(hours % 12 + 12 * (half == "p").to_numpy())


def running(clock: Array) -> Array:
    """Times of day that go on past midnight.

    Examples
    --------
    >>> running(np.array([86_399.0, 0.0, 1.0]))
    array([86399., 86400., 86401.])
    """
    if not len(clock) or clock.max() >= DAY:
        return clock
    nights = np.diff(clock, prepend=clock[0]) < -DAY / 2
    return clock + DAY * np.cumsum(nights)


def _zone(series: pl.Series) -> str:
    """The offset that all dates share, "UTC" if they have different ones, empty if they have none."""
    offsets = _offsets(series)
    if len(offsets) != 1:
        return "UTC" if offsets else ""
    offset = offsets[0]
    return "UTC" if offset in ("Z", "+00:00", "+0000") else f"{offset[:3]}:{offset[-2:]}"


def _offsets(series: pl.Series) -> list[str]:
    """The different offsets at the ends of dates."""
    return series.str.extract(OFFSET).drop_nulls().unique().to_list()


def read_stamps(series: pl.Series) -> tuple[Dates | Array | None, list[str]]:
    """Dates, or times of day in seconds, if all of a column of text is such; else None; and notes."""
    dates = parse_dates(series)
    return (parse_clock(series), []) if dates is None else (dates, note_dates(series, dates))


def note_dates(series: pl.Series, dates: Dates) -> list[str]:
    """Say so if the offset from UTC changes, as dates have only one, and if a day could be the month."""
    notes = []
    if dates.zone == "UTC" and len(_offsets(series)) > 1:
        notes.append(f"column {series.name!r} has several offsets from UTC: its dates are in UTC")
    if (months_first := _begins_with_months(series, dates)) is not None:
        read, other = ("month/day/year", "day/month/year")[:: 1 if months_first else -1]
        notes.append(
            f"column {series.name!r} was read as {read}; if it is {other}, write its dates as year-month-day"
        )
    return notes


def _begins_with_months(series: pl.Series, dates: Dates) -> bool | None:
    """Whether dates with slashes or dashes were read with the month first; None if there is one way only."""
    parts = series.str.extract_groups(SLASHES).struct
    first, second = (parts.field(name).cast(float).to_numpy() for name in ("first", "second"))
    different = np.flatnonzero(first != second)
    if not (np.maximum(first, second) <= 12).all() or not len(different):
        return None
    local = dates.local()[different[0]].astype("M8[s]").item()
    return bool(local.day == second[different[0]])
