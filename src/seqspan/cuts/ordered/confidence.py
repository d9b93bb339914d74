"""How sure a boundary is: how sharply the samples just before it differ from those just after it."""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.labels import correlation_time

REACH = 10  # samples on either side that are looked at
# fitted by logistic regression to labelled recordings: `python -m benchmarks.confidence`
INTERCEPT = -0.66
SLOPE = 0.8


def boundary_confidence(cost: GaussianCost, boundaries: IntArray) -> Array:
    """Probability that each boundary is right, judged by recordings whose boundaries are known.

    With g nats of evidence for a change between the ten samples before and after it, of which tau say the
    same, ``log(p / (1 - p)) = -0.66 + 0.8 log(1 + g / tau)``.

    Parameters
    ----------
    cost : GaussianCost
        Of the recording (:func:`seqspan.cuts.ordered.cost.make_cost`).
    boundaries : array of int, shape (b,)
        Interior starts, ascending.

    Returns
    -------
    confidence : array of shape (b,)
        In [0, 1].

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(-1, 0.1, (20, 2)), rng.normal(1, 0.1, (20, 2))])
    >>> right, wrong = boundary_confidence(GaussianCost([Y]), np.array([20, 30]))
    >>> bool(right > 0.9), bool(wrong < 0.5)
    (True, True)
    """
    edges = np.concatenate([[0], boundaries, [cost.n_samples]])
    evidence = np.array([_evidence(cost, *edges[i : i + 3]) for i in range(len(boundaries))])
    counted = np.maximum(evidence, 0) / correlation_time(cost.views[0], edges)
    confidence: Array = 1 / (1 + np.exp(-(INTERCEPT + SLOPE * np.log1p(counted))))
    return confidence


def _evidence(cost: GaussianCost, before: int, boundary: int, after: int) -> float:
    """Log Bayes factor, in nats, of a change at a boundary between two others, seen from nearby."""
    start, end = max(before, boundary - REACH), min(after, boundary + REACH)
    return cost.error(start, end) - cost.error(start, boundary) - cost.error(boundary, end)
