"""What a folder of checkpoints may and may not do."""

from __future__ import annotations

import json

import numpy as np

from seqspan.models import Osc
from seqspan.solvers.cluster.checkpoint import FILE, Checkpoint, Kept
from seqspan.solvers.fast.reduced import Reduced


def make_checkpoint(folder):
    data = Reduced(np.ones(2), np.eye(4, 2), np.ones((4, 2)))
    return Checkpoint(folder, Osc(0.1, 1.0), data)


def write_state(checkpoint, iteration):
    files = checkpoint.names(iteration, 2)
    for file in files:
        with open(file, "wb") as part:
            part.write(b"state")
    checkpoint.write(Kept(1.0, 2.0, 0.5, iteration, tuple(files)))
    return files


def test_the_state_before_goes_once_the_next_is_good(tmp_path):
    checkpoint = make_checkpoint(tmp_path)
    write_state(checkpoint, 10)
    files = write_state(checkpoint, 20)

    assert checkpoint.read() == Kept(1.0, 2.0, 0.5, 20, tuple(files))
    assert sorted(str(path) for path in tmp_path.glob("*.npz")) == sorted(files)


def test_files_outside_the_folder_are_neither_read_nor_deleted(tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    folder = tmp_path / "kept"
    checkpoint = make_checkpoint(folder)
    write_state(checkpoint, 10)
    stored = json.loads((folder / FILE).read_text())
    stored["files"] = [str(precious), str(folder / ".." / "precious.txt")]
    (folder / FILE).write_text(json.dumps(stored))

    assert checkpoint.read() is None
    write_state(checkpoint, 20)

    assert precious.read_text() == "mine"


def test_half_a_file_and_a_state_of_another_problem_are_none(tmp_path):
    checkpoint = make_checkpoint(tmp_path)
    assert checkpoint.read() is None
    write_state(checkpoint, 10)
    other = Reduced(np.ones(2), np.eye(4, 2), np.zeros((4, 2)))

    assert make_checkpoint(tmp_path).read().iteration == 10
    assert Checkpoint(tmp_path, Osc(0.1, 1.1), other).read() is None
    assert Checkpoint(tmp_path, Osc(0.1, 1.0), other).read() is None

    content = (tmp_path / FILE).read_text()
    (tmp_path / FILE).write_text(content[: len(content) // 2])
    assert checkpoint.read() is None
