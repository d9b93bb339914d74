"""After any sequence of calls, the attributes of an estimator are those of the last one."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from seqspan import LRR, LSR, OSC, SSC, SpatSC
from seqspan.datasets import make_subspaces
from seqspan.pipeline import as_recording

X = np.ascontiguousarray(make_subspaces(3, 2, 8, 12, rng=5)[0].T)
TABLE = pd.DataFrame(X[:, :4], columns=list("abcd"))
COUPLED = (OSC, SpatSC)


def _fail(estimator, samples, **parameters):
    """The estimator after a fit that fails, with its parameters as they were."""
    before = estimator.get_params()
    with pytest.raises(ValueError, match=r"n_subspaces must be|NaN"):
        estimator.set_params(**parameters).fit(samples)
    return estimator.set_params(**before)


def _look_at(estimator):
    """The estimator after all its attributes were read, some of which are computed then."""
    _attributes(estimator)
    return estimator


CALLS = {
    "nothing": lambda estimator: estimator,
    "fit": lambda estimator: _look_at(estimator.fit(X[:30, :7])),
    "fit of a table": lambda estimator: estimator.fit(TABLE),
    "set_params": lambda estimator: estimator.set_params(n_subspaces=3, cut="peaks"),
    "clone": clone,
    "pickle": lambda estimator: pickle.loads(pickle.dumps(estimator)),
    "a fit of no numbers": lambda estimator: _fail(estimator, np.full((20, 2), np.nan)),
    "a fit that fails late": lambda estimator: _fail(estimator, X[:20, :2], n_subspaces=99),
}
STREAM_CALLS = {
    "landmarks": lambda estimator: estimator.set_params(dictionary="landmarks", n_landmarks=9).fit(X),
    "a stream": lambda estimator: estimator.partial_fit(X[:20, :7]),
    "a whole stream": lambda estimator: estimator.partial_fit(X[:20, :7], last=True),
}
PAIRS = [(Estimator, call) for Estimator in (OSC, SpatSC, SSC, LRR, LSR) for call in CALLS]
STREAM_PAIRS = [(Estimator, call) for Estimator in COUPLED for call in STREAM_CALLS]


def _attributes(estimator):
    """All fitted attributes, computed ones included, but objects that have no equality."""
    names = {name for name in vars(estimator) if name.endswith("_")} | {"coef_", "confidence_"}
    return {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}


def _assert_same(one, other):
    found, wanted = _attributes(one), _attributes(other)
    assert set(found) == set(wanted)
    for name in set(found) - {"segmentation_", "history_"}:
        np.testing.assert_equal(found[name], wanted[name], err_msg=name)


@pytest.mark.parametrize(("Estimator", "call"), PAIRS + STREAM_PAIRS)
def test_a_fit_after_any_other_call_is_like_the_first(Estimator, call):
    fresh = Estimator(random_state=0)
    used = (CALLS | STREAM_CALLS)[call](clone(fresh).fit(X))
    _assert_same(used.set_params(**fresh.get_params()).fit(X), fresh.fit(X))


@pytest.mark.parametrize(("Estimator", "call"), [(E, c) for E in COUPLED for c in CALLS | STREAM_CALLS])
def test_a_stream_after_any_other_call_is_like_the_first(Estimator, call):
    fresh = Estimator()
    used = (CALLS | STREAM_CALLS)[call](clone(fresh).fit(X)).set_params(**fresh.get_params())
    if call == "a stream":
        used.partial_fit(X[20:, :7], last=True)
    _assert_same(used.partial_fit(X[:, :5]), fresh.partial_fit(X[:, :5]))


@pytest.mark.parametrize("call", [name for name in CALLS if name.startswith("a fit")])
def test_a_fit_that_fails_leaves_the_last_one(call):
    fitted = OSC(2, random_state=0).fit(TABLE)
    before = copy.copy(fitted)
    _assert_same(CALLS[call](fitted), before)
    stream = OSC().partial_fit(TABLE)
    before = copy.copy(stream)
    _assert_same(CALLS[call](stream), before)
    assert stream.partial_fit(TABLE).n_samples_seen_ == 2 * len(TABLE)  # it goes on


def test_landmarks_and_streams_leave_nothing_behind():
    osc = OSC(3, dictionary="landmarks", n_landmarks=20).fit(X)
    assert osc.landmarks_.shape == (20, 8)
    assert not hasattr(osc.set_params(dictionary="samples", n_landmarks="auto").fit(X), "landmarks_")
    osc.set_params(n_subspaces="auto").partial_fit(X)
    for name in ("coef_", "dual_gap_", "segmentation_", "confidence_"):
        assert not hasattr(osc, name)
    assert not hasattr(osc.fit(X), "n_final_")


def test_names_of_a_table_s_columns_are_kept():
    for fitted in (OSC(2).fit(TABLE), OSC().partial_fit(TABLE)):
        assert fitted.feature_names_in_.tolist() == list("abcd")
    assert not hasattr(OSC(2).fit(X), "feature_names_in_")
    with pytest.raises(ValueError, match="feature names"):
        fitted.partial_fit(TABLE.rename(columns={"a": "e"}))


def test_a_stream_refuses_parameters_that_change_in_its_middle():
    stream = OSC().partial_fit(X[:20])
    with pytest.raises(ValueError, match=r"lambda_2 was 1\.0 when the stream began; got 5\.0\. End"):
        stream.set_params(lambda_2=5.0).partial_fit(X[20:])
    stream.set_params(lambda_2=1.0).partial_fit(X[20:], last=True)
    assert stream.n_samples_seen_ == len(X)
    assert stream.set_params(lambda_2=5.0).partial_fit(X).n_samples_seen_ == len(X)


def test_a_stream_goes_on_after_pickling():
    stream, whole = OSC().partial_fit(X[:20]), OSC().partial_fit(X[:20])
    again = pickle.loads(pickle.dumps(stream))
    _assert_same(again.partial_fit(X[20:], last=True), whole.partial_fit(X[20:], last=True))


def test_a_copy_goes_on_with_a_stream_of_its_own():
    begun = OSC().partial_fit(X[:10])
    other = copy.copy(begun)
    other.partial_fit(X[10:], last=True)
    begun.partial_fit(X[:4])
    assert (begun.n_samples_seen_, other.n_samples_seen_) == (14, len(X))


@pytest.mark.parametrize("library", [pd, pl])
def test_a_stream_of_data_frames_leaves_out_the_time_and_matches_names(library):
    dates = pd.date_range("2024", periods=len(X), freq="s")
    table = library.DataFrame({"time": np.arange(len(X)), "when": dates, "a": X[:, 0], "b": X[:, 1]})
    stream, rows = OSC().partial_fit(table[:20]), OSC().partial_fit(X[:20, :2])
    assert stream.feature_names_in_.tolist() == ["a", "b"]
    assert stream.n_features_in_ == 2
    stream.partial_fit(table[20:][["b", "time", "a"]]).partial_fit(table[:0])
    np.testing.assert_array_equal(stream._stream.rows, rows.partial_fit(X[20:, :2])._stream.rows)
    stream.partial_fit(table[:0], last=True)
    with pytest.raises(
        ValueError, match="feature names must be those that the stream began with; missing: b"
    ):
        OSC().partial_fit(table[:20]).partial_fit(table[["time", "a"]])


def test_a_stream_of_recordings_is_one_of_their_rows():
    stream = OSC().partial_fit(as_recording(X[:20])).partial_fit(as_recording(X[20:]))
    np.testing.assert_array_equal(stream._stream.rows, X)
    named = replace(as_recording(X), feature_names=tuple("abcdefgh"))
    turned = replace(named, X=X[:, ::-1], feature_names=named.feature_names[::-1])
    np.testing.assert_array_equal(OSC().partial_fit(named).partial_fit(turned)._stream.rows[len(X) :], X)
    several = replace(as_recording(X), lengths=(20, len(X) - 20))
    with pytest.raises(ValueError, match="partial_fit takes one recording at a time; got 2"):
        stream.partial_fit(several)


def test_later_samples_of_a_stream_may_be_as_large_as_single_precision_allows():
    rows = (X / np.abs(X).max() * 3e38).astype(np.float32)
    assert OSC().partial_fit(rows[:20]).partial_fit(rows[20:]).n_samples_seen_ == len(X)


def test_masked_samples_are_missing():
    masked = np.ma.masked_greater(X, 0.0)
    for call in (OSC().fit, OSC().partial_fit, OSC(2).fit(X).predict):
        with pytest.raises(ValueError, match=r"some entries are masked"):
            call(masked)
    assert OSC(2).fit(np.ma.array(X)).labels_.shape == (len(X),)
