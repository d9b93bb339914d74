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
from benchmarks.quality.methods import Method

MAX_SPANS = 100  # largest number that the slope heuristic considers (as in Arlot et al.)
MAX_CANDIDATES = 1000  # places for boundaries in ruptures' Python searches; longer data are thinned


def split_equally(X, n_spans, n_labels, rng, kind):
    """Return spans of equal length with labels in turn, without using the data."""
    n_spans = n_spans or n_labels or 1
    spans = np.arange(len(X)) * n_spans // len(X)
    return spans % (n_labels or n_spans)


def search_kernel(X, n_spans, n_labels, rng, kind, *, kernel, features):
    """KernelCPD: exact dynamic programming; the number of spans is given, or from the slope heuristic."""
    F = make_features(X, features)
    search = _kernel_search(F, kernel)
    if n_spans is None:
        most = min(MAX_SPANS, len(F) // 4)
        search.predict(n_bkps=most - 1)
        ends = [[len(F)], *(search.predict(n_bkps=n) for n in range(1, most))]
        costs = np.array([_scatter(search, each, kernel) for each in ends])
        found = ends[slope_heuristic(costs, len(F)) - 1]
    else:
        found = search.predict(n_bkps=n_spans - 1) if n_spans > 1 else [len(F)]
    return join_spans(F, found[:-1], n_labels)


def prune_kernel(X, n_spans, n_labels, rng, kind, *, kernel, features):
    """PELT on a kernel: a change must lower the scatter by log(n) times its mean per sample (BIC)."""
    F = make_features(X, features)
    search = _kernel_search(F, kernel)
    penalty = np.log(len(F)) * _scatter(search, [len(F)], kernel) / len(F)
    return join_spans(F, search.predict(pen=penalty)[:-1], n_labels)


def prune_normal(X, n_spans, n_labels, rng, kind, *, features, n_dims):
    """PELT with one Gaussian per span, penalised by the BIC of its parameters."""
    import ruptures

    F = principal(X, features, n_dims)
    search = ruptures.Pelt(model="normal", min_size=2 * n_dims, jump=_jump(F)).fit(F)
    return join_spans(F, search.predict(pen=_gaussian_bic(F))[:-1], n_labels)


def split_binary(X, n_spans, n_labels, rng, kind, *, cost, features, n_dims=None):
    """BinSeg: one change after the other, up to the given number or until the BIC-like penalty stops it."""
    import ruptures

    F = make_features(X, features) if n_dims is None else principal(X, features, n_dims)
    min_size = 2 if n_dims is None else 2 * n_dims
    search = ruptures.Binseg(model=cost, min_size=min_size, jump=_jump(F)).fit(F)
    if n_spans is not None:
        found = search.predict(n_bkps=n_spans - 1)
    elif cost == "normal":
        found = search.predict(pen=_gaussian_bic(F))
    else:
        found = search.predict(pen=np.log(len(F)) * search.cost.error(0, len(F)) / len(F))
    return join_spans(F, found[:-1], n_labels)


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


def _jump(F):
    """Return the distance between the places that ruptures' Python searches consider."""
    return max(1, -(-len(F) // MAX_CANDIDATES))


def _gaussian_bic(F):
    """Return the BIC of one more Gaussian: mean, covariance, and place of the change."""
    n_dims = F.shape[1]
    return float((n_dims + n_dims * (n_dims + 1) / 2 + 1) * np.log(len(F)))


def name_apart(X, n_spans, n_labels, rng, kind, *, run):
    """Run a search whose spans keep their own labels: with as many labels as samples, nothing is merged."""
    return run(X, n_spans, len(X), rng, kind)


def _variants():
    """Yield all variants; those of ruptures also without merging, if no number is given."""
    for method in _searches():
        yield method
        if method.needs == ("ruptures",):
            run = partial(name_apart, run=method.run)
            yield Method(f"{method.name}, apart", method.peer, run, (), ("nothing",), method.needs)
    yield from _profiles()


def _searches():
    """Yield equal split and the searches of ruptures."""
    yield Method("equal split", "equal split", split_equally)
    for kernel in ("linear", "rbf", "cosine"):
        for features in FEATURES:
            if kernel == "cosine" and features != "standardised":
                continue  # the same as linear on unit rows
            name, options = f"{kernel}, {features}", {"kernel": kernel, "features": features}
            run = partial(search_kernel, **options)
            yield Method(f"KernelCPD {name}", "KernelCPD", run, needs=("ruptures",))
            run = partial(prune_kernel, **options)
            given = ("subspaces", "nothing")
            yield Method(f"PELT {name}", "PELT", run, ("labels",), given, needs=("ruptures",))
    for features in ("raw", "standardised"):
        run = partial(prune_normal, features=features, n_dims=5)
        name = f"PELT normal, {features}, 5 PCs"
        yield Method(name, "PELT", run, ("labels",), ("subspaces", "nothing"), needs=("ruptures",))
        for n_dims in (5, 10):
            run = partial(split_binary, cost="normal", features=features, n_dims=n_dims)
            yield Method(f"BinSeg normal, {features}, {n_dims} PCs", "BinSeg", run, needs=("ruptures",))
    for cost in ("l2", "rbf"):
        for features in FEATURES:
            run = partial(split_binary, cost=cost, features=features)
            yield Method(f"BinSeg {cost}, {features}", "BinSeg", run, needs=("ruptures",))


def _profiles():
    """Yield variants of ClaSP: its defaults, and short windows with a small exclusion, for short spans."""
    needs = ("claspy.segmentation", "claspy.state_detection")
    for features in ("raw", "standardised"):
        for window, radius, distance in (("suss", 5, "znormed_"), (10, 4, ""), (5, 4, "")):
            options = {"window": window, "radius": radius, "distance": distance, "n_dims": 5}
            run = partial(classify_profile, features=features, **options)
            name = f"{features}, window {window}, exclusion {radius}{', z-normed' if distance else ''}"
            yield Method(f"ClaSP {name}", "ClaSP", run, needs=needs)
        options = {"window": 5, "radius": 4, "distance": "", "n_dims": 5, "states": True}
        run = partial(classify_profile, features=features, **options)
        yield Method(f"ClaSP + CLaP {features}, window 5", "ClaSP", run, (), ("nothing",), needs)


METHODS = tuple(_variants())
