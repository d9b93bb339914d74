"""``seqspan reproduce``: run an experiment from the paper, show progress, plot and summarise the results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import joblib
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from seqspan.cli.segment import versions
from seqspan.reproduction import EXPERIMENTS
from seqspan.reproduction._batch import OnRow, Workers
from seqspan.reproduction._experiment import Experiment
from seqspan.reproduction._results import Plan, Results
from seqspan.reproduction._rows import Case


@dataclass(frozen=True)
class Options:
    """The command-line options."""

    out: Path
    quick: bool = False
    repeats: int | None = None
    n_jobs: int | None = None
    cluster: str | None = None
    data: str | None = None
    quiet: bool = False


def select_experiments(name: str) -> tuple[str, ...]:
    """List the experiments that a name stands for.

    Examples
    --------
    >>> select_experiments("runtime")
    ('runtime',)
    """
    if name != "all" and name not in EXPERIMENTS:
        raise ValueError(f"NAME must be one of {', '.join(EXPERIMENTS)} or all; got {name!r}.")
    return tuple(EXPERIMENTS) if name == "all" else (name,)


def choose_n_jobs(experiment: Experiment, options: Options) -> int:
    """Number of processes: one if time is measured, otherwise as given, by default one per core."""
    cores = int(joblib.cpu_count())
    if options.n_jobs is not None and not 1 <= options.n_jobs <= cores:
        raise ValueError(f"--jobs must be in [1, {cores}] on {cores} cores; got {options.n_jobs}.")
    return 1 if experiment.runs_alone else options.n_jobs or cores


def _locate(name: str, options: Options) -> Results:
    """Find the result files of the full or the quick grid with the requested number of repeats."""
    experiment = EXPERIMENTS[name]
    grid = experiment.quick if options.quick else experiment.full
    if options.repeats is not None:
        if options.repeats < 1:
            raise ValueError(f"--repeats must be at least 1; got {options.repeats}.")
        grid = replace(grid, repeats=options.repeats)
    return Results(experiment, grid, options.out)


def reproduce(name: str, options: Options) -> str:
    """Run the missing cases of an experiment, then plot and summarise all of them.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    options : Options

    Returns
    -------
    str
        The summary in Markdown.
    """
    results = _locate(name, options)
    workers = Workers(choose_n_jobs(results.experiment, options), options.cluster, options.data)
    results.run(workers, versions(), _show_nothing if options.quiet else _show_progress)
    return results.redraw()


def redraw(name: str, options: Options) -> str:
    """Plot and summarise the existing rows without running any case."""
    return _locate(name, options).redraw()


def plan(name: str, options: Options) -> Plan:
    """Count the cases of an experiment and estimate how long the remaining ones take."""
    results = _locate(name, options)
    return results.plan(choose_n_jobs(results.experiment, options))


def describe(plan: Plan) -> str:
    """Describe in one line how much is left to do.

    Examples
    --------
    >>> describe(Plan("runtime", 90, 30, 600.0))
    'runtime: 90 cases, 30 done, 60 to run, about 10 min'
    """
    left = plan.n_cases - plan.n_done
    minutes = max(1, round(plan.seconds / 60)) if left else 0
    return f"{plan.name}: {plan.n_cases} cases, {plan.n_done} done, {left} to run, about {minutes} min"


@contextmanager
def _show_nothing(title: str, n_cases: int, n_done: int) -> Iterator[None]:
    """Run quietly."""
    yield


@contextmanager
def _show_progress(title: str, n_cases: int, n_done: int) -> Iterator[OnRow]:
    """Show a bar on standard error: cases done, cases per second, time left."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=n_cases, completed=n_done, rate="")

        def advance(row: Case) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, advance=1, rate="" if speed is None else f"{speed:.1f} cases/s")

        yield advance
