"""Scores of labels against the truth."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from benchmarks.quality.sets import Labelled
from seqspan._core.spans import boundaries_from_labels
from seqspan.metrics import boundary_f1, clustering_error, covering

#: Columns of the tables; larger is better.
SCORES = ("accuracy", "nmi", "ari", "covering", "boundary_f1")
MARGIN = 0.02  # of the samples, within which a boundary counts as found
CUT_MARGIN = 2  # frames, for the hard cuts of a film


def score_labels(sequence: Labelled, labels: np.ndarray) -> dict[str, float | int]:
    """Compute all scores of one result; for a film, also the hard cuts found and the false boundaries."""
    found = boundaries_from_labels(labels)
    truth = boundaries_from_labels(sequence.labels)
    margin = max(1, round(MARGIN * len(labels)))
    scores: dict[str, float | int] = {
        "accuracy": 1 - clustering_error(sequence.labels, labels),
        "nmi": float(normalized_mutual_info_score(sequence.labels, labels)),
        "ari": float(adjusted_rand_score(sequence.labels, labels)),
        "covering": covering(sequence.labels, labels),
        "boundary_f1": boundary_f1(truth, found, margin=margin),
        "found_spans": len(found) + 1,
        "found_labels": len(np.unique(labels)),
    }
    if sequence.gradual is not None:
        cuts, false = judge_cuts(truth, found, sequence.gradual)
        scores |= {"cuts_found": cuts, "cuts_false": false}
    return scores


def judge_cuts(cuts: np.ndarray, found: np.ndarray, gradual: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    """Count the hard cuts found within two frames, each once, and the false boundaries.

    Boundaries in a gradual range do not count as false.

    Examples
    --------
    >>> judge_cuts(np.array([100, 200]), np.array([30, 101, 102, 160]), ((20, 40),))
    (1, 2)
    """
    left = sorted(int(boundary) for boundary in found)
    matched = 0
    for cut in cuts:
        near = [boundary for boundary in left if abs(boundary - cut) <= CUT_MARGIN]
        if near:
            matched += 1
            left.remove(min(near, key=lambda boundary: abs(boundary - cut)))
    false = [each for each in left if not any(first <= each <= last for first, last in gradual)]
    return matched, len(false)
