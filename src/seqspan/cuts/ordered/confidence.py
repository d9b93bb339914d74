"""How sure a boundary is: how sharply the samples just before it differ from those just after it."""

from __future__ import annotations

import numpy as np

from seqspan._core.spans import MIN_LENGTH
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import GaussianCost

REACH = 2 * MIN_LENGTH  # samples on either side that are looked at: two of the shortest spans
# logistic regression on labelled recordings, printed by `python -m benchmarks.confidence --leave-one-out`
INTERCEPT = -0.39
SLOPE = 2.76  # per nat, sample and feature


def boundary_confidence(Y: Array, boundaries: IntArray) -> Array:
    """Probability that each boundary is right, judged by recordings whose boundaries are known.

    With g nats of evidence for a change between the N samples just before and after it, N <= 10, and q
    features on average, ``log(p / (1 - p)) = -0.39 + 2.76 g / (N q)``.

    Parameters
    ----------
    Y : array of shape (n, p)
        Features of the samples (:func:`seqspan.cuts.ordered.features.sample_features`).
    boundaries : array of int, shape (b,)
        Interior starts, ascending.

    Returns
    -------
    confidence : array of shape (b,)
        In [0, 1].

    Examples
    --------
    >>> from seqspan.cuts.ordered.features import sample_features
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(np.eye(3), 20, axis=1) + 0.05 * rng.standard_normal((3, 60))
    >>> right, wrong = boundary_confidence(sample_features(X), np.array([20, 30]))
    >>> bool(right > 0.9), bool(wrong < 0.5)
    (True, True)
    """
    confidence: Array = 1 / (1 + np.exp(-(INTERCEPT + SLOPE * _evidence(Y, boundaries))))
    return confidence


def _evidence(Y: Array, boundaries: IntArray) -> Array:
    """Log Bayes factors of changes at boundaries, seen from nearby, in nats per sample and feature."""
    cost = GaussianCost([Y])
    edges = np.concatenate([[0], boundaries, [len(Y)]])
    starts = np.maximum(edges[:-2], boundaries - REACH)
    ends = np.minimum(edges[2:], boundaries + REACH)
    spans = np.hstack([(starts, ends), (starts, boundaries), (boundaries, ends)]).T
    together, before, after = cost.costs([cost.summarise(*span) for span in spans]).reshape(3, -1)
    n_samples = np.minimum(boundaries - starts, ends - boundaries)
    evidence: Array = (together - before - after) / (n_samples * cost.n_features)
    return evidence
