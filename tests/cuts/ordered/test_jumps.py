"""Planted jumps are found where they are; outliers, ends, motion and noise are no jumps."""

from __future__ import annotations

import numpy as np
import pytest

from seqspan.cuts.ordered.jumps import MIN_SHARPNESS, REACH, find_jumps


def scenes(cuts, n, noise=0.05, seed=0, d=6):
    """Samples that stay near one of several random places, with cuts in between."""
    rng = np.random.default_rng(seed)
    places = 3 * rng.standard_normal((d, len(cuts) + 1))
    scene = np.searchsorted(cuts, np.arange(n), side="right")
    return places[:, scene] + noise * rng.standard_normal((d, n))


@pytest.mark.parametrize("seed", range(5))
def test_planted_jumps_are_found_exactly(seed):
    rng = np.random.default_rng(seed)
    cuts = np.cumsum(rng.integers(2 * REACH, 40, 4))
    starts, sharpness = find_jumps(scenes(cuts, 160 + REACH, seed=seed))
    np.testing.assert_array_equal(starts, cuts)
    assert sharpness.shape == (4,)
    assert sharpness.min() >= MIN_SHARPNESS


def test_sharpness_is_the_length_in_units_of_the_longest_other_step_nearby():
    steps = np.array([1, 2, 1, 1, 2, 1, 1, 4, 1, 1, 2, 1, 40, 1, 1, 5, 1, 1, 2, 1, 1, 1, 1, 1, 8, 1.0])
    signs = np.where(np.arange(len(steps)) % 2, 1, -1)  # to and fro, so that the samples stay
    signs[12:] = np.where(np.arange(len(steps) - 12) % 2, -1, 1)
    X = np.concatenate([[0], np.cumsum(signs * steps)])[None]
    starts, sharpness = find_jumps(X)
    np.testing.assert_array_equal(starts, [13])
    np.testing.assert_allclose(sharpness, [8.0])  # 40 / 5; the step of 8 is twelve steps away


def test_a_lone_outlier_is_no_jump():
    X = scenes([], 60)
    X[:, 30] += 5
    assert len(find_jumps(X)[0]) == 0
    X[:, 31:33] += 5  # nor are three
    assert len(find_jumps(X)[0]) == 0


def test_a_step_that_does_not_stay_is_no_jump():
    X = scenes([], 60)
    X[:, 30] += 5
    X[:, 31:] += 1  # after the outlier, a change less than half as long as the jump
    assert len(find_jumps(X)[0]) == 0


@pytest.mark.parametrize("n", [2 * REACH, 50])
def test_ends_are_no_jumps(n):
    found = []
    for cut in range(1, n):
        X = scenes([cut], n, seed=cut)
        starts = find_jumps(X)[0]
        assert starts.tolist() in ([], [cut])
        found += starts.tolist()
    assert found == list(range(REACH, n - REACH + 1))


@pytest.mark.parametrize("n", [1, 2, REACH, 2 * REACH - 1])
def test_short_sequences_have_no_jumps(n):
    starts, sharpness = find_jumps(scenes([n // 2], n))
    assert starts.shape == sharpness.shape == (0,)
    assert np.issubdtype(starts.dtype, np.integer)


@pytest.mark.parametrize("d", [1, 2, 10])
def test_noise_has_no_jumps(d):
    X = np.random.default_rng(d).standard_normal((d, 20_000))
    assert len(find_jumps(X)[0]) == 0


def test_motion_has_no_jumps():
    t = np.linspace(0, 20, 2000)
    assert len(find_jumps(np.stack([np.sin(t), np.cos(t), np.sin(3 * t) ** 5]))[0]) == 0


def test_levels_without_any_noise_have_jumps():
    X = np.repeat([[0.0, 1.0, 0.2], [0.0, 0.0, 3.0]], 20, axis=1)
    assert find_jumps(X)[0].tolist() == [20, 40]
    assert len(find_jumps(np.zeros((3, 40)))[0]) == 0


def test_steps_of_a_coarse_scale_are_no_jumps():
    """A slow signal read in tenths rests and steps; its steps are small beside all that it does."""
    slow = 5 * np.sin(np.arange(1500) / 200)
    assert len(find_jumps(np.round(slow, 1)[None])[0]) == 0


def test_jumps_depend_neither_on_unit_nor_on_axes():
    rng = np.random.default_rng(0)
    X = scenes([20, 50], 80)
    moved = 100 * np.linalg.qr(rng.standard_normal((6, 6)))[0] @ X + 3
    np.testing.assert_array_equal(find_jumps(moved)[0], find_jumps(X)[0])
    np.testing.assert_array_equal(find_jumps(X.astype(np.float32))[0], [20, 50])
