"""Confidence: probabilities that depend on the samples next to a boundary alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan.cuts.ordered.confidence import INTERCEPT, REACH, SLOPE, boundary_confidence
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.features import sample_features
from seqspan.datasets import make_subspaces


def two_means(gap: float, n: int = 40, seed: int = 0) -> np.ndarray:
    """Samples whose mean changes by `gap` in the middle."""
    rng = np.random.default_rng(seed)
    return np.repeat([0.0, gap], n // 2)[:, None] + rng.standard_normal((n, 2))


def by_hand(Y: np.ndarray, before: int, boundary: int, after: int) -> float:
    """The formula of the docstring, from costs of arrays of their own."""

    def cost(part: np.ndarray) -> float:
        return GaussianCost([part]).error(0, len(part))

    left, right = Y[max(before, boundary - 10) : boundary], Y[boundary : min(after, boundary + 10)]
    nats = cost(np.concatenate([left, right])) - cost(left) - cost(right)
    odds = np.exp(-0.39 + 2.76 * nats / (2 * min(len(left), len(right))))  # of two features
    return float(odds / (1 + odds))


@given(seed=st.integers(0, 99), boundaries=st.sets(st.integers(1, 39), min_size=1, max_size=6))
def test_confidence_is_the_documented_formula(seed, boundaries):
    Y, places = two_means(2.0, seed=seed), np.array(sorted(boundaries))
    edges = [0, *places, 40]
    expected = [by_hand(Y, *edges[i : i + 3]) for i in range(len(places))]
    np.testing.assert_allclose(boundary_confidence(Y, places), expected, rtol=1e-9)
    assert (INTERCEPT, SLOPE, REACH) == (-0.39, 2.76, 10)


def test_a_sharper_change_is_surer():
    def confidence(gap: float) -> float:
        Y = two_means(gap)  # features have variance one, whatever the change
        return float(boundary_confidence(Y / Y.std(axis=0), np.array([20]))[0])

    sure = [confidence(gap) for gap in (0, 2, 4, 40)]
    assert sure == sorted(sure)
    assert sure[0] < 0.4 < 0.7 < sure[-1]


def test_the_rest_of_the_recording_has_no_say():
    Y = two_means(3.0)
    longer = np.concatenate([Y, *(two_means(5.0, seed=seed) for seed in range(1, 10))])
    short = boundary_confidence(Y, np.array([20]))[0]
    long = boundary_confidence(longer, np.array([20, 40, 300]))[0]
    assert long == pytest.approx(short, abs=1e-12)


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("n_channels", [1, 2, 6])
def test_a_clear_change_is_sure_however_few_channels_show_it(n_channels, noise):
    rng = np.random.default_rng(0)
    X = np.repeat([1.0, 3.0], 30) + noise * rng.standard_normal((n_channels, 60))
    right, wrong = boundary_confidence(sample_features(X), np.array([30, 45]))
    assert wrong < 0.4 < 0.85 < right


@pytest.mark.parametrize("seed", range(20))
def test_boundaries_of_subspaces_are_sure_whatever_is_drawn(seed):
    X, _ = make_subspaces(rng=seed)
    confidence = boundary_confidence(sample_features(X), np.arange(10, 100, 10))
    true = np.tile([False, True], 5)[:9]
    # of seeds 0 to 199, true boundaries have .73 to .91, and others at most .17; both sides have ten samples
    assert confidence[~true].max() < 0.2 < 0.7 < confidence[true].min()


def test_no_boundaries_have_no_confidence():
    assert boundary_confidence(two_means(0.0), np.empty(0, dtype=int)).shape == (0,)
