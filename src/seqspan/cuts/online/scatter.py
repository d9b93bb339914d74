"""Boundaries at a price: the spans of least scatter, found as samples arrive.

A span costs the scatter of its features around their mean, and every boundary costs `price`. The best
division of all samples so far is exact dynamic programming, forwards in time:

    F(t) = min_s F(s) + price + scatter(s, t),    scatter(s, t) = sum ||y||^2 - ||sum y||^2 / (t - s),

from sums up to s and t alone. A start s that cannot be the best any more never will be [Killick, Fearnhead
& Eckley 2012], so few are kept. What lies longer ago than a delay is decided once and for all, which bounds
memory and lets boundaries be reported while samples arrive.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray

MOST_STARTS = 2000  # that are kept where nothing rules them out
SHORTEST = 0.5  # shortest span, of the price: it could hardly pay otherwise

Path = tuple[int, "Path | None"]  # a boundary, and those before it


class ScatterPath:
    """The best division of a growing sequence.

    Parameters
    ----------
    n_features : int
    price : float
        What a boundary has to save: so many times the squared norm of a sample.
    step : int
        Samples from one place where a boundary may be to the next.
    delay : int, optional
        Samples after which a boundary is final, looked at once per call of `extend`; without one nothing is,
        and the best division is exact.

    Examples
    --------
    >>> path = ScatterPath(1, price=2.0)
    >>> path.extend(np.repeat([[0.0], [1.0], [0.0]], 10, axis=0))
    >>> path.boundaries()
    array([10, 20])
    """

    def __init__(self, n_features: int, price: float, step: int = 1, delay: int | None = None) -> None:
        self.price, self.step, self.delay = price, step, delay
        self.shortest = SHORTEST * price
        self.n_samples = 0
        self.final: list[int] = []
        self._waiting: Array = np.empty((0, n_features))
        self._sum, self._energy = np.zeros(n_features), 0.0
        # one row per place where the last span may start: sums up to it, least cost of what is before
        self._places, self._costs = np.zeros(1, dtype=np.intp), np.array([-price])
        self._sums, self._energies = np.zeros((1, n_features)), np.zeros(1)
        self._paths: list[Path | None] = [None]

    def extend(self, Y: Array) -> None:
        """Take in the features (any, n_features) of the samples that follow."""
        Y = np.concatenate([self._waiting, Y])
        whole = len(Y) // self.step * self.step
        for start in range(0, whole, self.step):
            self._advance(Y[start : start + self.step])
        self._waiting = Y[whole:]
        if self.delay is not None:
            self._settle(self.n_samples - self.delay)

    def boundaries(self) -> IntArray:
        """Interior starts of the best spans so far, those that are final first."""
        found: list[int] = []
        path = self._best()[1]
        while path is not None:
            found.append(path[0])
            path = path[1]
        return np.array(self.final + found[::-1], dtype=np.intp)

    def _advance(self, Y: Array) -> None:
        """Go on by one step."""
        self.n_samples += len(Y)
        self._sum = self._sum + Y.sum(axis=0, dtype=float)
        self._energy += float(np.sum(Y * Y, dtype=float))
        totals = self._totals()
        long_enough = self.n_samples - self._places >= self.shortest
        candidates = np.where(long_enough, totals, np.inf)
        best = int(np.argmin(candidates))
        if np.isinf(candidates[best]):
            return
        place, path = int(self._places[best]), self._paths[best]
        # a start that is no better even without paying for a boundary here will not be better later
        kept = (totals <= candidates[best] + self.price) | ~long_enough
        if kept.sum() > MOST_STARTS:
            kept &= totals <= np.partition(totals[kept], MOST_STARTS)[MOST_STARTS]
        self._keep(kept)
        self._append(float(candidates[best]), path if place == self._origin() else (place, path))

    def _totals(self) -> Array:
        """Cost of all samples so far, by where the last span starts."""
        rest = self._sum - self._sums
        lengths = np.maximum(self.n_samples - self._places, 1)
        scatter = self._energy - self._energies - np.einsum("ij,ij->i", rest, rest) / lengths
        return np.asarray(self._costs + self.price + scatter)

    def _origin(self) -> int:
        """Where the first span that may still change starts."""
        return self.final[-1] if self.final else 0

    def _keep(self, kept: Array) -> None:
        """Forget the other starts."""
        self._places, self._costs = self._places[kept], self._costs[kept]
        self._sums, self._energies = self._sums[kept], self._energies[kept]
        self._paths = [path for path, stays in zip(self._paths, kept, strict=True) if stays]

    def _append(self, cost: float, path: Path | None) -> None:
        """A span may start here."""
        self._places = np.append(self._places, self.n_samples)
        self._costs = np.append(self._costs, cost)
        self._sums = np.vstack([self._sums, self._sum])
        self._energies = np.append(self._energies, self._energy)
        self._paths.append(path)

    def _best(self) -> tuple[int, Path | None]:
        """The best last start, and the boundaries up to it."""
        long_enough = self.n_samples - self._places >= max(self.shortest, 1)
        best = int(np.argmin(np.where(long_enough, self._totals(), np.inf)))  # the first start where none is
        place, path = int(self._places[best]), self._paths[best]
        return place, path if place == self._origin() else (place, path)

    def _settle(self, frontier: int) -> None:
        """Decide what lies before the frontier: the best division there is kept, all others are dropped."""
        decided = [place for place in _upwards(self._best()[1]) if place <= frontier]
        if decided or self._origin() < frontier:
            agree = [
                [p for p in _upwards(self._whole(i)) if p <= frontier] == decided
                for i in range(len(self._places))
            ]
            self._keep(np.array(agree))
            self._paths = [_without(path, frontier) for path in self._paths]
            self.final += decided

    def _whole(self, index: int) -> Path | None:
        """All boundaries of a division, the start of its last span included."""
        place, path = int(self._places[index]), self._paths[index]
        return path if place == self._origin() else (place, path)


def _upwards(path: Path | None) -> list[int]:
    """Boundaries in order of time."""
    found = []
    while path is not None:
        found.append(path[0])
        path = path[1]
    return found[::-1]


def _without(path: Path | None, frontier: int) -> Path | None:
    """The boundaries after the frontier."""
    kept: Path | None = None
    for place in _upwards(path):
        kept = (place, kept) if place > frontier else kept
    return kept


def scatter_cut(Y: Array, price: float, step: int = 1) -> IntArray:
    """Divide a whole sequence where its features change, at a price per boundary.

    Parameters
    ----------
    Y : array of shape (n, p)
    price : float
    step : int

    Returns
    -------
    boundaries : array of int

    Examples
    --------
    >>> scatter_cut(np.repeat([[0.0], [1.0]], 10, axis=0), price=2.0)
    array([10])
    """
    path = ScatterPath(Y.shape[1], price, step)
    path.extend(Y)
    return path.boundaries()
