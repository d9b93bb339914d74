"""Whole recordings of people under noise [paper, "Human Activity Segmentation"]."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.datasets._real_mocap import CMU86_TRIALS, MOCAP6_TRIALS
from seqspan.datasets.real import load_cmu86, load_hdm05, load_mocap6
from seqspan.recording import Recording
from seqspan.reproduction._methods import PAPER_REAL
from seqspan.reproduction._noise import (
    NO_NOISE,
    SEARCHED_QUICKLY,
    Grid,
    NoiseExperiment,
    Panel,
    Source,
    make_quick,
)

#: One of so many frames is kept, as some methods have no fast solver: 7.5, 10 and 7.5 frames per second.
STRIDES = {"cmu86": 8, "mocap6": 1, "hdm05": 16}
_PANELS = (
    Panel("cmu86", "CMU subject 86, 7 trials", None, tuple(f"cmu86/{trial}" for trial in CMU86_TRIALS)),
    Panel(
        "mocap6",
        "CMU subjects 13 and 14, 6 routines",
        None,
        tuple(f"mocap6/{trial}" for trial in MOCAP6_TRIALS),
    ),
    Panel("hdm05", "HDM05, joined clips of 2 actors", None, ("hdm05/bd", "hdm05/bk")),
)
_GRID = Grid(searched=SEARCHED_QUICKLY, search_levels=(20.0, 7.0), search_repeats=1)


@lru_cache(maxsize=4)
def _load_recording(name: str, data: str | None) -> tuple[Array, IntArray]:
    """Load a recording, thinned and centred, one frame per column."""
    kind, which = name.split("/")
    loaders = {
        "cmu86": lambda: load_cmu86(int(which), data),
        "mocap6": lambda: load_mocap6(which, data),
        "hdm05": lambda: load_hdm05(which, clips_per_action=2, data=data),
    }
    recording: Recording = loaders[kind]()
    kept = slice(None, None, STRIDES[kind])
    X = np.asarray(recording.X, dtype=float)[kept].T
    return X - X.mean(axis=1, keepdims=True), np.asarray(recording.labels)[kept]


def _load(source: Source, rng: np.random.Generator, data: str | None) -> tuple[Array, IntArray]:
    """Take a recording."""
    return _load_recording(source[1], data)


MOCAP = NoiseExperiment(
    name="mocap",
    title="Motion capture",
    caveat=(
        "The paper's recording (HDM05, scene 1-1, 9,842 frames in four sections) is not available. These are "
        "others, each used as a whole: seven trials of CMU subject 86 at 7.5 frames per second, six exercise "
        "routines at 10, and clips of HDM05 joined action by action at 7.5. Features are centred before "
        "samples are scaled to unit length. Activities recur, and the true number of different ones is "
        "given. The weights were tuned on the same recordings with other noise."
    ),
    panels=_PANELS,
    full=_GRID,
    quick=replace(
        make_quick(_GRID),
        sources=((None, "cmu86/9"), (None, "mocap6/13_30"), (None, "hdm05/bd")),
        levels=(NO_NOISE, 10.0),
        repeats=1,
        search_levels=(10.0,),
        search_repeats=1,
    ),
    load=_load,
    seconds=0.3,
    tol=1e-2,
    weights=PAPER_REAL,
)
