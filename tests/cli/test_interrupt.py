"""Ctrl-C at any moment: one line, status 130, and no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from seqspan.cli import commands

# Presses Ctrl-C when a module is about to be imported, which takes place in the first two seconds.
PRESS = """
import importlib.abc, os, signal, sys
moment = sys.argv.pop(1)

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == moment:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from seqspan.cli import main
main()
"""
LINE = "seqspan: error: stopped; unfinished results are as they were before\n"


def press(moment, *arguments, **options):
    command = [sys.executable, "-c", PRESS, moment, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize(
    "moment",
    ["seqspan.cli.commands", "typer", "numpy", "numba", "threadpoolctl", "scipy.linalg", "seqspan.report"],
)
def test_ctrl_c_while_libraries_load_is_one_line(tmp_path, moment):
    np.save(tmp_path / "walk.npy", np.zeros((20, 3)))
    done = press(moment, "segment", "walk.npy", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", LINE)
    assert [path.name for path in tmp_path.iterdir()] == ["walk.npy"]


@pytest.mark.parametrize("moment", ["seqspan.readers.csv", "polars"])
def test_ctrl_c_while_a_command_runs_is_one_line(tmp_path, moment):
    (tmp_path / "walk.csv").write_text("a,b\n" + "1,2\n" * 20)
    done = press(moment, "segment", "walk.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", LINE)
    assert [path.name for path in tmp_path.iterdir()] == ["walk.csv"]


def test_ctrl_c_within_code_that_a_library_generates_has_the_same_status(tmp_path):
    """``python -m`` ends by a signal if it is interrupted within exec() of text, even if that was handled."""
    (tmp_path / "walk.csv").write_text("a,b\n" + "1,2\n" * 20)
    press = PRESS.partition("from seqspan")[0].replace("sys.argv.pop(1)", "'polars'")
    press = press.replace("os.kill(os.getpid(), signal.SIGINT)", "exec('raise KeyboardInterrupt')")
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(press)
    command = [sys.executable, "-m", "seqspan", "segment", "walk.csv"]
    paths = os.pathsep.join([str(tmp_path / "hook"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": paths}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (130, LINE)


def test_a_job_in_the_background_ignores_ctrl_c(tmp_path):
    np.save(tmp_path / "walk.npy", np.random.default_rng(0).standard_normal((20, 3)))
    done = press(
        "numba",
        *("segment", "walk.npy", "-q"),
        cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_while_a_result_is_printed_is_one_line(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    def interrupt(*given):
        raise KeyboardInterrupt

    np.save(tmp_path / "walk.npy", np.random.default_rng(0).standard_normal((20, 3)))
    monkeypatch.setattr(commands, "tell", interrupt)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(commands.app, ["segment", "walk.npy"])
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", LINE)
