"""What a reader is, and which one reads a given file.

A new format is one new file in this folder that defines ``READERS``, a tuple of `Reader`: every module here
whose name does not start with an underscore is asked for it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from seqspan.readers._limits import MAX_MATRIX_BYTES, read_head
from seqspan.recording import Recording


@dataclass(frozen=True)
class Reader:
    """One format: how to tell it, which options it takes, and the function that reads it.

    Parameters
    ----------
    name : str
        What ``read(path, format=...)`` calls it.
    title : str
        The format in words, for messages: "a C3D recording".
    extensions : tuple of str
        Lower case, with the dot; of the files inside it where the reader takes folders.
    options : type
        A frozen dataclass; its fields are the keywords that `read` accepts.
    load : callable
        ``load(path, options, max_bytes) -> Recording``.
    matches : callable
        Tells from the first bytes whether a file can be of this format.
    max_bytes : int
        Size that the content may have by default once it is unpacked.
    folder : bool
        Whether it reads folders, too.
    generic : bool
        Whether its `matches` says little, so that others are asked first.

    Examples
    --------
    >>> video = next(reader for reader in readers() if reader.name == "video")
    >>> ".mp4" in video.extensions, video.make_options({"stride": 5}).stride
    (True, 5)
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    options: type[Any]
    load: Callable[[Path, Any, int], Recording]
    matches: Callable[[bytes], bool]
    max_bytes: int = MAX_MATRIX_BYTES
    folder: bool = False
    generic: bool = False

    def make_options(self, given: Mapping[str, Any]) -> Any:
        """Turn keywords into this reader's options; unknown ones are an error that lists the known."""
        known = [field.name for field in fields(self.options)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise ValueError(
                f"{self.title} takes the options {', '.join(known) or '(none)'}; got {', '.join(unknown)}."
            )
        return self.options(**given)


@cache
def readers() -> tuple[Reader, ...]:
    """Collect the readers of every module in this folder.

    Returns
    -------
    tuple of Reader
        Those that can tell their format from a file's first bytes come first.

    Examples
    --------
    >>> [reader.name for reader in readers() if ".c3d" in reader.extensions]
    ['c3d']
    """
    package = importlib.import_module("seqspan.readers")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"seqspan.readers.{name}") for name in names if name[0] != "_"]
    found = [reader for module in modules for reader in getattr(module, "READERS", ())]
    return tuple(sorted(found, key=lambda reader: reader.generic))


def extension_of(path: Path) -> str:
    """Return the lower-case ending of a name, without the .gz of a packed file."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def choose_reader(path: Path, name: str | None) -> Reader:
    """Find the reader of a file by name of format, else by its ending and its first bytes."""
    if name is not None:
        return _by_name(name)
    return _for_folder(path) if path.is_dir() else _for_file(path)


def _by_name(name: str) -> Reader:
    """Look a format up by the name that the user gave."""
    for reader in readers():
        if reader.name == name:
            return reader
    raise ValueError(f"format must be one of {', '.join(reader.name for reader in readers())}; got {name!r}.")


def _for_folder(path: Path) -> Reader:
    """Choose the reader of folders that knows the most of the files in this one."""
    endings = [extension_of(entry) for entry in path.iterdir() if entry.is_file()]
    candidates = [reader for reader in readers() if reader.folder]
    best = max(candidates, key=lambda reader: sum(ending in reader.extensions for ending in endings))
    if not any(ending in best.extensions for ending in endings):
        wanted = " or ".join(f"{reader.title} ({' '.join(reader.extensions)})" for reader in candidates)
        raise ValueError(f"{path}: the folder holds no files of a kind read here; expected {wanted}.")
    return best


def _for_file(path: Path) -> Reader:
    """Choose by the name's ending, checked against the first bytes; by those alone where there is none."""
    head = read_head(path)
    if not head:
        raise ValueError(f"{path}: the file is empty.")
    by_content = [reader for reader in readers() if reader.matches(head)]
    named = [reader for reader in readers() if extension_of(path) in reader.extensions]
    if not named:
        if by_content:
            return by_content[0]
        raise ValueError(f"{path}: neither its name nor its content is of a known format ({_known()}).")
    fitting = [reader for reader in named if reader in by_content]
    if not fitting:
        looks = f"; it looks like {by_content[0].title}" if by_content else ""
        raise ValueError(
            f"{path}: expected {named[0].title} by its name, but its first bytes are not of one{looks}. "
            f"Rename it, or pass format= (--format on the command line)."
        )
    return fitting[0]


def _known() -> str:
    """List every ending that is read."""
    return " ".join(sorted({ending for reader in readers() for ending in reader.extensions}))
