"""Surrogates keep what describes a stationary process; without a change no more is explained than by them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from seqspan.cuts.ordered.null_distribution import (
    MAX_SAMPLES,
    MIN_CHANGE_RATIO,
    MIN_NULL,
    MIN_SLOPE,
    N_SPANS,
    N_SURROGATES,
    NullComparison,
    compare_with_null,
    has_peak,
    phase_surrogate,
)
from seqspan.datasets import make_recurring_subspaces, make_subspaces


def circular_covariances(X, lag):
    """Covariance of all features with all features `lag` samples later, around the circle."""
    centred = X - X.mean(axis=1, keepdims=True)
    return centred @ np.roll(centred, -lag, axis=1).T / X.shape[1]


@pytest.mark.parametrize("n", [1, 2, 3, 50, 51])
def test_surrogates_keep_mean_and_covariances_at_every_lag(n):
    X = np.random.default_rng(n).standard_normal((3, n)).cumsum(axis=1) + 5
    S = phase_surrogate(X, np.random.default_rng(0))
    assert S.shape == X.shape
    np.testing.assert_allclose(S.mean(axis=1), X.mean(axis=1))
    for lag in range(n):
        np.testing.assert_allclose(
            circular_covariances(S, lag), circular_covariances(X, lag), atol=1e-10 * X.var()
        )


@pytest.mark.parametrize("n", [50, 51])
def test_surrogates_differ_each_time(n):
    X = np.random.default_rng(0).standard_normal((3, n)).cumsum(axis=1)
    rng = np.random.default_rng(1)
    first, second = phase_surrogate(X, rng), phase_surrogate(X, rng)
    assert min(np.linalg.norm(a - b) for a, b in ((first, X), (second, X), (first, second))) > 0.1 * np.std(X)
    np.testing.assert_array_equal(first, phase_surrogate(X, np.random.default_rng(1)))


def test_surrogates_of_a_step_have_lost_it():
    X = np.repeat([[-1.0, 1.0]], 100, axis=1)
    halves = [
        phase_surrogate(X, np.random.default_rng(seed)).reshape(2, 100).mean(axis=1) for seed in range(50)
    ]
    # at random phases the halves differ by less than the step's 2, and in either direction
    differences = np.diff(halves, axis=1)
    assert np.abs(differences).max() < 1.95
    assert abs(differences.mean()) < 0.6


def in_subspace(coefficients, rng, d=10):
    return np.linalg.qr(rng.standard_normal((d, len(coefficients))))[0] @ coefficients


def smooth(rng, n, width):
    """Stationary: the filter's start and end are cut off."""
    white = rng.standard_normal((3, n + 8 * width))
    return gaussian_filter1d(white, width, axis=1)[:, 4 * width : 4 * width + n]


N = 120
UNCHANGING = {
    "noise": lambda rng: rng.standard_normal((10, N)),
    "subspace": lambda rng: in_subspace(rng.standard_normal((3, N)), rng),
    "smooth subspace": lambda rng: in_subspace(smooth(rng, N, 5), rng),
    "slow subspace": lambda rng: in_subspace(smooth(rng, N, 15), rng),
    "independent samples around a mean": lambda rng: (
        in_subspace(rng.standard_normal((2, N)) + np.array([[3.0], [1.0]]), rng)
        + 0.05 * rng.standard_normal((10, N))
    ),
    "noisy smooth subspace": lambda rng: (
        in_subspace(smooth(rng, N, 5), rng) + 0.02 * rng.standard_normal((10, N))
    ),
}
CHANGING = {
    "paper's subspaces": lambda rng: make_subspaces(4, 4, 30, N // 4, rng=rng)[0],
    "subspaces through 0": lambda rng: make_subspaces(4, 3, 10, N // 4, coefficient_mean=0.0, rng=rng)[0],
}


def measured(make):
    return [compare_with_null(make(np.random.default_rng(s)), np.random.default_rng(s)) for s in range(20)]


@pytest.mark.parametrize("case", UNCHANGING)
def test_without_a_change_no_more_is_explained_than_by_surrogates_and_nothing_peaks(case):
    found = measured(UNCHANGING[case])
    assert sum(one.ratio < MIN_CHANGE_RATIO for one in found) >= 19
    assert not any(one.has_peak for one in found)


@pytest.mark.parametrize("case", CHANGING)
def test_planted_changes_explain_more_than_chance(case):
    assert sum(one.ratio > MIN_CHANGE_RATIO for one in measured(CHANGING[case])) == 20


def test_jumps_that_make_surrogates_slow_show_by_their_peak():
    found = measured(lambda rng: make_recurring_subspaces([0, 1, 2, 0], 2, 8, N // 4, rng=rng)[0])
    assert min(one.ratio for one in found) < MIN_CHANGE_RATIO
    assert all(one.has_peak for one in found)


RISES = (0.0, 3.0, 5.0)  # 12 numbers of spans are computed; three make the peak


@pytest.mark.parametrize(
    ("explained", "n_samples", "expected"),
    [
        ((*RISES, *(5 - 0.16 * np.arange(1, 10))), 100, True),  # 16 nats for each span beyond
        ((*RISES, *(5 - 0.14 * np.arange(1, 10))), 100, False),  # 14 nats
        ((*RISES, *(5 - 0.14 * np.arange(1, 10))), 110, True),  # the same share of more samples
        ((*RISES, *(5 - 0.16 * np.arange(1, 5))), 100, False),  # too little is known of what follows
        ((*RISES, *(5 + 0.16 * np.arange(1, 10))), 100, False),
        ((0.0, *(-0.2 * np.arange(1, 12))), 100, False),  # one span is best
        (tuple(0.19 * value for value in (*RISES, *(5 - 1.6 * np.arange(1, 10)))), 100, False),  # flat
    ],
)
def test_a_peak_is_high_has_a_slope_and_room(explained, n_samples, expected):
    assert has_peak(np.array(explained), n_samples) is expected


def test_ratio_and_slope_compare_with_what_the_null_explains():
    found = NullComparison(2.7, (0.3, 0.9, 0.6))
    assert found.ratio == pytest.approx(3.0)
    assert found.slope == pytest.approx(0.6 / (N_SPANS - 1))
    nothing = NullComparison(-0.5, (-0.3, -0.2))
    assert (nothing.ratio, nothing.slope) == (0.0, MIN_SLOPE)
    assert NullComparison(1.0, (-0.3, -0.2)).ratio == pytest.approx(1.0 / MIN_NULL)
    shuffled = NullComparison(2.7, (0.3, 0.9, 0.6), (1.35, 0.1))
    assert (shuffled.ratio, shuffled.slope) == (pytest.approx(2.0), found.slope)


def test_long_recordings_are_thinned():
    X = make_subspaces(4, 4, 30, 300, rng=0)[0]
    stride = 3  # the least that leaves no more than MAX_SAMPLES of 1,200
    assert X.shape[1] == stride * MAX_SAMPLES
    whole, thinned = (
        compare_with_null(Y, np.random.default_rng(0), length) for Y, length in ((X, 15), (X[:, ::stride], 5))
    )
    assert whole == thinned
    assert len(whole.by_surrogates) == N_SURROGATES


def test_rotation_changes_nothing_and_a_seed_decides():
    rng = np.random.default_rng(0)
    X = make_subspaces(3, 2, 50, 20, rng=1)[0]
    rotated = np.linalg.qr(rng.standard_normal((50, 50)))[0] @ X
    first, again, turned = (compare_with_null(Y, np.random.default_rng(2)) for Y in (X, X, rotated))
    assert first == again
    np.testing.assert_allclose(
        [turned.explained, *turned.by_surrogates], [first.explained, *first.by_surrogates], rtol=1e-3
    )


@pytest.mark.parametrize(
    ("ratio", "peak", "expected"),
    [
        (MIN_CHANGE_RATIO, False, True),
        (MIN_CHANGE_RATIO - 0.01, False, False),
        (MIN_CHANGE_RATIO - 0.01, True, True),
    ],
)
def test_a_change_explains_more_than_the_null_or_has_a_peak(ratio, peak, expected):
    assert NullComparison(2 * ratio, (2.0, 1.0), (0.5,), peak).shows_change is expected


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9])
def test_the_shortest_recordings_do_not_change(n):
    X = np.random.default_rng(n).standard_normal((4, n))
    X.setflags(write=False)
    assert compare_with_null(X, np.random.default_rng(0)).ratio < MIN_CHANGE_RATIO
