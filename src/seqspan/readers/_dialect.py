"""Detection of how a text table is written: encoding, delimiter, decimal mark and header row."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence as Rows
from dataclasses import dataclass, replace
from itertools import zip_longest

from seqspan._core.text import count_of
from seqspan.readers._heading import Heading, find_heading
from seqspan.readers._numbers import NULLS, Evidence, is_decorated, marks_of

#: What spreadsheets write for a cell without a value; at the beginning of a line, it begins no comment.
SPREADSHEET_ERROR = re.compile(rb"^#(?:N/A|DIV/0!|REF!|VALUE!|NAME\?|NUM!|NULL!)", re.M)
SAMPLE_BYTES = 2**18  # bytes at the start of the file that are looked at
SAMPLE_LINES = 200  # lines at the start that are looked at
DELIMITERS = (",", ";", "\t", "|", " ")
#: Numbers that polars can parse, by decimal mark.
PLAIN = {
    ".": re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?inf", re.I),
    ",": re.compile(r"[+-]?([0-9]+,?[0-9]*|,[0-9]+)([eE][+-]?[0-9]+)?"),
}


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Parameters
    ----------
    encoding : str
    delimiter : str
        A space stands for any run of spaces and tabs.
    decimal : str
        ``"."`` or ``","``.
    header : bool
        Whether the first line holds the column names.
    comment : str or None
        Start of comment lines.
    nulls : tuple of str
        Words that stand for a missing value in the first rows; an empty cell always does.
    ends_with_return : bool
        Whether lines end with a carriage return alone, as on old Macs.
    names : tuple of str
        Names of the columns, if a comment above the rows has them, as NumPy's ``savetxt`` writes it, or one
        of several lines.
    n_above : int
        How many lines stand above the rows, if they are more than one line of names.
    about : str
        Where the names come from, if not from the first line.
    """

    encoding: str
    delimiter: str
    decimal: str
    header: bool
    comment: str | None
    nulls: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    ends_with_return: bool = False
    n_above: int = 0
    about: str = ""


def find_dialect(
    sample: bytes, *, whole: bool, delimiters: Rows[str] = DELIMITERS, first_is_header: bool | None = None
) -> tuple[Dialect, list[list[str]]]:
    r"""Detect how a table is written.

    Parameters
    ----------
    sample : bytes
        The start of the file.
    whole : bool
        Whether the sample is the whole file. If not, its last line may be incomplete.
    delimiters : sequence of str
        Candidates.
    first_is_header : bool, optional
        Whether the first line holds the column names, if that is known.

    Returns
    -------
    dialect : Dialect
    rows : list of list of str
        The first rows, split, header included.

    Examples
    --------
    >>> dialect, rows = find_dialect(b"depth;quartz\n0,5;1,25\n", whole=True)
    >>> dialect.delimiter, dialect.decimal, dialect.header
    (';', ',', True)
    """
    encoding = find_encoding(sample)
    text = sample.decode(encoding, "replace")
    lines, ends_with_return = text.splitlines(), "\r" in text and "\n" not in text
    comment = "#" if lines and _is_comment(lines[0]) else None
    if comment:
        lines = [without_errors(line.encode()).decode() for line in lines]
    used = _places(lines if whole else lines[:-1], comment)
    above = [line for line in lines[: used[0]] if comment and line.strip()]
    lines = [lines[place] for place in used]
    best = max(delimiters, key=lambda delimiter: _score(split(lines, delimiter)))
    rows = split(lines, best)
    seen = {cell for row in rows for cell in row}
    nulls = tuple(word for word in NULLS if word and word in seen)
    header = find_header(rows) if first_is_header is None else first_is_header
    dialect = Dialect(encoding, best, find_decimal(rows, best), header, comment, nulls, (), ends_with_return)
    if first_is_header is not None:
        return dialect, rows
    if (heading := find_heading(rows)) is not None:
        counts = count_lines(lines, best)
        line = 1 + used[counts[heading.place] - 1]  # numbers of lines count from 1
        dialect = replace(dialect, n_above=used[counts[heading.n_rows - 1]])
        return _below(dialect, heading, line, rows), rows[heading.n_rows :]
    return (dialect if header else _named_above(dialect, above, len(rows[0]))), rows


def _places(lines: Rows[str], comment: str | None) -> list[int]:
    """Places of the first lines that are neither blank nor comments."""
    places = [
        place
        for place, line in enumerate(lines)
        if line.strip() and not (comment and line.startswith(comment))
    ]
    if not places:
        raise ValueError("expected lines of text; found none, or one that is too long to be a row.")
    return places[:SAMPLE_LINES]


def _named_above(dialect: Dialect, above: Rows[str], n_columns: int) -> Dialect:
    """The dialect with the names of the columns in the last comment above the rows that fits, if one does."""
    found = (_names_in(line, dialect.delimiter, n_columns) for line in reversed(above))
    names = next(filter(None, found), ())
    return replace(dialect, names=names, about="names of the columns from a comment" if names else "")


def _below(dialect: Dialect, heading: Heading, line: int, rows: Rows[Rows[str]]) -> Dialect:
    """The dialect of the rows below a heading whose names end at this line."""
    below = rows[heading.n_rows :]
    about = f"names of the columns from line {line}" if heading.names else "no names of the columns"
    others = [row for place, row in enumerate(rows[: heading.n_rows]) if place != heading.place]
    words = next((cell for row in others for cell in row if cell), "")
    if others:
        about += f"; left out {count_of(len(others), 'other line')} above the rows, such as {words!r}"
    return replace(
        dialect,
        header=False,
        names=heading.names,
        decimal=find_decimal(list(map(list, below)), dialect.delimiter),
        about=about,
    )


def count_lines(lines: Rows[str], delimiter: str) -> list[int]:
    """How many lines there are up to the end of each row, because a cell in quotes may have several."""
    if delimiter == " ":
        return list(range(1, len(lines) + 1))
    reader = csv.reader(lines, delimiter=delimiter)
    return [reader.line_num for _ in reader]


def without_errors(text: bytes) -> bytes:
    r"""Write the errors of spreadsheets as missing values where lines begin with them.

    Examples
    --------
    >>> without_errors(b"# log\n#DIV/0!,1\n")
    b'# log\nNA,1\n'
    """
    return SPREADSHEET_ERROR.sub(b"NA", text)


def _is_comment(line: str) -> bool:
    """Whether a line is a comment."""
    return line.lstrip().startswith("#")


def _names_in(comment: str, delimiter: str, n_columns: int) -> tuple[str, ...]:
    """Names of the columns in a comment: as many words as there are columns, all different, no numbers."""
    names = split([comment.lstrip("# \t")], delimiter)[0]
    fits = len(names) == n_columns > 1 and len(set(names)) == n_columns
    return tuple(names) if fits and not any(is_number(name) or name in NULLS for name in names) else ()


def find_encoding(sample: bytes) -> str:
    """Detect UTF-8 and UTF-16 by their byte order marks; otherwise UTF-8 if it is valid, else cp1252."""
    if sample.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(sample)  # an incomplete character at the end of the sample is fine
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def split(lines: Rows[str], delimiter: str) -> list[list[str]]:
    """Split lines into cells, respecting quotes."""
    if delimiter == " ":
        return [line.split() for line in lines]
    return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]


def is_number(cell: str) -> bool:
    """Whether a cell is a number, however people write it."""
    return bool(PLAIN["."].fullmatch(cell) or marks_of(cell))


def _score(rows: list[list[str]]) -> tuple[float, float, float]:
    """Rate a delimiter: rows should have the same number of cells, more than one, most of them numbers."""
    widths = [len(row) for row in rows]
    common = max(set(widths), key=widths.count)
    rows, widths = rows[widths.index(common) :], widths[widths.index(common) :]  # titles may stand above
    cells = [cell for row in rows[1:] or rows for cell in row if cell not in NULLS]
    numbers = sum(map(is_number, cells)) / max(len(cells), 1)
    same = widths.count(common) / len(widths)
    return (float(common > 1 and same > 0.8), round(numbers, 1), same)


def find_decimal(rows: list[list[str]], delimiter: str) -> str:
    """Choose the decimal mark on which the cells agree; else the comma, if no cell has a point.

    Between commas, a comma is never the decimal mark of the whole table; single columns may be quoted.
    """
    if delimiter == ",":
        return "."
    cells = [cell for row in rows for cell in row if is_number(cell)]
    with_comma = any("," in cell for cell in cells)
    with_point = any("." in cell for cell in cells)
    return Evidence.of_cells(cells).mark or ("," if with_comma and not with_point else ".")


def find_header(rows: list[list[str]]) -> bool:
    """Whether the first line is a header: words above numbers, or nothing but words."""
    columns = list(zip_longest(*rows, fillvalue=""))
    words = [_is_word(column[0], column[1:]) for column in columns[: len(rows[0])]]
    if all(words):
        return True
    return any(
        is_word and any(map(is_number, column[1:])) for is_word, column in zip(words, columns, strict=False)
    )


def _is_word(cell: str, below: Rows[str]) -> bool:
    """Whether a cell is a name: not a number, or, as "25%", a number unlike all those below it."""
    if cell in NULLS or PLAIN["."].fullmatch(cell):
        return False
    return not is_number(cell) or (is_decorated(cell) and not any(map(is_decorated, below)))
