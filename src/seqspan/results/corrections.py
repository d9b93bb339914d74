"""Reads a ``segments.csv`` that was corrected by hand, in a spreadsheet or in the report."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from seqspan._core.dates import Dates
from seqspan._core.spans import UNKNOWN, Division, edge_times
from seqspan._core.text import label_of, printable
from seqspan.recording import Recording
from seqspan.results.naming import is_unknown, name_labels, number_labels

REQUIRED = ("start", "end", "label")
OPTIONAL = ("start_time", "end_time", "confidence", "name", "recording")  # all but names are computed again
MAX_BYTES = 2**26
WHOLE = re.compile(r"^(-?\d+)\.0+$")  # a label as a spreadsheet or a data frame may write it: 1.0
TIME_TOLERANCE = 1e-6  # relative; the report's tables have ten digits
DATE_TOLERANCE = 1e-5  # seconds; the report's dates are rounded


@dataclass(frozen=True)
class Row:
    """A row of the table: which line it is, what it covers, its label, and the times and name it states."""

    line: int
    start: int
    end: int
    label: str
    times: tuple[str, str]
    name: str

    @property
    def title(self) -> str:
        """What the row calls its label: a word in the column of labels is a name, too."""
        return self.word if label_of(self.word) is None else self.name

    @property
    def word(self) -> str:
        """What stands for the label: of an unknown span that somebody has named, its name."""
        return self.name if is_unknown(self.label) and self.name else self.label

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
    names : mapping of int to str
        Names that the table gives to labels; empty for those that have lost theirs.
    """

    division: Division
    notes: tuple[str, ...] = ()
    names: Mapping[int, str] = field(default_factory=dict)


def read_corrections(path: Path, recording: Recording, names: Sequence[str] = ()) -> Corrections:
    r"""Read corrected spans. ``start`` and ``end`` decide; times are those of the recording.

    Parameters
    ----------
    path : path
        CSV with the columns ``start``, ``end`` and ``label``, in any order and with any of the other columns
        of ``segments.csv``. Labels are numbers, letters (A, B, ...) or names.
    recording : Recording
        What the spans are of; its times count.
    names : sequence of str
        Names that the labels have so far.

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
    >>> walk = Recording(X=np.zeros((5, 1)), times=np.arange(5.0), time_unit="s", feature_names=("x",),
    ...                  kind="table")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "corrected.csv"
    ...     _ = path.write_text("start,end,label,name\n0,3,A,walk\n3,5,B,run\n")
    ...     found = read_corrections(path, walk)
    >>> found.division.boundaries, found.names
    (array([3]), {0: 'walk', 1: 'run'})
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"at most {MAX_BYTES:,} bytes are allowed; got {path.stat().st_size:,}.")
        rows = sorted(_read_rows(_read_text(path)), key=lambda row: row.start)
        _check_cover(rows, len(recording))
        labels = number_labels([row.word for row in rows], names)
        known = [(row, label) for row, label in zip(rows, labels, strict=True) if label != UNKNOWN]
        stated = [(row.line, label, row.title) for row, label in known]
        given, renamed = name_labels(stated, names)
    except ValueError as error:
        raise ValueError(f"{printable(str(path))}: not a table of spans: {error}") from error
    stated_starts = np.array([row.start for row in rows], dtype=np.intp)
    starts = np.union1d(stated_starts, recording.joins).astype(np.intp)  # no span crosses into a recording
    places = np.searchsorted(stated_starts, starts, side="right") - 1
    division = Division(starts[1:], np.array(labels, dtype=np.intp)[places])
    return Corrections(division, (*_note_times(rows, recording), *renamed), given)


def _read_text(path: Path) -> str:
    """The text of a table."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text; save it as CSV UTF-8.") from error


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
    known = ", ".join((*REQUIRED, *OPTIONAL))
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        raise ValueError(f"the columns {', '.join(REQUIRED)} are needed; {', '.join(missing)} not found.")
    unknown = [repr(name) for name in header if name not in (*REQUIRED, *OPTIONAL)]
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
    times = values.get("start_time", ""), values.get("end_time", "")
    label = WHOLE.sub(r"\1", values["label"])
    return Row(line, start, end, label, times, values.get("name", ""))


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


def _note_times(rows: list[Row], recording: Recording) -> list[str]:
    """Say so if the table states other times than those of its samples, which somebody may have edited."""
    if len(recording.lengths) > 1:  # each has times of its own
        return []
    edges = edge_times(recording.times)
    dates = None if recording.dates is None else recording.dates.edges()
    other = [
        str(row.line)
        for row in rows
        for text, sample in zip(row.times, (row.start, row.end), strict=True)
        if _differs(text, float(edges[sample]), None if dates is None else dates.take(np.array([sample])))
    ]
    other = list(dict.fromkeys(other))
    if not other:
        return []
    lines = f"line {other[0]}" if len(other) == 1 else f"lines {', '.join(other)}"
    return [f"corrected table, {lines}: times were computed again from start and end, which decide"]


def _differs(text: str, time: float, date: Dates | None) -> bool:
    """Whether a cell states another time than that of its sample; cells that cannot be read state none."""
    try:
        return abs(float(text) - time) > TIME_TOLERANCE * max(1.0, abs(time))
    except ValueError:
        pass
    if date is None or not text:
        return False
    try:
        away = Dates.from_iso([text]).instants - date.instants
    except ValueError:  # a date as a spreadsheet writes it
        return False
    return bool(abs(away[0] / np.timedelta64(1, "s")) > DATE_TOLERANCE)
