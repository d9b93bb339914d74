"""``result.json``, and the journal of a run that was killed while it published its files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from seqspan._core.text import printable
from seqspan.results.fingerprints import hash_values

DOCUMENT = "result.json"
JOURNAL = ".seqspan-publishing.json"
FORMAT = 2  # of result folders; those of format 1 have neither this number nor a seal


def read_document(path: Path) -> dict[str, Any] | None:
    """Content of a ``result.json``; None if it is missing, or if it is something else of that name."""
    document = _read_json(path)
    return document if _is_document(document) else None


def _is_document(content: object) -> TypeGuard[dict[str, Any]]:
    """Whether content of a JSON file lists files with checksums, as every ``result.json`` does."""
    if not isinstance(content, dict) or not isinstance(content.get("format", 1), int):
        return False
    files = content.get("files")
    return isinstance(files, dict) and all(type(digest) is str for digest in files.values())


def _read_json(path: Path) -> object:
    """Content of a JSON file; None if there is none, or if it is no JSON."""
    try:
        content: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content


def seal(document: Mapping[str, Any]) -> dict[str, Any]:
    """Add a checksum of the document itself."""
    open_document = {name: value for name, value in document.items() if name != "seal"}
    return {**open_document, "seal": hash_values(open_document)}


def is_sealed(document: Mapping[str, Any]) -> bool:
    """Whether a document is as it was written."""
    return seal(document) == document


def write_synced(path: Path, content: Any) -> None:
    """Write JSON and wait until it is on disk, so that a rename cannot take effect before it."""
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(content, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())


@dataclass(frozen=True)
class Earlier:
    """What earlier runs wrote to a folder, including a run that was killed while it published its files.

    Parameters
    ----------
    folder : path
    documents : tuple of dict
        ``result.json``, if there is one, after those of the journal, if there is one.

    Examples
    --------
    >>> Earlier(Path("film.seqspan"), ({"files": {"spans.edl": "12ab"}},)).digests
    {'spans.edl': {'12ab'}}
    """

    folder: Path
    documents: tuple[dict[str, Any], ...] = ()

    @classmethod
    def read(cls, folder: Path) -> Earlier:
        """Read the documents of a folder."""
        return cls(folder, tuple(_documents_of(folder)))

    def refuse_newer(self) -> None:
        """Raise if a newer version of seqspan wrote to the folder."""
        newest = max((document.get("format", 1) for document in self.documents), default=FORMAT)
        if newest > FORMAT:
            raise FileExistsError(
                f"{printable(str(self.folder))}: holds a result of format {newest}, and this version of "
                f"seqspan knows formats up to {FORMAT}: choose another result folder, or update seqspan."
            )

    @property
    def digests(self) -> dict[str, set[str]]:
        """Checksums that each file of ours may have; names that lead out of the folder are left out."""
        inside = self.folder.resolve()
        found: dict[str, set[str]] = {}
        for document in self.documents:
            for name, digest in document["files"].items():
                if name != DOCUMENT and _is_inside(inside, name):
                    found.setdefault(name, set()).add(digest)
        return found

    @property
    def present(self) -> list[str]:
        """Files of ours that are still there, edited or not."""
        return [name for name in self.digests if os.path.lexists(self.folder / name)]


def _is_inside(folder: Path, name: str) -> bool:
    """Whether a name leads to a place in a folder; what lies there may be a link to elsewhere."""
    path = folder / name
    return path.name not in ("", "..") and path.parent.resolve().is_relative_to(folder)


def _documents_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the documents of a folder, the current one last."""
    journal = _read_json(folder / JOURNAL)
    yield from filter(_is_document, journal if isinstance(journal, list) else [])
    current = read_document(folder / DOCUMENT)
    if current is not None:
        yield current
