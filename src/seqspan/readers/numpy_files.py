"""Arrays of NumPy: .npy and .npz, never with pickled objects, and never larger than their headers allow."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from seqspan.readers._arrays import ArrayOptions, array_sequence
from seqspan.readers._limits import check_bytes
from seqspan.readers._registry import Reader
from seqspan.recording import Recording

MAGIC = b"\x93NUMPY"
NUMBERS = "iufb"  # NumPy's letters of the types that are read
SINGLE = "X"


def load_npy(path: Path, options: ArrayOptions, max_bytes: int) -> Recording:
    """Read one array."""
    with path.open("rb") as file:
        shape, dtype = read_header(file)
        held = path.stat().st_size - file.tell()
    _check_type(path.name, dtype)
    needed = count_bytes(shape, dtype)
    if needed > held:
        raise ValueError(f"it breaks off: an array of {shape} takes {needed:,} bytes, it holds {held:,}.")
    check_bytes(needed, max_bytes, "the array")

    def fetch(names: list[str]) -> dict[str, npt.NDArray[Any]]:
        return {name: np.load(path, allow_pickle=False) for name in names}

    return array_sequence({SINGLE: shape}, fetch, options)


def load_npz(path: Path, options: ArrayOptions, max_bytes: int) -> Recording:
    """Read the arrays of an archive that are asked for, or needed."""
    with zipfile.ZipFile(path) as archive:
        headers = {}
        for entry in archive.infolist():
            if entry.filename.endswith(".npy"):
                with archive.open(entry) as file:
                    headers[entry.filename.removesuffix(".npy")] = read_header(file)
        sizes = {name: count_bytes(shape, dtype) for name, (shape, dtype) in headers.items()}
        shapes = {name: shape for name, (shape, dtype) in headers.items() if dtype.kind in NUMBERS}
        if options.labels in headers:  # labels may be words
            shapes[options.labels] = headers[options.labels][0]

        def fetch(names: list[str]) -> dict[str, npt.NDArray[Any]]:
            check_bytes(sum(sizes[name] for name in names), max_bytes, f"the arrays {', '.join(names)}")
            return {name: _read_member(archive, name) for name in names}

        return array_sequence(shapes, fetch, options)


def _read_member(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Read one array of an archive; its size was checked by its header."""
    with archive.open(f"{name}.npy") as file:
        values: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return values


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read shape and type of an array, and nothing else."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if any(length < 0 for length in shape):
        raise ValueError(f"an array cannot have the shape {shape}.")
    return shape, dtype


def count_bytes(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Count the bytes of an array, in whole numbers that do not overflow."""
    return int(np.prod(shape, dtype=object)) * dtype.itemsize


def _check_type(name: str, dtype: np.dtype[Any]) -> None:
    """Refuse objects, words, records and complex numbers."""
    if dtype.kind not in NUMBERS:
        raise ValueError(f"expected real numbers; {name} holds {dtype}, and objects are never loaded.")


def looks_like_npy(head: bytes) -> bool:
    """Tell an array by its magic bytes."""
    return head.startswith(MAGIC)


def looks_like_zip(head: bytes) -> bool:
    """Tell an archive by its magic bytes."""
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
