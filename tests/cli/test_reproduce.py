"""``seqspan reproduce``: files, resuming, drawing again, and what it says when something is wrong."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import product

import joblib
import pytest
from typer.testing import CliRunner

from seqspan.cli import app
from seqspan.cli import reproduce as command
from seqspan.reproduction import EXPERIMENTS
from seqspan.reproduction._methods import METHODS
from seqspan.reproduction._noise import NoiseExperiment
from seqspan.reproduction._rows import RowFile

SYNTHETIC = EXPERIMENTS["synthetic"]

HEAD = "seed,method,parameters,coefficient_mean,psnr_target,psnr,error,seconds,gap"


@pytest.fixture
def tiny(monkeypatch):
    """The synthetic experiment at a size of a few seconds."""
    searched = {
        "osc": ((0.1, 1.0),),
        "spatsc": ((0.1, 0.01),),
        "lrr": ((0.4, None), (1.6, None)),
        "ssc": ((0.2, None),),
    }
    grid = replace(
        SYNTHETIC.quick, sources=((0.1, ""),), levels=(float("inf"), 4.0), repeats=1, variants=(),
        searched=searched, search_levels=(4.0,), search_repeats=1,
    )  # fmt: skip
    monkeypatch.setitem(EXPERIMENTS, "synthetic", replace(SYNTHETIC, quick=grid))


def invoke(folder, *arguments, name="synthetic"):
    return CliRunner().invoke(
        app, ["reproduce", name, "--quick", "--jobs", "1", "--out", str(folder), *arguments]
    )


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_rows_figures_and_summary_are_written_and_a_second_run_computes_nothing(tmp_path, tiny, monkeypatch):
    result = invoke(tmp_path)
    assert result.exit_code == 0, result.output
    assert {path.name for path in tmp_path.iterdir()} == {
        "synthetic.csv", "synthetic_search.csv", "synthetic.json", "synthetic.md", "synthetic_mean_0.1.png",
    }  # fmt: skip
    content = (tmp_path / "synthetic.csv").read_text()
    assert content.startswith(HEAD)
    rows = read(tmp_path / "synthetic.csv")
    kinds = {(row["method"], row["parameters"], row["psnr_target"]) for row in rows}
    assert kinds == set(product(METHODS, ("paper", "tuned"), ("inf", "4")))
    assert all(float(row["psnr"]) == pytest.approx(float(row["psnr_target"])) for row in rows)
    assert all(float(row["gap"]) <= 1e-3 for row in rows)
    assert "The paper's claim" in result.output
    machine = json.loads((tmp_path / "synthetic.json").read_text())
    assert machine["versions"]["seqspan"]
    assert machine["cores"] == joblib.cpu_count()

    monkeypatch.setattr(NoiseExperiment, "run", lambda *_: pytest.fail("a finished case ran again"))
    again = invoke(tmp_path)
    assert again.exit_code == 0, again.output
    assert (tmp_path / "synthetic.csv").read_text() == content

    planned = invoke(tmp_path, "--dry-run")
    assert planned.output == "synthetic: 21 cases, 21 done, 0 to run, about 0 min\n"
    more = invoke(tmp_path, "--dry-run", "--repeats", "3")
    assert "53 cases, 21 done, 32 to run" in more.output

    figure, summary = tmp_path / "synthetic_mean_0.1.png", tmp_path / "synthetic.md"
    kept = summary.read_text()
    figure.unlink()
    summary.unlink()
    redrawn = invoke(tmp_path, "--redraw")
    assert redrawn.exit_code == 0, redrawn.output
    assert figure.stat().st_size > 10_000
    assert summary.read_text() == kept


def test_a_dry_run_writes_nothing(tmp_path, tiny):
    result = invoke(tmp_path / "new", "--dry-run")
    assert result.output == "synthetic: 21 cases, 0 done, 21 to run, about 1 min\n"
    assert not (tmp_path / "new").exists()


def test_the_full_grid_is_counted():
    runner = CliRunner()
    result = runner.invoke(app, ["reproduce", "all", "--dry-run", "--out", "nowhere"])
    names = [line.split(":")[0] for line in result.output.splitlines()]
    assert names == ["synthetic", "spectra", "runtime", "video", "mocap"]
    assert "runtime: 170 cases" in result.output


def test_one_experiment_that_measures_time_runs_alone(tmp_path):
    assert (
        command.choose_n_jobs(EXPERIMENTS["runtime"], command.Options(tmp_path, n_jobs=joblib.cpu_count()))
        == 1
    )
    assert command.choose_n_jobs(SYNTHETIC, command.Options(tmp_path)) == joblib.cpu_count()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--jobs", "1000"], "--jobs must be in [1,"),
        (["--repeats", "0"], "--repeats must be at least 1; got 0"),
        (["--redraw"], "synthetic.csv: no rows of this grid yet"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, tiny, arguments, message):
    result = invoke(tmp_path, *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_an_unknown_experiment_is_named_with_those_there_are(tmp_path):
    result = invoke(tmp_path, name="figure4")
    assert result.exit_code == 2
    assert "must be one of synthetic, spectra, runtime, video, mocap or all; got 'figure4'" in result.output


@pytest.mark.parametrize(
    ("name", "folder"), [("spectra", "tirlib"), ("video", "video_bbb"), ("mocap", "cmu86")]
)
def test_missing_data_are_named_with_the_folder_they_are_looked_for_in(tmp_path, name, folder):
    result = invoke(tmp_path, "--data", str(tmp_path / "absent"), name=name)
    assert result.exit_code == 1
    assert str(tmp_path / "absent" / folder) in result.output
    assert not (tmp_path / f"{name}.csv").exists()


def test_a_second_run_in_the_same_folder_is_refused(tmp_path, tiny):
    with RowFile(tmp_path / "synthetic.csv", SYNTHETIC.columns, SYNTHETIC.case_columns):
        result = invoke(tmp_path)
    assert result.exit_code == 1
    assert "another run is writing to it" in result.output
