from __future__ import annotations

import subprocess
import sys

import pytest

from seqspan import memory
from seqspan.memory import free_bytes, require_memory


def test_free_memory_is_positive_and_below_a_petabyte():
    assert 0 < free_bytes() < 2**50


def test_what_fits_is_let_through_and_what_does_not_is_named():
    require_memory(1, "A byte", "")
    with pytest.raises(MemoryError, match=r"Everything needs 1048576\.0 GiB .* are free\. Buy more\."):
        require_memory(2**50, "Everything", "Buy more.")


def test_control_groups_and_unreadable_files(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "PROC", tmp_path / "nowhere")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("400\n")
    assert free_bytes() == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._control_group() is None


def test_a_limited_address_space_is_respected_before_allocating():
    code = (
        "import numpy as np, resource; from seqspan import OSC\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))\n"
        "try: OSC().fit(np.random.default_rng(0).normal(size=(30_000, 3)))\n"
        "except MemoryError as error: print(error)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "on 30000 samples in float64 needs" in answer.stdout
    assert "float32" in answer.stdout
