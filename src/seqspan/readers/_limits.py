"""Limits that are checked before anything is decoded: a file may unpack to more than memory holds."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAX_MATRIX_BYTES = 2**31  # 4 million rows of 64 doubles
MAX_TEXT_BYTES = 2**28  # 45 minutes of motion capture at 120 Hz, or 10,000 spectra
MAX_LINE_BYTES = 2**20
MAX_PIXELS = 2**26  # pixels of one image: 8192 x 8192
HEAD_BYTES = 4096  # enough to recognise every format


def describe_bytes(n_bytes: float) -> str:
    """Write a number of bytes with a unit, such as "1.05 MB"."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.3g} GB" if n_bytes < 1000 else f"{n_bytes:,.0f} GB"


def check_bytes(n_bytes: int, limit: int, what: str) -> None:
    """Raise if `what` would take more than `limit` bytes."""
    if n_bytes > limit:
        raise ValueError(
            f"{what} would take {describe_bytes(n_bytes)}, more than the limit of {describe_bytes(limit)}; "
            f"read a part of it, or pass a larger max_bytes if you trust the file."
        )


def check_regular(path: Path) -> None:
    """Refuse pipes, sockets and devices: reading one may wait forever, and it cannot be read twice."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(f"{path}: a pipe or device cannot be read; save its content to a file first.")


def is_utf8(path: Path) -> bool:
    """Whether a path is UTF-8; on Linux, names are just bytes, and Python keeps others as surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in str(path))


@contextmanager
def plain_name(path: Path) -> Iterator[Path]:
    """Yield a path to the same file in UTF-8, as polars and parsers in C++ need it."""
    if is_utf8(path.resolve()):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="seqspan-") as folder:
        link = Path(folder, "input")
        link.symlink_to(path.resolve())  # such names exist only on systems that have links
        yield link


def read_head(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked if it is a gzip file."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not is_gzip(head):
        return head
    with gzip.open(path, "rb") as file:
        return file.read(HEAD_BYTES)


def is_gzip(head: bytes) -> bool:
    """Recognise gzip by its two magic bytes."""
    return head[:2] == b"\x1f\x8b"


def read_lines(path: Path, limit: int, encoding: str = "latin-1") -> Iterator[str]:
    """Yield the lines of a text file, plain or gzip; more than `limit` bytes are an error.

    Latin-1 can decode any byte, and the keywords of the formats are ASCII.
    """
    with path.open("rb") as file:
        packed = is_gzip(file.read(2))
    total = 0
    with gzip.open(path, "rb") if packed else path.open("rb") as stream:
        while line := stream.readline(MAX_LINE_BYTES):
            total += len(line)
            check_bytes(total, limit, "the text")
            if len(line) == MAX_LINE_BYTES:
                raise ValueError(f"a line is longer than {describe_bytes(MAX_LINE_BYTES)}: not a text file.")
            yield line.decode(encoding)
