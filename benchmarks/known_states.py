"""How well states are recognised in new recordings, and how often new ones are called unknown.

    python -m benchmarks.known_states --data DIR            # minutes
    python -m benchmarks.known_states --data DIR --quick    # with true labels only, seconds

The states are the activities of CMU 86. They are found in trials 1, 5, 9 and 13, with the true numbers of
spans and labels given, and then recognised in trials 3, 7 and 11. A sample is right if it gets the label of
its activity, or -1 if no training trial has that activity. For comparison, all seven trials are fitted
together, and the same samples scored. With true labels, only the recognition is tested, not the cut.

The second table leaves out every activity in turn: none of its samples is seen in training. It says what
share of them is called unknown, and what share of the samples with known activities, in new trials and in
those of the training.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

import seqspan
from benchmarks.common import describe_machine, print_table
from benchmarks.quality.sets import CMU86_STRIDE
from seqspan._core.spans import boundaries_from_labels
from seqspan.datasets import real
from seqspan.known import KnownStates
from seqspan.pipeline import as_recording
from seqspan.preprocess import make_chain

TRAINING, NEW = (1, 5, 9, 13), (3, 7, 11)


@dataclass(frozen=True, eq=False)
class Trials:
    """Several trials, one after the other.

    Parameters
    ----------
    rows : array of shape (n, d)
    activities : array of str, shape (n,)
    trials : array of int, shape (n,)
    """

    rows: np.ndarray
    activities: np.ndarray
    trials: np.ndarray

    @classmethod
    def load(cls, data: Path) -> Trials:
        """Load all trials at 10 Hz."""
        rows, activities, trials = [], [], []
        for trial in (*TRAINING, *NEW):
            recording = real.load_cmu86(trial, data)
            names = np.array(recording.label_names)
            rows.append(recording.X[::CMU86_STRIDE])
            activities.append(names[recording.labels[::CMU86_STRIDE]])
            trials.append(np.full(len(rows[-1]), trial))
        return cls(np.concatenate(rows), np.concatenate(activities), np.concatenate(trials))

    def select(self, chosen: np.ndarray) -> Trials:
        """Some of the samples."""
        return Trials(self.rows[chosen], self.activities[chosen], self.trials[chosen])

    def of(self, trials: tuple[int, ...]) -> np.ndarray:
        """Which samples are of some trials."""
        return np.isin(self.trials, trials)


def find_labels(trials: Trials) -> tuple[np.ndarray, KnownStates]:
    """Segment the trials with the true numbers given."""
    found = seqspan.segment(
        as_recording(trials.rows, "mocap"),
        n_spans=len(boundaries_from_labels(trials.activities)) + 1,
        n_subspaces=len(np.unique(trials.activities)),
    )
    return found.labels, found.states


def take_true_labels(trials: Trials) -> tuple[np.ndarray, KnownStates]:
    """Learn from the true labels."""
    recording = as_recording(trials.rows, "mocap")
    steps = make_chain("auto", trials.rows, "mocap").records()
    labels = np.unique(trials.activities, return_inverse=True)[1]
    return labels, KnownStates.learn(recording, steps, labels, boundaries_from_labels(labels), 5)


def name_labels(labels: np.ndarray, activities: np.ndarray) -> dict[int, str]:
    """Match labels to the activities with most common samples."""
    names, truth = np.unique(activities, return_inverse=True)
    counts = np.zeros((labels.max() + 1, len(names)), dtype=int)
    np.add.at(counts, (labels, truth), 1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return {-1: "unknown"} | {int(row): str(names[column]) for row, column in zip(rows, columns, strict=True)}


def predict(known: KnownStates, trials: Trials, names: dict[int, str]) -> np.ndarray:
    """Activities of all samples, each trial by itself."""
    parts = [
        known.predict(trials.rows[trials.of((trial,))]) for trial in dict.fromkeys(trials.trials.tolist())
    ]
    return np.array([names.get(label, "no activity") for label in np.concatenate(parts).tolist()])


def compare(trials: Trials, learn) -> dict[str, object]:
    """Accuracy in new trials, with the known labels of the others."""
    training, new = trials.select(trials.of(TRAINING)), trials.select(trials.of(NEW))
    labels, known = learn(training)
    names = name_labels(labels, training.activities)
    answer = predict(known, new, names)
    is_known = np.isin(new.activities, training.activities)
    wanted = np.where(is_known, new.activities, "unknown")
    return {
        "agreement in training": known.agreement,
        "accuracy": float(np.mean(answer == wanted)),
        "known activities": float(np.mean((answer == wanted)[is_known])),
        "of these -1": float(np.mean((answer == "unknown")[is_known])),
        "new activities -1": float(np.mean((answer == "unknown")[~is_known])),
        "kB": round(sum(array.nbytes for array in known.states.to_arrays().values()) / 1000),
    }


def fit_together(trials: Trials) -> dict[str, object]:
    """Accuracy in the same trials when all are fitted together."""
    labels, _ = find_labels(trials)
    names = name_labels(labels, trials.activities)
    answer = np.array([names.get(label, "no activity") for label in labels.tolist()])
    right = (answer == trials.activities)[trials.of(NEW)]
    is_known = np.isin(trials.activities, trials.activities[trials.of(TRAINING)])[trials.of(NEW)]
    return {"accuracy": float(np.mean(right)), "known activities": float(np.mean(right[is_known]))}


def leave_out(trials: Trials, activity: str, learn) -> dict[str, object]:
    """Shares of samples that are called unknown after training without an activity."""
    training = trials.select(trials.of(TRAINING) & (trials.activities != activity))
    labels, known = learn(training)
    unknown = predict(known, trials, name_labels(labels, training.activities)) == "unknown"
    familiar = np.isin(trials.activities, training.activities)
    return {
        "left out": activity,
        "samples": int(np.sum(trials.activities == activity)),
        "of these -1": float(np.mean(unknown[trials.activities == activity])),
        "known, new trials: -1": float(np.mean(unknown[familiar & trials.of(NEW)])),
        "known, training: -1": float(np.mean(unknown[familiar & trials.of(TRAINING)])),
    }


def average(rows: list[dict[str, object]]) -> dict[str, object]:
    """The means of the shares, and how many activities are mostly unknown."""
    shares = np.array([[value for value in row.values() if isinstance(value, float)] for row in rows])
    names = [name for name, value in rows[0].items() if isinstance(value, float)]
    mostly = int(np.sum(shares[:, 0] > 0.5))
    means = dict(zip(names, shares.mean(axis=0).tolist(), strict=True))
    return {"left out": f"mean; {mostly} of {len(rows)} mostly -1", "samples": ""} | means


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("SEQSPAN_DATA"), help="folder of the data"
    )
    parser.add_argument("--quick", action="store_true", help="with true labels only")
    given = parser.parse_args()
    if given.data is None:
        parser.error("--data, or $SEQSPAN_DATA, must name the folder of the data sets")
    trials = Trials.load(Path(given.data))
    print(describe_machine())
    ways = {"true": take_true_labels} | ({} if given.quick else {"found": find_labels})
    rows = [{"labels of training": name} | compare(trials, learn) for name, learn in ways.items()]
    together = [] if given.quick else [{"labels of training": "all trials together"} | fit_together(trials)]
    print_table([*rows, *together])
    activities = np.unique(trials.activities[trials.of(TRAINING)]).tolist()
    for name, learn in ways.items():
        print(f"Activities left out, labels of training: {name}")
        rows = list(map(partial(leave_out, trials, learn=learn), activities))
        print_table([*rows, average(rows)])


if __name__ == "__main__":
    main()
