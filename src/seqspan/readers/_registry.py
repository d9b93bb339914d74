"""What a reader is, and how the reader of a file is chosen.

To add a format, add a file to this folder that defines ``READERS``, a tuple of `Reader`. Every module here
whose name does not start with an underscore is searched for it.
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

#: What to do with formats that are not read, some of which look like others from inside.
UNREAD = {
    ".xlsx .xls .xlsm .xlsb .ods .numbers": "spreadsheets are not read; save the sheet as CSV",
    ".json .jsonl .ndjson": "JSON is read by seqspan watch alone, line by line; save the table as CSV",
    ".wav .mp3 .flac .m4a .aac .aif .aiff": (
        "sound is not read; compute features of it, such as a spectrogram, and save them as .npy or CSV"
    ),
    ".pkl .pickle .joblib .pt .pth": "pickles are never loaded; save arrays as .npy, tables as Parquet",
    ".nc .grib .fits .edf .bdf .xdf .tdms .mf4": (
        "this format is not read; save its arrays as .npy or .mat, or as a table (Parquet, CSV)"
    ),
    ".rds .rdata .sav .dta .sas7bdat .sqlite .db .orc .avro": (
        "this format is not read; save the table as Parquet or CSV"
    ),
    ".fit .gpx .tcx .kml": "tracks are not read; export them as CSV",
    ".zip .tar .7z .rar .tgz .bz2 .xz .zst": "archives are not read; unpack them (.gz alone is read)",
    ".pdf .doc .docx .html .xml": "documents are not read; save the table in it as CSV",
}


@dataclass(frozen=True)
class Reader:
    """One file format: how to recognise it, which options it has, and the function that reads it.

    Parameters
    ----------
    name : str
        Its name in ``read(path, format=...)``.
    title : str
        The format in words, for messages: "a C3D recording".
    extensions : tuple of str
        Lower case, with the dot. For a folder, the extensions of the files in it.
    options : type
        A frozen dataclass; its fields are the keywords that `read` accepts.
    load : callable
        ``load(path, options, max_bytes) -> Recording``.
    files : callable
        ``files(path, options)`` lists every file that decides what `load` returns: the file itself, its
        skeleton or data file, the images of a folder. Other files may be read only if they are listed.
    matches : callable
        Says from the first bytes of a file whether it can have this format.
    max_bytes : int
        Default limit for the size of the unpacked content.
    folder : bool
        Whether it can read folders too.
    generic : bool
        Whether `matches` accepts many files of other formats, so that other readers are tried first.

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
    files: Callable[[Path, Any], list[Path]] = lambda path, options: [path]
    max_bytes: int = MAX_MATRIX_BYTES
    folder: bool = False
    generic: bool = False

    def make_options(self, given: Mapping[str, Any]) -> Any:
        """Turn keywords into the options of this reader; an unknown name is an error that lists the known."""
        known = [field.name for field in fields(self.options)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise ValueError(
                f"{self.title} has no option {', '.join(unknown)}; its options are {', '.join(known)}."
            )
        return self.options(**given)


@cache
def readers() -> tuple[Reader, ...]:
    """List the readers of all formats.

    Returns
    -------
    tuple of Reader
        Generic readers, which accept files of other formats too, come last.

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
    """Return the lower-case extension of a name, ignoring a final .gz."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def choose_reader(path: Path, name: str | None) -> Reader:
    """Find a reader by the name of its format, or else by the file's extension and first bytes."""
    if name is not None:
        return _by_name(name)
    return _for_folder(path) if path.is_dir() else _for_file(path)


def _by_name(name: str) -> Reader:
    """Find the reader of a named format."""
    for reader in readers():
        if reader.name == name:
            return reader
    raise ValueError(f"format must be one of {', '.join(reader.name for reader in readers())}; got {name!r}.")


def _for_folder(path: Path) -> Reader:
    """Choose the folder reader that recognises the most files."""
    found = [extension_of(entry) for entry in path.iterdir() if entry.is_file()]
    candidates = [reader for reader in readers() if reader.folder]
    best = max(candidates, key=lambda reader: sum(extension in reader.extensions for extension in found))
    if not any(extension in best.extensions for extension in found):
        raise ValueError(
            f"{path}: the folder holds no images or text files of spectra, so it is not a recording; name "
            f"the recordings in it (on the command line, a pattern such as 'trials/**/*.c3d' finds them)."
        )
    return best


def _for_file(path: Path) -> Reader:
    """Choose by extension, checked against the first bytes; by those alone if the extension is unknown."""
    head = read_head(path)
    if not head:
        raise ValueError(f"{path}: the file is empty.")
    by_content = [reader for reader in readers() if reader.matches(head)]
    named = [reader for reader in readers() if extension_of(path) in reader.extensions]
    if not named:
        for endings, what in UNREAD.items():
            if extension_of(path) in endings.split():
                raise ValueError(f"{path}: {what}.")
        if by_content:
            return by_content[0]
        raise ValueError(
            f"{path}: neither its name nor its content matches a known format ({_list_extensions()})."
        )
    fitting = [reader for reader in named if reader in by_content]
    if not fitting:
        guess = f" It looks like {by_content[0].title}." if by_content else ""
        raise ValueError(
            f"{path}: the name says {named[0].title}, but the content does not.{guess} "
            f"Rename it, or pass format= (--format on the command line)."
        )
    return fitting[0]


def _list_extensions() -> str:
    """List the extensions of all readers."""
    return " ".join(sorted({extension for reader in readers() for extension in reader.extensions}))
