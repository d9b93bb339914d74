"""Pictures of what was found: each function takes axes, draws, and returns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from seqspan._types import Array, IntArray
from seqspan.boundaries import boundaries_from_labels
from seqspan.solvers import Progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito's colours: told apart by colour-blind readers; repeated when there are more labels.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7A7A7A")


def plot_matrix(ax: Axes, matrix: Array, *, title: str = "") -> Axes:
    """Draw the absolute values of a matrix, dark where large; the largest 1 % share the darkest tone.

    Parameters
    ----------
    ax : matplotlib axes
    matrix : array of shape (m, n)
    title : str

    Returns
    -------
    ax
    """
    size = np.abs(matrix)
    ax.imshow(size, cmap="BuPu", vmin=0, vmax=np.percentile(size, 99) or 1, interpolation="nearest")
    ax.set(title=title, xlabel="sample", ylabel="sample")
    return ax


def plot_spans(ax: Axes, timelines: Mapping[str, IntArray], *, title: str = "") -> Axes:
    """Draw labels over time, one bar per timeline, a colour for each label.

    Parameters
    ----------
    ax : matplotlib axes
    timelines : mapping of name to labels
    title : str

    Returns
    -------
    ax
    """
    for row, labels in enumerate(timelines.values()):
        numbers = np.unique(labels, return_inverse=True)[1]
        edges = np.concatenate([[0], boundaries_from_labels(labels), [len(labels)]])
        for start, end in pairwise(edges):
            colour = COLOURS[numbers[start] % len(COLOURS)]
            ax.barh(row, end - start, left=start, height=0.7, color=colour, edgecolor="white", linewidth=0.8)
    ax.set(title=title, xlabel="sample", yticks=range(len(timelines)), yticklabels=list(timelines))
    ax.invert_yaxis()
    ax.margins(x=0)
    return ax


def plot_convergence(ax: Axes, histories: Mapping[str, Sequence[Progress]]) -> Axes:
    """Draw the certified relative gap against time, one line per solver.

    Parameters
    ----------
    ax : matplotlib axes
    histories : mapping of name to ``history_``

    Returns
    -------
    ax
    """
    for (name, history), colour in zip(histories.items(), COLOURS * len(histories), strict=False):
        positive = [progress for progress in history if progress.gap > 0]
        ax.loglog([p.seconds for p in positive], [p.gap for p in positive], label=name, color=colour)
    ax.set(xlabel="seconds", ylabel="relative duality gap")
    ax.legend()
    ax.grid(alpha=0.3)
    return ax
