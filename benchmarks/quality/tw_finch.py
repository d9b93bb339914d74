"""TW-FINCH: every sample joins its first neighbour, near in time and in direction, level by level.

Written from the description in Sarfraz, Murray, Sharma, Diba, Van Gool & Stiefelhagen, Temporally-Weighted
Hierarchical Clustering for Unsupervised Action Segmentation, CVPR 2021 (Algorithms 1 and 2).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from benchmarks.quality.features import FEATURES, join_spans, make_features
from benchmarks.quality.methods import NUMBERS, Method
from benchmarks.quality.shared import shared

BLOCK = 1000  # samples whose distances to all others are computed at once
#: Partitions that are tried if no number is given: the first has the fewest clusters, but at least two.
LEVELS = (1, 2, 3, 4)


def first_neighbours(F: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest other row of each row: cosine distance times distance in time, as a share of all.

    Parameters
    ----------
    F : array of shape (n, d)
    times : array of shape (n,)
        In samples.

    Returns
    -------
    neighbours : array of int, shape (n,)
    distances : array of shape (n,)
        Weighted distance of each row to its neighbour.
    """
    directions = F / np.maximum(np.linalg.norm(F, axis=1, keepdims=True), 1e-12)
    nearest, distances = [], []
    for start in range(0, len(F), BLOCK):
        own = slice(start, start + BLOCK)
        weighted = 1 - directions[own] @ directions.T
        weighted *= np.abs(times[own, None] - times) / len(times)
        weighted[np.arange(len(weighted)), np.arange(start, start + len(weighted))] = np.inf
        nearest.append(weighted.argmin(axis=1))
        distances.append(weighted.min(axis=1))
    return np.concatenate(nearest), np.concatenate(distances)


def join_neighbours(neighbours: np.ndarray) -> np.ndarray:
    """Return the connected component of each row if it is linked to its neighbour.

    Examples
    --------
    >>> join_neighbours(np.array([1, 0, 3, 2, 3])).tolist()
    [0, 0, 1, 1, 1]
    """
    n = len(neighbours)
    links = coo_matrix((np.ones(n), (np.arange(n), neighbours)), shape=(n, n))
    return connected_components(links, directed=False)[1]


def average(F: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean row and the mean time of each cluster."""
    counts = np.bincount(labels)
    chosen = coo_matrix((1 / counts[labels], (labels, np.arange(len(labels)))))
    return np.asarray(chosen @ F), np.asarray(chosen @ np.arange(len(labels)))


def cluster_levels(F: np.ndarray) -> list[np.ndarray]:
    """Cluster the samples, then the clusters, and so on: labels at each level, the finest first.

    The last level has one cluster.
    """
    levels = [np.arange(len(F))]
    while levels[-1].max() > 0:
        neighbours, _ = first_neighbours(*average(F, levels[-1]))
        levels.append(join_neighbours(neighbours)[levels[-1]])
    return levels[1:]


def refine(F: np.ndarray, levels: list[np.ndarray], n_clusters: int) -> np.ndarray:
    """Join the two nearest clusters of the coarsest level that has enough, until `n_clusters` are left."""
    enough = [labels for labels in levels if labels.max() + 1 >= n_clusters]
    labels = enough[-1] if enough else np.arange(len(F))
    while labels.max() + 1 > n_clusters:
        neighbours, distances = first_neighbours(*average(F, labels))
        one = int(distances.argmin())
        kept, gone = sorted((one, int(neighbours[one])))
        labels = np.where(labels == gone, kept, labels)
        labels = np.where(labels > gone, labels - 1, labels)
    return labels


@shared
def _levels(X, features):
    """Cluster the features of a recording at all levels."""
    return cluster_levels(make_features(X, features))


def cluster_in_time(X, n_spans, n_labels, rng, kind, *, features, level=1):
    """TW-FINCH: as many clusters as labels, as in the paper; if that is not given, those of a level."""
    levels = _levels(X, features)
    if n_labels is not None:
        return refine(make_features(X, features), levels, n_labels)
    several = [labels for labels in levels if labels.max() > 0] or levels
    return several[-min(level, len(several))]


def cluster_spans(X, n_spans, n_labels, rng, kind, *, features):
    """TW-FINCH with as many clusters as spans; spans with similar means then share a label."""
    F = make_features(X, features)
    clusters = refine(F, _levels(X, features), n_spans)
    return join_spans(F, np.flatnonzero(np.diff(clusters)) + 1, n_labels)


def _variants():
    """Yield all variants; those at lower levels only if no number is given."""
    needs = ("scipy.sparse.csgraph",)
    for features in FEATURES:
        for level in LEVELS:
            name = f"TW-FINCH {features}" + (f", level {level}" if level > 1 else "")
            given = ("both", "subspaces", "nothing") if level == 1 else ("nothing",)
            run = partial(cluster_in_time, features=features, level=level)
            yield Method(name, "TW-FINCH", run, ("labels",), given, needs)
        run = partial(cluster_spans, features=features)
        yield Method(f"TW-FINCH {features}, spans joined", "TW-FINCH", run, NUMBERS, ("both",), needs)


METHODS = tuple(_variants())
