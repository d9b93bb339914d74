"""Images: folders of them, and files that hold several (TIFF, GIF)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seqspan._core.text import count_of
from seqspan.readers._errors import name_file_in_errors
from seqspan.readers._frames import FrameOptions, Pixels, RowStore, frames_to_recording, sample_times
from seqspan.readers._limits import MAX_PIXELS
from seqspan.readers._registry import Reader, extension_of
from seqspan.recording import Recording

if TYPE_CHECKING:
    from PIL.Image import Image

EXTENSIONS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp", ".pgm", ".ppm")
# A list of our own: other formats of Pillow are not image sequences, and some run interpreters.
FORMATS = ("PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP", "PPM")
MAX_PAGES = 10**6


def load_images(path: Path, options: FrameOptions, max_bytes: int) -> Recording:
    """Read the images of a folder in the order of their names, or the pages of one file."""
    files = image_files(path, options)
    store = RowStore(int(np.prod(options.shape)), max_bytes)
    durations: list[float] = []
    n_images = 0
    for file in files:
        with name_file_in_errors(file, "an image"):
            for page, milliseconds in _pages(file):
                if n_images % options.stride == 0:
                    store.append(_scale(page, options))
                durations.append(milliseconds)
                n_images += 1
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


def natural_key(path: Path) -> list[tuple[int, str]]:
    """Sort key for names: by the value of the numbers in them."""
    parts = re.split(r"(\d+)", path.name.lower())
    return [(int(part), "") if part.isdigit() and part.isascii() else (-1, part) for part in parts]


def _pages(path: Path) -> Iterator[tuple[Image, float]]:
    """Yield each page of a file with its duration in milliseconds, 0 if it has none."""
    from PIL import Image

    with path.open("rb") as file, Image.open(file, formats=FORMATS) as image:
        for number in range(MAX_PAGES):
            try:
                image.seek(number)
            except EOFError:
                return
            width, height = image.size
            if width * height > MAX_PIXELS:
                raise ValueError(f"images may have up to {MAX_PIXELS} pixels; got {width} x {height}.")
            yield image, float(image.info.get("duration", 0) or 0)
    raise ValueError(f"the file has more than {MAX_PAGES} pages.")


def _scale(image: Image, options: FrameOptions) -> Pixels:
    """Scale, rotate (as the metadata says) and flatten one image."""
    from PIL import Image, ImageOps

    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I") or upright.mode == "F":  # 16 bits, or floats
        upright = _to_bytes(upright)
    converted = upright.convert("RGB" if options.colour else "L")
    small = converted.resize(options.size, Image.Resampling.BILINEAR)
    return np.asarray(small, np.uint8).reshape(-1)


def _to_bytes(image: Image) -> Image:
    """Convert 16-bit pixels by their full range, and floats in [0, 255] as they are, to bytes."""
    from PIL import Image

    values = np.asarray(image, float)
    # Pillow's mode says 16 bits, except for formats that it reads as mode "I", of 32 bits.
    if image.mode.startswith("I;16") or values.max(initial=0) > 255:
        values = values / 257  # 65535 / 255
    return Image.fromarray(np.clip(np.round(values), 0, 255).astype(np.uint8))


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
