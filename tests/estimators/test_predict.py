"""``predict`` and ``score_samples`` of all estimators."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from seqspan import LRR, LSR, OSC, SSC, SpatSC
from seqspan.datasets import make_recurring_subspaces

EVERY = pytest.mark.parametrize("Estimator", [OSC, SpatSC, SSC, LRR, LSR])
LENGTH = 30


@pytest.fixture(scope="module")
def samples():
    X, labels = make_recurring_subspaces((0, 1, 2, 0, 1), 3, 20, LENGTH, rng=0)
    return X.T, labels


@EVERY
@pytest.mark.parametrize("cut", ["ncut", "ordered"])
def test_predicts_the_labels_of_the_fit_and_of_what_follows(Estimator, cut, samples):
    rows, labels = samples
    estimator = Estimator(n_subspaces=3, cut=cut, random_state=0).fit(rows[: 3 * LENGTH])
    assert np.mean(estimator.predict(rows[: 3 * LENGTH]) == estimator.labels_) >= 0.98
    assert np.mean(estimator.predict(rows[3 * LENGTH :]) == labels[3 * LENGTH :]) >= 0.95
    assert np.median(estimator.score_samples(rows)) > 0 > estimator.score_samples(-5 * rows).max()


@pytest.mark.parametrize("preprocess", [None, "centre"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_buffer_may_be_filled_again_after_the_fit(samples, preprocess, dtype):
    rows = samples[0].astype(dtype)
    osc = OSC(n_subspaces=3, cut="ordered", preprocess=preprocess, random_state=0)
    wanted = osc.fit(rows.copy()).predict(rows)
    confidence, scores = osc.confidence_, osc.score_samples(rows)
    buffer = rows.copy()
    osc.fit(buffer)
    buffer[:] = np.random.default_rng(0).normal(size=buffer.shape)
    np.testing.assert_array_equal(osc.confidence_, confidence)
    np.testing.assert_array_equal(osc.predict(rows), wanted)
    np.testing.assert_array_equal(osc.score_samples(rows), scores)


def test_labels_that_the_user_changes_are_not_those_of_the_fit(samples):
    osc = OSC(n_subspaces=3, random_state=0).fit(samples[0])
    wanted = osc.predict(samples[0])
    osc.fit(samples[0]).labels_[:] = 0
    osc.boundaries_[:] = 1
    np.testing.assert_array_equal(osc.predict(samples[0]), wanted)


def test_parts_are_predicted_apart(samples):
    rows, _ = samples
    osc = OSC(n_subspaces=3, random_state=0).fit(rows)
    lengths = [47, 3, len(rows) - 50]
    parts = np.split(rows, [47, 50])
    wanted = np.concatenate([osc.predict(part) for part in parts])
    np.testing.assert_array_equal(osc.predict(rows, lengths=lengths), wanted)
    with pytest.raises(ValueError, match=r"add up to the number of samples, 150; got \[100\]"):
        osc.predict(rows, lengths=[100])
    with pytest.raises(ValueError, match="must be positive"):
        osc.score_samples(rows, lengths=[150, 0])


def test_columns_of_a_data_frame_are_matched_by_name(samples):
    frame = pl.DataFrame({f"joint {k}": column for k, column in enumerate(samples[0].T)})
    osc = OSC(n_subspaces=3, random_state=0).fit(frame)
    np.testing.assert_array_equal(osc.predict(frame[:, ::-1]), osc.predict(frame))
    with pytest.raises(ValueError, match="missing: joint 0"):
        osc.predict(frame[:, 1:])


def test_before_fit_and_after_a_stream_there_is_nothing_to_predict(samples):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        OSC().predict(samples[0])
    stream = OSC().partial_fit(samples[0])
    with pytest.raises(NotFittedError, match="fitted to a stream"):
        stream.score_samples(samples[0])


def test_wrong_numbers_of_features_are_refused(samples):
    osc = OSC(n_subspaces=3, random_state=0).fit(samples[0])
    with pytest.raises(ValueError, match="X has 19 features, but OSC is expecting 20"):
        osc.predict(samples[0][:, 1:])


@pytest.mark.parametrize("lengths", [[100.7, 49.3], "ab", 150, [True] * 150])
def test_lengths_that_are_no_counts_are_refused(samples, lengths):
    osc = OSC(n_subspaces=3, random_state=0).fit(samples[0])
    for call in (osc.predict, osc.score_samples, osc.fit):
        with pytest.raises(ValueError, match="lengths must be positive ints that add up"):
            call(samples[0], lengths=lengths)


def test_lengths_may_be_drawn_one_by_one(samples):
    osc = OSC(n_subspaces=3, cut="ordered").fit(samples[0], lengths=iter([50, 100]))
    assert 50 in osc.boundaries_
    assert osc.predict(samples[0], lengths=iter([50, 100])).shape == (150,)


@pytest.mark.parametrize("scale", [1e160, 1e308])
@pytest.mark.parametrize("preprocess", [None, "centre,scale,pca:0.9"])
def test_samples_too_large_to_square_are_unknown(preprocess, scale, samples):
    fitted = LSR(n_subspaces=3, preprocess=preprocess, random_state=0).fit(samples[0])
    far = samples[0] / np.abs(samples[0]).max() * scale
    assert (fitted.predict(far) == -1).all()
    assert (fitted.score_samples(far) < 0).all()
