"""Text tables (CSV, TSV): encoding, delimiter, decimal mark and header are detected; polars parses."""

from __future__ import annotations

import csv
import gzip
import io
import mmap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seqspan._core.memory import require_library, require_memory
from seqspan._core.text import count_of
from seqspan._core.types import Array
from seqspan.readers._dialect import (
    DELIMITERS,
    PLAIN,
    SAMPLE_BYTES,
    SAMPLE_LINES,
    Dialect,
    find_dialect,
    is_number,
    without_errors,
)
from seqspan.readers._limits import check_bytes, is_gzip, is_utf8
from seqspan.readers._numbers import NULLS, NUMERIC_SHARE, Evidence, WrittenColumn
from seqspan.readers._registry import Reader
from seqspan.readers._table import Columns, TableOptions, table_to_recording, with_text
from seqspan.recording import Recording

if TYPE_CHECKING:
    import polars as pl

BOOLEANS = {"true", "false"}
MEMORY_PER_BYTE = 4  # bytes of memory per byte of text: "1," takes 2 as text and 8 as a number
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space"}


@dataclass(frozen=True)
class CsvOptions(TableOptions):
    """How a text table is written, if it is not detected correctly.

    Parameters
    ----------
    missing, time, labels, columns, exclude, missing_values
        As for every table.
    delimiter : str, optional
        One character; a space stands for any run of spaces.
    decimal : {".", ","}, optional
        The other mark can then only separate thousands.
    header : bool, optional
        Whether the first line holds the column names.
    """

    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delimiter is not None and (len(self.delimiter) != 1 or ord(self.delimiter) > 127):
            raise ValueError(f"delimiter must be one ASCII character; got {self.delimiter!r}.")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal must be '.' or ','; got {self.decimal!r}.")


def load_csv(path: Path, options: CsvOptions, max_bytes: int) -> Recording:
    """Read a text table."""
    check_bytes(path.stat().st_size, max_bytes, "the file")
    require_library("polars")
    require_memory(MEMORY_PER_BYTE * path.stat().st_size, "This table", "Read a part of it.", loads="polars")
    source: Path | bytes = _unpack(path, max_bytes)
    dialect, rows = _dialect(source, options)
    columns = _cells_by_column(rows[1:] if dialect.header else rows, len(rows[0]))
    numeric = [column for column in columns if _is_numeric(column)]
    evidence = Evidence.of_cells([cell for column in numeric for cell in column])
    table = _Table(source, dialect, evidence, options.decimal)
    return table_to_recording(_parse(table, columns), options)


@dataclass(frozen=True)
class _Table:
    """A text table, and what its first rows say about it.

    Parameters
    ----------
    source : Path or bytes
    dialect : Dialect
    evidence : Evidence
        For the decimal mark.
    decimal : str or None
        The decimal mark, if the user chose it.
    """

    source: Path | bytes
    dialect: Dialect
    evidence: Evidence
    decimal: str | None


def _unpack(path: Path, max_bytes: int) -> Path | bytes:
    """Return the path of a plain file, or the content of a gzip file, up to the limit."""
    with path.open("rb") as file:
        if not is_gzip(file.read(2)):
            return path
    with gzip.open(path, "rb") as packed:
        content = packed.read(max_bytes + 1)
    check_bytes(len(content), max_bytes, "the unpacked file")
    return content


def _dialect(source: Path | bytes, options: CsvOptions) -> tuple[Dialect, list[list[str]]]:
    """Detect the dialect; the user's options take precedence."""
    if isinstance(source, bytes):
        sample = source[: SAMPLE_BYTES + 1]
    else:
        with source.open("rb") as file:
            sample = file.read(SAMPLE_BYTES + 1)
    whole = len(sample) <= SAMPLE_BYTES
    delimiters = (options.delimiter,) if options.delimiter else DELIMITERS
    dialect, rows = find_dialect(
        sample[:SAMPLE_BYTES], whole=whole, delimiters=delimiters, first_is_header=options.header
    )
    return replace(dialect, decimal=options.decimal or dialect.decimal), rows


def _cells_by_column(rows: list[list[str]], width: int) -> list[list[str]]:
    """The cells of the first rows by column, without missing ones."""
    cells: list[list[str]] = [[] for _ in range(width)]
    for row in rows:
        for column, cell in zip(cells, row, strict=False):
            if cell not in NULLS:
                column.append(cell)
    return cells


def _is_numeric(cells: list[str]) -> bool:
    """Guess from its first cells whether a column is numeric; one without any value counts as numeric."""
    return sum(map(is_number, cells)) >= NUMERIC_SHARE * len(cells)


def _parse(table: _Table, columns: list[list[str]]) -> Columns:
    """Parse with the guessed column types; if a later cell does not fit them, parse everything as text."""
    import polars as pl

    dialect = table.dialect
    try:
        certain = _mark_is_certain(table)
        plain = [certain and _is_plain(cells, dialect.decimal) for cells in columns]
        frame = _read(table.source, dialect, plain)
    except pl.exceptions.PanicException as error:  # not a subclass of Exception
        raise ValueError(f"not a text table: {error}") from error
    except pl.exceptions.ComputeError:
        if dialect.encoding == "utf-8" and not _is_utf8(table.source):
            return _parse(replace(table, dialect=replace(dialect, encoding="cp1252")), columns)
        frame = _read_as_text(table.source, dialect)
        written = frame.columns
    else:
        written = [name for name, cells in zip(frame.columns, columns, strict=False) if _is_numeric(cells)]
    frame, left_out = _trim(frame, dialect)
    written = [name for name in written if name in frame.columns]
    frame, notes, problems = _as_numbers(frame, written, table)
    found = _columns(frame)
    return replace(found, notes=[_describe(dialect), *left_out, *notes, *found.notes], problems=problems)


def _mark_is_certain(table: _Table) -> bool:
    """Whether polars can be trusted with the decimal mark, also below the first rows.

    With a decimal comma, polars accepts points as decimal marks too. And unless commas separate the cells,
    points might separate thousands.
    """
    mark = table.dialect.decimal
    stated = mark in (table.decimal, table.evidence.mark)
    if mark == ".":
        return stated or table.dialect.delimiter == "," or not _has_points(table.source)
    return stated and not _has_points(table.source)


def _has_points(source: Path | bytes) -> bool:
    """Whether there is a point below the first line."""
    if isinstance(source, bytes):
        return source.find(b".", max(source.find(b"\n"), 0)) >= 0
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b".", max(content.find(b"\n"), 0)) >= 0


def _is_plain(cells: list[str], mark: str) -> bool:
    """Whether the first cells of a column are numbers that polars can parse."""
    numbers = [cell for cell in cells if is_number(cell)]
    return _is_numeric(cells) and all(PLAIN[mark].fullmatch(cell) for cell in numbers)


def _is_utf8(source: Path | bytes) -> bool:
    """Whether a file whose start is UTF-8 is UTF-8 throughout."""
    try:
        (source if isinstance(source, bytes) else source.read_bytes()).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _read(source: Path | bytes, dialect: Dialect, numeric: list[bool]) -> pl.DataFrame:
    """Parse with polars; columns that are not numeric become strings."""
    import polars as pl

    types: Any = [pl.Float64 if is_numeric else pl.String for is_numeric in numeric]
    frame = pl.read_csv(
        _plain_text(source, dialect),
        separator=dialect.delimiter,
        has_header=dialect.header,
        new_columns=dialect.names or None,
        decimal_comma=dialect.decimal == ",",
        comment_prefix=dialect.comment,
        null_values=list(dialect.nulls) or None,  # looking for them takes 25 % longer
        schema_overrides=types or None,
        infer_schema=bool(types),
        glob=False,  # a name such as a[1].csv is not a pattern
    )
    if not (dialect.header or dialect.names):  # polars has counted from 0 and from 1
        frame.columns = [f"column_{number}" for number in range(frame.width)]
    stripped = [name.strip() for name in frame.columns]
    if len(set(stripped)) == len(stripped):
        frame.columns = stripped
    return frame


def _read_as_text(source: Path | bytes, dialect: Dialect) -> pl.DataFrame:
    """Parse all columns as strings; what even that cannot parse is no table."""
    import polars as pl

    try:
        return _read(source, replace(dialect, nulls=NULLS), [])
    except pl.exceptions.PolarsError as error:
        raise ValueError(_what_is_wrong(source, dialect) or f"not a text table: {error}") from error


def _what_is_wrong(source: Path | bytes, dialect: Dialect) -> str:
    """The first line with more cells than the one before it, or a quote that is not closed."""
    content = source if isinstance(source, bytes) else source.read_bytes()
    text = content.decode(dialect.encoding, "replace")
    if text.count('"') % 2:
        return "a quote is opened and not closed."
    widest, reader = 0, csv.reader(text.splitlines(), delimiter=dialect.delimiter)
    for cells in reader:
        if 0 < widest < len(cells):
            return (
                f"line {reader.line_num} has {count_of(len(cells), 'cell')}, and those before have "
                f"{widest}; every line of a table must have as many, and text above it must begin with #."
            )
        widest = max(widest, len(cells))
    return ""


def _trim(frame: pl.DataFrame, dialect: Dialect) -> tuple[pl.DataFrame, list[str]]:
    """Leave out what only ends the lines and the file: columns without a name or a value, and blank rows."""
    notes, n_rows = [], len(frame)
    last = frame.width
    while last > 1 and _is_nameless(frame.columns[last - 1], dialect) and _is_empty(frame[:, last - 1]):
        last -= 1
    if last < frame.width:
        columns = count_of(frame.width - last, "column")
        notes.append(f"left out {columns} at the end without a name or a value")
        frame = frame[:, :last]
    while n_rows and all(cell is None or cell == "" for cell in frame.row(n_rows - 1)):
        n_rows -= 1
    if n_rows < len(frame):
        notes.append(f"left out {count_of(len(frame) - n_rows, 'blank row')} at the end")
    return frame.head(n_rows), notes


def _is_nameless(name: str, dialect: Dialect) -> bool:
    """Whether a column has no name; polars gives the second and later ones a number."""
    return not (dialect.header or dialect.names) or not name or name.startswith("_duplicated_")


def _is_empty(column: pl.Series) -> bool:
    """Whether a column has no value at all."""
    return column.null_count() == len(column)


def _plain_text(source: Path | bytes, dialect: Dialect) -> Path | io.BytesIO:
    """Return UTF-8 text with single delimiters, as polars needs it: the file itself if it is like that."""
    is_plain = dialect.encoding.startswith("utf-8") and dialect.delimiter != " "
    if is_plain and not dialect.ends_with_return and not dialect.n_above:
        # Up to 1.30, polars takes such a name for a pattern despite glob=False.
        if isinstance(source, Path) and (any(sign in str(source) for sign in "*?[") or not is_utf8(source)):
            source = source.read_bytes()
        if dialect.comment:
            source = without_errors(source if isinstance(source, bytes) else source.read_bytes())
        return io.BytesIO(source) if isinstance(source, bytes) else source
    content = source if isinstance(source, bytes) else source.read_bytes()
    # Five bytes are undefined in cp1252; numbers do not contain them.
    text = content.decode(dialect.encoding, "replace")
    if dialect.ends_with_return:
        text = text.replace("\r", "\n")
    text = text.split("\n", dialect.n_above)[-1]
    if dialect.delimiter == " ":
        text = "\n".join(" ".join(line.split()) for line in text.splitlines())
    plain = text.encode("utf-8")
    return io.BytesIO(without_errors(plain) if dialect.comment else plain)


def _as_numbers(
    frame: pl.DataFrame, names: list[str], table: _Table
) -> tuple[pl.DataFrame, list[str], dict[str, str]]:
    """Convert columns of strings that are mostly numbers; return notes, and problems with other cells."""
    import polars as pl

    texts = [name for name in names if frame[name].dtype == pl.String]
    written = [column for column in (WrittenColumn.of(frame[name]) for name in texts) if column.is_numeric]
    evidence = table.evidence
    for column in written:
        evidence |= column.evidence
    notes: dict[str, list[str]] = {}
    problems = {}
    for column in written:
        mark = table.decimal or column.choose_mark(evidence, table.dialect.delimiter)
        numbers = column.numbers(mark)
        for note in column.notes(mark, table.dialect.decimal):
            notes.setdefault(note, []).append(column.name)
        frame = frame.with_columns(numbers)
        wrong = (numbers.is_null() & column.cells.is_not_null()).arg_true()
        if len(wrong):
            first = f"{column.cells[int(wrong[0])]!r} in row {int(wrong[0])}"
            cells = count_of(len(wrong), "non-numeric cell")
            problems[column.name] = f"column {column.name!r} has {cells}, the first being {first}"
    return frame, [f"{note}: {', '.join(where)}" for note, where in notes.items()], problems


def _columns(frame: pl.DataFrame) -> Columns:
    """Sort the columns of a frame into numbers, dates and text."""
    import polars as pl

    text: dict[str, pl.Series] = {}
    columns = []
    for series in frame.get_columns():
        if series.dtype.is_numeric() or series.dtype == pl.Boolean:
            columns.append(series.cast(pl.Float64))
        elif _is_boolean(series):
            columns.append(series.str.to_lowercase().eq("true").cast(pl.Float64))
        else:
            text[series.name] = series
    names = tuple(series.name for series in columns)
    return with_text(Columns(_matrix(columns, len(frame)), names, order=tuple(frame.columns)), text)


def _is_boolean(series: pl.Series) -> bool:
    """Whether a column of text holds nothing but true and false."""
    words = series.head(SAMPLE_LINES).str.to_lowercase()
    return (
        bool(words.is_in(BOOLEANS).any()) and set(series.drop_nulls().str.to_lowercase().unique()) <= BOOLEANS
    )


def _matrix(columns: list[pl.Series], n_rows: int) -> Array:
    """Combine columns into a matrix with NaN for missing values, column-major as in polars."""
    import polars as pl

    if not columns:
        return np.empty((n_rows, 0))
    X: Array = pl.DataFrame(columns).to_numpy(order="fortran")
    return X


def _describe(dialect: Dialect) -> str:
    """Say how the table was read."""
    name = DELIMITER_NAMES.get(dialect.delimiter)
    delimiter = f"{name}-separated" if name else f"separated by {dialect.delimiter!r}"
    decimal = "decimal point" if dialect.decimal == "." else "decimal comma"
    header = "one header row" if dialect.header else "no header row"
    header = dialect.about or header
    return f"read as {dialect.encoding}, {delimiter}, {decimal}, {header}"


def looks_like_text(head: bytes) -> bool:
    """Whether the first bytes are text: no control characters, or a UTF-16 byte order mark."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    return not any(byte < 9 or 13 < byte < 32 for byte in head)


READERS = (
    Reader(
        name="csv",
        title="a text table (CSV, TSV)",
        extensions=(".csv", ".tsv", ".txt", ".dat", ".tab"),
        options=CsvOptions,
        load=load_csv,
        matches=looks_like_text,
        generic=True,
    ),
)
