"""Labels of the spans of a stream: what is remembered of each label, and which of them a new span has.

A span and a known label are one if one Gaussian describes both better than two do. Costs and effective
numbers of samples are those of :mod:`seqspan.cuts.ordered.labels`. A few rows of each label are remembered
rather than moments of features, because features change with what the stream has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from seqspan._core.kernels import spread_anchors
from seqspan._core.types import Array
from seqspan.cuts.ordered.cost import GaussianCost, Moments
from seqspan.cuts.ordered.labels import FIXED_CORRELATION, PRIOR_SAMPLES, effective_share

N_ROWS = 32  # rows that are remembered of each label
MAX_LABELS = 64  # labels that are remembered; more states than that are given the nearest one


@dataclass
class KnownLabels:
    """The labels known so far.

    Parameters
    ----------
    limit : int
        Largest number of labels.
    rows : list of arrays of shape (at most N_ROWS, any)
        Samples of each label, as they arrived.
    weights : list of float
        Independent samples that the spans of each label are worth.
    last : int, optional
        Label of the last span that was learned.

    Examples
    --------
    >>> known = KnownLabels()
    >>> rng = np.random.default_rng(0)
    >>> low, high = rng.normal(-1, 0.1, (30, 2)), rng.normal(1, 0.1, (30, 2))
    >>> [known.learn(rows, rows) for rows in (low, high, low)]
    [0, 1, 0]
    """

    limit: int = MAX_LABELS
    rows: list[Array] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    _moments: list[Moments] = field(default_factory=list)
    last: int | None = None

    def learn(self, rows: Array, Y: Array) -> int:
        """Label a span whose end is final, from its rows and their features, and remember it."""
        label, span = self.match(Y), summarise(Y)
        if label == len(self.rows):
            self.rows.append(rows[:0])
            self.weights.append(0.0)
            self._moments.append(span * 0.0)
        self.weights[label] += span.count
        new = max(1, round(span.count / self.weights[label] * N_ROWS))
        old = self.rows[label][spread_anchors(len(self.rows[label]), N_ROWS - new)]
        self.rows[label] = np.concatenate([old, rows[spread_anchors(len(rows), new)]])
        self._moments[label] = self._moments[label] + span
        self.last = label
        return label

    def match(self, Y: Array, before: int | None = None) -> int:
        """The label of a span with features Y: a known one or the next that is free.

        It differs from that of the span before, by default the last that was learned.
        """
        before = self.last if before is None else before
        known = [label for label in range(len(self._moments)) if label != before]
        full = len(self._moments) >= self.limit
        if not known:
            return 0 if full else len(self._moments)
        span, labels = summarise(Y), [self._moments[label] for label in known]
        cost = GaussianCost([Y[:1]], prior_samples=PRIOR_SAMPLES)
        together = [each + span for each in labels]
        costs = cost.costs([span, *labels, *together])  # in one go: most of the time is overhead
        gain = costs[0] + costs[1 : len(labels) + 1] - costs[len(labels) + 1 :]
        best = int(np.argmax(gain))
        return known[best] if gain[best] > 0 or full else len(self._moments)

    def refresh(self, features: Callable[[Array], Array]) -> None:
        """Learn anew what the labels look like, in other features."""
        self._moments = []
        for rows, weight in zip(self.rows, self.weights, strict=True):
            Y = features(rows)
            self._moments.append(_moments(Y) * (weight / len(Y)))

    def arrays(self) -> dict[str, Array]:
        """All of it as arrays, for a checkpoint."""
        found = {f"state{label}": rows for label, rows in enumerate(self.rows)}
        found["states"] = np.array([-1 if self.last is None else self.last, *self.weights], dtype=float)
        if self.rows:
            found["state_totals"] = np.stack([moments.totals[0] for moments in self._moments])
            found["state_products"] = np.stack([moments.products[0] for moments in self._moments])
        return found

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Go on from `arrays`."""
        last, *self.weights = arrays["states"].tolist()
        self.last = None if last < 0 else int(last)
        self.rows = [arrays[f"state{label}"] for label in range(len(self.weights))]
        if self.rows:
            each = zip(self.weights, arrays["state_totals"], arrays["state_products"], strict=True)
            self._moments = [Moments(weight, (total,), (product,)) for weight, total, product in each]


def summarise(Y: Array) -> Moments:
    """Moments of a span, as many as the independent samples that it is worth.

    Examples
    --------
    >>> round(summarise(np.zeros((1000, 2))).count)
    32
    """
    return _moments(Y) * effective_share(len(Y), FIXED_CORRELATION)


def _moments(Y: Array) -> Moments:
    return Moments(len(Y), (Y.sum(axis=0),), (Y.T @ Y,))
