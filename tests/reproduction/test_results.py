"""Result files: which rows belong to a grid, and what is run for it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import polars as pl
import pytest

from seqspan._core.extras import MissingPackageError
from seqspan.reproduction._batch import Workers, make_generator
from seqspan.reproduction._results import Results
from seqspan.reproduction._rows import RowFile, format_value, make_key
from seqspan.reproduction.runtime import RUNTIME
from seqspan.reproduction.synthetic import SYNTHETIC


@pytest.mark.parametrize(
    ("experiment", "first"), [(SYNTHETIC, 0.37976350550988147), (RUNTIME, 0.9979891713412298)]
)
def test_data_are_those_of_the_published_tables(experiment, first):
    """A renamed module must not change a seed: these numbers are of the version that made the tables."""
    case = experiment.cases(experiment.full, pl.DataFrame())[-1]
    assert make_generator(experiment.name, case, experiment.data_columns).random() == first


def test_rows_of_another_grid_stay_out_of_the_table(tmp_path):
    results = Results(SYNTHETIC, replace(SYNTHETIC.quick, repeats=1), tmp_path)
    cases = SYNTHETIC.cases(results.grid, pl.DataFrame())
    rows = {
        make_key(case, SYNTHETIC.case_columns): {
            name: format_value(case.get(name, 0.5)) for name in SYNTHETIC.columns
        }
        for case in cases
    }
    table = results._tabulate(cases[2::-1], rows)
    assert table["method"].to_list() == [case["method"] for case in cases[2::-1]]
    assert table["error"].to_list() == [0.5] * 3


def test_a_grid_without_cases_starts_nothing(tmp_path, monkeypatch):
    """An experiment need not search for weights: then there is no bar and no worker."""

    def fail(*_):
        raise AssertionError("nothing should run")

    monkeypatch.setattr("seqspan.reproduction._results.run_cases", fail)
    results = Results(RUNTIME, RUNTIME.quick, tmp_path)
    with RowFile(tmp_path / "rows.csv", RUNTIME.columns, RUNTIME.case_columns) as file:
        results._run_batch([], file, Workers(), fail, "search")


def test_missing_matplotlib_is_reported_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"needs the package matplotlib.*seqspan\[plots\]"):
        Results(SYNTHETIC, SYNTHETIC.quick, tmp_path).run(Workers(), {}, lambda *_: nullcontext())
    assert list(tmp_path.iterdir()) == []


def test_rows_of_an_older_version_are_refused_when_redrawing(tmp_path):
    (tmp_path / "synthetic.csv").write_text("seed,error\n1,0.5\n")
    with pytest.raises(ValueError, match=r"synthetic\.csv: has the columns seed, error"):
        Results(SYNTHETIC, SYNTHETIC.quick, tmp_path).redraw()
