"""What counts as an input: folders, patterns, standard input, pipes, and inputs that are not there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.cli.test_segment import STARTS, only_error, run, starts, write_table
from tests.readers.samples import write_sample
from typer.testing import CliRunner

import seqspan
from seqspan.cli import app
from seqspan.cli.inputs import expand, make_jobs
from seqspan.cli.settings import Settings
from seqspan.readers._folders import list_recordings


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of recordings, which is not the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trials").mkdir()
    return tmp_path / "trials"


def save_pictures(folder: Path) -> Path:
    folder.mkdir()
    for number in range(3):
        Image.fromarray(np.full((4, 4), 80 * number, np.uint8)).save(folder / f"{number}.png")
    return folder


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def test_a_folder_of_recordings_is_many_inputs(folder):
    for name in ("b.csv", "a.csv"):
        write_table(folder / name)
    save_pictures(folder / "shots")
    (folder / "README.md").write_text("about these trials")
    (folder / ".hidden.csv").write_text("a\n1\n")
    assert names(expand([str(folder)])) == ["a.csv", "b.csv", "shots"]


def test_a_compressed_recording_is_named_like_the_recording():
    jobs = make_jobs([Path("log.csv.gz"), Path("walk.amc")], Settings(), None, 1)
    assert [job.folder.name for job in jobs] == ["log.seqspan", "walk.seqspan"]


def test_files_that_belong_to_others_are_no_inputs(folder):
    write_sample("amc", folder)
    write_sample("envi", folder)
    next(folder.glob("*.asf")).rename(folder / "of_nobody.asf")
    found = names(list_recordings(folder))
    assert len(found) == 2
    assert {Path(name).suffix for name in found} == {".amc", ".hdr"}


def test_results_are_no_inputs(folder, monkeypatch):
    write_table(folder / "a.csv")
    monkeypatch.chdir(folder)
    run("segment", "a.csv", "-q")
    assert names(expand(["."])) == ["a.csv"]
    assert names(expand(["*"])) == ["a.csv"]
    assert names(expand(["**/*.csv"])) == ["a.csv"]
    assert names(expand(["a.seqspan/labels.csv"])) == ["labels.csv"]  # asked for by name
    run("segment", "a.csv", "-q", "-o", ".")
    assert names(expand(["*.csv"])) == ["a.csv"]
    (folder / "other").mkdir()
    write_table(folder / "other" / "b.csv")
    (folder / "other" / "result.json").write_text('{"mine": 1}')
    assert names(expand(["other"])) == ["b.csv"]
    assert names(expand(["oth*"])) == ["other"], "a result.json of somebody else makes no result"


def test_a_folder_of_pictures_is_one_recording(folder):
    shots = save_pictures(folder / "shots")
    (shots / "notes.txt").write_text("taken in May")
    assert expand([str(shots)]) == [shots]


def test_a_folder_without_recordings_is_an_error(folder):
    assert "holds no images or text files of spectra, so it is not a recording" in only_error(
        run("segment", folder, status=1)
    )


def test_nothing_is_neither_an_input_nor_a_folder(folder):
    path = write_table(folder / "a.csv")
    assert "an input must not be empty" in only_error(run("segment", "", status=2))
    assert "--out must name a folder" in only_error(run("segment", path, "-o", "", status=2))
    run("segment", path, "-o", "result", "--no-report", "-q")
    assert "--out must name a folder" in only_error(run("apply", "result", path, "-o", "", status=1))
    for call in (seqspan.segment, seqspan.read):
        with pytest.raises(ValueError, match="the path of a recording must not be empty"):
            call("")


def test_an_input_that_cannot_be_opened_has_a_line_of_json_too(folder):
    table = write_table(folder / "a.csv")
    result = run("segment", "nowhere.csv", table, "--json", "-q", status=1)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["name"], line["status"]) for line in lines] == [
        ("nowhere.csv", "failed"),
        ("a.csv", "solved"),
    ]
    assert lines[0]["error"] == "nowhere.csv: no such file or folder."
    assert not Path("nowhere.seqspan").exists()


def test_json_has_the_spans_with_the_columns_of_the_table(folder):
    table = write_table(folder / "a.csv")
    result = run("segment", table, "--json", "-q", "-k", 3)
    spans = json.loads(result.stdout)["spans"]
    header, *rows = Path("a.seqspan/segments.csv").read_text().splitlines()
    assert [list(span) for span in spans] == [header.split(",")] * len(rows)
    assert [span["start"] for span in spans] == STARTS
    assert spans[0]["confidence"] is None
    assert json.loads(Path("a.seqspan/result.json").read_text())["spans"] == spans


def test_standard_input_is_read(folder):
    table = write_table(folder / "a.csv")
    result = CliRunner().invoke(app, ["segment", "-", "-k", "3", "--json"], input=table.read_bytes())
    assert result.exit_code == 0, result.output
    assert starts(Path("stdin.seqspan")) == STARTS
    document = json.loads(result.stdout)
    assert document["input"]["path"] == "-"
    assert document["command"] == "seqspan segment - --subspaces 3"
    assert {"spans", "files", "kept", "format"} <= set(document)
    again = CliRunner().invoke(app, ["segment", "-", "-k", "3"], input=table.read_bytes())
    assert "nothing has changed" in again.stdout
    result = CliRunner().invoke(app, ["segment", "-", "-k", "2", "-q"], input=table.read_bytes())
    assert result.exit_code == 0, result.output
    assert not Path("stdin-2.seqspan").exists()  # the folder belongs to standard input
    run("segment", write_table(folder / "stdin.csv"), "-q")
    assert Path("stdin-2.seqspan", "labels.csv").exists()


def test_an_empty_standard_input_is_an_error(folder):
    result = CliRunner().invoke(app, ["segment", "-"], input=b"")
    assert result.exit_code == 1
    assert "stdin: the file is empty" in result.stderr


def test_a_folder_with_a_pipe_in_it_does_not_hang(folder):
    os.mkfifo(folder / "pipe.csv")
    write_table(folder / "a.csv")
    assert names(expand([str(folder)])) == ["a.csv"]
