"""Images, decoded by Pillow in its own process: folders of them, and files that hold several (TIFF, GIF)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from seqspan._core.text import count_of
from seqspan.readers._errors import name_file_in_errors
from seqspan.readers._frames import FrameOptions, RowStore, frames_to_recording, sample_times
from seqspan.readers._registry import Reader, extension_of
from seqspan.readers._streams import FileBegins, Frame, stream
from seqspan.recording import Recording

EXTENSIONS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp", ".pgm", ".ppm")
MAX_PAGES = 10**6
DECODE = "seqspan.readers._pages:decode_images"


def load_images(path: Path, options: FrameOptions, max_bytes: int) -> Recording:
    """Read the images of a folder in the order of their names, or the pages of one file."""
    files = image_files(path, options)
    store = RowStore(int(np.prod(options.shape)), max_bytes)
    request = {"size": options.size, "colour": options.colour, "stride": options.stride}
    messages = stream(DECODE, files=[str(file) for file in files], max_pages=MAX_PAGES, **request)
    file, durations = files[0], None
    while durations is None:
        with name_file_in_errors(file, "an image"):
            message = next(messages)
            if isinstance(message, Frame):
                store.append(message.pixels.reshape(-1))
            elif isinstance(message, FileBegins):
                file = files[message.number]
            else:
                durations = message.about
    rows, notes = store.finish()
    times, unit = _times(durations)
    if path.is_dir():
        notes = [f"{count_of(len(files), 'file')}, sorted by name (numbers by value)", *notes]
    return frames_to_recording(rows, options, times[:: options.stride], unit, notes)


def image_files(path: Path, options: FrameOptions) -> list[Path]:
    """List the images of a folder, frame10 after frame9; or the file itself."""
    if not path.is_dir():
        return [path]
    files = [file for file in path.iterdir() if file.is_file() and extension_of(file) in EXTENSIONS]
    if not files:
        raise ValueError(f"the folder holds no images ({' '.join(EXTENSIONS)}).")
    return sorted(files, key=natural_key)


def natural_key(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Sort key for names: by the value of the numbers in them; f1 and f01 must have an order, too."""
    parts = re.split(r"(\d+)", path.name.lower())
    values = [(int(part), "") if part.isdigit() and part.isascii() else (-1, part) for part in parts]
    return values, path.name


def _times(durations: list[float]) -> tuple[list[float], str]:
    """Convert durations in milliseconds to times in seconds; without durations, count the images."""
    if not any(durations):
        return sample_times(len(durations)).tolist(), "sample"
    return (np.concatenate([[0.0], np.cumsum(durations)[:-1]]) / 1000).tolist(), "s"


def looks_like_image(head: bytes) -> bool:
    """Recognise images by their magic bytes."""
    starts = (b"\x89PNG", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+", b"GIF8", b"BM")
    webp = head[:4] == b"RIFF" and head[8:12] == b"WEBP"
    return head.startswith(starts) or webp or (head[:1] == b"P" and head[1:2] in b"23456" and len(head) > 2)


READERS = (
    Reader(
        name="images",
        title="an image or a folder of images",
        extensions=EXTENSIONS,
        options=FrameOptions,
        load=load_images,
        matches=looks_like_image,
        files=image_files,
        folder=True,
    ),
)
