"""Folders: one recording, as a folder of pictures is, or many recordings."""

from __future__ import annotations

from pathlib import Path

from seqspan.readers._limits import read_head
from seqspan.readers._registry import Reader, choose_reader, extension_of, readers

SINGLE = {".asf"}  # a skeleton in one pose is no recording, whether a motion in the folder uses it or not


def list_recordings(folder: Path) -> list[Path]:
    """List the recordings in a folder.

    Parameters
    ----------
    folder : path

    Returns
    -------
    list of path
        The folder itself if its files are the samples of one recording (pictures, or single spectra).
        Otherwise the files and folders in it that are recordings, without files that belong to others, such
        as a skeleton or the data file of a header. Empty if there are none.
    """
    if is_one_recording(folder):
        return [folder]
    entries = sorted(entry for entry in folder.iterdir() if entry.name[0] != ".")
    known = {extension for reader in readers() for extension in reader.extensions} - SINGLE
    files = [entry for entry in entries if entry.is_file() and extension_of(entry) in known]
    belong = {other for file in files for other in _companions(file)}
    folders = [entry for entry in entries if entry.is_dir() and is_one_recording(entry)]
    return sorted([file for file in files if file not in belong] + folders)


def is_one_recording(folder: Path) -> bool:
    """Whether most files of a folder are samples of one recording."""
    files = [entry for entry in folder.iterdir() if entry.is_file() and entry.name[0] != "."]
    counts = [sum(_is_sample(reader, file) for file in files) for reader in readers() if reader.folder]
    return 2 * max(counts) > len(files)


def _is_sample(reader: Reader, file: Path) -> bool:
    """Whether a file is a picture or a spectrum; the content decides if a table may have the same ending."""
    extension = extension_of(file)
    if extension not in reader.extensions:
        return False
    if sum(extension in other.extensions for other in readers()) == 1:
        return True
    try:
        return reader.matches(read_head(file))
    except OSError:
        return False


def _companions(file: Path) -> list[Path]:
    """Other files that are read with a file; none if it cannot be read at all, which is reported later."""
    try:
        reader = choose_reader(file, None)
        return [other for other in reader.files(file, reader.make_options({})) if other != file]
    except (OSError, ValueError):
        return []
