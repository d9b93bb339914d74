"""Segmentation while samples arrive: what is found, that it stays, and that memory does not grow."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from seqspan import OSC, SpatSC
from seqspan._core.spans import Division
from seqspan.cuts.online import stream as module
from seqspan.cuts.online.stream import Stream
from seqspan.cuts.ordered.confidence import boundary_confidence
from seqspan.cuts.ordered.labels import correlation_time
from seqspan.cuts.ordered.n_spans import SpanCount
from seqspan.estimators._partial_fit import Preparation

ORDER = [0, 1, 2, 0, 3, 1, 0, 2]


def recording(order=ORDER, length=100, d=6, seed=0, noise=0.1):
    """Spans around fixed points."""
    rng = np.random.default_rng(seed)
    points = np.linalg.qr(rng.standard_normal((d, d)))[0]
    X = np.repeat(points[list(order)], length, axis=0)
    return X + noise * rng.standard_normal(X.shape)


def fed(X, block, **options):
    stream = Stream(Preparation(None), **options)
    for start in range(0, len(X), block):
        stream.extend(X[start : start + block])
    return stream


def test_spans_are_found_and_are_final_while_samples_arrive():
    stream = fed(recording(), 100)
    found = stream.division()
    assert found.boundaries.tolist() == list(range(100, 800, 100))
    assert found.labels.tolist() == ORDER
    assert found.n_final >= 6
    assert max(stream.delays[2:]) <= 2 * module.CHUNK  # nothing but evidence has to be waited for


def test_boundaries_that_become_final_together_are_moved_between_their_neighbours(monkeypatch):
    seen = []

    def refine(cost, starts, *settings):
        seen.append(cost.n_samples)
        return starts

    monkeypatch.setattr(module, "refine", refine)
    stream = fed(recording(length=25), 200)
    assert len(seen) == len(stream.final) > 5
    assert max(seen) <= 60  # the samples of two spans, and no others


def test_how_samples_are_handed_in_changes_nothing():
    X = recording(noise=0.3, length=60)
    one = fed(X, 100)
    assert len(one.final) >= 3
    for block in (1, 37, 480):
        other = fed(X, block)
        assert one.final == other.final
        assert one.delays == other.delays
        assert one.division().boundaries.tolist() == other.division().boundaries.tolist()


def test_what_is_final_stays():
    X, stream = recording(noise=0.4), Stream(Preparation(None))
    before, labels = [], []
    for start in range(0, len(X), 50):
        stream.extend(X[start : start + 50])
        found = stream.division()
        assert found.boundaries[: len(before)].tolist() == before
        assert found.labels[: len(before)].tolist() == labels
        before = found.boundaries[: found.n_final].tolist()
        labels = found.labels[: found.n_final].tolist()
    assert len(before) >= 5


def test_noise_is_one_span():
    rng = np.random.default_rng(0)
    assert fed(rng.standard_normal((1500, 5)), 100).division().boundaries.tolist() == []


@pytest.mark.parametrize("Estimator", [OSC, SpatSC])
def test_a_stream_that_ends_before_anything_is_final_is_the_whole_fit(Estimator):
    X = recording([0, 1, 2, 0], length=30)
    whole = Estimator(cut="ordered").fit(X)
    stream = Estimator().partial_fit(X[:50]).partial_fit(X[50:], last=True)
    assert stream.boundaries_.tolist() == whole.boundaries_.tolist() == [30, 60, 90]
    assert stream.span_labels_.tolist() == [0, 1, 2, 0]
    assert stream.n_final_ == 3


def test_the_whole_fit_follows_what_is_final():
    X = recording()
    osc = OSC().partial_fit(X[:730])
    n_final, final = osc.n_final_, osc.boundaries_[: osc.n_final_].tolist()
    assert n_final >= 5
    osc.partial_fit(X[730:], last=True)
    assert osc.boundaries_[:n_final].tolist() == final
    assert osc.boundaries_.tolist() == list(range(100, 800, 100))
    assert osc.span_labels_.tolist() == ORDER
    assert osc.labels_.tolist() == [2] * 70


def test_a_boundary_that_the_whole_fit_puts_elsewhere_is_not_found_twice():
    stream = fed(recording(), 100)
    stream.final, stream.final_labels = [100, 200], [0, 1]
    whole = Division(np.array([97, 204, 300, 400]), np.array([0, 1, 2, 0, 1]))
    found = stream.finish(whole)
    assert found.boundaries.tolist() == [100, 200, 300, 400]
    assert found.labels.tolist() == [0, 1, 2, 0, 1]
    assert found.n_final == 4


def test_labels_that_are_new_at_the_end_are_different_ones():
    stream = fed(recording(), 100)
    stream.final, stream.final_labels = [100], [0]
    found = stream.finish(Division(np.array([100, 200, 300, 400]), np.array([0, 1, 2, 0, 3])))
    assert found.labels.tolist() == [0, 1, 2, 0, 3]


@pytest.mark.parametrize("length", [150, 151, 153])
def test_a_last_boundary_is_exact_between_places_that_are_far_apart(length):
    stream = fed(recording([0, 1], length=length, noise=0.3), 50, time_scale=32)
    assert stream._search.step == 8
    assert stream.final == [length]


def test_no_label_is_added_beyond_the_limit_at_the_end():
    stream = fed(recording(), 100, n_labels=2)
    assert stream.final
    found = stream.finish(Division(np.arange(100, 800, 100), np.array(ORDER)))
    assert found.n_labels == 2


def test_memory_does_not_grow(monkeypatch):
    monkeypatch.setattr(module, "HELD", 512)
    monkeypatch.setattr(module, "KEPT", 384)
    monkeypatch.setattr(module, "MAX_PLACES", 64)
    stream = Stream(Preparation(None))
    for seed in range(6):
        stream.extend(recording(noise=0.2 + 0.1 * (seed % 3)))
        assert len(stream.rows) <= 512 + module.CHUNK
        assert stream._search.n_places <= 64 + 1
    assert stream.n_samples == 4800
    found = stream.division().boundaries
    true = np.arange(100, 4800, 100)
    assert np.mean([np.abs(found - place).min() <= 12 for place in true]) > 0.9


def test_places_are_twice_as_far_apart_once_there_are_too_many(monkeypatch):
    monkeypatch.setattr(module, "MAX_PLACES", 64)
    looked, appended = [], []

    class Spied(Stream):
        def _look(self):
            super()._look()
            looked.append((self._search.step, -(-len(self._Y) // 64)))

        def _append(self):
            before = self._search.step
            super()._append()
            appended.append(self._search.step / before)

    stream = Spied(Preparation(None), time_scale=1)
    stream.extend(np.random.default_rng(0).standard_normal((1000, 4)))
    assert stream.final == []
    assert len(looked) > 3
    assert all(step == fewest for step, fewest in looked)
    assert set(appended) == {1, 2}


def test_a_long_span_ends_although_its_start_is_not_held(monkeypatch):
    monkeypatch.setattr(module, "HELD", 512)
    monkeypatch.setattr(module, "KEPT", 384)
    X = recording([0, 1], length=1500)
    stream = fed(X, 100)
    assert stream.final == [1500]
    assert stream.start >= 2400


def test_spans_are_labelled_by_the_samples_that_are_held(monkeypatch):
    monkeypatch.setattr(module, "HELD", 512)
    monkeypatch.setattr(module, "KEPT", 384)
    stream = fed(recording(), 100)
    assert stream.start > 300
    assert stream.division().labels.tolist() == ORDER


def test_a_stream_that_is_stored_goes_on():
    X = recording(noise=0.3)
    osc = OSC().partial_fit(X[:450])
    again = pickle.loads(pickle.dumps(osc))
    assert again.partial_fit(X[450:]).boundaries_.tolist() == osc.partial_fit(X[450:]).boundaries_.tolist()


def test_a_fresh_stream_has_a_state_too():
    numbers, arrays = Stream(Preparation(None)).state()
    assert json.loads(json.dumps(numbers)) == {
        "n_samples": 0, "start": 0, "final": [], "final_labels": [], "delays": [], "time_scale": 1.0,
        "_reached": 0, "_next_look": 128, "_saw_change": False, "_new_state": False, "_described_at": 0,
    }  # fmt: skip
    assert {arrays[name].size for name in ("rows", "Y")} == {0}
    again = Stream(Preparation(None))
    again.restore(numbers, arrays, None)
    again.extend(recording()[:250])
    assert again.division().boundaries.tolist() == fed(recording()[:250], 250).division().boundaries.tolist()


@pytest.mark.parametrize("n", [100, 333, 450, 700])
@pytest.mark.parametrize("steps", [None, "centre, delay:5"])
def test_a_stream_goes_on_from_its_state(n, steps):
    X = recording(noise=0.3)
    streams = [Stream(Preparation(steps)), Stream(Preparation(steps))]
    streams[0].extend(X[:n])
    numbers, arrays = streams[0].state()
    kept = {name: array.copy() for name, array in arrays.items()}
    streams[1].restore(json.loads(json.dumps(numbers)), kept, streams[0].prepared)
    np.testing.assert_array_equal(streams[1].rows, X[:n])
    for stream in streams:
        stream.extend(X[n:])
    one, other = (stream.division() for stream in streams)
    assert one.boundaries.tolist() == other.boundaries.tolist()
    assert one.labels.tolist() == other.labels.tolist()
    assert one.n_final == other.n_final > 0
    assert streams[0].delays == streams[1].delays
    (numbers, arrays), (same, alike) = (stream.state() for stream in streams)
    assert numbers == same
    assert arrays.keys() == alike.keys()
    for name, array in arrays.items():
        np.testing.assert_allclose(alike[name], array, rtol=1e-6, atol=1e-9)


def test_confidence_is_that_of_the_features_that_are_held(monkeypatch):
    monkeypatch.setattr(module, "HELD", 512)
    monkeypatch.setattr(module, "KEPT", 384)
    stream = fed(recording(), 100)
    assert stream.start > 100
    held = stream.division().boundaries
    held = held[held > stream.start]
    found = stream.confidence(np.array([100, *held]))
    assert np.isnan(found[0])
    np.testing.assert_array_equal(found[1:], boundary_confidence(stream._Y, held - stream.start))
    assert found[1:].min() > 0.5


def test_a_new_state_gets_anchors_of_its_own_but_not_too_often(monkeypatch):
    monkeypatch.setattr(module, "DESCRIBED_FOR", 600)
    described = []

    class Spied(Stream):
        def _describe_anew(self):
            described.append((self._reached, self._reached - self._described_at))
            return super()._describe_anew()

        def _look(self):
            super()._look()
            described.pop()

    stream = Spied(Preparation(None))
    stream.extend(recording([0, 1, 2, 3, 4, 5, 0, 1, 6, 7] * 2, length=160, d=9))
    assert 1 <= len(described) <= 3200 // 600
    assert all(600 <= age < 600 + 3 * 160 for _, age in described)
    assert stream._described_at >= described[-1][0]
    described.clear()
    stream = Spied(Preparation(None))
    stream.extend(recording([0, 1] * 10, length=160))
    assert described == []


def test_spans_are_counted_by_the_threads_asked_for_and_all_else_by_one(monkeypatch):
    counted, teams = [], []

    def count_spans(X, min_length, n_jobs, count=module.count_spans, **options):
        counted.append(n_jobs)
        return count(X, min_length, n_jobs, **options)

    def team(n_jobs, make=module.Team):
        teams.append(n_jobs)
        return make(n_jobs)

    monkeypatch.setattr(module, "count_spans", count_spans)
    monkeypatch.setattr(module, "Team", team)
    Stream(Preparation(None), n_jobs=2).extend(recording([0, 1]))
    assert set(counted) == {2}
    assert set(teams) == {1}


def test_every_sample_may_be_a_boundary_of_a_short_stream_without_a_time_scale():
    stream = fed(recording([0, 1]), 50)
    assert stream.time_scale < 2
    assert stream._search.step == 1


def test_no_more_labels_than_subspaces_are_asked_for():
    X = recording()
    assert OSC(n_subspaces=2).partial_fit(X).n_subspaces_ == 2
    assert max(OSC(n_subspaces=3).partial_fit(X[:500], last=True).span_labels_) <= 3


def test_a_new_recording_begins_after_the_last_block():
    X = recording()
    osc = OSC().partial_fit(X[:300], last=True)
    osc.partial_fit(X[:90, :4], last=True)  # other features, other length
    assert osc.n_samples_seen_ == 90
    assert osc.boundaries_.tolist() == []


def test_preprocessing_is_learned_from_the_stream():
    X = recording() * np.array([1e3, 1, 1, 1, 1, 1e-3]) + 500.0
    osc = OSC(preprocess="centre,scale").partial_fit(X)
    assert osc.boundaries_.tolist() == list(range(100, 800, 100))
    with pytest.raises(ValueError, match="must not contain 'subsample'"):
        OSC(preprocess="subsample:2").partial_fit(X)


def test_steps_are_kept_once_a_span_is_final():
    kept, learn = [], Preparation("auto")

    def prepare(rows, earlier):
        kept.append((earlier is not None, len(stream.final) > 0))
        return learn(rows, earlier)

    stream = Stream(prepare)
    stream.extend(recording())
    assert {(False, False), (True, True)} == set(kept)


def test_one_column_is_embedded():
    rng = np.random.default_rng(0)
    wave = np.sin(np.arange(1200) * np.repeat([0.3, 1.1, 0.3], 400))[:, None]
    osc = OSC(preprocess="auto").partial_fit(wave + 0.05 * rng.standard_normal(wave.shape))
    assert len(osc.boundaries_) >= 2
    assert all(np.abs(osc.boundaries_ - place).min() <= 20 for place in (400, 800))


@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("size", [1.0, 100.0])
def test_a_step_of_few_columns_is_one_boundary(n_columns, size):
    """Of the windows around a step that hold both sides of it, there are enough for a span."""
    steps = np.repeat([0.0, size, 0.0], [150, 200, 150])[:, None]
    rows = steps + 0.1 * np.random.default_rng(n_columns).standard_normal((500, n_columns))
    stream = OSC(preprocess="auto").begin_stream()
    for block in np.array_split(rows, 20):
        stream.extend(block)
    assert len(stream.division().boundaries) == 2
    np.testing.assert_allclose(stream.division().boundaries, [150, 350], atol=stream.prepared.reach)
    assert len(stream.final) > 0


def test_samples_are_described_once_their_neighbours_have_arrived():
    stream = Stream(Preparation("delay:5"))
    stream.extend(recording(length=60))
    assert stream.prepared.reach == 2
    assert stream._described_at < stream._reached  # more samples have come since
    whole = stream._features(stream.prepared(stream.rows[: stream._reached]).T)
    assert len(stream._Y) == stream._reached - 2
    np.testing.assert_allclose(stream._Y, whole[:-2], atol=1e-9)


def test_the_time_scale_is_found_or_given():
    X = recording(length=50)
    smooth = gaussian_filter1d(X, 6, axis=0)
    assert OSC().partial_fit(X).time_scale_ < 2
    assert 4 < OSC().partial_fit(smooth).time_scale_ < 20
    assert OSC(time_scale=16).partial_fit(X).time_scale_ == 16


def test_the_time_scale_is_that_between_boundaries_that_are_exact():
    X = gaussian_filter1d(recording([0, 1], length=65, noise=0.3), 1, axis=0)
    stream = fed(X, 130)
    Y = stream._Y[:, : stream._search.n_features]
    assert stream.time_scale == pytest.approx(correlation_time(Y, np.array([0, 65, 128])))


def test_no_span_is_shorter_than_the_time_scale():
    X = recording(ORDER * 2, length=30)
    assert np.diff(fed(X, 50).division().boundaries).min() <= 31
    stream = fed(X, 50, time_scale=45)
    assert np.diff(stream.division().boundaries).min() >= 36
    assert stream._search.step == 11  # four places in it


@pytest.mark.parametrize(("grain", "price"), [("coarse", 12.0), ("default", 10.0), ("fine", 7.0)])
def test_the_price_of_a_boundary_is_that_of_the_grain_s_number_of_spans(grain, price):
    chance = np.tile([0.0, 4.0, 12.0, 24.0, 40.0], (2, 1))
    count = SpanCount(np.array([0.0, 20.0, 30.0, 37.0, 38.0]), np.zeros((2, 5)), chance)
    assert [count.choose(each) for each in ("coarse", "default", "fine")] == [2, 3, 4]
    assert module.price_of_boundary(count, 1000, grain) == pytest.approx(np.log(1000) + price)


def test_a_finer_grain_finds_more():
    rng = np.random.default_rng(3)
    X = np.cumsum(rng.standard_normal((600, 3)), axis=0)
    counts = [len(OSC(grain=grain).partial_fit(X).boundaries_) for grain in ("coarse", "fine")]
    assert counts[0] < counts[1]


@pytest.mark.parametrize("n", [0, 1, 2, 40])
def test_few_samples_are_one_span(n):
    X = np.random.default_rng(0).standard_normal((n, 3))
    osc = OSC().partial_fit(X).partial_fit(X[:0], last=True)
    assert (osc.boundaries_.tolist(), osc.span_labels_.tolist()) == ([], [0])


def test_samples_of_zeros_are_no_reason_to_fail():
    stream = fed(np.zeros((400, 5)), 100)
    assert stream.division().boundaries.tolist() == []
    stream.extend(recording([0], length=300, d=5))
    assert np.abs(stream.division().boundaries - 400).min() <= 5


def test_single_precision_is_kept():
    assert fed(recording().astype(np.float32), 200).rows.dtype == np.float32


def test_what_is_wrong_is_said():
    X = recording([0, 1])
    with pytest.raises(ValueError, match="time_scale must be an int"):
        OSC(time_scale=0).partial_fit(X)
    with pytest.raises(ValueError, match="cut must be one of 'ordered', 'ncut'; got 'peaks'"):
        OSC(cut="peaks").partial_fit(X)
    with pytest.raises(ValueError, match="grain must be one of"):
        OSC(grain="tiny").partial_fit(X)
    with pytest.raises(ValueError, match="features"):
        OSC().partial_fit(X).partial_fit(X[:, :5])
