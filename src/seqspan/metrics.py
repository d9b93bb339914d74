"""Scores of a segmentation against the truth, and of noisy data against clean data.

See ``sklearn.metrics`` for others, such as the adjusted Rand index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.checks import check_choice
from seqspan._core.spans import boundaries_from_labels
from seqspan._core.types import Array, IntArray

__all__ = ["SegmentationScorer", "boundary_f1", "clustering_error", "covering", "psnr"]


def clustering_error(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> float:
    """Share of mislabelled samples, once predicted labels are matched to true ones in the best way (SCE).

    ``1 - max_pi |{i : pi(labels_pred_i) = labels_true_i}| / n`` over all injective maps pi between the two
    sets of labels. If their numbers differ, all samples of unmatched labels are errors.

    Parameters
    ----------
    labels_true, labels_pred : arrays of shape (n,)
        Numbers or strings. The two may use different values.

    Returns
    -------
    error : float
        In [0, 1): 0 for the same partition. Symmetric in its arguments.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Experimental Evaluation": SCE.

    Examples
    --------
    >>> clustering_error(["walk", "walk", "turn", "turn"], [1, 1, 0, 1])
    0.25
    """
    from scipy.optimize import linear_sum_assignment  # takes long to import

    true, pred = _checked_labels(labels_true, labels_pred)
    counts = _contingency(true, pred)
    matched = counts[linear_sum_assignment(counts, maximize=True)].sum()
    # In integers, so that a perfect match gives exactly 0.
    return float(true.size - matched) / true.size


def psnr(A: npt.ArrayLike, X: npt.ArrayLike, peak: float | None = None) -> float:
    """Peak signal-to-noise ratio of noisy data X against the clean A, in decibels.

    ``10 log10( s^2 / mean_ij (A_ij - X_ij)^2 )``, where s is the largest possible value in A.

    Parameters
    ----------
    A : array of shape (d, n)
        Clean data.
    X : array of shape (d, n)
        Noisy data.
    peak : float, optional
        s, if it is known, such as 255 for pixels; by default ``max |A_ij|``.

    Returns
    -------
    psnr : float
        Infinity if X equals A.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, Eq. PSNR.

    Examples
    --------
    >>> print(psnr([[1.0, 0.0]], [[1.1, 0.1]]).__round__(6))
    20.0
    """
    clean, noisy = (np.asarray(data, dtype=np.float64) for data in (A, X))
    if clean.shape != noisy.shape or clean.size == 0:
        raise ValueError(
            f"A and X must have the same shape and must not be empty; got {clean.shape}, {noisy.shape}."
        )
    if peak is None:
        peak = float(np.abs(clean).max())
    if not 0 < peak < np.inf:
        raise ValueError(f"peak must be positive and finite (by default max|A|); got {peak}.")
    error = float(np.mean((clean - noisy) ** 2))
    return float(10 * np.log10(peak**2 / error)) if error > 0 else np.inf


def covering(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> float:
    """How well the predicted spans cover the true ones.

    ``(1/n) sum_S |S| max_P |S & P| / |S | P|`` over the true spans S, each with the predicted span P that
    overlaps it best. A span is a maximal run of one label, so only boundaries count, not labels.

    Parameters
    ----------
    labels_true, labels_pred : arrays of shape (n,)
        Numbers or strings, in the order of time.

    Returns
    -------
    covering : float
        In (0, 1]; 1 only if all boundaries agree. Not symmetric.

    References
    ----------
    Arbelaez, Maire, Fowlkes & Malik, Contour Detection and Hierarchical Image Segmentation,
    IEEE PAMI 33 (2011), Eq. 8. For time series: van den Burg & Williams, arXiv:2003.06222.

    Examples
    --------
    >>> covering([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1])  # (4 * 3/4 + 2 * 2/3) / 6
    0.7222222222222222
    """
    true, pred = (_span_numbers(labels) for labels in _checked_labels(labels_true, labels_pred))
    sizes_true, sizes_pred = np.bincount(true), np.bincount(pred)
    # All boundaries together cut the samples into pieces, each inside one span of either side. Two spans
    # share at most one piece, so no table of all pairs is needed.
    pieces, overlap = np.unique(true + pred, return_index=True, return_counts=True)[1:]
    S, P = true[pieces], pred[pieces]
    best = np.zeros(len(sizes_true))
    np.maximum.at(best, S, overlap / (sizes_true[S] + sizes_pred[P] - overlap))
    return float(sizes_true @ best / true.size)


def boundary_f1(true: npt.ArrayLike, pred: npt.ArrayLike, *, margin: int = 0) -> float:
    """F1 score of predicted boundaries: those within a margin of a true boundary count as correct.

    ``2 M / (|true| + |pred|)``, where M is the largest number of pairs (t, p) with ``|t - p| <= margin`` in
    which no boundary occurs twice. It is the harmonic mean of precision ``M / |pred|`` and recall
    ``M / |true|``.

    Parameters
    ----------
    true, pred : arrays of int, shape (p,) and (q,)
        *Boundaries* (interior starts of spans) in any order, not labels. Duplicates are ignored.
    margin : int
        Largest distance in samples between a true boundary and a correct prediction.

    Returns
    -------
    f1 : float
        In [0, 1]; 1 if both are empty, 0 if only one is.

    References
    ----------
    Martin, Fowlkes & Malik, Learning to Detect Natural Image Boundaries, IEEE PAMI 26 (2004),
    Sec. 3.2: one-to-one matching of boundaries within a tolerance.

    Examples
    --------
    >>> boundary_f1([10, 20], [11, 12], margin=2)  # both are near 10, but only one counts
    0.5
    """
    if margin < 0:
        raise ValueError(f"margin must be a non-negative number of samples; got {margin}.")
    true, pred = _checked_boundaries("true", true), _checked_boundaries("pred", pred)
    total = len(true) + len(pred)
    return 2 * _count_matches(true, pred, margin) / total if total else 1.0


@dataclass(frozen=True)
class SegmentationScorer:
    """A scorer for ``GridSearchCV`` and ``cross_val_score``: how well each held-out block is segmented.

    A block is scored by fitting a copy of the estimator, with the same parameters, to the block itself; true
    labels are used for the score alone. Folds must keep the order of time, as scikit-learn's default does.
    One split that has all rows on both sides, ``cv=[(rows, rows)]``, scores the whole recording. To score
    instead how well ``predict`` finds the labels of the other blocks in this one, use a scorer of
    scikit-learn, such as ``"adjusted_rand_score"``.

    Parameters
    ----------
    metric : {"accuracy", "covering", "boundary_f1"}
        ``1 - clustering_error``, :func:`covering` or :func:`boundary_f1`; larger is better.
    margin : int
        For "boundary_f1": largest distance in samples between a true boundary and a correct one.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from seqspan import OSC
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(3, 2, 20, 10, rng=0)
    >>> rows = np.arange(30)
    >>> search = GridSearchCV(OSC(random_state=0), {"n_subspaces": [2, 3]},
    ...                       scoring=SegmentationScorer(), cv=[(rows, rows)])
    >>> search.fit(X.T, labels).best_params_
    {'n_subspaces': 3}
    """

    metric: str = "accuracy"
    margin: int = 0

    def __call__(self, estimator: Any, X: Any, y: npt.ArrayLike | None = None) -> float:
        """Score a fitted estimator, or a pipeline that ends with one, on samples X with true labels y."""
        check_choice("metric", self.metric, ("accuracy", "covering", "boundary_f1"))
        if y is None:
            raise ValueError("A score needs the true labels: pass them as y, search.fit(X, y).")
        from sklearn.base import clone  # takes longer to import than the rest of seqspan

        fitted = getattr(estimator, "segmentation_", None)
        if fitted is not None and np.array_equal(fitted.recording.X, X):
            labels = estimator.labels_
        else:
            labels = clone(estimator).fit_predict(X)
        if self.metric == "accuracy":
            return 1 - clustering_error(y, labels)
        if self.metric == "covering":
            return covering(y, labels)
        return boundary_f1(boundaries_from_labels(y), boundaries_from_labels(labels), margin=self.margin)


def _count_matches(true: Array, pred: Array, margin: int) -> int:
    """Size of the largest one-to-one matching of two sorted sets within the margin.

    Matching from left to right is optimal, because all margins have the same width.
    """
    matches, i, j = 0, 0, 0
    while i < len(true) and j < len(pred):
        if abs(true[i] - pred[j]) <= margin:
            matches, i, j = matches + 1, i + 1, j + 1
        elif true[i] < pred[j]:
            i += 1
        else:
            j += 1
    return matches


def _checked_boundaries(name: str, boundaries: npt.ArrayLike) -> Array:
    """Return sorted, distinct boundaries, or raise."""
    values = np.asarray(boundaries)
    if values.ndim != 1 or (values.size and not np.issubdtype(values.dtype, np.number)):
        raise ValueError(
            f"{name} must be a 1-D array of boundaries (numbers); got shape {values.shape}, {values.dtype}."
        )
    return np.unique(values).astype(np.float64)


def _checked_labels(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Return both arrays of labels as integers, or raise if their lengths differ."""
    true, pred = np.asarray(labels_true), np.asarray(labels_pred)
    if true.ndim != 1 or true.shape != pred.shape or true.size == 0:
        raise ValueError(
            f"labels_true and labels_pred must be 1-D arrays of the same length, and not empty; got shapes "
            f"{true.shape}, {pred.shape}."
        )
    numbers = [np.unique(labels, return_inverse=True)[1].astype(np.intp) for labels in (true, pred)]
    return numbers[0], numbers[1]


def _span_numbers(labels: IntArray) -> IntArray:
    """Number the spans: every sample gets the number of its run of equal labels."""
    return np.concatenate([[0], np.cumsum(np.diff(labels) != 0)]).astype(np.intp)


def _contingency(true: IntArray, pred: IntArray) -> IntArray:
    """Count the samples with each pair of labels, shape (n_true, n_pred)."""
    counts = np.zeros((true.max() + 1, pred.max() + 1), dtype=np.intp)
    np.add.at(counts, (true, pred), 1)
    return counts
