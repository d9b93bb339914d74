"""Several recordings with one vocabulary: segmented together, or each alone and matched afterwards.

    python -m benchmarks.together

Both numbers are given: of spans and labels of all recordings, or of each. Accuracy is that of the labels
over all samples of a set. Labels of separate fits are matched in two ways: by their mean samples, which
anybody can do, and by the truth, recording by recording, which nobody can. No way of matching is better.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from sklearn.cluster import AgglomerativeClustering

from benchmarks.common import describe_machine, print_table
from seqspan import Recording, segment
from seqspan._core.spans import boundaries_from_labels, part_slices
from seqspan.datasets import real
from seqspan.datasets._real_mocap import CMU86_TRIALS, continuous_quaternions
from seqspan.metrics import clustering_error
from seqspan.recording import concatenate

STRIDE = 6  # 60 Hz to 10 Hz, and 120 Hz to 20 Hz
QUATERNION = 4  # values of a joint's rotation


def load_cmu86() -> Recording:
    """The seven trials; q and -q are the same rotation, so signs are made continuous across trials, too."""
    trials = concatenate([_thin(real.load_cmu86(trial)) for trial in CMU86_TRIALS])
    rotations = trials.X.reshape(len(trials), -1, QUATERNION)
    return replace(trials, X=continuous_quaternions(rotations).reshape(trials.X.shape))


def load_hdm05() -> Recording:
    """Two clips of each action by each of two actors."""
    return concatenate([_thin(real.load_hdm05(actor, 2)) for actor in ("bd", "bk")])


SETS: dict[str, Callable[[], Recording]] = {"cmu86": load_cmu86, "hdm05": load_hdm05}


def _thin(recording: Recording) -> Recording:
    return recording.take(np.arange(0, len(recording), STRIDE))


def count_spans(labels: np.ndarray) -> int:
    """Number of true spans."""
    return len(boundaries_from_labels(labels)) + 1


def fit_together(recordings: Recording) -> np.ndarray:
    """Labels of all samples from one fit."""
    truth = recordings.labels
    n_spans = sum(count_spans(truth[part]) for part in part_slices(recordings.joins, len(truth)))
    return segment(recordings, n_spans=n_spans, n_subspaces=len(np.unique(truth))).labels


def fit_alone(recordings: Recording) -> np.ndarray:
    """Labels of all samples from separate fits; no label is in two recordings."""
    found, n_labels = [], 0
    for each in recordings.split():
        numbers = {"n_spans": count_spans(each.labels), "n_subspaces": len(np.unique(each.labels))}
        found.append(n_labels + segment(each, **numbers).labels)
        n_labels = int(found[-1].max()) + 1
    return np.concatenate(found)


def match_by_means(recordings: Recording, labels: np.ndarray) -> np.ndarray:
    """Cluster the mean samples of all labels into as many groups as there are true labels."""
    X = recordings.X - recordings.X.mean(axis=0)
    means = np.array([X[labels == label].mean(axis=0) for label in range(labels.max() + 1)])
    n_groups = len(np.unique(recordings.labels))
    return AgglomerativeClustering(n_groups, linkage="average").fit_predict(means)[labels]


def accuracy(truth: np.ndarray, found: np.ndarray) -> float:
    """Share of samples with the right label, after the best matching of labels."""
    return 1 - clustering_error(truth, found)


def compare(name: str) -> dict[str, object]:
    """One row of the table."""
    recordings = SETS[name]()
    truth, alone = recordings.labels, fit_alone(recordings)
    parts = part_slices(recordings.joins, len(truth))
    matched_by_truth = sum(accuracy(truth[part], alone[part]) * len(truth[part]) for part in parts)
    return {
        "set": name,
        "recordings": len(parts),
        "samples": len(truth),
        "states": len(np.unique(truth)),
        "together": accuracy(truth, fit_together(recordings)),
        "alone, matched by means": accuracy(truth, match_by_means(recordings, alone)),
        "alone, matched by the truth": matched_by_truth / len(truth),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    arguments = parser.parse_args()
    print(describe_machine(), end="\n\n")
    print_table([compare(name) for name in arguments.sets])


if __name__ == "__main__":
    main()
