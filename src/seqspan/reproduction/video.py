"""Clips of 300 frames and three scenes under noise [paper, "Video Scene Segmentation"]."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.datasets.real import load_bbb_clip, load_bbb_film
from seqspan.reproduction._methods import PAPER_REAL
from seqspan.reproduction._noise import Grid, NoiseExperiment, Panel, Source, make_quick

#: All clips of 300 frames and two hard cuts that the film has: A and B, and C around its last two cuts.
CLIPS = ("A", "B", "C")
N_FRAMES = 300
_GRID = Grid(search_levels=(13.0, 7.0, 4.0), search_repeats=1)


@lru_cache(maxsize=1)
def _load_clips(data: str | None) -> dict[str, tuple[Array, IntArray]]:
    """Load all clips once per process, one frame per column."""
    clips = {name: load_bbb_clip(name, data) for name in ("A", "B")}
    film = load_bbb_film(data)
    first, last = np.flatnonzero(np.diff(np.asarray(film.labels)))[-2:] + 1
    start = int(first + last - N_FRAMES) // 2  # both cuts equally far from the middle
    clips["C"] = film.take(np.arange(start, start + N_FRAMES))
    return {name: (clip.X.T.astype(float), np.asarray(clip.labels)) for name, clip in clips.items()}


def _load(source: Source, rng: np.random.Generator, data: str | None) -> tuple[Array, IntArray]:
    """Take a clip."""
    return _load_clips(data)[source[1]]


VIDEO = NoiseExperiment(
    name="video",
    title="Video",
    caveat=(
        "The paper's two cartoons are not available, only the labels of their cuts. These are the three "
        "clips of 300 frames and three scenes in the first minute of Big Buck Bunny; the paper has 43 "
        "sequences. The weights were tuned on the same clips with other noise."
    ),
    panels=(Panel("clips", "Video, {count} clips of 300 frames and three scenes", recordings=CLIPS),),
    full=_GRID,
    quick=replace(make_quick(_GRID), repeats=2, search_levels=(7.0,), search_repeats=1),
    load=_load,
    seconds=0.4,
    tol=1e-2,
    weights=PAPER_REAL,
)
