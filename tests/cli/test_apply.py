"""``seqspan apply``: the labels of a result, in new recordings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.test_folders import files, run

from seqspan import Segmentation
from seqspan.results.folder import STATES

pytestmark = pytest.mark.usefixtures("plain_report")
LENGTH = 40
MEANS = np.random.default_rng(5).normal(0, 3, (4, 5))


def write_days(path, order, columns="abcde", seed=0):
    """Spans around known means, ten samples a second."""
    noise = np.random.default_rng(seed).normal(0, 0.5, (len(order) * LENGTH, 5))
    X = np.repeat(MEANS[list(order)], LENGTH, axis=0) + noise
    rows = [",".join(map(str, (t / 10, *row))) for t, row in enumerate(X)]
    path.write_text("\n".join([",".join(["time_s", *columns]), *rows]) + "\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The first day segmented, with a name for its first label; the second day has a state that is new."""
    monkeypatch.chdir(tmp_path)
    write_days(tmp_path / "day1.csv", (0, 1, 2, 0, 1))
    write_days(tmp_path / "day2.csv", (1, 3, 0), seed=1)
    run("segment", "day1.csv", "--spans", 5, "--subspaces", 3, "--names", "A=rest", "-q")
    return tmp_path


def test_a_new_recording_gets_a_folder_of_the_same_kind(folder):
    result = run("apply", "day1.seqspan", "day2.csv", "--export", "elan", "-q")
    assert result.output == ""
    names = {"segments.csv", "labels.csv", "result.json", "report.html", "spans.eaf", STATES}
    assert set(files(Path("day2.seqspan"))) == names
    found = Segmentation.load("day2.seqspan")
    assert [(span.label, span.start) for span in found.spans] == [(1, 0), (-1, LENGTH), (0, 2 * LENGTH)]
    rows = Path("day2.seqspan/segments.csv").read_text().splitlines()
    assert [row.rpartition(",")[2] for row in rows] == ["name", "B", "unknown", "rest"]
    assert ">unknown<" in Path("day2.seqspan/spans.eaf").read_text()
    document = json.loads(Path("day2.seqspan/result.json").read_text())
    assert document["states"]["path"] == "day1.seqspan"
    assert document["states"]["unknown"] == pytest.approx(1 / 3, abs=0.02)
    assert document["gap"] is None


def test_new_names_of_the_labels_are_noticed(folder):
    run("apply", "day1.seqspan", "day2.csv", "-q")
    run("segment", "day1.csv", "--spans", 5, "--subspaces", 3, "--names", "A=sleep", "-q")
    assert "nothing has changed" not in run("apply", "day1.seqspan", "day2.csv").output
    assert ",sleep" in Path("day2.seqspan/segments.csv").read_text()


def test_its_result_can_be_applied_and_exported_in_turn(folder):
    run("apply", "day1.seqspan", "day2.csv", "-q")
    write_days(folder / "day3.csv", (0, 2), seed=2)
    run("apply", "day2.seqspan", "day3.csv", "-q")
    assert [span.label for span in Segmentation.load("day3.seqspan").spans] == [0, 2]
    run("export", "day2.seqspan", "--export", "audacity")
    assert "unknown" in Path("day2.seqspan/spans.labels.txt").read_text()


def test_one_line_says_what_was_found(folder):
    result = run("apply", "day1.seqspan", "day2.csv")
    assert "day2.csv: 3 spans of 2 states as in day1.seqspan, 33 % of the samples unknown" in result.output
    again = run("apply", "day1.seqspan", "day2.csv")
    assert "nothing has changed since the last run" in again.output
    summary = json.loads(run("apply", "day1.seqspan", "day2.csv", "--json", "-q").stdout)
    assert (summary["status"], summary["n_spans"], summary["n_subspaces"]) == ("unchanged", 3, 2)


def test_what_segment_found_is_left_alone(folder):
    before = files(Path("day1.seqspan"))
    run("apply", "day1.seqspan", "day1.csv", "-q")
    assert files(Path("day1.seqspan")) == before
    np.testing.assert_array_equal(
        Segmentation.load("day1-2.seqspan").labels, Segmentation.load("day1.seqspan").labels
    )
    refused = run("apply", "day1.seqspan", "day1.csv", "-o", "day1.seqspan", status=1)
    assert "holds what seqspan segment has found" in refused.output
    assert files(Path("day1.seqspan")) == before


def test_a_missing_column_fails_alone_and_additional_ones_are_left_out(folder):
    write_days(folder / "broken.csv", (0, 1), columns="abcdx")
    lines = Path("day2.csv").read_text().splitlines()
    wide = ["note," + lines[0], *(f"7,{line}" for line in lines[1:])]
    (folder / "wide.csv").write_text("\n".join(wide) + "\n")
    result = run("apply", "day1.seqspan", "broken.csv", "wide.csv", status=1)
    assert "broken.csv: the columns must be those that the states were found in" in result.output
    assert "missing: e; additional: x." in result.output
    assert "do not look at were left out: note" in result.output
    assert [span.label for span in Segmentation.load("wide.seqspan").spans] == [1, -1, 0]


def test_inputs_are_read_as_the_first_one_was(folder):
    run("segment", "day1.csv", "--columns", "a,b,c", "--spans", 5, "--subspaces", 3, "-o", "few", "-q")
    run("apply", "few", "day2.csv", "-q")
    document = json.loads(Path("day2.seqspan/result.json").read_text())
    assert document["input"]["n_features"] == 3
    assert document["settings"]["columns"] == "a,b,c"


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda folder: (folder / "result.json").unlink(), "no result folder"),
        (lambda folder: (folder / STATES).write_bytes(b"x"), "has changed since it was written"),
        (lambda folder: (folder / STATES).unlink(), "is missing or has changed"),
    ],
)
def test_a_folder_without_states_is_refused(folder, harm, message):
    harm(folder / "day1.seqspan")
    result = run("apply", "day1.seqspan", "day2.csv", status=1)
    assert message in result.output
    assert not Path("day2.seqspan").exists()


def test_a_result_of_an_earlier_version_says_what_to_do(folder):
    document = json.loads(Path("day1.seqspan/result.json").read_text())
    del document["files"][STATES]
    Path("day1.seqspan/result.json").write_text(json.dumps(document))
    result = run("apply", "day1.seqspan", "day2.csv", status=1)
    assert "run seqspan segment again" in result.output


def test_labels_that_do_not_return_even_at_home_are_noted(folder):
    rng = np.random.default_rng(0)
    np.savetxt("noise.csv", rng.standard_normal((80, 3)), delimiter=",", header="a,b,c", comments="")
    halves = "start,end,label\n" + "".join(f"{k},{k + 4},{'AB'[k // 4 % 2]}\n" for k in range(0, 80, 4))
    Path("halves.csv").write_text(halves)
    run("segment", "noise.csv", "--segments", "halves.csv", "-q")
    result = run("apply", "noise.seqspan", "noise.csv")
    assert "of its own samples" in result.output


def test_unknown_spans_can_be_named_by_hand(folder):
    run("apply", "day1.seqspan", "day2.csv", "-q")
    table = Path("corrected.csv")
    text = Path("day2.seqspan/segments.csv").read_text()
    table.write_text(text.replace(",unknown", ",swim"))
    found = Segmentation.load("day2.seqspan")
    corrected = found.corrected(table)
    assert corrected.to_frame()["name"].to_list() == ["B", "swim", "rest"]
    table.write_text(text)
    np.testing.assert_array_equal(found.corrected(table).labels, found.labels)


def test_an_unknown_export_is_wrong_usage(folder):
    assert (
        "--export must be one of"
        in run("apply", "day1.seqspan", "day2.csv", "--export", "x", status=2).output
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "holds a result of format 99, and this version of seqspan knows formats up to 2"),
        ({"label_names": 5}, "label_names"),
        ({"settings": []}, "settings"),
        ({"settings": {"read": 5}}, "settings"),
        ({"settings": {"columns": [1]}}, "settings"),
    ],
)
def test_a_result_made_by_hand_or_by_a_newer_version_is_refused(folder, change, message):
    path = Path("day1.seqspan/result.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    result = run("apply", "day1.seqspan", "day2.csv", status=1)
    assert message in result.output
    assert "unexpected" not in result.output
