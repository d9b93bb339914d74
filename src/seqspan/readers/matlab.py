"""MATLAB files: SciPy reads versions up to 7, h5py reads 7.3 (HDF5) in its own process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.extras import require_optional
from seqspan.readers._arrays import REAL_KINDS, ArrayOptions, arrays_to_recording
from seqspan.readers._isolated import run_isolated
from seqspan.readers._limits import check_bytes
from seqspan.readers._registry import Reader
from seqspan.recording import Recording

MATLAB = b"MATLAB"
HDF5 = b"\x89HDF\r\n\x1a\n"
NUMERIC_CLASSES = {
    *("double", "single", "logical", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
}


def load_matlab(path: Path, options: ArrayOptions, max_bytes: int) -> Recording:
    """Read the variables of a MATLAB file that are needed."""
    with path.open("rb") as file:
        head = file.read(512 + len(HDF5))
    if is_hdf5(head):
        by_columns = head.startswith(MATLAB) or path.suffix == ".mat"
        return _load_73(path, options, max_bytes, by_columns)
    return _load_5(path, options, max_bytes)


def _load_5(path: Path, options: ArrayOptions, max_bytes: int) -> Recording:
    """Read a file of MATLAB 4 to 7."""
    from scipy.io import loadmat, whosmat

    listed = whosmat(str(path))
    shapes = {name: tuple(map(int, shape)) for name, shape, kind in listed if kind in NUMERIC_CLASSES}
    if listed and not shapes:
        held = ", ".join(f"{name} ({kind})" for name, _, kind in listed)
        raise ValueError(f"the file holds no array of real numbers, but {held}; save the array by itself.")

    def fetch(names: list[str]) -> dict[str, npt.NDArray[Any]]:
        n_bytes = sum(8 * int(np.prod(shapes[name], dtype=object)) for name in names)
        check_bytes(n_bytes, max_bytes, f"the variables {', '.join(names)}")
        found = loadmat(str(path), variable_names=names, squeeze_me=False)
        return {name: real_numbers(name, found[name]) for name in names}

    return arrays_to_recording(shapes, fetch, options)


def _load_73(path: Path, options: ArrayOptions, max_bytes: int, by_columns: bool) -> Recording:
    """Read a file of MATLAB 7.3, or another HDF5 file; MATLAB alone stores columns first."""
    require_optional("h5py", "reading MATLAB 7.3 files")
    _, about = run_isolated("hdf5_list", path, max_bytes, by_columns=by_columns)
    shapes = {name: tuple(shape) for name, shape in about["shapes"].items()}

    def fetch(names: list[str]) -> dict[str, npt.NDArray[Any]]:
        arrays, _ = run_isolated("hdf5", path, max_bytes, names=names, by_columns=by_columns)
        return {name: real_numbers(name, arrays[name]) for name in names}

    return arrays_to_recording(shapes, fetch, options)


def real_numbers(name: str, values: Any) -> npt.NDArray[Any]:
    """Refuse variables that are listed as numbers but are complex or structured."""
    array = np.asarray(values)
    if array.dtype.kind not in REAL_KINDS:
        raise ValueError(f"variable {name!r} must hold real numbers; it holds {array.dtype}.")
    return array


def is_hdf5(head: bytes) -> bool:
    """Recognise version 7.3 by the magic bytes of HDF5, at the start or after MATLAB's 512-byte header."""
    return head.startswith(HDF5) or head[512:].startswith(HDF5)


def looks_like_matlab(head: bytes) -> bool:
    """Recognise MATLAB files by their header, or version 4, which has none, by its small type code."""
    version_4 = len(head) >= 20 and head[1:4] == b"\x00\x00\x00" and head[0] <= 52
    return head.startswith(MATLAB) or is_hdf5(head) or version_4


READERS = (
    Reader(
        name="mat",
        title="a MATLAB file",
        extensions=(".mat",),
        options=ArrayOptions,
        load=load_matlab,
        matches=looks_like_matlab,
    ),
)
