"""Cases and the rows of a CSV file that hold their results, one row per case."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

Value = float | int | str | None
Case = Mapping[str, Value]
Row = dict[str, str]
Key = tuple[str, ...]


def format_value(value: Value) -> str:
    """Write a value the way rows store it; equal numbers give equal text.

    Examples
    --------
    >>> [format_value(value) for value in (4, 4.0, 0.1, float("inf"), "osc", None)]
    ['4', '4', '0.1', 'inf', 'osc', '']
    """
    if value is None:
        return ""
    return value if isinstance(value, str) else format(value, ".12g")


def make_key(case: Case | Row, columns: Iterable[str]) -> Key:
    """Identify a case, or its row, by some of its columns.

    Examples
    --------
    >>> make_key({"seed": 3, "psnr": 4.0, "error": 0.5}, ("seed", "psnr"))
    ('3', '4')
    """
    return tuple(format_value(case[name]) for name in columns)


def read_rows(path: Path, columns: Sequence[str], case_columns: Sequence[str]) -> dict[Key, Row]:
    """Read the complete rows of a file, which another run may still be writing."""
    return _parse(_complete_lines(path), path, columns, case_columns) if path.exists() else {}


def _complete_lines(path: Path) -> bytes:
    """Leave out a last line that has no line end: its run was killed while writing it."""
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1]


def _parse(content: bytes, path: Path, columns: Sequence[str], case_columns: Sequence[str]) -> dict[Key, Row]:
    """Rows by the key of their case."""
    reader = csv.reader(io.StringIO(content.decode("utf-8")))
    header = next(reader, list(columns))
    if header != list(columns):
        raise ValueError(
            f"{path}: has the columns {', '.join(header)}; this version writes {', '.join(columns)}. "
            "Choose another folder, or move the file away."
        )
    rows = (dict(zip(columns, cells, strict=True)) for cells in reader)
    return {make_key(row, case_columns): row for row in rows}


class RowFile:
    """A CSV file to which one run at a time appends rows.

    Every row is on the disk before the next one is computed. An incomplete last line, which a killed run
    may leave behind, is removed when the file is opened.

    Parameters
    ----------
    path : path
    columns : sequence of str
    case_columns : sequence of str
        The columns that identify a case.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "toy.csv"
    >>> with RowFile(path, ("seed", "error"), ("seed",)) as file:
    ...     file.append({"seed": 0, "error": 0.25})
    >>> path.write_text(path.read_text() + "1,0.")  # killed while writing
    22
    >>> with RowFile(path, ("seed", "error"), ("seed",)) as file:
    ...     list(file.rows.values())
    [{'seed': '0', 'error': '0.25'}]
    """

    def __init__(self, path: Path, columns: Sequence[str], case_columns: Sequence[str]) -> None:
        self.path, self.columns, self.case_columns = path, columns, case_columns
        self.rows: dict[Key, Row] = {}

    def __enter__(self) -> RowFile:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            self._lock()
            self._load()
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        os.close(self._file)  # this also releases the lock

    def _lock(self) -> None:
        """Keep other runs out until the file is closed or this process ends, even if it is killed."""
        try:
            _lock_file(self._file)
        except OSError as error:
            raise OSError(
                f"{self.path}: another run is writing to it; wait for that run or choose another folder."
            ) from error

    def _load(self) -> None:
        """Read the rows, remove an incomplete last line, and write the header of a new file."""
        content = _complete_lines(self.path)
        os.ftruncate(self._file, len(content))
        self.rows = _parse(content, self.path, self.columns, self.case_columns)
        if not content:
            self._write(self.columns)

    def append(self, case: Case) -> None:
        """Add the row of a case; it is on the disk when this returns."""
        row = {name: format_value(case[name]) for name in self.columns}
        self._write(list(row.values()))
        self.rows[make_key(row, self.case_columns)] = row

    def _write(self, cells: Sequence[str]) -> None:
        """Append a line in one call."""
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(cells)
        content = line.getvalue().encode("utf-8")
        if os.write(self._file, content) != len(content):
            raise OSError(f"{self.path}: a row was written only in part; is the disk full?")
        os.fsync(self._file)


def _lock_file(file: int) -> None:
    """Lock an open file, or raise an OSError at once if it is locked already."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows, where the first byte is locked instead
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
