"""Samples of any size get unit norm and keep their direction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqspan._core.scaling import scale_columns, scale_to_unit_norm


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
