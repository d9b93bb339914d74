"""Check the confidence of boundaries against labelled recordings.

    python -m benchmarks.confidence --data DIR
    python -m benchmarks.confidence --data DIR --leave-one-out

Boundaries are found by ``seqspan.segment`` with both numbers given, and with nothing given. A boundary is
right if it can be paired with a true boundary within the margin of `benchmarks.quality`; pairs are made
nearest first, and each boundary is used once. Boundaries near a join are left out. For each setting there
are two tables: boundaries of similar confidence, with their mean confidence and the share that is right; and
the same for each set, with the Brier skill, which is above 0 if the confidence tells more than the set's
share of right boundaries. The expected calibration error is the mean difference between confidence and
share, weighted by the number of boundaries.

With --leave-one-out, the two numbers of the confidence are fitted anew for each set, to the boundaries that
are found in the other sets with nothing given, every set with the same weight. The numbers fitted to all sets
are printed first: these are the ones in seqspan.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

import seqspan
from benchmarks.common import print_table
from benchmarks.quality.scores import boundary_margin, is_near
from benchmarks.quality.sets import TWELVE, Labelled
from seqspan.cuts.ordered.confidence import INTERCEPT, SLOPE
from seqspan.pipeline import as_recording

N_BINS = 10
TINY = 1e-3  # variance of "right" in a set without errors; one error in a thousand boundaries


def judge(recording: Labelled) -> Iterator[tuple[str, float, bool]]:
    """Yield setting, confidence and correctness of every boundary that is found."""
    margin = boundary_margin(recording)
    joins = np.array(recording.joins, dtype=int)
    numbers = {"n_spans": recording.n_spans, "n_subspaces": recording.n_labels}
    for given, counts in (("both", numbers), ("nothing", {})):
        found = seqspan.segment(as_recording(recording.X, recording.kind), random_state=0, **counts)
        right = match(np.setdiff1d(recording.boundaries, joins), found.boundaries, margin)
        counted = right | ~is_near(found.boundaries, joins, margin)
        for confidence, correct in zip(found.confidence[counted], right[counted], strict=True):
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


def describe(name: str, confidence: np.ndarray, right: np.ndarray) -> dict[str, object]:
    """Describe some boundaries in a row of a table."""
    return {
        "": name,
        "boundaries": len(right),
        "mean confidence": f"{confidence.mean():.2f}",
        "right": f"{right.mean():.2f}",
        "difference": f"{confidence.mean() - right.mean():+.2f}",
    }


def brier_skill(confidence: np.ndarray, right: np.ndarray) -> float:
    """Return one minus the squared error of the confidence, relative to that of the share that is right."""
    error = float(np.mean((confidence - right) ** 2))
    return 1 - error / max(float(right.var()), TINY)


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Return the mean difference of confidence and share that is right in bins of similar confidence."""
    bins = bin_numbers(confidence)
    own = [bins == number for number in np.unique(bins)]
    return float(sum(each.mean() * abs(confidence[each].mean() - right[each].mean()) for each in own))


def bin_numbers(confidence: np.ndarray) -> np.ndarray:
    """Return the number of the bin of each confidence."""
    return np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)


def evidence_of(confidence: np.ndarray) -> np.ndarray:
    """Return what confidence was computed from: evidence in nats per sample and feature."""
    sure = 1 - np.finfo(float).eps  # the odds of 1 are infinite
    return np.asarray((logit(np.minimum(confidence, sure)) - INTERCEPT) / SLOPE)


def fit(names: np.ndarray, evidence: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Fit intercept and slope of the log odds of being right, every set with the same weight."""
    _, members, counts = np.unique(names, return_inverse=True, return_counts=True)
    weights = len(names) / len(counts) / counts[members]
    model = LogisticRegression(C=1e3).fit(evidence[:, None], right, sample_weight=weights)
    return float(model.intercept_[0]), float(model.coef_[0, 0])


def leave_one_out(
    names: np.ndarray, evidence: np.ndarray, right: np.ndarray
) -> dict[str, tuple[float, float]]:
    """Fit the two numbers for each set to all other sets."""
    return {name: fit(*(column[names != name] for column in (names, evidence, right))) for name in set(names)}


def report(given: str, names: np.ndarray, confidence: np.ndarray, right: np.ndarray) -> None:
    """Print both tables of one setting."""
    print(f"## Given: {given}. Expected calibration error {calibration_error(confidence, right):.3f}\n")
    bins = bin_numbers(confidence)
    ranges = {number: f"{number / N_BINS:.1f}-{(number + 1) / N_BINS:.1f}" for number in np.unique(bins)}
    print_table(
        [describe(words, confidence[bins == key], right[bins == key]) for key, words in ranges.items()]
    )
    rows = []
    for name in dict.fromkeys(names):
        own = confidence[names == name], right[names == name]
        rows.append(describe(name, *own) | {"Brier skill": f"{brier_skill(*own):+.2f}"})
    print_table(rows)


def main() -> None:
    """Judge all recordings, then print two tables for each setting."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--data", default=os.environ.get("SEQSPAN_DATA"), help="folder of the labelled sets")
    parser.add_argument("--sets", nargs="+", default=list(TWELVE), choices=list(TWELVE))
    parser.add_argument("--leave-one-out", action="store_true", help="fit to all sets but the one judged")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, the folder of the labelled sets, or set $SEQSPAN_DATA.")
    rows = [
        (name, *judged)
        for name in options.sets
        for recording in TWELVE[name](Path(options.data))
        for judged in judge(recording)
    ]
    judged = {}
    for given in ("both", "nothing"):
        columns = zip(*[row for row in rows if row[1] == given], strict=True)
        names, _, confidence, right = (np.array(column) for column in columns)
        judged[given] = names, evidence_of(confidence), right.astype(float)
    numbers = dict.fromkeys(options.sets, (INTERCEPT, SLOPE))
    if options.leave_one_out:
        print("Fitted to all sets: intercept {:.2f}, slope {:.2f}\n".format(*fit(*judged["nothing"])))
        numbers = leave_one_out(*judged["nothing"])
    for given, (names, evidence, right) in judged.items():
        intercepts, slopes = np.array([numbers[name] for name in names]).T
        report(given, names, expit(intercepts + slopes * evidence), right)


if __name__ == "__main__":
    main()
