"""Peers that look for changes: equal split, ruptures, claspy. Spans with similar means get the same label.

Heavy packages are imported inside the functions; the row of a peer that is not installed says so.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.quality.features import (
    FEATURES,
    join_spans,
    make_features,
    number_spans,
    principal,
    slope_heuristic,
)
from benchmarks.quality.methods import NUMBERS, NUMBERS_GIVEN, Method
from benchmarks.quality.shared import shared

MAX_SPANS = 200  # largest number that the slope heuristic considers
MAX_CANDIDATES = 1000  # places for boundaries in ruptures' Python searches; longer data are thinned
MAX_PRUNED_CANDIDATES = 500  # the same for its Python PELT, whose time grows with their square
#: Multiples of the BIC-like penalty that PELT and BinSeg are run with if no number is given.
PENALTIES = (0.25, 0.5, 1, 2, 4, 8)
#: The same for PELT with Gaussians, which takes much longer.
GAUSSIAN_PENALTIES = (1, 4)
#: Multiples of the slope that KernelCPD is run with; Arlot et al. take twice the slope.
SLOPES = (1, 1.5, 2, 3, 4)


def split_equally(X, n_spans, n_labels, rng, kind):
    """Return spans of equal length with labels in turn, without using the data."""
    n_spans = n_spans or n_labels or 1
    spans = np.arange(len(X)) * n_spans // len(X)
    return spans % (n_labels or n_spans)


def search_kernel(X, n_spans, n_labels, rng, kind, *, kernel, features, slopes=2):
    """KernelCPD: exact dynamic programming; the number of spans is given, or from the slope heuristic."""
    F = make_features(X, features)
    if n_spans is None:
        ends, costs = _kernel_path(X, kernel, features)
        found = ends[slope_heuristic(costs, len(F), slopes) - 1]
    else:
        found = _kernel_search(F, kernel).predict(n_bkps=n_spans - 1) if n_spans > 1 else [len(F)]
    return join_spans(F, found[:-1], n_labels)


@shared
def _kernel_path(X, kernel, features):
    """Find the ends of 1, 2, ... spans with the least scatter in the space of the kernel, and the scatter."""
    F = make_features(X, features)
    search = _kernel_search(F, kernel)
    most = min(MAX_SPANS, len(F) // 4)
    search.predict(n_bkps=most - 1)
    ends = [[len(F)], *(search.predict(n_bkps=n) for n in range(1, most))]
    return ends, np.array([_scatter(search, each, kernel) for each in ends])


def prune_kernel(X, n_spans, n_labels, rng, kind, *, kernel, features, penalty=1.0):
    """PELT on a kernel: a change must lower the scatter by log(n) times its mean per sample (BIC)."""
    return join_spans(make_features(X, features), _prune_kernel(X, kernel, features, penalty), n_labels)


@shared
def _prune_kernel(X, kernel, features, penalty):
    """Find the boundaries of PELT on a kernel."""
    F = make_features(X, features)
    search = _kernel_search(F, kernel)
    unit = np.log(len(F)) * _scatter(search, [len(F)], kernel) / len(F)
    return search.predict(pen=penalty * unit)[:-1]


def prune_normal(X, n_spans, n_labels, rng, kind, *, features, n_dims, penalty=1.0):
    """PELT with one Gaussian per span, penalised by a multiple of the BIC of its parameters."""
    F = principal(X, features, n_dims)
    return join_spans(F, _prune_normal(X, features, n_dims, penalty), n_labels)


@shared
def _prune_normal(X, features, n_dims, penalty):
    """Find the boundaries of PELT with Gaussians."""
    import ruptures

    F = principal(X, features, n_dims)
    jump = _jump(F, MAX_PRUNED_CANDIDATES)
    search = ruptures.Pelt(model="normal", min_size=2 * n_dims, jump=jump).fit(F)
    return search.predict(pen=penalty * _gaussian_bic(F))[:-1]


def split_binary(X, n_spans, n_labels, rng, kind, *, cost, features, n_dims=None, penalty=1.0):
    """BinSeg: one change after the other, up to the given number or until the BIC-like penalty stops it."""
    F = _binary_features(X, features, n_dims)
    if n_spans is not None:
        found = _binary_search(F, cost, n_dims).predict(n_bkps=n_spans - 1)[:-1]
    else:
        found = _split_binary(X, cost, features, n_dims)[penalty]
    return join_spans(F, found, n_labels)


@shared
def _split_binary(X, cost, features, n_dims):
    """Find the boundaries of BinSeg for all penalties; the smallest goes through the splits of the others."""
    F = _binary_features(X, features, n_dims)
    search = _binary_search(F, cost, n_dims)
    unit = _gaussian_bic(F) if cost == "normal" else np.log(len(F)) * search.cost.error(0, len(F)) / len(F)
    return {penalty: search.predict(pen=penalty * unit)[:-1] for penalty in PENALTIES}


def _binary_features(X, features, n_dims):
    """Return all features, or the first principal components."""
    return make_features(X, features) if n_dims is None else principal(X, features, n_dims)


def _binary_search(F, cost, n_dims):
    """Make ruptures' BinSeg on features; a Gaussian needs twice as many samples as dimensions."""
    import ruptures

    min_size = 2 if n_dims is None else 2 * n_dims
    return ruptures.Binseg(model=cost, min_size=min_size, jump=_jump(F, MAX_CANDIDATES)).fit(F)


def classify_profile(
    X, n_spans, n_labels, rng, kind, *, features, n_dims, window, radius, distance, states=False
):
    """ClaSP: changes where windows left and right can be told apart; with `states`, CLaP names the states."""
    from claspy.segmentation import BinaryClaSPSegmentation

    F = principal(X, features, n_dims)
    settings = {} if n_spans is None else {"n_segments": n_spans, "validation": None}
    search = BinaryClaSPSegmentation(
        window_size=window, excl_radius=radius, distance=f"{distance}euclidean_distance", n_jobs=1, **settings
    )
    found = np.sort(np.asarray(search.fit_predict(F), dtype=int))
    found = found[(found > 0) & (found < len(F))]
    if not states:
        return join_spans(F, found, n_labels)
    from claspy.state_detection import AgglomerativeCLaPDetection

    if len(found) == 0:
        return number_spans(found, len(F))
    detection = AgglomerativeCLaPDetection(window_size=search.window_size, n_jobs=1)
    return np.asarray(detection.fit_predict(F, change_points=found))


def _kernel_search(F, kernel):
    """Make ruptures' KernelCPD on features, with spans of at least two samples."""
    import ruptures

    return ruptures.KernelCPD(kernel=kernel, min_size=2).fit(F)


def _scatter(search, ends, kernel):
    """Sum the scatter in the space of the kernel over the spans that end at `ends`."""
    cost = search.cost.sum_of_costs(ends)
    # ruptures' cosine cost has zeros, not ones, on the diagonal of its kernel matrix.
    return cost + ends[-1] - len(ends) if kernel == "cosine" else cost


def _jump(F, most):
    """Return the distance between the places that ruptures' Python searches consider, `most` of them."""
    return max(1, -(-len(F) // most))


def _gaussian_bic(F):
    """Return the BIC of one more Gaussian: mean, covariance, and place of the change."""
    n_dims = F.shape[1]
    return float((n_dims + n_dims * (n_dims + 1) / 2 + 1) * np.log(len(F)))


def name_apart(X, n_spans, n_labels, rng, kind, *, run):
    """Run a search whose spans keep their own labels: with as many labels as samples, nothing is merged."""
    return run(X, n_spans, len(X), rng, kind)


def name_by_means(X, boundaries, n_labels, rng, kind, *, features):
    """Label given spans: those with similar means share a label, by average linkage."""
    return join_spans(make_features(X, features), boundaries, n_labels)


def _variants():
    """Yield all variants; those of ruptures also without merging, if no number is given."""
    yield Method("equal split", "equal split", split_equally)
    for method in _searches():
        yield method
        if "nothing" in method.given:
            run = partial(name_apart, run=method.run)
            yield Method(f"{method.name}, apart", method.peer, run, (), ("nothing",), method.needs)
    yield from _profiles()
    for features in FEATURES:
        run = partial(name_by_means, features=features)
        yield Method(f"span means, {features}", "span means", run, ("labels",), ("boundaries",))


def _searches():
    """Yield the searches of ruptures, each with all its penalties."""
    for kernel in ("linear", "rbf", "cosine"):
        for features in FEATURES:
            if kernel == "cosine" and features != "standardised":
                continue  # the same as linear on unit rows
            name, options = f"{kernel}, {features}", {"kernel": kernel, "features": features}
            yield from _with_penalties("KernelCPD", name, search_kernel, options, "slopes", SLOPES, 2)
            yield from _with_penalties("PELT", name, prune_kernel, options, "penalty", PENALTIES, 1)
    for features in ("raw", "standardised"):
        name, options = f"normal, {features}, 5 PCs", {"features": features, "n_dims": 5}
        yield from _with_penalties("PELT", name, prune_normal, options, "penalty", GAUSSIAN_PENALTIES, 1)
        for n_dims in (5, 10):
            name = f"normal, {features}, {n_dims} PCs"
            options = {"cost": "normal", "features": features, "n_dims": n_dims}
            yield from _with_penalties("BinSeg", name, split_binary, options, "penalty", PENALTIES, 1)
    for cost in ("l2", "rbf"):
        for features in FEATURES:
            options = {"cost": cost, "features": features}
            name = f"{cost}, {features}"
            yield from _with_penalties("BinSeg", name, split_binary, options, "penalty", PENALTIES, 1)


def _with_penalties(peer, name, run, options, keyword, values, usual):
    """Yield a search with its usual penalty, and with the others, which matter if no number is given.

    PELT cannot use a number of spans.
    """
    uses, given = (("labels",), ("subspaces", "nothing")) if peer == "PELT" else (NUMBERS, NUMBERS_GIVEN)
    yield Method(f"{peer} {name}", peer, partial(run, **options), uses, given, ("ruptures",))
    for value in values:
        if value != usual:
            own = partial(run, **options, **{keyword: value})
            yield Method(f"{peer} {name}, {keyword} {value:g}", peer, own, uses, ("nothing",), ("ruptures",))


def _profiles():
    """Yield variants of ClaSP: its defaults, and short windows with a small exclusion, for short spans."""
    needs = ("claspy.segmentation", "claspy.state_detection")
    short = {"window": 10, "radius": 4, "distance": "", "n_dims": 5}
    usual = {"window": "suss", "radius": 5, "distance": "znormed_", "n_dims": 5}
    for features in ("raw", "standardised"):
        run = partial(classify_profile, features=features, **short)
        yield Method(f"ClaSP {features}, window 10, exclusion 4", "ClaSP", run, needs=needs)
    run = partial(classify_profile, features="standardised", **usual)
    yield Method("ClaSP standardised, defaults", "ClaSP", run, needs=needs)
    run = partial(classify_profile, features="standardised", states=True, **short)
    yield Method("ClaSP + CLaP standardised, window 10", "ClaSP", run, (), ("nothing",), needs)


METHODS = tuple(_variants())
