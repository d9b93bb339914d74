"""Recordings and their views: what belongs to a sample stays with it, whatever is taken or put together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqspan._core.dates import Dates
from seqspan.recording import (
    FrameView,
    PoseView,
    Recording,
    SpectrumView,
    as_recording,
    concatenate,
    resample_to,
    sampling_rate,
    split_at_gaps,
)


def poses(n=4, names=("hip", "knee")):
    return PoseView(np.arange(n * 6, dtype=np.float32).reshape(n, 2, 3), names, edges=((0, 1),))


def frames(n=4, height=2):
    return FrameView(np.arange(n * height * 3, dtype=np.uint8).reshape(n, height, 3))


def spectra(n=4, first=6.0):
    return SpectrumView(np.arange(n * 3.0).reshape(n, 3), first + np.arange(3.0), unit="um")


DATA = {FrameView: "pixels", PoseView: "positions", SpectrumView: "spectra"}


@pytest.mark.parametrize("make", [poses, frames, spectra])
def test_a_view_shows_the_samples_that_were_taken(make):
    whole, name = make(), DATA[type(make())]
    some = whole.take(np.array([1, 3]))
    np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[[1, 3]])
    np.testing.assert_array_equal(some.sample(1), whole.sample(3))
    np.testing.assert_array_equal(whole.sample(2), getattr(whole, name)[2])
    others = {key: value for key, value in vars(whole).items() if key != name}
    for key, value in others.items():
        np.testing.assert_array_equal(getattr(some, key), value)


@pytest.mark.parametrize("make", [poses, frames, spectra])
def test_views_that_show_the_same_thing_become_one(make):
    first, second, name = make(4), make(3), DATA[type(make())]
    both = concatenate([with_view(first), with_view(second)]).view
    np.testing.assert_array_equal(
        getattr(both, name), np.concatenate([getattr(first, name), getattr(second, name)])
    )
    for key, value in vars(first).items():
        if key != name:
            np.testing.assert_array_equal(getattr(both, key), value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (frames(), frames(height=3)),
        (frames(), None),
        (poses(), poses(names=("hip", "foot"))),
        (poses(), spectra()),
        (spectra(), spectra(first=7.0)),
        (spectra(), frames()),
        (None, frames()),
    ],
)
def test_views_that_show_different_things_are_left_out(first, second):
    assert concatenate([with_view(first), with_view(second)]).view is None


def with_view(view):
    n = 4 if view is None else len(getattr(view, DATA[type(view)]))
    return replace(as_recording(np.ones((n, 2))), view=view)


def dated(zone="UTC", day=1):
    instants = np.datetime64(f"2024-03-0{day}T10:00", "us") + 60 * np.arange(4).astype("m8[s]")
    return replace(
        as_recording(np.ones((4, 2))), times=60.0 * np.arange(4), time_unit="s", dates=Dates(instants, zone)
    )


def test_dates_stay_if_all_have_them_in_one_zone():
    both = concatenate([dated(), dated(day=2)])
    assert both.dates.zone == "UTC"
    assert both.dates.to_iso()[3:5] == ["2024-03-01T10:03:00Z", "2024-03-02T10:00:00Z"]
    assert concatenate([dated(), dated("Asia/Tokyo")]).dates is None
    assert concatenate([dated(), replace(dated(), dates=None)]).dates is None


def test_files_and_shared_notes_are_named_once():
    walk = replace(as_recording(np.ones((4, 2))), source="d/walk.csv", files=("d/walk.csv", "d/walk.hdr"))
    walk = walk.with_notes("2 features", "no header row")
    run = replace(walk, source="d/run.csv", files=("d/run.csv",), notes=("short", "2 features"))
    unnamed = replace(run, source="", files=(), notes=("2 features", "no times"))
    both = concatenate([walk, run, unnamed])
    assert both.files == ("d/walk.csv", "d/walk.hdr", "d/run.csv")
    assert both.notes == (
        "2 features", "walk.csv: no header row", "run.csv: short", "recording: no times",
    )  # fmt: skip
    assert both.source == ""
    assert both.names == ("walk.csv", "run.csv", "recording")


def test_labels_without_names_are_numbers_and_without_labels_there_are_none():
    walk = replace(as_recording(np.ones((3, 2))), labels=np.array([0, 2, 2]))
    np.testing.assert_array_equal(concatenate([walk, walk]).labels, [0, 2, 2, 0, 2, 2])
    assert concatenate([walk, replace(walk, labels=None)]).labels is None


def test_a_recording_alone_stays_as_it_is():
    walk = as_recording(np.ones((3, 2)))
    assert concatenate([walk]) is walk
    assert walk.split() == [walk]
    assert walk.joins == ()
    with pytest.raises(ValueError, match="need at least one; got none"):
        concatenate([])


def test_recordings_of_other_columns_and_preprocessing_are_refused():
    walk = replace(as_recording(np.ones((3, 2))), source="walk.csv", feature_names=("a", "a"))
    swapped = replace(walk, feature_names=("b", "a"), source="run.csv")
    with pytest.raises(ValueError, match=r"run\.csv has other columns than walk\.csv.*\(additional: b\)"):
        concatenate([walk, swapped])
    twice = replace(as_recording(np.ones((3, 3))), feature_names=("a", "a", "b"))
    with pytest.raises(ValueError, match=r"recording has other columns .*\(some have the same name\)"):
        concatenate([twice, replace(twice, feature_names=("a", "b", "a"))])
    with pytest.raises(
        ValueError, match=r"^walk\.csv and recording cannot be segmented together: .*table in sample and"
    ):
        concatenate([walk, replace(walk, source="", steps=({"step": "centre"},))])


def test_rates_of_recordings_without_names_are_listed_too():
    walk = replace(as_recording(np.ones((4, 2))), times=np.arange(4) / 100, time_unit="s")
    with pytest.raises(ValueError, match=r"\(100 Hz: recording; 50 Hz: recording\)"):
        concatenate([walk, replace(walk, times=np.arange(4) / 50)])


def test_samples_that_are_only_in_order_have_no_rate_but_a_gap_is_one():
    order = as_recording(np.ones((4, 2)))
    assert sampling_rate(order) is None
    equal = replace(order, times=np.zeros(4), time_unit="s")
    assert sampling_rate(equal) is None
    assert split_at_gaps(order, 0.5).joins == (1, 2, 3)
    for gap in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match=r"^a gap must be longer than 0; got"):
            split_at_gaps(order, gap)


def test_averages_of_columns_far_apart_keep_their_digits():
    """Samples of 1e6 and of 1, both with a slope: half the rate has their means over two samples."""
    rows = np.array([1e6, 1.0]) + np.arange(9.0)[:, None] * [1e-6, 1e-6]
    ramp = replace(as_recording(rows), times=np.arange(9.0), time_unit="s")
    new = resample_to(ramp, 0.5)
    np.testing.assert_allclose(new.X[1:-1], rows[2:-2:2], rtol=1e-15)
    np.testing.assert_allclose(new.X[[0, -1]], rows[[0, -1]] + [[5e-7] * 2, [-5e-7] * 2], rtol=1e-15)


def test_a_recording_says_what_it_is():
    both = concatenate([as_recording(np.ones((3, 2))), as_recording(np.ones((2, 2)))])
    assert repr(both) == "Recording(table, 5 samples x 2 features, float64, source='')"
    assert both.names == ("recording 1", "recording 2")
    assert [len(part) for part in both.split()] == [3, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros(5)}, r"X must have two axes, \(n_samples, n_features\); got shape \(5,\)"),
        ({"times": np.zeros(4)}, "times must have one entry per row of X, 5; got 4"),
        ({"labels": np.zeros(6, int)}, "labels must have one entry per row of X, 5; got 6"),
        ({"feature_names": ("a",)}, "feature_names must have one entry per column of X, 2; got 1"),
        ({"kind": "audio"}, "kind must be one of 'video', 'mocap', 'spectra', 'table'; got 'audio'"),
        ({"lengths": (3, 1)}, "lengths must be positive ints that add up to the number of samples, 5"),
        ({"sources": ("a",)}, "sources must have one entry per recording, 2; got 1"),
    ],
)
def test_a_recording_whose_fields_do_not_fit_is_refused(change, message):
    both = concatenate([as_recording(np.ones((3, 2))), as_recording(np.ones((2, 2)))])
    with pytest.raises(ValueError, match=f"^{message}"):
        Recording(**{**vars(both), **change})


def test_what_belongs_to_a_sample_is_taken_with_it():
    names = ("a.csv", "b.csv", "c.csv")
    each = [replace(dated(day=1 + day), labels=np.arange(4), source=name) for day, name in enumerate(names)]
    several = concatenate([replace(part, view=frames()) for part in each])
    some = several.take(np.array([1, 3, 8, 9, 11]))
    assert (some.lengths, some.sources, some.joins) == ((2, 3), ("a.csv", "c.csv"), (2,))
    np.testing.assert_array_equal(some.labels, [1, 3, 0, 1, 3])
    np.testing.assert_array_equal(some.file_rows, [1, 3, 0, 1, 3])
    np.testing.assert_array_equal(some.times, [60, 180, 0, 60, 180])
    assert [date[8:16] for date in some.dates.to_iso()] == [
        "01T10:01", "01T10:03", "03T10:00", "03T10:01", "03T10:03",
    ]  # fmt: skip
    np.testing.assert_array_equal(some.view.pixels, several.view.pixels[[1, 3, 8, 9, 11]])
    assert replace(several, sources=()).take(np.array([0, 5])).sources == ()


def test_dates_are_those_of_the_file_or_those_that_times_since_1970_stand_for():
    instants = np.datetime64("2024-03-01T10:00", "ms") + np.arange(3).astype("m8[s]")
    seconds = instants.astype(np.int64) / 1000
    log = replace(as_recording(np.eye(3)), times=seconds, time_unit="s")
    assert log.calendar.to_iso() == [f"2024-03-01T10:00:0{second}Z" for second in range(3)]
    assert replace(log, times=1000 * seconds, time_unit="ms").calendar.instants.tolist() == instants.tolist()
    assert replace(log, times=np.arange(3.0)).calendar is None
    assert replace(log, time_unit="sample").calendar is None
    own = Dates(instants + np.timedelta64(7, "s"), "+02:00")
    assert replace(log, dates=own).calendar is own


def test_recordings_without_a_file_have_names_too():
    walk = as_recording(np.eye(3))
    assert walk.names == ("recording",)
    assert replace(walk, lengths=(2, 1)).names == ("recording 1", "recording 2")


def test_gaps_divide_recordings_of_one_sample_and_more():
    walk = replace(as_recording(np.eye(6)), times=np.array([0.0, 0, 1, 2, 9, 10]), time_unit="s")
    several = replace(walk, lengths=(1, 5), sources=("a.csv", "b.csv"))
    found = split_at_gaps(several, 3.0)
    assert found.lengths == (1, 3, 2)
    assert found.sources == ("a.csv", "b.csv", "b.csv")


def test_shared_notes_have_the_order_of_the_first_recording():
    walk = as_recording(np.eye(3))
    both = concatenate([walk.with_notes("one", "two", "three"), walk.with_notes("two", "one")])
    assert both.notes == ("one", "two", "recording: three")


@pytest.mark.parametrize("zone", ["", "UTC", "+05:30", "Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize("first", ["1600-01-01", "1850-12-31T20:00", "2300-01-01", "9000-01-01"])
def test_dates_of_any_century_come_back_as_they_were_written(first, zone):
    dates = Dates(np.datetime64(first, "us") + np.arange(3) * np.timedelta64(17, "s"), zone)
    again = Dates.from_iso(dates.to_iso(), zone).instants.astype("M8[us]")
    assert again.tolist() == dates.instants.tolist()


def test_recordings_have_different_names_whatever_their_files_are_called():
    walk = as_recording(np.eye(3))
    sources = ["p/a.csv", "q/a.csv", "a.csv 1", "a.csv 3"]
    together = concatenate([replace(walk, source=source) for source in sources])
    assert together.names == ("a.csv 2", "a.csv 4", "a.csv 1", "a.csv 3")


@pytest.mark.parametrize(
    ("zone", "why"),
    [
        ("UTC", None),
        ("+02:00", "they are in different time zones (UTC, +02:00)"),
        ("", "they are in different time zones (UTC, no zone)"),
        (None, "some have none"),
    ],
)
def test_dates_that_cannot_be_put_together_are_noted(zone, why):
    instants = np.datetime64("2024-01-01", "s") + np.arange(3) * np.timedelta64(1, "s")
    walk = replace(as_recording(np.eye(3)), dates=Dates(instants, "UTC"))
    other = replace(walk, dates=None if zone is None else Dates(instants, zone))
    together = concatenate([walk, other])
    note = f"left out the dates of the recordings, because {why}: times count seconds from each first sample"
    assert (together.dates is None) == bool(why)
    assert together.notes == ((note,) if why else ())


def test_times_since_1970_are_dates_in_any_order_of_the_recordings():
    first = replace(as_recording(np.eye(3)), times=1.7e9 + np.arange(3.0), time_unit="s")
    second, stopwatch = replace(first, times=first.times + 60), replace(first, times=np.arange(3.0))
    for both in ([first, second], [second, first]):
        found = concatenate(both).calendar
        assert found.instants.tolist() == [day for each in both for day in each.calendar.instants.tolist()]
    assert concatenate([first, stopwatch, second]).calendar is None  # not 1970
