"""Several lines above the rows of a text table: titles, names of the columns in one line or two, units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence as Rows
from dataclasses import dataclass

from seqspan.readers._numbers import NULLS, marks_of
from seqspan.readers._time_names import UNITS, may_be_time

#: What stands below the names of columns, beside the units of times: units, and what loggers write there.
UNIT_LIKE = re.compile(
    r"hh:mm.*|[\[(].*[\])]|[^ ]*[/°%][^ ]*|[mk]?(v|w|a|pa|hz|wh|ohm)|volts?|amps?|[mk]?bar|hpa|mpa|psi|k?nm?"
    r"|m?g|kg|rpm|deg ?[cf]?|[cfk]|ppm|ppb|lux|db|m?l|ts|rn|avg|max|smp|std|tot",
    re.I,
)


@dataclass(frozen=True)
class Heading:
    """What stands above the rows.

    Parameters
    ----------
    n_rows : int
        How many rows of cells that is.
    names : tuple of str
        Names of the columns, all different; empty if there are none.
    place : int
        Which of the rows has the names; -1 for none.
    """

    n_rows: int
    names: tuple[str, ...]
    place: int


def find_heading(rows: Rows[Rows[str]]) -> Heading | None:
    """Find what stands above the rows, if it is more than one line of names, or another one.

    Examples
    --------
    >>> rows = [["Logger 4"], ["Time", "Flow"], ["[ms]", "[l/min]"], ["0", "1.5"], ["10", "1.6"], ["20", "2"]]
    >>> find_heading(rows)
    Heading(n_rows=3, names=('Time [ms]', 'Flow'), place=1)
    >>> find_heading(rows[1:2] + rows[3:]) is None
    True
    """
    body = rows[len(rows) // 2 :]
    width = Counter(map(len, body)).most_common(1)[0][0]
    numeric = [
        place for place in range(width) if _holds_numbers([row[place] for row in body if len(row) == width])
    ]
    if not numeric:
        return None
    kinds = [_kind(row, width, numeric) for row in rows]
    first = kinds.index("sample") if "sample" in kinds else 0
    if "heading" not in kinds[:first]:
        return None
    if "heading" not in kinds[1:first]:
        return _of_one_line(rows[0], width)
    last = first - 1 - kinds[first - 1 :: -1].index("heading")
    filled = [place for place in range(last + 1) if _names_most(rows[place], width, numeric)]
    place = next((each for each in reversed(filled) if not _are_units(rows[each])), (filled or [-1])[0])
    names = _names(rows[: last + 1], place) if filled else ()
    return Heading(last + 1, names, place)


def _of_one_line(row: Rows[str], width: int) -> Heading | None:
    """A line with fewer cells than the rows: a title, or the names of all columns but the first, as of R."""
    if len(row) >= width:
        return None
    names = len(row) == width - 1 and len(set(row)) == len(row) and all(map(_is_word, row))
    return Heading(1, ("", *row) if names else (), 0 if names else -1)


def _is_number(cell: str) -> bool:
    """Whether a cell is a number, however it is written."""
    return bool(marks_of(cell))


def _is_word(cell: str) -> bool:
    """Whether a cell is neither a number nor empty."""
    return cell not in NULLS and not _is_number(cell)


def _holds_numbers(cells: Rows[str]) -> bool:
    """Whether at least half of the cells of a column are numbers."""
    given = [cell for cell in cells if cell not in NULLS]
    return bool(given) and 2 * sum(map(_is_number, given)) >= len(given)


def _kind(row: Rows[str], width: int, numeric: Rows[int]) -> str:
    """Whether a row is a sample, or one of words where numbers are expected; empty if it is neither."""
    if len(row) != width:
        return "heading"
    cells = [row[place] for place in numeric]
    numbers, words = sum(map(_is_number, cells)), sum(map(_is_word, cells))
    if words:
        return "" if numbers else "heading"
    return "sample" if 2 * numbers >= len(cells) else ""


def _names_most(row: Rows[str], width: int, numeric: Rows[int]) -> bool:
    """Whether a row has words above most of the numbers."""
    return len(row) == width and 2 * sum(_is_word(row[place]) for place in numeric) > len(numeric)


def _are_units(row: Rows[str]) -> bool:
    """Whether at least half of the cells that are not empty are units."""
    given = [cell.strip("'").lower() for cell in row if cell not in NULLS]
    units = [cell for cell in given if UNIT_LIKE.fullmatch(cell) or cell in UNITS]
    return 2 * len(units) >= len(given)


def _names(rows: Rows[Rows[str]], place: int) -> tuple[str, ...]:
    """Different names of the columns: with the line above where one is there twice, times with their unit."""
    names = [name.strip("'") for name in rows[place]]
    if place and len(set(names)) < len(names) and len(rows[place - 1]) == len(names):
        above = ""
        for column, cell in enumerate(rows[place - 1]):
            above = cell or above  # a cell may reach over several columns
            names[column] = f"{above} {names[column]}".strip()
    for row in rows[place + 1 : place + 2]:
        for column, cell in enumerate(row[: len(names)]):
            unit = cell.strip("[]()' ").lower()
            if unit in UNITS and may_be_time(names[column]):
                names[column] = f"{names[column]} [{UNITS[unit]}]"
    seen: Counter[str] = Counter()
    for column, name in enumerate(names):
        if seen[name]:
            names[column] = f"{name}_duplicated_{seen[name] - 1}"  # as polars calls them
        seen[name] += 1
    return tuple(names)
