"""``seqspan reproduce``: an experiment of the paper from its grid to rows, figures and a summary."""

from __future__ import annotations

import importlib
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any

import joblib
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from seqspan.cli.run import versions
from seqspan.reproduction import EXPERIMENTS
from seqspan.reproduction._tables import rows_of, table_of
from seqspan.reproduction.sweep import Case, RowFile, Value, key_of, run_cases

FIGURE_DPI = 80  # figures stay below 150 kB


@dataclass(frozen=True)
class Options:
    """How to run, as the command line gives it."""

    out: Path
    quick: bool = False
    repeats: int | None = None
    jobs: int | None = None
    cluster: str | None = None
    data: str | None = None
    quiet: bool = False


@dataclass(frozen=True)
class Files:
    """The files of an experiment in the folder of results."""

    folder: Path
    name: str

    @property
    def rows(self) -> Path:
        """One row per run."""
        return self.folder / f"{self.name}.csv"

    @property
    def search(self) -> Path:
        """One row per run of the search for better weights."""
        return self.folder / f"{self.name}_search.csv"

    @property
    def machine(self) -> Path:
        """Versions, and what kind of machine it was."""
        return self.folder / f"{self.name}.json"

    @property
    def summary(self) -> Path:
        """Plain words."""
        return self.folder / f"{self.name}.md"


@dataclass(frozen=True)
class Plan:
    """How much there is to do."""

    name: str
    n_cases: int
    n_done: int
    seconds: float


def names_of(name: str) -> tuple[str, ...]:
    """List the experiments that a name stands for.

    Examples
    --------
    >>> names_of("runtime")
    ('runtime',)
    """
    if name != "all" and name not in EXPERIMENTS:
        raise ValueError(f"NAME must be one of {', '.join(EXPERIMENTS)} or all; got {name!r}.")
    return EXPERIMENTS if name == "all" else (name,)


def n_jobs_of(experiment: Any, options: Options) -> int:
    """Choose the number of processes: as asked, never more than cores, one where time is measured."""
    cores = int(joblib.cpu_count())
    if options.jobs is not None and not 1 <= options.jobs <= cores:
        raise ValueError(f"--jobs must be in [1, {cores}] on {cores} cores; got {options.jobs}.")
    return 1 if getattr(experiment, "ALONE", False) else options.jobs or cores


def module_of(name: str) -> str:
    """Name the module of an experiment."""
    return f"seqspan.reproduction.{name}"


def grid_of(experiment: Any, options: Options) -> Any:
    """Take the full or the quick grid, with the repeats asked for."""
    grid = experiment.QUICK if options.quick else experiment.GRID
    if options.repeats is None:
        return grid
    if options.repeats < 1:
        raise ValueError(f"--repeats must be at least 1; got {options.repeats}.")
    return grid.with_repeats(options.repeats)


def reproduce(name: str, options: Options) -> str:
    """Run what is missing of an experiment, then draw and sum up all of it.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    options : Options

    Returns
    -------
    str
        The summary, in Markdown.
    """
    experiment = importlib.import_module(module_of(name))
    files, grid = Files(options.out, name), grid_of(experiment, options)
    jobs = n_jobs_of(experiment, options)
    if hasattr(experiment, "require_data"):
        experiment.require_data(options.data)
    search_cases = experiment.search_cases(grid)
    with _open(files.search, experiment) as search, _open(files.rows, experiment) as rows:
        _describe_machine(files.machine, jobs, options.cluster)
        _run(name, "search", search_cases, search, jobs, options)
        found = table_of(rows_of(search_cases, search.rows, experiment.PARAMETERS), experiment.COLUMNS)
        _run(name, "runs", experiment.cases(grid, found), rows, jobs, options)
    return redraw(name, options)


def redraw(name: str, options: Options) -> str:
    """Draw and sum up the rows there are, without computing any.

    Parameters
    ----------
    name : str
    options : Options

    Returns
    -------
    str
        The summary, in Markdown.
    """
    experiment = importlib.import_module(module_of(name))
    files, grid = Files(options.out, name), grid_of(experiment, options)
    table, search = _tables(experiment, files, grid)
    if table.is_empty():
        raise ValueError(f"{files.rows}: has no rows of this grid yet; leave --redraw out to compute them.")
    for part, figure in experiment.draw(table).items():
        figure.savefig(files.folder / f"{name}_{part}.png", dpi=FIGURE_DPI)
    summary: str = experiment.summarise(table, search)
    files.summary.write_text(summary, encoding="utf-8")
    return summary


def plan(name: str, options: Options) -> Plan:
    """Count the cases of an experiment, those done, and estimate the time that the others take.

    Parameters
    ----------
    name : str
    options : Options

    Returns
    -------
    Plan
    """
    experiment = importlib.import_module(module_of(name))
    files, grid = Files(options.out, name), grid_of(experiment, options)
    search_cases = experiment.search_cases(grid)
    done = _read(files.search, experiment) if files.search.exists() else {}
    found = table_of(rows_of(search_cases, done, experiment.PARAMETERS), experiment.COLUMNS)
    if found.is_empty() and search_cases:  # weights not found yet count as many cases as any weights
        found = table_of(_as_if_searched(search_cases, experiment.COLUMNS), experiment.COLUMNS)
    cases = [*search_cases, *experiment.cases(grid, found)]
    done = done | (_read(files.rows, experiment) if files.rows.exists() else {})
    pending = [case for case in cases if key_of(case, experiment.PARAMETERS) not in done]
    seconds = sum(map(experiment.expected_seconds, pending)) / n_jobs_of(experiment, options)
    return Plan(name, len(cases), len(cases) - len(pending), seconds)


def describe(plan: Plan) -> str:
    """Say in one line how much there is to do.

    Examples
    --------
    >>> describe(Plan("runtime", 90, 30, 600.0))
    'runtime: 90 cases, 30 done, 60 to run, about 10 min'
    """
    left = plan.n_cases - plan.n_done
    return (
        f"{plan.name}: {plan.n_cases} cases, {plan.n_done} done, {left} to run, "
        f"about {max(1, round(plan.seconds / 60)) if left else 0} min"
    )


def _as_if_searched(cases: Sequence[Case], columns: Sequence[str]) -> list[dict[str, str]]:
    """Rows without results."""
    return [{name: "" if case.get(name) is None else str(case[name]) for name in columns} for case in cases]


def _open(path: Path, experiment: Any) -> RowFile:
    return RowFile(path, experiment.COLUMNS, experiment.PARAMETERS)


def _read(path: Path, experiment: Any) -> dict[tuple[str, ...], dict[str, str]]:
    """Read the rows of a file that another run may be writing."""
    content = path.read_text(encoding="utf-8")
    lines = content[: content.rfind("\n") + 1].splitlines()
    rows = [dict(zip(experiment.COLUMNS, line.split(","), strict=True)) for line in lines[1:]]
    return {key_of(row, experiment.PARAMETERS): row for row in rows}


def _tables(experiment: Any, files: Files, grid: Any) -> tuple[Any, Any]:
    """Read the rows of a grid, and those of its search."""
    stored = [_read(path, experiment) if path.exists() else {} for path in (files.search, files.rows)]
    names, columns = experiment.PARAMETERS, experiment.COLUMNS
    search = table_of(rows_of(experiment.search_cases(grid), stored[0], names), columns)
    return table_of(rows_of(experiment.cases(grid, search), stored[1], names), columns), search


def _run(name: str, what: str, cases: Sequence[Case], file: RowFile, jobs: int, options: Options) -> None:
    """Run a grid under a progress bar."""
    keys = {key_of(case, file.parameters) for case in cases}
    if not keys:
        return
    display = None if options.quiet else _Display(f"{name}, {what}", len(keys), len(keys & set(file.rows)))
    on_row: Callable[[Mapping[str, Value]], None] | None = None if display is None else display.advance
    with display or nullcontext():
        run_cases(
            module_of(name), cases, file, jobs=jobs, cluster=options.cluster, data=options.data, on_row=on_row
        )


def _describe_machine(path: Path, jobs: int, cluster: str | None) -> None:
    """Write down versions and the kind of machine, without its name."""
    document = {
        "versions": versions() | {name: version(name) for name in ("joblib", "matplotlib")},
        "system": f"{platform.system()}, {platform.machine()}",
        "cores": joblib.cpu_count(),
        "jobs": "the workers of a Dask cluster" if cluster else jobs,
        "threads per job": 1,
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


class _Display:
    """A bar on standard error: cases done, cases per second, time left."""

    def __init__(self, title: str, total: int, done: int) -> None:
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"), TimeRemainingColumn(),
        )  # fmt: skip
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(title, total=total, completed=done, rate="")

    def __enter__(self) -> _Display:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def advance(self, row: Mapping[str, Value]) -> None:
        """Count one more case."""
        speed = self._bar.tasks[0].speed
        self._bar.update(self._task, advance=1, rate="" if speed is None else f"{speed:.1f} cases/s")
