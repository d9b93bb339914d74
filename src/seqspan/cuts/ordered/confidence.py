"""How sure a boundary is: how much better two spans are described than one in their place."""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import Evidence
from seqspan.cuts.ordered.merging import boundary_gains

# Fitted by logistic regression to labelled recordings; `python -m benchmarks.confidence` checks them
# on others.
EVEN = 0.377  # nats per sample of the recording that a boundary saves which is right as often as not
SHARPNESS = 2.8


def boundary_confidence(evidence: Evidence, boundaries: IntArray) -> Array:
    """Probability that a boundary is one, judged by recordings whose boundaries are known.

    With g nats saved by the boundary at b against one span in place of its two neighbours, and n
    samples in all, ``p = 1 / (1 + (0.377 n / g)^2.8)``.

    Parameters
    ----------
    evidence : Evidence
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
    >>> right, wrong = boundary_confidence(Evidence([Y]), np.array([20, 30]))
    >>> bool(right > 0.9), bool(wrong < 0.1)
    (True, True)
    """
    gains = np.maximum(boundary_gains(evidence, boundaries), np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        odds_against = (EVEN * evidence.n_samples / gains) ** SHARPNESS
    confidence: Array = 1 / (1 + odds_against)
    return confidence
