"""Sampling rates: refused if they differ, resampled on request."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import seqspan
from seqspan._core.dates import Dates
from seqspan.cli.commands import app
from seqspan.recording import FrameView, Recording, concatenate, resample_to, split_at_gaps
from seqspan.recording.rates import sampling_rate


def recording_of(rate, seconds=40, seed=0, **more):
    """Three states in turn, each of them a slow oscillation around a mean of its own."""
    times = np.arange(round(seconds * rate)) / rate
    means = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    states = (times // 10).astype(int) % 3
    noise = 0.03 * np.random.default_rng(seed).standard_normal((len(times), 4))
    X = means[states] + 0.1 * np.sin(np.outer(times, [3, 2, 4, 3]) + states[:, None]) + noise
    about = {"time_unit": "s", "feature_names": tuple("abcd"), "kind": "table", "labels": states}
    return Recording(**{"X": X, "times": times, **about, **more})


@pytest.mark.parametrize("rate", [7.0, 20.0, 50.0, 130.0])
def test_a_slow_signal_is_the_same_at_any_rate(rate):
    times = np.arange(2000) / 50
    slow = np.column_stack([np.sin(times), np.cos(0.7 * times)])
    found = resample_to(
        Recording(X=slow, times=times, time_unit="s", feature_names=("a", "b"), kind="table"), rate
    )
    assert sampling_rate(found) == pytest.approx(rate)
    assert found.times[-1] <= times[-1]
    inner = slice(2, -2)
    expected = np.column_stack([np.sin(found.times), np.cos(0.7 * found.times)])
    np.testing.assert_allclose(found.X[inner], expected[inner], atol=0.005)


def test_fast_oscillations_do_not_become_slow_ones():
    times = np.arange(5000) / 100
    fast = np.cos(2 * np.pi * 9.5 * times)[:, None]  # every tenth sample of it is a slow wave
    recording = Recording(X=fast, times=times, time_unit="s", feature_names=("a",), kind="table")
    assert np.abs(resample_to(recording, 10.0).X).max() < 0.2
    assert np.abs(fast[::10]).max() > 0.99


@pytest.mark.parametrize("rate", [7.0, 130.0])
def test_samples_of_any_size_and_far_from_zero_keep_their_digits(rate):
    plain = recording_of(50.0)
    wanted = resample_to(plain, rate).X
    for exponent in (
        -1040,
        1023,
    ):  # the largest sample is then the largest there is, or loses half its digits
        scaled = resample_to(recording_of(50.0, X=np.ldexp(plain.X / 4, exponent)), rate).X
        np.testing.assert_allclose(np.ldexp(scaled, -exponent), wanted / 4, rtol=0, atol=1e-9)
    times = np.arange(200_000) / 50
    zero = np.array([1e8, -1e8])
    far = zero + 1e-3 * np.column_stack([np.sin(times / 20), np.cos(times / 30)])
    found = resample_to(
        Recording(X=far, times=times, time_unit="s", feature_names=("a", "b"), kind="table"), rate
    )
    slow = 1e-3 * np.column_stack([np.sin(found.times / 20), np.cos(found.times / 30)])
    # 1e8 has digits of 1.5e-8
    np.testing.assert_allclose(found.X[5:-5] - zero, slow[5:-5], rtol=0, atol=1e-7)


def test_whole_numbers_views_labels_and_rows_are_those_of_the_nearest_sample():
    frames = np.arange(60, dtype=np.uint8).reshape(30, 2)
    film = Recording(
        X=frames, times=np.arange(30) / 30, time_unit="s", feature_names=("a", "b"), kind="video",
        labels=np.arange(30), view=FrameView(frames.reshape(30, 1, 2)),
    )  # fmt: skip
    found = resample_to(film, 10.0)
    np.testing.assert_array_equal(found.X, frames[::3])
    np.testing.assert_array_equal(found.labels, np.arange(0, 30, 3))
    np.testing.assert_array_equal(found.file_rows, np.arange(0, 30, 3))
    np.testing.assert_array_equal(found.view.pixels[:, 0], frames[::3])


def test_dates_are_those_of_the_new_times():
    dates = Dates(np.datetime64("2026-01-01T00:00", "ms") + np.arange(11) * np.timedelta64(1000, "ms"))
    log = recording_of(1.0, 11, dates=dates)
    assert resample_to(log, 2.0).dates.to_iso()[1].startswith("2026-01-01T00:00:00.5")


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_dates_between_dates_of_any_unit_keep_their_digits(unit):
    dates = Dates(
        np.datetime64("2026-01-01", unit) + np.arange(11) * np.timedelta64(1, "D").astype(f"m8[{unit}]")
    )
    log = recording_of(1.0, 11, dates=dates, times=dates.seconds)
    found = resample_to(log, 3 / 86400)
    np.testing.assert_allclose(found.dates.seconds, found.times, atol=1e-6)


def test_recordings_are_resampled_one_by_one():
    log = recording_of(10.0, 20)
    log = split_at_gaps(Recording(**{**vars(log), "times": log.times + 60 * (log.times >= 10)}), 10.0)
    found = resample_to(log, 5.0)
    assert found.lengths == (50, 50)
    np.testing.assert_allclose(np.diff(found.times)[:49], 0.2)
    assert found.times[50] == 70.0
    assert "resampled from 10 Hz to 5 Hz" in found.notes


@pytest.mark.parametrize("rate", [7.0, 130.0])
def test_single_precision_is_kept(rate):
    plain = recording_of(50.0)
    single = resample_to(recording_of(50.0, X=plain.X.astype(np.float32)), rate)
    assert single.X.dtype == np.float32
    np.testing.assert_allclose(single.X, resample_to(plain, rate).X, atol=1e-6)


def test_a_single_sample_has_any_rate():
    log = recording_of(10.0, 20)
    alone = log.take(np.array([7]))
    several = concatenate([log, alone])
    assert several.lengths == (200, 1)
    found = resample_to(several, 5.0)
    assert found.lengths == (100, 1)
    np.testing.assert_array_equal(found.X[-1], log.X[7])
    assert found.times[-1] == 0.7
    with pytest.raises(ValueError, match=r"^a.csv has no sampling rate that others could be resampled to\.$"):
        concatenate([recording_of(1.0, 1, source="a.csv"), log], "first")


def test_different_rates_are_refused_with_a_list():
    rates = {"a": 50.0, "b": 50.2, "c": 25.0, "d": 100.0, "e": 25.0}
    recordings = [recording_of(rate, source=f"{name}.csv") for name, rate in rates.items()]
    with pytest.raises(ValueError, match=r"50 Hz: a.csv, b.csv; 25 Hz: c.csv, e.csv; 100 Hz: d.csv"):
        concatenate(recordings)
    assert concatenate(recordings, "first").lengths == (2000, 2008, 2000 - 1, 2000, 2000 - 1)
    assert concatenate(recordings, 10.0).lengths == (400,) * 5


def test_no_more_than_five_recordings_of_a_rate_are_named():
    recordings = [recording_of(50.0, 1, source=f"{name}.csv") for name in "abcdefg"]
    listed = r"\(50 Hz: a.csv, b.csv, c.csv, d.csv, e.csv and 2 more; 25 Hz: z.csv\)"
    with pytest.raises(ValueError, match=listed):
        concatenate([*recordings, recording_of(25.0, 1, source="z.csv")])


@pytest.mark.parametrize(
    ("rate", "message"), [("last", "resample must be a sampling rate or 'first'"), (-1.0, "must be positive")]
)
def test_what_is_no_rate_is_refused(rate, message):
    with pytest.raises(ValueError, match=message):
        concatenate([recording_of(10.0), recording_of(20.0)], rate)


def test_more_samples_than_anybody_wants_are_refused():
    with pytest.raises(ValueError, match=r"^1e\+09 Hz would be 39900000001 samples; at most 100000000 are"):
        resample_to(recording_of(10.0), 1e9)


def test_samples_without_times_cannot_be_resampled():
    with pytest.raises(ValueError, match="has no times"):
        resample_to(recording_of(1.0, time_unit="sample"), 2.0)
    with pytest.raises(ValueError, match="resample is for recordings and files"):
        seqspan.segment(np.eye(30), resample=2.0)


def test_states_are_shared_across_rates():
    recordings = [recording_of(20.0, seed=1, source="a.csv"), recording_of(45.0, seed=2, source="b.csv")]
    found = seqspan.segment(recordings, resample="first")
    labels = [[span.label for span in found.spans if span.recording == place] for place in (0, 1)]
    assert labels == [[0, 1, 2, 0]] * 2
    starts = [[span.start_time for span in found.spans if span.recording == place] for place in (0, 1)]
    np.testing.assert_allclose(starts, [[0, 10, 20, 30]] * 2, atol=0.2)


@pytest.fixture
def trials(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rate in (("a", 20.0), ("b", 45.0), ("new", 60.0)):
        each = recording_of(rate, seed=ord(name[0]))
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["time", *"abcd"], *np.column_stack([each.times, each.X]).tolist()])
    return tmp_path


def run(*arguments, status=0):
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == status, done.output
    return done.output


def test_the_command_resamples_and_apply_does_so_too(trials):
    refused = run("segment", "a.csv", "b.csv", "--together", status=1)
    assert "20 Hz: a.csv; 45 Hz: b.csv" in refused
    assert "--resample first" in refused
    options = ["--together", "--resample", "first", "--out", "both", "--no-report"]
    assert "b.csv: resampled from 45 Hz to 20 Hz" in run("segment", "a.csv", "b.csv", *options)
    assert json.loads((trials / "both" / "result.json").read_text())["input"]["rate"] == pytest.approx(20)
    assert "resampled from 60 Hz to 20 Hz" in run("apply", "both", "new.csv", "--out", "found")
    with (trials / "found" / "segments.csv").open(newline="") as file:
        spans = list(csv.DictReader(file))
    assert [int(span["label"]) for span in spans] == [0, 1, 2, 0]
    assert float(spans[1]["start_time"]) == pytest.approx(10, abs=0.2)


def test_apply_says_so_if_the_rate_differs(trials):
    run("segment", "a.csv", "--no-report")
    said = run("apply", "a.seqspan", "new.csv")
    assert "the known labels were found at 20 Hz, and this was recorded at 60 Hz" in said
    assert "--resample 20" in said


def test_apply_compares_rates_in_other_units_of_time(trials):
    rows = [line.split(",", 1) for line in (trials / "new.csv").read_text().splitlines()[1:]]
    for unit, factor in (("ms", 1000), ("m", 1)):
        lines = [f"time_{unit},a,b,c,d", *(f"{factor * float(time)!r},{rest}" for time, rest in rows)]
        (trials / f"{unit}.csv").write_text("\n".join(lines))
    run("segment", "a.csv", "--no-report")
    assert "segment --resample 20 finds" in run("apply", "a.seqspan", "ms.csv")
    run("segment", "a.csv", "--resample", "20", "--no-report")
    assert "resampled from 0.06 samples per ms to 0.02 samples per ms" in run("apply", "a.seqspan", "ms.csv")
    assert "found in a recording measured in 's', this one in 'm'" in run("apply", "a.seqspan", "m.csv")


def test_the_command_resamples_per_second_whatever_the_unit_of_the_times(trials):
    rows = [line.split(",", 1) for line in (trials / "a.csv").read_text().splitlines()[1:]]
    lines = ["time_ms,a,b,c,d", *(f"{1000 * float(time)!r},{rest}" for time, rest in rows)]
    (trials / "ms.csv").write_text("\n".join(lines))
    assert "resampled from 0.02 samples per ms to 0.005" in run(
        "segment", "ms.csv", "--resample", "5", "--no-report"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--resample", "fast"], "--resample must be a number > 0; got 'fast'"),
        (["--resample", "0"], "--resample must be finite and > 0"),
        (["--resample", "first"], "--resample first is for --together"),
    ],
)
def test_the_command_refuses_what_is_no_rate(trials, options, message):
    assert message in run("segment", "a.csv", *options, status=2)
