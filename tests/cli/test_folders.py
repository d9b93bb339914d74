"""Result folders of the command line: nothing of the user's is lost, nothing is left stale."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from seqspan.cli import app
from seqspan.datasets import make_recurring_subspaces
from seqspan.results.folder import load_result
from seqspan.segmentation import Segmentation


def write_table(path: Path, seed: int = 0) -> Path:
    """Four spans of three labels, at 0, 20, 35 and 60 of 80 rows, ten rows per second."""
    X, _ = make_recurring_subspaces((0, 1, 2, 0), 3, 12, (20, 15, 25, 20), rng=seed)
    rows = np.column_stack([np.arange(80) / 10, X.T])
    header = ",".join(["time_s", *(f"c{i}" for i in range(12))])
    path.parent.mkdir(exist_ok=True)
    np.savetxt(path, rows, delimiter=",", header=header, comments="")
    return path


@pytest.fixture
def walk(tmp_path, monkeypatch, request):
    if "in_a_report" not in request.node.name:
        request.getfixturevalue("plain_report")
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "walk.csv")
    return tmp_path / "walk.seqspan"


def run(*arguments, status=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == status, result.output + repr(result.exception)
    return result


def segment(*arguments, **keywords):
    return run("segment", *arguments, "--method", "lsr", **keywords)


def starts(path):
    with path.open() as file:
        return [int(row["start"]) for row in csv.DictReader(file)]


def n_annotations(folder):
    return len((folder / "spans.labels.txt").read_text().splitlines())


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_table_edited_by_hand_survives_the_next_run(walk):
    segment("walk.csv")
    mine = (walk / "segments.csv").read_text().replace("20", "21")
    (walk / "segments.csv").write_text(mine)
    result = segment("walk.csv", "--spans", 3)
    note = "note: walk.csv: segments.csv was edited: your version is kept as segments-edited.csv"
    assert note in result.stderr
    assert (
        "your version: seqspan export walk.seqspan --segments walk.seqspan/segments-edited.csv"
        in result.stderr
    )
    assert (walk / "segments-edited.csv").read_text() == mine
    assert len(starts(walk / "segments.csv")) == 3
    assert load_result(walk)["kept"] == {"segments.csv": "segments-edited.csv"}
    assert note not in segment("walk.csv", "--spans", 3).stderr
    (walk / "report.html").write_text("annotated")
    told = json.loads(segment("walk.csv", "--spans", 3, "--json", "-q").stdout)
    assert told["kept"] == {"report.html": "report-edited.html"}


def test_earlier_exports_are_written_again_from_the_new_spans(walk):
    segment("walk.csv", "--spans", 4, "--export", "audacity,elan")
    segment("walk.csv", "--spans", 2)
    assert n_annotations(walk) == 2
    assert {"spans.labels.txt", "spans.eaf"} <= set(load_result(walk)["files"])
    assert "nothing has changed" in segment("walk.csv", "--spans", 2).stdout
    (walk / "spans.eaf").unlink()
    segment("walk.csv", "--spans", 3)
    assert not (walk / "spans.eaf").exists(), "the user did not want it"
    assert n_annotations(walk) == 3


def test_saving_from_python_writes_exports_again_too(walk):
    segment("walk.csv", "--spans", 4, "--export", "audacity")
    loaded = Segmentation.load(walk)
    (Path("two.csv")).write_text("start,end,label\n0,35,0\n35,80,1\n")
    loaded.corrected("two.csv").save(walk)
    assert n_annotations(walk) == 2
    assert load_result(walk)["n_spans"] == 2
    write_table(Path("other/walk.csv"))
    segment("other/walk.csv", "-o", "out")
    with pytest.raises(FileExistsError, match=r"out: holds the result of other/walk\.csv"):
        loaded.save("out")


@pytest.mark.parametrize("name", ["labels.csv", "report.html", "spans.eaf"])
def test_a_file_that_is_not_ours_is_never_touched(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "labels.csv")
    Path("report.html").write_text("my page")
    Path("spans.eaf").write_text("my annotation")
    Path(f"{name}.aside").write_bytes(Path(name).read_bytes())
    for other in {"labels.csv", "report.html", "spans.eaf"} - {name, "labels.csv"}:
        Path(other).unlink()
    source = "labels.csv" if name == "labels.csv" else Path("labels.csv").rename("walk.csv").name
    before = files(tmp_path)
    result = segment(source, "--out", ".", "--export", "elan", status=1)
    assert f"{name} is in the way and not from an earlier run: choose another result folder" in result.stderr
    assert files(tmp_path) == before


def test_without_a_report_no_earlier_one_is_left_stale(walk):
    segment("walk.csv", "--spans", 4)
    result = segment("walk.csv", "--spans", 2, "--no-report")
    assert "note: walk.csv: report.html was of the earlier run and has been removed" in result.stderr
    assert not (walk / "report.html").exists()
    assert "report.html" not in load_result(walk)["files"]
    (walk / "report.html").write_text("my page")  # not ours, and not in the way
    assert "report.html" not in segment("walk.csv", "--spans", 3, "--no-report").output
    refused = segment("walk.csv", "--spans", 3, status=1)
    assert "report.html is in the way and not from an earlier run" in refused.stderr
    assert (walk / "report.html").read_text() == "my page"
    (walk / "report.html").unlink()
    segment("walk.csv", "--spans", 3)
    (walk / "report.html").write_text("annotated")
    result = segment("walk.csv", "--spans", 3, "--no-report")
    assert "your version is kept as report-edited.html" in result.stderr
    assert "removed" not in result.stderr


def test_a_folder_of_notes_and_results_side_by_side(walk):
    walk.mkdir()
    (walk / "notes.txt").write_text("remember")
    for spans in (3, 2):
        segment("walk.csv", "--out", walk, "--spans", spans)
    assert (walk / "notes.txt").read_text() == "remember"


def test_a_folder_belongs_to_one_input(walk):
    write_table(Path("other/walk.csv"), seed=1)
    segment("walk.csv")
    before = files(walk)
    assert "walk-2.seqspan/report.html" in segment("other/walk.csv").stdout
    assert "walk-3.seqspan/report.html" in segment(write_table(Path("third/walk.csv"))).stdout
    assert "nothing has changed" in (again := segment("other/walk.csv").stdout)
    assert "walk-2.seqspan/" in again
    assert files(walk) == before
    refused = segment("other/walk.csv", "-o", walk, status=1)
    assert "walk.seqspan: holds the result of walk.csv; choose another result folder." in refused.stderr
    assert files(walk) == before


def test_folders_do_not_depend_on_the_order_of_inputs(walk):
    write_table(Path("other/walk.csv"), seed=1)
    segment("walk.csv", "other/walk.csv", "-o", "all")
    result = segment("other/walk.csv", "walk.csv", "-o", "all")
    assert result.stdout.count("nothing has changed") == 2
    assert sorted(path.name for path in Path("all").iterdir()) == ["walk", "walk-2"]


def test_a_corrected_answer_is_shown_in_a_report(walk):
    segment("walk.csv", "--spans", 4, "--export", "audacity")
    table = (walk / "segments.csv").read_text().splitlines()
    table[1:3] = ["0,25,,,A,,", "25,35,,,1,,"]
    Path("corrected.csv").write_text("\n".join(table))
    result = segment("walk.csv", "--segments", "corrected.csv")
    assert "corrected by corrected.csv (solved before, only cut again)" in result.stdout
    assert starts(walk / "segments.csv") == [0, 25, 35, 60]
    rows = list(csv.DictReader((walk / "segments.csv").read_text().splitlines()))
    assert [row["start_time"] for row in rows] == ["0", "2.5", "3.5", "6"]
    assert all(float(row["confidence"]) > 0 for row in rows[1:])
    assert (walk / "spans.labels.txt").read_text().splitlines()[0].startswith("0.000000\t2.500000")
    assert '"found":[[0,25,35,60]' in (walk / "report.html").read_text().replace(" ", "")
    document = load_result(walk)
    assert document["command"].endswith("--segments corrected.csv")
    assert "nothing has changed" in segment("walk.csv", "--segments", "corrected.csv").stdout
    Path("corrected.csv").write_text("start,end,label\n0,80,0\n")
    assert "1 span of 1 state" in segment("walk.csv", "--segments", "corrected.csv").stdout


def test_names_come_back_from_a_corrected_table_into_tables_and_report(walk, monkeypatch):
    segment("walk.csv", "--spans", 4, "--names", "A=walk")
    table = (walk / "segments.csv").read_text()
    assert ",walk\n" in table
    Path("corrected.csv").write_text(table.replace(",B\n", ',"run, slowly"\n'))
    segment("walk.csv", "--segments", "corrected.csv")
    document = load_result(walk)
    assert document["label_names"][:2] == ["walk", "run, slowly"]
    assert {span["name"] for span in document["spans"]} == {"walk", "run, slowly", "C"}
    names = {row["name"] for row in csv.DictReader((walk / "labels.csv").read_text().splitlines())}
    assert names == {"walk", "run, slowly", "C"}
    segment("walk.csv", "--segments", "corrected.csv", "--names", "A=stroll")  # the command line decides
    assert load_result(walk)["label_names"][:2] == ["stroll", "run, slowly"]


def test_a_table_corrected_in_place_can_be_shown(walk):
    segment("walk.csv", "--spans", 4)
    mine = (walk / "segments.csv").read_text().replace("20", "22")
    (walk / "segments.csv").write_text(mine)
    result = segment("walk.csv", "--segments", walk / "segments.csv")
    assert starts(walk / "segments.csv") == [0, 22, 35, 60]
    assert (walk / "segments-edited.csv").read_text() == mine
    assert "corrected table, lines 2, 3: times were computed again" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--segments", "gap.csv"], 1, "gap.csv: not a table of spans: samples 10 to 79 belong to no span"),
        (["--segments", "none.csv"], 1, "none.csv: no such file"),
        (
            ["--segments", "gap.csv", "--spans", 3],
            2,
            "--segments says what the spans are; got --spans 3, too",
        ),
        (["other.csv", "--segments", "gap.csv"], 2, "--segments is for one input; got 2 inputs"),
    ],
)
def test_corrections_that_cannot_be_are_refused(walk, arguments, status, words):
    write_table(Path("other.csv"))
    Path("gap.csv").write_text("start,end,label\n0,10,0\n")
    assert words in segment("walk.csv", *arguments, status=status).stderr
    assert not walk.exists()


def test_a_configuration_replaces_nothing_but_a_configuration(walk):
    before = Path("walk.csv").read_bytes()
    refused = segment("walk.csv", "--save-config", "walk.csv", status=2)
    assert "--save-config would replace a file of another kind: walk.csv: not a TOML file" in refused.stderr
    assert Path("walk.csv").read_bytes() == before
    for spans in (2, 3):
        segment("walk.csv", "--save-config", "run.toml", "--spans", spans)
    assert 'spans = "3"' in Path("run.toml").read_text()


@pytest.mark.parametrize("command", [["info"], ["segment", "walk.csv"], ["export", "walk.seqspan"]], ids=str)
def test_quiet_works_for_every_command(walk, command):
    segment("walk.csv", "--export", "audacity")
    assert run(*command, "-q").output == ""
