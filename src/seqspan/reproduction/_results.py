"""The result files of an experiment: run the cases that are missing, then draw and summarise all rows."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import polars as pl

from seqspan._core.extras import require_optional
from seqspan.reproduction._batch import OnRow, Workers, run_cases
from seqspan.reproduction._experiment import Experiment
from seqspan.reproduction._rows import Case, Key, Row, RowFile, format_value, make_key, read_rows
from seqspan.reproduction._tables import make_table

ROWS, SEARCH, MACHINE, SUMMARY = ".csv", "_search.csv", ".json", ".md"  # endings of the file names
FIGURE_DPI = 80  # dots per inch: figures stay below 150 kB

#: (title, number of cases, number done) -> context that shows progress and gives a callback for rows.
Display = Callable[[str, int, int], AbstractContextManager[OnRow | None]]


@dataclass(frozen=True)
class Plan:
    """How much there is to do.

    Parameters
    ----------
    name : str
    n_cases, n_done : int
    seconds : float
        Estimate for the cases that are not done.
    """

    name: str
    n_cases: int
    n_done: int
    seconds: float


@dataclass(frozen=True)
class Results:
    """The files of an experiment in a folder, and the grid whose rows are wanted.

    Parameters
    ----------
    experiment : Experiment
    grid : Any
    folder : path
    """

    experiment: Experiment
    grid: Any
    folder: Path

    def path(self, ending: str) -> Path:
        """Name a file of this experiment."""
        return self.folder / f"{self.experiment.name}{ending}"

    def run(self, workers: Workers, versions: Mapping[str, str], display: Display) -> None:
        """Run the cases that have no row yet: first the search for weights, then the rest."""
        require_optional("matplotlib", "drawing figures")
        self.experiment.require_data(workers.data)
        with self._open(SEARCH) as search, self._open(ROWS) as rows:
            self._describe_machine(workers, versions)
            search_cases = self.experiment.search_cases(self.grid)
            self._run_batch(search_cases, search, workers, display, "search")
            found = self._tabulate(search_cases, search.rows)
            self._run_batch(self.experiment.cases(self.grid, found), rows, workers, display, "runs")

    def _run_batch(
        self, cases: Iterable[Case], file: RowFile, workers: Workers, display: Display, what: str
    ) -> None:
        """Run some cases and show the progress, if there are any."""
        keys = {make_key(case, file.case_columns) for case in cases}
        if keys:
            title, n_done = f"{self.experiment.name}, {what}", len(keys & set(file.rows))
            with display(title, len(keys), n_done) as on_row:
                run_cases(self.experiment, cases, file, workers, on_row)

    def redraw(self) -> str:
        """Draw and summarise the rows there are.

        Returns
        -------
        str
            The summary in Markdown.
        """
        search = self._tabulate(self.experiment.search_cases(self.grid), self._read(SEARCH))
        table = self._tabulate(self.experiment.cases(self.grid, search), self._read(ROWS))
        if table.is_empty():
            raise ValueError(f"{self.path(ROWS)}: no rows of this grid yet; run without --redraw first.")
        for name, figure in self.experiment.draw_figures(table).items():
            figure.savefig(self.path(f"_{name}.png"), dpi=FIGURE_DPI)
        summary = self.experiment.summarise(table, search)
        self.path(SUMMARY).write_text(summary, encoding="utf-8")
        return summary

    def plan(self, n_jobs: int) -> Plan:
        """Count the cases, and estimate how long those take that are not done."""
        search_cases, done = self.experiment.search_cases(self.grid), self._read(SEARCH)
        found = self._tabulate(search_cases, done)
        if found.is_empty():  # whatever weights the search finds, there will be as many cases
            columns = self.experiment.columns
            rows = [{name: format_value(case.get(name)) for name in columns} for case in search_cases]
            found = make_table(rows, columns)
        cases = [*search_cases, *self.experiment.cases(self.grid, found)]
        done |= self._read(ROWS)
        pending = [case for case in cases if make_key(case, self.experiment.case_columns) not in done]
        seconds = sum(map(self.experiment.expected_seconds, pending)) / n_jobs
        return Plan(self.experiment.name, len(cases), len(cases) - len(pending), seconds)

    def _open(self, ending: str) -> RowFile:
        return RowFile(self.path(ending), self.experiment.columns, self.experiment.case_columns)

    def _read(self, ending: str) -> dict[Key, Row]:
        return read_rows(self.path(ending), self.experiment.columns, self.experiment.case_columns)

    def _tabulate(self, cases: Iterable[Case], rows: Mapping[Key, Row]) -> pl.DataFrame:
        """Make a table of the rows of some cases, in their order; rows of other grids are left out."""
        keys = dict.fromkeys(make_key(case, self.experiment.case_columns) for case in cases)
        return make_table([rows[key] for key in keys if key in rows], self.experiment.columns)

    def _describe_machine(self, workers: Workers, versions: Mapping[str, str]) -> None:
        """Record versions and the kind of machine, but not its name."""
        document = {
            "versions": {**versions, **{name: version(name) for name in ("joblib", "matplotlib")}},
            "system": f"{platform.system()}, {platform.machine()}",
            "cores": joblib.cpu_count(),
            "jobs": "the workers of a Dask cluster" if workers.cluster else workers.n_jobs,
            "threads per job": 1,
        }
        self.path(MACHINE).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
