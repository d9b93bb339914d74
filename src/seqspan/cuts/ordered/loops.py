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
    grid : (places, shortest)
        The grid points, from 0 to n, and the length of the shortest span in grid steps.
    model : (prior, group, slopes, table)
        The prior variance within a span, and what :class:`seqspan.cuts.ordered.cost._ViewModel` says of
        costs.
    first : int
    C : array of shape (n_grid, n_grid)
        ``C[end, start]`` is added to.
    """
    (n, p), (places, shortest) = Y.shape, grid
    pivots, means, lower = np.full((p, LANES), model[0]), np.zeros((p, LANES)), np.zeros((p, p, LANES))
    state = means, pivots, lower, np.zeros((p, LANES)), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    total, starts = np.zeros(LANES), np.full(LANES, n)
    lanes = min(LANES, C.shape[0] - first)
    starts[:lanes] = places[first : first + lanes]
    for end in range(first + 1, C.shape[0]):
        for t in range(places[end - 1], places[end]):
            _absorb(Y, t, starts, state)
        if end - first >= shortest:
            _sum_logarithms(pivots, model, places[end] - starts, total)
            for b in range(lanes):
                if end - first - b >= shortest:
                    C[end, first + b] += total[b] + model[3][places[end] - starts[b]]


@compiled(nogil=True, fastmath=True, error_model="numpy")
def _absorb(Y: Any, t: int, starts: Any, state: Any) -> None:
    """Update means and factors of all lanes that have started with sample t."""
    means, pivots, lower, w, alpha, share, scaled = state
    p = Y.shape[1]
    for b in range(LANES):
        seen = t - starts[b]
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
def _sum_logarithms(pivots: Any, model: Any, lengths: Any, total: Any) -> None:
    """Add up the log determinants, weighted by the lengths of the spans."""
    _, group, slopes, _ = model
    for b in range(LANES):
        total[b] = 0.0
    for g in range(len(slopes)):
        for b in range(LANES):
            product = 1.0
            for i in range(g * group, min((g + 1) * group, len(pivots))):
                product *= pivots[i, b]
            total[b] += np.log(product) * (slopes[g, 0] + lengths[b] * slopes[g, 1])


@compiled(nogil=True)  # no fastmath: it may assume that nothing is infinite
def add_span(before: Any, C: Any, shortest: int, share: Any, found: Any) -> None:
    """Add one span: for ends first, first + stride, ..., the least cost and where the last span starts.

    ``best[j] = min_i before[i] + C[j, i]`` over ``i <= j - shortest``, with ``share = (first, stride)`` and
    ``found = (best, start)``.
    """
    (first, stride), (best, start) = share, found
    for j in range(first, C.shape[0], stride):
        least, where = np.inf, 0
        for i in range(j - shortest + 1):
            cost = before[i] + C[j, i]
            if cost < least:
                least, where = cost, i
        best[j], start[j] = least, where


@compiled(nogil=True)
def best_path(sums: Any, n_spans: int, shortest: int) -> Any:
    """The cheapest `n_spans` spans of at least `shortest` samples whose neighbours differ in label.

    Parameters
    ----------
    sums : array of shape (n_labels, n + 1)
        ``sums[l, t]`` is what samples 0, ..., t - 1 cost under label l.
    n_spans, shortest : int

    Returns
    -------
    starts, labels : arrays of shape (n_spans,)
    """
    n_labels, n_ends = sums.shape
    best = sums.copy()
    best[:, :shortest] = np.inf
    begins = np.zeros((n_spans, n_labels, n_ends), np.int32)
    befores = np.zeros((n_spans, n_ends, 2), np.int32)
    for j in range(1, n_spans):
        best = _one_span_more(best, sums, shortest, begins[j], befores[j])
    starts, labels = np.zeros(n_spans, np.int64), np.zeros(n_spans, np.int64)
    label, end = np.argmin(best[:, n_ends - 1]), n_ends - 1
    for j in range(n_spans - 1, -1, -1):
        labels[j] = label
        end = begins[j, label, end]
        starts[j] = end
        first, second = befores[j, end]
        label = second if first == label else first
    return starts, labels


@compiled(nogil=True)
def path_costs(sums: Any, most: int, shortest: int) -> Any:
    """What the cheapest 1, 2, ..., `most` spans cost, as :func:`best_path` finds them."""
    n_labels, n_ends = sums.shape
    best = sums.copy()
    best[:, :shortest] = np.inf
    begins, befores = np.zeros((n_labels, n_ends), np.int32), np.zeros((n_ends, 2), np.int32)
    costs = np.zeros(most)
    for j in range(most):
        if j > 0:
            best = _one_span_more(best, sums, shortest, begins, befores)
        costs[j] = best[:, n_ends - 1].min()
    return costs


@compiled(nogil=True)
def _one_span_more(best: Any, sums: Any, shortest: int, begins: Any, befores: Any) -> Any:
    """Least costs with one span more, for every label of the last one and every end."""
    n_labels, n_ends = sums.shape
    longer = np.full((n_labels, n_ends), np.inf)
    least = np.full(n_labels, np.inf)
    where = np.zeros(n_labels, np.int32)
    for end in range(shortest, n_ends):
        start = end - shortest
        first, second = -1, -1  # the two cheapest labels of a span that ends where the new one starts
        for label in range(n_labels):
            if first < 0 or best[label, start] < best[first, start]:
                first, second = label, first
            elif second < 0 or best[label, start] < best[second, start]:
                second = label
        befores[start, 0], befores[start, 1] = first, second
        for label in range(n_labels):
            other = second if label == first else first
            cost = best[other, start] - sums[label, start]
            if cost < least[label]:
                least[label], where[label] = cost, start
            longer[label, end] = least[label] + sums[label, end]
            begins[label, end] = where[label]
    return longer


@compiled(nogil=True)
def cheapest_path(sums: Any, price: float, shortest: int) -> Any:
    """The cheapest spans of at least `shortest` samples, however many: each but the first costs `price` more.

    Parameters
    ----------
    sums : array of shape (n_labels, n + 1)
        ``sums[l, t]`` is what samples 0, ..., t - 1 cost under label l.
    price : float
    shortest : int, at most n

    Returns
    -------
    array of int, shape (n,)
        The label of each sample.
    """
    n_labels, n_ends = sums.shape
    best, labels, begins = np.full(n_ends, np.inf), np.zeros(n_ends, np.int64), np.zeros(n_ends, np.int64)
    best[0] = -price
    least, where = np.full(n_labels, np.inf), np.zeros(n_labels, np.int64)
    for end in range(shortest, n_ends):
        start = end - shortest
        for label in range(n_labels):
            cost = best[start] + price - sums[label, start]
            if cost < least[label]:
                least[label], where[label] = cost, start
            if least[label] + sums[label, end] < best[end]:
                best[end], labels[end], begins[end] = least[label] + sums[label, end], label, where[label]
    path, end = np.zeros(n_ends - 1, np.int64), n_ends - 1
    while end > 0:
        path[begins[end] : end] = labels[end]
        end = begins[end]
    return path
