"""Compiled loops over all spans of a recording: what each costs, and the best way to divide time into spans.

Costs lie in an array ``C[end, start]``: all starts of one end are neighbours in memory, which is the order in
which the dynamic programme reads them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.compile import compiled

LANES = 32  # starts that go through time together: enough to hide what a short loop costs


@compiled(nogil=True, fastmath=True, error_model="numpy")
def fill_costs(Y: Any, grid: Any, model: Any, first: int, C: Any) -> None:
    r"""Add the cost of every span that starts at grid points first, ..., first + LANES - 1.

    A span's scatter around its mean, plus the prior, is kept as ``L D L^T`` and updated sample by sample
    [Gill, Golub, Murray & Saunders 1974, method C1]. The leading blocks of that factor are the factors of the
    leading features alone, so one update serves all numbers of features.

    Parameters
    ----------
    Y : array of shape (n, p)
    grid : (step, shortest)
        Samples from one grid point to the next, and the length of the shortest span in grid steps.
    model : (prior, group, slopes, table)
        The prior variance within a span, and what :class:`seqspan.cuts.ordered.cost._ViewModel` says of
        costs.
    first : int
    C : array of shape (n_grid, n_grid)
        ``C[end, start]`` is added to.
    """
    (n, p), (step, shortest) = Y.shape, grid
    pivots, means, lower = np.full((p, LANES), model[0]), np.zeros((p, LANES)), np.zeros((p, p, LANES))
    state = means, pivots, lower, np.zeros((p, LANES)), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    total = np.zeros(LANES)
    lanes = min(LANES, C.shape[0] - first)
    for t in range(first * step, n):
        _absorb(Y, t, first, step, state)
        end = (t + step) // step
        if ((t + 1) % step == 0 or t + 1 == n) and end - first >= shortest:
            _sum_logarithms(pivots, model, t + 1 - first * step, step, total)
            for b in range(lanes):
                if end - first - b >= shortest:
                    C[end, first + b] += total[b] + model[3][t + 1 - (first + b) * step]


@compiled(nogil=True, fastmath=True, error_model="numpy")
def _absorb(Y: Any, t: int, first: int, step: int, state: Any) -> None:
    """Update means and factors of all lanes that have started with sample t."""
    means, pivots, lower, w, alpha, share, scaled = state
    p = Y.shape[1]
    for b in range(LANES):
        seen = t - (first + b) * step
        share[b] = 1.0 / (seen + 2.0) if seen >= 0 else 0.0  # the prior counts as one sample at 0
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


@compiled(nogil=True, fastmath=True, error_model="numpy")
def _sum_logarithms(pivots: Any, model: Any, longest: int, step: int, total: Any) -> None:
    """Add up the log determinants, weighted by the lengths longest, longest - step, ... of the spans."""
    _, group, slopes, _ = model
    for b in range(LANES):
        total[b] = 0.0
    for g in range(len(slopes)):
        for b in range(LANES):
            product = 1.0
            for i in range(g * group, (g + 1) * group):
                product *= pivots[i, b]
            total[b] += np.log(product) * (slopes[g, 0] + (longest - b * step) * slopes[g, 1])


@compiled(nogil=True)  # no fastmath: it may assume that nothing is infinite
def add_span(before: Any, C: Any, limits: Any, first: int, stride: int, found: Any) -> None:
    """Add one span: for ends first, first + stride, ..., the least cost and where the last span starts.

    ``best[j] = min_i before[i] + C[j, i]`` over ``earliest[j] <= i <= j - shortest``, with
    ``limits = (shortest, earliest)`` and ``found = (best, start)``.
    """
    (shortest, earliest), (best, start) = limits, found
    for j in range(first, C.shape[0], stride):
        least, where = np.inf, 0
        for i in range(earliest[j], j - shortest + 1):
            cost = before[i] + C[j, i]
            if cost < least:
                least, where = cost, i
        best[j], start[j] = least, where
