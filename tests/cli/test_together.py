"""``--together`` and ``--gap``: several recordings, one folder."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import seqspan
from seqspan.cli.commands import app
from seqspan.datasets import make_recurring_subspaces
from seqspan.exports.selection import Selection
from seqspan.plots import COLOURS
from seqspan.results.folder import REPORT

ORDER, LENGTHS = (0, 1, 2, 0, 2, 1, 0), (40, 35, 45, 40, 30, 50, 40)
STARTS = [0, 120, 190]  # of the three recordings


@pytest.fixture
def trials(tmp_path, monkeypatch):
    """Three files with times of their own, the columns of one in another order."""
    monkeypatch.chdir(tmp_path)
    X, labels = make_recurring_subspaces(ORDER, 3, 12, LENGTHS, rng=0)
    (tmp_path / "trials").mkdir()
    names = [f"c{place}" for place in range(12)]
    for name, rows in zip("abc", np.split(X.T, STARTS[1:]), strict=True):
        order = list(range(12))[:: -1 if name == "b" else 1]
        write_table(tmp_path / "trials" / f"{name}.csv", np.arange(len(rows)) / 50, rows[:, order],
                    [names[place] for place in order])  # fmt: skip
    return tmp_path, labels


def write_table(path, times, rows, names):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *names])
        writer.writerows(np.column_stack([times, rows]).tolist())


def run(*arguments, status=0):
    result = CliRunner().invoke(app, ["segment", *arguments])
    assert result.exit_code == status, result.output
    return result


def read_rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_together_writes_one_folder_with_one_vocabulary(trials):
    folder, labels = trials
    run("trials/*.csv", "--together", "--export", "elan,audacity")
    out = folder / "trials.seqspan"
    rows = read_rows(out / "segments.csv")
    assert [row["recording"] for row in rows] == ["a.csv"] * 3 + ["b.csv"] * 2 + ["c.csv"] * 2
    assert [int(row["start"]) for row in rows] == [0, 40, 75, 120, 160, 190, 240]
    assert [int(row["label"]) for row in rows] == list(ORDER)
    assert [(row["start_time"], row["end_time"]) for row in rows[2:4]] == [("1.5", "2.4"), ("0", "0.8")]
    assert [row["confidence"] == "" for row in rows] == [True, False, False, True, False, True, False]
    samples = read_rows(out / "labels.csv")
    assert [int(row["label"]) for row in samples] == labels.tolist()
    assert (samples[120]["row"], samples[120]["recording"]) == ("0", "b.csv")
    document = json.loads((out / "result.json").read_text())
    assert [(part["path"], part["n_samples"]) for part in document["input"]["recordings"]] == [
        ("trials/a.csv", 120), ("trials/b.csv", 70), ("trials/c.csv", 90),
    ]  # fmt: skip
    assert document["command"].startswith("seqspan segment trials/a.csv trials/b.csv trials/c.csv")
    second = (out / "spans-b.csv.labels.txt").read_text().splitlines()
    assert [line.split("\t") for line in second] == [
        ["0.000000", "0.800000", "A"], ["0.800000", "1.400000", "C"],
    ]  # fmt: skip
    assert {path.name for path in out.glob("*.eaf")} == {f"spans-{name}.csv.eaf" for name in "abc"}


def test_exports_count_samples_from_the_start_of_their_file(trials, monkeypatch):
    """As those of films do, whose spans are ranges of frames."""
    seen = []
    monkeypatch.setattr(
        "seqspan.exports.selection.write_export", lambda name, timeline, path: seen.append(timeline)
    )
    paths = sorted((trials[0] / "trials").glob("*.csv"))
    found = seqspan.segment(paths)
    Selection(("elan",)).write(found.recording, found.spans, (), trials[0])
    assert [timeline.source for timeline in seen] == [str(path) for path in paths]
    assert [(span.start, span.end) for span in seen[1].spans] == [(0, 40), (40, 70)]


def test_the_report_has_a_row_for_each_recording(trials):
    folder, _ = trials
    run("trials/*.csv", "--together")
    page = (folder / "trials.seqspan" / REPORT).read_text()
    rows = page.split('class="recording-row"')[1:]
    assert len(rows) == 3
    spans = read_rows(folder / "trials.seqspan" / "segments.csv")
    longest = max(np.diff([*STARTS, sum(LENGTHS)]))
    for name, row in zip(("a.csv", "b.csv", "c.csv"), rows, strict=True):
        own = [span for span in spans if span["recording"] == name]
        assert f"{len(own)} spans of {name}" in row
        bars = re.findall(r'<rect x="([^"]*)" width="([^"]*)".*?fill="([^"]*)"><title>(.*?)</title>', row)
        assert len(bars) == len(own)
        for span, (x, width, colour, title) in zip(own, bars, strict=True):
            start, end = int(span["start"]) - int(own[0]["start"]), int(span["end"]) - int(span["start"])
            assert float(x) == pytest.approx(1000 * start / longest, abs=0.01)
            assert float(width) == pytest.approx(1000 * end / longest, abs=0.01)
            assert colour == COLOURS[int(span["label"])]
            assert title == f"{span['name']}: {span['start_time']} to {span['end_time']} s"
    assert "All 4 boundaries are clear." in page  # joins are not counted
    assert "NaN" not in page


def test_a_second_run_does_nothing_and_exports_come_again(trials):
    folder, _ = trials
    run("trials/*.csv", "--together", "--export", "elan", "--no-report")
    again = run("trials/*.csv", "--together", "--export", "elan", "--no-report")
    assert "nothing has changed" in again.output
    run("trials/*.csv", "--together", "--spans", "8", "--no-report")
    assert (folder / "trials.seqspan" / "spans-c.csv.eaf").exists()
    run("trials/b.csv", "trials/a.csv", "--together", "--out", "pair")
    assert read_rows(folder / "pair" / "segments.csv")[0]["recording"] == "b.csv"


def test_a_saved_result_is_read_back_with_its_recordings(trials):
    folder, _ = trials
    run("trials/*.csv", "--together", "--no-report")
    found = seqspan.Segmentation.load(folder / "trials.seqspan")
    assert found.recording.lengths == (120, 70, 90)
    assert [span.recording for span in found.spans] == [0, 0, 0, 1, 1, 2, 2]
    assert found.to_frame()["recording"][-1] == "c.csv"
    corrected = folder / "corrected.csv"
    corrected.write_text("start,end,label,recording\n0,40,A,a.csv\n40,200,B,a.csv\n200,280,A,c.csv\n")
    again = found.corrected(corrected)
    np.testing.assert_array_equal(again.boundaries, [40, 120, 190, 200])  # recordings end where they end


def test_inputs_that_do_not_match_are_refused(trials):
    folder, _ = trials
    write_table(
        folder / "trials" / "d.csv",
        np.arange(30) / 50,
        np.eye(30)[:, :11],
        [*(f"c{i}" for i in range(10)), "z"],
    )
    result = run("trials/*.csv", "--together", status=1)
    assert "d.csv has other columns than a.csv" in result.output
    assert "missing: c10, c11; additional: z" in result.output
    assert not (folder / "trials.seqspan").exists()


def test_long_gaps_are_joins(trials):
    folder, _ = trials
    X, _ = make_recurring_subspaces((0, 1, 0), 3, 12, (50, 50, 40), rng=0)
    times = np.concatenate([np.arange(20), 250 + np.arange(20, 70), 5000 + np.arange(70)]) / 50  # 5 s, 94 s
    write_table(folder / "log.csv", times, X.T, [f"c{place}" for place in range(12)])
    run("log.csv", "--gap", "10", "--no-report")
    rows = read_rows(folder / "log.seqspan" / "segments.csv")
    assert [int(row["start"]) for row in rows] == [0, 50, 70, 100]
    assert [row["recording"] for row in rows] == ["log.csv 1"] * 2 + ["log.csv 2"] * 2
    assert rows[1]["end_time"] == "6.4"
    run("log.csv", "--gap", "0", status=2)


def test_a_gap_is_in_seconds_whatever_the_unit_of_the_times(trials):
    folder, _ = trials
    X, _ = make_recurring_subspaces((0, 1, 0), 3, 12, (50, 50, 40), rng=0)
    times = 1_700_000_000_000 + 100 * np.concatenate([np.arange(70), 200 + np.arange(70)])  # a gap of 13.1 s
    write_table(folder / "log.csv", times, X.T, [f"c{place}" for place in range(12)])
    run("log.csv", "--time-column", "1", "--gap", "13", "--no-report")
    assert {row["recording"] for row in read_rows(folder / "log.seqspan" / "segments.csv")} == {
        "log.csv 1", "log.csv 2",
    }  # fmt: skip
    run("log.csv", "--time-column", "1", "--gap", "14", "--no-report")
    assert "recording" not in read_rows(folder / "log.seqspan" / "segments.csv")[0]


def test_gaps_need_times(trials):
    folder, _ = trials
    np.save(folder / "rows.npy", np.random.default_rng(0).standard_normal((40, 3)))
    refused = run("rows.npy", "--gap", "10", status=1)
    assert "--gap needs a recording with times; this one is measured in 'sample'" in refused.output


def test_many_recordings_are_in_a_box_that_scrolls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for place in range(13):
        rows = np.repeat(np.eye(3)[[place % 3, (place + 1) % 3]], 10, axis=0) + 0.1 * rng.standard_normal(
            (20, 3)
        )
        write_table(tmp_path / f"{place:02}.csv", np.arange(20) / 10, rows, list("abc"))
    run("*.csv", "--together", "--out", "found")
    page = (tmp_path / "found" / REPORT).read_text()
    assert 'class="recordings many" tabindex="0" role="list" aria-label="13 recordings"' in page
    assert page.count('class="recording-row"') == 13
