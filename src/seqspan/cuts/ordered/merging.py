"""Labels of spans: spans that one model describes well together get the same label."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import SpanCost

MIN_LABEL_EVIDENCE = 4.75  # nats per sample of the smaller group; with less, two groups share a label
CHUNK = 100  # pairs of groups whose costs are computed at once


class SpanMerging:
    """Spans merged two groups at a time, always the pair with the least evidence against it.

    The evidence against merging is the log Bayes factor of two models against one, in nats per sample of the
    smaller group: what each of its samples pays for sharing a model.

    Parameters
    ----------
    cost : SpanCost
    boundaries : array of int
        Interior starts of the spans.

    Attributes
    ----------
    evidence_against : list of float
        Evidence against each merge, the first one first.
    costs : list of float
        Cost of all groups before the first merge, after the first, after the second, ...

    Examples
    --------
    >>> from seqspan.cuts.ordered.cost import GaussianCost
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(m, 0.1, (20, 2)) for m in (-1, 1, -1)])
    >>> merging = SpanMerging(GaussianCost([Y]), np.array([20, 40]))
    >>> merging.labels(2)
    array([0, 1, 0])
    """

    def __init__(self, cost: SpanCost[Any], boundaries: IntArray) -> None:
        edges = np.concatenate([[0], boundaries, [cost.n_samples]])
        self.boundaries = boundaries
        self.n_spans = len(edges) - 1
        self._cost = cost
        self._groups: list[Any] = [cost.summarise(start, end) for start, end in pairwise(edges)]
        self._group_costs = [float(cost.costs([group])[0]) for group in self._groups]
        self.evidence_against: list[float] = []
        self.costs = [float(np.sum(self._group_costs))]
        self._pairs: list[tuple[int, int]] = []
        self._merge_all()

    def labels(self, n_labels: int) -> IntArray:
        """Label of each span when `n_labels` groups are left, numbered in the order of appearance."""
        groups = list(range(self.n_spans))
        for kept, gone in self._pairs[: self.n_spans - n_labels]:
            groups = [kept if group == gone else group for group in groups]
        _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[inverse]

    @cached_property
    def label_evidence(self) -> Array:
        """Evidence for a second, third, ... label, in nats per sample; descending, of shape (n_spans - 1,).

        A later merge may have less evidence against it than one before; the largest up to it counts.
        """
        return np.maximum.accumulate(np.array(self.evidence_against))[::-1]

    def count_labels(self) -> int:
        """Number of labels for which there is enough evidence."""
        return 1 + int(np.sum(self.label_evidence >= MIN_LABEL_EVIDENCE))

    def _merge_all(self) -> None:
        """Merge until one group is left."""
        alive = list(range(self.n_spans))
        evidence = np.full((self.n_spans, self.n_spans), np.inf)
        pairs = [(i, j) for j in alive for i in alive[:j]]
        while len(alive) > 1:
            for pair, against in zip(pairs, self._evidence_against(pairs), strict=True):
                evidence[pair] = against
            i, j = (int(index) for index in np.unravel_index(np.argmin(evidence), evidence.shape))
            self.evidence_against.append(float(evidence[i, j]))
            self._merge(i, j)
            alive.remove(j)
            evidence[j, :] = evidence[:, j] = np.inf
            pairs = [(min(i, other), max(i, other)) for other in alive if other != i]

    def _evidence_against(self, pairs: list[tuple[int, int]]) -> Array:
        """Evidence against merging several pairs, per sample of the smaller group."""
        # in chunks: the p x p moments of all pairs at once would take more memory than everything else
        chunks = (pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK))
        together = np.concatenate([self._costs_together(chunk) for chunk in chunks])
        apart = np.array([self._group_costs[i] + self._group_costs[j] for i, j in pairs])
        smaller = [min(self._groups[i].count, self._groups[j].count) for i, j in pairs]
        evidence: Array = (together - apart) / np.array(smaller)
        return evidence

    def _costs_together(self, pairs: list[tuple[int, int]]) -> Array:
        """Costs of the unions of pairs."""
        return self._cost.costs([self._groups[i] + self._groups[j] for i, j in pairs])

    def _merge(self, i: int, j: int) -> None:
        """Merge group j into group i."""
        self._groups[i] = self._groups[i] + self._groups[j]
        cost = float(self._cost.costs([self._groups[i]])[0])
        self.costs.append(self.costs[-1] + cost - self._group_costs[i] - self._group_costs[j])
        self._group_costs[i] = cost
        self._pairs.append((i, j))
