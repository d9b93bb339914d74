"""The folder of a result: complete or not there at all.

``result.json`` is written last and lists every other file with its checksum, so a folder without it, or one
whose files differ from it, holds no result: :func:`load_result` then returns None. New files are written to a
temporary folder inside it and renamed into place. The user's own files are not touched.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    """Give a folder to write files in; they appear in `folder` all together when the block ends well.

    What earlier runs left unfinished is removed. A block that raises changes nothing.

    Parameters
    ----------
    folder : path
        It is made where it does not exist.
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
    """Remove what runs that were killed have left; what a living process writes is its own."""
    for left in folder.glob(f"{STAGING}*"):
        number = left.name.removeprefix(STAGING).partition("-")[0].partition(".")[0]
        if number.isdecimal() and int(number) != os.getpid() and _is_alive(int(number)):
            continue
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    """Whether a process of that number runs here."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it does, as somebody else
        return True
    return True


def _publish(staging: Path, folder: Path) -> None:
    """Move files into place, the one that vouches for them last."""
    files = sorted(path for path in staging.rglob("*") if path.is_file() and path.name != DOCUMENT)
    document = json.loads((staging / DOCUMENT).read_text(encoding="utf-8"))
    document["files"] = {path.relative_to(staging).as_posix(): hash_file(path) for path in files}
    _write_synced(staging / DOCUMENT, json.dumps(document, indent=1, ensure_ascii=True) + "\n")
    stale = _listed(folder / DOCUMENT) - set(document["files"])
    with suppress(FileNotFoundError):  # from here to the last line the folder holds no result
        (folder / DOCUMENT).unlink()
    for name in stale:
        (folder / name).unlink(missing_ok=True)
    for path in files:
        target = folder / path.relative_to(staging)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    (staging / DOCUMENT).replace(folder / DOCUMENT)


def _listed(path: Path) -> set[str]:
    """Files inside the folder that an earlier result.json names."""
    try:
        names = json.loads(path.read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    inside = path.parent.resolve()
    return {name for name in names if (inside / name).resolve().is_relative_to(inside)}


def _write_synced(path: Path, text: str) -> None:
    """Write a file and wait until it is on the disk, so that a rename cannot overtake its content."""
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def load_result(folder: Path) -> dict[str, Any] | None:
    """Read the result in a folder.

    Parameters
    ----------
    folder : path

    Returns
    -------
    document : dict or None
        Content of ``result.json``; None where there is none, or where a file that it names is missing or
        not as it was written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(load_result(Path(folder)))
    None
    """
    try:
        document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
        whole = all(hash_file(folder / name) == digest for name, digest in document["files"].items())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return document if whole else None
