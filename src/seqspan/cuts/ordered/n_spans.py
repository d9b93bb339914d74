"""How many spans: as many as save more than they cost.

The cost of the best k spans falls with k. A penalty that grows with what spans explain by chance
(:mod:`seqspan.cuts.ordered.null_distribution`) stops it.
"""

from __future__ import annotations

import numpy as np

from seqspan.cuts.ordered.search import SpanSearch

# docs/ordered_cut.md says how these were chosen
SPAN_PENALTY = 4.2  # nats per sample, at a slope of 1 nat per sample
SLOPE_POWER = 1 / 3  # of what one more span explains by chance


def span_penalty(slope: float, n_samples: int) -> float:
    """Penalty per square root of the number of spans, in nats.

    Parameters
    ----------
    slope : float
        What one more span explains by chance, in nats per sample.
    n_samples : int

    Returns
    -------
    float

    Examples
    --------
    >>> span_penalty(1.0, 100)
    420.0
    """
    return float(SPAN_PENALTY * slope**SLOPE_POWER * n_samples)


def choose_n_spans(search: SpanSearch, fewest: int, penalty: float) -> int:
    """Minimise ``cost(k) + penalty sqrt(k)`` over the number of spans k, looking well past the minimum.

    Parameters
    ----------
    search : SpanSearch
    fewest : int
        Smallest number of spans to consider.
    penalty : float

    Returns
    -------
    int

    Examples
    --------
    >>> y = np.array([0.0, 0.0, 5.0, 5.0, 9.0])
    >>> C = np.array([[np.ptp(y[i:j]) if i < j else 0 for i in range(6)] for j in range(6)])
    >>> choose_n_spans(SpanSearch(C), 1, penalty=0.5), choose_n_spans(SpanSearch(C), 1, penalty=90.0)
    (3, 1)
    """
    best, least, k = fewest, np.inf, fewest
    while k <= min(search.max_spans, 2 * best + 8):
        total = search.cost(k) + penalty * np.sqrt(k)
        if total < least:
            best, least = k, total
        k += 1
    return best
