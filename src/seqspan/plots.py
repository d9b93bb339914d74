"""Pictures of what was found: each function takes axes, draws, and returns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from seqspan._core.spans import boundaries_from_labels
from seqspan._core.types import Array, IntArray
from seqspan.solvers import Progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito's colours: told apart by colour-blind readers; repeated when there are more labels.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7A7A7A")

#: For ``plt.style.use``: the looks of the documentation's figures.
STYLE = {
    "axes.prop_cycle": f"cycler('color', {list(COLOURS)})",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11.0,
    "figure.constrained_layout.use": True,
    "figure.figsize": (8.0, 3.6),
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}


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

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure, ax = plt.subplots()
    >>> plot_matrix(ax, np.eye(20), title="Z").get_title()
    'Z'
    >>> plt.close(figure)
    """
    size = np.abs(matrix)
    ax.imshow(size, cmap="BuPu", vmin=0, vmax=np.percentile(size, 99) or 1, interpolation="nearest")
    ax.set(title=title, xlabel="sample", ylabel="sample")
    return ax


def plot_spans(
    ax: Axes, timelines: Mapping[str, IntArray], *, title: str = "", vertical: bool = False
) -> Axes:
    """Draw labels over time, one bar per timeline, a colour for each label.

    Names of labels are arbitrary, so a label gets the colour of the one in the first timeline that it
    matches best; labels left over get colours of their own.

    Parameters
    ----------
    ax : matplotlib axes
    timelines : mapping of name to labels
    title : str
    vertical : bool
        From top to bottom, as a core is drawn, instead of from left to right.

    Returns
    -------
    ax

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure, ax = plt.subplots()
    >>> ax = plot_spans(ax, {"truth": np.array([0, 0, 1]), "found": np.array([1, 1, 0])})
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['truth', 'found']
    >>> plt.close(figure)
    """
    reference = np.asarray(next(iter(timelines.values()), []))
    for row, labels in enumerate(timelines.values()):
        numbers = _numbers_like(reference, np.asarray(labels))
        edges = np.concatenate([[0], boundaries_from_labels(labels), [len(labels)]])
        for start, end in pairwise(edges):
            colour = COLOURS[numbers[start] % len(COLOURS)]
            place: dict[str, Any] = {"bottom" if vertical else "left": start}
            bar = ax.bar if vertical else ax.barh
            bar(row, end - start, 0.7, **place, color=colour, edgecolor="white", linewidth=0.8)
    time, across = ("y", "x") if vertical else ("x", "y")
    ticks = {f"{across}ticks": range(len(timelines)), f"{across}ticklabels": list(timelines)}
    ax.set(title=title, **{f"{time}label": "sample"}, **ticks)
    ax.invert_yaxis()
    ax.margins(x=None if vertical else 0, y=0 if vertical else None)
    return ax


def _numbers_like(reference: IntArray, labels: IntArray) -> IntArray:
    """Number labels from 0 on, those that match a label of the reference best with the number of that."""
    names, columns = np.unique(reference, return_inverse=True)
    found, rows = np.unique(labels, return_inverse=True)
    if len(reference) != len(labels):  # nothing to match them by
        return np.asarray(rows)
    shared = np.zeros((len(found), max(len(found), len(names))), dtype=np.intp)
    np.add.at(shared, (rows, columns), 1)
    return np.asarray(linear_sum_assignment(shared, maximize=True)[1][rows])


def plot_convergence(ax: Axes, histories: Mapping[str, Sequence[Progress]]) -> Axes:
    """Draw the certified relative gap against time, one line per solver.

    Parameters
    ----------
    ax : matplotlib axes
    histories : mapping of name to ``history_``

    Returns
    -------
    ax

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure, ax = plt.subplots()
    >>> history = [Progress(10, 2.0, 0.1, 0.01), Progress(20, 1.9, 0.001, 0.02)]
    >>> len(plot_convergence(ax, {"fast": history}).lines)
    1
    >>> plt.close(figure)
    """
    for (name, history), colour in zip(histories.items(), COLOURS * len(histories), strict=False):
        positive = [progress for progress in history if progress.gap > 0]
        ax.loglog([p.seconds for p in positive], [p.gap for p in positive], label=name, color=colour)
    ax.set(xlabel="seconds", ylabel="relative duality gap")
    ax.legend()
    ax.grid(alpha=0.3)
    return ax
