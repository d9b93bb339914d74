"""Surrogates have the spectra of the recording, and nothing else of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan.cuts.ordered.surrogates import draw_surrogate


def draw(rows, seed=0):
    return draw_surrogate(rows, np.random.default_rng(seed))


def smooth_walk(n, p, seed=0):
    return np.cumsum(np.random.default_rng(seed).standard_normal((n, p)), axis=0)


@pytest.mark.parametrize("frequency", [1, 4, 19])
def test_a_wave_stays_a_wave_of_its_frequency_and_height(frequency):
    """A cosine that continues smoothly into its mirror image is a single line of the mirrored spectrum."""
    n = 20
    angles = np.pi * frequency * (np.arange(n) + 0.5) / n
    drawn = draw(5 + 3 * np.cos(angles)[:, None], seed=frequency)[:, 0]
    waves = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    heights, missed, *_ = np.linalg.lstsq(waves, drawn - 5)
    assert missed[0] < 1e-20
    assert np.linalg.norm(heights) == pytest.approx(3)
    assert not np.allclose(heights, [3, 0], atol=0.1)  # but it starts elsewhere


@given(n=st.integers(1, 30), p=st.integers(1, 4), seed=st.integers(0, 99))
def test_features_keep_their_relations(n, p, seed):
    """All columns are turned by the same phases, so any mixture of them has the mixed surrogate."""
    rows = smooth_walk(n, p, seed)
    mixture = np.random.default_rng(seed + 1).standard_normal((p, p + 1))
    drawn = draw(rows, seed)
    assert drawn.shape == rows.shape
    np.testing.assert_allclose(draw(rows @ mixture, seed), drawn @ mixture, atol=1e-9 * np.abs(rows).max())


def test_on_average_covariances_at_all_lags_are_those_of_the_mirrored_recording():
    n, p, n_draws = 12, 2, 4000
    rows = smooth_walk(n, p) + 7
    mean = rows.mean(axis=0)
    mirrored = np.concatenate([rows, rows[::-1]]) - mean
    rng = np.random.default_rng(1)
    drawn = np.array([draw_surrogate(rows, rng) for _ in range(n_draws)]) - mean
    # each average has a standard error of at most the variance / sqrt(4000), here taken five times
    atol = 5 * mirrored.var(axis=0).max() / np.sqrt(n_draws)
    np.testing.assert_allclose(drawn.mean(axis=0), 0, atol=5 * mirrored.std(axis=0).max() / np.sqrt(n_draws))
    for lag in range(n):
        expected = np.roll(mirrored, -lag, axis=0).T @ mirrored / (2 * n)
        # of the mirrored series forwards and backwards: the cross-spectrum is real
        np.testing.assert_allclose(expected, expected.T, atol=1e-9)
        found = np.einsum("dp,dq->pq", drawn[:, lag], drawn[:, 0]) / n_draws
        np.testing.assert_allclose(found, expected, atol=atol)


def test_what_is_constant_stays_constant():
    np.testing.assert_allclose(draw(np.full((9, 2), 4.5)), 4.5)


def test_a_seed_decides_and_the_rows_stay_as_they_are():
    rows = smooth_walk(50, 3)
    rows.setflags(write=False)
    np.testing.assert_array_equal(draw(rows, 3), draw(rows, 3))
    assert not np.allclose(draw(rows, 3), draw(rows, 4))
