"""Whose result a folder holds: one folder never changes from one input to another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from seqspan._core.text import printable
from seqspan.results.documents import Earlier


def locate_input(document: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Add the way from a result folder to its input, which holds when both are moved together."""
    about = document.get("input", {})
    path = about.get("path")
    if not path or not os.path.exists(path):
        return document
    return document | {"input": about | {"location": _way(folder, Path(path))}}


def _way(folder: Path, source: Path) -> str:
    """Path of an input as seen from a result folder."""
    place = _absolute(source)
    try:
        return Path(os.path.relpath(place, folder.resolve())).as_posix()
    except ValueError:  # another drive of Windows
        return place.as_posix()


def _absolute(source: Path) -> Path:
    """The path of an input with links followed up to its own name, which says what it is."""
    return source.parent.resolve() / source.name if source.name not in ("", "..") else source.resolve()


def find_input(document: dict[str, Any], folder: Path) -> Path:
    """Where the input of a result should be now.

    Examples
    --------
    >>> document = {"input": {"path": "film.mp4", "location": "../film.mp4"}}
    >>> find_input(document, Path("/films/film.seqspan")).as_posix()
    '/films/film.mp4'
    """
    about = document["input"]
    if "location" not in about:
        return Path(about["path"])
    return Path(os.path.normpath(folder.resolve() / about["location"]))


def owner_of(folder: Path, source: Path) -> str | None:
    """Name the other input whose result a folder holds, if there is one.

    An input that is no longer where it was counts as moved: any input of the same name may go on with its
    folder.

    Parameters
    ----------
    folder : path
    source : path
        The input that wants to use the folder.

    Returns
    -------
    str or None
    """
    ours = _absolute(source)
    for document in Earlier.read(folder).documents:
        about = document.get("input", {})
        if not about.get("path"):
            continue
        theirs = _absolute(find_input(document, folder))
        moved = theirs.name == ours.name and not ("location" in about and theirs.exists())
        if theirs != ours and not moved:
            return str(about["path"])
    return None


def check_owner(folder: Path, source: Path) -> None:
    """Refuse a folder that holds the result of another input."""
    other = owner_of(folder, source)
    if other is not None:
        raise FileExistsError(
            f"{printable(str(folder))}: holds the result of {printable(other)}; choose another result folder."
        )
