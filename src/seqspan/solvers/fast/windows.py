"""Windows of time: threads share them, and what a thread works on stays in its cache.

The system ``X (r1 I + R diag(k) R^T) = F`` couples the steps of a recording. But a window is connected to its
neighbours only by its first and its last step, so each window can first be solved alone. A short recursion
over the windows then says what reaches every one of them from its neighbours. This is exact.

Where each column has a system of its own, that recursion would need one for each. These columns use that a
tridiagonal system forgets: the influence of a step falls off geometrically. So a window is solved together
with the steps around it whose influence is not lost in rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Self

import numpy as np
import numpy.typing as npt

from seqspan._core.types import Array, IntArray

SHARES = 16  # the number of windows is a multiple of it, so that 2, 4, 8 or 16 threads have equal shares
MAX_WORK = 1.5  # steps to be solved for, relative to those of all windows, before windows are joined
LEAST_RATIO = 1e-300  # stands for zero, where a recording ends: its logarithm is finite
LEAST_WEIGHT = 1e-30  # smaller ones count as zero: arithmetic with denormal numbers is slow


def split_time(n: int, most: int, least: int) -> IntArray:
    """First steps of windows, then n; windows have at most so many steps, or at least so many if n is small.

    Examples
    --------
    >>> split_time(100, 50, 30)
    array([  0,  33,  66, 100])
    >>> len(split_time(10_000, 1000, 30)) - 1
    16
    """
    n_windows = SHARES * -(-n // (most * SHARES))
    n_windows = max(min(n_windows, n // least), 1)
    return np.arange(n_windows + 1) * n // n_windows


@dataclass(frozen=True, eq=False)
class TimeSystem:
    """``r1 I + R diag(k) R^T``, eliminated from the last step.

    Parameters
    ----------
    k : array of shape (n,)
        Penalties; the last is not used.
    inverse : array of shape (n,)
        Reciprocal pivots.
    ratios : array of shape (n,)
        How much of the step before every step takes on in the second half of the solve.
    edges : array of shape (n_windows + 1,)
        First steps of the windows, then n.
    weights : array of shape (2, n)
        What a step adds to the solution of its window at its first and at its last step.
    through : array of shape (3, n_windows)
        What passes through a window; see :func:`seqspan.solvers.fast.loops.weigh_steps`.
    reaches : array of shape (n_reaches, 4)
        Steps first, ..., last - 1, which depend on start, ..., stop - 1 alone.
    """

    k: Array
    inverse: Array
    ratios: Array
    edges: IntArray
    weights: Array
    through: Array
    reaches: IntArray

    @classmethod
    def factorise(cls, r1: float, k: Array, edges: IntArray, dtype: npt.DTypeLike, loops: ModuleType) -> Self:
        """Eliminate in double precision; what the compiled loops need is stored in `dtype`."""
        inverse = loops.invert_pivots(r1, k)
        ratios = np.append(0, k[:-1]) * inverse
        weights, through = loops.weigh_steps(inverse, k, edges)
        weights[weights < LEAST_WEIGHT] = 0
        through[through < LEAST_WEIGHT] = 0
        from_next = np.append(k[:-1] * inverse[:-1], 0)
        reaches = find_reaches(ratios, from_next, edges, float(np.finfo(dtype).eps))
        return cls(
            k.astype(dtype), inverse.astype(dtype), ratios.astype(dtype), edges, weights.astype(dtype),
            through.astype(dtype), reaches,
        )  # fmt: skip


def find_reaches(ratios: Array, from_next: Array, edges: IntArray, precision: float) -> IntArray:
    """Windows, joined where too many are too short, and the steps that have an influence on them.

    Parameters
    ----------
    ratios, from_next : array of shape (n,)
        Influence of the step before and of the step after on every step.
    edges : array of shape (n_windows + 1,)
    precision : float
        Smaller influence is lost in rounding.

    Returns
    -------
    array of shape (at most n_windows, 4)
        Steps first, ..., last - 1 depend on start, ..., stop - 1.

    Examples
    --------
    >>> find_reaches(np.full(20, 0.1), np.full(20, 0.1), np.array([0, 10, 20]), 5e-3)
    array([[ 0, 10,  0, 13],
           [10, 20,  7, 20]])
    """
    n, lost = ratios.size, -np.log(precision)
    behind, ahead = (-np.log(np.maximum(each, LEAST_RATIO)).cumsum() for each in (ratios, from_next))
    ahead = np.append(0, ahead[:-1])
    while True:
        first, last = edges[:-1], edges[1:]
        starts = np.searchsorted(behind, behind[first] - lost, side="right") - 1
        stops = np.searchsorted(ahead, ahead[last - 1] + lost) + 1
        starts, stops = np.maximum(starts, 0), np.minimum(stops, n)
        if np.sum(stops - starts) <= MAX_WORK * n or edges.size == 2:
            return np.column_stack([first, last, starts, stops])
        edges = np.append(edges[:-1:2], n)
