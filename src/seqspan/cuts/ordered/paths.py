"""The cheapest spans under known labels, from what samples cost under each: exact, and block by block.

Of a long recording, the costs of all samples under all labels would not fit in memory. The dynamic programme
needs only those of the last few samples, and keeps two numbers per sample: the label and the start of the
best span that ends there.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray


class CheapestPath:
    """The cheapest spans of at least `shortest` samples, however many: each but the first costs `price` more.

    Parameters
    ----------
    n_labels, n_samples : int
    price : float
    shortest : int, at most n_samples

    Examples
    --------
    >>> path = CheapestPath(2, 6, price=1.0, shortest=2)
    >>> for costs in (np.array([[0, 0, 0, 3], [2, 2, 2, 0]]), np.array([[3, 3], [0, 0]])):
    ...     path.extend(costs)
    >>> path.labels()
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, n_labels: int, n_samples: int, price: float, shortest: int) -> None:
        self._price, self._shortest = price, shortest
        self._sums = np.zeros((n_labels, shortest))  # up to the last places
        self._best = np.full(shortest, np.inf)
        self._best[-1] = -price  # the first span costs nothing
        self._open = np.full(n_labels, np.inf), np.zeros(n_labels, dtype=np.int64)
        self._labels, self._begins = np.zeros((2, n_samples + 1), dtype=np.int64)
        self._n_seen = 0

    def extend(self, costs: Array) -> None:
        """Add what the next samples cost under each label, (n_labels, m)."""
        from seqspan.cuts.ordered.loops import extend_paths  # numba: imported on first use only

        shortest, m = self._shortest, costs.shape[1]
        new = slice(self._n_seen + 1, self._n_seen + m + 1)
        sums = np.hstack([self._sums, costs])
        np.cumsum(sums[:, shortest - 1 :], axis=1, out=sums[:, shortest - 1 :])
        best = np.append(self._best, np.full(m, np.inf))
        places = np.arange(new.start, new.stop)
        extend_paths(sums, self._price, best, self._open, (places, self._labels[new], self._begins[new]))
        self._sums, self._best = sums[:, -shortest:].copy(), best[-shortest:]
        self._n_seen += m

    def labels(self) -> IntArray:
        """Label of each sample on the cheapest path through all of them."""
        path, end = np.zeros(self._n_seen, dtype=np.intp), self._n_seen
        while end > 0:
            begin = int(self._begins[end])
            path[begin:end] = self._labels[end]
            end = begin
        return path
