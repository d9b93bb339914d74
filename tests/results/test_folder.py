"""The result folder: whole or not there, at whatever moment the writing stops."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from seqspan.results import folder as results
from seqspan.results.documents import Earlier
from seqspan.results.folder import STAGING, _remove_unfinished, load_result, staged


def write_version(folder: Path, version: int, names: tuple[str, ...] = ("a.csv", "sub/b.txt")) -> None:
    with staged(folder) as staging:
        for name in names:
            (staging / name).parent.mkdir(exist_ok=True)
            (staging / name).write_text(f"{name} of version {version}")
        (staging / results.DOCUMENT).write_text(json.dumps({"version": version}))


def content(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }


def test_a_result_appears_whole_and_leaves_other_files_alone(tmp_path):
    (tmp_path / "notes of mine.txt").write_text("keep")
    write_version(tmp_path, 1)
    write_version(tmp_path, 2, ("a.csv",))
    assert load_result(tmp_path)["version"] == 2
    found = content(tmp_path)
    assert found.pop("result.json")
    # b.txt belonged to the first version only
    assert found == {"a.csv": "a.csv of version 2", "notes of mine.txt": "keep"}


@pytest.mark.parametrize("damage", ["missing", "changed", "cut short", "no document"])
def test_a_damaged_folder_is_no_result(tmp_path, damage):
    write_version(tmp_path, 1)
    if damage == "missing":
        (tmp_path / "a.csv").unlink()
    elif damage == "changed":
        (tmp_path / "a.csv").write_text("a.csv of version 7")
    elif damage == "cut short":
        (tmp_path / "result.json").write_text((tmp_path / "result.json").read_text()[:-9])
    else:
        (tmp_path / "result.json").unlink()
    assert load_result(tmp_path) is None


@pytest.mark.parametrize("method", ["replace", "unlink", "mkdir"])
@pytest.mark.parametrize("call", range(6))
def test_stopping_at_any_step_of_publishing_never_shows_a_mixture(tmp_path, monkeypatch, method, call):
    write_version(tmp_path, 1, ("a.csv", "sub/b.txt", "old.txt"))
    real, calls = getattr(Path, method), []

    def breaking(self, *args, **keywords):
        calls.append(self)
        if len(calls) == call + 1:
            raise KeyboardInterrupt
        return real(self, *args, **keywords)

    monkeypatch.setattr(Path, method, breaking)
    with suppress(KeyboardInterrupt):
        write_version(tmp_path, 2)
    monkeypatch.undo()
    whole = load_result(tmp_path)
    # who looks for result.json alone, without its checksums, is not misled either
    assert (tmp_path / "result.json").exists() == (whole is not None)
    if whole is not None:
        for name in whole["files"]:
            assert (tmp_path / name).read_text() == f"{name} of version {whole['version']}"
    write_version(tmp_path, 3)
    assert load_result(tmp_path)["version"] == 3
    assert not list(tmp_path.glob(f"{results.STAGING}*"))


def test_what_killed_runs_have_left_is_removed(tmp_path):
    (tmp_path / f"{results.STAGING}99.npz").write_text("half a solution")
    (tmp_path / f"{results.STAGING}abc").mkdir()
    (tmp_path / f"{results.STAGING}abc" / "a.csv").write_text("half a result")
    write_version(tmp_path, 1)
    assert set(content(tmp_path)) == {"a.csv", "sub/b.txt", "result.json"}
    assert not list(tmp_path.glob(f"{results.STAGING}*"))


def test_what_cannot_be_removed_or_is_gone_already_is_no_error(tmp_path, monkeypatch):
    """Somebody may have taken our rights to a folder, and another run may remove the same leftovers."""
    stays, vanishes = tmp_path / f"{STAGING}abc", tmp_path / f"{STAGING}99.npz"
    stays.mkdir()
    vanishes.touch()

    def refuse(path, **options):
        if STAGING in str(path) and "abc" in str(path):
            raise PermissionError
        return rmdir(path, **options)

    def vanish(path):
        if path == vanishes:
            os.unlink(path)
        return path.exists() and is_dir(path)

    rmdir, is_dir = os.rmdir, Path.is_dir
    monkeypatch.setattr(os, "rmdir", refuse)
    monkeypatch.setattr(Path, "is_dir", vanish)
    _remove_unfinished(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [stays.name]


def test_no_file_of_ours_is_the_folder_itself():
    names = ("", ".", "..", "a.csv", "sub/..")
    for folder in (Path("/"), Path("/films/film.seqspan")):
        assert Earlier(folder, ({"files": dict.fromkeys(names, "12ab")},)).digests == {"a.csv": {"12ab"}}


def test_an_error_while_writing_changes_nothing(tmp_path):
    write_version(tmp_path, 1)
    before = content(tmp_path)
    with suppress(RuntimeError), staged(tmp_path) as staging:
        (staging / "a.csv").write_text("half")
        raise RuntimeError
    assert content(tmp_path) == before


def test_files_named_by_a_forged_document_outside_the_folder_stay(tmp_path):
    outside = tmp_path / "precious.txt"
    outside.write_text("keep")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "result.json").write_text(json.dumps({"files": {"../precious.txt": "0"}}))
    write_version(folder, 1)
    assert outside.read_text() == "keep"


def test_names_that_are_no_files_of_the_folder_are_not_ours(tmp_path):
    names = ("", ".", "..", "sub/..", "../out.csv", "/etc/passwd", "result.json")
    document = {"files": dict.fromkeys((*names, "spans.edl", "sub/cut.mp4"), "00")}
    assert list(Earlier(tmp_path, (document,)).digests) == ["spans.edl", "sub/cut.mp4"]


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        theirs = tmp_path / f"{STAGING}{other.pid}-abc"
        theirs.mkdir()
        cached = tmp_path / f"{STAGING}{other.pid}.npz"  # a solution that is being saved
        cached.touch()
        dead = [tmp_path / f"{STAGING}{name}" for name in "abcdefghijklmnop"]
        for left in dead:
            left.touch()
        _remove_unfinished(tmp_path)
        assert theirs.exists()
        assert cached.exists()
        assert not any(left.exists() for left in dead)
        other.communicate(b"\n")
    _remove_unfinished(tmp_path)
    assert not theirs.exists()
    assert not cached.exists()


def test_what_a_process_of_somebody_else_writes_is_left_alone(tmp_path, monkeypatch):
    def refuse(process, signal):
        raise PermissionError

    theirs = tmp_path / f"{STAGING}123456-abc"
    theirs.mkdir()
    monkeypatch.setattr(results.os, "kill", refuse)
    _remove_unfinished(tmp_path)
    assert theirs.exists()
