"""What the peers share: features, labels for spans, and numbers chosen without the truth.

Nothing here imports seqspan, because peers may have their own environment.
"""

from __future__ import annotations

import numpy as np

from benchmarks.quality.methods import Answer

FEATURES = ("raw", "unit", "standardised")
MAX_SILHOUETTE = 1000  # samples, evenly spaced, for which the silhouette is computed
MAX_LABELS = 12  # largest number considered if it is not given


def make_features(X: np.ndarray, how: str) -> np.ndarray:
    """Return rows as they are, with unit norm, or standardised; rotated if features outnumber samples.

    The rotation keeps all inner products, so kernel methods are not affected. Constant features are dropped.
    """
    X = np.asarray(X, dtype=float)
    if how == "unit":
        X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    elif how == "standardised":
        spread = X.std(axis=0)
        varies = spread > 1e-9 * max(spread.max(), 1e-300)
        X = (X[:, varies] - X[:, varies].mean(axis=0)) / spread[varies]
    elif how != "raw":
        raise ValueError(f"features must be one of {', '.join(FEATURES)}; got {how!r}.")
    return rotate(X) if X.shape[1] > X.shape[0] else X


def rotate(X: np.ndarray) -> np.ndarray:
    """Return coordinates of the rows in the space they span: the same inner products, fewer features."""
    values, vectors = np.linalg.eigh(X @ X.T)
    kept = values > 1e-12 * values[-1]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def principal(X: np.ndarray, how: str, n_dims: int) -> np.ndarray:
    """Return the first principal components, scaled by one number to a total variance of one."""
    F = make_features(X, how)
    F = F - F.mean(axis=0)
    left, sizes, _ = np.linalg.svd(F, full_matrices=False)
    scores = (left * sizes)[:, :n_dims]
    return np.asarray(scores / max(scores.std(), 1e-12))


def embed(F: np.ndarray, length: int) -> np.ndarray:
    """Put each row beside its neighbours in time, `length` rows in total; the ends are repeated."""
    half = length // 2
    padded = np.pad(F, ((half, length - 1 - half), (0, 0)), mode="edge")
    return np.concatenate([padded[lag : lag + len(F)] for lag in range(length)], axis=1)


def number_spans(boundaries: np.ndarray, n_samples: int) -> np.ndarray:
    """Number the spans: 0 up to the first boundary, then 1, and so on."""
    return np.searchsorted(np.asarray(boundaries), np.arange(n_samples), side="right")


def join_spans(F: np.ndarray, boundaries: np.ndarray, n_labels: int | None) -> Answer:
    """Give spans with similar means one label, by average linkage; the silhouette can choose the number.

    Neighbours with one label stay two spans: the search said that something changes there.
    """
    boundaries = np.asarray(boundaries, dtype=int)
    return Answer(_join_spans(F, boundaries, n_labels), boundaries)


def _join_spans(F: np.ndarray, boundaries: np.ndarray, n_labels: int | None) -> np.ndarray:
    """Label the samples."""
    from scipy.cluster.hierarchy import cut_tree, linkage  # old versions' fcluster gives too few clusters

    spans = number_spans(boundaries, len(F))
    n_spans = spans[-1] + 1
    if n_spans <= (2 if n_labels is None else n_labels):
        return spans
    means = np.stack([F[spans == span].mean(axis=0) for span in range(n_spans)])
    tree = linkage(means, "average")
    if n_labels is not None:
        return np.asarray(cut_tree(tree, n_labels)[spans, 0])
    options = [cut_tree(tree, number)[spans, 0] for number in range(2, min(n_spans, MAX_LABELS) + 1)]
    return best_silhouette(F, [*options, spans])


def best_silhouette(F: np.ndarray, options: list[np.ndarray]) -> np.ndarray:
    """Return the labels with the best silhouette on at most 1000 evenly spaced samples."""
    from sklearn.metrics import pairwise_distances, silhouette_score

    picked = np.unique(np.linspace(0, len(F) - 1, min(len(F), MAX_SILHOUETTE)).astype(int))
    distances = pairwise_distances(F[picked])
    np.fill_diagonal(distances, 0)

    def score(labels: np.ndarray) -> float:
        n_labels = len(np.unique(labels[picked]))
        if not 2 <= n_labels < len(picked):
            return -1.0
        return float(silhouette_score(distances, labels[picked], metric="precomputed"))

    return max(options, key=score)


def slope_heuristic(costs: np.ndarray, n_samples: int, multiple: float = 2) -> int:
    """Return the number of spans from the slope of the costs of 1, 2, ... spans.

    Arlot, Celisse & Harchaoui, A Kernel Multiple Change-point Algorithm via Model Selection, JMLR 20 (2019),
    Sec. 6.2: s1 log binom(n - 1, D - 1) + s2 D is fitted to the costs of many spans; the penalty is a
    multiple of that, twice in the paper.
    """
    from scipy.special import gammaln

    D = np.arange(1, len(costs) + 1)
    log_binomial = gammaln(n_samples) - gammaln(D) - gammaln(n_samples - D + 1)
    shape = np.stack([log_binomial, D, np.ones(len(D))], axis=1)
    many = 0.6 * D[-1] <= D
    slopes = np.linalg.lstsq(shape[many], costs[many], rcond=None)[0]
    return int(D[np.argmin(costs - multiple * shape[:, :2] @ slopes[:2])])
