"""True and found timelines: one page per set and setting, with the best variant of each peer."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.quality.rows import Row, read_runs
from benchmarks.quality.table import best_variants
from seqspan._core.spans import boundaries_from_labels

UNMATCHED = "#D9D9D9"
#: More than the eight of seqspan.plots, because some sets have eleven labels; none is grey.
COLOURS = (
    "#1F77B4", "#FF7F0E", "#2CA02C", "#D62728", "#9467BD", "#8C564B", "#E377C2", "#BCBD22", "#17BECF",
    "#AEC7E8", "#FFBB78", "#98DF8A", "#FF9896", "#C5B0D5",
)  # fmt: skip


def match_labels(truth: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Match found labels one to one with the true labels that share most samples; the rest become -1.

    Examples
    --------
    >>> match_labels(np.array([0, 0, 1, 1]), np.array([7, 7, 7, 3])).tolist()
    [0, 0, 0, 1]
    """
    names, numbers = np.unique(labels, return_inverse=True)
    counts = np.zeros((len(names), truth.max() + 1), dtype=int)
    np.add.at(counts, (numbers, truth), 1)
    found, true = linear_sum_assignment(counts, maximize=True)
    new_names = np.full(len(names), -1)
    new_names[found] = true
    return np.asarray(new_names[numbers])


def draw_page(path: Path, truths: dict[str, np.ndarray], rows: list[Row], title: str) -> None:
    """Draw true and found labels of every recording of a set in one setting."""
    from matplotlib.figure import Figure

    best = best_variants(rows)
    heights = [len(best) + 2.5] * len(truths)
    figure = Figure(figsize=(11, 0.19 * sum(heights) + 0.8), layout="constrained")
    axes = figure.subplots(len(truths), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for ax, (sequence, truth) in zip(axes, truths.items(), strict=True):
        own = {row["method"]: row for row in rows if row["sequence"] == sequence and row["status"] == "done"}
        found = {name: own[name] for name in best.values() if name in own}
        draw_sequence(ax, truth, found)
        ax.set_title(f"recording {sequence}", fontsize=9, loc="left")
    axes[-1].set_xlabel("sample")
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, dpi=110)


def draw_sequence(ax, truth: np.ndarray, found: dict[str, Row]) -> None:
    """Draw one bar for the truth and one for each method; labels without a true partner are grey."""
    truth = np.unique(truth, return_inverse=True)[1]
    bars = [("truth", truth)]
    for method, row in found.items():
        words = f"{method}  {float(row['accuracy']):.2f} / {float(row['boundary_f1']):.2f}"
        bars.append((words, read_runs(row["runs"])[0]))
    for height, (_, labels) in enumerate(bars):
        _draw_bar(ax, height, match_labels(truth, labels), labels)
    for boundary in boundaries_from_labels(truth):
        ax.axvline(boundary, color="black", linewidth=0.5, alpha=0.5)
    ax.set_yticks(range(len(bars)), [words for words, _ in bars], fontsize=7)
    ax.tick_params(axis="x", labelsize=7)
    ax.set_xlim(0, len(truth))
    ax.invert_yaxis()


def _draw_bar(ax, height: int, matched: np.ndarray, labels: np.ndarray) -> None:
    """Draw the spans of one timeline as coloured boxes."""
    edges = [0, *boundaries_from_labels(labels), len(labels)]
    places = [(start, end - start) for start, end in pairwise(edges)]
    names = [matched[start] for start in edges[:-1]]
    fills = [UNMATCHED if name < 0 else COLOURS[name % len(COLOURS)] for name in names]
    # Lines between very many spans would hide the colours.
    width = 0.6 if len(places) < 60 else 0
    ax.broken_barh(places, (height - 0.4, 0.8), facecolors=fills, edgecolor="white", linewidth=width)
