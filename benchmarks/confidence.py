"""Is the confidence of a boundary what it says? Reliability on labelled recordings.

    python -m benchmarks.confidence --data DIR

Boundaries are found with the numbers of spans and labels given, and with nothing given. One is right if a
true boundary lies within 2 % of the recording that no other found one is nearer to. A row of the table holds
boundaries of like confidence, its mean, and the share that is right; the expected calibration error is
the mean distance of the two, weighted by the number of boundaries. The two constants were fitted on the
sequences marked `choose`; those marked `confirm` were not used for it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.quality.sets import SETS, Labelled
from seqspan import OSC
from seqspan._core.spans import boundaries_from_labels
from seqspan.cuts import make_cutter
from seqspan.preprocess import make_chain

MARGIN = 0.02
N_BINS = 10
DEFAULT = ["weizmann", "keck", "cmu86", "mocap6", "hdm05", "clips"]


def judge(sequence: Labelled) -> Iterator[tuple[str, float, bool]]:
    """Setting, confidence and correctness of every boundary that is found."""
    X = make_chain("auto", sequence.X, sequence.kind).apply(sequence.X)
    Z = OSC(n_subspaces=1).fit(X).coef_
    cutter = make_cutter("ordered", np.ascontiguousarray(X.T), Z, rng=0)
    truth = boundaries_from_labels(sequence.labels)
    for given, n_spans in (("both", sequence.n_spans), ("nothing", "auto")):
        found = cutter.cut(n_spans).boundaries
        right = match(truth, found, round(MARGIN * len(X)))
        for sure, correct in zip(cutter.confidence(found), right, strict=True):
            yield given, float(sure), bool(correct)


def match(truth: np.ndarray, found: np.ndarray, margin: int) -> np.ndarray:
    """Which found boundaries are right: pairs within the margin, nearest first, each boundary once."""
    distances = np.abs(found[:, None] - truth)
    right = np.zeros(len(found), dtype=bool)
    free = np.ones(len(truth), dtype=bool)
    order = np.unravel_index(np.argsort(distances, axis=None, kind="stable"), distances.shape)
    for i, j in zip(*order, strict=True):
        if distances[i, j] <= margin and free[j] and not right[i]:
            right[i], free[j] = True, False
    return right


def tabulate(sure: np.ndarray, right: np.ndarray) -> float:
    """Print the reliability table; return the expected calibration error."""
    bins = np.minimum((sure * N_BINS).astype(int), N_BINS - 1)
    error = 0.0
    print("| confidence | boundaries | mean confidence | right |\n|---|---|---|---|")
    for number in np.unique(bins):
        own = bins == number
        error += own.mean() * abs(sure[own].mean() - right[own].mean())
        low, high = number / N_BINS, (number + 1) / N_BINS
        print(f"| {low:.1f}-{high:.1f} | {own.sum()} | {sure[own].mean():.2f} | {right[own].mean():.2f} |")
    return float(error)


def main() -> None:
    """Judge all sequences, then print a table for each split and setting."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--data", default=os.environ.get("SEQSPAN_DATA"), help="folder of the sets")
    parser.add_argument("--sets", nargs="+", default=DEFAULT, choices=list(SETS))
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data is needed: the folder of the labelled sets (or set $SEQSPAN_DATA).")
    rows = [
        (sequence.split, *judged)
        for name in options.sets
        for sequence in SETS[name](Path(options.data))
        for judged in judge(sequence)
    ]
    for split in ("choose", "confirm"):
        for given in ("both", "nothing"):
            chosen = [row[2:] for row in rows if row[:2] == (split, given)]
            sure, right = (np.array(column, dtype=float) for column in zip(*chosen, strict=True))
            print(f"\n{split}, {given} given: {len(sure)} boundaries, {right.mean():.2f} right")
            print(f"expected calibration error {tabulate(sure, right):.3f}")


if __name__ == "__main__":
    main()
