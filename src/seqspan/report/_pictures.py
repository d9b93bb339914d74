"""Matrices and video frames as small pictures for the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.types import Array, IntArray
from seqspan.cuts.spectral.affinity import SharedAffinity
from seqspan.readers.video import pick_frames
from seqspan.recording import FrameView, Recording

MAX_SIDE = 320  # cells per side of a heat map
THUMBNAIL = (176, 132)  # pixels; largest width and height
JPEG_QUALITY = 72  # percent
SEEK_SECONDS = 8.0  # seconds between two frames, above which seeking beats decoding everything in between
Picture = npt.NDArray[np.uint8]


def heat_map(matrix: Array) -> dict[str, Any]:
    """Reduce a matrix to a picture of at most 320 x 320 cells, each the largest magnitude of its block.

    Returns
    -------
    dict
        As returned by :func:`paint`.
    """
    return _pool_largest(lambda block: np.abs(matrix[block]), matrix.shape)


def symmetric_heat_map(Z: Array) -> dict[str, Any]:
    """The heat map of ``|Z| + |Z|^T``, which is never held as a whole.

    Returns
    -------
    dict
        As returned by :func:`paint`.
    """
    return _pool_largest(lambda block: np.abs(Z[block]) + np.abs(Z[:, block]).T, Z.shape)


def _pool_largest(take: Callable[[slice], Array], shape: tuple[int, ...]) -> dict[str, Any]:
    """Pool a matrix that is handed out in blocks of rows."""
    rows, columns = (-(-count // MAX_SIDE) for count in shape)
    largest = [take(slice(start, start + rows)).max(axis=0) for start in range(0, shape[0], rows)]
    pooled = np.maximum.reduceat(np.stack(largest), np.arange(0, shape[1], columns), axis=1)
    return paint(pooled, (rows, columns), "largest")


def affinity_map(Z: Array) -> dict[str, Any]:
    """Reduce affinities through landmarks to a picture; each cell is the mean of its block.

    Affinities are sums over landmarks, so blocks of columns can be added up before anything is multiplied.
    """
    size = -(-Z.shape[1] // MAX_SIDE)
    starts = np.arange(0, Z.shape[1], size)
    counts = np.diff(np.append(starts, Z.shape[1]))
    sums = np.stack([np.add.reduceat(np.abs(row), starts) for row in Z])
    return paint(SharedAffinity(sums).pooled(1) / np.outer(counts, counts), (size, size), "mean")


def paint(pooled: Array, size: tuple[int, int], what: str) -> dict[str, Any]:
    """Draw cells that each stand for a block of `size` rows and columns of a matrix.

    Returns
    -------
    dict
        ``picture``: a PNG as a data URI. Shades are square roots, so that small entries are visible; 255
        stands for ``top``, the 99.5th percentile of the cells. ``size``: rows and columns of a block.
        ``what``: which value of the block a cell shows.
    """
    top = float(np.percentile(pooled, 99.5)) or float(pooled.max()) or 1.0
    shade = np.sqrt(np.clip(pooled / top, 0, 1)) * 255
    return {"picture": to_uri(shade.round().astype(np.uint8), "PNG"), "top": top, "size": size, "what": what}


def to_uri(picture: Picture, form: str) -> str:
    """Encode a grey or colour picture as a data URI."""
    from PIL import Image

    buffer = io.BytesIO()
    options: dict[str, Any] = {"quality": JPEG_QUALITY} if form == "JPEG" else {"optimize": True}
    Image.fromarray(picture).save(buffer, form, **options)
    return f"data:image/{form.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def thumbnails(recording: Recording, indices: IntArray) -> dict[int, str]:
    """Thumbnails of some samples of a video; in colour if the film itself can be read.

    Parameters
    ----------
    recording : Recording
        Of kind "video".
    indices : array of int, ascending

    Returns
    -------
    dict of int to str
        Data URIs.
    """
    if recording.read_options.get("format") == "video" and Path(recording.source).is_file():
        frames = film_frames(recording.source, recording.times[indices])
        found = {int(i): picture for i, picture in zip(indices, frames, strict=False)}
        if len(found) == len(indices):
            return {i: to_uri(picture, "JPEG") for i, picture in found.items()}
    if not isinstance(recording.view, FrameView):
        return {}
    return {int(i): to_uri(np.ascontiguousarray(recording.view.sample(int(i))), "JPEG") for i in indices}


def film_frames(source: str, times: Array) -> Iterator[Picture]:
    """Yield the frames at the given ascending times, scaled down, in colour."""
    return pick_frames(source, times.tolist(), THUMBNAIL, SEEK_SECONDS)
