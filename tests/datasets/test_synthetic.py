"""The generators against the definitions in the paper: ranks, rotations, covariance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqspan.datasets import make_recurring_subspaces, make_subspaces
from seqspan.datasets.synthetic import _draw_rotation, correlated_coefficients


def projector(X, labels, subspace):
    """Projection onto the span of all samples of one subspace."""
    basis, sizes, _ = np.linalg.svd(X[:, labels == subspace], full_matrices=False)
    basis = basis[:, sizes > 1e-10 * sizes[0]]
    return basis @ basis.T


@pytest.mark.parametrize("n_samples", [1, 2, 5])
@pytest.mark.parametrize("mean", [0.0, 0.1])
def test_coefficients_have_the_tridiagonal_covariance_of_the_paper(n_samples, mean):
    rows = 400_000
    Q = correlated_coefficients(rows, n_samples, mean=mean, rng=n_samples)
    expected = 0.001 * np.eye(n_samples) + 0.0005 * (np.eye(n_samples, k=1) + np.eye(n_samples, k=-1))
    # An entry of the sample covariance has a standard deviation below 0.001 * sqrt(2 / rows) = 2.3e-6.
    np.testing.assert_allclose(np.atleast_2d(np.cov(Q.T)), expected, atol=1.2e-5)
    np.testing.assert_allclose(Q.mean(axis=0), mean, atol=5 * np.sqrt(0.001 / rows))


def test_coefficients_of_different_rows_are_independent():
    Q = correlated_coefficients(2, 400_000, mean=0, rng=1)
    assert abs(np.corrcoef(Q)[0, 1]) < 0.01  # 5 deviations; neighbours in time inflate 1/sqrt(n) to 0.002


@settings(max_examples=25, deadline=None)
@given(
    n_subspaces=st.integers(1, 6),
    dimension=st.integers(1, 5),
    extra=st.integers(0, 30),
    samples=st.integers(6, 12),
    seed=st.integers(0, 2**31),
)
def test_each_subspace_has_the_asked_dimension(n_subspaces, dimension, extra, samples, seed):
    X, labels = make_subspaces(n_subspaces, dimension, dimension + extra, samples, rng=seed)
    assert X.shape == (dimension + extra, n_subspaces * samples)
    np.testing.assert_array_equal(labels, np.repeat(np.arange(n_subspaces), samples))
    for subspace in range(n_subspaces):
        assert np.linalg.matrix_rank(X[:, labels == subspace], tol=1e-8) == dimension


def test_consecutive_bases_differ_by_one_and_the_same_rotation():
    X, labels = make_subspaces(4, 3, 30, 40, rng=3)
    P = [projector(X, labels, subspace) for subspace in range(4)]
    # Principal angles between neighbours U_i, T U_i don't depend on i when T is orthogonal.
    for lag in (1, 2):
        angles = [np.linalg.svd(first @ second)[1][:3] for first, second in zip(P, P[lag:], strict=False)]
        np.testing.assert_allclose(angles, [angles[0]] * len(angles), atol=1e-9)
    assert np.linalg.svd(P[0] @ P[1])[1][0] < 0.9  # and the rotation is far from the identity


@pytest.mark.parametrize("dimension", [1, 2, 3, 20])
def test_rotations_are_orthogonal_and_no_reflections(dimension):
    rng = np.random.default_rng(dimension)
    for _ in range(10):
        T = _draw_rotation(dimension, rng)
        np.testing.assert_allclose(T @ T.T, np.eye(dimension), atol=1e-12)
        assert np.linalg.det(T) == pytest.approx(1)


def test_rotations_are_equally_likely():
    rng, count = np.random.default_rng(0), 4000
    drawn = np.array([_draw_rotation(3, rng) for _ in range(count)])
    # every entry has mean zero and variance 1 / 3, and the trace mean zero and variance one
    np.testing.assert_allclose(drawn.mean(axis=0), 0, atol=4.5 / np.sqrt(3 * count))
    np.testing.assert_allclose(drawn.var(axis=0), 1 / 3, rtol=0.1)
    traces = np.trace(drawn, axis1=1, axis2=2)
    np.testing.assert_allclose([traces.mean(), traces.var()], [0, 1], atol=0.1)


def test_a_seed_draws_the_same_samples_with_any_version_of_numpy_and_scipy():
    X, _ = make_recurring_subspaces((0, 1, 2), 2, 5, 3, rng=1)
    first_of_each = [  # drawn with NumPy 2.4.6; 2.0.0 agrees
        [0.00560970903, -0.0851517931, -0.0592363025, 0.0717869811, -0.0188967126],
        [-0.0118745565, -0.0434992692, 0.0263334363, 0.0592096283, 0.100209443],
        [0.0153683783, -0.135959514, 0.00162971582, 0.00826315507, 0.0115440312],
    ]
    np.testing.assert_allclose(X[:, ::3].T, first_of_each, rtol=1e-7)


def test_unit_coefficients_are_kept_in_length_by_the_basis():
    X, _ = make_subspaces(2, 4, 50, 100_000, coefficient_mean=0.0, rng=0)
    # E ||U q||^2 = 4 * 0.001 for orthonormal U; the relative deviation of the mean is below 0.4 %.
    np.testing.assert_allclose(np.mean(np.sum(X**2, axis=0)), 0.004, rtol=0.02)


def test_a_recurring_subspace_is_the_same_subspace():
    X, labels = make_recurring_subspaces((0, 1, 0, 2), samples_per_span=(10, 7, 10, 9), rng=4)
    np.testing.assert_array_equal(labels, np.repeat([0, 1, 0, 2], [10, 7, 10, 9]))
    assert np.linalg.matrix_rank(X[:, labels == 0], tol=1e-8) == 4
    assert np.linalg.matrix_rank(X, tol=1e-8) == 12
    assert not np.allclose(X[:, :10], X[:, 17:27])  # other coefficients, though


def test_a_seed_repeats_and_a_generator_goes_on():
    first, again = (make_subspaces(2, rng=7)[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    rng = np.random.default_rng(7)
    np.testing.assert_array_equal(make_subspaces(2, rng=rng)[0], first)
    assert not np.allclose(make_subspaces(2, rng=rng)[0], first)


def test_a_line_in_a_line():
    X, labels = make_subspaces(2, 1, 1, 3, rng=0)
    assert X.shape == (1, 6)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_subspaces": 0}, "n_subspaces must be at least 1; got 0"),
        ({"dimension": 5, "ambient": 4}, r"dimension must be in \[1, 4\] for ambient=4; got 5"),
        ({"samples_per_subspace": 0}, "a positive int, or 5 of them for 5 spans; got 0"),
        ({"samples_per_subspace": [3, 4]}, r"5 of them for 5 spans; got \[3, 4\]"),
    ],
)
def test_bad_sizes_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_subspaces(**arguments)


@pytest.mark.parametrize("order", [(), (0, -1)])
def test_bad_order_is_named(order):
    with pytest.raises(ValueError, match="order must name at least one subspace"):
        make_recurring_subspaces(order)


def test_no_coefficients_is_refused():
    with pytest.raises(ValueError, match="got n_rows=0, n_samples=3"):
        correlated_coefficients(0, 3)
