"""Several recordings with one vocabulary: segmented together, or each alone and matched afterwards.

    python -m benchmarks.together

Both numbers are given: of spans and labels of all recordings, or of each. Accuracy is that of the labels
over all samples of a set. Labels of separate fits are matched in two ways: by their mean samples, which
anybody can do, and by the truth, recording by recording, which nobody can. No way of matching is better.

The quaternions of cmu86 come in three versions. As loaded, their signs are continuous within a trial, so
the same pose may have opposite signs in two trials. With w >= 0 there is one quaternion for each rotation.
Without the pelvis, the direction that somebody faces does not count.
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
from seqspan.datasets._real_mocap import CMU86_TRIALS
from seqspan.metrics import clustering_error
from seqspan.recording import concatenate

STRIDE = 6  # 60 Hz to 10 Hz, and 120 Hz to 20 Hz
QUATERNION = 4  # values of a joint's rotation


def load_cmu86() -> Recording:
    """The seven trials as they are loaded."""
    return concatenate([_thin(real.load_cmu86(trial)) for trial in CMU86_TRIALS])


def load_cmu86_signed() -> Recording:
    """The same with w >= 0: q and -q are the same rotation."""
    trials = load_cmu86()
    rotations = trials.X.reshape(len(trials), -1, QUATERNION)
    signs = np.where(rotations[..., -1:] < 0, -1.0, 1.0)
    return replace(trials, X=(rotations * signs).reshape(trials.X.shape))


def load_cmu86_body() -> Recording:
    """The same without the pelvis, which is the first joint."""
    trials = load_cmu86_signed()
    return replace(trials, X=trials.X[:, QUATERNION:], feature_names=trials.feature_names[QUATERNION:])


def load_hdm05() -> Recording:
    """Two clips of each action by each of two actors."""
    return concatenate([_thin(real.load_hdm05(actor, 2)) for actor in ("bd", "bk")])


SETS: dict[str, Callable[[], Recording]] = {
    "cmu86": load_cmu86,
    "cmu86, w >= 0": load_cmu86_signed,
    "cmu86, w >= 0, without pelvis": load_cmu86_body,
    "hdm05": load_hdm05,
}


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
