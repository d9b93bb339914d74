"""``seqspan --help`` loads no numerical library, and says what the commands say."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from seqspan.cli.commands import app
from seqspan.cli.outline import make_outline

LISTS_MODULES = (
    "import atexit, sys; atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr)); "
    "sys.argv[1:] = {arguments!r}; from seqspan.cli import main; main()"
)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("arguments", [["--help"], [], ["--version"]], ids=str)
def test_the_outline_says_what_the_program_says(arguments, width):
    runner = CliRunner(env={"COLUMNS": str(width)})
    outline, whole = (runner.invoke(each, arguments) for each in (make_outline(), app))
    assert outline.output == whole.output
    assert outline.exit_code == whole.exit_code


def test_every_command_has_its_sentence():
    commands = typer.main.get_command(app).commands
    assert list(commands) == list(typer.main.get_command(make_outline()).commands)


@pytest.mark.parametrize("arguments", [["--help"], [], ["--version"]], ids=str)
def test_nothing_heavy_is_loaded(arguments):
    code = LISTS_MODULES.format(arguments=arguments)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "seqspan" in done.stdout + done.stderr
    loaded = set(done.stderr.split())
    assert "seqspan.cli.outline" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "numba", "joblib", "polars", "seqspan.cli.commands"}


def test_segmenting_loads_no_scikit_learn(tmp_path):
    table = tmp_path / "walk.csv"
    rows = np.random.default_rng(0).standard_normal((60, 3)) + np.repeat([[0], [9]], 30, axis=0)
    np.savetxt(table, rows, delimiter=",", header="a,b,c", comments="")
    code = LISTS_MODULES.format(arguments=["segment", str(table), "--out", str(tmp_path / "walk")])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "seqspan.solvers.fast.loops" in loaded
    assert not loaded & {"sklearn", "pandas", "scipy.stats", "scipy.optimize", "scipy.fft"}
