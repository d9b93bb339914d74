"""Segmentation while samples arrive: what is found, that it stays, and that memory does not grow."""

from __future__ import annotations

import numpy as np
import pytest

from seqspan import OSC, SpatSC
from seqspan.cuts.online.stream import DELAY, OnlineSegmentation, segment_at_once
from seqspan.models import Osc

SCALE = 20  # samples of the time scale: spans of some hundred samples are long


def recording(order, length=200, d=12, seed=0, noise=0.05):
    """Spans near fixed points of the sphere: their numbers and samples."""
    rng = np.random.default_rng(seed)
    postures = np.linalg.qr(rng.standard_normal((d, d)))[0]
    X = np.concatenate([np.tile(postures[label], (length, 1)) for label in order])
    return X + noise * rng.standard_normal(X.shape), np.repeat(order, length)


ORDER = [0, 1, 2, 0, 3, 1, 0, 2]


@pytest.mark.parametrize("block", [7, 500])
def test_boundaries_and_returning_labels_are_found_whatever_the_blocks(block):
    X, _ = recording(ORDER)
    online = OnlineSegmentation(Osc(0.1, 1.0), time_scale=SCALE)
    for start in range(0, len(X), block):
        online.extend(X[start : start + block])
    found = online.finish()
    assert found.boundaries.tolist() == list(range(200, 1600, 200))
    assert found.labels.tolist() == ORDER
    assert found.n_final == 7


def test_the_whole_at_once_has_the_same_boundaries():
    X, _ = recording(ORDER, noise=0.1)
    assert segment_at_once(Osc(0.1, 1.0), X, time_scale=SCALE).tolist() == list(range(200, 1600, 200))


@pytest.mark.parametrize("Estimator", [OSC, SpatSC])
def test_boundaries_are_final_after_the_stated_delay(Estimator):
    X, _ = recording(ORDER)
    estimator = Estimator(time_scale=SCALE)
    final = []
    for start in range(0, len(X), 50):
        estimator.partial_fit(X[start : start + 50])
        seen = start + 50
        assert estimator.delay_ == DELAY * SCALE
        now = estimator.boundaries_[: estimator.n_final_].tolist()
        assert now[: len(final)] == final
        assert set(range(200, max(seen - estimator.delay_ + 1, 0), 200)) <= set(now)
        assert len(estimator.labels_) == 50
        final = now
    assert estimator.n_samples_seen_ == len(X)
    estimator.partial_fit(X[:0], last=True)
    assert estimator.n_final_ == 7
    assert estimator.span_labels_.tolist() == ORDER


def test_a_new_recording_begins_after_the_last_block():
    X, _ = recording(ORDER)
    osc = OSC(time_scale=SCALE).partial_fit(X, last=True)
    first = osc.boundaries_
    osc.partial_fit(X[:900, :7], last=True)  # other features, other length
    assert osc.n_samples_seen_ == 900
    assert len(osc.boundaries_) < len(first)


def test_no_more_labels_than_subspaces_are_asked_for():
    X, _ = recording(ORDER)
    osc = OSC(n_subspaces=2, time_scale=SCALE).partial_fit(X, last=True)
    assert osc.n_subspaces_ == 2


def test_many_features_are_projected():
    X, _ = recording(ORDER, d=300)
    online = OnlineSegmentation(Osc(0.1, 1.0), time_scale=SCALE)
    online.extend(X)
    assert online.finish().boundaries.tolist() == list(range(200, 1600, 200))


def test_what_is_held_does_not_grow():
    online = OnlineSegmentation(Osc(0.1, 1.0), time_scale=SCALE, n_landmarks=16)

    def held():
        labels = online._labels
        arrays = [online._atoms, online._settled, online._pending, online._path._sums, *labels.sums]
        return sum(array.size for array in arrays) + sum(array.size for array in labels._waiting)

    sizes = []
    for seed in range(8):  # of ever new postures
        online.extend(recording(ORDER, seed=0, noise=0.02 * seed)[0])
        online.division()
        sizes.append(held())
    assert max(sizes[3:]) <= 1.5 * max(sizes[:3])
    assert online._atoms.shape[1] <= 16


def test_single_precision_is_kept():
    X, _ = recording(ORDER)
    online = OnlineSegmentation(Osc(0.1, 1.0), time_scale=SCALE)
    online.extend(X.astype(np.float32))
    assert online._atoms.dtype == np.float32
    assert online.finish().labels.tolist() == ORDER


def test_samples_of_zeros_are_no_reason_to_fail():
    X, _ = recording([0, 1])
    X[50:60] = 0
    found = OSC(time_scale=SCALE).partial_fit(np.zeros((30, 12))).partial_fit(X, last=True)
    assert 230 in found.boundaries_


def test_what_is_wrong_is_said():
    X, _ = recording([0, 1])
    with pytest.raises(ValueError, match="does not use preprocess: leave it at None; got 'centre'"):
        OSC(preprocess="centre").partial_fit(X)
    with pytest.raises(ValueError, match="time_scale must be an int"):
        OSC(time_scale=0).partial_fit(X)
    with pytest.raises(ValueError, match="features"):
        OSC(time_scale=SCALE).partial_fit(X).partial_fit(X[:, :5])


def test_without_samples_there_is_one_empty_span():
    found = OnlineSegmentation(Osc(0.1, 1.0)).finish()
    assert (found.boundaries.tolist(), found.labels.tolist(), found.n_final) == ([], [0], 0)


def test_finishing_twice_changes_nothing():
    online = OnlineSegmentation(Osc(0.1, 1.0), time_scale=SCALE)
    online.extend(recording([0, 1])[0])
    for _ in range(2):
        found = online.finish()
        assert (found.boundaries.tolist(), found.labels.tolist()) == ([200], [0, 1])
        assert online._pending.shape[1] == 0


def test_nothing_but_zeros_is_one_span():
    online = OnlineSegmentation(Osc(0.1, 1.0), time_scale=SCALE)
    online.extend(np.zeros((20 * SCALE, 5)))
    found = online.finish()
    assert (found.boundaries.tolist(), found.labels.tolist()) == ([], [0])
