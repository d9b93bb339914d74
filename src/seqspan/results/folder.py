"""Result folders: a result is either complete or absent.

``result.json`` is written last and lists every other file with its checksum. If it is missing, or a file does
not match its checksum, the folder contains no result and :func:`load_result` returns None. New files are
written to a temporary folder inside the result folder and renamed into place by ``results/publish.py``, which
touches nothing of the user's.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seqspan._core.text import printable
from seqspan.results.documents import DOCUMENT, FORMAT, read_document
from seqspan.results.fingerprints import hash_file
from seqspan.results.publish import publish

SEGMENTS = "segments.csv"
LABELS = "labels.csv"
REPORT = "report.html"
STATES = "states.npz"
STAGING = ".seqspan-unfinished-"


@contextmanager
def staged(folder: Path, *, carried: Mapping[str, str] | None = None) -> Iterator[Path]:
    """Yield a temporary folder; its files all appear in `folder` when the block ends without an error.

    Unfinished files from earlier runs are removed. If the block raises, nothing changes. The caller has
    reserved the folder, so that no other run publishes files at the same time.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    carried : mapping of str to str, optional
        Files of the earlier result, with their checksums, that stay part of the new one as they are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _remove_unfinished(folder)
    staging = Path(tempfile.mkdtemp(prefix=f"{STAGING}{os.getpid()}-", dir=folder))
    try:
        yield staging
        publish(staging, folder, carried or {})
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _remove_unfinished(folder: Path) -> None:
    """Remove files left by killed runs, but not those of processes that are still running."""
    for left in folder.glob(f"{STAGING}*"):
        number = left.name.removeprefix(STAGING).partition("-")[0].partition(".")[0]
        if number.isdecimal() and int(number) != os.getpid() and _is_alive(int(number)):
            continue
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    """Whether a process with this id is running on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is running, but belongs to another user
        return True
    return True


def write_document(staging: Path, document: dict[str, Any]) -> None:
    """Put ``result.json`` into a temporary folder; checksums are added when it is published."""
    (staging / DOCUMENT).write_text(json.dumps(document, default=str), encoding="utf-8")


def load_result(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Read the result in a folder.

    Parameters
    ----------
    folder : path

    Returns
    -------
    document : dict or None
        Content of ``result.json``; None if it is missing or of a newer format, or if a file that it lists is
        missing or has changed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(load_result(folder))
    None
    """
    document = read_document(Path(folder) / DOCUMENT)
    if document is None or document.get("format", 1) > FORMAT:
        return None
    whole = all(is_unchanged(Path(folder), document, name) for name in document["files"])
    return document if whole else None


def require_result(folder: Path) -> dict[str, Any]:
    """Read the result in a folder; raise a ValueError if there is none."""
    document = load_result(folder)
    if document is not None:
        return document
    if not folder.exists():
        raise FileNotFoundError(f"{printable(str(folder))}: no such folder.")
    raise ValueError(
        f"{printable(str(folder))}: not a complete result folder, or its files have changed since it was "
        f"written."
    )


def is_unchanged(folder: Path, document: Mapping[str, Any], name: str) -> bool:
    """Whether a file is there as a document says."""
    try:
        return hash_file(folder / name) == str(document["files"].get(name))
    except (OSError, ValueError):  # a name with a null byte is a ValueError
        return False
