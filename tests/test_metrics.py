"""The scores against brute force and closed forms."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator

from seqspan.metrics import SegmentationScorer, boundary_f1, clustering_error, covering, psnr

labellings = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
    )
)
boundary_sets = st.sets(st.integers(1, 40), max_size=8)


def brute_force_error(true, pred):
    """Fewest errors over all ways to rename the predicted labels to five names."""
    return min(
        np.mean([name[p] != t for t, p in zip(true, pred, strict=True)]) for name in permutations(range(5))
    )


@given(pair=labellings)
def test_clustering_error_is_the_smallest_over_all_renamings(pair):
    true, pred = pair
    assert clustering_error(true, pred) == pytest.approx(brute_force_error(true, pred), abs=1e-12)
    assert clustering_error(pred, true) == clustering_error(true, pred)


@given(labels=st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_clustering_error_ignores_names_and_their_kind(labels):
    words = [f"action {7 - label}" for label in labels]
    assert clustering_error(labels, words) == 0.0


@pytest.mark.parametrize(
    ("true", "pred", "error"),
    [
        ([0, 0, 1, 1], [0, 0, 0, 0], 0.5),  # one cluster is missing
        ([0, 0, 0, 0], [0, 1, 2, 3], 0.75),  # three too many
        ([0, 0, 1, 1, 2, 2], [5, 5, 5, 3, 3, 3], 2 / 6),
    ],
)
def test_clustering_error_with_unequal_numbers_of_clusters(true, pred, error):
    assert clustering_error(true, pred) == pytest.approx(error)


def test_psnr_of_a_constant_error():
    A = np.array([[0.0, 10.0], [-20.0, 5.0]])
    assert psnr(A, A + 2) == pytest.approx(20.0)  # (20 / 2)^2 = 100
    assert psnr(A, A - 2, peak=200) == pytest.approx(40.0)
    assert psnr(A, A) == np.inf


def test_psnr_of_bytes_does_not_wrap_around():
    A = np.array([[250, 5]], dtype=np.uint8)
    X = np.array([[233, 22]], dtype=np.uint8)  # 17 off, and 17^2 exceeds a byte
    assert psnr(A, X, peak=255) == pytest.approx(20 * np.log10(255 / 17))
    A = np.array([[-128, 5]], dtype=np.int8)  # whose largest magnitude isn't a signed byte
    assert psnr(A, np.array([[-127, 4]])) == pytest.approx(20 * np.log10(128))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_psnr_does_not_depend_on_the_unit(scale):
    A = scale * np.array([[0.0, 0.5, -1.0]])
    assert psnr(A, A + 0.1 * scale) == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("A", "X", "message"),
    [
        (np.ones((2, 3)), np.ones((3, 2)), r"same shape.*got \(2, 3\), \(3, 2\)"),
        (np.ones((0, 3)), np.ones((0, 3)), "must not be empty"),
        (np.zeros((2, 2)), np.ones((2, 2)), r"peak must be positive.*got 0\.0"),
    ],
)
def test_psnr_names_what_is_wrong(A, X, message):
    with pytest.raises(ValueError, match=message):
        psnr(A, X)


@pytest.mark.parametrize("peak", [0.0, -1.0, np.inf, np.nan])
def test_psnr_needs_a_peak_to_compare_with(peak):
    with pytest.raises(ValueError, match=rf"positive and finite \(by default max\|A\|\); got {peak}"):
        psnr(np.ones((1, 2)), np.zeros((1, 2)), peak=peak)


def spans(labels):
    """The maximal runs as sets of indices, by a plain loop."""
    runs = [{0}]
    for t in range(1, len(labels)):
        if labels[t] == labels[t - 1]:
            runs[-1].add(t)
        else:
            runs.append({t})
    return runs


@given(pair=labellings)
def test_covering_is_the_sum_over_sets(pair):
    true, pred = pair
    expected = sum(len(S) * max(len(S & P) / len(S | P) for P in spans(pred)) for S in spans(true)) / len(
        true
    )
    assert covering(true, pred) == pytest.approx(expected)


def test_covering_sees_spans_not_names():
    assert covering(list("aabbcc"), list("aabbaa")) == 1.0
    assert covering([0] * 6, [0, 0, 0, 1, 0, 0]) == pytest.approx(0.5)


@given(true=boundary_sets, pred=boundary_sets, margin=st.integers(0, 6))
def test_boundary_f1_has_the_largest_matching(true, pred, margin):
    near = np.array([[abs(t - p) <= margin for p in pred] for t in true]).reshape(len(true), len(pred))
    matches = near[linear_sum_assignment(near, maximize=True)].sum()
    expected = 2 * matches / (len(true) + len(pred)) if true or pred else 1.0
    assert boundary_f1(list(true), list(pred), margin=margin) == pytest.approx(expected)


def test_boundary_f1_conventions():
    assert boundary_f1([], []) == 1.0
    assert boundary_f1([3], []) == 0.0
    assert boundary_f1([], [3]) == 0.0
    assert boundary_f1([5, 5], [5]) == 1.0
    assert boundary_f1([5], [6]) == 0.0  # only the very sample counts unless a margin is given
    assert boundary_f1(np.array([9, 3], dtype=np.uint8), [3, 9]) == 1.0


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="margin must be a non-negative number of samples; got -1"):
        boundary_f1([1], [1], margin=-1)
    with pytest.raises(ValueError, match=r"^pred must be a 1-D array of boundaries.*got shape \(1,\), <U4"):
        boundary_f1([1], ["walk"])
    with pytest.raises(ValueError, match=r"^true must be a 1-D array of boundaries.*got shape \(1, 2\), int"):
        boundary_f1([[1, 2]], [1])
    for score in (clustering_error, covering):
        with pytest.raises(ValueError, match=r"1-D arrays of the same length.*got shapes \(2,\), \(3,\)"):
            score([0, 1], [0, 1, 1])
        with pytest.raises(ValueError, match="and not empty"):
            score([], [])


class Halves(BaseEstimator):
    """Stands in for an estimator: two spans of equal length, whatever the samples."""

    def __init__(self, n_fits=None):
        self.n_fits = n_fits

    def fit(self, X):
        self.n_fits.append(len(X))
        self.labels_ = np.repeat([0, 1], [len(X) // 2, len(X) - len(X) // 2])
        self.segmentation_ = SimpleNamespace(recording=SimpleNamespace(X=X))
        return self

    def fit_predict(self, X):
        return self.fit(X).labels_


class Shared(list):
    """A list that clones of an estimator share."""

    def __deepcopy__(self, memo):
        return self


TRUTH = np.repeat([3, 7], [4, 6])
SCORES = {"accuracy": 0.9, "covering": covering(TRUTH, np.repeat([0, 1], 5)), "boundary_f1": 0.0}


@pytest.mark.parametrize("metric", SCORES)
def test_a_scorer_scores_a_fit_of_the_block_itself(metric):
    fits, X = Shared(), np.arange(20.0).reshape(10, 2)
    for estimator in (Halves(fits), Halves(fits).fit(X + 1), Halves(fits).fit(X)):
        assert SegmentationScorer(metric)(estimator, X, TRUTH) == pytest.approx(SCORES[metric])
    assert len(fits) == 4  # the last has seen these samples, and is not fitted again


def test_the_margin_of_a_scorer_is_that_of_boundaries():
    X = np.zeros((10, 2))
    assert SegmentationScorer("boundary_f1", margin=1)(Halves(Shared()), X, TRUTH) == 1
    with pytest.raises(ValueError, match="metric must be one of 'accuracy', 'covering', 'boundary_f1'"):
        SegmentationScorer("rand")(Halves(Shared()), X, TRUTH)
    with pytest.raises(ValueError, match="needs the true labels"):
        SegmentationScorer()(Halves(Shared()), X)
