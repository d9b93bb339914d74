"""Whose result a folder holds, also after input and folder were moved."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from seqspan.results.documents import DOCUMENT, read_document
from seqspan.results.folder import staged
from seqspan.results.owner import check_owner, find_input, owner_of


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Two films of one name, and the result of the first."""
    (tmp_path / "one/two").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "one")
    for name in ("film.mp4", "two/film.mp4", "walk.csv"):
        Path(name).touch()
    with staged(Path("out")) as staging:
        (staging / DOCUMENT).write_text(json.dumps({"input": {"path": "film.mp4"}}))
    return tmp_path / "one"


def test_a_folder_belongs_to_its_input_wherever_one_stands(project, monkeypatch):
    assert owner_of(Path("out"), Path("film.mp4")) is None
    assert owner_of(Path("out"), Path("two/film.mp4")) == "film.mp4"
    assert owner_of(Path("out"), Path("walk.csv")) == "film.mp4"
    monkeypatch.chdir(project / "two")
    assert owner_of(Path("../out"), Path("../film.mp4")) is None
    assert owner_of(Path("../out"), Path("film.mp4")) == "film.mp4"
    assert owner_of(Path("../nothing"), Path("film.mp4")) is None
    with pytest.raises(FileExistsError, match=r"out: holds the result of film\.mp4; choose another"):
        check_owner(Path("../out"), Path("film.mp4"))


def test_moved_together_they_still_belong_together(project, monkeypatch):
    shutil.move(project, project.parent / "moved")
    monkeypatch.chdir("/")
    moved = project.parent / "moved"
    document = read_document(moved / "out" / DOCUMENT)
    assert find_input(document, moved / "out") == moved / "film.mp4"
    assert owner_of(moved / "out", moved / "film.mp4") is None
    assert owner_of(moved / "out", moved / "two/film.mp4") == "film.mp4"


def test_an_input_that_was_moved_alone_goes_on_with_its_folder(project):
    os.rename("film.mp4", "two/film.mp4")
    assert owner_of(Path("out"), Path("two/film.mp4")) is None
    assert owner_of(Path("out"), Path("walk.csv")) == "film.mp4"


def test_a_result_of_the_first_format_belongs_to_inputs_of_its_name(project):
    (project / "out" / DOCUMENT).write_text(json.dumps({"files": {}, "input": {"path": "film.mp4"}}))
    assert owner_of(Path("out"), Path("two/film.mp4")) is None
    assert owner_of(Path("out"), Path("walk.csv")) == "film.mp4"


def test_a_link_to_an_input_is_an_input_of_its_own_name(project):
    Path("link.mp4").symlink_to("film.mp4")
    assert owner_of(Path("out"), Path("link.mp4")) == "film.mp4"
