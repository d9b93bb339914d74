"""Features on anchors against those of the ordered cut."""

from __future__ import annotations

import numpy as np
import pytest

from seqspan.cuts.online.features import AnchorFeatures
from seqspan.cuts.ordered.features import sample_features


def samples(n=240, d=6, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    levels = rng.standard_normal((4, d)) * 3 + 5
    return (np.repeat(levels, n // 4, axis=0) + 0.5 * rng.standard_normal((n, d))).astype(dtype)


def same_up_to_sign(one, other):
    return np.abs(np.sum(one * other, axis=0)) / len(one)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e150])
@pytest.mark.parametrize("n_anchors", [50, 1000])
def test_on_the_rows_learned_from_they_are_those_of_the_ordered_cut(scale, n_anchors):
    rows = samples() * scale
    wanted = sample_features(rows.T, 4, n_anchors=n_anchors)
    found = AnchorFeatures.fit(rows, 4, n_anchors=n_anchors)(rows)
    # both have mean zero and variance one; single precision, and medians over anchors alone, cost digits
    np.testing.assert_allclose(same_up_to_sign(found, wanted), 1, atol=2e-3)


def test_a_sample_has_the_same_features_wherever_it_comes():
    rows = samples(dtype=np.float32)
    features = AnchorFeatures.fit(rows[:160])
    np.testing.assert_allclose(features(rows)[200:], features(rows[200:]), atol=1e-5)


def test_a_state_never_seen_before_differs_from_those_seen():
    rows = samples()
    features = AnchorFeatures.fit(rows)
    new = features(rows[:60] + 40)
    gaps = np.linalg.norm(features(rows).reshape(4, 60, -1).mean(axis=1) - new.mean(axis=0), axis=1)
    assert gaps.min() > 0.5


@pytest.mark.parametrize("row", [np.zeros(3), np.full(3, 7.0)])
def test_samples_that_are_all_equal_have_one_feature_that_is_zero(row):
    features = AnchorFeatures.fit(np.tile(row, (20, 1)))
    np.testing.assert_array_equal(features(np.tile(row, (5, 1))), np.zeros((5, 1)))
