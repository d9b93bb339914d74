"""Reading any file that has a known format."""

from __future__ import annotations

from dataclasses import asdict, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from seqspan.readers._errors import name_file_in_errors
from seqspan.readers._limits import check_regular
from seqspan.readers._registry import Reader, choose_reader
from seqspan.recording import Recording


def read(
    path: str | PathLike[str], *, format: str | None = None, max_bytes: int | None = None, **options: Any
) -> Recording:
    r"""Read a file, or a folder of images or spectra, into a recording.

    Parameters
    ----------
    path : str or path
    format : str, optional
        Name of a format, such as ``"csv"``; `readers` lists them. By default it is detected from the file's
        name and first bytes.
    max_bytes : int, optional
        Largest size that the content may have once it is unpacked. It is checked before unpacking. The
        default is 2 GiB, and 256 MiB for motion capture and spectra in text files.
    **options
        Options of the format, such as ``stride=5`` for video or ``missing="interpolate"`` for tables. An
        unknown name is an error that lists the known ones.

    Returns
    -------
    Recording
        Its notes list everything that was left out, filled in or assumed.

    Raises
    ------
    ValueError
        If the content or an option is wrong.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from seqspan.readers import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "core.csv"
    ...     _ = path.write_text("depth_m;quartz;mica\n0,5;1,25;2\n1,0;1,5;3\n")
    ...     recording = read(path)
    >>> recording.X
    array([[1.25, 2.  ],
           [1.5 , 3.  ]])
    >>> recording.times, recording.time_unit, recording.feature_names
    (array([0.5, 1. ]), 'm', ('quartz', 'mica'))
    """
    path = named_path(path)
    reader, settings, files = _prepare(path, format, options)
    with name_file_in_errors(path, reader.title):
        limit = reader.max_bytes if max_bytes is None else max_bytes
        recording = reader.load(path, settings, limit)
    recorded = {"format": reader.name, **asdict(settings)}
    return replace(recording, source=str(path), files=tuple(map(str, files)), read_options=recorded)


def list_files(path: str | PathLike[str], *, format: str | None = None, **options: Any) -> list[Path]:
    """List the files that `read` with these arguments would read, so that a change to one can be noticed.

    Parameters
    ----------
    path : str or path
    format : str, optional
    **options
        As for `read`.

    Returns
    -------
    list of Path
        In a fixed order: the file itself, then its skeleton, data file and so on; the images of a folder.
    """
    return _prepare(named_path(path), format, options)[2]


def named_path(path: str | PathLike[str]) -> Path:
    """A path; an empty one, which would be the current folder, is refused."""
    if not fspath(path):
        raise ValueError("the path of a recording must not be empty; for the current folder, give '.'.")
    return Path(path)


def _prepare(path: Path, format: str | None, options: dict[str, Any]) -> tuple[Reader, Any, list[Path]]:
    """Choose the reader, check its options and list the files, without reading more than a few bytes."""
    with name_file_in_errors(path, "a file of a known format"):
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file or folder.")
        check_regular(path)
        reader = choose_reader(path, format)
    with name_file_in_errors(path, reader.title):
        settings = reader.make_options(options)
        files = reader.files(path, settings)
        for file in files:
            check_regular(file)
    return reader, settings, files
