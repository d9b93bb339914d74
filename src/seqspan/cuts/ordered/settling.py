"""Spans and labels together: boundaries and labels move to where the label models describe the samples best.

Given the models of the labels, dynamic programming finds the best spans and labels, to the sample, such that
neighbours differ; given spans and labels, the models follow. Both take turns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqspan._core.spans import (
    Division,
    boundaries_from_labels,
    merge_neighbours,
    number_in_order,
    part_slices,
)
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.labels import effective_share
from seqspan.cuts.ordered.paths import CheapestPath
from seqspan.cuts.ordered.search import share_out

TURNS = 8  # of labels and boundaries, at most
MAX_PATHS = 100_000_000  # spans x labels x samples: with more, a given number of spans is not searched for
MAX_DENSITIES = 20_000_000  # labels x samples x turns: so many turns, but at least one


@dataclass(frozen=True)
class Settling:
    """Moves boundaries and labels to where the label models describe the samples best, in turn.

    Parameters
    ----------
    cost : GaussianCost
        Of the label models.
    min_length : int
        Length of the shortest span.
    inflation : float
        Number of samples that say as much as one independent sample.
    joins : tuple of int
        Samples at which another recording begins.
    n_jobs : int, optional
        Number of threads.
    """

    cost: GaussianCost
    min_length: int
    inflation: float = 1.0
    joins: tuple[int, ...] = ()
    n_jobs: int | None = 1

    def settle(self, division: Division, n_spans: int | None = None, patience: float = 1.0) -> Division:
        """Improve a division until its evidence stops growing; as many labels, none of them on neighbours.

        There are exactly `n_spans` spans. If that is None, there are as many as the evidence wants: each has
        to be worth saying where it begins and which label it has, `patience` times.
        """
        merged, n_labels = merge_neighbours(division, self.joins), division.n_labels
        if n_labels == 1 or (n_spans is not None and self._is_too_large(n_labels, n_spans)):
            return merged if n_spans in (None, len(merged.labels)) else self._set_apart(division)
        price = patience * (np.log(self.cost.n_samples) + np.log(n_labels))
        division = best = merged
        least = np.inf
        for _ in range(min(TURNS, max(1, MAX_DENSITIES // (n_labels * self.cost.n_samples)))):
            if n_spans is None:
                found = self._cheapest_path(division, price)
            else:
                found = self._best_path(division, n_spans)
            found = give_lost_labels(found, n_labels)
            cost = self._total(found) + price * len(found.labels)
            if cost >= least:
                break
            best, least, division = found, cost, found
        return best

    def _is_too_large(self, n_labels: int, n_spans: int) -> bool:
        return n_spans * n_labels * self.cost.n_samples > MAX_PATHS

    def _total(self, division: Division) -> float:
        """Cost of all labels. Every sample counts the same, so that divisions can be compared."""
        summaries = self.cost.summarise_labels(division, lambda count: 1 / self.inflation)
        return float(self.cost.costs(summaries).sum())

    def _cheapest_path(self, division: Division, price: float) -> Division:
        """The best spans and labels, however many spans, at least as many as labels."""
        summaries = self.cost.summarise_labels(division, effective_share)
        starts, labels = [], []
        for part in part_slices(self.joins, self.cost.n_samples):
            length = part.stop - part.start
            shortest = min(self.min_length, length)
            walk = CheapestPath(len(summaries), length, self.inflation * price, shortest)
            for densities in self.cost.density_blocks(summaries, part, self.n_jobs):
                walk.extend(densities)
            path = walk.labels()
            begins = np.concatenate([[0], boundaries_from_labels(path)]).astype(np.intp)
            starts.append(part.start + begins)
            labels.append(path[begins])
        found = Division(np.concatenate(starts)[1:], np.concatenate(labels))
        if len(found.labels) >= len(summaries):
            return found
        if self._is_too_large(len(summaries), len(summaries)):
            return division
        return self._best_path(division, len(summaries))

    def _best_path(self, division: Division, n_spans: int) -> Division:
        """The best spans and labels for fixed label models: dynamic programming, exact."""
        from seqspan.cuts.ordered.loops import best_path  # numba: imported on first use only

        sums = self._sum_densities(division)
        starts, labels = [], []
        for part, count in self._share_out(sums, n_spans):
            shortest = min(self.min_length, (part.stop - part.start) // count)
            found = best_path(_sums_from(sums, part), count, shortest)
            starts.append(part.start + found[0])
            labels.append(found[1])
        return Division(np.concatenate(starts)[1:].astype(np.intp), np.concatenate(labels))

    def _share_out(self, sums: Array, n_spans: int) -> list[tuple[slice, int]]:
        """The recordings, and how many of the spans each has on the best path."""
        from seqspan.cuts.ordered.loops import path_costs

        parts = part_slices(self.joins, self.cost.n_samples)
        if len(parts) == 1:
            return [(parts[0], n_spans)]
        curves = []
        for part in parts:
            length = part.stop - part.start
            shortest = min(self.min_length, length)
            most = min(length // shortest, n_spans - len(parts) + 1)
            curves.append(path_costs(_sums_from(sums, part), most, shortest))
        return list(zip(parts, share_out(curves, n_spans)[1], strict=True))

    def _set_apart(self, division: Division) -> Division:
        """Keep all boundaries: span by span, the best label that the span before it does not have."""
        edges = np.concatenate([[0], division.boundaries, [self.cost.n_samples]])
        costs = self._span_densities(division, edges)
        labels = np.zeros(len(division.labels), dtype=np.intp)
        first = np.isin([0, *division.boundaries], [0, *self.joins])  # of a recording
        for span, of_labels in enumerate(costs.T):
            if not first[span]:
                of_labels[labels[span - 1]] = np.inf
            labels[span] = np.argmin(of_labels)
        return give_lost_labels(Division(division.boundaries, labels), division.n_labels)

    def _span_densities(self, division: Division, edges: IntArray) -> Array:
        """What the samples between edges cost under each label."""
        summaries, start = self.cost.summarise_labels(division, effective_share), 0
        costs = np.zeros((len(summaries), len(edges) - 1))
        for block in self.cost.density_blocks(summaries, slice(0, self.cost.n_samples), self.n_jobs):
            span = np.searchsorted(edges, start, side="right") - 1  # in which the block starts
            inside = edges[(edges > start) & (edges < start + block.shape[1])] - start
            costs[:, span : span + len(inside) + 1] += np.add.reduceat(block, np.append(0, inside), axis=1)
            start += block.shape[1]
        return costs

    def _sum_densities(self, division: Division) -> Array:
        """What samples 0, ..., t - 1 cost under each label, for all t."""
        densities = self.cost.densities(self.cost.summarise_labels(division, effective_share), self.n_jobs)
        sums = np.zeros((len(densities), self.cost.n_samples + 1))
        np.cumsum(densities, axis=1, out=sums[:, 1:])
        return sums


def _sums_from(sums: Array, part: slice) -> Array:
    """The sums of one recording, from its first sample on."""
    return np.ascontiguousarray(sums[:, part.start : part.stop + 1] - sums[:, part.start, None])


def give_lost_labels(division: Division, n_labels: int) -> Division:
    """Give spans that share a label labels of their own until there are `n_labels` again.

    The longest such spans come first, and labels are numbered in the order of appearance.

    Examples
    --------
    >>> give_lost_labels(Division(np.array([2, 5, 6]), np.array([0, 1, 0, 1])), 3).labels
    array([0, 1, 0, 2])
    """
    labels = division.labels.copy()
    lengths = np.diff(np.concatenate([[0], division.boundaries]))  # of all spans but the last
    while len(np.unique(labels)) < n_labels:
        shared = [s for s in range(len(labels)) if np.sum(labels == labels[s]) > 1]
        longest = max((s for s in shared if s < len(lengths)), key=lambda s: lengths[s])
        labels[longest] = labels.max() + 1
    return Division(division.boundaries, number_in_order(labels))
