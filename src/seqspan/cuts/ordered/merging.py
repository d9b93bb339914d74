"""Spans of the same subspace get the same label: spans are joined where one model describes both."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import Evidence, Moments

AT_ONCE = 100  # pairs of spans


class Joining:
    """Spans joined one pair at a time, always the two groups that lose least by sharing a model.

    The loss is the evidence that two groups are different, in nats per sample of the smaller group: what a
    sample of it pays for being described by the model of both.

    Parameters
    ----------
    evidence : Evidence
    boundaries : array of int
        Interior starts of the spans.

    Attributes
    ----------
    losses : list of float
        Of each joining in order, the first one first.
    costs : list of float
        Cost of all groups before the first, after the first, after the second joining, ...

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(m, 0.1, (20, 2)) for m in (-1, 1, -1)])
    >>> joining = Joining(Evidence([Y]), np.array([20, 40]))
    >>> joining.labels(2)
    array([0, 1, 0])
    """

    def __init__(self, evidence: Evidence, boundaries: IntArray) -> None:
        edges = np.concatenate([[0], boundaries, [evidence.n_samples]])
        self.boundaries = boundaries
        self.n_spans = len(edges) - 1
        self._evidence = evidence
        self._groups: list[list[Moments]] = [evidence.moments(start, end) for start, end in pairwise(edges)]
        self._costs = [evidence.cost(group) for group in self._groups]
        self.losses: list[float] = []
        self.costs = [float(np.sum(self._costs))]
        self._pairs: list[tuple[int, int]] = []
        self._join_all()

    def labels(self, n_labels: int) -> IntArray:
        """Label of each span when `n_labels` groups are left, numbered in the order of appearance."""
        groups = list(range(self.n_spans))
        for kept, gone in self._pairs[: self.n_spans - n_labels]:
            groups = [kept if group == gone else group for group in groups]
        _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[inverse]

    def _join_all(self) -> None:
        """Join until one group is left."""
        alive = list(range(self.n_spans))
        losses = np.full((self.n_spans, self.n_spans), np.inf)
        pairs = [(i, j) for j in alive for i in alive[:j]]
        while len(alive) > 1:
            for pair, loss in zip(pairs, self._losses(pairs), strict=True):
                losses[pair] = loss
            i, j = (int(index) for index in np.unravel_index(np.argmin(losses), losses.shape))
            self.losses.append(float(losses[i, j]))
            self._merge(i, j)
            alive.remove(j)
            losses[j, :] = losses[:, j] = np.inf
            pairs = [(min(i, other), max(i, other)) for other in alive if other != i]

    def _losses(self, pairs: list[tuple[int, int]]) -> Array:
        """Evidence that two groups differ, per sample of the smaller, for several pairs."""
        # not all at once: their moments, p x p numbers each, would take far more than all else
        chunks = (pairs[start : start + AT_ONCE] for start in range(0, len(pairs), AT_ONCE))
        both = np.concatenate([self._costs_together(chunk) for chunk in chunks])
        apart = np.array([self._costs[i] + self._costs[j] for i, j in pairs])
        smaller = [min(self._groups[i][0].count, self._groups[j][0].count) for i, j in pairs]
        losses: Array = (both - apart) / np.array(smaller)
        return losses

    def _costs_together(self, pairs: list[tuple[int, int]]) -> Array:
        """Costs of the unions of pairs."""
        return self._evidence.costs([_together(self._groups[i], self._groups[j]) for i, j in pairs])

    def _merge(self, i: int, j: int) -> None:
        """Let group i take in group j."""
        self._groups[i] = _together(self._groups[i], self._groups[j])
        joined = self._evidence.cost(self._groups[i])
        self.costs.append(self.costs[-1] + joined - self._costs[i] - self._costs[j])
        self._costs[i] = joined
        self._pairs.append((i, j))


def _together(first: list[Moments], second: list[Moments]) -> list[Moments]:
    """Moments of the union, view by view."""
    return [a + b for a, b in zip(first, second, strict=True)]


def boundary_gains(evidence: Evidence, boundaries: IntArray) -> Array:
    """Nats that each boundary saves against one span in place of its two neighbours.

    Parameters
    ----------
    evidence : Evidence
    boundaries : array of int, shape (b,)

    Returns
    -------
    array of shape (b,)

    Examples
    --------
    >>> Y = np.repeat([[-1.0, -1.0], [1.0, 1.0]], 20, axis=0)
    >>> bool(boundary_gains(Evidence([Y]), np.array([20]))[0] > 0)
    True
    """
    edges = np.concatenate([[0], boundaries, [evidence.n_samples]])
    spans = [evidence.moments(start, end) for start, end in pairwise(edges)]
    costs = [evidence.cost(span) for span in spans]
    pairs = [evidence.cost(_together(a, b)) for a, b in pairwise(spans)]
    gains: Array = np.array(pairs) - costs[:-1] - np.array(costs[1:])
    return gains
