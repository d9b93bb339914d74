"""Moves the files of a run into its folder, and touches nothing of the user's.

Only files that ``result.json`` lists and that nobody has changed are replaced or removed. A file that was
edited is kept under another name. A file that was never ours stops the run before anything has changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from seqspan._core.text import printable
from seqspan.results.documents import (
    DOCUMENT,
    FORMAT,
    JOURNAL,
    Earlier,
    is_sealed,
    read_document,
    seal,
    write_synced,
)
from seqspan.results.fingerprints import hash_file
from seqspan.results.owner import locate_input


def publish(staging: Path, folder: Path, carried: Mapping[str, str]) -> None:
    """Move files into place; ``result.json``, which lists the others, comes last.

    Until then the folder contains no result, and a journal remembers which files are ours, so that a run
    after a killed one can tell.

    Parameters
    ----------
    staging : path
        Temporary folder with the new files and ``result.json``.
    folder : path
    carried : mapping of str to str
        Files of the earlier result, with their checksums, that stay part of the new one as they are.
    """
    earlier = Earlier.read(folder)
    paths = sorted(path for path in staging.rglob("*") if path.is_file() and path.name != DOCUMENT)
    new = {path.relative_to(staging).as_posix(): hash_file(path) for path in paths}
    check_free(folder, [DOCUMENT, *new])
    kept = {name: _free_name(folder, name) for name in _edited(earlier) if name not in carried}
    document = json.loads((staging / DOCUMENT).read_text(encoding="utf-8"))
    document = locate_input(document, folder) | {"format": FORMAT, "files": {**carried, **new}, "kept": kept}
    write_synced(staging / DOCUMENT, seal(document))
    write_synced(staging / JOURNAL, [*earlier.documents, document])
    (staging / JOURNAL).replace(folder / JOURNAL)
    if DOCUMENT not in kept:
        (folder / DOCUMENT).unlink(missing_ok=True)
    for name, other in kept.items():
        (folder / name).rename(folder / other)
    _remove_stale(earlier, document["files"])
    for name in new:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (staging / name).replace(folder / name)
    (staging / DOCUMENT).replace(folder / DOCUMENT)
    (folder / JOURNAL).unlink()


def check_free(folder: Path, names: Iterable[str]) -> None:
    """Refuse to write where files lie that are not from an earlier run.

    Parameters
    ----------
    folder : path
    names : iterable of str
        Files that are going to be written.

    Raises
    ------
    FileExistsError
        Before anything has changed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "report.html").touch()
    ...     try:
    ...         check_free(Path(folder), ["report.html"])
    ...     except FileExistsError as error:
    ...         print(str(error).partition(": ")[2])
    report.html is in the way and not from an earlier run: choose another result folder, or move it.
    """
    earlier = Earlier.read(folder)
    earlier.refuse_newer()
    ours = set(earlier.digests) | ({DOCUMENT} if read_document(folder / DOCUMENT) else set())
    for name in names:
        for place in _in_the_way(folder, name, ours):
            raise FileExistsError(
                f"{printable(str(folder))}: {printable(place)} is in the way and not from an earlier run: "
                f"choose another result folder, or move it."
            )


def describe_kept(document: Mapping[str, Any]) -> list[str]:
    """Notes on the files that were kept under another name when a result was written.

    Examples
    --------
    >>> describe_kept({"kept": {"segments.csv": "segments-edited.csv"}})
    ['segments.csv was edited: your version is kept as segments-edited.csv']
    """
    kept = document.get("kept", {})
    return [f"{name} was edited: your version is kept as {other}" for name, other in kept.items()]


def _in_the_way(folder: Path, name: str, ours: set[str]) -> Iterator[str]:
    """Yield what lies where a file, or a folder that it needs, is going to be."""
    path = folder / name
    for parent in path.relative_to(folder).parents:
        if os.path.lexists(folder / parent) and not (folder / parent).is_dir():
            yield parent.as_posix()
    if os.path.lexists(path) and name not in ours:
        yield name


def _edited(earlier: Earlier) -> list[str]:
    """Files of ours that somebody has changed; first ``result.json``, which must go before the others."""
    path = earlier.folder / DOCUMENT
    document = read_document(path)
    unsealed = [DOCUMENT] if document is not None and not _is_ours(path, is_sealed(document)) else []
    digests = earlier.digests
    return unsealed + [
        name
        for name in earlier.present
        if not _is_ours(earlier.folder / name) or hash_file(earlier.folder / name) not in digests[name]
    ]


def _is_ours(path: Path, sealed: bool = True) -> bool:
    """Whether this may be a file as we wrote it: a link or a folder is not."""
    return sealed and path.is_file() and not path.is_symlink()


def _free_name(folder: Path, name: str) -> str:
    """A name for an edited file that nothing has yet: segments-edited.csv for segments.csv."""
    parent, _, last = name.rpartition("/")
    stem, dot, ending = last.partition(".")
    number = 1
    while True:
        numbered = f"{stem}-edited{'' if number == 1 else f'-{number}'}{dot}{ending}"
        other = f"{parent}/{numbered}" if parent else numbered
        if not os.path.lexists(folder / other):
            return other
        number += 1


def _remove_stale(earlier: Earlier, current: Iterable[str]) -> None:
    """Remove files of ours that are not part of the new result, and folders that become empty."""
    for name in set(earlier.present) - set(current):
        path = earlier.folder / name
        path.unlink()
        if path.parent != earlier.folder:
            with suppress(OSError):  # something else is in it
                path.parent.rmdir()
