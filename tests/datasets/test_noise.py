"""Noise hits its level in every draw, measured by a formula of the test's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan.datasets import add_noise

A = np.linspace(-3, 1.5, 40).reshape(4, 10)


@given(level=st.floats(-20, 80), seed=st.integers(0, 2**31))
def test_the_requested_ratio_is_realised_exactly(level, seed):
    X = add_noise(A, level, rng=seed)
    realised = 10 * np.log10(3.0**2 / np.mean((X - A) ** 2))
    assert realised == pytest.approx(level, abs=1e-9)  # rounding of A + noise at 80 dB


@pytest.mark.parametrize("level", [None, np.inf])
def test_no_noise_is_a_copy(level):
    X = add_noise(A, level, rng=0)
    np.testing.assert_array_equal(X, A)
    assert not np.shares_memory(X, A)


def test_noise_is_gaussian_and_independent_of_place():
    X = add_noise(np.ones((200, 500)), 0, rng=1)
    noise = X - 1
    assert abs(noise.mean()) < 5 / np.sqrt(noise.size)
    assert np.mean(noise**4) == pytest.approx(3, abs=5 * np.sqrt(96 / noise.size))  # Gaussian kurtosis
    assert abs(np.mean(noise[:, 1:] * noise[:, :-1])) < 5 / np.sqrt(noise.size)


def test_precision_and_the_input_are_kept():
    for dtype, expected in ((np.float32, np.float32), (np.int64, np.float64), (np.uint8, np.float64)):
        clean = np.arange(6, dtype=dtype).reshape(2, 3)
        clean.setflags(write=False)
        assert add_noise(clean, 10, rng=0).dtype == expected
    first, again = (add_noise(A, 10, rng=3) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize(
    ("clean", "level", "message"),
    [
        (A, np.nan, "got psnr=nan"),
        (A, -np.inf, "got psnr=-inf"),
        (np.zeros((2, 2)), 10, r"max\|A\|=0.0"),
        (np.array([[np.inf]]), 10, r"max\|A\|=inf"),
    ],
)
def test_what_cannot_be_is_named(clean, level, message):
    with pytest.raises(ValueError, match=message):
        add_noise(clean, level, rng=0)
