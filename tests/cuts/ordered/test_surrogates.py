"""Surrogates have the spectra of the recording, nearly, and nothing else of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.fft import dct

from seqspan.cuts.ordered.surrogates import draw_surrogate


def draw(rows, seed=0):
    return draw_surrogate(rows, np.random.default_rng(seed))


def smooth_walk(n, p, seed=0):
    return np.cumsum(np.random.default_rng(seed).standard_normal((n, p)), axis=0)


def waves(rows):
    return dct(rows, axis=0, norm="ortho")


@pytest.mark.parametrize(("n", "order"), [(40, "C"), (41, "F")])
def test_pairs_of_neighbouring_frequencies_share_their_energy_anew(n, order):
    rows = np.asarray(smooth_walk(n, 3) + 5, order=order)
    firsts = set()
    for seed in range(8):
        before, after = waves(rows), waves(draw(rows, seed))
        alone = [f for f in range(1, n) if np.allclose(np.abs(after[f]), np.abs(before[f]))]
        first = 2 if 1 in alone else 1
        firsts.add(first)
        np.testing.assert_allclose(after[0], before[0])  # the mean stays
        assert alone == [1] * (first == 2) + [n - 1] * ((n - first) % 2)  # those without a partner
        pairs = slice(first, n - (n - first) % 2)
        couples = [each[pairs].reshape(-1, 2, 3) for each in (before, after)]
        squares = [np.einsum("fip,fiq->fpq", each, each) for each in couples]
        np.testing.assert_allclose(*squares, atol=1e-9 * squares[0].max())
    assert firsts == {1, 2}  # either neighbour


def test_nothing_of_a_coefficient_is_left_on_average():
    rows = smooth_walk(6, 1)
    rng = np.random.default_rng(1)
    drawn = np.array([waves(draw_surrogate(rows, rng))[1:, 0] for _ in range(4000)])
    scales = drawn.std(axis=0)
    # five standard errors of a mean of 4000 draws
    np.testing.assert_allclose(drawn.mean(axis=0) / scales, 0, atol=5 / np.sqrt(4000))
    correlations = np.corrcoef(drawn.T)
    np.testing.assert_allclose(correlations, np.eye(5), atol=5 / np.sqrt(4000))


@given(n=st.integers(1, 30), p=st.integers(1, 4), seed=st.integers(0, 99))
def test_features_keep_their_relations(n, p, seed):
    """All columns are turned by the same angles, so any mixture of them has the mixed surrogate."""
    rows = smooth_walk(n, p, seed)
    mixture = np.random.default_rng(seed + 1).standard_normal((p, p + 1))
    drawn = draw(rows, seed)
    assert drawn.shape == rows.shape
    np.testing.assert_allclose(draw(rows @ mixture, seed), drawn @ mixture, atol=1e-9 * np.abs(rows).max())


def test_what_is_constant_stays_constant():
    np.testing.assert_allclose(draw(np.full((9, 2), 4.5)), 4.5)


def test_a_seed_decides_and_the_rows_stay_as_they_are():
    rows = smooth_walk(50, 3)
    rows.setflags(write=False)
    np.testing.assert_array_equal(draw(rows, 3), draw(rows, 3))
    assert not np.allclose(draw(rows, 3), draw(rows, 4))
