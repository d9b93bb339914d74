"""Compiled loops of the search that grows: costs of spans from running sums, and the divisions in play."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.compile import compiled


@compiled(nogil=True, error_model="numpy")
def fill_row(sums: Any, end: int, shortest: int, model: Any, C: Any) -> None:
    """Costs ``C[end, start]`` of all spans that end at one place: the twin of `GaussianCost.costs`.

    Parameters
    ----------
    sums : (places, totals, products)
        Samples, their sums (n_places, p) and products (n_places, p, p), up to each place.
    end, shortest : int
        As indices of places.
    model : (prior, freedom, table)
        What the prior adds to the scatter, its degrees of freedom, and what lengths add.
    C : array of shape (n_places, n_places)
    """
    places, totals, products = sums
    prior, freedom, table = model
    p = totals.shape[1]
    lower = np.zeros((p, p))
    for start in range(end - shortest + 1):
        count = places[end] - places[start]
        determinant, logarithm = 1.0, 0.0
        for i in range(p):
            mean = (totals[end, i] - totals[start, i]) / (count + 1.0)
            for j in range(i + 1):
                value = products[end, i, j] - products[start, i, j]
                value -= mean * (totals[end, j] - totals[start, j])
                for k in range(j):
                    value -= lower[i, k] * lower[j, k]
                if j < i:
                    lower[i, j] = value / lower[j, j]
            pivot = max(value + prior, prior * 1e-6)  # rounding may take more than there is
            lower[i, i] = np.sqrt(pivot)
            determinant *= pivot
            if i % 4 == 3 or i == p - 1:  # one logarithm for several pivots; more of them might overflow
                logarithm += np.log(determinant)
                determinant = 1.0
        C[end, start] = logarithm * (freedom + count) / 2 + table[count]


@compiled(nogil=True)
def forward(C: Any, shortest: int, price: float, first: int, best: Any, before: Any) -> None:
    """Least cost of everything up to the places `first`, ..., and where the last span starts there."""
    for end in range(first, len(best)):
        best[end], before[end] = np.inf, 0
        for start in range(end - shortest + 1):
            cost = best[start] + C[end, start] + (price if start > 0 else 0.0)
            if cost < best[end]:
                best[end], before[end] = cost, start


@compiled(nogil=True)
def backward(C: Any, shortest: int, price: float) -> Any:
    """Least cost of everything after each place, with the price of a boundary there."""
    n = len(C)
    rest = np.full(n, np.inf)
    rest[n - 1] = 0.0
    for end in range(n - 1, 0, -1):
        after = rest[end] + (price if end < n - 1 else 0.0)
        for start in range(end - shortest + 1):
            rest[start] = min(rest[start], after + C[end, start])
    return rest


@compiled(nogil=True)
def without(C: Any, shortest: int, price: float, range_: Any, best: Any, rest: Any) -> float:
    """Least cost of a division that has no boundary at the places first, ..., last."""
    first, last = range_
    least = np.inf
    n = len(C)
    for end in range(last + 1, n):
        after = rest[end] + (price if end < n - 1 else 0.0)
        for start in range(min(first, end - shortest + 1)):
            least = min(least, best[start] + (price if start > 0 else 0.0) + C[end, start] + after)
    return least
