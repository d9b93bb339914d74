"""Every option of ``seqspan segment`` works with ``--together``, or is refused."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from tests.films import write_film
from typer.testing import CliRunner

from seqspan.cli.commands import app
from seqspan.cli.settings import Control, Settings
from seqspan.datasets import make_recurring_subspaces
from seqspan.results.folder import REPORT

NAMES = [f"c{place}" for place in range(6)]
ORDER, LENGTHS = (0, 1, 0, 1, 1, 0), (40, 35, 45, 40, 50, 40)
STARTS = [75, 160]  # of the second and third recording


@pytest.fixture
def trials(tmp_path, monkeypatch):
    """Three tables: one with a value missing, one with a gap in time, all with a second clock."""
    monkeypatch.chdir(tmp_path)
    X, labels = make_recurring_subspaces(ORDER, 2, 6, LENGTHS, rng=0)
    for name, rows in zip("abc", np.split(X.T, STARTS), strict=True):
        times = np.arange(len(rows)) / 50 + 30 * (np.arange(len(rows)) >= 50) * (name == "c")
        cells = np.column_stack([times, 2 * times, rows]).astype(object)
        if name == "b":
            cells[7, 3] = ""
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["time", "clock", *NAMES], *cells.tolist()])
    (tmp_path / "truth.csv").write_text("label\n" + "".join(f"{label}\n" for label in labels))
    (tmp_path / "corrected.csv").write_text("start,end,label\n0,60,A\n60,250,B\n")
    (tmp_path / "given.toml").write_text('spans = 7\nsubspaces = "2"\n')
    return tmp_path


def run(*arguments):
    done = CliRunner().invoke(app, ["segment", "a.csv", "b.csv", "c.csv", "--together", *arguments])
    document = next((json.loads(path.read_text()) for path in _results()), {})
    return done, document


def _results():
    return [*Path().glob("*.seqspan/result.json"), *Path().glob("elsewhere/result.json")]


def lengths(document):
    return [span["end"] - span["start"] for span in document["spans"]]


#: Of every option: what is given, and what is to be seen in result.json (or the message that refuses it).
CASES = {
    "subspaces": (["--subspaces", "2", "--spans", "6"], lambda d: d["n_subspaces"] == 2),
    "spans": (["--spans", "8"], lambda d: d["n_spans"] == 8),
    "grain": (["--grain", "fine"], lambda d: d["settings"]["grain"] == "fine"),
    "min_length": (["--min-length", "35"], lambda d: min(lengths(d)) >= 35),
    "method": (["--method", "lsr"], lambda d: "lambda_2" not in d["parameters"]),
    "cut": (["--cut", "ncut"], lambda d: d["cut"] == "ncut"),
    "lambda1": (["--lambda1", "0.3"], lambda d: d["parameters"]["lambda_1"] == 0.3),
    "lambda2": (["--lambda2", "0.7"], lambda d: d["parameters"]["lambda_2"] == 0.7),
    "solver": (["--solver", "splitting"], lambda d: d["parameters"]["solver"] == "splitting"),
    "dictionary": (["--dictionary", "landmarks"], lambda d: d["parameters"]["dictionary"] == "landmarks"),
    "device": (["--device", "cuda"], r"cuda|CuPy|GPU"),
    "tol": (["--tol", "0.001"], lambda d: d["gap"] <= 0.001),
    "max_iter": (["--max-iter", "2"], lambda d: d["n_iter"] == 2),
    "preprocess": (["--preprocess", "centre"], lambda d: d["preprocessing"]["steps"][0]["step"] == "centre"),
    "format": (["--format", "parquet"], r"a\.csv"),
    "missing": (["--missing", "drop"], lambda d: d["input"]["n_samples"] == 249),
    "missing_values": (["--missing-values", "-9,9e9"], lambda d: d["settings"]["missing_values"] == "-9,9e9"),
    "columns": (["--columns", "c0,c1,c2"], lambda d: d["input"]["n_features"] == 3),
    "exclude": (["--exclude", "c0,clock"], lambda d: d["input"]["n_features"] == 5),
    "time_column": (["--time-column", "clock"], lambda d: d["input"]["rate"] == pytest.approx(25)),
    "variable": (["--variable", "X"], "variable"),
    "stride": (["--stride", "2"], "stride"),
    "read": (["--read", "missing=drop"], lambda d: d["input"]["n_samples"] == 249),
    "together": ([], lambda d: len(d["input"]["recordings"]) == 3),
    "gap": (["--gap", "10"], lambda d: len(d["input"]["recordings"]) == 4),
    "resample": (["--resample", "25", "--gap", "10"], lambda d: d["input"]["rate"] == pytest.approx(25)),
    "seed": (["--seed", "7"], lambda d: d["settings"]["seed"] == 7),
    "truth": (["--truth", "truth.csv"], lambda d: d["scores"]),
    "names": (["--names", "A=walk"], lambda d: d["label_names"][0] == "walk"),
    "segments": (["--segments", "corrected.csv"], lambda d: lengths(d) == [60, 15, 85, 90]),
    "export": (["--export", "elan"], lambda d: "spans-b.csv.eaf" in d["files"]),
    "split": (["--split"], "--split needs a video file"),
    "no_report": (["--no-report"], lambda d: REPORT not in d["files"]),
    "out": (["--out", "elsewhere"], lambda d: _results()[0].parts[0] == "elsewhere"),
    "jobs": (["--jobs", "2"], lambda d: len(d["input"]["recordings"]) == 3),
    "config": (["--config", "given.toml"], lambda d: d["n_spans"] == 7),
}  # fmt: skip


def test_every_option_has_a_case():
    said = {"save_config", "fresh", "json", "quiet", "verbose"}  # below
    assert set(CASES) | said == {f.name for table in (Settings, Control) for f in fields(table)}


@pytest.mark.parametrize("option", CASES)
def test_an_option_works_or_is_refused(trials, option):
    given, expected = CASES[option]
    options = given if option == "no_report" else [*given, "--no-report"]
    if option not in ("missing", "read"):
        options += ["--missing", "interpolate"]
    done, document = run(*options)
    if isinstance(expected, str):
        assert done.exit_code in (1, 2)
        assert re.search(expected, done.output)
        assert not document
    else:
        assert done.exit_code == 0, done.output
        assert expected(document)


def test_options_that_say_how_to_run(trials):
    always = ["--no-report", "--missing", "interpolate"]
    done, _ = run(*always, "--save-config", "saved.toml", "--json")
    assert json.loads(done.stdout.splitlines()[0])["name"] == "3 recordings"
    assert "together = true" in (trials / "saved.toml").read_text()
    assert run(*always, "--quiet")[0].output == ""
    assert "nothing has changed" in run(*always)[0].output
    done, _ = run(*always, "--fresh", "--verbose")
    assert "nothing has changed" not in done.output
    assert "solving" in done.output


def test_every_film_is_split(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.mp4", "two.mp4"):
        write_film(tmp_path / name)
    options = ["--together", "--split", "--spans", "5", "--out", "both", "--no-report"]
    done = CliRunner().invoke(app, ["segment", "one.mp4", "two.mp4", *options])
    assert done.exit_code == 0, done.output
    document = json.loads((tmp_path / "both" / "result.json").read_text())
    found = sorted(path.relative_to(tmp_path / "both" / "split").as_posix()
                   for path in (tmp_path / "both" / "split").rglob("*_*.mp4"))  # fmt: skip
    assert len(found) == 5
    assert {name.partition("/")[0] for name in found} == {"one.mp4", "two.mp4"}
    assert sorted(piece["name"] for piece in document["split"]) == found
