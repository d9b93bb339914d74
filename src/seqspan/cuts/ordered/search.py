"""The best way to divide time into k spans, for every k: dynamic programming, exact.

The search knows nothing about a cost but the array ``C[end, start]`` of what spans cost.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray

PARALLEL_FROM = 2000  # grid points; below, handing out work takes longer than it saves


class SpanSearch:
    """Least costs and best divisions into 1, 2, ... spans, computed as far as they are asked for.

    Parameters
    ----------
    C : array of shape (n_grid, n_grid)
        ``C[end, start]``, the cost of the span between two grid points.
    shortest : int
        Length of the shortest span, in grid steps.
    places : array of int, shape (n_grid,), optional
        Grid points, as samples; every sample is one by default.
    n_jobs : int, optional
        Number of threads.

    Examples
    --------
    >>> y = np.array([0.0, 0.0, 5.0, 5.0, 9.0])
    >>> C = np.array([[np.ptp(y[i:j]) if i < j else 0 for i in range(6)] for j in range(6)])
    >>> search = SpanSearch(C, 1)
    >>> search.divide(3), float(search.cost(3))
    (array([2, 4]), 0.0)
    """

    def __init__(
        self, C: Array, shortest: int = 1, *, places: IntArray | None = None, n_jobs: int | None = None
    ) -> None:
        self._C, self._shortest = C, shortest
        self._places = np.arange(len(C)) if places is None else places
        self._n_jobs = n_jobs if len(C) >= PARALLEL_FROM else 1
        self.max_spans = max((len(C) - 1) // shortest, 1)
        no_span = np.full(len(C), np.inf)
        no_span[0] = 0.0
        self._best: list[Array] = [no_span]
        self._starts: list[IntArray] = [np.zeros(len(C), dtype=np.int64)]

    def cost(self, n_spans: int) -> float:
        """Least cost of `n_spans` spans; infinite if they cannot all be long enough."""
        while len(self._best) <= n_spans:
            self._extend()
        return float(self._best[n_spans][-1])

    def divide(self, n_spans: int) -> IntArray:
        """Interior starts of the best `n_spans` spans."""
        if not 1 <= n_spans <= self.max_spans:
            raise ValueError(f"n_spans must be in [1, {self.max_spans}] for this recording; got {n_spans}.")
        self.cost(n_spans)
        starts, end = [], len(self._C) - 1
        for k in range(n_spans, 1, -1):
            end = int(self._starts[k][end])
            starts.append(end)
        return self._places[np.array(starts[::-1], dtype=np.intp)]

    def _extend(self) -> None:
        """Compute the next number of spans, for every end."""
        from seqspan.cuts.ordered.loops import add_span  # numba: imported, and compiled, on first use only

        before = self._best[-1]
        found = np.full(len(self._C), np.inf), np.zeros(len(self._C), dtype=np.int64)
        with Team(self._n_jobs, uses_blas=False) as team:

            def work(shares: range) -> None:
                for share in shares:
                    add_span(before, self._C, self._shortest, (share, team.n_jobs), found)

            team.map(work, team.n_jobs)
        self._best.append(found[0])
        self._starts.append(found[1])
