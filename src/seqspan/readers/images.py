"""Folders of pictures, and files of many (TIFF, GIF), one picture after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seqspan.readers._errors import naming
from seqspan.readers._frames import FrameOptions, Pixels, RowStore, frame_sequence, sample_times
from seqspan.readers._limits import MAX_PIXELS
from seqspan.readers._registry import Reader, extension_of
from seqspan.recording import Recording

if TYPE_CHECKING:
    from PIL.Image import Image

EXTENSIONS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp", ".pgm", ".ppm")
# Named one by one: the others of Pillow's formats are not pictures in recording, and some run interpreters.
FORMATS = ("PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP", "PPM")
MAX_PAGES = 10**6


def load_images(path: Path, options: FrameOptions, max_bytes: int) -> Recording:
    """Read a folder of pictures in the order of their names, or the pages of one file."""
    files = picture_files(path) if path.is_dir() else [path]
    store = RowStore(int(np.prod(options.shape)), max_bytes)
    durations: list[float] = []
    n_pictures = 0
    for file in files:
        with naming(file, "a picture"):
            for page, milliseconds in _pages(file):
                if n_pictures % options.stride == 0:
                    store.append(_reduce(page, options))
                durations.append(milliseconds)
                n_pictures += 1
    rows, notes = store.finish()
    times, unit = _times(durations)
    if path.is_dir():
        notes = [f"{len(files)} files in the order of their names, numbers by value", *notes]
    return frame_sequence(rows, options, times[:: options.stride], unit, notes)


def picture_files(folder: Path) -> list[Path]:
    """List the pictures of a folder so that frame10 comes after frame9."""
    files = [file for file in folder.iterdir() if file.is_file() and extension_of(file) in EXTENSIONS]
    if not files:
        raise ValueError(f"the folder holds no pictures ({' '.join(EXTENSIONS)}).")
    return sorted(files, key=natural_key)


def natural_key(path: Path) -> list[tuple[int, str]]:
    """Order names by the numbers in them, by value."""
    parts = re.split(r"(\d+)", path.name.lower())
    return [(int(part), "") if part.isdigit() and part.isascii() else (-1, part) for part in parts]


def _pages(path: Path) -> Iterator[tuple[Image, float]]:
    """Yield every page of a file with the milliseconds it is shown, 0 where that has no meaning."""
    from PIL import Image

    with path.open("rb") as file, Image.open(file, formats=FORMATS) as image:
        for number in range(MAX_PAGES):
            try:
                image.seek(number)
            except EOFError:
                return
            width, height = image.size
            if width * height > MAX_PIXELS:
                raise ValueError(f"a picture of {width} x {height} pixels; at most {MAX_PIXELS} fit.")
            yield image, float(image.info.get("duration", 0) or 0)
    raise ValueError(f"it has more than {MAX_PAGES} pages.")


def _reduce(image: Image, options: FrameOptions) -> Pixels:
    """Scale one picture and flatten it, upright as its metadata asks."""
    from PIL import Image, ImageOps

    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I") or upright.mode == "F":  # sixteen bits and floats: spread over a byte
        upright = _to_bytes(upright)
    picture = upright.convert("RGB" if options.colour else "L")
    small = picture.resize(options.size, Image.Resampling.BILINEAR)
    return np.asarray(small, np.uint8).reshape(-1)


def _to_bytes(image: Image) -> Image:
    """Bring deep pixels to bytes by their type's range (16 bits) or as they are (floats in [0, 255])."""
    from PIL import Image

    values = np.asarray(image, float)
    # Pillow tells 16 bits by the mode, except where a format makes it "I", of 32
    if image.mode.startswith("I;16") or values.max(initial=0) > 255:
        values = values / 257  # 65535 / 255
    return Image.fromarray(np.clip(np.round(values), 0, 255).astype(np.uint8))


def _times(durations: list[float]) -> tuple[list[float], str]:
    """Turn the durations of an animation into times in seconds; pictures without any are counted."""
    if not any(durations):
        return sample_times(len(durations)).tolist(), "sample"
    return (np.concatenate([[0.0], np.cumsum(durations)[:-1]]) / 1000).tolist(), "s"


def looks_like_picture(head: bytes) -> bool:
    """Tell pictures by their magic bytes."""
    starts = (b"\x89PNG", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+", b"GIF8", b"BM")
    webp = head[:4] == b"RIFF" and head[8:12] == b"WEBP"
    return head.startswith(starts) or webp or (head[:1] == b"P" and head[1:2] in b"23456" and len(head) > 2)


READERS = (
    Reader(
        name="images",
        title="a picture or a folder of them",
        extensions=EXTENSIONS,
        options=FrameOptions,
        load=load_images,
        matches=looks_like_picture,
        folder=True,
    ),
)
