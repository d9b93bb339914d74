"""The paper's figures: error against noise, and time against size, one line per method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from seqspan._core.extras import import_optional
from seqspan.plots import COLOURS
from seqspan.reproduction._methods import METHODS, NAMES
from seqspan.reproduction._tables import STATISTICS, compute_statistics, name_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = {"osc": "o", "spatsc": "s", "lrr": "^", "ssc": "v"}
TITLES = {"mean": "Mean", "median": "Median", "min": "Minimum", "max": "Maximum"}


def _make_figure(width: float, height: float) -> Figure:
    """Make an empty figure of a size in inches."""
    module = import_optional("matplotlib.figure", "drawing figures")
    figure: Figure = module.Figure(figsize=(width, height), layout="constrained")
    return figure


def draw_statistics(table: pl.DataFrame, title: str) -> Figure:
    """Draw mean, median, minimum and maximum error against PSNR.

    The upper row of axes is for the paper's weights, the lower one for tuned weights.

    Parameters
    ----------
    table : rows of one panel
    title : str

    Returns
    -------
    matplotlib Figure
    """
    kinds = [kind for kind in ("paper", "tuned") if kind in set(table["parameters"])]
    figure = _make_figure(12, 3.1 * len(kinds) + 0.6)
    axes = figure.subplots(len(kinds), len(STATISTICS), squeeze=False, sharex=True, sharey=True)
    for row, kind in zip(axes, kinds, strict=True):
        found = compute_statistics(table.filter(pl.col("parameters") == kind))
        for ax, statistic in zip(row, STATISTICS, strict=True):
            _plot_statistic(ax, found, statistic)
            ax.set_title(f"{TITLES[statistic]}, {kind} weights", fontsize=10)
        row[0].set_ylabel("clustering error (SCE)")
    for ax in axes[-1]:
        ax.set_xlabel("PSNR (dB), noise grows to the right")
    axes[0][0].legend(fontsize=8)
    figure.suptitle(title, fontsize=11)
    return figure


def _plot_statistic(ax: Axes, found: pl.DataFrame, statistic: str) -> None:
    """Plot one statistic of every method; levels are evenly spaced, from weak noise to strong."""
    levels = sorted(set(found["psnr_target"]), reverse=True)
    for number, method in enumerate(METHODS):
        line = found.filter(pl.col("method") == method)
        if line.is_empty():
            continue
        positions = [levels.index(level) for level in line["psnr_target"]]
        ax.plot(
            positions, line[statistic], marker=MARKERS[method], markersize=4, color=COLOURS[number],
            label=NAMES[method], zorder=len(METHODS) - number,
        )  # fmt: skip
    names = [name_level(level).removesuffix(" dB") for level in levels]
    ax.set(xticks=range(len(levels)), xticklabels=names, ylim=(-0.03, 1.0))
    ax.tick_params(labelsize=8)
    ax.grid(alpha=0.3)


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
    figure = _make_figure(6.4, 4.4)
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
