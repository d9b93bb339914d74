from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from seqspan._core import memory
from seqspan._core.memory import free_bytes, require_memory


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


def run_limited(code: str) -> list[str]:
    """Run a piece of code in a process of its own, which may set limits; returns the lines it prints."""
    preamble = """
import resource, sys, warnings
import numpy as np
from seqspan import LRR, LSR, OSC, SSC
from seqspan._core.memory import _fields, PROC

warnings.simplefilter("ignore")

def status(name):
    return dict(_fields(PROC / "self/status"))[name] * 1024

def leave(megabytes):
    limit = status("VmSize") + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))

def attempt(estimator, X):
    before = status("VmHWM")
    try:
        estimator.fit(X)
    except MemoryError as error:
        assert status("VmHWM") - before < 20e6, "memory was taken before it was refused"
        print("refused:", error)
    else:
        print("fitted:", len(estimator.labels_))

def samples(n):
    return np.random.default_rng(0).standard_normal((n, 5))
"""
    one = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # every thread reserves address space, too
    answer = subprocess.run([sys.executable, "-c", preamble + code], env=one, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr[-2000:]
    return answer.stdout.splitlines()


ESTIMATORS = """
estimators = [OSC(2, max_iter=3, solver=s) for s in ("fast", "vladmap", "ladmpsap", "sylvester", "splitting")]
estimators += [SSC(2, max_iter=3), LRR(2), LSR(2), OSC(2, max_iter=3, kernel="rbf")]
estimators += [OSC(max_iter=3, cut="ordered"), OSC(max_iter=3, cut="peaks")]
"""


def test_what_is_too_large_for_the_address_space_is_refused_before_anything_is_taken():
    lines = run_limited(
        ESTIMATORS + "for e in estimators: e.fit(samples(30))\n"
        "leave(400)\n"
        "for e in estimators: attempt(e, samples(9000))"
    )
    assert len(lines) == 11
    assert all(line.startswith("refused: ") and "GiB are free. Use " in line for line in lines)


def test_what_fits_the_address_space_is_fitted():
    """With what is asked for and a little more, all come through: what is asked for is enough."""
    lines = run_limited(
        ESTIMATORS + "for e in estimators: e.fit(samples(30))\n"
        "leave(300)\n"  # 31 arrays of 400 x 400 are 40 MB; threads and BLAS reserve the rest
        "for e in estimators: attempt(e, samples(400))"
    )
    assert lines == ["fitted: 400"] * 11


def test_a_compiler_that_can_not_be_loaded_is_named():
    lines = run_limited("leave(200)\nattempt(OSC(2), samples(30))\nattempt(SSC(2, max_iter=5), samples(30))")
    assert "are free after loading llvmlite" in lines[0]
    assert lines[1] == "fitted: 30"


@pytest.mark.parametrize("megabytes", [900, 1900])  # for the libraries, and for 9,000 samples
def test_the_command_line_says_so_in_one_line_and_writes_nothing(tmp_path, megabytes):
    np.savetxt(tmp_path / "long.csv", np.random.default_rng(0).standard_normal((9000, 3)), delimiter=",")
    limit = f"ulimit -v {megabytes * 1024}; exec {sys.executable} -m seqspan.cli segment long.csv --out out"
    one = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    answer = subprocess.run(["sh", "-c", limit], cwd=tmp_path, env=one, capture_output=True, text=True)
    assert answer.returncode == 1
    assert answer.stdout == ""
    errors = answer.stderr.splitlines()
    assert len(errors) == 1
    assert errors[0].startswith("seqspan: error: long.csv: ")
    assert "GiB are free" in errors[0]
    assert not list((tmp_path / "out").rglob("*.*"))
