"""Reads a ``segments.csv`` that was corrected by hand, in a spreadsheet or in the report."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from seqspan._core.spans import Division, edge_times
from seqspan._core.text import label_of, name_label, printable
from seqspan._core.types import Array

REQUIRED = ("start", "end", "label")
IGNORED = ("start_time", "end_time", "confidence")  # computed again
MAX_BYTES = 2**26
TIME_TOLERANCE = 1e-6  # relative; tables have ten digits


@dataclass(frozen=True)
class Row:
    """A row of the table: which line it is, what it covers, its label and the times that it states."""

    line: int
    start: int
    end: int
    label: str
    times: tuple[str, str]

    @property
    def words(self) -> str:
        """The row in an error message."""
        return f"line {self.line} ({self.start} to {self.end})"


@dataclass(frozen=True, eq=False)
class Corrections:
    """Spans as they were corrected.

    Parameters
    ----------
    division : Division
    notes : tuple of str
        What the user should know.
    """

    division: Division
    notes: tuple[str, ...] = ()


def read_corrections(path: Path, times: Array) -> Corrections:
    r"""Read corrected spans. ``start`` and ``end`` decide; times are those of the recording.

    Parameters
    ----------
    path : path
        CSV with the columns ``start``, ``end`` and ``label``, in any order and with any of the other columns
        of ``segments.csv``. Labels are numbers, letters (A, B, ...) or names.
    times : array of shape (n_samples,)
        Times of the samples.

    Returns
    -------
    Corrections

    Raises
    ------
    ValueError
        If columns are missing or unknown, or if the spans do not cover every sample exactly once.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "corrected.csv"
    ...     _ = path.write_text("start,end,label\n0,3,A\n3,5,B\n")
    ...     read_corrections(path, np.arange(5.0)).division.boundaries
    array([3])
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"at most {MAX_BYTES:,} bytes are allowed; got {path.stat().st_size:,}.")
        rows = sorted(_read_rows(path.read_text(encoding="utf-8-sig")), key=lambda row: row.start)
        _check_cover(rows, len(times))
        labels, renamed = _number_labels([row.label for row in rows])
    except ValueError as error:
        raise ValueError(f"{printable(str(path))}: not a table of spans: {error}") from error
    boundaries = np.array([row.start for row in rows[1:]], dtype=np.intp)
    division = Division(boundaries, np.array(labels, dtype=np.intp))
    return Corrections(division, (*_note_times(rows, times), *renamed))


def _read_rows(text: str) -> list[Row]:
    """Rows of the table; commas, semicolons or tabs separate the columns."""
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(cells)]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}.") from error
    if not lines:
        raise ValueError("it is empty.")
    header = [name.lower() for name in lines[0][1]]
    _check_header(header)
    if len(lines) == 1:
        raise ValueError("it has a header but no rows.")
    return [_read_row(line, header, cells) for line, cells in lines[1:]]


def _check_header(header: list[str]) -> None:
    """Refuse a table without the columns that decide, or with columns that mean nothing here."""
    known = ", ".join((*REQUIRED, *IGNORED))
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        raise ValueError(f"the columns {', '.join(REQUIRED)} are needed; {', '.join(missing)} not found.")
    unknown = [repr(name) for name in header if name not in (*REQUIRED, *IGNORED)]
    if unknown:
        raise ValueError(f"unknown columns {', '.join(unknown)}; known are {known}.")
    twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
    if twice:
        raise ValueError(f"the column {twice[0]} is there {header.count(twice[0])} times.")


def _read_row(line: int, header: list[str], cells: list[str]) -> Row:
    """Read one row."""
    if len(cells) != len(header):
        raise ValueError(f"line {line} has {len(cells)} cells, but the header has {len(header)}.")
    values = dict(zip(header, cells, strict=True))
    if not values["label"]:
        raise ValueError(f"line {line}: label is empty.")
    start, end = (_read_index(line, name, values[name]) for name in ("start", "end"))
    if start >= end:
        raise ValueError(f"line {line}: end must be after start; got {start} to {end}.")
    return Row(line, start, end, values["label"], (values.get("start_time", ""), values.get("end_time", "")))


def _read_index(line: int, name: str, text: str) -> int:
    """A whole number; spreadsheets may write it as 120.0."""
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not number.is_integer():
        raise ValueError(f"line {line}: {name} must be the number of a sample; got {text!r}.")
    return int(number)


def _check_cover(rows: list[Row], n_samples: int) -> None:
    """Refuse spans that leave samples out, or that claim samples twice, or that are not there."""
    for row in rows:
        if row.start < 0 or row.end > n_samples:
            raise ValueError(f"{row.words} is out of range: the recording has samples 0 to {n_samples - 1}.")
    for before, after in pairwise(rows):
        if after.start < before.end:
            raise ValueError(f"{before.words} and {after.words} overlap.")
        if after.start > before.end:
            raise ValueError(_gap(before.end, after.start, f"between {before.words} and {after.words}"))
    if rows[0].start > 0:
        raise ValueError(_gap(0, rows[0].start, f"before {rows[0].words}"))
    if rows[-1].end < n_samples:
        raise ValueError(_gap(rows[-1].end, n_samples, f"after {rows[-1].words}"))


def _gap(start: int, end: int, where: str) -> str:
    samples = f"sample {start} belongs" if end - start == 1 else f"samples {start} to {end - 1} belong"
    return f"{samples} to no span, {where}."


def _number_labels(given: list[str]) -> tuple[list[int], list[str]]:
    """Numbers and letters keep their meaning; every other name gets the next number, and a note."""
    numbers: dict[str, int] = {}
    names = []
    for text in dict.fromkeys(given):
        number = label_of(text)
        if number is None:
            names.append(text)
        else:
            numbers[text] = number
    following = max(numbers.values(), default=-1) + 1
    numbers |= {name: following + place for place, name in enumerate(names)}
    notes = [f"the label {printable(name)!r} is shown as {name_label(numbers[name])}" for name in names]
    return [numbers[text] for text in given], notes


def _note_times(rows: list[Row], times: Array) -> list[str]:
    """Say so if the table states other times than those of its samples, which somebody may have edited."""
    edges = edge_times(times)
    other = [str(row.line) for row in rows if not _agrees(row, edges[row.start], edges[row.end])]
    if not other:
        return []
    lines = f"line {other[0]}" if len(other) == 1 else f"lines {', '.join(other)}"
    return [f"corrected table, {lines}: times were computed again from start and end, which decide"]


def _agrees(row: Row, start: float, end: float) -> bool:
    """Whether the times of a row, as far as it states any, are those of its samples."""
    for text, time in zip(row.times, (start, end), strict=True):
        try:
            stated = float(text)
        except ValueError:
            continue  # no time, or a time stamp
        if abs(stated - time) > TIME_TOLERANCE * max(1.0, abs(time)):
            return False
    return True
