"""The cheapest spans of known labels while samples arrive, and which of them no later sample can change.

The dynamic programme is that of :mod:`seqspan.cuts.states`, forwards in time. Every label keeps one path: the
cheapest in which it is the label of the last span. Whatever comes, the answer goes on from one of these, so
the spans that all of them share are final.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.loops import extend_paths

#: A span of a path: where it ends, and the index of its label.
Ended = tuple[int, int]


class GrowingPaths:
    """The cheapest path through known labels, for every label that may come last.

    Parameters
    ----------
    n_labels : int
    price : float
        Of a span, as in :class:`seqspan.cuts.states.States`.
    shortest : int
        Samples of the shortest span.

    Examples
    --------
    >>> costs = np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=1)
    >>> paths = GrowingPaths(2, price=3.0, shortest=5)
    >>> paths.extend(costs[:, :22])
    >>> paths.settle()  # two samples might be noise
    []
    >>> paths.extend(costs[:, 22:])
    >>> paths.settle(), paths.open_spans()
    ([(20, 0)], [(40, 1)])
    """

    def __init__(self, n_labels: int, price: float, shortest: int) -> None:
        self.price, self.shortest = price, shortest
        self.n_samples = self.origin = 0  # `origin`: the last final boundary
        self._sums = np.zeros((n_labels, shortest))  # up to the last places, relative to the last of them
        self._best = np.full(shortest, np.inf)
        self._best[-1] = -price  # the first span costs nothing
        self._least, self._where = np.full(n_labels, np.inf), np.zeros(n_labels, dtype=np.int64)
        #: label and start of the best span that ends at a place, for the places that paths pass
        self._spans: dict[int, tuple[int, int]] = {}

    def extend(self, costs: Array) -> None:
        """Add what the next samples cost under each label, (n_labels, any)."""
        m = costs.shape[1]
        if not m:
            return
        places = self.n_samples + np.arange(1, m + 1)
        labels, begins = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
        sums = np.hstack([self._sums, self._sums[:, -1:] + np.cumsum(costs, axis=1)])
        best = np.append(self._best, np.full(m, np.inf))
        extend_paths(sums, self.price, best, (self._least, self._where), (places, labels, begins))
        found = zip(places.tolist(), labels.tolist(), begins.tolist(), best[-m:].tolist(), strict=True)
        self._spans |= {place: (label, begin) for place, label, begin, cost in found if cost < np.inf}
        self.n_samples += m
        self._keep(sums[:, -self.shortest :], best[-self.shortest :])

    def settle(self) -> list[Ended]:
        """Spans that all paths share, after those that were final before."""
        paths = [self._path(place) for place in self._live()]
        self._spans = {end: self._spans[end] for path in paths for end, _ in path}
        final: list[Ended] = []
        for spans in zip(*paths, strict=False):
            if any(span != spans[0] for span in spans):
                break
            final.append(spans[0])
        if final:
            self.origin = final[-1][0]
        return final

    def force(self, place: int) -> list[Ended]:
        """Make spans of the best path final that end at a place or before; paths without them are dropped."""
        wanted = [span for span in self.open_spans()[:-1] if span[0] <= place]
        if not wanted:
            return []
        for costs, places in ((self._least, self._where), (self._best, self._last_places())):
            for index in np.flatnonzero(np.isfinite(costs)):
                if self._path(int(places[index]))[: len(wanted)] != wanted:
                    costs[index] = np.inf
        return self.settle()

    def open_spans(self) -> list[Ended]:
        """The best division of everything after the last final boundary; empty while that is too short."""
        return self._path(self.n_samples) if self.n_samples in self._spans else []

    def cheapest_label(self) -> int:
        """The label of everything, if that is shorter than the shortest span."""
        return int(np.argmin(self._sums[:, -1] - self._sums[:, -1 - self.n_samples]))

    def state(self) -> dict[str, Any]:
        """All of it as arrays, for a checkpoint."""
        spans = [(end, *span) for end, span in self._spans.items()]
        return {
            "path_sums": self._sums, "path_best": self._best, "path_least": self._least,
            "path_where": self._where, "path_spans": np.array(spans, dtype=np.int64).reshape(-1, 3),
            "path_places": np.array([self.n_samples, self.origin]),
        }  # fmt: skip

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._sums, self._best = arrays["path_sums"].copy(), arrays["path_best"].copy()
        self._least, self._where = arrays["path_least"].copy(), arrays["path_where"].copy()
        self.n_samples, self.origin = arrays["path_places"].tolist()
        self._spans = {end: (label, begin) for end, label, begin in arrays["path_spans"].tolist()}

    def _keep(self, sums: Array, best: Array) -> None:
        """Keep the sums of the last places; they are counted from zero again, so that they stay small."""
        above, least = sums[:, -1:].copy(), best.min()
        self._sums, self._best = sums - above, best - least
        self._least = self._least + above[:, 0] - least

    def _last_places(self) -> IntArray:
        """Places at which a span may still start."""
        return self.n_samples + np.arange(1 - self.shortest, 1)

    def _live(self) -> list[int]:
        """All places at which the last span of a path starts, or the next one will."""
        starts = self._where[np.isfinite(self._least)]
        live: list[int] = np.union1d(starts, self._last_places()[np.isfinite(self._best)]).tolist()
        return live

    def _path(self, place: int) -> list[Ended]:
        """The spans of the best path to a place, after the last final boundary."""
        spans = []
        while place > self.origin:
            label, begin = self._spans[place]
            spans.append((place, label))
            place = begin
        return spans[::-1]
