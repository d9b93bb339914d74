"""Whole recordings of people under noise [paper, "Human Activity Segmentation"]."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from seqspan._core.types import Array, IntArray
from seqspan.datasets._real_mocap import CMU86_TRIALS, MOCAP6_TRIALS
from seqspan.datasets.real import load_cmu86, load_hdm05, load_mocap6
from seqspan.recording import Recording
from seqspan.reproduction._figures import draw_statistics
from seqspan.reproduction._methods import PAPER_REAL
from seqspan.reproduction._study import COLUMNS, DRAWN_BY, PARAMETERS, SEARCHED_QUICKLY, Grid, Study, quick
from seqspan.reproduction._summary import summarise_recordings
from seqspan.reproduction.sweep import Case, Value

__all__ = ["COLUMNS", "DRAWN_BY", "PARAMETERS", "cases", "search_cases"]

RECORDINGS = (
    *(f"cmu86/{trial}" for trial in CMU86_TRIALS),
    *(f"mocap6/{trial}" for trial in MOCAP6_TRIALS),
    "hdm05/bd",
    "hdm05/bk",
)
#: One frame of so many is kept, so that rivals without a fast solver take part: 7.5, 10 and 7.5 per second.
STRIDES = {"cmu86": 8, "mocap6": 1, "hdm05": 16}
TITLES = {
    "cmu86": "CMU subject 86, 7 trials",
    "mocap6": "CMU subjects 13 and 14, 6 routines",
    "hdm05": "HDM05, joined clips of 2 actors",
}
GRID = Grid(
    sources=tuple((None, recording) for recording in RECORDINGS),
    searched=SEARCHED_QUICKLY,
    search_levels=(20.0, 7.0),
    search_repeats=1,
)
QUICK = replace(
    quick(GRID),
    sources=tuple((None, recording) for recording in ("cmu86/9", "mocap6/13_30", "hdm05/bd")),
    levels=(float("inf"), 10.0),
    repeats=1,
    search_levels=(10.0,),
    search_repeats=1,
)
SECONDS = 0.3  # of a case on one core
CAVEAT = (
    "The paper's recording (HDM05, scene 1-1, 9,842 frames in four sections) is not at hand. These are "
    "others, each in one piece: seven trials of CMU subject 86 at 7.5 frames per second, six exercise "
    "routines at 10, and clips of HDM05 joined action by action at 7.5. Features are centred before samples "
    "are scaled to unit length. Activities recur, and the number of distinct ones is given. Weights were "
    "tuned on the same recordings with other noise."
)


@lru_cache(maxsize=4)
def _recording(name: str, data: str | None) -> tuple[Array, IntArray]:
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


def require_data(data: str | None) -> None:
    """Fail before anything runs if recordings are not there."""
    for name in QUICK.sources:
        _recording(name[1], data)


def _draw(case: Case, rng: np.random.Generator, data: str | None) -> tuple[Array, IntArray]:
    """Take a recording."""
    return _recording(str(case["recording"]), data)


def _pool(recording: str) -> str:
    """Name the data set of a recording."""
    return recording.split("/")[0]


STUDY = Study(_draw, tol=1e-2, weights=PAPER_REAL, pool=_pool)
search_cases, cases = STUDY.search_cases, STUDY.cases


def run(case: Case, rng: np.random.Generator, data: str | None = None) -> dict[str, Value]:
    """Run one method on one noisy recording.

    Parameters
    ----------
    case : mapping
    rng : numpy.random.Generator
    data : str, optional
        Folder of the data sets; ``$SEQSPAN_DATA`` by default.

    Returns
    -------
    dict
    """
    return STUDY.run(case, rng, data)


def expected_seconds(case: Case) -> float:
    """Estimate the time of a case on one core."""
    return SECONDS


def draw(table: pl.DataFrame) -> dict[str, Figure]:
    """Draw a figure for each data set.

    Parameters
    ----------
    table : rows

    Returns
    -------
    dict of a name to its figure
    """
    pools = table["recording"].map_elements(_pool, return_dtype=pl.String)
    kinds = [kind for kind in TITLES if kind in set(pools)]
    return {kind: draw_statistics(table.filter(pools == kind), TITLES[kind]) for kind in kinds}


def summarise(table: pl.DataFrame, search: pl.DataFrame) -> str:
    """Say where the rows agree with the paper and where not.

    Parameters
    ----------
    table, search : rows of the figures and of the search for weights

    Returns
    -------
    str
        Markdown.
    """
    return summarise_recordings("Motion capture", CAVEAT, table, STUDY, search)
