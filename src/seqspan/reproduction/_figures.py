"""The paper's figures: statistics of the error against the noise, one line per method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from seqspan.plots import COLOURS
from seqspan.reproduction._methods import METHODS
from seqspan.reproduction._tables import STATISTICS, level_name, statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = {"osc": "OSC", "spatsc": "SpatSC", "lrr": "LRR", "ssc": "SSC"}
MARKERS = {"osc": "o", "spatsc": "s", "lrr": "^", "ssc": "v"}
TITLES = {"mean": "Mean", "median": "Median", "min": "Minimum", "max": "Maximum"}


def draw_statistics(table: pl.DataFrame, title: str) -> Figure:
    """Draw mean, median, minimum and maximum error against PSNR: a row of the paper's weights, one of tuned.

    Parameters
    ----------
    table : rows of one kind of data
    title : str

    Returns
    -------
    matplotlib Figure
    """
    sets = [name for name in ("paper", "tuned") if name in set(table["parameters"])]
    figure = Figure(figsize=(12, 3.1 * len(sets) + 0.6), layout="constrained")
    axes = figure.subplots(len(sets), len(STATISTICS), squeeze=False, sharex=True, sharey=True)
    for row, parameters in zip(axes, sets, strict=True):
        found = statistics(table.filter(pl.col("parameters") == parameters))
        for ax, statistic in zip(row, STATISTICS, strict=True):
            plot_statistic(ax, found, statistic)
            ax.set_title(f"{TITLES[statistic]}, {parameters} weights", fontsize=10)
        row[0].set_ylabel("clustering error (SCE)")
    for ax in axes[-1]:
        ax.set_xlabel("PSNR (dB), noise grows to the right")
    axes[0][0].legend(fontsize=8)
    figure.suptitle(title, fontsize=11)
    return figure


def plot_statistic(ax: Axes, found: pl.DataFrame, statistic: str) -> Axes:
    """Draw one statistic of every method against the noise; levels are evenly spaced, none comes first.

    Parameters
    ----------
    ax : matplotlib axes
    found : table of `statistics`
    statistic : str

    Returns
    -------
    ax
    """
    levels = sorted(set(found["psnr_target"]), reverse=True)
    for number, method in enumerate(METHODS):
        line = found.filter(pl.col("method") == method)
        if line.is_empty():
            continue
        at = [levels.index(level) for level in line["psnr_target"]]
        ax.plot(
            at, line[statistic], marker=MARKERS[method], markersize=4, color=COLOURS[number],
            label=NAMES[method], zorder=len(METHODS) - number,
        )  # fmt: skip
    names = [level_name(level).removesuffix(" dB") for level in levels]
    ax.set(xticks=range(len(levels)), xticklabels=names, ylim=(-0.03, 1.0))
    ax.tick_params(labelsize=8)
    ax.grid(alpha=0.3)
    return ax


def draw_growth(table: pl.DataFrame, fits: Sequence[tuple[str, float, float]]) -> Figure:
    """Draw time against the number of samples per cluster, with the fitted powers.

    Parameters
    ----------
    table : rows of the experiment on running time
    fits : sequence of (method, exponent, logarithm of the factor)

    Returns
    -------
    matplotlib Figure
    """
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    ax = figure.subplots()
    for (method, exponent, factor), colour in zip(fits, COLOURS, strict=False):
        rows = table.filter(pl.col("method") == method).sort("samples_per_cluster")
        ax.plot(rows["samples_per_cluster"], rows["cpu_seconds"], ".", color=colour, alpha=0.5)
        sizes = np.array(sorted(set(rows["samples_per_cluster"])))
        line = np.exp(factor) * sizes**exponent
        ax.plot(sizes, line, color=colour, label=f"{method}: growth {exponent:.2f}")
    ax.set(xscale="log", yscale="log", xlabel="samples per cluster (5 clusters)", ylabel="CPU seconds")
    ticks = sorted(set(table["samples_per_cluster"]))
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.grid(alpha=0.3, which="both")
    ax.legend()
    return figure
