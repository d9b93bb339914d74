"""What each span looks like: frames, stick figures, mean spectra, or the leading components over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import svds

from seqspan._core.spans import boundaries_from_labels
from seqspan._core.text import printable
from seqspan._core.types import Array, IntArray
from seqspan.preprocess import make_chain
from seqspan.recording import FrameView, PoseView, Recording, SpectrumView
from seqspan.report._pictures import thumbnails

MAX_THUMBNAILS = 240
MAX_POSES = 400
MAX_BLOCKS = 240  # blocks of samples whose spectra are averaged
MAX_BANDS = 160  # wavelengths per spectrum
MAX_COMPONENT_POINTS = 2000  # points in time per component
N_COMPONENTS = 3
N_NAMES = 3  # names of features with the largest loadings of a component
STEPS = 999  # values in the page are integers from 0 to this


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
        ``kind`` is "frames", "poses", "spectra" or "components".
    """
    view = recording.view
    if isinstance(view, FrameView):
        wanted = wanted_samples(cuts, chosen, MAX_THUMBNAILS)
        pictures = thumbnails(recording, wanted)
        return {"kind": "frames", "pictures": {str(index): uri for index, uri in pictures.items()}}
    if isinstance(view, PoseView) and len(view.joint_names) > 1:
        return _poses(view, wanted_samples(cuts, chosen, MAX_POSES))
    if isinstance(view, SpectrumView):
        return _spectra(view)
    return _components(recording)


def wanted_samples(cuts: Mapping[int, IntArray], chosen: int, most: int) -> IntArray:
    """Samples worth showing: the first, middle and last of each span, starting with the cut `chosen`.

    Examples
    --------
    >>> wanted_samples({1: np.zeros(9, int), 2: np.array([0] * 6 + [1] * 3)}, 2, 6)
    array([0, 2, 5, 6, 7, 8])
    """
    wanted: dict[int, None] = {}
    for k in sorted(cuts, key=lambda k: abs(k - chosen)):
        edges = np.concatenate([[0], boundaries_from_labels(cuts[k]), [len(cuts[k])]])
        firsts, lasts = edges[:-1], edges[1:] - 1
        for index in np.stack([firsts, (firsts + lasts) // 2, lasts], axis=1).ravel():
            wanted.setdefault(int(index))
    return np.sort(np.array(list(wanted)[:most], dtype=np.intp))


def _poses(view: PoseView, indices: IntArray) -> dict[str, Any]:
    """Joints seen from the side where the body is widest, in thousandths of their extent."""
    positions = np.nan_to_num(view.positions[indices].astype(float))
    up, across = _axes(positions)
    flat = np.stack([positions[..., across], positions[..., up]], axis=-1)
    flat -= flat.mean(axis=1, keepdims=True)  # keep the figure centred while the body walks
    # a few poses with outstretched arms must not make all the others small
    extent = float(np.percentile(np.abs(flat).max(axis=(1, 2)), 90)) or 1.0
    points = np.round(flat / extent * STEPS).astype(int)
    return {
        "kind": "poses",
        "edges": [list(edge) for edge in view.edges],
        "poses": {
            str(int(index)): pose.ravel().tolist() for index, pose in zip(indices, points, strict=True)
        },
    }


def _axes(positions: Array) -> tuple[int, int]:
    """The axis along which the body is tallest, and the wider of the other two."""
    heights = np.median(np.ptp(positions, axis=1), axis=0)
    up = int(np.argmax(heights))
    across = max((axis for axis in range(3) if axis != up), key=lambda axis: float(heights[axis]))
    return up, across


def _spectra(view: SpectrumView) -> dict[str, Any]:
    """Mean spectra of blocks of samples; the page averages them over a span."""
    size = -(-len(view.spectra) // MAX_BLOCKS)
    starts = np.arange(0, len(view.spectra), size)
    bands = np.unique(np.linspace(0, len(view.wavelengths) - 1, MAX_BANDS).astype(int))
    sums = np.add.reduceat(view.spectra[:, bands].astype(float), starts, axis=0)
    means = sums / np.diff(np.append(starts, len(view.spectra)))[:, None]
    low, high = float(means.min()), float(means.max())
    return {
        "kind": "spectra",
        "size": size,
        "bands": [float(f"{value:.6g}") for value in view.wavelengths[bands]],
        "unit": printable(view.unit),
        "low": low,
        "high": high,
        "blocks": _digits(means, low, high).tolist(),
    }


def _digits(values: Array, low: float, high: float) -> npt.NDArray[np.int_]:
    """Scale values to integers from 0 to 999."""
    return np.round((values - low) / ((high - low) or 1.0) * STEPS).astype(int)


def _components(recording: Recording) -> dict[str, Any]:
    """The leading principal components over time, with the features that have the largest loadings."""
    X = make_chain("centre,scale").apply(recording.X.astype(float))
    scores, loadings, shares = leading_components(X)
    size = -(-len(X) // MAX_COMPONENT_POINTS)
    starts = np.arange(0, len(X), size)
    means = np.add.reduceat(scores, starts, axis=0) / np.diff(np.append(starts, len(X)))[:, None]
    components = []
    for scores_of_one, loading, share in zip(means.T, loadings, shares, strict=True):
        heavy = np.argsort(-np.abs(loading), kind="stable")[:N_NAMES]
        names = [printable(recording.feature_names[index]) for index in heavy]
        low, high = float(scores_of_one.min()), float(scores_of_one.max())
        values = _digits(scores_of_one, low, high).tolist()
        components.append({"values": values, "names": names, "share": round(float(share), 4)})
    return {"kind": "components", "size": size, "components": components}


def leading_components(X: Array) -> tuple[Array, Array, Array]:
    """Scores (n, p), loadings (p, d) and explained variance ratios of up to three principal components."""
    total = float(np.sum(X**2)) or 1.0
    count = min(N_COMPONENTS, *X.shape)
    if count < min(X.shape) and X.any():
        # a random start, but always the same; columns of mean zero map a constant one to zero
        start = np.random.default_rng(0).standard_normal(min(X.shape))
        left, sizes, right = svds(X, k=count, v0=start)
        left, sizes, right = left[:, ::-1], sizes[::-1], right[::-1]
    else:
        left, sizes, right = np.linalg.svd(X, full_matrices=False)
        left, sizes, right = left[:, :count], sizes[:count], right[:count]
    return left * sizes, right, sizes**2 / total
