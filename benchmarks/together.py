"""Several recordings with one vocabulary: segmented together, or each alone and matched afterwards.

    python -m benchmarks.together

Both numbers are given: of spans and labels of all recordings, or of each. Accuracy is that of the labels
over all samples of a set. Labels of separate fits are matched in two ways: by their mean samples, which
anybody can do, and by the truth, recording by recording, which nobody can. No way of matching is better.

The quaternions of cmu86 come in several versions. As loaded, their signs are continuous within a trial, so
the same pose may have opposite signs in two trials. Aligned, every joint of every trial has the sign that
brings its mean nearest to the other trials'. With w >= 0 there is one quaternion for each rotation. Rotation
matrices have no sign. Without the pelvis, the direction that somebody faces does not count.

In the column "own means", the mean of each recording is subtracted first. That helps where recordings differ
by an offset, and hurts where they differ in what they contain.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial

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
ROUNDS = 5  # of aligning signs, enough for seven trials


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


def load_cmu86_aligned() -> Recording:
    """The same with one sign for each joint and trial, so that the means of trials agree."""
    trials = load_cmu86()
    rotations = trials.X.reshape(len(trials), -1, QUATERNION).copy()
    parts = part_slices(trials.joins, len(trials))
    for joint in range(rotations.shape[1]):
        sums = np.array([rotations[part, joint].sum(axis=0) for part in parts])
        signs = np.sign(sums @ sums[0])
        for _ in range(ROUNDS):
            signs = np.sign(sums @ (signs @ sums))
        for part, sign in zip(parts, signs, strict=True):
            rotations[part, joint] *= sign
    return replace(trials, X=rotations.reshape(trials.X.shape))


def load_cmu86_matrices(n_columns: int = 3) -> Recording:
    """The first columns of each joint's rotation matrix, without the pelvis."""
    trials = load_cmu86()
    x, y, z, w = np.moveaxis(trials.X.reshape(len(trials), -1, QUATERNION)[:, 1:], -1, 0)
    columns = (
        (1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)),
        (2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)),
        (2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)),
    )
    X = np.stack(sum(columns[:n_columns], ()), axis=-1).reshape(len(trials), -1)
    return replace(trials, X=X, feature_names=tuple(f"entry {place}" for place in range(X.shape[1])))


def centre_each(recordings: Recording) -> Recording:
    """Subtract the mean of every recording."""
    parts = part_slices(recordings.joins, len(recordings))
    X = np.concatenate([recordings.X[part] - recordings.X[part].mean(axis=0) for part in parts])
    return replace(recordings, X=X)


def load_hdm05() -> Recording:
    """Two clips of each action by each of two actors."""
    return concatenate([_thin(real.load_hdm05(actor, 2)) for actor in ("bd", "bk")])


SETS: dict[str, Callable[[], Recording]] = {
    "cmu86": load_cmu86,
    "cmu86, aligned": load_cmu86_aligned,
    "cmu86, w >= 0": load_cmu86_signed,
    "cmu86, w >= 0, without pelvis": load_cmu86_body,
    "cmu86, matrices, without pelvis": load_cmu86_matrices,
    "cmu86, two columns of each": partial(load_cmu86_matrices, 2),
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
        "own means": accuracy(truth, fit_together(centre_each(recordings))),
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
