"""Several recordings segmented together: no span crosses from one into the next, and labels are shared."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.problems import make_cost

import seqspan
from seqspan import OSC
from seqspan._core.spans import Division
from seqspan.cuts import CUTS, make_cutter
from seqspan.cuts.ordered.n_spans import count_spans
from seqspan.cuts.ordered.settling import Settling
from seqspan.datasets import make_recurring_subspaces
from seqspan.pipeline import as_recording
from seqspan.preprocess import make_chain, preprocess
from seqspan.recording import concatenate, split_at_gaps

unhurried = settings(deadline=None, max_examples=15)


def planes(order, lengths, seed=0):
    """Samples (n, 12) of planes in turn, with a little noise."""
    X, labels = make_recurring_subspaces(order, 3, 12, lengths, rng=seed)
    return X.T + 0.01 * np.random.default_rng(seed).standard_normal(X.T.shape), labels


@cache
def random_problem(seed):
    """Samples that drift, and coefficients of nothing in particular."""
    rng = np.random.default_rng(seed)
    X = np.cumsum(rng.standard_normal((4, 60)), axis=1)
    return X, np.abs(rng.standard_normal((60, 60)))


@unhurried
@given(
    seed=st.integers(0, 5),
    joins=st.sets(st.integers(1, 59), max_size=6),
    cut=st.sampled_from(CUTS),
    more=st.integers(0, 4),
    exact=st.booleans(),
)
def test_no_span_crosses_a_join(seed, joins, cut, more, exact):
    X, Z = random_problem(seed)
    joins = tuple(sorted(joins))
    cutter = make_cutter(cut, X, Z, rng=0, joins=joins)
    room = sum(max(1, (b - a) // 5) for a, b in pairwise([0, *joins, 60]))
    wanted = min(len(joins) + 1 + more, room) if exact and cut != "ncut" else "auto"
    found = cutter.cut(wanted, 2 if cut == "ncut" else "auto")
    assert set(joins) <= set(found.boundaries.tolist())
    assert np.all(np.diff([0, *found.boundaries, 60]) > 0)
    if cut == "ordered" and wanted != "auto":
        assert len(found.labels) == wanted
    same = found.labels[1:] == found.labels[:-1]
    assert set(found.boundaries[same].tolist()) <= set(joins)  # neighbours of one recording differ
    confidence = cutter.confidence(found.boundaries)
    np.testing.assert_array_equal(np.isnan(confidence), np.isin(found.boundaries, joins))


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("method", ["osc", "spatsc", "lsr"])
def test_recordings_without_a_common_state_have_the_spans_of_separate_fits(method, cut):
    """They live in orthogonal spaces, so that nothing of one helps to represent the other."""
    first, _ = planes((0, 1, 0), (30, 25, 20), seed=1)
    second, _ = planes((0, 1), (20, 30), seed=2)
    aside = [np.hstack([first, np.zeros_like(first)]), np.hstack([np.zeros_like(second), second])]
    numbers = {"ordered": ({"n_spans": 3}, {"n_spans": 2}, {"n_spans": 5}), "peaks": ({}, {}, {})}
    own, other, both = numbers.get(cut, ({"n_subspaces": 2}, {"n_subspaces": 2}, {"n_subspaces": 4}))
    options = {"method": method, "cut": cut, "preprocess": None, "tol": 1e-4} if method != "lsr" else {
        "method": method, "cut": cut, "preprocess": None,
    }  # fmt: skip
    alone = [
        seqspan.segment(X, **options, **given).boundaries
        for X, given in zip(aside, (own, other), strict=True)
    ]
    joined = replace(as_recording(np.vstack(aside)), lengths=(75, 50))
    together = seqspan.segment(joined, **options, **both)
    np.testing.assert_array_equal(together.boundaries, [*alone[0], 75, *(75 + alone[1])])


def test_labels_are_shared_between_recordings():
    X, labels = planes((0, 1, 1, 0, 2), (30, 25, 20, 25, 30))
    found = seqspan.segment([as_recording(X[:55]), as_recording(X[55:])])
    np.testing.assert_array_equal(found.boundaries, [30, 55, 75, 100])
    np.testing.assert_array_equal(found.labels, labels)
    assert [span.recording for span in found.spans] == [0, 0, 1, 1, 1]
    assert [span.start_time for span in found.spans] == [0, 30, 0, 20, 45]
    assert [span.end_time for span in found.spans] == [30, 55, 20, 45, 75]
    assert np.isnan(found.confidence[1])
    assert found.spans[2].confidence is None


def test_one_export_cannot_hold_several_recordings(tmp_path):
    X, _ = planes((0, 1), (30, 25))
    found = seqspan.segment([as_recording(X[:30]), as_recording(X[30:])], n_spans=2)
    with pytest.raises(ValueError, match="these are 2 recordings"):
        found.export("elan", tmp_path / "spans.eaf")


def test_lengths_mean_the_same_as_a_list_of_recordings():
    X, _ = planes((0, 1, 1, 0), (30, 25, 20, 25))
    fitted = OSC(cut="ordered", random_state=0).fit(X, lengths=[55, 45])
    again = OSC(cut="ordered", random_state=0).fit([as_recording(X[:55]), as_recording(X[55:])])
    np.testing.assert_array_equal(fitted.boundaries_, again.boundaries_)
    np.testing.assert_array_equal(fitted.labels_, again.labels_)
    assert fitted.objective_ == pytest.approx(again.objective_, rel=1e-9)
    assert 55 in fitted.boundaries_


def test_one_length_is_a_plain_fit():
    X, _ = planes((0, 1, 0), (30, 25, 20))
    plain, single = OSC(random_state=0).fit(X), OSC(random_state=0).fit(X, lengths=[75])
    np.testing.assert_array_equal(single.labels_, plain.labels_)
    assert single.objective_ == plain.objective_


def test_paths_are_read(tmp_path):
    X, _ = planes((0, 1, 1, 0), (30, 25, 20, 25))
    for name, rows in (("a.npy", X[:55]), ("b.npy", X[55:])):
        np.save(tmp_path / name, rows)
    found = seqspan.segment([tmp_path / "a.npy", str(tmp_path / "b.npy")])
    assert found.recording.names == ("a.npy", "b.npy")
    np.testing.assert_array_equal(found.boundaries, [30, 55, 75])


@pytest.mark.parametrize("lengths", [[50, 20], [75, 0], [80], [37.5, 37.5]])
def test_lengths_must_add_up(lengths):
    with pytest.raises(ValueError, match="lengths must be positive ints that add up"):
        OSC().fit(planes((0, 1, 0), (30, 25, 20))[0], lengths=lengths)


@pytest.mark.parametrize("cut", ["ordered", "peaks"])
def test_there_is_at_least_one_span_in_every_recording(cut):
    with pytest.raises(ValueError, match="at least one for each of 3"):
        OSC(cut=cut, n_spans=2).fit(planes((0, 1, 0), (30, 25, 20))[0], lengths=[30, 25, 20])


def test_recordings_without_a_change_have_one_span_each():
    """And one label, although they are two spans."""
    X, _ = planes((0, 0), (60, 60))
    found = seqspan.segment([as_recording(X[:50]), as_recording(X[50:])])
    np.testing.assert_array_equal(found.boundaries, [50])
    assert found.n_subspaces == 1


def test_steps_do_not_mix_recordings():
    X, joins = np.arange(7.0)[:, None], (3,)
    delayed = make_chain("delay:3").apply(X, joins)
    np.testing.assert_array_equal(delayed[2:4], [[1, 2, 2], [3, 3, 4]])
    chain = make_chain("subsample:2, delay:3")
    np.testing.assert_array_equal(chain.rows(7, joins), [0, 2, 3, 5])
    np.testing.assert_array_equal(chain.apply(X, joins), [[0, 0, 2], [0, 2, 2], [3, 3, 5], [3, 5, 5]])
    several = concatenate([as_recording(X[:3]), as_recording(X[3:])])
    assert preprocess(several, "subsample:2").lengths == (2, 2)


def test_the_lag_is_chosen_within_recordings():
    """Short recordings of a slow sine, at levels of their own: across a join everything differs."""
    t = np.arange(40)
    X = np.concatenate([100 * level + np.sin(t / 15) for level in range(30)])[:, None]
    joins = tuple(range(40, 1200, 40))
    assert make_chain("auto", X, "table", joins).steps[2].lag == 1
    assert make_chain("auto", X, "table").steps[2].lag > 1


def test_subsampled_recordings_keep_their_joins():
    X, labels = planes((0, 1, 1, 0), (60, 51, 40, 50))
    found = seqspan.segment(
        [as_recording(X[:111]), as_recording(X[111:])], preprocess="subsample:2,unit_norm"
    )
    assert 111 in found.boundaries
    np.testing.assert_array_equal(found.boundaries, [60, 111, 151])
    np.testing.assert_array_equal(found.labels, labels)


def test_settling_finds_the_best_path_of_every_recording():
    """With label models that fit, a division that is far off comes back to the truth."""
    rng = np.random.default_rng(5)
    means = np.repeat([0.0, 4, 4, 0, 4], [20, 15, 15, 25, 25])[:, None]
    X = (means + 0.3 * rng.standard_normal((100, 2))).T
    settling = Settling(make_cost(X), 5, joins=(35,))
    rough = Division(np.array([17, 35, 53, 72]), np.array([0, 1, 1, 0, 1]))
    found = settling.settle(rough, 5)
    np.testing.assert_array_equal(found.boundaries, [20, 35, 50, 75])
    np.testing.assert_array_equal(found.labels, [0, 1, 1, 0, 1])


def test_a_jump_between_recordings_is_no_evidence_of_spans():
    """Two recordings of noise at different levels: one span each. In one recording it is a change."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((3, 300)) + np.repeat([0.0, 8.0], 150)
    whole, joined = count_spans(X, 5), count_spans(X, 5, joins=(150,))
    assert whole.choose() == joined.choose() == 2
    assert whole.recording.max() > 100  # nats
    assert joined.recording.max() < 10


def test_columns_are_matched_by_name():
    X = np.arange(6.0).reshape(2, 3)
    first = replace(as_recording(X), source="a.csv")
    other = replace(first, feature_names=("x2", "x0", "x1"), source="b.csv")
    np.testing.assert_array_equal(concatenate([first, other]).X[2:], X[:, [1, 2, 0]])
    wrong = replace(first, feature_names=("x0", "x1", "z"), source="c.csv")
    with pytest.raises(ValueError, match=r"c\.csv has other columns than a\.csv.*missing: x2; additional: z"):
        concatenate([first, wrong])
    many = replace(as_recording(np.ones((2, 30))), source="d.csv", feature_names=tuple(map(str, range(30))))
    with pytest.raises(ValueError, match=r"additional: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 more\)\.$"):
        concatenate([first, many])


def test_other_kinds_and_rates_are_refused():
    walk = replace(as_recording(np.eye(4)), times=np.arange(4) / 100, time_unit="s", source="walk.csv")
    with pytest.raises(ValueError, match=r"different sampling rates \(100 Hz: walk.csv; 50 Hz: run.csv\)"):
        concatenate([walk, replace(walk, times=np.arange(4) / 50, source="run.csv")])
    with pytest.raises(ValueError, match="table in s and mocap in s"):
        concatenate([walk, replace(walk, kind="mocap")])


def test_recordings_keep_what_belongs_to_them():
    walk = replace(
        as_recording(np.eye(4)),
        labels=np.array([0, -1, 1, 1]),
        label_names=("walk", "turn"),
        source="d/walk.csv",
    )
    run = replace(walk, label_names=("run", "turn"), source="d/run.csv", notes=("short",))
    both = concatenate([walk, run])
    assert both.label_names == ("walk", "turn", "run")
    np.testing.assert_array_equal(both.labels, [0, -1, 1, 1, 2, -1, 1, 1])
    assert both.notes == ("run.csv: short",)
    np.testing.assert_array_equal(both.file_rows, [0, 1, 2, 3, 0, 1, 2, 3])
    parts = both.split()
    assert [part.source for part in parts] == ["d/walk.csv", "d/run.csv"]
    np.testing.assert_array_equal(parts[1].X, run.X)
    taken = both.take(np.array([1, 5, 6]))
    assert (taken.lengths, taken.sources) == ((1, 2), ("d/walk.csv", "d/run.csv"))
    assert both.take(np.array([5, 6])).lengths == (2,)


def test_long_gaps_are_joins():
    log = replace(
        as_recording(np.eye(6)), times=np.array([0.0, 1, 2, 60, 61, 62]), time_unit="s", source="log.csv"
    )
    found = split_at_gaps(log, 10)
    assert (found.joins, found.names) == ((3,), ("log.csv 1", "log.csv 2"))
    assert split_at_gaps(log, 100) is log
    both = split_at_gaps(concatenate([log, replace(log, source="b.csv")]), 10)
    assert both.joins == (3, 6, 9)
    assert both.names == ("log.csv 1", "log.csv 2", "b.csv 1", "b.csv 2")


@pytest.mark.parametrize("start", [0.0, 1.7e9])
def test_the_time_from_sample_to_sample_is_no_gap(start):
    log = replace(as_recording(np.eye(60)), times=start + np.arange(60) / 10, time_unit="s")
    assert split_at_gaps(log, 0.1) is log
    for gap in (0.09, 0.0, -1.0, np.nan):
        with pytest.raises(
            ValueError, match=r"a gap must be longer than 0\.1 s, the time from sample to sample"
        ):
            split_at_gaps(log, gap)


def test_a_coarse_grid_keeps_the_joins(monkeypatch):
    """Boundaries move from the grid to the best sample; those of recordings stay where they are."""
    monkeypatch.setattr("seqspan.cuts.ordered.cut.GRID_POINTS", 12)
    monkeypatch.setattr("seqspan.cuts.ordered.settling.MAX_PATHS", 0)  # labels alone would put them back
    X, Z = random_problem(2)
    for n_spans in (3, 5, 7):
        found = make_cutter("ordered", X, Z, joins=(17, 41)).cut(n_spans)
        assert {17, 41} <= set(found.boundaries.tolist())
        assert len(found.labels) == n_spans


def test_too_many_paths_still_share_labels_across_joins(monkeypatch):
    monkeypatch.setattr("seqspan.cuts.ordered.settling.MAX_PATHS", 0)
    means = np.repeat([0.0, 4, 4, 0], [20, 15, 15, 50])[:, None]
    X = (means + 0.3 * np.random.default_rng(5).standard_normal((100, 2))).T
    given = Division(np.array([20, 35, 50, 75]), np.array([0, 1, 1, 0, 0]))
    found = Settling(make_cost(X), 5, joins=(35,)).settle(given, 5)
    np.testing.assert_array_equal(found.labels[:4], [0, 1, 1, 0])
    assert found.labels[4] != found.labels[3]  # neighbours of one recording
