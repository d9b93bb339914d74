"""Five mixtures of mineral spectra, 20 samples each, under noise [paper, "Semi-Synthetic Experiment"]."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from seqspan._core.types import Array, IntArray
from seqspan.datasets import make_spectra
from seqspan.datasets.real import load_tirlib
from seqspan.reproduction._figures import draw_statistics
from seqspan.reproduction._methods import VARIANTS
from seqspan.reproduction._study import COLUMNS, DRAWN_BY, PARAMETERS, Grid, Study, number, quick
from seqspan.reproduction._summary import Known, summarise_synthetic
from seqspan.reproduction.sweep import Case, Value

__all__ = ["COLUMNS", "DRAWN_BY", "PARAMETERS", "cases", "search_cases"]

GRID = Grid(sources=((0.1, ""), (0.0, "")), variants=VARIANTS)
QUICK = quick(GRID)
SECONDS = 0.06  # of a case on one core

#: Mean errors measured before with another solver, over 20 repeats: (coefficient mean, level, method).
KNOWN: Known = {
    (0.1, 10.0, "osc"): 0.002, (0.1, 7.0, "osc"): 0.022, (0.1, 4.0, "osc"): 0.065,
    (0.1, 10.0, "ssc"): 0.297, (0.1, 7.0, "ssc"): 0.475, (0.1, 4.0, "ssc"): 0.615,
    (0.1, 10.0, "lrr"): 0.358, (0.1, 7.0, "lrr"): 0.640, (0.1, 4.0, "lrr"): 0.686,
}  # fmt: skip


@lru_cache(maxsize=2)
def _library(data: str | None) -> Array:
    """Load the mineral library once per process: 321 bands x 120 spectra."""
    return np.asarray(load_tirlib(data).X.T, dtype=float)


def require_data(data: str | None) -> None:
    """Fail before anything runs if the library is not there."""
    _library(data)


def _draw(case: Case, rng: np.random.Generator, data: str | None) -> tuple[Array, IntArray]:
    """Mix spectra of the library."""
    return make_spectra(_library(data), coefficient_mean=number(case["coefficient_mean"]) or 0.0, rng=rng)


STUDY = Study(_draw)
search_cases, cases = STUDY.search_cases, STUDY.cases


def run(case: Case, rng: np.random.Generator, data: str | None = None) -> dict[str, Value]:
    """Run one method on one draw.

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
    """Draw a figure for each coefficient mean.

    Parameters
    ----------
    table : rows

    Returns
    -------
    dict of a name to its figure
    """
    figures = {}
    for mean in sorted(set(table["coefficient_mean"]), reverse=True):
        rows = table.filter(pl.col("coefficient_mean") == mean)
        figures[f"mean_{mean:g}"] = draw_statistics(rows, f"Mineral spectra, coefficients of mean {mean:g}")
    return figures


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
    return summarise_synthetic("Semi-synthetic data: mineral spectra", table, STUDY.tuned(search), KNOWN)
