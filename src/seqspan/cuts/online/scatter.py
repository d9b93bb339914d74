"""Penalised change-point detection: spans of minimal scatter, found as samples arrive.

A span costs the scatter of its features around their mean, and every boundary costs a penalty. The best
division of all samples so far is found exactly by dynamic programming, forwards in time:

    F(t) = min_s F(s) + penalty + scatter(s, t),    scatter(s, t) = sum ||y||^2 - ||sum y||^2 / (t - s).

This needs only the sums up to s and t. A start s that can no longer be the best never will be [Killick,
Fearnhead & Eckley 2012], so few are kept. Boundaries older than a delay become final. This bounds memory and
allows boundaries to be reported while samples arrive.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray

MAX_STARTS = 2000  # candidate starts of the last span that are kept if pruning leaves more
MIN_LENGTH_PER_PENALTY = 0.5  # samples of the shortest span per unit of penalty; a shorter one hardly pays

Path = tuple[int, "Path | None"]  # a boundary, and those before it


class ScatterPath:
    """The best division of a growing sequence.

    Parameters
    ----------
    n_features : int
    penalty : float
        How much scatter a boundary must save, in squared norms of a sample.
    step : int
        Samples between neighbouring candidate boundaries.
    delay : int, optional
        Samples after which a boundary becomes final, checked once per call of `extend`. Without a delay no
        boundary becomes final, and the best division is exact.

    Examples
    --------
    >>> path = ScatterPath(1, penalty=2.0)
    >>> path.extend(np.repeat([[0.0], [1.0], [0.0]], 10, axis=0))
    >>> path.boundaries()
    array([10, 20])
    """

    def __init__(self, n_features: int, penalty: float, step: int = 1, delay: int | None = None) -> None:
        self.penalty, self.step, self.delay = penalty, step, delay
        self.min_length = MIN_LENGTH_PER_PENALTY * penalty
        self.n_samples = 0
        self.final: list[int] = []
        self._waiting: Array = np.empty((0, n_features))
        self._sum, self._energy = np.zeros(n_features), 0.0
        # one row per candidate start of the last span: sums up to it, minimal cost of everything before it
        self._places, self._costs = np.zeros(1, dtype=np.intp), np.array([-penalty])
        self._sums, self._energies = np.zeros((1, n_features)), np.zeros(1)
        self._paths: list[Path | None] = [None]

    def extend(self, Y: Array) -> None:
        """Add the features (any, n_features) of the next samples."""
        Y = np.concatenate([self._waiting, Y])
        whole = len(Y) // self.step * self.step
        for start in range(0, whole, self.step):
            self._advance(Y[start : start + self.step])
        self._waiting = Y[whole:]
        if self.delay is not None:
            self._settle(self.n_samples - self.delay)

    def boundaries(self) -> IntArray:
        """Interior starts of the best spans so far; the final ones come first."""
        found: list[int] = []
        path = self._best()[1]
        while path is not None:
            found.append(path[0])
            path = path[1]
        return np.array(self.final + found[::-1], dtype=np.intp)

    def _advance(self, Y: Array) -> None:
        """Advance by one step."""
        self.n_samples += len(Y)
        self._sum = self._sum + Y.sum(axis=0, dtype=float)
        self._energy += float(np.sum(Y * Y, dtype=float))
        totals = self._totals()
        long_enough = self.n_samples - self._places >= self.min_length
        candidates = np.where(long_enough, totals, np.inf)
        best = int(np.argmin(candidates))
        if np.isinf(candidates[best]):
            return
        place, path = int(self._places[best]), self._paths[best]
        # a start that loses even without the penalty for a boundary here cannot win later
        kept = (totals <= candidates[best] + self.penalty) | ~long_enough
        if kept.sum() > MAX_STARTS:
            kept &= totals <= np.partition(totals[kept], MAX_STARTS)[MAX_STARTS]
        self._keep(kept)
        self._append(float(candidates[best]), path if place == self._origin() else (place, path))

    def _totals(self) -> Array:
        """Cost of all samples so far, for every candidate start of the last span."""
        rest = self._sum - self._sums
        lengths = np.maximum(self.n_samples - self._places, 1)
        scatter = self._energy - self._energies - np.einsum("ij,ij->i", rest, rest) / lengths
        return np.asarray(self._costs + self.penalty + scatter)

    def _origin(self) -> int:
        """Start of the first span that may still change."""
        return self.final[-1] if self.final else 0

    def _keep(self, kept: Array) -> None:
        """Drop all other candidate starts."""
        self._places, self._costs = self._places[kept], self._costs[kept]
        self._sums, self._energies = self._sums[kept], self._energies[kept]
        self._paths = [path for path, stays in zip(self._paths, kept, strict=True) if stays]

    def _append(self, cost: float, path: Path | None) -> None:
        """Add the current sample as a candidate start."""
        self._places = np.append(self._places, self.n_samples)
        self._costs = np.append(self._costs, cost)
        self._sums = np.vstack([self._sums, self._sum])
        self._energies = np.append(self._energies, self._energy)
        self._paths.append(path)

    def _best(self) -> tuple[int, Path | None]:
        """The best start of the last span, and the boundaries up to it."""
        long_enough = self.n_samples - self._places >= max(self.min_length, 1)
        best = int(np.argmin(np.where(long_enough, self._totals(), np.inf)))  # the first start if all are inf
        place, path = int(self._places[best]), self._paths[best]
        return place, path if place == self._origin() else (place, path)

    def _settle(self, frontier: int) -> None:
        """Make boundaries before the frontier final: keep the best division there and drop all others."""
        decided = [place for place in _in_order(self._best()[1]) if place <= frontier]
        if decided or self._origin() < frontier:
            agree = [
                [p for p in _in_order(self._boundaries_of(i)) if p <= frontier] == decided
                for i in range(len(self._places))
            ]
            self._keep(np.array(agree))
            self._paths = [_after(path, frontier) for path in self._paths]
            self.final += decided

    def _boundaries_of(self, index: int) -> Path | None:
        """All boundaries of a candidate division, including the start of its last span."""
        place, path = int(self._places[index]), self._paths[index]
        return path if place == self._origin() else (place, path)


def _in_order(path: Path | None) -> list[int]:
    """Boundaries in temporal order."""
    found = []
    while path is not None:
        found.append(path[0])
        path = path[1]
    return found[::-1]


def _after(path: Path | None, frontier: int) -> Path | None:
    """The boundaries after the frontier."""
    kept: Path | None = None
    for place in _in_order(path):
        kept = (place, kept) if place > frontier else kept
    return kept


def scatter_cut(Y: Array, penalty: float, step: int = 1) -> IntArray:
    """Divide a whole sequence where its features change, with a penalty per boundary.

    Parameters
    ----------
    Y : array of shape (n, p)
    penalty : float
    step : int

    Returns
    -------
    boundaries : array of int

    Examples
    --------
    >>> scatter_cut(np.repeat([[0.0], [1.0]], 10, axis=0), penalty=2.0)
    array([10])
    """
    path = ScatterPath(Y.shape[1], penalty, step)
    path.extend(Y)
    return path.boundaries()
