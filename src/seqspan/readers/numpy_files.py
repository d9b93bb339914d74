"""NumPy arrays (.npy, .npz): no pickled objects, and sizes are checked before anything is loaded."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from seqspan.readers._arrays import REAL_KINDS, ArrayOptions, arrays_to_recording
from seqspan.readers._limits import check_bytes
from seqspan.readers._registry import Reader
from seqspan.recording import Recording

MAGIC = b"\x93NUMPY"
ARRAY_NAME = "X"  # of the only array in a .npy file


def load_npy(path: Path, options: ArrayOptions, max_bytes: int) -> Recording:
    """Read a .npy file."""
    with path.open("rb") as file:
        shape, dtype = read_header(file)
        held = path.stat().st_size - file.tell()
    _check_type(path.name, dtype)
    needed = count_bytes(shape, dtype)
    if needed > held:
        raise ValueError(
            f"the file is cut off: an array of shape {shape} takes {needed:,} bytes, but it holds {held:,}."
        )
    check_bytes(needed, max_bytes, "the array")

    def fetch(names: list[str]) -> dict[str, npt.NDArray[Any]]:
        return {name: np.load(path, allow_pickle=False) for name in names}

    return arrays_to_recording({ARRAY_NAME: shape}, fetch, options)


def load_npz(path: Path, options: ArrayOptions, max_bytes: int) -> Recording:
    """Read the arrays of a .npz file that are needed."""
    with zipfile.ZipFile(path) as archive:
        headers = {}
        for entry in archive.infolist():
            if entry.filename.endswith(".npy"):
                with archive.open(entry) as file:
                    headers[entry.filename.removesuffix(".npy")] = read_header(file)
        sizes = {name: count_bytes(shape, dtype) for name, (shape, dtype) in headers.items()}
        shapes = {name: shape for name, (shape, dtype) in headers.items() if dtype.kind in REAL_KINDS}
        if options.labels in headers:  # labels may be strings
            shapes[options.labels] = headers[options.labels][0]

        def fetch(names: list[str]) -> dict[str, npt.NDArray[Any]]:
            check_bytes(sum(sizes[name] for name in names), max_bytes, f"the arrays {', '.join(names)}")
            return {name: _read_member(archive, name) for name in names}

        return arrays_to_recording(shapes, fetch, options)


def _read_member(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Read one array of an archive, whose header was checked before."""
    with archive.open(f"{name}.npy") as file:
        values: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return values


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read only the shape and the data type of an array."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if any(length < 0 for length in shape):
        raise ValueError(f"an array cannot have the shape {shape}.")
    return shape, dtype


def count_bytes(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Count the bytes of an array in Python integers, which cannot overflow."""
    return int(np.prod(shape, dtype=object)) * dtype.itemsize


def _check_type(name: str, dtype: np.dtype[Any]) -> None:
    """Refuse objects, strings, records and complex numbers."""
    if dtype.kind not in REAL_KINDS:
        raise ValueError(f"expected real numbers, but {name} holds {dtype}; objects are never loaded.")


def looks_like_npy(head: bytes) -> bool:
    """Recognise a .npy file by its magic bytes."""
    return head.startswith(MAGIC)


def looks_like_zip(head: bytes) -> bool:
    """Recognise a .npz file, which is a zip archive, by its magic bytes."""
    return head.startswith(b"PK\x03\x04")


READERS = (
    Reader(
        name="npy",
        title="a NumPy array (.npy)",
        extensions=(".npy",),
        options=ArrayOptions,
        load=load_npy,
        matches=looks_like_npy,
    ),
    Reader(
        name="npz",
        title="an archive of NumPy arrays (.npz)",
        extensions=(".npz",),
        options=ArrayOptions,
        load=load_npz,
        matches=looks_like_zip,
    ),
)
