"""Check the confidence of boundaries against labelled recordings.

    python -m benchmarks.confidence --data DIR

Boundaries are found with the true number of spans given, and with nothing given. A boundary is right if it
can be paired with a true boundary within 2 % of the recording; pairs are made nearest first, and each
boundary is used once. Each row of the table holds boundaries of similar confidence: their mean confidence,
and the share that is right. The expected calibration error is the mean difference between the two, weighted
by the number of boundaries. The two constants were fitted on the recordings marked `choose`; those marked
`confirm` were not used for that.
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


def judge(recording: Labelled) -> Iterator[tuple[str, float, bool]]:
    """Yield setting, confidence and correctness of every boundary that is found."""
    X = make_chain("auto", recording.X, recording.kind).apply(recording.X)
    Z = OSC(n_subspaces=1).fit(X).coef_
    cutter = make_cutter("ordered", np.ascontiguousarray(X.T), Z, rng=0)
    truth = boundaries_from_labels(recording.labels)
    for given, n_spans in (("both", recording.n_spans), ("nothing", "auto")):
        found = cutter.cut(n_spans).boundaries
        right = match(truth, found, round(MARGIN * len(X)))
        for confidence, correct in zip(cutter.confidence(found), right, strict=True):
            yield given, float(confidence), bool(correct)


def match(truth: np.ndarray, found: np.ndarray, margin: int) -> np.ndarray:
    """Say which found boundaries are right: pairs within the margin, nearest first, each boundary once."""
    distances = np.abs(found[:, None] - truth)
    right = np.zeros(len(found), dtype=bool)
    free = np.ones(len(truth), dtype=bool)
    order = np.unravel_index(np.argsort(distances, axis=None, kind="stable"), distances.shape)
    for i, j in zip(*order, strict=True):
        if distances[i, j] <= margin and free[j] and not right[i]:
            right[i], free[j] = True, False
    return right


def tabulate(confidence: np.ndarray, right: np.ndarray) -> float:
    """Print the reliability table; return the expected calibration error."""
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    error = 0.0
    print("| confidence | boundaries | mean confidence | right |\n|---|---|---|---|")
    for number in np.unique(bins):
        own = bins == number
        error += own.mean() * abs(confidence[own].mean() - right[own].mean())
        low, high = number / N_BINS, (number + 1) / N_BINS
        means = f"{confidence[own].mean():.2f} | {right[own].mean():.2f}"
        print(f"| {low:.1f}-{high:.1f} | {own.sum()} | {means} |")
    return float(error)


def main() -> None:
    """Judge all recordings, then print a table for each split and setting."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--data", default=os.environ.get("SEQSPAN_DATA"), help="folder of the labelled sets")
    parser.add_argument("--sets", nargs="+", default=DEFAULT, choices=list(SETS))
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, the folder of the labelled sets, or set $SEQSPAN_DATA.")
    rows = [
        (recording.split, *judged)
        for name in options.sets
        for recording in SETS[name](Path(options.data))
        for judged in judge(recording)
    ]
    for split in ("choose", "confirm"):
        for given in ("both", "nothing"):
            chosen = [row[2:] for row in rows if row[:2] == (split, given)]
            confidence, right = (np.array(column, dtype=float) for column in zip(*chosen, strict=True))
            print(f"\n{split}, {given} given: {len(confidence)} boundaries, {right.mean():.2f} right")
            print(f"expected calibration error {tabulate(confidence, right):.3f}")


if __name__ == "__main__":
    main()
