"""Installed without extras, the package reads a table and writes a report, and names the extra it lacks.

The environment is a real one that holds the required packages alone, linked from the one that runs the tests.
``make test-bare`` makes one from the built wheel instead and passes its Python as $SEQSPAN_BARE_PYTHON.
"""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from tests.readers.samples import write_sample

import seqspan
from seqspan._core.extras import EXTRAS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def required_distributions() -> dict[str, Distribution]:
    """What `pip install seqspan` brings: the dependencies in pyproject.toml and all that they need."""
    found: dict[str, Distribution] = {}
    wanted = list(PROJECT["dependencies"])
    while wanted:
        requirement = Requirement(wanted.pop())
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found[name] = distribution(name)
        wanted += found[name].requires or []
    return found


def link_packages(site: Path) -> None:
    """Link every file and folder of the required distributions, and this package, into an environment."""
    sources = {Path(seqspan.__file__).parent}
    for installed in required_distributions().values():
        for file in installed.files or ():
            if file.parts[0] not in ("..", "__pycache__"):
                sources.add(Path(str(installed.locate_file(file.parts[0]))).resolve())
    for source in sources:
        (site / source.name).symlink_to(source)


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory) -> str:
    """The interpreter of an environment with the required packages alone."""
    given = os.environ.get("SEQSPAN_BARE_PYTHON")
    if given:
        return given
    folder = tmp_path_factory.mktemp("bare")
    builder = venv.EnvBuilder(symlinks=True, with_pip=False)
    builder.create(folder)
    link_packages(next(folder.glob("lib/python*/site-packages")))
    return str(folder / "bin" / "python")


@pytest.fixture
def run(bare_python, tmp_path):
    """Run the interpreter with some arguments in an empty folder."""

    def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [bare_python, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run_python


def test_no_optional_package_is_there(run):
    packages = (*EXTRAS, "pandas", "cvxpy", "pytest")
    code = f"from importlib.util import find_spec; print([name for name in {packages} if find_spec(name)])"
    assert run("-c", code).stdout == "[]\n"


def write_table(path: Path) -> None:
    """Two states in turn, each with a mean and a noise of its own."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(mean, 0.3, (60, 4)) for mean in ([3, 0, 0, 1], [0, 3, 1, 0]) * 2])
    np.savetxt(path, rows, delimiter=",", header="a,b,c,d", comments="")


def test_a_table_goes_in_and_a_report_comes_out(run, tmp_path):
    write_table(tmp_path / "table.csv")
    done = run("-m", "seqspan.cli", "segment", "table.csv", "--out", "found")
    assert done.returncode == 0, done.stderr
    spans = next(tmp_path.rglob("segments.csv")).read_text().splitlines()
    assert len(spans) > 1
    assert "<html" in next(tmp_path.rglob("report.html")).read_text(encoding="utf-8")[:500]


def test_files_that_need_an_extra_name_it(run, tmp_path):
    extras = {"mp4": "video", "c3d": "mocap", "bvh": "mocap", "envi": "spectra", "mat73": "matlab"}
    files = {write_sample(sample, tmp_path).name: extra for sample, extra in extras.items()}
    done = run("-m", "seqspan.cli", "segment", *files, "--out", "found")
    assert done.returncode != 0
    for name, extra in files.items():
        line = next(line for line in done.stderr.splitlines() if name in line)
        assert line.endswith(f"which is not installed: pip install 'seqspan[{extra}]'")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("segment", "table.csv", "--device", "cuda"), "gpu"),
        (("segment", "table.csv", "--cluster", "tcp://127.0.0.1:1"), "cluster"),
        (("reproduce", "synthetic", "--out", "figures"), "plots"),
    ],
)
def test_a_command_that_needs_an_extra_names_it(run, tmp_path, arguments, extra):
    write_table(tmp_path / "table.csv")
    done = run("-m", "seqspan.cli", *arguments)
    assert done.returncode != 0
    assert f"pip install 'seqspan[{extra}]'" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_plot_names_its_extra(run):
    code = "from seqspan.plots import plot_segmentation; plot_segmentation([], 's')"
    last = run("-c", code).stderr.splitlines()[-1]
    assert "plotting needs the package matplotlib, which is not installed" in last
    assert "pip install 'seqspan[plots]'" in last


def test_importing_the_package_loads_nothing_that_only_some_tasks_need(run):
    names = ("polars", "PIL", "jinja2", "typer", "rich")
    code = f"import sys, seqspan; print(*(name for name in {names} if name in sys.modules))"
    done = run("-c", code)
    assert (done.stdout.split(), done.stderr) == ([], "")
