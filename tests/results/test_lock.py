"""Runs that want the same folder: one gets it, the others are refused, and a killed one holds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import seqspan
from seqspan.results import lock
from seqspan.results.folder import load_result
from seqspan.results.lock import LOCK, reserved

HOLD = """
import sys
from pathlib import Path
from seqspan.results.lock import reserved
with reserved(Path(sys.argv[1])):
    print("reserved", flush=True)
    sys.stdin.read()
"""
PUBLISH = """
import json, sys
from pathlib import Path
from seqspan.results.folder import DOCUMENT, load_result, staged
from seqspan.results.lock import reserved
folder, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
published = 0
while published < count:
    try:
        with reserved(folder):
            with staged(folder) as staging:
                for file in "abcde":
                    (staging / file).write_bytes(f"{name} {published} {file}".encode())
                (staging / DOCUMENT).write_bytes(json.dumps({"by": name, "number": published}).encode())
            found = load_result(folder)
            assert found is not None and (found["by"], found["number"]) == (name, published), found
    except BlockingIOError:
        continue
    published += 1
"""


def start(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_folder_that_another_process_writes_to_is_refused(tmp_path):
    with start(HOLD, tmp_path) as holder:
        assert holder.stdout.readline() == "reserved\n"
        with pytest.raises(BlockingIOError, match="another run is writing here"), reserved(tmp_path):
            pass
        holder.communicate("")
    with reserved(tmp_path):
        assert (tmp_path / LOCK).exists()
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_holds_nothing(tmp_path):
    with start(HOLD, tmp_path) as holder:
        assert holder.stdout.readline() == "reserved\n"
        holder.kill()
    assert (tmp_path / LOCK).exists()
    with reserved(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_threads_exclude_each_other_too(tmp_path):
    refused = []

    def attempt():
        try:
            with reserved(tmp_path):
                pass
        except BlockingIOError as error:
            refused.append(error)

    with reserved(tmp_path):
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    assert len(refused) == 1


def test_a_new_folder_to_which_nothing_is_written_is_removed(tmp_path):
    with reserved(tmp_path / "new" / "folder"):
        assert (tmp_path / "new" / "folder").is_dir()
    assert not (tmp_path / "new" / "folder").exists()
    with reserved(tmp_path / "kept"):
        (tmp_path / "kept" / "file").write_text("mine")
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["file"]
    (tmp_path / "old").mkdir()
    with reserved(tmp_path / "old"):
        pass
    assert (tmp_path / "old").is_dir()


def test_a_lock_that_was_removed_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    """The owner before removes the name of the file between our opening and our locking it."""
    opened, closed = [], []

    def lock_late(file):
        opened.append(file)
        if len(opened) < 3:
            (tmp_path / LOCK).unlink()
        return True

    def close(file):
        closed.append(file)
        os.close(file)

    monkeypatch.setattr(lock, "_lock", lock_late)
    monkeypatch.setattr(lock, "os", SimpleNamespace(**{**vars(os), "close": close}))
    with reserved(tmp_path):
        assert (tmp_path / LOCK).exists()
        assert closed == opened[:2]
    assert closed == opened


def test_where_there_is_no_fcntl_the_first_byte_is_locked(tmp_path, monkeypatch):
    locked = []

    def locking(file, mode, n_bytes):
        if locked:
            raise PermissionError
        locked.append((mode, n_bytes))

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK="without waiting", locking=locking))
    with reserved(tmp_path), pytest.raises(BlockingIOError, match="another run"), reserved(tmp_path):
        pass
    assert locked == [("without waiting", 1)]


def test_two_processes_never_mix_their_files(tmp_path):
    workers = [start(PUBLISH, tmp_path / "out", name, 40) for name in ("one", "two")]
    for worker in workers:
        assert worker.communicate()[1] == ""
    assert load_result(tmp_path / "out")["number"] == 39


def test_saving_is_refused_while_another_run_writes(tmp_path):
    found = seqspan.segment(np.random.default_rng(0).standard_normal((30, 4)), method="lsr")
    found.save(tmp_path)
    before = load_result(tmp_path)
    with reserved(tmp_path):
        with pytest.raises(BlockingIOError, match="another run is writing here"):
            found.save(tmp_path)
        assert load_result(tmp_path) == before
