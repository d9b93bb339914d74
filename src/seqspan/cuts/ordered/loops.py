"""Compiled loops over all spans of a recording: what each costs, and the best way to divide time into spans.

Costs lie in an array ``C[start, end]``: all ends of one start are neighbours in memory, which is the order in
which the dynamic programme reads them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.compile import compiled

LANES = 64  # starts that go through time together: fewer are not turned into vector instructions as well


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
    model : (prior, sizes, slopes, tables)
        The prior variance within a span, and what :class:`seqspan.cuts.ordered.view_model.ViewModel` says of
        costs: one of `slopes` and one of `tables` for each array of costs.
    first : int
    C : array of shape (n_tables, n_grid, n_grid)
        ``C[table, start, end]`` is added to.
    """
    (n, p), (places, shortest) = Y.shape, grid
    pivots, means, lower = np.full((p, LANES), model[0]), np.zeros((p, LANES)), np.zeros((p, p, LANES))
    state = means, pivots, lower, np.zeros((p, LANES)), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    n_grid, starts = C.shape[1], np.full(LANES, n)
    totals = np.zeros((len(C), LANES))
    lanes = min(LANES, n_grid - first)
    starts[:lanes] = places[first : first + lanes]
    for end in range(first + 1, n_grid):
        for t in range(places[end - 1], places[end]):
            _absorb(Y, t, starts, state)
        if end - first >= shortest:
            _sum_logarithms(pivots, model, places[end] - starts, totals)
            for table in range(len(C)):
                for b in range(min(lanes, end - first - shortest + 1)):
                    C[table, first + b, end] += totals[table, b] + model[3][table, places[end] - starts[b]]


@compiled(nogil=True, fastmath=True, error_model="numpy")
def fill_costs_of_cells(moments: Any, grid: Any, model: Any, first: int, C: Any) -> None:
    """The same as `fill_costs`, from the moments of the samples between neighbouring grid points.

    A factorisation for every span takes less than an update for every sample if cells are long.

    Parameters
    ----------
    moments : (totals, products)
        Of every cell, of shapes (n_grid - 1, p) and (n_grid - 1, p, p).
    grid, model, first, C
        As for `fill_costs`.
    """
    (totals, products), (places, shortest) = moments, grid
    p, n_grid = totals.shape[1], C.shape[1]
    sums, squares, factor = np.zeros((p, LANES)), np.zeros((p, p, LANES)), np.zeros((p, p, LANES))
    pivots, active, starts = np.ones((p, LANES)), np.zeros(LANES), np.full(LANES, places[-1])
    costs = np.zeros((len(C), LANES))
    lanes = min(LANES, n_grid - first)
    starts[:lanes] = places[first : first + lanes]
    for end in range(first + 1, n_grid):
        active[: min(lanes, end - first)] = 1.0
        for i in range(p):
            for b in range(LANES):
                sums[i, b] += active[b] * totals[end - 1, i]
            for j in range(i + 1):
                for b in range(LANES):
                    squares[i, j, b] += active[b] * products[end - 1, i, j]
        if end - first >= shortest:
            lengths = places[end] - starts
            _factorise(sums, squares, lengths, model[0], factor, pivots)
            _sum_logarithms(pivots, model, lengths, costs)
            for table in range(len(C)):
                for b in range(min(lanes, end - first - shortest + 1)):
                    C[table, first + b, end] += costs[table, b] + model[3][table, lengths[b]]


@compiled(nogil=True, fastmath=True, error_model="numpy")
def fill_costs_of_pairs(moments: Any, one: int, others: Any, model: Any, costs: Any) -> None:
    """What one group of samples and each of some others cost together, but for what their number adds.

    Parameters
    ----------
    moments : (counts, totals, products)
        Of all groups, of shapes (n_groups,), (p, n_groups) and (p, p, n_groups).
    one : int
    others : array of int, shape (n_others,)
    model : (prior, sizes, slopes)
        As for `fill_costs`.
    costs : array of shape (n_others,)
        Filled in.
    """
    counts, totals, products = moments
    p = len(totals)
    sums, squares, factor = np.zeros((p, LANES)), np.zeros((p, p, LANES)), np.zeros((p, p, LANES))
    pivots, lengths, found = np.ones((p, LANES)), np.zeros(LANES), np.zeros((1, LANES))
    for first in range(0, len(others), LANES):
        some = others[first : first + LANES]
        for b in range(len(some)):
            lengths[b] = counts[one] + counts[some[b]]
        for i in range(p):
            for b in range(len(some)):
                sums[i, b] = totals[i, one] + totals[i, some[b]]
            for j in range(i + 1):
                for b in range(len(some)):
                    squares[i, j, b] = products[i, j, one] + products[i, j, some[b]]
        _factorise(sums, squares, lengths, model[0], factor, pivots)
        _sum_logarithms(pivots, model, lengths, found)
        costs[first : first + LANES] = found[0, : len(some)]


@compiled(nogil=True, fastmath=True, error_model="numpy")
def _factorise(sums: Any, squares: Any, lengths: Any, prior: float, A: Any, pivots: Any) -> None:
    """Pivots of ``squares - sums sums^T / (length + 1) + prior I`` in every lane; A is overwritten."""
    p = len(sums)
    inverse, ratio = np.zeros(LANES), np.zeros(LANES)
    for b in range(LANES):
        inverse[b] = 1.0 / (max(lengths[b], 0) + 1.0)
    for i in range(p):
        for j in range(i + 1):
            added = prior if i == j else 0.0
            for b in range(LANES):
                A[i, j, b] = squares[i, j, b] - sums[i, b] * sums[j, b] * inverse[b] + added
    for k in range(p):
        for b in range(LANES):
            pivots[k, b] = A[k, k, b]
            inverse[b] = 1.0 / A[k, k, b]
        for i in range(k + 1, p):
            for b in range(LANES):
                ratio[b] = A[i, k, b] * inverse[b]
            for j in range(k + 1, i + 1):
                for b in range(LANES):
                    A[i, j, b] -= ratio[b] * A[j, k, b]


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
def _sum_logarithms(pivots: Any, model: Any, lengths: Any, totals: Any) -> None:
    """Add up the log determinants of groups of features, weighted by the lengths of the spans."""
    sizes, slopes = model[1], model[2]
    logarithms = np.zeros(LANES)
    totals[:] = 0.0
    for g in range(len(sizes)):
        first = 0 if g == 0 else sizes[g - 1]
        for b in range(LANES):
            product = 1.0
            for i in range(first, sizes[g]):
                product *= pivots[i, b]
            logarithms[b] = np.log(product)
        for table in range(len(totals)):
            for b in range(LANES):
                totals[table, b] += logarithms[b] * (slopes[table, g, 0] + lengths[b] * slopes[table, g, 1])


@compiled(nogil=True, fastmath={"nnan", "nsz"})  # costs may be infinite
def add_spans(C: Any, shortest: int, best: Any) -> None:
    """Add spans one by one: ``best[k, j] = min_i best[k - 1, i] + C[i, j]`` over ``i <= j - shortest``.

    When start i is reached, all costs of divisions that end there are known, so one pass over C is enough.

    Parameters
    ----------
    C : array of shape (n_grid, n_grid)
    shortest : int
    best : array of shape (n_spans + 1, n_grid)
        The first row is given, the others have to be infinite at first.
    """
    n = len(C)
    for i in range(n - shortest):
        costs = C[i, i + shortest :]
        for k in range(1, len(best)):
            before, least = best[k - 1, i], best[k, i + shortest :]
            if before < np.inf:
                for j in range(len(costs)):
                    cost = before + costs[j]
                    least[j] = cost if cost < least[j] else least[j]


@compiled(nogil=True)
def add_curve(best: Any, curve: Any, longer: Any, counts: Any) -> None:
    """Add a recording: ``longer[i + k] = min_k best[i] + curve[k - 1]``, and its k in counts.

    Parameters
    ----------
    best : array of shape (total + 1,)
        Least costs of 0, 1, ... spans of the recordings before.
    curve : array
        What 1, 2, ... spans of this recording cost.
    longer, counts : arrays of shape (total + 1,)
        The first has to be infinite; both are filled in.
    """
    for k in range(1, len(curve) + 1):
        for i in range(len(best) - k):
            cost = best[i] + curve[k - 1]
            if cost < longer[i + k]:
                longer[i + k] = cost
                counts[i + k] = k


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
    befores = np.zeros((n_ends, 2, n_spans), np.int16)
    better = np.zeros((n_ends, n_labels, n_spans), np.bool_)
    costs = _walk(sums, shortest, befores, better, np.full((n_labels, n_spans), np.inf))
    starts, labels = np.zeros(n_spans, np.int64), np.zeros(n_spans, np.int64)
    label, end = np.argmin(costs[:, n_spans - 1]), n_ends - 1
    for j in range(n_spans - 1, 0, -1):
        while not better[end, label, j]:
            end -= 1
        end -= shortest
        starts[j], labels[j] = end, label
        first, second = befores[end, 0, j - 1], befores[end, 1, j - 1]
        label = second if first == label else first
    labels[0] = label
    return starts, labels


@compiled(nogil=True)
def path_costs(sums: Any, most: int, shortest: int) -> Any:
    """What the cheapest 1, 2, ..., `most` spans cost, as :func:`best_path` finds them."""
    n_labels = len(sums)
    none = np.zeros((0, 2, most), np.int16), np.zeros((0, n_labels, most), np.bool_)
    ends = _walk(sums, shortest, none[0], none[1], np.full((n_labels, most), np.inf))
    costs = np.zeros(most)
    for j in range(most):
        costs[j] = ends[:, j].min()
    return costs


@compiled(nogil=True, fastmath={"nnan", "nsz"})  # costs may be infinite
def _walk(sums: Any, shortest: int, befores: Any, better: Any, least: Any) -> Any:
    """Go through time with all numbers of spans at once.

    Parameters
    ----------
    sums, shortest
        As for :func:`best_path`.
    befores : array of shape (n + 1, 2, n_spans), or of length 0
        Filled in for each start: the two cheapest labels of 1, 2, ... spans that end there.
    better : array of shape (n + 1, n_labels, n_spans), or of length 0
        Filled in for each end: whether the last span had better start `shortest` samples earlier than at
        any start before.
    least : array of shape (n_labels, n_spans)
        Infinite; for each label of the last span, the least that the spans before it cost, less `sums`.

    Returns
    -------
    array of shape (n_labels, n_spans)
        Least costs of 1, 2, ... spans that end with the last sample, for each label of the last one.
    """
    (n_labels, n_ends), n_spans = sums.shape, least.shape[1]
    recent = np.full((shortest + 1, n_labels, n_spans), np.inf)  # costs of the last few ends
    cheapest, second = np.zeros(n_spans), np.zeros(n_spans)
    labels = np.zeros((2, n_spans), np.int16)
    for end in range(shortest, n_ends):
        start = end - shortest
        before, now = recent[start % (shortest + 1)], recent[end % (shortest + 1)]
        _two_cheapest(before, cheapest, second, labels)
        if len(befores) > 0:
            befores[start] = labels
        for label in range(n_labels):
            at_start, at_end = sums[label, start], sums[label, end]
            now[label, 0] = at_end
            for j in range(1, n_spans):
                cost = (second[j - 1] if labels[0, j - 1] == label else cheapest[j - 1]) - at_start
                known = least[label, j]
                least[label, j] = cost if cost < known else known
                if len(better) > 0:
                    better[end, label, j] = cost < known
                now[label, j] = least[label, j] + at_end
    return recent[(n_ends - 1) % (shortest + 1)]


@compiled(nogil=True, fastmath={"nnan", "nsz"})
def _two_cheapest(costs: Any, cheapest: Any, second: Any, labels: Any) -> None:
    """Of costs (n_labels, n_spans), the two least for every number of spans, and whose they are."""
    cheapest[:], second[:], labels[:] = np.inf, np.inf, 0
    for label in range(len(costs)):
        for j in range(len(cheapest)):
            cost = costs[label, j]
            if cost < cheapest[j]:
                second[j], labels[1, j] = cheapest[j], labels[0, j]
                cheapest[j], labels[0, j] = cost, label
            elif cost < second[j]:
                second[j], labels[1, j] = cost, label


@compiled(nogil=True)
def extend_paths(sums: Any, price: float, best: Any, paths: Any, ends: Any) -> None:
    """The cheapest spans of at least `shortest` samples, however many, up to each of the next samples.

    Every span but the first costs `price` more.

    Parameters
    ----------
    sums : array of shape (n_labels, shortest + m)
        What all samples up to a place cost under each label, for the last places known and m new ones.
    price : float
    best : array of shape (shortest + m,)
        Cost of the best path to each place; the last m are found.
    paths : (least, where)
        For each label, what its open span saves, and where that starts; both are brought up to date.
    ends : (places, labels, begins)
        The new places, of shape (m,); and, found, the label and the start of the span that ends there.
    """
    least, where = paths
    places, labels, begins = ends
    shortest = sums.shape[1] - len(places)
    for number in range(len(places)):
        end, cheapest = shortest + number, np.inf
        for label in range(len(least)):
            cost = best[number] + price - sums[label, number]
            if cost < least[label]:
                least[label], where[label] = cost, places[number] - shortest
            if least[label] + sums[label, end] < cheapest:
                cheapest = least[label] + sums[label, end]
                labels[number], begins[number] = label, where[label]
        best[end] = cheapest
