"""Dates as tables write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from seqspan._core.dates import Dates

if TYPE_CHECKING:
    import polars as pl

#: Formats that are tried in order; None stands for ISO 8601 and its relatives.
DATE_FORMATS = (
    *(None, "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f %z"),
    *("%d.%m.%Y %H:%M:%S%.f", "%d.%m.%Y %H:%M", "%d.%m.%Y"),
    *("%d/%m/%Y %H:%M:%S%.f", "%d/%m/%Y %H:%M", "%d/%m/%Y"),
    *("%m/%d/%Y %H:%M:%S%.f", "%m/%d/%Y %H:%M", "%m/%d/%Y", "%Y%m%dT%H%M%S%.f"),
)
OFFSET = r":\d\d.*?(Z|[+-]\d\d:?\d\d)$"  # at the end of a date with a time of day
MORE_THAN_MICROSECONDS = r"\.\d{7}"
# at the beginning, or after a day and a month; without it, %Y would read the year 24
FULL_YEAR = r"^\s*(\d\d?[./-]\d\d?[./-])?\d{4}"
SLASHES = r"^\s*(?<first>\d\d?)[/-](?<second>\d\d?)[/-]\d"


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
    unit: Literal["us", "ns"] = "ns" if series.str.contains(MORE_THAN_MICROSECONDS).any() else "us"
    short = not series.str.contains(FULL_YEAR).all()
    for layout in DATE_FORMATS:
        if short:
            if layout is None:
                continue
            layout = layout.replace("%Y", "%y")
        try:
            dates = series.str.to_datetime(layout, strict=False, time_unit=unit)
        except Exception:  # polars raises various errors for text that is not a date
            continue
        if not dates.null_count():
            return Dates(dates.dt.epoch(unit).to_numpy().astype(f"M8[{unit}]"), _zone(series))
    return None


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


def note_dates(series: pl.Series, dates: Dates) -> list[str]:
    """Say so if the offset from UTC changes, as dates have only one, and if a day could be the month."""
    notes = []
    if dates.zone == "UTC" and len(_offsets(series)) > 1:
        notes.append(f"column {series.name!r} has several offsets from UTC: its dates are in UTC")
    if _may_begin_with_months(series):
        notes.append(
            f"column {series.name!r} was read as day/month/year; if it is month/day/year, write its dates "
            "as year-month-day"
        )
    return notes


def _may_begin_with_months(series: pl.Series) -> bool:
    """Whether dates with slashes or dashes, read as days and months, could be months and days, too."""
    parts = series.str.extract_groups(SLASHES).struct
    first, second = (parts.field(name).cast(int) for name in ("first", "second"))
    months = first.is_not_null() & (first <= 12) & (second <= 12)
    return bool(months.all() and (first != second).any())
