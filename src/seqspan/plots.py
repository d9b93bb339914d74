"""Plots of a segmentation and of how it was found: each function draws into axes and returns them.

They need matplotlib: ``pip install 'seqspan[plots]'``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seqspan._core.dates import Dates
from seqspan._core.extras import import_optional
from seqspan._core.solution import Progress
from seqspan._core.spans import Span, boundaries_from_labels
from seqspan._core.text import title_of
from seqspan._core.types import Array, IntArray
from seqspan.recording import LENGTH_UNITS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "STYLE", "plot_convergence", "plot_matrix", "plot_spans"]

#: Okabe and Ito's colours, which colour-blind readers can tell apart; with more labels they repeat.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7A7A7A")

TIMELINE_WIDTH = 640  # pixels of a timeline in a notebook
MAX_IN_LEGEND = 20

#: The style of the figures in the documentation, for ``plt.style.use``.
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
    """Draw the absolute values of a matrix: the larger, the darker; the top 1 % share the darkest shade.

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
    """Draw labels over time: one bar per timeline, one colour per label.

    The values of labels are arbitrary, so each label gets the colour of the label in the first timeline that
    it matches best. Labels without a match get colours of their own.

    Parameters
    ----------
    ax : matplotlib axes
    timelines : mapping of name to labels
    title : str
    vertical : bool
        Let time run from top to bottom, as in a drill core, instead of from left to right.

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
    """Number labels from 0, giving each the number of the reference label that it matches best."""
    from scipy.optimize import linear_sum_assignment  # takes long to import

    names, columns = np.unique(reference, return_inverse=True)
    found, rows = np.unique(labels, return_inverse=True)
    if len(reference) != len(labels):  # samples do not correspond, so labels cannot be matched
        return np.asarray(rows)
    shared = np.zeros((len(found), max(len(found), len(names))), dtype=np.intp)
    np.add.at(shared, (rows, columns), 1)
    return np.asarray(linear_sum_assignment(shared, maximize=True)[1][rows])


def plot_convergence(ax: Axes, histories: Mapping[str, Sequence[Progress]]) -> Axes:
    """Draw the relative duality gap against time, one line per solver.

    Parameters
    ----------
    ax : matplotlib axes
    histories : mapping of name to list of Progress
        Such as the ``history_`` of several fitted estimators.

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


def plot_segmentation(
    spans: Sequence[Span],
    time_unit: str,
    ax: Axes | None = None,
    *,
    dates: Dates | None = None,
    names: Sequence[str] = (),
    noun: str = "label",
) -> Axes:
    """Draw spans over time, with one colour and one legend entry per label.

    Parameters
    ----------
    spans : sequence of Span
    time_unit : str
        Unit of the spans' times; ``"sample"`` if they count samples.
    ax : matplotlib axes, optional
        By default, those of a new figure.
    dates : Dates, optional
        Of the samples; the axis then shows dates, by the clock of their zone.
    names : sequence of str
        Names of the labels; others are called A, B, ...
    noun : str
        What a label is called.

    Returns
    -------
    ax

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from seqspan.segmentation import Span
    >>> ax = plot_segmentation([Span(0, 2, 0.0, 1.0, 0), Span(2, 3, 1.0, 1.5, 1)], "s")
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('time [s]', ['A', 'B'])
    >>> plt.close(ax.figure)
    """
    if ax is None:
        pyplot = import_optional("matplotlib.pyplot", "plotting")
        ax = pyplot.subplots(figsize=(8.0, 1.6), layout="constrained")[1]
    several = spans[-1].recording > 0  # each has times of its own, and a row
    dates = None if several else dates
    edges = _edges(spans) if dates is None else _date_edges(ax, spans, dates)
    named: set[int] = set()
    for span, (start, end) in zip(spans, edges, strict=True):
        name = "" if span.label in named else title_of(span.label, names)
        colour = COLOURS[span.label % len(COLOURS)]
        ax.barh(span.recording, end - start, 0.7, left=start, color=colour, edgecolor="white", label=name)
        named.add(span.label)
    if several:
        ax.invert_yaxis()
    ax.set(
        yticks=list(range(spans[-1].recording + 1)) if several else [],
        xlabel=_name_axis(time_unit) if dates is None else f"time {dates.zone}".strip(),
    )
    ax.margins(x=0)
    ax.legend(title=noun, ncols=min(len(named), 8), loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    return ax


def _edges(spans: Sequence[Span]) -> list[tuple[float, float]]:
    """Starts and ends of the spans."""
    return [(span.start_time, span.end_time) for span in spans]


def _date_edges(ax: Axes, spans: Sequence[Span], dates: Dates) -> list[tuple[float, float]]:
    """The same as dates of matplotlib, on an axis that shows dates."""
    calendar = import_optional("matplotlib.dates", "plotting")
    locator = calendar.AutoDateLocator()
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(calendar.ConciseDateFormatter(locator))
    places = np.array([*(span.start for span in spans), spans[-1].end])
    edges: list[float] = calendar.date2num(dates.edges().local()[places]).tolist()
    return list(pairwise(edges))


def draw_timeline(
    spans: Sequence[Span], caption: str, ends: tuple[str, str], names: Sequence[str] = ()
) -> str:
    """Draw spans as HTML with inline SVG, for notebooks: small, and without a script or a network.

    Parameters
    ----------
    spans : sequence of Span
    caption : str
    ends : (str, str)
        Where the recording begins and ends.
    names : sequence of str
        Names of the labels; others are called A, B, ...

    Returns
    -------
    str

    Examples
    --------
    >>> drawn = draw_timeline([Span(0, 2, 0.0, 1.0, 0)], "1 span", ("0 s", "1 s"), ["walk"])
    >>> drawn.count("<rect"), "walk" in drawn
    (1, True)
    """
    n = spans[-1].end
    drawn = spans if len(spans) <= TIMELINE_WIDTH else _thinned(spans)
    bars = "".join(
        f'<rect x="{TIMELINE_WIDTH * span.start / n:.2f}" '
        f'width="{TIMELINE_WIDTH * (span.end - span.start) / n:.2f}" '
        f'height="28" fill="{COLOURS[span.label % len(COLOURS)]}">'
        f"<title>{escape(title_of(span.label, names))}: {span.start} to {span.end - 1}</title></rect>"
        for span in drawn
    )
    labels = sorted({span.label for span in spans})
    legend = " ".join(
        f'<span style="color:{COLOURS[label % len(COLOURS)]}">&#9632;</span> {escape(title_of(label, names))}'
        for label in labels[:MAX_IN_LEGEND]
    )
    more = f" and {len(labels) - MAX_IN_LEGEND} more" if len(labels) > MAX_IN_LEGEND else ""
    return (
        f'<div style="max-width:{TIMELINE_WIDTH}px"><div>{escape(caption)}</div>'
        f'<svg viewBox="0 0 {TIMELINE_WIDTH} 28" width="100%" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(caption)}">{bars}</svg>'
        f'<div style="display:flex;justify-content:space-between"><small>{escape(ends[0])}</small>'
        f"<small>{escape(ends[1])}</small></div><div>{legend}{more}</div></div>"
    )


def _thinned(spans: Sequence[Span]) -> list[Span]:
    """One span per pixel, if there are more of them than pixels."""
    starts = np.array([span.start for span in spans])
    edges = np.linspace(0, spans[-1].end, TIMELINE_WIDTH + 1).astype(int)
    places = np.searchsorted(starts, edges[:-1], side="right") - 1
    pairs = zip(pairwise(edges.tolist()), places, strict=True)
    return [replace(spans[place], start=start, end=end) for (start, end), place in pairs]


def _name_axis(time_unit: str) -> str:
    """Name the axis that a recording runs along, with its unit."""
    if time_unit == "sample":
        return "sample"
    return f"{'depth' if time_unit in LENGTH_UNITS else 'time'} [{time_unit}]"
