"""Known states: learned from a segmentation, saved without pickle, applied to other recordings."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pandas
import pytest

import seqspan
from seqspan import Recording, Segmentation
from seqspan._core.spans import boundaries_from_labels
from seqspan.datasets import make_recurring_subspaces
from seqspan.known import KnownStates
from seqspan.pipeline import as_recording
from seqspan.preprocess import make_chain
from seqspan.recording import concatenate

LENGTH = 40


@pytest.fixture(scope="module")
def samples():
    """Spans of subspaces 0, 1, 0, 2, 1, 3: the last is in no training data below."""
    X, labels = make_recurring_subspaces((0, 1, 0, 2, 1, 3), 3, 20, LENGTH, rng=1)
    return X.T + 3, labels


@pytest.fixture(scope="module")
def found(samples):
    return seqspan.segment(
        samples[0][: 4 * LENGTH], n_spans=4, n_subspaces=3, preprocess="centre,scale,unit_norm"
    )


def named(rows, names):
    n = len(rows)
    return Recording(
        X=rows, times=np.arange(float(n)), time_unit="s", feature_names=tuple(names), kind="table"
    )


def test_labels_of_a_segmentation_are_recognised_and_others_are_unknown(found, samples):
    rows, labels = samples
    again = float(np.mean(found.states.predict(rows[: 4 * LENGTH]) == found.labels))
    assert again == found.states.agreement >= 0.98
    later = found.states.predict(rows[4 * LENGTH :])
    # the new rows alone have another mean: it is the old one that is subtracted
    assert np.mean(later == np.where(labels == 3, -1, labels)[4 * LENGTH :]) >= 0.95
    scores = found.states.score_samples(rows[4 * LENGTH :])
    assert np.median(scores[:LENGTH]) > 0 > np.median(scores[LENGTH:])


def test_a_saved_result_recognises_the_same(found, samples, tmp_path):
    found.save(tmp_path / "walk.seqspan")
    loaded = Segmentation.load(tmp_path / "walk.seqspan")
    np.testing.assert_array_equal(
        loaded.states.score_samples(samples[0]), found.states.score_samples(samples[0])
    )
    path = tmp_path / "walk.seqspan" / "states.npz"
    assert path.stat().st_size < 300_000
    with np.load(path, allow_pickle=False) as arrays:
        assert json.loads(str(arrays["header"]))["format"] == 1
        assert all(arrays[name].dtype != object for name in arrays)


@pytest.mark.parametrize("steps", ["subsample:3", "delay:3", "pca:0.9", None])
def test_every_preprocessing_is_repeated_with_what_it_learned(samples, steps, tmp_path):
    rows = samples[0][: 4 * LENGTH]
    found = seqspan.segment(rows, n_spans=4, n_subspaces=3, preprocess=steps)
    found.states.save(tmp_path / "states.npz")
    known = KnownStates.load(tmp_path / "states.npz")
    assert np.mean(known.predict(rows) == found.labels) >= 0.95
    assert known.predict(rows[:50]).shape == (50,)


def test_huge_rows_are_recognised_too(samples):
    rows = 1e305 * samples[0][: 4 * LENGTH] / np.abs(samples[0]).max()
    found = seqspan.segment(rows, n_spans=4, n_subspaces=3, preprocess="centre,unit_norm")
    np.testing.assert_allclose(found.states.chain.apply(rows), found.representation.samples)
    assert np.mean(found.states.predict(rows) == found.labels) >= 0.98


def test_columns_are_matched_by_name(samples):
    rows, names = samples[0][: 4 * LENGTH], [f"joint {k}" for k in range(20)]
    found = seqspan.segment(named(rows, names), n_spans=4, n_subspaces=3)
    turned = named(rows[:, ::-1], names[::-1])
    np.testing.assert_array_equal(found.states.predict(turned), found.states.predict(rows))
    with pytest.raises(ValueError, match=r"missing: joint 3; additional: elbow\.$"):
        found.states.predict(named(rows, [*names[:3], "elbow", *names[4:]]))
    with pytest.raises(ValueError, match=r"missing: joint 0, .* and 2 more"):
        found.states.predict(named(rows[:, 12:], names[12:]))
    with pytest.raises(ValueError, match="20 features, as before; got 19"):
        found.states.predict(rows[:, 1:])


def test_applied_to_a_recording_it_is_a_segmentation_with_the_same_names(found, samples, tmp_path):
    rows, _ = samples
    applied = found.rename({"A": "walk"}).apply(as_recording(rows[4 * LENGTH :]))
    assert [span.label for span in applied.spans] == [1, -1]
    assert (applied.n_subspaces, applied.label_names) == (1, ("walk",))
    applied.save(tmp_path / "new")
    loaded = Segmentation.load(tmp_path / "new")
    np.testing.assert_array_equal(loaded.labels, applied.labels)
    assert np.isnan(loaded.gap)
    assert applied.to_frame()["name"].to_list() == ["B", "unknown"]
    np.testing.assert_array_equal(loaded.states.predict(rows), found.states.predict(rows))


def test_corrected_labels_are_those_that_are_learned(found, samples, tmp_path):
    table = tmp_path / "segments.csv"
    table.write_text(f"start,end,label\n0,{LENGTH},A\n{LENGTH},{4 * LENGTH},B\n")
    corrected = found.corrected(table)
    assert set(corrected.states.predict(samples[0]).tolist()) <= {0, 1, -1}
    stored = replace(corrected, representation=None, given_states=found.states).corrected(table)
    with pytest.raises(ValueError, match="does not say what recognises its labels"):
        stored.states  # noqa: B018


def test_a_file_of_something_else_is_refused(found, tmp_path):
    path = tmp_path / "states.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(ValueError, match="no known states"):
        KnownStates.load(path)
    np.savez(path, header=np.array(json.dumps({"format": 2})))
    with pytest.raises(ValueError, match="knows formats up to 1"):
        KnownStates.load(path)
    np.savez(path, header=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="no known states"):
        KnownStates.load(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("labels", lambda labels: labels[:1]),
        ("labels", lambda labels: labels + 0.5),
        ("labels", lambda labels: labels[::-1]),
        ("counts", lambda counts: counts * np.nan),
        ("totals", lambda totals: totals[:, :2]),
        ("products", lambda products: products[:, :2]),
        ("nearness", lambda nearness: nearness[:1]),
        ("price", lambda price: np.nan),
        ("price", lambda price: -1e9),
        ("shortest", lambda shortest: 0),
        ("exponent", lambda exponent: 10**6),
        ("header", lambda header: np.array("[]")),
        ("header", lambda header: np.array(str(header).replace('"n_features": 20', '"n_features": -1'))),
    ],
)
def test_a_file_made_by_hand_is_refused_if_it_makes_no_sense(found, tmp_path, name, change):
    path = tmp_path / "states.npz"
    found.states.save(path)
    arrays = dict(np.load(path))
    np.savez(path, **arrays | {name: change(arrays[name])})
    with pytest.raises(ValueError, match="no known states"):
        KnownStates.load(path)


def test_states_survive_pickling_of_a_segmentation(found, samples):
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.states.predict(samples[0]), found.states.predict(samples[0]))


def test_several_recordings_are_recognised_one_by_one():
    X, _ = make_recurring_subspaces((0, 1, 2, 0, 1), 3, 12, 40, rng=0)
    first, second = as_recording(X[:, :91].T), as_recording(X[:, 91:].T)
    both = concatenate([first, second])
    found = seqspan.segment(both, preprocess="centre,subsample:2", n_subspaces=3)
    again = found.apply(both)
    np.testing.assert_array_equal(
        again.labels, np.concatenate([found.apply(each).labels for each in (first, second)])
    )
    assert 91 in again.boundaries
    np.testing.assert_array_equal(np.isnan(again.confidence), again.boundaries == 91)


def test_preprocessing_learns_from_several_recordings_without_looking_across():
    rows = np.arange(12.0)[:, None]
    learned = make_chain("delay:3,centre").learn(rows, joins=[6])
    np.testing.assert_array_equal(learned.apply(rows, [6]), make_chain("delay:3,centre").apply(rows, [6]))
    np.testing.assert_array_equal(learned.apply(rows[6:]), learned.apply(rows, [6])[6:])


@pytest.mark.parametrize("convert", [np.asarray, lambda rows: rows.tolist(), pandas.DataFrame, as_recording])
def test_rows_of_any_kind_are_recognised(found, samples, convert):
    rows = samples[0][4 * LENGTH :]
    applied = found.apply(convert(rows))
    np.testing.assert_array_equal(applied.labels, found.states.predict(rows))
    assert len(applied.spans) == len(applied.boundaries) + 1


@pytest.mark.parametrize(
    ("given", "error"),
    [("walk.csv", TypeError), (np.zeros(20), TypeError), (np.full((4, 20), np.nan), ValueError)],
)
def test_what_is_no_recording_is_refused_with_a_sentence(found, given, error):
    with pytest.raises(error, match="samples must be"):
        found.apply(given)


@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("size", [3.0, 10.0])
def test_states_of_few_columns_have_no_spans_between_them(n_columns, size):
    """Samples are put beside their neighbours, so those around a step are beside some of either side."""
    rng = np.random.default_rng(0)

    def recording(levels, length):
        steps = size * np.repeat(levels, length)[:, None]
        return steps + rng.standard_normal((len(levels) * length, n_columns))

    known = seqspan.segment(recording([0, 1, 2, 0, 1], 90)).states
    labels = known.predict(recording([1, 0, 2, 1, 0, -9], 70))
    boundaries = boundaries_from_labels(labels)
    np.testing.assert_allclose(boundaries, 70 * np.arange(1, 6), atol=2)
    assert labels[[0, *boundaries]].tolist() == [1, 0, 2, 1, 0, -1]


@pytest.mark.parametrize("n_columns", [3, 70, 100, 500])
@pytest.mark.parametrize("preprocess", [None, "unit_norm", "auto"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_however_many_rows_of_a_constant_recording_there_are_they_are_its_state(n_columns, preprocess, dtype):
    """Sums over columns are rounded in other ways if there are other numbers of rows."""
    for seed in range(4):
        row = np.random.default_rng(seed).normal(1, 3, n_columns).astype(dtype)
        found = seqspan.segment(np.tile(row, (50, 1)), preprocess=preprocess)
        assert len(found.spans) == 1
        for count in (1, 2, 33, 5000):
            assert (found.states.predict(np.tile(row, (count, 1))) == 0).all()
        assert (found.states.predict(np.tile(row, (7, 1)) * dtype(1.001)) == -1).all()


@pytest.mark.parametrize("n_columns", [1, 3, 100])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e300])
def test_the_state_of_a_constant_recording_is_recognised(n_columns, value, tmp_path):
    rows = np.full((50, n_columns), value)
    known = seqspan.segment(rows).states
    known.save(tmp_path / "states.npz")
    known = KnownStates.load(tmp_path / "states.npz")
    other = 1.01 * value + 1e-3
    labels = known.predict(np.concatenate([rows[:20], np.full((20, n_columns), other), rows[:20]]))
    assert labels[[5, 30, 50]].tolist() == [0, -1, 0]
    assert len(boundaries_from_labels(labels)) == 2
    assert known.agreement == 1
