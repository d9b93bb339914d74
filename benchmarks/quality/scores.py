"""Scores of labels against the truth."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from benchmarks.quality.rows import Row, read_runs
from benchmarks.quality.sets import Labelled
from seqspan._core.spans import labels_from_boundaries
from seqspan.metrics import boundary_f1, clustering_error, covering

#: Columns of the tables; larger is better.
SCORES = ("accuracy", "nmi", "ari", "covering", "boundary_f1")
MARGIN = 0.02  # of the samples, at most, within which a boundary counts as found
SPAN_MARGIN = 0.2  # of the median true span, at most
CUT_MARGIN = 2  # frames, for the hard cuts of a film


def score_rows(sequence: Labelled, rows: list[Row]) -> list[Row]:
    """Add scores and true numbers to the rows of a recording.

    A row without an answer gets the scores of one span, which is what anybody has without a method.
    """
    truth = {"true_spans": sequence.n_spans, "true_labels": sequence.n_labels}
    one_span = f"{len(sequence.labels)}:0"
    answers = [row["runs"] if row["status"] == "done" else one_span for row in rows]
    # Many variants agree, so each answer is scored once.
    scores = {runs: score_answer(sequence, *read_runs(runs)) for runs in dict.fromkeys(answers)}
    return [{**row, **truth, **scores[runs]} for row, runs in zip(rows, answers, strict=True)]


def score_answer(sequence: Labelled, labels: np.ndarray, found: np.ndarray) -> dict[str, float | int]:
    """Compute all scores of labels and boundaries; for a film, also the hard cuts and false boundaries.

    Accuracy, NMI and ARI leave out rows that are not annotated. Covering and boundaries count all spans,
    because where an annotated span ends is known.
    """
    known = ~np.isin(sequence.labels, sequence.ignore)
    truth, answer = sequence.labels[known], labels[known]
    scores: dict[str, float | int] = {
        "accuracy": 1 - clustering_error(truth, answer),
        "nmi": float(normalized_mutual_info_score(truth, answer)),
        "ari": float(adjusted_rand_score(truth, answer)),
        "covering": covering(sequence.labels, labels_from_boundaries(found, len(labels))),
        "boundary_f1": score_boundaries(sequence, found),
        "found_spans": len(found) + 1,
        "found_labels": len(np.unique(labels)),
    }
    if sequence.gradual is not None:
        cuts, false = judge_cuts(sequence.boundaries, found, sequence.gradual)
        scores |= {"cuts_found": cuts, "cuts_false": false}
    return scores


def score_boundaries(sequence: Labelled, found: np.ndarray) -> float:
    """Compute the F1 score of boundaries; joins count neither as hits nor as false.

    A true boundary at a join is left out: the data jump there, whatever the labels do. A boundary that is
    found within the margin of a join is left out as well, unless it is as near to another true boundary.
    """
    margin = boundary_margin(sequence)
    joins = np.array(sequence.joins, dtype=int)
    truth = np.setdiff1d(sequence.boundaries, joins)
    counts = ~is_near(found, joins, margin) | is_near(found, truth, margin)
    return boundary_f1(truth, found[counts], margin=margin)


def boundary_margin(sequence: Labelled) -> int:
    """Return the distance in samples within which a boundary counts as found.

    With half of a span as margin, spans of equal length would find most boundaries of a recording that
    changes often.
    """
    edges = np.concatenate([[0], sequence.boundaries, [len(sequence.labels)]])
    span = float(np.median(np.diff(edges)))
    return max(1, int(min(MARGIN * len(sequence.labels), SPAN_MARGIN * span)))


def is_near(places: np.ndarray, others: np.ndarray, margin: int) -> np.ndarray:
    """Say for each place whether one of the others is within the margin.

    Examples
    --------
    >>> is_near(np.array([3, 9]), np.array([5, 20]), 2).tolist()
    [True, False]
    """
    return np.asarray((np.abs(places[:, None] - others) <= margin).any(axis=1))


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
