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


def test_spans_end_where_the_last_sample_ends():
    dates = Dates(np.array(["2024-03-01T10:00", "2024-03-01T10:05", "2024-03-01T10:10"], "M8[us]"))
    spans = make_spans(np.array([0, 0, 1]), np.array([2]), dates.seconds)
    rows = results.span_rows(spans, dates)
    assert [row["start_time"] for row in rows] == ["2024-03-01T10:00:00", "2024-03-01T10:10:00"]
    assert rows[-1]["end_time"] == "2024-03-01T10:15:00"
