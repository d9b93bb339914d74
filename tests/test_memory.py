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


def make_tree(tmp_path, monkeypatch, lines: str, files: dict[str, str]) -> None:
    """A fake /proc and /sys/fs/cgroup."""
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "CGROUP", tmp_path / "cgroup")
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(lines)
    for name, text in files.items():
        path = tmp_path / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_control_groups_and_unreadable_files(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "PROC", tmp_path / "nowhere")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("400\n")
    assert free_bytes() == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._control_group() is None


NESTED = {"memory.max": "max\n", "memory.current": "5000\n"}


@pytest.mark.parametrize(
    ("own", "above", "left"),
    [
        (("1000", "400"), ("max", "900"), 600),
        (("max", "400"), ("1500", "900"), 600),
        (("1000", "400"), ("1000", "900"), 100),
        (("1000", "1200"), ("max", "1200"), 0),
        (("max", "400"), ("max", "900"), None),
    ],
)
def test_the_least_of_a_group_and_those_above_it(tmp_path, monkeypatch, own, above, left):
    files = {
        "slice/memory.max": above[0], "slice/memory.current": above[1],
        "slice/job/memory.max": own[0], "slice/job/memory.current": own[1],
        "other/memory.max": "1", "other/memory.current": "1",
    }  # fmt: skip
    make_tree(tmp_path, monkeypatch, "0::/slice/job\n", NESTED | files)
    assert memory._control_group() == left


def test_groups_of_version_1(tmp_path, monkeypatch):
    files = {
        "memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/memory.usage_in_bytes": "7000\n",
        "memory/docker/memory.limit_in_bytes": "3000\n", "memory/docker/memory.usage_in_bytes": "2900\n",
        "memory/docker/memory.stat": "cache 2000\ninactive_file 1\ntotal_inactive_file 1500\n",
        "cpu/docker/memory.limit_in_bytes": "1\n", "cpu/docker/memory.usage_in_bytes": "0\n",
    }  # fmt: skip
    lines = "5:cpu,cpuacct:/docker/inner\n4:memory:/docker/inner\n0::/\n"
    make_tree(tmp_path, monkeypatch, lines, files)
    assert memory._control_group() == 3000 - (2900 - 1500)


def test_a_path_of_outside_and_pages_of_files(tmp_path, monkeypatch):
    """In a container the file names a group that is not there; its own limit lies at the root."""
    files = {"memory.max": "1000", "memory.current": "900", "memory.stat": "anon 1\ninactive_file 850\n"}
    make_tree(tmp_path, monkeypatch, "0::/../system.slice/docker-1.scope\n", files)
    assert memory._control_group() == 950
    (tmp_path / "cgroup/memory.stat").write_text("inactive_file 2000\n")  # counted a moment later
    assert memory._control_group() == 1000


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
