"""Peers that name states: hidden Markov models, k-means, TICC; and PySceneDetect, which finds shots."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np

from benchmarks.quality.features import (
    FEATURES,
    MAX_LABELS,
    best_silhouette,
    embed,
    make_features,
    number_spans,
    principal,
)
from benchmarks.quality.methods import Method

HMM_STARTS = 5
KMEANS_DIMS = 50  # largest number of principal components before embedding
DETECTORS = ("Content", "Adaptive", "Histogram", "Hash", "Threshold")


def fit_markov(X, n_spans, n_labels, rng, kind, *, features, covariance, n_dims):
    """Gaussian hidden Markov model, the likeliest of five starts; BIC can choose the number of states."""
    F = principal(X, features, n_dims)
    if n_labels is not None:
        models = _fits(F, n_labels, covariance, rng, HMM_STARTS)
        model = max(models, key=lambda each: each.score(F))
    else:
        numbers = range(1, MAX_LABELS + 1)
        models = [model for number in numbers for model in _fits(F, number, covariance, rng, 2)]
        model = min(models, key=lambda each: each.bic(F))
    return model.predict(F)


def _fits(F, n_states, covariance, rng, n_starts):
    """Return the fits from several starts, but for those in which a state has lost all its samples."""
    from hmmlearn.hmm import GaussianHMM

    models = []
    for _ in range(n_starts):
        seed = int(rng.integers(2**31))
        with suppress(ValueError):
            model = GaussianHMM(n_states, covariance, min_covar=1e-3, n_iter=100, random_state=seed).fit(F)
            model.score(F)
            models.append(model)
    return models


def cluster_means(X, n_spans, n_labels, rng, kind, *, features, length):
    """k-means on features or windows of them, ten starts; the silhouette can choose the number."""
    from sklearn.cluster import KMeans

    F = make_features(X, features)
    if F.shape[1] > KMEANS_DIMS:
        F = principal(X, features, KMEANS_DIMS)
    F = embed(F, length) if length > 1 else F

    def fit(number):
        return KMeans(number, n_init=10, random_state=int(rng.integers(2**31))).fit_predict(F)

    if n_labels is not None:
        return fit(n_labels)
    return best_silhouette(F, [fit(number) for number in range(2, MAX_LABELS + 1)])


def cluster_graphs(X, n_spans, n_labels, rng, kind, *, features, n_dims, window, cost):
    """TICC: a sparse Gaussian over windows for each label; BIC can choose the number."""
    import fast_ticc

    F = principal(X, features, n_dims)

    def fit(number):
        return fast_ticc.ticc_labels(
            F, window_size=window, num_clusters=number, label_switching_cost=cost, iteration_limit=30
        )

    if n_labels is not None:
        return _fill_ends(fit(n_labels).point_labels)
    fits = [fit(number) for number in range(2, 9, 2)]
    return _fill_ends(min(fits, key=lambda each: each.bayesian_information_criterion).point_labels)


def _fill_ends(labels):
    """Give the half windows at both ends, which TICC leaves without a label, the nearest label."""
    labels = np.asarray(labels)
    known = np.flatnonzero(labels >= 0)
    return labels[np.clip(np.arange(len(labels)), known[0], known[-1])]


def detect_scenes(source, n_spans, n_labels, rng, kind, *, detector):
    """Run one of PySceneDetect's detectors with its defaults on the film in colour.

    The film is read with OpenCV: the detectors need it anyway, and it freezes beside PyAV in one process.
    """
    import scenedetect

    path, part = str(source).rsplit("#", 1)
    start, end = map(int, part.split("-"))
    scenes = scenedetect.detect(
        path, getattr(scenedetect, f"{detector}Detector")(), start_time=start, end_time=end
    )
    starts = [scene[0].frame_num - start for scene in scenes]
    return number_spans(np.array([each for each in starts if each > 0], dtype=int), end - start)


def _variants():
    """Yield all variants."""
    for features in FEATURES:
        for length in (1, 7):
            run = partial(cluster_means, features=features, length=length)
            windows = f", windows of {length}" if length > 1 else ""
            yield Method(
                f"k-means {features}{windows}", "k-means", run, ("labels",), needs=("sklearn.cluster",)
            )
    for covariance, features, n_dims in (
        ("diag", "raw", 10), ("diag", "unit", 10), ("diag", "standardised", 10),
        ("full", "raw", 5), ("full", "standardised", 5),
    ):  # fmt: skip
        run = partial(fit_markov, covariance=covariance, features=features, n_dims=n_dims)
        name = f"HMM {covariance}, {features}, {n_dims} PCs"
        yield Method(name, "HMM", run, ("labels",), needs=("hmmlearn.hmm",))
    for features in ("raw", "standardised"):
        for window, cost in ((1, 50), (3, 400)):
            run = partial(cluster_graphs, features=features, n_dims=5, window=window, cost=cost)
            name = f"TICC {features}, 5 PCs, window {window}, switching {cost}"
            yield Method(name, "TICC", run, ("labels",), needs=("fast_ticc",))
    for detector in DETECTORS:
        run, name = partial(detect_scenes, detector=detector), f"PySceneDetect {detector}"
        yield Method(name, "PySceneDetect", run, (), needs=("scenedetect",), kinds=("video",), from_file=True)


METHODS = tuple(_variants())
