from __future__ import annotations

import numpy as np
import pytest

from seqspan._core.spans import boundaries_from_labels
from seqspan.datasets import make_motion


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_motion_is_smooth_even_where_the_activity_changes(seed):
    X, labels = make_motion(3000, noise=0, rng=seed)
    speed = np.linalg.norm(np.diff(X, axis=1), axis=0)
    at_changes = speed[boundaries_from_labels(labels) - 1]
    assert len(at_changes) > 0
    assert at_changes.max() < 3 * speed.max(initial=0, where=speed <= np.percentile(speed, 99))
    assert speed.max() < np.linalg.norm(X, axis=0).min()  # a step of one frame is small against the pose


def test_an_activity_spans_few_directions():
    X, labels = make_motion(3000, n_activities=3, noise=0, rng=5)
    starts = boundaries_from_labels(labels)
    far = np.abs(np.arange(3000)[:, None] - starts).min(axis=1) > 30
    inside = X[:, (labels == 0) & far]
    singular = np.linalg.svd(inside, compute_uv=False)
    assert singular[7] < 1e-9 * singular[0]  # a posture, and sine and cosine of three harmonics


def test_spans_are_as_long_as_asked_and_differ_from_their_neighbours():
    _, labels = make_motion(20_000, n_activities=3, span_seconds=2.0, rng=1)
    lengths = np.diff(np.concatenate([[0], boundaries_from_labels(labels)]))
    assert 120 <= lengths.min() <= lengths.max() <= 361
    assert set(labels.tolist()) == {0, 1, 2}


def test_one_activity_and_the_same_seed():
    X, labels = make_motion(500, n_activities=1, rng=3)
    assert np.all(labels == 0)
    np.testing.assert_array_equal(X, make_motion(500, n_activities=1, rng=3)[0])


def test_noise_has_the_deviation_asked_for():
    quiet, noisy = (make_motion(4000, noise=noise, rng=9)[0] for noise in (0.0, 0.7))
    assert np.std(noisy - quiet) == pytest.approx(0.7, rel=0.02)
