"""Result folders: a result is either complete or absent.

``result.json`` is written last and lists every other file with its checksum. If it is missing, or a file does
not match its checksum, the folder contains no result and :func:`load_result` returns None. New files are
written to a temporary folder inside the result folder and renamed into place. The user's own files are not
touched.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

from seqspan.results.fingerprints import hash_file

DOCUMENT = "result.json"
SEGMENTS = "segments.csv"
LABELS = "labels.csv"
REPORT = "report.html"
STAGING = ".seqspan-unfinished-"


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder; its files all appear in `folder` when the block ends without an error.

    Unfinished files from earlier runs are removed. If the block raises, nothing changes. The caller has
    reserved the folder, so that no other run publishes files at the same time.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _remove_unfinished(folder)
    staging = Path(tempfile.mkdtemp(prefix=f"{STAGING}{os.getpid()}-", dir=folder))
    try:
        yield staging
        _publish(staging, folder)
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


def _publish(staging: Path, folder: Path) -> None:
    """Move files into place; result.json, which lists the others, comes last."""
    files = sorted(path for path in staging.rglob("*") if path.is_file() and path.name != DOCUMENT)
    document = json.loads((staging / DOCUMENT).read_text(encoding="utf-8"))
    document["files"] = {path.relative_to(staging).as_posix(): hash_file(path) for path in files}
    _write_synced(staging / DOCUMENT, json.dumps(document, indent=1, ensure_ascii=True) + "\n")
    stale = _listed(folder / DOCUMENT) - set(document["files"])
    with suppress(FileNotFoundError):  # until the last line of this function, the folder contains no result
        (folder / DOCUMENT).unlink()
    for name in stale:
        (folder / name).unlink(missing_ok=True)
    for path in files:
        target = folder / path.relative_to(staging)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    (staging / DOCUMENT).replace(folder / DOCUMENT)


def _listed(path: Path) -> set[str]:
    """Files in the folder that an earlier result.json lists."""
    try:
        names = json.loads(path.read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    inside = path.parent.resolve()
    return {name for name in names if (inside / name).resolve().is_relative_to(inside)}


def _write_synced(path: Path, text: str) -> None:
    """Write a file and wait until it is on disk, so that the rename cannot take effect before it."""
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def load_result(folder: str | PathLike[str]) -> dict[str, Any] | None:
    """Read the result in a folder.

    Parameters
    ----------
    folder : path

    Returns
    -------
    document : dict or None
        Content of ``result.json``; None if it is missing, or if a file that it lists is missing or has
        changed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(load_result(Path(folder)))
    None
    """
    folder = Path(folder)
    try:
        document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
        whole = all(hash_file(folder / name) == digest for name, digest in document["files"].items())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return document if whole else None
