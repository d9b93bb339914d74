"""Pictures, decoded by Pillow in the other process; only scaled-down pictures leave it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqspan.readers._decoder import Channel
from seqspan.readers._limits import MAX_PIXELS

if TYPE_CHECKING:
    from PIL.Image import Image

# A list of our own: other formats of Pillow are not image sequences, and some run interpreters.
FORMATS = ("PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP", "PPM")


def decode_images(
    channel: Channel, files: list[str], size: tuple[int, int], colour: bool, stride: int, max_pages: int
) -> list[float]:
    """Send every stride-th page of some files; return the durations of all pages in milliseconds."""
    durations: list[float] = []
    for number, file in enumerate(files):
        channel.send_file(number)
        for page, milliseconds in _pages(Path(file), max_pages):
            if len(durations) % stride == 0:
                channel.send_frame(0.0, _scale(page, tuple(size), colour))
            channel.beat()
            durations.append(milliseconds)
    return durations


def _pages(path: Path, max_pages: int) -> Iterator[tuple[Image, float]]:
    """Yield each page of a file with its duration in milliseconds, 0 if it has none."""
    from PIL import Image

    with path.open("rb") as file, Image.open(file, formats=FORMATS) as image:
        for number in range(max_pages):
            try:
                image.seek(number)
            except EOFError:
                return
            width, height = image.size
            if width * height > MAX_PIXELS:
                raise ValueError(f"images may have up to {MAX_PIXELS} pixels; got {width} x {height}.")
            yield image, float(image.info.get("duration", 0) or 0)
    raise ValueError(f"the file has more than {max_pages} pages.")


def _scale(image: Image, size: tuple[int, ...], colour: bool) -> npt.NDArray[Any]:
    """Scale one image, and rotate it as its metadata say."""
    from PIL import Image, ImageOps

    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I") or upright.mode == "F":  # 16 bits, or floats
        upright = _to_bytes(upright, image.format == "TIFF")
    converted = upright.convert("RGB" if colour else "L")
    small = converted.resize((size[0], size[1]), Image.Resampling.BILINEAR)
    return np.asarray(small, np.uint8)


def _to_bytes(image: Image, is_tiff: bool) -> Image:
    """Convert 16-bit pixels by their full range, and pixels of 32 bits that are grey levels as they are.

    All pictures are converted in the same way, whatever their values: otherwise dark ones would be others.
    """
    from PIL import Image

    values = np.asarray(image, float)
    # Pillow's mode says 16 bits, except for formats other than TIFF, which it may read as mode "I"
    if image.mode.startswith("I;16") or (image.mode == "I" and not is_tiff):
        values = values / 257  # 65535 / 255
    else:
        _require_grey_levels(values)
    return Image.fromarray(np.clip(np.round(values), 0, 255).astype(np.uint8))


def _require_grey_levels(values: npt.NDArray[Any]) -> None:
    """Refuse pixels that would be cut off at 255, or of which only zeros and ones would be left."""
    least, largest = values.min(), values.max()
    is_share = largest <= 1 and (values != np.round(values)).any()
    if not (least >= 0 and largest <= 255) or is_share:  # also not a number
        raise ValueError(
            f"pixels of 32 bits must be grey levels from 0 to 255; got {least:g} to {largest:g}. Save the "
            "pictures with 8 or 16 bits, or as an array (.npy)."
        )
