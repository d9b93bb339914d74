"""Answers that can be used: columns, dates, names and lengths, as they go in and come out."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from tests.cli.test_segment import LENGTHS, ORDER, STARTS, only_error, run

from seqspan import Segmentation
from seqspan.cli.settings import Settings, make_settings
from seqspan.cli.values import count_samples
from seqspan.datasets import make_recurring_subspaces
from seqspan.recording import as_recording

START = datetime.fromisoformat("2024-10-27T02:59:00+02:00")


@pytest.fixture
def sensors(tmp_path, monkeypatch):
    """Twelve sensors at 10 Hz with time stamps, a row counter, a constant date, and a gap in row 3."""
    monkeypatch.chdir(tmp_path)
    X, _ = make_recurring_subspaces(ORDER, 3, 12, LENGTHS, rng=0)
    with Path("log.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["", "timestamp", "date", *(f"s{i}" for i in range(12)), "valve"])
        for i, sample in enumerate(X.T):
            stamp = (START + timedelta(milliseconds=100 * i)).isoformat(timespec="milliseconds")
            valve = "" if i == 3 else 100 * (i % 2)
            writer.writerow([i, stamp, "2024-10-27", *sample, valve])
    return Path("log.csv")


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def test_time_stamps_in_time_stamps_out(sensors):
    result = run("segment", sensors, "--exclude", "valve", "--json", "-q")
    spans = rows_of("log.seqspan/segments.csv")
    moments = [START + timedelta(milliseconds=100 * start) for start in (*STARTS, sum(LENGTHS))]
    assert [datetime.fromisoformat(span["start_time"]) for span in spans] == moments[:-1]
    assert datetime.fromisoformat(spans[-1]["end_time"]) == moments[-1]
    assert all(span["start_time"].endswith("+02:00") for span in spans)
    labels = rows_of("log.seqspan/labels.csv")
    assert len({row["time"] for row in labels}) == len(labels) == sum(LENGTHS)
    document = json.loads(result.stdout)
    assert document["spans"][1]["start_time"] == spans[1]["start_time"]
    assert document["input"]["time_zone"] == "+02:00"
    notes = document["input"]["notes"]
    assert notes[-1] == "12 features: " + ", ".join(f"s{i}" for i in range(12))
    assert "times come from column 'timestamp'" in notes
    again = Segmentation.load("log.seqspan")
    assert again.recording.dates.to_iso() == [row["time"] for row in labels]
    assert again.recording.times[1] == pytest.approx(0.1)


def test_rows_join_with_the_file_after_some_were_dropped(sensors):
    run("segment", sensors, "--missing", "drop", "-q")
    labels, table = rows_of("log.seqspan/labels.csv"), rows_of("log.csv")
    assert len(labels) == len(table) - 1
    assert all(row["time"] == table[int(row["row"])]["timestamp"] for row in labels)
    assert [int(row["index"]) for row in labels] == list(range(len(labels)))


def test_exports_count_seconds_from_the_first_sample(sensors):
    run("segment", sensors, "--exclude", "valve", "--export", "audacity", "-q")
    written = np.loadtxt("log.seqspan/spans.labels.txt", usecols=(0, 1))
    np.testing.assert_allclose(written[:, 0], np.array(STARTS) / 10, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--columns", "s1,flow"], "columns must be among the table's columns ('', timestamp, date, s0,"),
        (["--columns", "3"], "columns must be numeric to be features"),
        (["--exclude", "99"], "or their numbers from 1 to 16; got '99'"),
        (["--time-column", "when"], "time must be a numeric or date column"),
        (["--variable", "X"], "has no option variable; its options are"),
        (["--stride", "2"], "has no option stride; its options are"),
    ],
)
def test_a_wrong_column_is_an_error_that_lists_the_columns(sensors, options, words):
    assert words in only_error(run("segment", sensors, *options, status=1))


def test_numbers_that_stand_for_missing_values_are_noted_and_replaced(sensors):
    rows = sensors.read_text().splitlines()
    cells = [row.split(",") for row in rows]
    for place in (10, 50):
        cells[place][4] = "-9999"
    sensors.write_text("\n".join(map(",".join, cells)) + "\n")
    noted = run("segment", sensors, "--exclude", "valve", "--no-report")
    assert "log.csv: -9999 repeats far from all other values in s1 (2): if that stands for" in noted.output
    given = ("--exclude", "valve", "--missing-values", "-9999,1e20", "--missing")
    assert "s1 (2), first in row 9" in only_error(run("segment", sensors, *given, "error", status=1))
    run("segment", sensors, *given, "drop", "-q")
    assert len(rows_of("log.seqspan/labels.csv")) == len(rows) - 3
    run("apply", "log.seqspan", sensors, "-o", "again", "-q")
    assert len(rows_of("again/labels.csv")) == len(rows) - 3
    wrong = run("segment", sensors, "--missing-values", "none", status=2)
    assert "--missing-values must be numbers, such as -9999,-200; got 'none'" in wrong.output


def test_columns_are_chosen_by_name_and_number(sensors):
    result = run("segment", sensors, "--columns", "s2,4-5", "--time-column", "2", "--json", "-q")
    assert json.loads(result.stdout)["input"]["notes"][-1] == "3 features: s2, s0, s1"


@pytest.mark.parametrize(
    ("length", "preprocess", "samples"),
    [("2s", "auto", 20), ("500ms", "none", 5), ("7", "auto", 7), ("2s", "subsample:2,centre", 10)],
)
def test_the_shortest_span_may_be_a_time(sensors, monkeypatch, length, preprocess, samples):
    from seqspan.cli import segment as module

    seen = []
    real = module._segment
    monkeypatch.setattr(
        module,
        "_segment",
        lambda job, recording, estimator, *rest, **more: (
            seen.append(estimator.min_length),
            real(job, recording, estimator, *rest, **more),
        )[1],
    )
    run("segment", sensors, "--exclude", "valve", "--min-length", length, "--preprocess", preprocess, "-q")
    assert seen == [samples]


def test_the_shortest_span_of_a_clock_with_few_digits_is_a_time():
    recording = replace(as_recording(np.zeros((100, 1))), times=np.arange(100.0) // 10, time_unit="s")
    assert count_samples("3s", recording, "auto") == pytest.approx(30, rel=0.1)


def test_a_shortest_span_that_leaves_room_for_one_is_noted(sensors):
    note = "leaves room for one span only: it is 600 samples, more than half of the recording"
    assert (
        f"--min-length 1min {note}"
        in run("segment", sensors, "--exclude", "valve", "--min-length", "1min").stderr
    )
    assert note not in run("segment", sensors, "--exclude", "valve", "--min-length", "1s").stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--min-length", "long"], "--min-length must be a number of samples, or a time such as 2s"),
        (["--min-length", "2.5"], "--min-length must be a number of samples"),
        (["--min-length", "0s"], "--min-length must be positive"),
        (["--min-length", "9" * 400], "--min-length must be a finite number"),
        (["--min-length", "2s", "--cut", "ncut"], "is for --cut ordered"),
        (["--names", "A:walk"], "--names must be a list such as A=walk,B=run, or a CSV file; got 'A:walk'"),
        (["--names", "walk=A"], "--names must name labels, as in A=walk,B=run; got 'walk=A'"),
        (["--names", "A=walk,A=run"], "--names must give a label one name; got 'walk' and 'A=run'"),
        (["--columns", ","], "--columns must be a list of columns"),
        (["--grain", "huge"], "--grain must be one of 'coarse', 'default', 'fine'; got 'huge'"),
    ],
)
def test_a_wrong_value_is_a_wrong_command(sensors, options, words):
    assert words in only_error(run("segment", sensors, *options, status=2))


def test_a_time_needs_times(sensors):
    run("segment", sensors, "--exclude", "valve,timestamp", "--min-length", "5", "-q")
    error = only_error(
        run("segment", sensors, "--exclude", "valve,timestamp", "--min-length", "2s", status=1)
    )
    assert "--min-length 2s needs a recording with times; this one is measured in 'sample'" in error


def test_labels_have_the_names_that_they_are_given(sensors):
    result = run("segment", sensors, "--exclude", "valve", "--names", 'A=walk,"B=run, fast",J=sit')
    assert [row["name"] for row in rows_of("log.seqspan/segments.csv")] == ["walk", "run, fast", "C", "walk"]
    assert rows_of("log.seqspan/labels.csv")[25]["name"] == "run, fast"
    assert "there are names for labels that were not found: J (sit)" in result.stderr
    assert Segmentation.load("log.seqspan").label_names[0] == "walk"
    run(
        "segment",
        sensors,
        "--exclude",
        "valve",
        "--export",
        "audacity",
        "--names",
        "log.seqspan/segments.csv",
        "-q",
    )
    written = Path("log.seqspan/spans.labels.txt").read_text()
    assert [line.split("\t")[2] for line in written.splitlines()] == ["walk", "run, fast", "C", "walk"]


def test_names_of_a_file_decide_the_result_and_go_to_the_configuration(sensors):
    Path("names.csv").write_text("label,name\nB,run\n0,walk\n")
    settings = make_settings({"names": "names.csv"}, None)
    assert settings == Settings(names="A=walk,B=run")


def test_names_in_another_encoding_are_refused_with_their_file(sensors):
    Path("names.csv").write_bytes("label,name\nA,größe\n".encode("cp1252"))
    error = run("segment", sensors, "--names", "names.csv", status=2).stderr
    assert "names.csv: it is not UTF-8 text; save it as CSV UTF-8" in error


def test_all_options_are_shown_on_request(sensors):
    assert "--lambda2" not in run("segment", "--help").stdout
    assert "--lambda2 WEIGHT" in run("segment", "--help-all").stdout
