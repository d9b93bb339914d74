"""What each span looks like: frames, moving figures, mean spectra, or the features that matter over time."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from seqspan._core.spans import boundaries_from_labels
from seqspan._core.types import Array, IntArray
from seqspan.recording import FrameView, PoseView, Recording, SpectrumView
from seqspan.report._channels import describe_channels, describe_spectra
from seqspan.report._pictures import thumbnails

MAX_THUMBNAILS = 240
MAX_POSES = 3000
POSES_PER_SECOND = 12.0  # a figure that moves needs no more
REACH = 127  # coordinates of figures are integers from -127 to 127


def make_view(recording: Recording, cuts: Mapping[int, IntArray], chosen: int) -> dict[str, Any]:
    """Choose how spans are shown, and collect the data that the page needs for it.

    Parameters
    ----------
    recording : Recording
    cuts : mapping of int to array of shape (n_samples,)
        Labels, keyed by the number on the slider.
    chosen : int
        The number that was found. Its spans are shown exactly, those of others by the nearest picture.

    Returns
    -------
    dict
        ``kind`` is "frames", "poses", "spectra" or "channels".
    """
    view = recording.view
    if isinstance(view, FrameView):
        pictures = thumbnails(recording, wanted_samples(cuts, chosen, MAX_THUMBNAILS))
        return {"kind": "frames", "pictures": {str(index): uri for index, uri in pictures.items()}}
    if isinstance(view, PoseView) and len(view.joint_names) > 1:
        return _poses(view, _moving_samples(recording, cuts, chosen))
    found = {"labels": np.unique(cuts[chosen]).tolist()}
    if isinstance(view, SpectrumView):
        return describe_spectra(view, cuts[chosen]) | found
    return describe_channels(recording, cuts[chosen]) | found


def wanted_samples(cuts: Mapping[int, IntArray], chosen: int, most: int) -> IntArray:
    """Samples worth showing: the middle of each span, longest first, then its ends; the cut `chosen` first.

    Examples
    --------
    >>> wanted_samples({1: np.zeros(9, int), 2: np.array([0] * 6 + [1] * 3)}, 2, 6)
    array([0, 2, 5, 6, 7, 8])
    >>> wanted_samples({1: np.zeros(9, int), 2: np.array([0] * 6 + [1] * 3)}, 2, 3)
    array([0, 2, 7])
    """
    wanted: dict[int, None] = {}
    for k in sorted(cuts, key=lambda k: abs(k - chosen)):
        edges = np.concatenate([[0], boundaries_from_labels(cuts[k]), [len(cuts[k])]])
        longest = np.argsort(-np.diff(edges), kind="stable")
        firsts, lasts = edges[:-1][longest], edges[1:][longest] - 1
        ends = np.stack([firsts, lasts], axis=1).ravel()
        for index in np.concatenate([(firsts + lasts) // 2, ends]):
            wanted.setdefault(int(index))
    return np.sort(np.array(list(wanted)[:most], dtype=np.intp))


def _moving_samples(recording: Recording, cuts: Mapping[int, IntArray], chosen: int) -> IntArray:
    """Poses at even steps in time, and those of the spans themselves."""
    length = float(recording.times[-1] - recording.times[0])
    per_second = len(recording) / length if recording.time_unit == "s" and length > 0 else 1.0
    step = max(per_second / POSES_PER_SECOND, 2 * len(recording) / MAX_POSES, 1.0)
    even = (np.arange(int(len(recording) / step)) * step).astype(np.intp)  # none at the end, by rounding
    return np.union1d(even, wanted_samples(cuts, chosen, MAX_POSES // 2))


def _poses(view: PoseView, indices: IntArray) -> dict[str, Any]:
    """Joints seen from the side where the body is widest; two signed bytes each, encoded as base64."""
    positions = np.nan_to_num(view.positions[indices].astype(float))
    up, across = _axes(positions)
    flat = np.stack([positions[..., across], positions[..., up]], axis=-1)
    flat -= flat.mean(axis=1, keepdims=True)  # keep the figure centred while the body walks
    # a few poses with outstretched arms must not make all the others small
    extent = float(np.percentile(np.abs(flat).max(axis=(1, 2)), 90)) or 1.0
    points = np.clip(np.round(flat / extent * 0.9 * REACH), -REACH, REACH).astype(np.int8)
    return {
        "kind": "poses",
        "edges": [list(edge) for edge in view.edges],
        "joints": points.shape[1],
        "wide": int(np.percentile(np.abs(points[..., 0].astype(int)).max(axis=1), 95)) + 4,
        "samples": indices.tolist(),
        "points": base64.b64encode(points.tobytes()).decode(),
    }


def _axes(positions: Array) -> tuple[int, int]:
    """The axis along which the body is tallest, and the wider of the other two."""
    heights = np.median(np.ptp(positions, axis=1), axis=0)
    up = int(np.argmax(heights))
    across = max((axis for axis in range(3) if axis != up), key=lambda axis: float(heights[axis]))
    return up, across
