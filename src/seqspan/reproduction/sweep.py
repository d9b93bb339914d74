"""A grid of independent cases -> rows of a CSV file, through joblib: processes here, or a Dask cluster.

Every case has a random generator of its own, seeded by its parameters, so rows depend neither on the number
of jobs nor on their order. Rows are appended one by one as they finish, so a run that was killed goes on
where it was.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from seqspan._core.threads import Team

__all__ = ["Experiment", "RowFile", "generator_of", "run_cases"]

Value = float | int | str | None
Case = Mapping[str, Value]
Row = dict[str, str]

ANSWER_SECONDS = 10.0  # that a Dask scheduler has to answer
IDLE_SECONDS = 20  # after which a worker ends, as it must when the run that started it was killed


class Experiment(Protocol):
    """What a module of :mod:`seqspan.reproduction` offers to a sweep.

    Examples
    --------
    >>> from seqspan.reproduction import synthetic
    >>> set(synthetic.PARAMETERS) < set(synthetic.COLUMNS), callable(synthetic.run)
    (True, True)
    """

    COLUMNS: tuple[str, ...]
    PARAMETERS: tuple[str, ...]
    DRAWN_BY: tuple[str, ...]

    def run(self, case: Case, rng: np.random.Generator, data: str | None) -> Mapping[str, Value]:
        """Compute the results of a case."""


def text_of(value: Value) -> str:
    """Write a value as it stands in a row; equal numbers have equal texts.

    Examples
    --------
    >>> [text_of(value) for value in (4, 4.0, 0.1, float("inf"), "osc", None)]
    ['4', '4', '0.1', 'inf', 'osc', '']
    """
    if value is None:
        return ""
    return value if isinstance(value, str) else format(value, ".12g")


def key_of(case: Mapping[str, Value], names: Iterable[str]) -> tuple[str, ...]:
    """Name a case, or a row of it, by its parameters.

    Examples
    --------
    >>> key_of({"seed": 3, "psnr": 4.0, "error": 0.5}, ("seed", "psnr"))
    ('3', '4')
    """
    return tuple(text_of(case[name]) for name in names)


def generator_of(experiment: str, case: Case, names: Iterable[str]) -> np.random.Generator:
    """Seed a generator by the parameters of a case that its data depend on: the same on every machine.

    Parameters
    ----------
    experiment : str
    case : mapping
    names : iterable of str
        Cases that agree in these get the same generator, and so the same data.

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    >>> draws = [generator_of("toy", {"seed": 1, "method": m}, ["seed"]).integers(100) for m in ("a", "b")]
    >>> bool(draws[0] == draws[1])
    True
    """
    named = {name: text_of(case[name]) for name in names}
    digest = hashlib.sha256(json.dumps([experiment, named], sort_keys=True).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


class RowFile:
    """The rows of a CSV file, each written whole; one run at a time holds it.

    A last line without its end, as a killed run may leave, is dropped when the file is opened.

    Parameters
    ----------
    path : path
    columns : tuple of str
    parameters : tuple of str
        The columns that name a row.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "toy.csv"
    >>> with RowFile(path, ("seed", "error"), ("seed",)) as file:
    ...     file.append({"seed": 0, "error": 0.25})
    >>> path.write_text(path.read_text() + "1,0.")  # killed while writing
    22
    >>> with RowFile(path, ("seed", "error"), ("seed",)) as file:
    ...     list(file.rows.values())
    [{'seed': '0', 'error': '0.25'}]
    """

    def __init__(self, path: Path, columns: tuple[str, ...], parameters: tuple[str, ...]) -> None:
        self.path, self.columns, self.parameters = Path(path), columns, parameters
        self.rows: dict[tuple[str, ...], Row] = {}

    def __enter__(self) -> RowFile:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            _hold(self._file, self.path)
            self._load()
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)  # lets go of it, too

    def _load(self) -> None:
        """Read what is there, and cut off a line that was never finished."""
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        os.ftruncate(self._file, len(whole))
        if not whole:
            self._write(self.columns)
            return
        reader = csv.reader(io.StringIO(whole.decode("utf-8")))
        header = next(reader)
        if tuple(header) != self.columns:
            raise ValueError(
                f"{self.path}: has the columns {', '.join(header)}; this version writes "
                f"{', '.join(self.columns)}. Give another folder, or move the file away."
            )
        for cells in reader:
            row = dict(zip(self.columns, cells, strict=True))
            self.rows.setdefault(key_of(row, self.parameters), row)

    def append(self, row: Mapping[str, Value]) -> None:
        """Add a row; when this returns it is on the disk."""
        texts = {name: text_of(row[name]) for name in self.columns}
        self._write(list(texts.values()))
        self.rows[key_of(texts, self.parameters)] = texts

    def _write(self, cells: Sequence[str]) -> None:
        """Append a line in one call."""
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(cells)
        content = line.getvalue().encode("utf-8")
        if os.write(self._file, content) != len(content):
            raise OSError(f"{self.path}: a row could not be written whole; is the disk full?")
        os.fsync(self._file)


def _hold(file: int, path: Path) -> None:
    """Keep other runs out until the file is closed or this process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows, where an open file's first byte is locked instead
        import msvcrt

        lock: Callable[[], Any] = lambda: msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # noqa: E731
    else:
        lock = lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # noqa: E731
    try:
        lock()
    except OSError as error:
        raise OSError(f"{path}: another run is writing there; wait for it or give another folder.") from error


def run_cases(
    module: str,
    cases: Sequence[Case],
    file: RowFile,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    data: str | None = None,
    on_row: Callable[[Mapping[str, Value]], None] | None = None,
) -> None:
    """Run the cases that have no row yet, several at a time.

    Each case computes in one thread (BLAS included), so jobs never compete for cores.

    Parameters
    ----------
    module : str
        Name of a module with `COLUMNS`, `PARAMETERS`, `DRAWN_BY` and `run`, see :class:`Experiment`.
    cases : sequence of mappings
        Each with a value for all of `PARAMETERS`.
    file : RowFile
        Open; holds the rows there are and takes new ones.
    jobs : int
        Processes on this machine.
    cluster : str, optional
        Address of a running Dask scheduler, whose workers take the place of local processes.
    data : str, optional
        Folder of the real data sets, as the workers see it.
    on_row : callable, optional
        Called with every new row after it was written.

    Examples
    --------
    >>> import sys, tempfile, types
    >>> toy = types.ModuleType("toy")  # stands for a file toy.py of one's own
    >>> toy.COLUMNS, toy.PARAMETERS, toy.DRAWN_BY = ("seed", "square"), ("seed",), ("seed",)
    >>> toy.run = lambda case, rng, data: {"square": case["seed"] ** 2}
    >>> sys.modules["toy"] = toy
    >>> with RowFile(Path(tempfile.mkdtemp()) / "toy.csv", toy.COLUMNS, toy.PARAMETERS) as file:
    ...     run_cases("toy", [{"seed": 2}, {"seed": 3}], file)
    ...     sorted(row["square"] for row in file.rows.values())
    ['4', '9']
    >>> del sys.modules["toy"]
    """
    experiment: Any = importlib.import_module(module)
    pending = {key_of(case, experiment.PARAMETERS): case for case in cases}
    pending = {key: case for key, case in pending.items() if key not in file.rows}
    if not pending:
        return
    groups = _by_draw(list(pending.values()), experiment.DRAWN_BY)
    pinned = cluster is not None or jobs > 1
    with _workers(jobs, cluster) as parallel:
        tasks = (joblib.delayed(run_group)(module, group, data, pinned) for group in groups)
        for rows in parallel(tasks):
            for row in rows:
                file.append(row)
                if on_row is not None:
                    on_row(row)


def _by_draw(cases: list[Case], names: tuple[str, ...]) -> list[list[Case]]:
    """Bring together the cases that share their data, so that these are drawn once."""
    first: dict[tuple[str, ...], int] = {}
    for case in cases:
        first.setdefault(key_of(case, names), len(first))

    def number(case: Case) -> int:
        return first[key_of(case, names)]

    return [list(group) for _, group in groupby(sorted(cases, key=number), key=number)]


def run_group(module: str, cases: Sequence[Case], data: str | None, pinned: bool) -> list[dict[str, Value]]:
    """Run cases that share their data, in a worker.

    Parameters
    ----------
    module : str
    cases : sequence of mappings
    data : str or None
    pinned : bool
        Whether this process is a worker's, whose threads stay pinned.

    Returns
    -------
    list of rows
    """
    if pinned:
        threadpool_limits(limits=1)  # for good: a worker may run several groups in threads of its own
        return [_run(module, case, data) for case in cases]
    # BLAS by way of the solvers' own limiter: where that has been used, limits set by other threads are void
    with Team(1), threadpool_limits(limits=1, user_api="openmp"):
        return [_run(module, case, data) for case in cases]


def _run(module: str, case: Case, data: str | None) -> dict[str, Value]:
    """Run one case, and say which one if it fails."""
    experiment: Any = importlib.import_module(module)
    rng = generator_of(module, case, experiment.DRAWN_BY)
    try:
        return {**case, **experiment.run(case, rng, data)}
    except (OSError, ImportError):
        raise  # data or a package is missing: the message says what, and the case does not matter
    except Exception as error:
        described = ", ".join(f"{name}={text_of(value)}" for name, value in case.items())
        raise RuntimeError(f"the case {described} failed: {error}") from error


@contextmanager
def _workers(jobs: int, cluster: str | None) -> Iterator[Any]:
    """Joblib's Parallel on local processes or a Dask cluster, yielding results as they come."""
    with ExitStack() as stack:
        if cluster is None:
            config = joblib.parallel_config(
                "loky", n_jobs=jobs, inner_max_num_threads=1, idle_worker_timeout=IDLE_SECONDS
            )
        else:
            client = stack.enter_context(_client(cluster))
            config = joblib.parallel_config("dask", client=client, n_jobs=-1)
        stack.enter_context(config)
        yield joblib.Parallel(return_as="generator_unordered")


def _client(address: str) -> Any:
    """Connect to a Dask scheduler."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("--cluster needs Dask: pip install 'seqspan[cluster]'.") from error
    try:
        return Client(address, timeout=ANSWER_SECONDS)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise OSError(f"no Dask scheduler answers at {address}: {error}") from error
