"""Rows of numbers from lines of text that arrive one by one: comma-separated values, or JSON."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field

#: Columns with these names say when a row was measured, not what.
TIMES = {"time", "times", "timestamp", "t", "date", "datetime", "index"}
MISSING = {"", "nan", "na", "n/a", "null", "none", "-"}
DELIMITER = re.compile(r"\s*[,;\t]\s*|\s+")


@dataclass
class RowParser:
    """Turns lines into rows; missing values are those of the row before.

    Parameters
    ----------
    names : list of str
        Of the columns that are used; empty until the first row.
    columns : list of int
        Their places in a line of comma-separated values.
    last : list of float
        The row before; NaN in columns without a value so far.
    n_refused : int
        Lines that were not understood.

    Examples
    --------
    >>> parser = RowParser()
    >>> [parser.parse(line) for line in ("time,a,b", "0,1.5,2", "", "1,,4", '{"a": 3, "b": null}')]
    [None, [1.5, 2.0], None, [1.5, 4.0], [3.0, 4.0]]
    """

    names: list[str] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    last: list[float] = field(default_factory=list)
    n_refused: int = 0

    def parse(self, line: str) -> list[float] | None:
        """The row of a line; None for blank lines, the header, and lines that cannot be understood."""
        line = line.strip().lstrip("\ufeff")
        if not line:
            return None
        try:
            values = self._parse_json(line) if line[0] in "{[" else self._parse_cells(line)
        except ValueError:
            self.n_refused += 1
            return None
        if values is None:
            return None
        self.last = [old if math.isnan(new) else new for new, old in zip(values, self.last, strict=True)]
        return None if any(map(math.isnan, self.last)) else list(self.last)

    def _parse_json(self, line: str) -> list[float]:
        """Values of a JSON object, by name, or of a JSON array, in order."""
        found = json.loads(line)
        if isinstance(found, list):
            found = {f"x{place}": value for place, value in enumerate(found)}
        if not self.names:
            self._use([name for name in found if name.lower() not in TIMES and _is_number(found[name])], [])
        return [_number(found.get(name)) for name in self.names]

    def _parse_cells(self, line: str) -> list[float] | None:
        """Values of cells; the first line names them, if it holds a word in place of a number."""
        cells = [cell.strip().strip('"') for cell in DELIMITER.split(line)]
        if not self.columns:
            header = not self.names and not any(_is_number(cell) for cell in cells)
            names = cells if header else self.names or [f"x{place}" for place in range(len(cells))]
            used = [place for place, name in enumerate(names) if name.lower() not in TIMES]
            if not header and not self.names:
                used = [place for place in used if _is_number(cells[place])]
            self._use([names[place] for place in used], used)
            if header:
                return None
        if len(cells) <= max(self.columns):
            raise ValueError(f"{len(cells)} cells")
        return [_number(cells[place]) for place in self.columns]

    def _use(self, names: list[str], columns: list[int]) -> None:
        """Use these columns from now on."""
        if not names:
            raise ValueError("no numbers")
        self.names, self.columns = names, columns
        self.last = self.last or [math.nan] * len(names)


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
    number = float(cell)
    return number if math.isfinite(number) else math.nan
