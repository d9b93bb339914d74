"""Run a batch of independent cases through joblib, in local processes or on a Dask cluster.

Every case has its own random generator, seeded by its parameters, so rows depend neither on the number of
processes nor on their order. Each row is written as soon as its case is done, so a run that was killed
resumes where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from seqspan._core.extras import import_optional
from seqspan._core.threads import Team
from seqspan.reproduction._experiment import Experiment
from seqspan.reproduction._rows import Case, Key, RowFile, Value, format_value, make_key

CONNECT_SECONDS = 10.0  # seconds that a Dask scheduler has to answer
IDLE_SECONDS = 20  # seconds after which an idle worker ends, also when the run that started it was killed
SEED_PREFIX = "seqspan.experiments."  # hashed into every seed: another prefix would draw other data

OnRow = Callable[[Case], None]


@dataclass(frozen=True)
class Workers:
    """Where cases run.

    Parameters
    ----------
    n_jobs : int
        Processes on this machine.
    cluster : str, optional
        Address of a running Dask scheduler, whose workers replace the local processes.
    data : str, optional
        Folder of the data sets, as the workers see it.
    """

    n_jobs: int = 1
    cluster: str | None = None
    data: str | None = None


def make_generator(experiment: str, case: Case, columns: Iterable[str]) -> np.random.Generator:
    """Seed a generator by the columns of a case that determine its data, the same on every machine.

    Parameters
    ----------
    experiment : str
        Name of the experiment.
    case : mapping
    columns : iterable of str
        Cases that agree in these columns get the same generator, and so the same data.

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    >>> draws = [make_generator("toy", {"seed": 1, "method": m}, ["seed"]).integers(100) for m in ("a", "b")]
    >>> bool(draws[0] == draws[1])
    True
    """
    values = {name: format_value(case[name]) for name in columns}
    text = json.dumps([f"{SEED_PREFIX}{experiment}", values], sort_keys=True)
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))


def run_cases(
    experiment: Experiment,
    cases: Iterable[Case],
    file: RowFile,
    workers: Workers,
    on_row: OnRow | None = None,
) -> None:
    """Run the cases that have no row yet, several at a time.

    Each case computes in one thread (BLAS included), so that processes do not compete for cores.

    Parameters
    ----------
    experiment : Experiment
    cases : iterable of mappings
    file : RowFile
        An open file, with the rows of the cases that are done; new rows are appended to it.
    workers : Workers
    on_row : callable, optional
        Called with every new row after it has been written.
    """
    pending = {make_key(case, experiment.case_columns): case for case in cases}
    groups = _group_by_data(
        (case for key, case in pending.items() if key not in file.rows), experiment.data_columns
    )
    if not groups:
        return
    with _start(workers) as parallel:
        tasks = (joblib.delayed(run_group)(experiment, group, workers.data) for group in groups)
        for rows in parallel(tasks):
            for row in rows:
                file.append(row)
                if on_row is not None:
                    on_row(row)


def _group_by_data(cases: Iterable[Case], columns: Iterable[str]) -> list[list[Case]]:
    """Put cases that share their data into one group, so that the data are made once."""
    groups: dict[Key, list[Case]] = {}
    for case in cases:
        groups.setdefault(make_key(case, columns), []).append(case)
    return list(groups.values())


def run_group(experiment: Experiment, cases: Sequence[Case], data: str | None) -> list[dict[str, Value]]:
    """Run cases that share their data in one thread, and return their rows.

    Several groups may run at once, in threads of one worker.

    Parameters
    ----------
    experiment : Experiment
    cases : sequence of mappings
    data : str or None
        Folder of the data sets.

    Returns
    -------
    list of rows
    """
    # BLAS is limited by Team, which counts its users, as BLAS has one limit for the whole process
    with Team(1), threadpool_limits(limits=1, user_api="openmp"):
        return [_run(experiment, case, data) for case in cases]


def _run(experiment: Experiment, case: Case, data: str | None) -> dict[str, Value]:
    """Run one case; an error names it."""
    rng = make_generator(experiment.name, case, experiment.data_columns)
    try:
        return {**case, **experiment.run(case, rng, data)}
    except (OSError, ImportError):
        raise  # data or a package are missing: the message says which, and the case does not matter
    except Exception as error:
        described = ", ".join(f"{name}={format_value(value)}" for name, value in case.items())
        raise RuntimeError(f"the case {described} failed: {error}") from error


@contextmanager
def _start(workers: Workers) -> Iterator[Any]:
    """Start joblib's Parallel; it yields results as they arrive."""
    with ExitStack() as stack:
        if workers.cluster is None:
            config = joblib.parallel_config(
                "loky", n_jobs=workers.n_jobs, inner_max_num_threads=1, idle_worker_timeout=IDLE_SECONDS
            )
        else:
            client = stack.enter_context(_connect(workers.cluster))
            config = joblib.parallel_config("dask", client=client, n_jobs=-1)
        stack.enter_context(config)
        yield joblib.Parallel(return_as="generator_unordered")


def _connect(address: str) -> Any:
    """Connect to a Dask scheduler."""
    distributed = import_optional("distributed", "running on a cluster")
    try:
        return distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise OSError(f"no Dask scheduler answers at {address}: {error}") from error
