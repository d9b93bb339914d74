"""Compiled loops over all spans of a sequence: what each costs, and the best way to divide time into spans.

Costs lie in an array ``C[end, start]``: all starts of one end are neighbours in memory, which is the
order in which the dynamic programme reads them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.compile import compiled

LANES = 32  # starts that go through time together: enough to hide what a short loop costs


@compiled(nogil=True, fastmath=True, error_model="numpy")
def fill_costs(
    Y: Any, step: int, shortest: int, prior: float, group: int, slopes: Any, table: Any, first: int, C: Any
) -> None:
    r"""Add the cost of every span that begins at grid points first, ..., first + LANES - 1.

    A span's scatter around its mean, plus the prior, is kept as ``L D L^T`` and updated sample by sample
    [Gill, Golub, Murray & Saunders 1974, method C1]; the leading blocks of that factor are the
    factors of the leading features alone, so one update serves all numbers of features.

    Parameters
    ----------
    Y : array of shape (n, p)
    step : int
        Samples from one grid point to the next.
    shortest : int
        Grid steps that a span has at least.
    prior : float
        Variance expected within a span before it is seen.
    group : int
        Features that are added to get the next number of features; p is a multiple of it.
    slopes : array of shape (p / group, 2)
        Weight of the logarithm of a group of D for a span of N samples: ``slopes[g, 0] + N slopes[g, 1]``.
    table : array of shape (n + 1,)
        What is added for a span of N samples.
    first : int
    C : array of shape (n_grid, n_grid)
        ``C[end, start]`` is added to.
    """
    n, p = Y.shape
    n_grid = C.shape[0]
    lower = np.zeros((p, p, LANES))
    pivots = np.full((p, LANES), prior)
    means = np.zeros((p, LANES))
    w = np.zeros((p, LANES))
    alpha = np.zeros(LANES)
    share = np.zeros(LANES)
    scaled = np.zeros(LANES)
    total = np.zeros(LANES)
    lanes = min(LANES, n_grid - first)
    for t in range(first * step, n):
        for b in range(LANES):
            seen = t - (first + b) * step
            share[b] = 1.0 / (seen + 2.0) if seen >= 0 else 0.0  # one sample at 0 is seen beforehand
            alpha[b] = 1.0 - share[b] if seen >= 0 else 0.0
        for i in range(p):
            y = Y[t, i]
            for b in range(LANES):
                w[i, b] = y - means[i, b]
                means[i, b] += share[b] * w[i, b]
        for i in range(p):
            for b in range(LANES):
                d = pivots[i, b]
                scaled[b] = alpha[b] * w[i, b]
                grown = d + scaled[b] * w[i, b]
                inverse = 1.0 / grown
                scaled[b] *= inverse
                alpha[b] *= d * inverse
                pivots[i, b] = grown
            for k in range(i + 1, p):
                for b in range(LANES):
                    w[k, b] -= w[i, b] * lower[i, k, b]
                    lower[i, k, b] += scaled[b] * w[k, b]
        if (t + 1) % step != 0 and t + 1 != n:
            continue
        end = (t + step) // step
        if end - first < shortest:
            continue
        for b in range(LANES):
            total[b] = 0.0
        for g in range(p // group):
            for b in range(LANES):
                product = 1.0
                for i in range(g * group, (g + 1) * group):
                    product *= pivots[i, b]
                samples = t + 1 - (first + b) * step
                total[b] += np.log(product) * (slopes[g, 0] + samples * slopes[g, 1])
        for b in range(lanes):
            if end - first - b >= shortest:
                C[end, first + b] += total[b] + table[t + 1 - (first + b) * step]


@compiled(nogil=True)  # no fastmath: it may take for granted that nothing is infinite
def add_span(
    before: Any, C: Any, shortest: int, earliest: Any, first: int, stride: int, best: Any, start: Any
) -> None:
    """One more span: for ends first, first + stride, ..., the least cost and where the last span starts.

    ``best[j] = min_i before[i] + C[j, i]`` over ``earliest[j] <= i <= j - shortest``.
    """
    for j in range(first, C.shape[0], stride):
        least, where = np.inf, 0
        for i in range(earliest[j], j - shortest + 1):
            cost = before[i] + C[j, i]
            if cost < least:
                least, where = cost, i
        best[j], start[j] = least, where
