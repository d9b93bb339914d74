"""The best way to divide time into k spans, for every k: dynamic programming, exact."""

from __future__ import annotations

import numpy as np

from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray

PARALLEL_FROM = 2000  # grid points; below, handing out work costs more than it saves


class SpanSearch:
    """Least costs and best divisions into 1, 2, ... spans, computed as far as they are asked for.

    Parameters
    ----------
    C : array of shape (n_grid, n_grid)
        ``C[end, start]``, the cost of the span between two grid points.
    shortest : int
        Grid steps that a span has at least.
    fixed : array of int
        Grid points that no span reaches across.
    n_threads : int, optional

    Examples
    --------
    >>> y = np.array([0.0, 0.0, 5.0, 5.0, 9.0])
    >>> C = np.array([[np.ptp(y[i:j]) if i < j else 0 for i in range(6)] for j in range(6)])
    >>> search = SpanSearch(C, 1)
    >>> search.divide(3), float(search.cost(3))
    (array([2, 4]), 0.0)
    """

    def __init__(
        self, C: Array, shortest: int = 1, *, fixed: IntArray | None = None, n_threads: int | None = None
    ) -> None:
        self._C, self._shortest = C, shortest
        self._earliest = _earliest_starts(np.array([], dtype=np.intp) if fixed is None else fixed, len(C))
        self._n_threads = n_threads if len(C) >= PARALLEL_FROM else 1
        edges = np.concatenate([[0], [] if fixed is None else np.sort(fixed), [len(C) - 1]])
        self.n_most = max(int(np.sum(np.diff(edges) // shortest)), 1)
        nothing = np.full(len(C), np.inf)
        nothing[0] = 0.0
        self._best: list[Array] = [nothing]
        self._starts: list[IntArray] = [np.zeros(len(C), dtype=np.int64)]

    def cost(self, n_spans: int) -> float:
        """Least cost of `n_spans` spans; infinite if they can't all be long enough."""
        while len(self._best) <= n_spans:
            self._extend()
        return float(self._best[n_spans][-1])

    def divide(self, n_spans: int) -> IntArray:
        """Interior starts, as grid points, of the best `n_spans` spans."""
        if not 1 <= n_spans <= self.n_most:
            raise ValueError(f"n_spans must be in [1, {self.n_most}] for this sequence; got {n_spans}.")
        self.cost(n_spans)
        starts, end = [], len(self._C) - 1
        for k in range(n_spans, 1, -1):
            end = int(self._starts[k][end])
            starts.append(end)
        return np.array(starts[::-1], dtype=np.intp)

    def _extend(self) -> None:
        """Add the row of the next number of spans."""
        from seqspan.cuts.ordered.loops import add_span  # numba: imported, and compiled, on first use alone

        best = np.full(len(self._C), np.inf)
        start = np.zeros(len(self._C), dtype=np.int64)
        before = self._best[-1]
        with Team(self._n_threads, uses_blas=False) as team:
            n_shares = team.n_threads

            def work(shares: range) -> None:
                for share in shares:
                    add_span(before, self._C, self._shortest, self._earliest, share, n_shares, best, start)

            team.map(work, n_shares)
        self._best.append(best)
        self._starts.append(start)


def _earliest_starts(fixed: IntArray, n_grid: int) -> IntArray:
    """For every end, the last of the fixed points before it: spans start there or later."""
    points = np.concatenate([[0], np.sort(fixed)]).astype(np.int64)
    return points[np.maximum(np.searchsorted(points, np.arange(n_grid), side="left") - 1, 0)]


def best_costs(C: Array, n_most: int, shortest: int) -> Array:
    """Least costs of 1, ..., n_most spans.

    Examples
    --------
    >>> C = np.array([[0.0, 0, 0], [1, 0, 0], [5, 1, 0]])
    >>> best_costs(C, 2, 1)
    array([5., 2.])
    """
    search = SpanSearch(C, shortest)
    return np.array([search.cost(k) for k in range(1, n_most + 1)])
