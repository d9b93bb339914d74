"""Dates of samples: kept to the last digit, and written as ISO 8601 in the time zone they came in."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from seqspan._core.types import Array, IntArray

Instants = npt.NDArray[np.datetime64]
OFFSET = re.compile(r"(?:Z|([+-])(\d\d):(\d\d))$")  # at the end of a date; a day has no colon
MORE_THAN_MICROSECONDS = re.compile(r"\.\d{7}")
QUARTER = 15  # minutes; clocks change at full quarters of an hour
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNITS = ("s", "ms", "us", "ns")  # in which seconds may be divided
#: Seconds since 1970 of dates from 2001 to 2100: times between them count from 1970.
EPOCH_SECONDS = (978_307_200.0, 4_102_444_800.0)
#: Days since 30 December 1899 of dates from 2000 to 2100, as spreadsheets count them.
SPREADSHEET_DAYS = (36_526.0, 73_051.0)
#: Digits of a date with hours, minutes and seconds, and what fills it up to seconds.
CLOCK_DIGITS = {10: 10_000, 12: 100, 14: 1}
PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


@dataclass(frozen=True, eq=False)
class Dates:
    """The dates of samples.

    Parameters
    ----------
    instants : datetime64 array of shape (n_samples,)
        In UTC if there is a zone, otherwise as the clock on the wall showed them.
    zone : str
        ``"UTC"``, a fixed offset such as ``"+02:00"``, or a name such as ``"Europe/Berlin"``; empty if the
        file does not say.

    Examples
    --------
    >>> dates = Dates(np.array(["2024-03-01T08:00:00.0", "2024-03-01T08:00:00.1"], "M8[us]"), "+02:00")
    >>> dates.to_iso()
    ['2024-03-01T10:00:00.000+02:00', '2024-03-01T10:00:00.100+02:00']
    >>> dates.seconds
    array([0. , 0.1])
    """

    instants: Instants
    zone: str = ""

    @classmethod
    def from_iso(cls, texts: list[str], zone: str = "") -> Dates:
        """Read dates that `to_iso` wrote; the zone is the one they were in."""
        # nanoseconds reach from 1678 to 2262 only, and NumPy says nothing beyond
        unit = "ns" if any(map(MORE_THAN_MICROSECONDS.search, texts)) else "us"
        local = np.array([OFFSET.sub("", text) for text in texts], f"M8[{unit}]")
        return cls(local - np.array([_shift_of(text) for text in texts], "m8[s]"), zone)

    @classmethod
    def since_1970(cls, times: Array, unit: str) -> Dates | None:
        """The dates in UTC, to the microsecond, of times that count from 1970; None if they do not.

        Examples
        --------
        >>> Dates.since_1970(np.array([1.7e12, 1.7e12 + 100]), "ms").to_iso()
        ['2023-11-14T22:13:20.000Z', '2023-11-14T22:13:20.100Z']
        """
        if unit not in PER_SECOND or not len(times):
            return None
        # several recordings each begin anew, in any order
        first, last = times.min() / PER_SECOND[unit], times.max() / PER_SECOND[unit]
        if not EPOCH_SECONDS[0] <= first <= last <= EPOCH_SECONDS[1]:
            return None
        microseconds = np.round(times * (1e6 / PER_SECOND[unit])).astype(np.int64)
        return cls(microseconds.astype("M8[us]"), "UTC")

    @classmethod
    def from_digits(cls, times: Array) -> Dates | None:
        """The dates that numbers such as 20240131 or 20240131235959 spell; None if they spell none.

        Examples
        --------
        >>> Dates.from_digits(np.array([20240131.0, 20240201.0])).to_iso()
        ['2024-01-31', '2024-02-01']
        """
        if not len(times) or not ((times >= 1900_01_01) & (times < 1e14) & (times == np.floor(times))).all():
            return None
        days, clock = times.astype(np.int64), np.zeros(len(times), np.int64)
        n_digits = len(str(days.min()))
        if n_digits in CLOCK_DIGITS:  # hours, also minutes, also seconds
            days, clock = np.divmod(days * CLOCK_DIGITS[n_digits], 10**6)
        if days.max() >= 2101_00_00 or clock.max() >= 24_00_00:
            return None
        parts = (days // 10_000, days // 100 % 100, days % 100)
        return cls.from_parts(*parts, clock // 10_000, clock // 100 % 100, clock % 100)

    @classmethod
    def from_parts(cls, years: npt.NDArray[Any], *parts: npt.NDArray[Any]) -> Dates | None:
        """The dates of years, months, days, hours, minutes and seconds; None if they are none.

        Later parts may be left out. As some tables count the hours of a day from 1 to 24, an hour may be 24.

        Examples
        --------
        >>> Dates.from_parts(np.array([2024.0, 2024.0]), np.array([2.0, 3.0]), np.array([29.0, 1.0])).to_iso()
        ['2024-02-29', '2024-03-01']
        """
        defaults = (1.0, 1.0, 0.0, 0.0, 0.0)[len(parts) :]
        given = [years, *parts, *(np.full(len(years), value) for value in defaults)]
        limits = ((1000, 9999), (1, 12), (1, 31), (0, 24), (0, 59))
        for values, (least, most) in zip(given, limits, strict=False):
            if (
                not (values >= least).all()
                or not (values <= most).all()
                or (values != np.floor(values)).any()
            ):
                return None
        year, month, day, hours, minutes = (values.astype(np.int64) for values in given[:5])
        starts = (12 * (year - 1970) + month - 1).astype("M8[M]")
        instants = starts.astype("M8[D]") + (day - 1)
        if (instants.astype("M8[M]") != starts).any() or not ((given[5] >= 0) & (given[5] < 60)).all():
            return None
        clock = (60 * (60 * hours + minutes)).astype("m8[s]")
        return cls(instants.astype("M8[us]") + clock + microseconds(given[5]))

    @classmethod
    def from_spreadsheet(cls, times: Array) -> Dates | None:
        """The dates, to the millisecond, of days since 30 December 1899; None if they are not of our time.

        Examples
        --------
        >>> Dates.from_spreadsheet(np.array([45000.0, 45000.5])).to_iso()
        ['2023-03-15T00:00:00', '2023-03-15T12:00:00']
        """
        first, last = SPREADSHEET_DAYS
        if not len(times) or not ((times >= first) & (times < last)).all():
            return None
        milliseconds = np.round(times * 86_400_000).astype("m8[ms]")
        return cls(np.datetime64("1899-12-30", "ms") + milliseconds)

    @property
    def seconds(self) -> Array:
        """Seconds since the first sample."""
        ticks = self.instants - self.instants[0]
        return np.asarray(ticks / np.timedelta64(1, "s"))

    def take(self, indices: IntArray) -> Dates:
        """Return the dates of some of the samples."""
        return replace(self, instants=self.instants[indices])

    def edges(self) -> Dates:
        """The dates at which samples start, followed by the one at which the last sample ends."""
        steps = np.diff(self.instants)
        step = np.sort(steps)[len(steps) // 2] if len(steps) else np.timedelta64(1, "s")
        return replace(self, instants=np.append(self.instants, self.instants[-1] + step))

    def local(self) -> Instants:
        """What the clock on the wall showed."""
        return self.instants + self._offsets()

    def to_iso(self) -> list[str]:
        """Write the dates, all with the same number of digits, and with the offset of their zone."""
        local, offsets = self.local(), self._offsets()
        texts: list[str] = np.datetime_as_string(local, _coarsest_unit(local, bool(self.zone))).tolist()
        if not self.zone:
            return texts
        suffixes = {offset: _suffix(offset) for offset in np.unique(offsets).tolist()}
        return [text + suffixes[offset] for text, offset in zip(texts, offsets.tolist(), strict=True)]

    def _offsets(self) -> npt.NDArray[np.timedelta64]:
        """How far the clock on the wall is ahead of UTC, for every sample."""
        if not self.zone or self.zone == "UTC" or OFFSET.fullmatch(self.zone):
            return np.full(len(self.instants), _shift_of(self.zone), "m8[s]")
        zone = ZoneInfo(self.zone)
        minutes = self.instants.astype("M8[m]").astype(np.int64)
        quarters, places = np.unique(minutes // QUARTER, return_inverse=True)
        moments = [EPOCH + timedelta(minutes=QUARTER * int(quarter)) for quarter in quarters]
        shifts = [moment.astimezone(zone).utcoffset() or timedelta() for moment in moments]
        # the sun's time before 1900 is ahead by seconds, too, which ISO 8601 cannot write
        return np.array([60 * round(shift.total_seconds() / 60) for shift in shifts], "m8[s]")[places]


def microseconds(seconds: Array) -> npt.NDArray[np.timedelta64]:
    """Seconds as steps of time, to the microsecond."""
    return np.round(seconds * 1e6).astype("m8[us]")


def _shift_of(text: str) -> int:
    """Seconds of the offset at the end of a date; 0 if it has none."""
    found = OFFSET.search(text)
    if found is None or not found[1]:
        return 0
    sign = -1 if found[1] == "-" else 1
    return sign * (3600 * int(found[2]) + 60 * int(found[3]))


def _suffix(offset: timedelta) -> str:
    """Write an offset as in ISO 8601."""
    minutes = round(offset.total_seconds() / 60)
    if not minutes:
        return "Z"
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def _coarsest_unit(local: Instants, with_offset: bool) -> Any:
    """The coarsest unit in which all dates can be written; days only if there is no offset to write."""
    units = UNITS if with_offset else ("D", *UNITS)
    return next((unit for unit in units if np.array_equal(local.astype(f"M8[{unit}]"), local)), "ns")
