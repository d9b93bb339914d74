"""Rows of numbers from lines of text that arrive one by one: comma-separated values, or JSON."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass, field

from seqspan.readers._numbers import NULLS, to_number
from seqspan.readers._stamps import find_parts
from seqspan.readers._time_names import TIME_NAME, is_time

MISSING = {word.lower() for word in NULLS}
DELIMITERS = ("\t", ";", ",")  # the first that a line contains; otherwise spaces


@dataclass
class RowParser:
    """Turns lines into rows; missing values are those of the row before.

    Parameters
    ----------
    wanted : list of str
        Names of the columns to use; empty for all that hold numbers. Without a header, all are used.
    header : list of str
        Cells of the header; empty without one.
    names : list of str
        Of the columns that are used; empty until the first row.
    columns : list of int
        Their places in a line of comma-separated values.
    last : list of float
        The row before; NaN in columns without a value so far.
    n_refused : int
        Lines that were not understood.
    n_unused : int
        Columns that hold numbers and are not wanted.
    named : bool
        Whether the names come from the source.
    comment : list of str
        Cells of the last comment before the first row, which may be the names of the columns.
    delimiter : str
        That of the header or the first row, if it is no space: later lines may have others within a cell.
    times : list of str
        Names of columns that were left out because they are times.
    codes : list of float
        Numbers that stand for missing values.

    Examples
    --------
    >>> parser = RowParser()
    >>> [parser.parse(line) for line in ("time,a,b", "0,1.5,2", "", "1,,4", '{"a": 3, "b": null}')]
    [None, [1.5, 2.0], None, [1.5, 4.0], [3.0, 4.0]]
    """

    wanted: list[str] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    last: list[float] = field(default_factory=list)
    n_refused: int = 0
    n_unused: int = 0
    named: bool = False
    comment: list[str] = field(default_factory=list)
    delimiter: str = ""
    times: list[str] = field(default_factory=list)
    codes: list[float] = field(default_factory=list)

    def parse(self, line: str) -> list[float] | None:
        """The row of a line; None for blank lines, the header, and lines that cannot be understood."""
        line = line.strip(" \r\n\ufeff")
        if not line or line.isspace():
            return None
        try:
            values = self._parse_json(line) if line[0] in "{[" else self._parse_cells(line)
        except (ValueError, RecursionError, csv.Error):  # brackets without end, cells without end
            self.n_refused += 1
            return None
        if values is None:
            return None
        if self.codes:
            values = [math.nan if value in self.codes else value for value in values]
        if not math.isfinite(sum(values)):  # of all values at once, which is faster
            values = [old if math.isnan(new) else new for new, old in zip(values, self.last, strict=True)]
        self.last = values
        return None if any(map(math.isnan, values)) else values

    def _parse_json(self, line: str) -> list[float]:
        """Values of a JSON object, by name, or of a JSON array, in order."""
        found = json.loads(line)
        named = isinstance(found, dict)
        if not named:
            found = {f"x{place}": value for place, value in enumerate(found)}
        if not self.names:
            cells = list(found)
            self._choose(cells, [name for name in cells if _is_number(found[name])], named)
            self.columns = []
        shorter = not named and self.names[-1] not in found
        if shorter or not any(name in found for name in self.names):  # not a row with missing values
            raise ValueError("other columns")
        return [_number(found.get(name)) for name in self.names]

    def _parse_cells(self, line: str) -> list[float] | None:
        """Values of cells; the first line names them, if none of its cells is a number."""
        if line.startswith("#"):
            self.comment = self.comment if self.columns else _split(line.lstrip("# "))
            return None
        cells = _split(line, self.delimiter)
        if not self.columns and not self._name_columns(line, cells):
            return None
        if len(cells) <= max(self.columns):
            raise ValueError(f"{len(cells)} cells")
        try:
            values = [float(cells[place]) for place in self.columns]
        except ValueError:
            if self.header and set(self.names) <= set(cells):  # the header again, as in files put together
                self.columns = [cells.index(name) for name in self.names]
                return None
            return [_number(cells[place]) for place in self.columns]
        return values if math.isfinite(sum(values)) else [_number(cells[place]) for place in self.columns]

    def _name_columns(self, line: str, cells: list[str]) -> bool:
        """Name the columns by a header, or for the first row; whether it is that."""
        delimiter = self.delimiter or next((each for each in DELIMITERS if each in line), "")
        if not (self.header or self.names) and _is_header(cells):
            self.header, self.delimiter = cells, delimiter
            return False
        if not self.header and len(self.comment) == len(cells) > 1 and _is_header(self.comment):
            self.header = self.comment
        names = self.header or self.names or [f"x{place}" for place in range(len(cells))]
        if len(cells) < len(names):
            raise ValueError(f"{len(cells)} cells")
        found = [name for name, cell in zip(names, cells, strict=False) if _is_number(cell)]
        self._choose(names, found, bool(self.header) or self.named)
        self.delimiter = delimiter
        return True

    def _choose(self, names: list[str], numbers: list[str], named: bool) -> None:
        """Use the columns that are wanted from now on, of those that hold numbers."""
        is_timed = any(is_time(name) for name in names)  # then T may be a temperature
        self.times = [name for name in numbers if TIME_NAME.fullmatch(name)]
        self.times = [name for name in self.times if is_time(name) or not is_timed]
        calendar = find_parts(numbers, "year")
        self.times += calendar if len(calendar) > 1 else ()
        used = [name for name in numbers if name and name not in self.times]
        if named and self.wanted:
            wanted = [name for name in numbers if name in set(self.wanted)]
            self.n_unused, used = len(set(used) - set(wanted)), wanted
        if not used:
            raise ValueError("no numbers")
        self.names, self.columns = used, [names.index(name) for name in used]
        self.named = named
        self.last = self.last or [math.nan] * len(used)


def _split(line: str, usual: str = "") -> list[str]:
    """The cells of a line. Between tabs or semicolons, a comma alone is a decimal comma."""
    delimiter = next((each for each in (*usual, *DELIMITERS) if each in line), None)
    if '"' in line:
        cells = next(csv.reader([line], delimiter=delimiter or " ", skipinitialspace=True))
    else:
        cells = line.split(delimiter)
    if delimiter in ("\t", ";") and "," in line:
        cells = [cell if "." in cell else cell.replace(",", ".") for cell in cells]
    return [cell.strip() for cell in cells]


def _is_header(cells: list[str]) -> bool:
    """Whether there is a word among the cells, and no number."""
    words = [cell for cell in cells if not _is_number(cell)]
    return bool(words) and all(cell.lower() in MISSING for cell in cells if cell not in words)


def _is_number(cell: object) -> bool:
    """Whether a cell holds a number, or nothing where one is missing."""
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def _number(cell: object) -> float:
    """The value of a cell; NaN where it is missing or infinite."""
    if cell is None or (isinstance(cell, str) and cell.lower() in MISSING):
        return math.nan
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        raise ValueError(f"{cell!r} is not a number")
    try:
        number = float(cell)
    except OverflowError:  # an int of JSON
        return math.nan
    except ValueError:  # "1,234.5"
        number = to_number(str(cell), ".")
    return number if math.isfinite(number) else math.nan
