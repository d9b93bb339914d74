"""The command line where something is unusual: what it says, and with which status it leaves."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from tests.readers.samples import write_amc, write_png
from typer.testing import CliRunner

from seqspan import read
from seqspan.cli import app, truth
from seqspan.cli import commands as cli
from seqspan.cli import reproduce as command
from seqspan.datasets import make_subspaces
from seqspan.results.lock import reserved
from seqspan.solvers.cluster import files


@pytest.fixture
def walks(tmp_path, monkeypatch):
    """Two short recordings in the current folder."""
    monkeypatch.chdir(tmp_path)
    for seed in range(2):
        np.save(f"walk{seed}.npy", make_subspaces(2, 2, 12, 10, rng=seed)[0].T)
    return tmp_path


def run(*arguments, status=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == status, result.output + repr(result.exception)
    return result


def raising(error):
    def work(*given, **more):
        raise error

    return work


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"classes": [1, 2], "names": []},
            "expected 'labels' or 'boundaries'; got 'classes', 'names'",
        ),
        ({"labels": [1, 2]}, "one label per sample is needed; got 2"),
        ({"boundaries": "3"}, "expected a list; got str"),
        (7, "expected a list; got int"),
    ],
)
def test_a_truth_of_another_form_is_refused_with_what_it_has(tmp_path, content, message):
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=rf"truth\.json: not labels or boundaries for 8 samples: {message}"):
        truth.read_truth(path, 8)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "start,label\n0,a\n3,b\n3,c\n5,d\n", "two spans start at 3"),
        (
            "t.csv",
            "start,end,label\n0,3,a\n5,8,b\n",
            "ends at 3, but the next one, or the end, is at 5",
        ),
        ("t.csv", "start,end\n0,3\n3,7\n", "a span ends at 7, but the next one, or the end, is at 8"),
        ("t.csv", "start,start,label\n0,5,a\n3,6,b\n", "the column start is there 2 times"),
        ("t.csv", "start,label\n0,a\n3\n", "row 2 has 1 cells, but the header has 2"),
        ("t.csv", "start,label\n", "it has a header but no rows"),
        ("t.csv", "", "it is empty"),
        ("t.csv", "0,a\n3,b\n", "a table needs a header with the column start or label"),
        ("t.txt", "0\n0\n0\n1\n1\n1\n1\n", "7 values are no labels, of which each sample has one"),
        ("t.json", "[2.7, 5]", "the start of a span must be the number of a sample; got 2.7"),
        ("t.json", "[true]", "the start of a span must be the number of a sample; got True"),
        ("t.json", "[" * 100_000, "brackets within brackets"),
        ("t.csv", b"label\n\xff\n", "it is not UTF-8 text"),
    ],
)
def test_a_truth_that_contradicts_itself_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=rf"{re.escape(name)}.*{re.escape(message)}"):
        truth.read_truth(tmp_path / name, 8)


@pytest.mark.parametrize("text", ["start;label\n3;b\n0;a\n", "start\tlabel\n0.0\ta\n3.0\tb\n"])
def test_a_truth_may_be_as_spreadsheets_write_it(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    found = truth.read_truth(tmp_path / "t.csv", 8)
    assert (found.boundaries.tolist(), found.names) == ([3], ("a", "b"))


def test_boundaries_may_have_their_name_in_json(tmp_path):
    (tmp_path / "truth.json").write_text('{"boundaries": [3, 5]}')
    assert truth.read_truth(tmp_path / "truth.json", 8).labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 2]


def test_a_large_truth_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(truth, "MAX_BYTES", 1000)
    (tmp_path / "truth.csv").write_text("1\n" * 600)
    with pytest.raises(ValueError, match=r"truth\.csv: a truth file may have at most 1,000 bytes; got 1,200"):
        truth.read_truth(tmp_path / "truth.csv", 600)


def test_one_truth_is_not_for_two_inputs(walks):
    result = run("segment", "walk*.npy", "--truth", "truth.csv", status=2)
    assert result.stderr == "seqspan: error: --truth is for one input; got 2 inputs.\n"


def test_a_solver_is_one_that_there_is(walks):
    result = run("segment", "walk0.npy", "--solver", "simplex", status=2)
    assert re.search(r"--solver must be one of 'fast', .*'sylvester'.*; got 'simplex'", result.stderr)
    run("segment", "walk0.npy", "--solver", "vladmap", "--quiet")
    assert (
        json.loads((walks / "walk0.seqspan" / "result.json").read_text())["settings"]["solver"] == "vladmap"
    )


def test_a_defect_of_ours_costs_one_input_and_shows_where_it_is_if_asked(walks, monkeypatch):
    run_job = cli.run_job

    def broken(job, **more):
        if job.source.name == "walk0.npy":
            raise KeyError("no such thing")
        return run_job(job, **more)

    monkeypatch.setattr(cli, "run_job", broken)
    result = run("segment", "walk0.npy", "walk1.npy", status=1)
    line = "seqspan: error: walk0.npy: unexpected KeyError: 'no such thing'; --verbose shows where."
    assert line in result.stderr.splitlines()
    assert "Traceback" not in result.stderr
    assert (walks / "walk1.seqspan" / "report.html").exists()
    result = run("segment", "walk0.npy", "--verbose", status=1)
    assert "Traceback" in result.stderr
    assert "in broken" in result.stderr


def test_an_input_that_a_cluster_gives_up_is_one_that_failed(walks, monkeypatch):
    def give_up_on_the_first(work, items, address, given_up):
        assert address == "tcp://somewhere"
        assert all(item.source.is_absolute() and item.folder.is_absolute() for item in items)
        yield given_up(items[0], RuntimeError("four workers\nwere lost"))
        yield work(items[1])

    monkeypatch.setattr(files, "map_on_cluster", give_up_on_the_first)
    result = run("segment", "walk0.npy", "walk1.npy", "--cluster", "tcp://somewhere", status=1)
    assert "seqspan: error: walk0.npy: four workers were lost" in result.stderr.splitlines()
    assert (walks / "walk1.seqspan" / "result.json").exists()
    assert not (walks / "walk0.seqspan").exists()


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (ValueError("no codec"), 1, "seqspan: error: no codec\n"),
        (OSError("disk full"), 1, "seqspan: error: disk full\n"),
        (KeyboardInterrupt(), 130, "seqspan: error: stopped; the result is as it was before\n"),
    ],
)
def test_a_demo_that_cannot_go_on_says_so_in_one_line(walks, monkeypatch, error, status, message):
    monkeypatch.setattr("seqspan.cli.demo.run_demo", raising(error))
    result = run("demo", "--out", "demo", status=status)
    assert (result.stderr, result.stdout) == (message, "")


@pytest.mark.parametrize(("right", "status"), [(True, 0), (False, 1)])
def test_a_quiet_demo_speaks_by_its_status(walks, monkeypatch, right, status):
    def found(out, level):
        assert level == 0
        return SimpleNamespace(what="3 spans", right=right, wrong="2 were rendered")

    monkeypatch.setattr("seqspan.cli.demo.run_demo", found)
    assert run("demo", "--quiet", status=status).output == ""


def test_a_stopped_reproduction_says_that_its_rows_stay(walks, monkeypatch):
    monkeypatch.setattr(command, "reproduce", raising(KeyboardInterrupt()))
    result = run("reproduce", "synthetic", "--quick", status=130)
    assert result.stderr.startswith("seqspan: error: stopped; finished rows are kept")


def test_a_quiet_reproduction_prints_no_summary(walks, monkeypatch):
    monkeypatch.setattr(command, "reproduce", lambda name, options: f"summary of {name}")
    assert run("reproduce", "all", "--quiet").output == ""
    assert run("reproduce", "synthetic").stdout == "summary of synthetic\n"


def test_graphics_cards_are_counted(monkeypatch):
    runtime = SimpleNamespace(getDeviceCount=lambda: 2)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    assert cli.describe_devices().endswith("CPU cores, 2 GPU")
    runtime.getDeviceCount = raising(RuntimeError("no driver"))
    assert cli.describe_devices().endswith("CPU cores, no GPU")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_pipes_are_refused_at_once(walks):
    write_amc(walks / "s_01.amc", 5)
    commands = {
        ("pipe.csv",): "pipe.csv",
        ("pipe.csv", "--format", "csv"): "pipe.csv",
        ("walk0.npy", "--truth", "truth.csv"): "truth.csv",
        ("s_01.amc", "--read", "skeleton=s.asf"): "s.asf",
    }
    for name in set(commands.values()):
        os.mkfifo(name)
    # a process of its own, because one that waits for the other end of a pipe waits forever
    code = f"""from typer.testing import CliRunner
from seqspan.cli import app
for arguments in {list(commands)}:
    done = CliRunner().invoke(app, ["segment", *arguments])
    print(done.exit_code, done.stderr.strip())"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    lines = done.stdout.splitlines()
    assert len(lines) == len(commands), done.stderr
    for line, name in zip(lines, commands.values(), strict=True):
        assert line.startswith("1 seqspan: error: ")
        assert f"{name}: a pipe or device cannot be read; save its content to a file first." in line


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_pipes_beside_the_input_are_not_touched(walks):
    write_amc(walks / "walk_01.amc", 30)
    os.mkfifo(walks / "walk_0.asf")
    assert "skeleton: skeleton.asf" not in str(read(walks / "walk_01.amc").notes)
    (walks / "frames").mkdir()
    for number in range(3):
        write_png(walks / "frames" / f"{number}.png")
    os.mkfifo(walks / "frames" / "3.png")
    assert len(read(walks / "frames")) == 3


def test_a_second_run_into_the_same_folder_is_refused(walks):
    run("segment", "walk0.npy", "-o", "out")
    before = {path.name: path.read_bytes() for path in (walks / "out").iterdir()}
    with reserved(walks / "out"):
        result = run("segment", "walk1.npy", "-o", "out", status=1)
        assert "nothing has changed" in run("segment", "walk0.npy", "-o", "out").stdout
    assert result.stderr == (
        "seqspan: error: walk1.npy: out: another run is writing here; wait until it has finished, or choose "
        "another result folder.\n"
    )
    assert {path.name: path.read_bytes() for path in (walks / "out").iterdir()} == before


def test_an_input_that_cannot_be_read_leaves_no_folder(walks):
    (walks / "table.csv").write_text("a,b\n1,\n2,3\n")
    run("segment", "table.csv", status=1)
    assert not (walks / "table.seqspan").exists()


@pytest.mark.parametrize("n", [1, 2])
def test_too_few_samples_are_refused_as_by_the_library(tmp_path, n):
    np.save(tmp_path / "few.npy", np.eye(n, 3))
    result = run("segment", tmp_path / "few.npy", "--out", tmp_path / "out", status=1)
    assert f"few.npy: at least 3 samples are needed; got {n}" in result.output


def test_the_package_can_be_run(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "seqspan", "--version"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
