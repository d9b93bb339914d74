"""How sure a boundary is: how much better two spans are described than one in their place."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import SpanCost

# Fitted by logistic regression to labelled recordings and checked on others: `python -m benchmarks.confidence
EVEN_EVIDENCE = 0.377  # nats per sample of the recording at which a boundary is right as often as wrong
STEEPNESS = 2.8  # of the logistic curve in the logarithm of the evidence


def boundary_confidence(cost: SpanCost[Any], boundaries: IntArray) -> Array:
    """Probability that each boundary is right, judged by recordings whose boundaries are known.

    With g nats of evidence for a boundary and n samples in all, ``p = 1 / (1 + (0.377 n / g)^2.8)``.

    Parameters
    ----------
    cost : SpanCost
        Of the recording (:func:`seqspan.cuts.ordered.cost.make_cost`).
    boundaries : array of int, shape (b,)
        Interior starts, ascending.

    Returns
    -------
    confidence : array of shape (b,)
        In [0, 1].

    Examples
    --------
    >>> from seqspan.cuts.ordered.cost import GaussianCost
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(-1, 0.1, (20, 2)), rng.normal(1, 0.1, (20, 2))])
    >>> right, wrong = boundary_confidence(GaussianCost([Y]), np.array([20, 30]))
    >>> bool(right > 0.9), bool(wrong < 0.1)
    (True, True)
    """
    evidence = np.maximum(boundary_evidence(cost, boundaries), np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        odds_against = (EVEN_EVIDENCE * cost.n_samples / evidence) ** STEEPNESS
    confidence: Array = 1 / (1 + odds_against)
    return confidence


def boundary_evidence(cost: SpanCost[Any], boundaries: IntArray) -> Array:
    """Evidence for each boundary: the log Bayes factor of its two spans against one in their place, in nats.

    Parameters
    ----------
    cost : SpanCost
    boundaries : array of int, shape (b,)

    Returns
    -------
    array of shape (b,)

    Examples
    --------
    >>> from seqspan.cuts.ordered.cost import GaussianCost
    >>> Y = np.repeat([[-1.0, -1.0], [1.0, 1.0]], 20, axis=0)
    >>> bool(boundary_evidence(GaussianCost([Y]), np.array([20]))[0] > 0)
    True
    """
    edges = np.concatenate([[0], boundaries, [cost.n_samples]])
    spans = [cost.summarise(start, end) for start, end in pairwise(edges)]
    apart = [float(cost.costs([span])[0]) for span in spans]
    together = [float(cost.costs([left + right])[0]) for left, right in pairwise(spans)]
    evidence: Array = np.array(together) - apart[:-1] - np.array(apart[1:])
    return evidence
