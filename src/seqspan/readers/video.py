"""Video, decoded by PyAV (FFmpeg) in its own process: only scaled-down frames are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from seqspan._core.checks import check_choice
from seqspan._core.extras import require_optional
from seqspan.readers._errors import DAMAGED_CHOICES, KEEP_DAMAGED
from seqspan.readers._frames import FrameOptions, Pixels, RowStore, frames_to_recording
from seqspan.readers._registry import Reader
from seqspan.readers._streams import Frame, Result, run_task, stream
from seqspan.recording import Recording

EXTENSIONS = (
    *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".m2ts", ".mts", ".wmv"),
    *(".flv", ".ogv", ".ogg", ".3gp", ".mxf", ".vob", ".y4m", ".ivf", ".h264", ".h265", ".asf"),
)
#: What the other process does.
DECODE = "seqspan.readers._films:decode_film"
PROBE = "seqspan.readers._films:probe_film"
PICK = "seqspan.readers._films:pick_frames"


@dataclass(frozen=True)
class VideoOptions(FrameOptions):
    """Which frames of a film are read, and how.

    Parameters
    ----------
    size, colour, stride
        As for images.
    start, stop : float, optional
        Time range in seconds, without `stop` itself.
    damaged : {"error", "keep"}
        Whether a film that ends early is an error, or is read up to there.
    """

    start: float | None = None
    stop: float | None = None
    damaged: str = "error"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("damaged", self.damaged, DAMAGED_CHOICES)
        if self.start is not None and self.stop is not None and self.stop <= self.start:
            raise ValueError(f"stop must be after start; got start={self.start}, stop={self.stop}.")

    @property
    def selection(self) -> dict[str, Any]:
        """What the decoder has to know."""
        names = ("size", "pixel_format", "stride", "start", "stop")
        return {name: getattr(self, name) for name in names}


def load_video(path: Path, options: VideoOptions, max_bytes: int) -> Recording:
    """Read a film into rows of pixels."""
    require_optional("av", "reading video")
    store = RowStore(int(np.prod(options.shape)), max_bytes)
    times: list[float] = []
    about: dict[str, Any] = {}
    for message in stream(DECODE, path=str(path), selection=options.selection):
        if isinstance(message, Frame):
            store.append(message.pixels.reshape(-1))
            times.append(message.time)
        elif isinstance(message, Result):
            about = message.about
    notes = _note_damage(about["problem"], options)
    rows, storage_notes = store.finish()
    if times != sorted(times):
        # AVI stamps packets in decoding order, but frames arrive in display order: sorting is correct.
        times.sort()
        notes.append("time stamps were out of order and have been sorted")
    found = frames_to_recording(rows, options, times, "s", [*notes, *about["notes"], *storage_notes])
    return replace(found, rows=about["n_skipped"] + found.file_rows)


def probe_film(path: str | PathLike[str]) -> tuple[Fraction, tuple[int, int]]:
    """Return the frame rate of a film, and width and height of its frames as they are shown."""
    require_optional("av", "reading video")
    about = run_task(PROBE, path=str(path))
    return Fraction(*about["rate"]), tuple(about["size"])


def pick_frames(
    path: str | PathLike[str], times: list[float], size: tuple[int, int], seek_seconds: float
) -> Iterator[Pixels]:
    """Yield the frames nearest to some ascending times, in colour and no larger than `size`.

    Frames further apart than `seek_seconds` are sought. If the film has become shorter, there are fewer.
    """
    require_optional("av", "reading video")
    request = {"path": str(path), "times": times, "size": size, "seek_seconds": seek_seconds}
    for message in stream(PICK, **request):
        if isinstance(message, Frame):
            yield message.pixels


def _note_damage(problem: str, options: VideoOptions) -> list[str]:
    """Raise if the film is damaged, or note it if the user wants what is there."""
    if problem and options.damaged == "error":
        raise ValueError(f"the video is incomplete: {problem}; {KEEP_DAMAGED}")
    return [problem] if problem else []


def looks_like_video(head: bytes) -> bool:
    """Recognise the common containers by their magic bytes."""
    starts = (
        b"\x1aE\xdf\xa3",  # Matroska, WebM
        b"OggS",
        b"FLV",
        b"\x00\x00\x01\xba",  # MPEG program stream
        b"\x00\x00\x01\xb3",  # MPEG elementary stream
        b"\x00\x00\x00\x01",  # H.264, H.265 elementary stream
        b"0&\xb2u\x8ef\xcf\x11",  # ASF (Windows Media)
        b"\x06\x0e+4",  # MXF
        b"YUV4MPEG2",
        b"DKIF",  # IVF
    )
    boxes = (b"ftyp", b"moov", b"mdat", b"free", b"wide", b"skip")
    transport = head[:1] == b"G" and head[188:189] == b"G"
    bluray = head[4:5] == b"G" and head[196:197] == b"G"
    riff = head[:4] == b"RIFF" and head[8:12] == b"AVI "
    return head.startswith(starts) or head[4:8] in boxes or riff or transport or bluray


READERS = (
    Reader(
        name="video",
        title="a video",
        extensions=EXTENSIONS,
        options=VideoOptions,
        load=load_video,
        matches=looks_like_video,
    ),
)
