"""Features against kernel PCA by the book, and what they must not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import cosine_similarity

from seqspan._core import kernels as kernels_module
from seqspan._core.threads import Team
from seqspan.cuts.ordered import features
from seqspan.cuts.ordered.features import (
    SampleFeatures,
    coefficient_features,
    count_label_features,
    sample_features,
)


def smooth_path(d, n, seed, width=5):
    """A random walk through space without corners: few components say nearly all."""
    return gaussian_filter1d(np.random.default_rng(seed).standard_normal((d, n)), width, axis=1)


def places_and_directions(X):
    """The kernel of samples: what they are and their direction, as far as noise lets it be known."""
    noise = np.median(np.sum(np.diff(X, axis=1) ** 2, axis=0)) / 2
    directions = X / np.sqrt(np.sum(X**2, axis=0) + noise)
    total = 0
    for view in (X, directions):
        distances = pdist(view.T, "sqeuclidean")
        total = total + distances / np.median(distances)
    return squareform(np.exp(-total / 2)) + np.eye(X.shape[1])


def absolute_cosines(Z):
    return np.abs(cosine_similarity(Z.T))


def by_the_book(kernel, count):
    """Components of kernel PCA, scaled to variance one."""
    Y = KernelPCA(count, kernel="precomputed", eigen_solver="dense").fit_transform(kernel)
    return Y / Y.std(axis=0)


def alignment(A, B):
    """Absolute correlation of each column of A with its column of B: 1 up to the sign."""
    return np.abs(np.sum(A * B, axis=0)) / len(A)


CASES = {
    "samples": (sample_features, places_and_directions),
    "coefficients": (coefficient_features, absolute_cosines),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("d", "n"), [(3, 40), (12, 90), (60, 25)])
def test_no_more_samples_than_anchors_give_kernel_pca_by_the_book(case, d, n):
    make, kernel = CASES[case]
    X = np.random.default_rng(d).standard_normal((d, n))
    Y = make(X, 6)
    assert Y.shape == (n, 6)
    np.testing.assert_allclose(alignment(Y, by_the_book(kernel(X), 6)), 1, atol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_single_precision_has_columns_of_mean_zero_to_rounding_of_double(case):
    Y = CASES[case][0](smooth_path(5, 3000, seed=0).astype(np.float32))
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n", [30, 171])
def test_columns_are_uncorrelated_of_mean_zero_and_variance_one(case, n):
    Y = CASES[case][0](smooth_path(5, n, seed=n))
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(Y.T @ Y / n, np.eye(Y.shape[1]), atol=1e-6)  # eigenvalues down to 1e-7


@pytest.mark.parametrize("case", CASES)
def test_fewer_anchors_than_samples_come_close(case, monkeypatch):
    make, kernel = CASES[case]
    X = smooth_path(6, 301, seed=0)
    exact = by_the_book(kernel(X), 5)
    monkeypatch.setattr(features, "N_ANCHORS", 100)
    Y = make(X, 10)
    assert Y.shape == (301, 10)
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(Y.std(axis=0), 1, atol=1e-9)
    # components of nearly the same variance mix, so all ten are asked for the first five
    missed = exact - Y @ np.linalg.lstsq(Y, exact)[0]
    assert missed.var(axis=0).max() < 0.01


@pytest.mark.parametrize("make", [sample_features, coefficient_features])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.0, 0.7])
def test_samples_that_are_all_the_same_have_one_feature_that_says_nothing(make, dtype, value):
    for n in (1, 2, 30):
        np.testing.assert_array_equal(make(np.full((4, n), value, dtype=dtype)), np.zeros((n, 1)))


def test_k_different_samples_have_k_minus_one_features():
    X = np.repeat(np.random.default_rng(0).standard_normal((5, 4)), 10, axis=1)
    Y = sample_features(X)
    assert Y.shape == (40, 3)
    assert np.ptp(Y.reshape(4, 10, 3), axis=1).max() < 1e-6  # the same for the ten copies


def test_columns_of_zeros_are_alike_and_unlike_all_others():
    Z = np.kron(np.eye(3), np.ones((10, 10)))
    Z[:, 10:20] = 0
    Y = coefficient_features(Z)
    assert np.isfinite(Y).all()
    assert np.ptp(Y.reshape(3, 10, -1), axis=1).max() < 1e-9
    first = Y[::10]
    assert min(np.linalg.norm(first[i] - first[j]) for i, j in ((0, 1), (1, 2), (0, 2))) > 1


@pytest.mark.parametrize("shift", [0.0, 300.0])
def test_single_precision_says_the_same_even_far_from_zero(shift):
    """300 is the temperature of a room in kelvin: distances must not drown in its square."""
    X = smooth_path(8, 120, seed=1)
    X /= X.std()
    single = (X + shift).astype(np.float32)
    Y = sample_features(single, 8)
    assert Y.dtype == np.float64
    assert alignment(Y, sample_features(single.astype(np.float64), 8)).min() > 1 - 1e-5


def test_coefficients_in_single_precision_say_the_same():
    Z = np.random.default_rng(2).standard_normal((50, 80)).astype(np.float32)
    assert alignment(coefficient_features(Z, 5), coefficient_features(Z.astype(float), 5)).min() > 1 - 1e-5


@pytest.mark.parametrize("scale", [7.0, 1e200, 1e-200])
def test_sample_features_know_neither_units_nor_axes(scale):
    X = smooth_path(6, 80, seed=3)
    rotation = np.linalg.qr(np.random.default_rng(3).standard_normal((6, 6)))[0]
    assert alignment(sample_features(X, 8), sample_features(scale * (rotation @ X), 8)).min() > 1 - 1e-8


def test_directions_tell_samples_apart_whatever_their_size():
    """Four minerals in light and in shadow."""
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(4), 20, axis=1) + 1e-3 * rng.standard_normal((4, 80))
    Y = sample_features(X * rng.lognormal(0, 0.5, 80), 3)
    within = np.mean([Y[start : start + 20].var(axis=0) for start in range(0, 80, 20)])
    assert within < 0.04  # 0.07 by distances alone


def test_samples_as_short_as_their_noise_have_hardly_a_direction():
    rng = np.random.default_rng(1)
    X = 0.05 * rng.standard_normal((20, 90))
    X[0, 30:60] += 3.0
    X[1, 60:] += 3.0
    assert sample_features(X, 2)[:30].std(axis=0).max() < 0.125  # 0.14 if all had norm one


def test_lengths_count_where_all_directions_are_the_same():
    X = np.outer([0.3, 0.4], np.repeat([1.0, 2.0], 20))
    Y = sample_features(X)
    assert Y.shape == (40, 1)
    np.testing.assert_allclose(np.abs(Y), 1, atol=1e-9)


def test_coefficient_features_know_only_lines():
    rng = np.random.default_rng(4)
    Z = rng.standard_normal((20, 60))
    scaled = Z * rng.uniform(0.1, 10, 60) * rng.choice([-1, 1], 60)
    assert alignment(coefficient_features(Z, 5), coefficient_features(scaled, 5)).min() > 1 - 1e-8


@pytest.mark.parametrize("make", [sample_features, coefficient_features])
def test_the_input_is_left_as_it_is(make):
    X = smooth_path(4, 50, seed=5)
    X.setflags(write=False)
    make(X)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
@pytest.mark.parametrize("n", [60, 1300])
def test_learned_features_are_those_of_the_samples_and_judge_others_one_by_one(n, scale):
    X = scale * smooth_path(4, n, seed=n)
    learned, Y = SampleFeatures.fit(X)
    np.testing.assert_array_equal(Y, sample_features(X))
    np.testing.assert_allclose(learned(X), Y, atol=1e-10)
    np.testing.assert_allclose(learned(X[:, 7:9]), Y[7:9], atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_learned_takes_no_more_room_than_the_samples(dtype):
    learned, _ = SampleFeatures.fit(smooth_path(4, 60, seed=8).astype(dtype))
    assert learned.components.projection.dtype == dtype


def test_equal_samples_have_a_learned_feature_too():
    learned, _ = SampleFeatures.fit(np.ones((3, 8)))
    np.testing.assert_array_equal(learned(2 * np.ones((3, 5))), np.zeros((5, 1)))


def test_noise_may_be_that_of_the_samples_in_between():
    X = smooth_path(4, 200, seed=0)
    whole = SampleFeatures.fit(X)[0]
    some = SampleFeatures.fit(X[:, ::2], noise=features.measure_noise(X))[0]
    shares = [each.noise * 4.0**each.exponent for each in (whole, some)]
    assert shares[0] == pytest.approx(shares[1])


def test_a_state_never_seen_before_differs_from_those_seen():
    rng = np.random.default_rng(0)
    X = (np.repeat(3 * rng.standard_normal((4, 6)) + 5, 60, axis=0) + 0.5 * rng.standard_normal((240, 6))).T
    learned, Y = SampleFeatures.fit(X)
    gaps = np.linalg.norm(Y.reshape(4, 60, -1).mean(axis=1) - learned(X[:, :60] + 40).mean(axis=0), axis=1)
    assert gaps.min() > 0.5


@pytest.mark.parametrize("X", [smooth_path(4, 60, seed=6), np.ones((3, 8))])
def test_learned_features_are_the_same_after_a_file(X, tmp_path):
    learned, Y = SampleFeatures.fit(X)
    np.savez(tmp_path / "features.npz", **learned.to_arrays())
    with np.load(tmp_path / "features.npz") as arrays:
        again = SampleFeatures.from_arrays(arrays)
    np.testing.assert_allclose(again(X), Y, atol=1e-10)
    for name in features.PARTS:  # numbers are numbers again
        kept, found = vars(getattr(learned, name)), vars(getattr(again, name))
        assert [type(value) for value in found.values()] == [type(value) for value in kept.values()]


@pytest.mark.parametrize("n_samples", [1, 40, 1300])
@pytest.mark.parametrize("make", [sample_features, coefficient_features])
def test_the_number_of_threads_does_not_matter(make, n_samples, monkeypatch):
    asked = []
    monkeypatch.setattr(kernels_module, "BLOCK_SAMPLES", 37)
    monkeypatch.setattr(features, "Team", lambda n_jobs: asked.append(n_jobs) or Team(n_jobs))
    X = np.random.default_rng(0).standard_normal((5, n_samples))
    alone, together = make(X, n_jobs=1), make(X, n_jobs=3)
    np.testing.assert_array_equal(alone, together)
    assert len(alone) == n_samples
    assert asked == [1, 1, 1, 3]  # eigenvectors take one, blocks of samples as many as are asked for


@pytest.mark.parametrize("make", [sample_features, coefficient_features])
def test_functions_are_of_the_library_that_arrays_are_of(make, monkeypatch):
    """On a GPU, NumPy's would copy them to the host, or fail."""

    def library(X):
        assert isinstance(X, np.ndarray)
        return np

    monkeypatch.setattr(features, "namespace", library)
    assert make(smooth_path(4, 50, seed=5), 3).shape == (50, 3)


@given(st.integers(0, 100))
def test_labels_have_as_many_features_as_samples_have_channels_within_limits(n_channels):
    assert count_label_features(n_channels) == sorted([8, n_channels, 32])[1]
