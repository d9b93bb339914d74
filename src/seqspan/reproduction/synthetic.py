"""Five subspaces of dimension 4 in R^100 under noise [paper, "Synthetic Subspace Segmentation"]."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from seqspan._core.types import Array, IntArray
from seqspan.datasets import make_subspaces
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
    (0.1, 7.0, "osc"): 0.0, (0.1, 4.0, "osc"): 0.002, (0.1, 4.0, "ssc"): 0.135, (0.1, 4.0, "lrr"): 0.637,
    (0.1, 4.0, "spatsc"): 0.019, (0.1, 4.0, "osc_as_coded"): 0.263,
    (0.0, 13.0, "osc"): 0.016, (0.0, 10.0, "osc"): 0.043, (0.0, 7.0, "osc"): 0.222, (0.0, 4.0, "osc"): 0.430,
    (0.0, 13.0, "ssc"): 0.0, (0.0, 10.0, "ssc"): 0.024, (0.0, 7.0, "ssc"): 0.373, (0.0, 4.0, "ssc"): 0.652,
}  # fmt: skip


def _draw(case: Case, rng: np.random.Generator, data: str | None) -> tuple[Array, IntArray]:
    """Draw the paper's data."""
    return make_subspaces(coefficient_mean=number(case["coefficient_mean"]) or 0.0, rng=rng)


STUDY = Study(_draw)
search_cases, cases = STUDY.search_cases, STUDY.cases


def run(case: Case, rng: np.random.Generator, data: str | None = None) -> dict[str, Value]:
    """Run one method on one draw.

    Parameters
    ----------
    case : mapping
    rng : numpy.random.Generator
    data : str, optional
        Not used.

    Returns
    -------
    dict

    Examples
    --------
    >>> case = cases(QUICK, pl.DataFrame())[0]
    >>> run(case, np.random.default_rng(0))["error"]
    0.0
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
        figures[f"mean_{mean:g}"] = draw_statistics(rows, f"Synthetic data, coefficients of mean {mean:g}")
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
    return summarise_synthetic("Synthetic data", table, STUDY.tuned(search), KNOWN)
