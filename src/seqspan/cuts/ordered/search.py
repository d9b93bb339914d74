"""The best way to divide time into k spans, for every k: dynamic programming, exact.

The search knows nothing about a cost but the array ``C[start, end]`` of what spans cost.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Self

import numpy as np

from seqspan._core.backend import is_on_gpu, namespace, to_host
from seqspan._core.types import Array, IntArray

MAX_UNDIVIDED = 100_000  # samples of a recording that is searched as a whole
MIN_WINDOW = 10_000  # samples of a part of a longer one, about
BATCH = 16  # numbers of spans that are computed at once, at least: hardly more work than one


class SpanSearch:
    """Least costs and best divisions into 1, 2, ... spans, computed as far as they are asked for.

    Parameters
    ----------
    C : array of shape (n_grid, n_grid)
        ``C[start, end]``, the cost of the span between two grid points; on the host or on a GPU.
    shortest : int
        Length of the shortest span, in grid steps.
    places : array of int, shape (n_grid,), optional
        Grid points, as samples; every sample is one by default.

    Examples
    --------
    >>> y = np.array([0.0, 0.0, 5.0, 5.0, 9.0])
    >>> C = np.array([[np.ptp(y[i:j]) if i < j else 0 for j in range(6)] for i in range(6)])
    >>> search = SpanSearch(C, 1)
    >>> search.divide(3), float(search.cost(3))
    (array([2, 4]), 0.0)
    """

    def __init__(self, C: Array, shortest: int = 1, *, places: IntArray | None = None) -> None:
        self._C, self._shortest = C, shortest
        self._places = np.arange(len(C)) if places is None else places
        self.max_spans = max((len(C) - 1) // shortest, 1)
        self._xp = namespace(C)
        self._best = self._xp.full((1, len(C)), np.inf)  # best[k, end]: k spans up to a grid point
        self._best[0, 0] = 0.0
        self._costs = np.full(1, np.inf)  # of k spans up to the last grid point, on the host

    @classmethod
    def several(cls, C: Array, shortest: int, most: int) -> list[Self]:
        """Searches of several arrays of costs (n, n_grid, n_grid), up to `most` spans at once on a GPU."""
        searches = [cls(each, shortest) for each in C]
        if is_on_gpu(C):
            from seqspan.cuts.ordered.device_functions import add_spans

            best = namespace(C).full((len(C), most + 1, C.shape[-1]), np.inf)
            best[:, 0, 0] = 0.0
            add_spans(C, shortest, best)
            for search, own, costs in zip(searches, best, to_host(best[:, :, -1]), strict=True):
                search._best, search._costs = own, costs
        return searches

    def cost(self, n_spans: int) -> float:
        """Least cost of `n_spans` spans; infinite if they cannot all be long enough."""
        if len(self._best) <= n_spans:
            self._extend(max(n_spans, len(self._best) + BATCH))
        return float(self._costs[n_spans])

    def divide(self, n_spans: int) -> IntArray:
        """Interior starts of the best `n_spans` spans."""
        if not 1 <= n_spans <= self.max_spans:
            raise ValueError(f"n_spans must be in [1, {self.max_spans}] for this recording; got {n_spans}.")
        self.cost(n_spans)
        starts, end = [], len(self._C) - 1
        for k in range(n_spans - 1, 0, -1):
            room = max(end - self._shortest + 1, 0)
            end = int((self._best[k, :room] + self._C[:room, end]).argmin())
            starts.append(end)
        return self._places[np.array(starts[::-1], dtype=np.intp)]

    def costs(self, most: int) -> Array:
        """Least costs of 1, 2, ... spans, of as many as have room and at most `most`."""
        most = min(most, self.max_spans)
        self.cost(most)
        return self._costs[1 : most + 1].copy()

    def _extend(self, most: int) -> None:
        """Compute more numbers of spans, up to `most`, for every end."""
        if self._xp is np:
            from seqspan.cuts.ordered.loops import add_spans  # numba: imported, and compiled, on first use
        else:
            from seqspan.cuts.ordered.device_functions import add_spans

        more = self._xp.full((most + 2 - len(self._best), len(self._C)), np.inf)
        more[0] = self._best[-1]
        add_spans(self._C, self._shortest, more)
        self._best = self._xp.concatenate([self._best, more[1:]])
        self._costs = np.append(self._costs, to_host(more[1:, -1]))


def grid_step(parts: list[slice], grid_points: int) -> int:
    """Samples between grid points, for as many costs of spans as one recording has on `grid_points`.

    Examples
    --------
    >>> grid_step([slice(0, 4000)], 1000), grid_step([slice(0, 2000), slice(2000, 4000)], 1000)
    (4, 3)
    """
    return int(np.ceil(np.sqrt(sum((part.stop - part.start) ** 2 for part in parts)) / grid_points))


def divide_long(parts: list[slice]) -> list[slice]:
    """Divide long recordings into windows that are searched one by one, on a grid no coarser than theirs.

    The longer the recordings, the shorter the windows, down to a limit: for a given grid, the number of costs
    of spans stays the same.

    Examples
    --------
    >>> divide_long([slice(0, 100_000)])
    [slice(0, 100000, None)]
    >>> [window.start for window in divide_long([slice(0, 200_000)])]
    [0, 50000, 100000, 150000]
    """
    if sum((part.stop - part.start) ** 2 for part in parts) <= MAX_UNDIVIDED**2:
        return parts
    longest = max(MAX_UNDIVIDED**2 // parts[-1].stop, MIN_WINDOW)
    windows = []
    for part in parts:
        count = -(-(part.stop - part.start) // longest)
        edges = np.linspace(part.start, part.stop, count + 1).round().astype(int).tolist()
        windows += [slice(start, end) for start, end in pairwise(edges)]
    return windows


class JoinedSearch:
    """The same for several recordings: how many of the spans each has, and where they are.

    Parameters
    ----------
    searches : list of SpanSearch
        One for each recording, whose places are samples of the recordings together.
    joins : tuple of int
        Samples at which another recording begins.

    Examples
    --------
    >>> y = np.array([0.0, 0.0, 5.0, 5.0, 9.0])
    >>> C = np.array([[np.ptp(y[i:j]) if i < j else 0 for j in range(6)] for i in range(6)])
    >>> flat, stepped = SpanSearch(np.zeros((3, 3))), SpanSearch(C, places=np.arange(2, 8))
    >>> JoinedSearch([flat, stepped], joins=(2,)).divide(4)
    array([2, 4, 6])
    """

    def __init__(self, searches: list[SpanSearch], joins: tuple[int, ...]) -> None:
        self._searches, self._joins = searches, np.array(joins, dtype=np.intp)
        self.max_spans = sum(search.max_spans for search in searches)

    def costs(self, most: int) -> Array:
        """Least costs of 1, 2, ..., `most` spans, at least one in each recording; infinite if impossible."""
        return share_out(self._curves(most), most)[0][1:]

    def divide(self, n_spans: int) -> IntArray:
        """Interior starts of the best `n_spans` spans; those of the recordings are among them."""
        fewest = len(self._searches)
        if not fewest <= n_spans <= self.max_spans:
            raise ValueError(
                f"n_spans must be in [{fewest}, {self.max_spans}] for these recordings; got {n_spans}."
            )
        counts = share_out(self._curves(n_spans), n_spans)[1]
        inside = [search.divide(count) for search, count in zip(self._searches, counts, strict=True)]
        return np.sort(np.concatenate([self._joins, *inside]))

    def _curves(self, n_spans: int) -> list[Array]:
        """What 1, 2, ... spans of each recording cost, as far as `n_spans` of all can make use of them."""
        return [search.costs(n_spans - len(self._searches) + 1) for search in self._searches]


def share_out(curves: list[Array], total: int) -> tuple[Array, list[int]]:
    """Share a number of spans out among recordings, at least one each, so that they cost least.

    Parameters
    ----------
    curves : list of arrays
        For each recording, what 1, 2, ... spans of it cost.
    total : int

    Returns
    -------
    least : array of shape (total + 1,)
        Least costs of 0, 1, ..., total spans; infinite if that is impossible.
    counts : list of int
        How many of all of them each recording gets.

    Examples
    --------
    >>> share_out([np.array([5.0, 1.0]), np.array([4.0, 3.0, 0.0])], 4)
    (array([inf, inf,  9.,  5.,  4.]), [2, 2])
    """
    from seqspan.cuts.ordered.loops import add_curve  # numba: imported, and compiled, on first use only

    best, chosen = np.full(total + 1, np.inf), []
    best[0] = 0.0
    for curve in curves:
        longer, counts = np.full(total + 1, np.inf), np.ones(total + 1, dtype=np.intp)
        add_curve(best, curve[:total], longer, counts)
        best = longer
        chosen.append(counts)
    left, shares = total, []
    for counts in reversed(chosen):
        shares.append(int(counts[left]))
        left -= shares[-1]
    return best, shares[::-1]
