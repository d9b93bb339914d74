from __future__ import annotations

import csv
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan._core.dates import Dates
from seqspan._core.spans import make_spans
from seqspan.recording import Recording
from seqspan.results import tables as results


def recording_at(times, **more):
    return Recording(
        X=np.zeros((len(times), 1)), times=times, time_unit="s", feature_names=("a",), kind="table", **more
    )


def test_the_tables_are_as_documented(tmp_path):
    labels, times = np.array([0, 0, 1]), np.array([0.0, 0.5, 1.0])
    spans = make_spans(labels, np.array([2]), times, np.array([0.75]))
    results.write_segments(tmp_path / "segments.csv", spans)
    results.write_labels(tmp_path / "labels.csv", labels, recording_at(times))
    lines = (tmp_path / "segments.csv").read_text().splitlines()
    wanted = ["start,end,start_time,end_time,label,confidence,name", "0,2,0,1,0,,A", "2,3,1,1.5,1,0.75,B"]
    assert lines == wanted
    written = (tmp_path / "labels.csv").read_text()
    assert written == "index,time,label,row,name\n0,0,0,0,A\n1,0.5,0,1,A\n2,1,1,2,B\n"


def test_no_digit_of_a_time_is_lost(tmp_path):
    times = 1.7e12 + 100.0 * np.arange(50)  # milliseconds since 1970, at 10 Hz
    results.write_labels(tmp_path / "labels.csv", np.zeros(50, dtype=int), recording_at(times))
    written = np.loadtxt(tmp_path / "labels.csv", delimiter=",", skiprows=1, usecols=1)
    np.testing.assert_array_equal(written, times)


@given(st.floats(0, 1e18))
def test_a_written_time_differs_by_rounding_errors_at_most(time):
    assert abs(float(results.write_time(time)) - time) <= 2 * np.spacing(time)


@pytest.mark.parametrize("zone", ["", "UTC", "+02:00", "-03:30", "Europe/Berlin"])
def test_dates_are_written_and_read_again(tmp_path, zone):
    dates = Dates(np.datetime64("2024-03-31T00:30:00.25") + 1800 * np.arange(4, dtype="m8[s]"), zone)
    recording = recording_at(dates.seconds, dates=dates, rows=np.array([0, 2, 3, 7]))
    results.write_labels(tmp_path / "labels.csv", np.zeros(4, dtype=int), recording, ["walk, then run"])
    with (tmp_path / "labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["name"] for row in rows} == {"walk, then run"}
    samples = {name: [row[name] for row in rows] for name in rows[0]}
    about = {"time_unit": "s", "time_zone": zone, "kind": "table", "path": "x.csv", "read_options": {}}
    again = results.read_recording(samples, about)
    np.testing.assert_array_equal(again.dates.instants, dates.instants)
    assert again.dates.zone == zone
    assert again.rows.tolist() == [0, 2, 3, 7]
    moments = [datetime.fromisoformat(text) for text in samples["time"]]
    assert {moment.tzinfo is None for moment in moments} == {zone == ""}
    assert [(moment - moments[0]).total_seconds() for moment in moments] == [0, 1800, 3600, 5400]


@pytest.fixture
def walks():
    """Two recordings of three and two samples, the second a day later, with their spans."""
    instants = np.array(["2024-03-01T10:00", "2024-03-01T10:05", "2024-03-01T10:10"], "M8[us]")
    dates = Dates(np.append(instants, instants[:2] + np.timedelta64(1, "D")), "Europe/Berlin")
    times = np.array([0.0, 300.0, 600.0, 0.0, 300.0])
    recording = recording_at(times, dates=dates, lengths=(3, 2), sources=("a/é.csv", "b/two.csv"))
    labels = np.array([0, 0, 1, 1, 1])
    return recording, labels, make_spans(labels, np.array([2, 3]), times, np.array([0.5, np.nan]), (3,))


def test_tables_of_several_recordings_have_a_column_more(tmp_path, walks):
    recording, labels, spans = walks
    results.write_segments(tmp_path / "segments.csv", spans, recording.dates, ["gehen"], recording.names)
    results.write_labels(tmp_path / "labels.csv", labels, recording, ["gehen"])
    rows = (tmp_path / "segments.csv").read_bytes().decode("utf-8").split("\n")
    assert rows == [
        "start,end,start_time,end_time,label,confidence,name,recording",
        "0,2,2024-03-01T11:00:00+01:00,2024-03-01T11:10:00+01:00,0,,gehen,é.csv",
        "2,3,2024-03-01T11:10:00+01:00,2024-03-01T11:15:00+01:00,1,0.5,B,é.csv",
        "3,5,2024-03-02T11:00:00+01:00,2024-03-02T11:10:00+01:00,1,,B,two.csv",
        "",
    ]
    rows = (tmp_path / "labels.csv").read_bytes().decode("utf-8").split("\n")
    assert rows[0] == "index,time,label,row,name,recording"
    assert rows[1] == "0,2024-03-01T11:00:00+01:00,0,0,gehen,é.csv"
    assert rows[5:] == ["4,2024-03-02T11:05:00+01:00,1,4,B,two.csv", ""]


def test_a_frame_has_the_dates_of_each_recording(walks):
    recording, _, spans = walks
    frame = results.spans_frame(spans, recording.dates, ["gehen"], recording.names)
    assert frame.columns == [*results.SPAN_COLUMNS, "recording"]
    starts = [moment.isoformat() for moment in frame["start_time"]]
    ends = [moment.isoformat() for moment in frame["end_time"]]
    assert starts == [f"2024-03-0{day}+01:00" for day in ("1T11:00:00", "1T11:10:00", "2T11:00:00")]
    assert ends == [f"2024-03-0{day}+01:00" for day in ("1T11:10:00", "1T11:15:00", "2T11:10:00")]
    assert frame["recording"].to_list() == ["é.csv", "é.csv", "two.csv"]
    assert frame["name"].to_list() == ["gehen", "B", "B"]


@pytest.mark.parametrize(
    ("zone", "written"),
    [
        ("", "10:00:00"),
        ("UTC", "10:00:00+00:00"),
        ("+02:00", "10:00:00+00:00"),
        ("Asia/Tokyo", "19:00:00+09:00"),
    ],
)
def test_dates_of_a_frame_are_in_their_zone(zone, written):
    """A fixed offset has no name in polars, so it becomes UTC."""
    dates = Dates(np.array(["2024-03-01T10:00", "2024-03-01T10:05"], "M8[us]"), zone)
    frame = results.spans_frame(make_spans(np.zeros(2, int), np.array([], int), dates.seconds), dates)
    assert frame["start_time"][0].isoformat() == f"2024-03-01T{written}"


def test_what_is_said_about_recordings_is_read_again(tmp_path, walks):
    recording, labels, _ = walks
    about = results.describe_recording(recording)
    assert about["recordings"] == [
        {"name": "é.csv", "path": "a/é.csv", "n_samples": 3},
        {"name": "two.csv", "path": "b/two.csv", "n_samples": 2},
    ]
    assert (about["kind"], about["n_samples"], about["n_features"]) == ("table", 5, 1)
    assert (about["time_unit"], about["time_zone"]) == ("s", "Europe/Berlin")
    results.write_labels(tmp_path / "labels.csv", labels, recording)
    with (tmp_path / "labels.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    again = results.read_recording({name: [row[name] for row in rows] for name in rows[0]}, about)
    assert (again.lengths, again.sources, again.names) == ((3, 2), recording.sources, recording.names)
    assert (again.kind, again.time_unit, len(again)) == ("table", "s", 5)
    alone = results.describe_recording(recording_at(np.arange(3.0), notes=("two rows left out",)))
    assert alone["notes"] == ["two rows left out"]
    assert "recordings" not in alone
    assert alone["time_zone"] is None


def test_spans_end_where_the_last_sample_ends():
    dates = Dates(np.array(["2024-03-01T10:00", "2024-03-01T10:05", "2024-03-01T10:10"], "M8[us]"))
    spans = make_spans(np.array([0, 0, 1]), np.array([2]), dates.seconds)
    rows = results.span_rows(spans, dates)
    assert [row["start_time"] for row in rows] == ["2024-03-01T10:00:00", "2024-03-01T10:10:00"]
    assert rows[-1]["end_time"] == "2024-03-01T10:15:00"
