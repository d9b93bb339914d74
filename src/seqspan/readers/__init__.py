"""Files into recordings: ``read(path)`` for video, motion capture, spectra and tables.

One file here per format; `_registry` says how they are found, `_limits` and `_errors` how a file that is
damaged or hostile ends in one clear error.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any

from seqspan._core.extras import MissingPackageError
from seqspan.readers._errors import naming
from seqspan.readers._registry import Reader, choose_reader, readers
from seqspan.recording import Recording

__all__ = ["MissingPackageError", "Reader", "read", "readers"]


def read(
    path: str | PathLike[str], *, format: str | None = None, max_bytes: int | None = None, **options: Any
) -> Recording:
    r"""Read a file, or a folder of images or spectra, into a recording.

    Parameters
    ----------
    path : str or path
    format : str, optional
        Name of a format, such as ``"csv"``; found from the file's name and first bytes by default.
        `readers` lists them.
    max_bytes : int, optional
        Largest size that the content may have once it is unpacked, checked before it is. The default is 2 GiB
        for matrices and 256 MiB for formats of text.
    **options
        What the format takes, such as ``stride=5`` for video or ``missing="interpolate"`` for tables. A name
        that it does not take is an error that lists those it does.

    Returns
    -------
    Recording
        With a line in its notes for everything that was left out, filled in or assumed.

    Raises
    ------
    ValueError
        Where the content or an option is wrong.
    OSError
        Where the file cannot be opened.

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
    path = Path(path)
    with naming(path, "a file of a known format"):
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file or folder.")
        reader = choose_reader(path, format)
    with naming(path, reader.title):
        settings = reader.make_options(options)
        limit = reader.max_bytes if max_bytes is None else max_bytes
        recording = reader.load(path, settings, limit)
    recorded = {"format": reader.name, **asdict(settings)}
    return replace(recording, source=str(path), read_options=recorded)
