"""The result folder: whole or not there, at whatever moment the writing stops."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan._core.spans import make_spans
from seqspan.results import folder as results
from seqspan.results.folder import (
    STAGING,
    Solved,
    _remove_unfinished,
    load_result,
    load_solution,
    save_solution,
    staged,
)
from seqspan.solvers import Progress


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


@pytest.mark.parametrize("density", [0.1, 0.9])
def test_a_kept_solution_comes_back_for_its_own_key_alone(tmp_path, density):
    rng = np.random.default_rng(3)
    Z = np.where(rng.random((30, 30)) < density, rng.standard_normal((30, 30)), 0).astype(np.float32)
    solved = Solved(Z, 2.5, 0.01, 7, (Progress(5, 3.0, 0.1, 0.2),), 1.5, ("slow",), {"lambda_2": 0.3})
    save_solution(tmp_path, "key", solved)
    back = load_solution(tmp_path, "key")
    np.testing.assert_array_equal(back.Z, Z)
    assert back.Z.dtype == np.float32
    assert (back.objective, back.gap, back.n_iter, back.history, back.seconds, back.warnings) == (
        2.5,
        0.01,
        7,
        (Progress(5, 3.0, 0.1, 0.2),),
        1.5,
        ("slow",),
    )
    assert back.chosen == {"lambda_2": 0.3}
    assert load_solution(tmp_path, "another") is None


def test_a_truncated_solution_is_none(tmp_path):
    save_solution(tmp_path, "key", Solved(np.eye(4, dtype=np.float32), 1.0, 0.0, 1))
    path = tmp_path / results.CACHE
    path.write_bytes(path.read_bytes()[:-40])
    assert load_solution(tmp_path, "key") is None


@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_spans_cover_every_sample_once(labels):
    labels = np.array(labels)
    boundaries = np.flatnonzero(np.diff(labels)) + 1
    spans = make_spans(labels, boundaries, np.arange(len(labels)) / 4)
    assert np.concatenate([np.full(s.end - s.start, s.label) for s in spans]).tolist() == labels.tolist()
    assert [s.start for s in spans] == [0, *boundaries]
    assert spans[-1].end_time == pytest.approx(len(labels) / 4 if len(labels) > 1 else 1.0)


def test_the_tables_are_as_documented(tmp_path):
    labels, times = np.array([0, 0, 1]), np.array([0.0, 0.5, 1.0])
    spans = make_spans(labels, np.array([2]), times, np.array([0.75]))
    results.write_segments(tmp_path / "segments.csv", spans)
    results.write_labels(tmp_path / "labels.csv", labels, times)
    lines = (tmp_path / "segments.csv").read_text().splitlines()
    assert lines == ["start,end,start_time,end_time,label,confidence", "0,2,0,1,0,", "2,3,1,1.5,1,0.75"]
    assert (tmp_path / "labels.csv").read_text() == "index,time,label\n0,0,0\n1,0.5,0\n2,1,1\n"


def test_the_hash_of_a_folder_tells_names_and_contents(tmp_path):
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "a").write_text("x")
    (tmp_path / "two" / "b").write_text("x")
    (tmp_path / "three" / "a").write_text("y")
    assert len({results.hash_file(tmp_path / name) for name in ("one", "two", "three")}) == 3


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        theirs = tmp_path / f"{STAGING}{other.pid}-abc"
        theirs.mkdir()
        _remove_unfinished(tmp_path)
        assert theirs.exists()
        other.communicate(b"\n")
    _remove_unfinished(tmp_path)
    assert not theirs.exists()


def test_what_a_process_of_somebody_else_writes_is_left_alone(tmp_path, monkeypatch):
    def refuse(process, signal):
        raise PermissionError

    theirs = tmp_path / f"{STAGING}123456-abc"
    theirs.mkdir()
    monkeypatch.setattr(results.os, "kill", refuse)
    _remove_unfinished(tmp_path)
    assert theirs.exists()
