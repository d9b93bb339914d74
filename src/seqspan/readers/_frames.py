"""Shared by the readers of video and images: their options, and a store for many frames."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

import numpy as np
import numpy.typing as npt

from seqspan._core.text import count_of
from seqspan._core.types import Array
from seqspan.readers._limits import check_bytes, describe_bytes
from seqspan.recording import FrameView, Recording

Pixels = npt.NDArray[np.uint8]
MEMORY_BYTES = 2**27  # more than this moves to a temporary file: an hour of film would be 1.1 GB


@dataclass(frozen=True)
class FrameOptions:
    """Size and colour of the frames; the default is the paper's, grey and 129 x 96.

    Parameters
    ----------
    size : (int, int)
        Width and height to which each frame is scaled.
    colour : bool
        Keep red, green and blue (three values per pixel) instead of grey.
    stride : int
        Keep every stride-th frame.
    """

    size: tuple[int, int] = (129, 96)
    colour: bool = False
    stride: int = 1

    def __post_init__(self) -> None:
        if len(self.size) != 2 or min(self.size) < 1 or max(self.size) > 4096:
            raise ValueError(f"size must be a width and a height in [1, 4096]; got {self.size}.")
        if self.stride < 1:
            raise ValueError(f"stride must be at least 1; got {self.stride}.")

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame as an array."""
        width, height = self.size
        return (height, width, 3) if self.colour else (height, width)

    @property
    def pixel_format(self) -> str:
        """FFmpeg's name for the pixel format."""
        return "rgb24" if self.colour else "gray"


class RowStore:
    """Rows of bytes, appended one by one, that move from memory to a temporary file when there are many.

    The file is memory-mapped only once it is complete: mapped pages count as memory in use.
    """

    def __init__(self, row_bytes: int, limit: int, memory_bytes: int = MEMORY_BYTES) -> None:
        self.n_rows = 0
        self.row_bytes = row_bytes
        self._limit = limit
        self._memory_bytes = memory_bytes
        self._buffer = bytearray()
        self._file: IO[bytes] | None = None

    def append(self, row: Pixels) -> None:
        """Add one row."""
        self.n_rows += 1
        check_bytes(self.n_rows * self.row_bytes, self._limit, "the frames")
        data = np.ascontiguousarray(row).data
        if self._file is not None:
            self._file.write(data)
        else:
            self._buffer += data
            self._move_to_file_if_full()

    def _move_to_file_if_full(self) -> None:
        """Write the rows to a file that the system deletes after its last use."""
        if len(self._buffer) > self._memory_bytes:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - outlives this call
            self._file.write(self._buffer)
            self._buffer = bytearray()

    def finish(self) -> tuple[Pixels, list[str]]:
        """Return the rows, of shape (n_rows, row_bytes), and a note if they are in a file."""
        shape = (self.n_rows, self.row_bytes)
        if self._file is None:
            return np.frombuffer(self._buffer, np.uint8).reshape(shape), []
        self._file.flush()
        rows = np.memmap(self._file, np.uint8, "r", shape=shape)
        self._file.close()  # the mapping keeps the content
        size = describe_bytes(self.n_rows * self.row_bytes)
        return rows, [f"the frames ({size}) are in a memory-mapped temporary file"]


def frames_to_recording(
    rows: Pixels, options: FrameOptions, times: Iterable[float], time_unit: str, notes: list[str]
) -> Recording:
    """Make a recording of kind "video" from rows of pixels."""
    if not len(rows):
        raise ValueError("there are no frames in the chosen time range.")
    moments = np.fromiter(times, float)
    return Recording(
        X=rows,
        times=moments,
        time_unit=time_unit,
        feature_names=pixel_names(options.shape),
        kind="video",
        notes=(*notes, *_note_stride(options.stride, moments, time_unit)),
        view=FrameView(rows.reshape(len(rows), *options.shape)),
        rows=options.stride * np.arange(len(rows)),
    )


def _note_stride(stride: int, times: Array, time_unit: str) -> list[str]:
    """Say how precise boundaries are if frames were skipped: one is seen at the next frame that was read."""
    if stride == 1:
        return []
    late = count_of(stride - 1, "frame")
    if time_unit == "s" and len(times) > 1:
        late += f" ({np.median(np.diff(times)) * (stride - 1) / stride:.2g} s)"
    return [f"read one frame in {stride}, so a boundary can be late by up to {late}"]


def pixel_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Name the values of a flattened image by row, column and channel."""
    names = [f"{row},{column}" for row in range(shape[0]) for column in range(shape[1])]
    if len(shape) == 2:
        return tuple(names)
    return tuple(f"{name},{channel}" for name in names for channel in "rgb")


def sample_times(n_samples: int, rate: float = 1.0) -> Array:
    """Return the times of samples at a constant rate, from 0."""
    return np.arange(n_samples) / rate
