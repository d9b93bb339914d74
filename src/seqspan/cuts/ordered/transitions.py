"""Transitions: spans in which one state turns into the next are no states of their own.

Where one activity blends into another, or a scene dissolves into the next, samples are mixtures of both. They
are far from either, so they get a label. But they are no news to somebody who knows both neighbours. So a
transition expects what it is between: at first samples of the label before it, in the end samples of the
label after it, and in the middle as many of one as of the other. A label is no state if that costs no more
than its samples do under a model of their own, all of its spans together.

Its spans resemble each other, so N of them are worth N / (1 + (N - 1) rho), as samples of a span are.
Otherwise any way would be a state in a recording that is long enough: none is quite the one expected.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from seqspan._core.spans import Division, number_in_order
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import GaussianCost, Moments
from seqspan.cuts.ordered.labels import effective_share
from seqspan.cuts.ordered.view_model import ExpectedGaussian

STEPS = 8  # of a transition, in each of which the shares of both labels stay the same


@dataclass(frozen=True)
class Transitions:
    """Tells labels that are transitions from states, and divides their spans between their neighbours.

    Parameters
    ----------
    cost : GaussianCost
        Of the label models.
    inflation : float
        Number of samples that say as much as one independent sample.
    joins : tuple of int
        Samples at which another recording begins.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> level = np.concatenate([np.zeros(50), np.linspace(0, 9, 12), np.full(50, 9.0)])
    >>> Y = level[:, None] + rng.standard_normal((112, 1))
    >>> rough = Division(np.array([50, 62]), np.array([0, 1, 2]))
    >>> Transitions(GaussianCost([Y], prior_samples=5.0)).absorb(rough).labels
    array([0, 1])
    """

    cost: GaussianCost
    inflation: float = 1.0
    joins: tuple[int, ...] = ()

    def absorb(self, division: Division) -> Division:
        """Divide the spans of transitions between their neighbours, until every label is a state."""
        while True:
            models = self.cost.summarise_labels(division, effective_share)
            transitions = self._transitions(division, models)
            if not transitions:
                return division
            division = self._divide(division, models, np.isin(division.labels, transitions))

    def _transitions(self, division: Division, models: list[Moments]) -> list[int]:
        """Labels that are no states; of two that are neighbours, the one that is less of a state."""
        shares = np.array([effective_share(n) for n in np.bincount(division.labels)]) / self.inflation
        samples = self.cost.summarise_labels(division, lambda _: 1.0)
        own = self.cost.costs([one * share for one, share in zip(samples, shares, strict=True)])
        savings = own - self._costs_between(division, models) * shares
        found: list[int] = []
        for label in np.argsort(-savings)[: np.count_nonzero(savings >= 0)].tolist():
            spans = np.flatnonzero(division.labels == label)
            if not np.isin(division.labels[[*(spans - 1), *(spans + 1)]], found).any():
                found.append(label)
        return found

    def _costs_between(self, division: Division, models: list[Moments]) -> Array:
        """What the samples of each label cost as transitions; infinite if one of its spans cannot be one."""
        edges, labels = self._edges(division).tolist(), division.labels
        ends = [0, *self.joins, self.cost.n_samples]
        costs = np.zeros(len(models))
        for span, (start, end) in enumerate(pairwise(edges)):
            if start in ends or end in ends or labels[span - 1] == labels[span + 1]:
                costs[labels[span]] = np.inf
        known: dict[tuple[int, int, int, int], list[ExpectedGaussian]] = {}
        for span in np.flatnonzero(np.isfinite(costs)[labels]).tolist():
            before, after = int(labels[span - 1]), int(labels[span + 1])
            steps = np.linspace(edges[span], edges[span + 1], min(STEPS, edges[span + 1] - edges[span]) + 1)
            for step, (first, last) in enumerate(pairwise(steps.round().astype(int).tolist())):
                key = before, after, step, len(steps) - 1
                if key not in known:
                    mixture = mix(models[before], models[after], (step + 0.5) / (len(steps) - 1))
                    known[key] = self.cost.expect(mixture)
                costs[labels[span]] += self.cost.density(known[key], slice(first, last)).sum()
        return costs

    def _divide(self, division: Division, models: list[Moments], gone: npt.NDArray[np.bool_]) -> Division:
        """Divide some spans between their neighbours, where that costs least."""
        edges, labels = self._edges(division), division.labels
        for span in np.flatnonzero(gone).tolist():
            rows = slice(int(edges[span]), int(edges[span + 1]))
            before, after = (
                self.cost.density(self.cost.expect(models[labels[neighbour]]), rows)
                for neighbour in (span - 1, span + 1)
            )
            changes = np.concatenate([[0.0], np.cumsum(before - after)])
            edges[span + 1] = rows.start + int(np.argmin(changes))  # where the next span starts now
        return Division(edges[:-1][~gone][1:], number_in_order(labels[~gone]))

    def _edges(self, division: Division) -> IntArray:
        return np.concatenate([[0], division.boundaries, [self.cost.n_samples]]).astype(np.intp)


def mix(one: Moments, other: Moments, share: float) -> Moments:
    """Moments of as many samples, of which a share comes from the other label.

    Examples
    --------
    >>> ones, threes = (Moments(4.0, (np.array([4.0 * x]),), (np.array([[4.0 * x * x]]),)) for x in (1, 3))
    >>> mixture = mix(ones, threes, 0.25)
    >>> mixture.count, mixture.totals[0] / mixture.count
    (8.0, array([1.5]))
    """
    count = one.count + other.count
    return one * (count * (1 - share) / one.count) + other * (count * share / other.count)
