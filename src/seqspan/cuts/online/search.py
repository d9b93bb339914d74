"""The best division of samples that arrive, and which of its boundaries are beyond doubt.

Dynamic programming forwards in time finds the best division of everything after the last final boundary:

    F(t) = min_s F(s) + C(s, t) + price,

with C the cost of the ordered cut. Backwards in time, the same sums say what a division costs that has, or
has not, a boundary in some place. A division is *in play* if it costs at most `margin` more than the best.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.cuts.online.loops import backward, fill_row, forward, without
from seqspan.cuts.ordered.view_model import ViewModel

TOLERANCE = 0.2  # of the shorter of the two spans: how far apart divisions may put one boundary and agree


class GrowingSearch:
    """Divisions of a growing recording, with places for boundaries every `step` samples.

    Parameters
    ----------
    n_features : int
    step : int
        Samples from one place to the next.
    min_length : int
        Samples of the shortest span.
    price : float
        Nats that a boundary has to explain.
    max_samples : int
        Length of the longest span.
    origin : int
        Where the first span starts, as a sample of the stream.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> search = GrowingSearch(1, step=1, min_length=5, price=5.0, max_samples=100)
    >>> search.extend(np.repeat([[-1.0], [1.0]], 20, axis=0) + 0.1 * rng.standard_normal((40, 1)))
    >>> search.boundaries()
    array([20])
    >>> search.settle(margin=5.0), search.origin
    ([20], 20)
    """

    def __init__(
        self, n_features: int, *, step: int, min_length: int, price: float, max_samples: int, origin: int = 0
    ) -> None:
        self.step, self.price, self.n_features = step, price, n_features
        self._shortest = max(1, -(-min_length // step))
        view = ViewModel.for_features(n_features, n_features, 1.0)
        self._model = view.prior, n_features + 2.0, view.length_term(np.arange(max_samples + 1.0))
        self._waiting: Array = np.empty((0, n_features))
        self.origin, self._n_places = origin, 1
        self._places = np.zeros(16, dtype=np.int64)  # relative to the origin, as all sums
        self._totals, self._products = np.zeros((16, n_features)), np.zeros((16, n_features, n_features))
        self._best, self._before = np.zeros(16), np.zeros(16, dtype=np.int64)
        self._C = np.zeros((16, 16))

    @property
    def n_places(self) -> int:
        """Number of places held."""
        return self._n_places

    @property
    def length(self) -> int:
        """Samples from the origin to the last place."""
        return int(self._places[self._n_places - 1])

    def extend(self, Y: Array) -> None:
        """Add the features (any, n_features) of the next samples."""
        Y = np.concatenate([self._waiting, Y])
        count = len(Y) // self.step
        blocks = Y[: count * self.step].reshape(count, self.step, self.n_features)
        self._waiting = Y[count * self.step :]
        if not count:
            return
        first = self._n_places
        self._reserve(first + count)
        new = slice(first, first + count)
        self._places[new] = self.length + self.step * np.arange(1, count + 1)
        self._totals[new] = self._totals[first - 1] + np.cumsum(blocks.sum(axis=1), axis=0)
        products = np.matmul(blocks.transpose(0, 2, 1), blocks)
        self._products[new] = self._products[first - 1] + np.cumsum(products, axis=0)
        self._n_places += count
        sums = self._places, self._totals, self._products
        for end in range(first, self._n_places):
            fill_row(sums, end, self._shortest, self._model, self._C)
        self._search(first)

    def boundaries(self) -> IntArray:
        """Boundaries of the best division, after the origin."""
        return self._places[self._best_places()] + self.origin

    def agrees(self, margin: float) -> bool:
        """Whether all divisions in play agree on the first boundary of the best one."""
        return self._agreed(margin) is not None

    def settle(self, margin: float) -> list[int]:
        """Boundaries that all divisions in play agree on, from the first on; the last becomes the origin."""
        final = []
        while (agreed := self._agreed(margin)) is not None:
            final.append(int(self._places[agreed]) + self.origin)
            self._drop(agreed)
        return final

    def force(self, place: int) -> list[int]:
        """Make the boundaries of the best division up to a sample final, whatever is in play."""
        found = [index for index in self._best_places() if self._places[index] + self.origin <= place]
        final = [int(self._places[index]) + self.origin for index in found]
        if found:
            self._drop(found[-1])
        return final

    def forget(self, place: int) -> None:
        """Let the first span start at a later place: older samples of it are not held any more."""
        index = int(np.searchsorted(self._places[: self._n_places], place - self.origin))
        if 0 < index < self._n_places:
            self._drop(index)

    def _agreed(self, margin: float) -> int | None:
        """The first boundary of the best division, if all divisions in play have it and none before it."""
        found = self._best_places()
        if not found:
            return None
        C, n = self._table(), self._n_places
        rest = backward(C, self._shortest, self.price)
        best = self._best[:n]
        least = best[-1]
        first, last = self._near(found, 0)
        if np.any(best[1:first] + rest[1:first] + self.price <= least + margin):
            return None
        other = without(C, self._shortest, self.price, (first, last), best, rest)
        return found[0] if other > least + margin else None

    def _near(self, found: list[int], which: int) -> tuple[int, int]:
        """First and last place at which a boundary would be the same one."""
        edges = self._places[[0, *found, self._n_places - 1]]
        left, here, right = (int(edge) for edge in edges[which : which + 3])
        reach = max(int(TOLERANCE * min(here - left, right - here)), self._shortest * self.step)
        places = self._places[: self._n_places]
        return int(np.searchsorted(places, here - reach)), int(
            np.searchsorted(places, here + reach, "right")
        ) - 1

    def _table(self) -> Array:
        return self._C[: self._n_places, : self._n_places]

    def _search(self, first: int) -> None:
        """Forward pass over the places from `first` on."""
        n = self._n_places
        forward(self._table(), self._shortest, self.price, first, self._best[:n], self._before[:n])

    def _best_places(self) -> list[int]:
        """Boundaries of the best division, as indices of places."""
        end, found = self._n_places - 1, []
        while end > 0 and (end := int(self._before[end])) > 0:
            found.append(end)
        return found[::-1]

    def _drop(self, index: int) -> None:
        """Make a place the origin, and forget those before it."""
        n, left = self._n_places, self._n_places - index
        self.origin += int(self._places[index])
        for values in (self._places, self._totals, self._products):
            values[:left] = values[index:n] - values[index]
        self._C[:left, :left] = self._C[index:n, index:n].copy()
        self._n_places = left
        self._search(1)

    def _reserve(self, n_places: int) -> None:
        """Make room for so many places."""
        if n_places <= len(self._places):
            return
        size = max(n_places, 2 * len(self._places))
        grow = size - len(self._places)
        for name in ("_places", "_totals", "_products", "_best", "_before"):
            values = getattr(self, name)
            setattr(self, name, np.concatenate([values, np.zeros((grow, *values.shape[1:]), values.dtype)]))
        self._C = np.pad(self._C, ((0, grow), (0, grow)))
