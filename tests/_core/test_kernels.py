"""Kernels: features whose inner products are the kernel, and estimators that see what no line shows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel, rbf_kernel

from seqspan import OSC, SSC, SpatSC, pipeline
from seqspan._core import kernels
from seqspan._core.kernels import (
    check_kernel,
    kernel_map,
    median_distance,
    spread_anchors,
    squared_distances,
)
from seqspan.datasets import make_subspaces
from seqspan.metrics import clustering_error

COUPLED = pytest.mark.parametrize("Estimator", [OSC, SpatSC])


def draw(d: int, n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((d, n))


def inner(A, B):
    return A.T @ B


def squared(A, B):
    return (A.T @ B + 1) ** 2


@given(n=st.integers(2, 25), d=st.integers(1, 4), degree=st.integers(1, 3), seed=st.integers(0, 99))
def test_inner_products_are_a_polynomial_kernel(n, d, degree, seed):
    X = draw(d, n, seed)
    wanted = polynomial_kernel(X.T, degree=degree, gamma=1.0, coef0=1.0)
    Y = kernel_map(X, lambda A, B: (A.T @ B + 1) ** degree)
    # eigenvalues below a millionth of the largest are left out
    np.testing.assert_allclose(Y.T @ Y, wanted, atol=1e-5 * np.linalg.norm(wanted))


@given(n=st.integers(2, 25), d=st.integers(1, 4), scale=st.floats(1e-3, 1e3), seed=st.integers(0, 99))
def test_rbf_is_as_wide_as_samples_are_apart(n, d, scale, seed):
    X = scale * draw(d, n, seed)
    wanted = rbf_kernel(X.T, gamma=1 / np.median(pdist(X.T, "sqeuclidean")))
    Y = kernel_map(X, "rbf")
    np.testing.assert_allclose(Y.T @ Y, wanted, atol=1e-5 * n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rbf_knows_distances_far_from_zero(dtype):
    """300 is room temperature in kelvin: distances must not drown in its square."""
    X = draw(3, 40).astype(dtype)
    near, far = kernel_map(X, "rbf"), kernel_map(X + dtype(300), "rbf")
    np.testing.assert_allclose(far.T @ far, near.T @ near, atol=1e-3)


@pytest.mark.parametrize("shift", [1e3, 1e5])
def test_rbf_in_single_precision_far_from_zero_equals_double_precision(shift):
    X = (draw(3, 40) + shift).astype(np.float32)
    Y = kernel_map(X, "rbf").astype(float)
    exact = X.T.astype(float)
    wanted = rbf_kernel(exact - exact.mean(axis=0), gamma=1 / np.median(pdist(exact, "sqeuclidean")))
    np.testing.assert_allclose(Y.T @ Y, wanted, atol=1e-4)  # eigenvalues below 1e-6 of the largest are out


@pytest.mark.parametrize("kernel", ["rbf", "cosine"])
@pytest.mark.parametrize(
    ("dtype", "scale"), [(np.float64, 1e300), (np.float64, 1e-300), (np.float32, 1e37), (np.float32, 1e-37)]
)
def test_kernels_of_samples_of_any_size(kernel, dtype, scale):
    X = draw(3, 30)
    plain, scaled = kernel_map(X, kernel), kernel_map((scale * X).astype(dtype), kernel)
    assert scaled.dtype == dtype
    np.testing.assert_allclose(scaled.T @ scaled, plain.T @ plain, atol=1e-5)


def test_a_kernel_whose_features_leave_the_precision_of_the_samples_is_refused():
    X = draw(3, 8).astype(np.float32)
    with pytest.raises(ValueError, match="float32 cannot hold"):
        kernel_map(X, lambda A, B: 1e100 * (A.T.astype(float) @ B))


def test_rbf_of_samples_that_are_all_alike_is_one():
    Y = kernel_map(np.ones((3, 6)), "rbf")
    np.testing.assert_allclose(Y.T @ Y, np.ones((6, 6)))


def test_cosine_is_normalising_and_linear_is_nothing():
    X = draw(4, 15)
    Y = kernel_map(X, "cosine")
    np.testing.assert_allclose(Y, X / np.linalg.norm(X, axis=0))
    np.testing.assert_allclose(Y.T @ Y, cosine_similarity(X.T))
    np.testing.assert_array_equal(kernel_map(X, "linear"), X)


@pytest.mark.parametrize("kernel", ["cosine", "rbf", squared])
def test_samples_stay_as_they_were_and_keep_their_precision(kernel):
    X = draw(4, 15).astype(np.float32)
    before = X.copy()
    X.setflags(write=False)
    Y = kernel_map(X, kernel)
    assert Y.dtype == np.float32
    assert Y.flags.c_contiguous
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("kernel", ["rbf", squared])
def test_many_samples_are_mapped_by_some_of_them(monkeypatch, kernel):
    t = np.linspace(0, 6, 301)
    X = np.stack([np.cos(t), np.sin(2 * t), np.cos(3 * t)]) + 0.01 * draw(3, 301)
    exact = kernel_map(X, kernel)
    monkeypatch.setattr(kernels, "MAX_ANCHORS", 60)
    near = kernel_map(X, kernel)
    assert near.shape[0] <= 60
    wanted = exact.T @ exact
    assert np.linalg.norm(near.T @ near - wanted) < 0.01 * np.linalg.norm(wanted)
    # samples are spread over the whole sequence: a half would not do
    half = kernel_map(X[:, :150], kernel)
    assert half.shape[0] <= 60


def test_only_the_values_with_some_samples_are_asked_for(monkeypatch):
    monkeypatch.setattr(kernels, "MAX_ANCHORS", 20)
    asked = []

    def spy(A, B):
        asked.append((A.shape, B.shape))
        return A.T @ B

    kernel_map(draw(3, 100), spy)
    assert asked == [((3, 20), (3, 20)), ((3, 20), (3, 100))]


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            lambda A, B: A @ B.T,
            r"must return values of shape \(9, 9\) for 9 and 9 samples; got shape \(3, 3\)",
        ),
        (lambda A, B: 1.0, r"got shape \(\)"),
        (
            lambda A, B: np.full((A.shape[1], B.shape[1]), np.nan),
            "finite values; got 81 of 81 values that are infinite or NaN",
        ),
        (lambda A, B: np.where(np.eye(A.shape[1]) > 0, np.inf, 0), "finite values; got 9 of 81"),
        (lambda A, B: -(A.T @ B), "no negative eigenvalues; got -"),
        (lambda A, B: np.tanh(3 * A.T @ B - 1), "no negative eigenvalues"),
        (lambda A, B: A.T @ np.diag([1, 2, 3]) @ np.roll(B, 1, axis=0), "must be symmetric; got values that"),
    ],
)
def test_what_is_no_kernel_is_refused(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel_map(draw(3, 9), kernel)


def test_values_with_all_samples_are_checked_too(monkeypatch):
    monkeypatch.setattr(kernels, "MAX_ANCHORS", 9)

    def square_only(A, B):
        return A.T @ A

    def wrong_beyond(A, B):
        return np.where(np.arange(B.shape[1]) < 9, A.T @ B, np.nan)

    with pytest.raises(ValueError, match=r"shape \(9, 30\) for 9 and 30 samples; got shape \(9, 9\)"):
        kernel_map(draw(3, 30), square_only)
    with pytest.raises(ValueError, match=r"finite values; got 189 of 270"):
        kernel_map(draw(3, 30), wrong_beyond)


@pytest.mark.parametrize("n", [1, 2, 7, 999, 1000, 1001, 2500])
def test_anchors_are_spread_evenly_from_the_first_to_the_last(n):
    anchors = spread_anchors(n, 1000)
    assert len(anchors) == min(n, 1000)
    assert (anchors[0], anchors[-1]) == (0, n - 1)
    gaps = np.diff(anchors)
    assert n == 1 or (gaps.min() >= 1 and gaps.max() - gaps.min() <= 1)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-10), (np.float32, 1e-3)])
@pytest.mark.parametrize("shift", [0.0, 300.0])
def test_squared_distances_even_far_from_zero(dtype, rtol, shift):
    X = (draw(4, 30) + shift).astype(dtype)
    anchors = np.array([0, 7, 29])
    found = squared_distances(X, anchors)
    assert found.dtype == dtype
    assert found.min() >= 0
    expected = cdist(X.T.astype(float), X.T[anchors].astype(float), "sqeuclidean")
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)


def test_the_median_distance_leaves_out_samples_that_are_the_same():
    X, anchors = np.array([[0.0, 0.0, 1.0, 3.0, 100.0]]), np.array([0, 1, 2, 3])
    distances = squared_distances(X, anchors)
    assert median_distance(distances, anchors, 1e-7) == pytest.approx(np.median([1, 1, 9, 9, 4]))
    assert median_distance(distances, anchors, 0.2) == pytest.approx(np.median([9, 9, 4]))
    assert median_distance(distances[:, :2], anchors[:2], 1e-7) == 1
    assert median_distance(np.zeros((1, 1)), np.array([0]), 1e-7) == 1


@pytest.mark.parametrize("kernel", ["poly", None, 3])
def test_other_names_are_refused(kernel):
    with pytest.raises(ValueError, match="kernel must be one of 'linear', 'cosine', 'rbf'; got"):
        check_kernel(kernel)
    with pytest.raises(ValueError, match="kernel must be one of"):
        OSC(kernel=kernel).fit(draw(10, 4))


# ---- estimators


def rings(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on a small ring, a large one, and the small one again, at any angle: all in one plane."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 0], [20, 25, 15])
    radius = np.array([1.0, 2.0])[labels] + 0.05 * rng.standard_normal(60)
    angle = rng.uniform(0, 2 * np.pi, 60)
    return (radius * np.stack([np.cos(angle), np.sin(angle)])).T, labels


def same_radius(A, B):
    apart = np.linalg.norm(A, axis=0)[:, None] - np.linalg.norm(B, axis=0)
    return np.exp(-5 * apart**2)


@COUPLED
@pytest.mark.parametrize(("cut", "seed"), [("ncut", 0), ("ncut", 1), ("ordered", 2)])
def test_a_kernel_of_one_s_own_finds_rings_that_no_subspace_shows(Estimator, cut, seed):
    X, labels = rings(seed)
    own = Estimator(n_subspaces=2, normalize=False, random_state=0, kernel=same_radius, cut=cut).fit(X)
    assert clustering_error(labels, own.labels_) == 0
    assert own.boundaries_.tolist() == [20, 45]
    linear = Estimator(n_subspaces=2, random_state=0).fit(X)
    assert clustering_error(labels, linear.labels_) > 0.2


@COUPLED
def test_the_inner_product_as_a_kernel_changes_nothing(Estimator):
    X, _ = make_subspaces(3, 2, 20, 12, rng=7)
    plain = Estimator(3, tol=1e-6, random_state=0).fit(X.T)
    mapped = Estimator(3, tol=1e-6, random_state=0, kernel=inner).fit(X.T)
    assert mapped.objective_ == pytest.approx(plain.objective_, rel=1e-5)
    np.testing.assert_array_equal(mapped.labels_, plain.labels_)


def test_cosine_without_normalising_is_normalising():
    X, _ = make_subspaces(3, 2, 20, 12, rng=7)
    X *= np.random.default_rng(0).uniform(0.5, 3, X.shape[1])
    plain = OSC(3, random_state=0).fit(X.T)
    cosine = OSC(3, random_state=0, normalize=False, kernel="cosine").fit(X.T)
    np.testing.assert_allclose(cosine.coef_, plain.coef_)


def test_rbf_is_what_the_models_minimise_on():
    X, _ = make_subspaces(3, 2, 20, 12, rng=7)
    osc = OSC(3, kernel="rbf", normalize=False, tol=1e-5, random_state=0, lambda_1=0.1, lambda_2=0.5).fit(X.T)
    K = rbf_kernel(X.T, gamma=1 / np.median(pdist(X.T, "sqeuclidean")))
    Z = osc.coef_
    # ||Y - YZ||^2 through the kernel alone
    fit = np.trace(K - 2 * K @ Z + Z.T @ K @ Z) / 2
    change = np.linalg.norm(np.diff(Z, axis=1), axis=0).sum()
    assert osc.objective_ == pytest.approx(fit + 0.1 * np.abs(Z).sum() + 0.5 * change, rel=1e-5)


def test_weights_by_themselves_are_those_of_the_kernel():
    X, labels = rings(0)
    osc = OSC(2, lambda_1="auto", lambda_2="auto", normalize=False, kernel=lambda A, B: 9 * same_radius(A, B))
    assert osc.fit(X).lambda_1_ == pytest.approx(0.9)
    assert clustering_error(labels, osc.labels_) == 0


@COUPLED
def test_a_kernel_of_zeros_is_segmented_all_the_same(Estimator):
    fitted = Estimator(kernel=lambda A, B: np.zeros((A.shape[1], B.shape[1]))).fit(draw(10, 4))
    assert np.all(fitted.coef_ == 0)
    assert fitted.labels_.shape == (10,)


@COUPLED
@pytest.mark.parametrize("kernel", ["cosine", "rbf", squared])
def test_landmarks_and_kernels_are_not_for_each_other(Estimator, kernel):
    X = draw(30, 4)
    with pytest.raises(ValueError, match=r"dictionary='landmarks' is for .* kernel='linear'; got"):
        Estimator(2, kernel=kernel, dictionary="landmarks", n_landmarks=10).fit(X)


def test_samples_are_the_atoms_of_a_long_sequence_with_a_kernel(monkeypatch):
    monkeypatch.setattr(pipeline, "MAX_FULL_SAMPLES", 20)
    X = draw(30, 4)
    assert OSC(2, kernel="rbf", dictionary="auto").fit(X).dictionary_ == "samples"
    with pytest.warns(UserWarning, match="30 samples are represented by 10 landmarks"):
        assert OSC(2, dictionary="auto", n_landmarks=10).fit(X).dictionary_ == "landmarks"


def test_models_that_are_not_coupled_have_no_kernel():
    with pytest.raises(TypeError, match="kernel"):
        SSC(kernel="rbf")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ulps", [0, 1])
def test_samples_that_are_equal_but_for_rounding(dtype, ulps):
    """Their distances are rounding and say nothing about the width: the kernel is one everywhere."""
    X = np.full((38, 44), 1 / np.sqrt(38), dtype=dtype)
    X[:, ::2] += ulps * np.spacing(X[0, 0])
    Y = kernel_map(X, "rbf")
    np.testing.assert_allclose(Y.T @ Y, 1, atol=1e-5)
