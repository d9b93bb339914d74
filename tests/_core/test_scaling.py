"""Samples of any size get unit norm and keep their direction; powers of two bring them into range."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqspan._core.scaling import (
    binary_exponent,
    binary_units,
    convert_precision,
    leave_headroom,
    scale_columns,
    scale_to_unit_norm,
    times_power_of_two,
)


@pytest.mark.parametrize("axis", [0, 1])
@given(X=arrays(float, (3, 5), elements=st.floats(-1e200, 1e200)))
def test_samples_become_unit_or_stay_zero(axis, X):
    norms = np.linalg.norm(scale_to_unit_norm(X, axis), axis=axis)
    np.testing.assert_allclose(norms, np.any(X != 0, axis=axis).astype(float), atol=1e-12)


@pytest.mark.parametrize(
    ("size", "dtype"), [(1e200, float), (1e-200, float), (1e20, np.float32), (1e-30, np.float32)]
)
def test_sizes_whose_squares_are_out_of_range_keep_direction_and_precision(size, dtype):
    X = np.array([[3, -4], [0, 0], [-5, -12]], dtype=dtype) * dtype(size)
    kept = X.copy()
    scaled = scale_to_unit_norm(X, axis=1)
    np.testing.assert_allclose(scaled, [[0.6, -0.8], [0, 0], [-5 / 13, -12 / 13]], rtol=1e-6)
    assert scaled.dtype == dtype
    np.testing.assert_array_equal(X, kept)


def test_columns_are_the_rows_of_the_transpose():
    X = np.random.default_rng(0).normal(size=(4, 7))
    np.testing.assert_array_equal(scale_columns(X), scale_to_unit_norm(X.T, axis=1).T)


def test_samples_without_features_stay():
    assert scale_to_unit_norm(np.empty((3, 0)), axis=1).shape == (3, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dividing_by_units_leaves_columns_between_one_and_two_without_rounding(dtype):
    limits = np.finfo(dtype)
    X = np.array([[limits.max, limits.tiny, -3.0, 0.0], [1.0, 0.0, 2.0, 0.0]], dtype)
    units = binary_units(X)
    largest = np.abs(X / units).max(axis=0)
    assert units.dtype == dtype
    assert np.all((largest[:3] >= 1) & (largest[:3] < 2))
    np.testing.assert_array_equal(X / units * units, X)


@given(number=st.floats(1e-300, 1e300))
def test_the_binary_exponent_brackets_the_largest_entry(number):
    exponent = binary_exponent(np.array([0.0, -number]))
    assert 2.0**exponent <= number < 2.0 ** (exponent + 1)


def test_powers_of_two_beyond_the_range_of_floats():
    assert times_power_of_two(1e-300, 1990) == pytest.approx(1e-300 * 2.0**995 * 2.0**995)
    assert times_power_of_two(1.0, 5000) == np.inf
    assert times_power_of_two(1.0, -5000) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_only_the_largest_floats_need_headroom(dtype):
    small, large = np.array([1e20, -1], dtype), np.array([np.finfo(dtype).max, 1], dtype)
    assert leave_headroom(small) is small
    np.testing.assert_array_equal(leave_headroom(large) * dtype(2**32), large)
    assert np.isfinite(1e6 * leave_headroom(large)).all()
    assert leave_headroom(np.array([2**62])).tolist() == [2**62]


@pytest.mark.parametrize(("size", "word"), [(1e39, "large as 1e[+]39"), (1e-39, "small as 1e-39")])
def test_a_precision_that_cannot_hold_the_samples_is_refused(size, word):
    with pytest.raises(ValueError, match=f"float32 cannot hold samples as {word}"):
        convert_precision(np.array([size, 0.0]), "float32")


def test_other_samples_are_converted():
    assert convert_precision(np.array([1e-60, 2.0]), "float32").tolist() == [0, 2]
    assert convert_precision(np.zeros(2), "float32").dtype == np.float32
