"""Time against the number of samples per cluster [paper, "Running Time"].

``fast`` is timed until it has certified a gap of 1e-2; ``vladmap`` and ``sylvester``, as published, until
their objective is as low as the one at which ``fast`` stopped, without spending time on certificates.
Everything runs in one thread, so CPU seconds are what the clock of an idle machine would show; growth and
speed-ups are computed from them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from scipy.stats import linregress, t

from seqspan._core.scaling import scale_columns
from seqspan._core.text import count_of
from seqspan._core.types import Array
from seqspan.datasets import make_subspaces
from seqspan.models import Osc
from seqspan.reproduction._experiment import Experiment
from seqspan.reproduction._figures import draw_growth
from seqspan.reproduction._methods import PAPER
from seqspan.reproduction._rows import Case, Value
from seqspan.reproduction._tables import format_table
from seqspan.solvers import SOLVERS, Progress, Stopping

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOL = 1e-2  # certified gap, relative to the objective
CPU_LIMIT = 600.0  # CPU seconds after which a run counts as unfinished
MAX_ITER = 10**6  # so many that the objective or the limit above stops a run
N_CLUSTERS = 5
COEFFICIENT_MEAN = 0.1
WEIGHTS = PAPER["osc"][0], PAPER["osc"][1] or 0.0
EXPECTED_SPEEDUPS = {"vladmap": 20, "sylvester": 500}  # of `fast`, at least
CLAIMED_EXPONENTS = {"sylvester": 2.0, "vladmap": 1.0}  # "quadratic" and "linear" in the paper
#: CPU seconds at 20 samples per cluster, and the exponent of their growth, to plan a run.
EXPECTED_SECONDS = {"fast": (0.02, 1.6), "vladmap": (0.06, 2.3), "sylvester": (1.5, 3.0)}


@dataclass(frozen=True)
class Grid:
    """What is varied.

    Parameters
    ----------
    sizes : tuple of (method, samples per cluster)
    repeats : int
    """

    sizes: tuple[tuple[str, tuple[int, ...]], ...]
    repeats: int = 10


class _StopSolving(Exception):
    """Raised by a callback when the objective is low enough, or time is up."""


class _UncertifiedOsc(Osc):
    """OSC without a certificate, so that computing one takes no time."""

    def lower_bound(self, *args: Any, **options: Any) -> float:
        """Prove nothing."""
        return -np.inf


@dataclass(frozen=True)
class Timed:
    """Where an algorithm stopped, and how long it took to get there."""

    objective: float
    gap: float
    iterations: int
    seconds: float
    cpu_seconds: float


class _Clock:
    """Seconds, and CPU seconds, since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def __call__(self) -> tuple[float, float]:
        return time.perf_counter() - self._wall, time.process_time() - self._cpu


@lru_cache(maxsize=1)
def _compile() -> None:
    """Compile the fast solver, or load its compiled code, before any clock starts."""
    _solve_fast(scale_columns(make_subspaces(samples_per_subspace=120, rng=0)[0]))


def _solve_fast(X: Array) -> Timed:
    """Run the fast solver to its certified gap."""
    clock = _Clock()
    found = SOLVERS["fast"](Osc(*WEIGHTS), X, stopping=Stopping(TOL), n_jobs=1)
    return Timed(found.objective, found.gap, found.n_iter, *clock())


def _solve_until(method: str, X: Array, target: float, bound: float) -> Timed:
    """Run a published algorithm until its objective is at most `target`, or it has run too long."""
    clock = _Clock()
    last = Timed(np.inf, np.inf, 0, 0.0, 0.0)

    def callback(progress: Progress) -> None:
        nonlocal last
        last = Timed(progress.objective, 1 - bound / progress.objective, progress.iteration, *clock())
        if progress.objective <= target or last.cpu_seconds > CPU_LIMIT:
            raise _StopSolving

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(_StopSolving):
            SOLVERS[method](_UncertifiedOsc(*WEIGHTS), X, stopping=Stopping(0.0, MAX_ITER, callback=callback))
    return last


@dataclass(frozen=True, kw_only=True)
class RuntimeExperiment(Experiment):
    """Times of three algorithms that minimise the same objective."""

    columns: ClassVar[tuple[str, ...]] = (
        "seed", "method", "parameters", "coefficient_mean", "psnr_target", "psnr", "error", "seconds", "gap",
        "samples_per_cluster", "cpu_seconds", "objective", "iterations", "finished",
    )  # fmt: skip
    case_columns: ClassVar[tuple[str, ...]] = (
        "seed", "method", "parameters", "coefficient_mean", "psnr_target", "samples_per_cluster",
    )  # fmt: skip
    data_columns: ClassVar[tuple[str, ...]] = (
        "seed", "coefficient_mean", "psnr_target", "samples_per_cluster",
    )  # fmt: skip
    runs_alone: ClassVar[bool] = True

    def cases(self, grid: Grid, search: pl.DataFrame) -> list[Case]:
        """List algorithms x sizes x repeats, small sizes first."""
        chosen = [(size, method) for method, sizes in grid.sizes for size in sizes]
        return [
            {
                "seed": seed, "method": method, "parameters": "paper", "coefficient_mean": COEFFICIENT_MEAN,
                "psnr_target": float("inf"), "samples_per_cluster": size,
            }
            for size, method in sorted(chosen, key=lambda pair: pair[0]) for seed in range(grid.repeats)
        ]  # fmt: skip

    def expected_seconds(self, case: Case) -> float:
        """Extrapolate from times that were measured."""
        seconds, exponent = EXPECTED_SECONDS[str(case["method"])]
        return float(seconds * (int(case["samples_per_cluster"] or 0) / 20) ** exponent)

    def run(self, case: Case, rng: np.random.Generator, data: str | None = None) -> dict[str, Value]:
        """Time one algorithm on one draw.

        The gap of a published algorithm is its distance from the bound that `fast` has proven.
        """
        size, method = int(case["samples_per_cluster"] or 0), str(case["method"])
        clean, _ = make_subspaces(
            N_CLUSTERS, samples_per_subspace=size, coefficient_mean=COEFFICIENT_MEAN, rng=rng
        )
        X = scale_columns(clean)
        _compile()
        fast = timed = _solve_fast(X)
        if method != "fast":
            timed = _solve_until(method, X, fast.objective, fast.objective * (1 - fast.gap))
        finished = int(timed.objective <= fast.objective)
        return {"psnr": float("inf"), "error": None, **asdict(timed), "finished": finished}

    def draw_figures(self, table: pl.DataFrame) -> dict[str, Figure]:
        """Draw time against size."""
        fits = [(method, exponent, factor) for method, exponent, _, factor in _fit_all(table)]
        return {"growth": draw_growth(table.filter(pl.col("finished") == 1), fits)}

    def summarise(self, table: pl.DataFrame, search: pl.DataFrame) -> str:
        """Say how time grows, and how much faster `fast` is."""
        faster = "holds" if _is_faster(table, "vladmap", "sylvester") else "is not confirmed by these rows"
        parts = [
            "# Running time",
            "CPU seconds grow as a power of the number of samples:",
            _format_exponents(table),
            *(text for method in EXPECTED_SPEEDUPS if (text := _describe_speedup(table, method))),
            "The paper says that the time of v-LADMAP grows linearly and that of the CVPR 2014 scheme "
            "quadratically. The exponents here are for the time to reach the same objective; a single step "
            "costs O(n² d) and O(n³). The paper's claim that v-LADMAP is faster than the CVPR 2014 scheme "
            f"{faster}.",
        ]
        return "\n\n".join(parts) + "\n"


RUNTIME = RuntimeExperiment(
    name="runtime",
    full=Grid(
        (
            ("fast", (20, 30, 40, 60, 80, 120, 200, 320)),
            ("vladmap", (20, 40, 80, 120, 200)),
            ("sylvester", (20, 30, 40, 60)),
        )
    ),
    quick=Grid(
        (("fast", (20, 30, 40, 80, 160)), ("vladmap", (20, 40, 80, 160)), ("sylvester", (20, 30, 40))),
        repeats=2,
    ),
)


def fit_growth(sizes: Array, seconds: Array) -> tuple[float, float, float]:
    """Fit ``seconds = factor * sizes^exponent`` by linear regression of logarithms.

    Parameters
    ----------
    sizes, seconds : arrays of shape (m,)

    Returns
    -------
    exponent, half width of its 95 % confidence interval, logarithm of the factor

    Examples
    --------
    >>> exponent, half, factor = fit_growth(np.array([10.0, 20, 40, 80]), np.array([1.0, 4, 16, 64]))
    >>> bool(abs(exponent - 2) < 1e-12 and half < 1e-6)
    True
    """
    line = linregress(np.log(sizes), np.log(seconds))
    freedom = len(sizes) - 2
    half = float(t.ppf(0.975, freedom)) * float(line.stderr) if freedom > 0 else float("inf")
    return float(line.slope), half, float(line.intercept)


def _finished_rows(table: pl.DataFrame, method: str) -> pl.DataFrame:
    """Rows of the runs of a method that finished."""
    return table.filter((pl.col("method") == method) & (pl.col("finished") == 1))


def _fit_all(table: pl.DataFrame) -> Iterator[tuple[str, float, float, float]]:
    """Yield method, exponent, half width and factor for the runs that finished."""
    for method in EXPECTED_SECONDS:
        rows = _finished_rows(table, method)
        if rows["samples_per_cluster"].n_unique() > 1:
            sizes, seconds = rows["samples_per_cluster"].to_numpy(), rows["cpu_seconds"].to_numpy()
            yield method, *fit_growth(sizes, seconds)


def _format_exponents(table: pl.DataFrame) -> str:
    """Write the exponents of growth in Markdown."""
    lines = []
    for method, exponent, half, _ in _fit_all(table):
        sizes = _finished_rows(table, method)["samples_per_cluster"]
        claim = f"{CLAIMED_EXPONENTS[method]:g}" if method in CLAIMED_EXPONENTS else ""
        sizes_range = f"{min(sizes):g} to {max(sizes):g}"
        lines.append([method, sizes_range, len(sizes), f"{exponent:.2f} ± {half:.2f}", claim])
    header = ["algorithm", "samples per cluster", "runs", "growth exponent (95 %)", "in the paper's words"]
    return format_table(header, lines)


def compute_speedups(table: pl.DataFrame, method: str) -> tuple[int, Array]:
    """CPU seconds of a published algorithm over those of `fast`, draw by draw, at its largest size.

    Parameters
    ----------
    table : rows
    method : str

    Returns
    -------
    size : int
        Samples per cluster: the largest number at which all its runs finished.
    speedups : array of shape (n_draws,)
    """
    rows = table.filter(pl.col("method") == method)
    complete = (
        rows.group_by("samples_per_cluster").agg(pl.col("finished").min()).filter(pl.col("finished") == 1)
    )
    if complete.is_empty():
        return 0, np.empty(0)
    largest = max(complete["samples_per_cluster"])
    at = table.filter(pl.col("samples_per_cluster") == largest)
    fast = at.filter(pl.col("method") == "fast").select("seed", fast="cpu_seconds")
    both = at.filter(pl.col("method") == method).select("seed", theirs="cpu_seconds").join(fast, on="seed")
    return int(largest), (both["theirs"] / both["fast"]).to_numpy()


def _describe_speedup(table: pl.DataFrame, method: str) -> str:
    """Say how much faster `fast` is than a published algorithm, if there are rows of both."""
    size, found = compute_speedups(table, method)
    if not len(found):
        return ""
    least = EXPECTED_SPEEDUPS[method]
    met = "which it is" if np.median(found) >= least else "**which it is not**"
    return (
        f"At {size} samples per cluster (n = {N_CLUSTERS * size}), the largest size at which all runs of "
        f"`{method}` finished, `fast` reaches a certified gap of {TOL:g} **{np.median(found):.0f} times "
        f"faster** than `{method}` reaches the same objective (median of {count_of(len(found), 'draw')}, "
        f"{found.min():.0f} to {found.max():.0f}). It was expected to be at least {least} times faster, "
        f"{met}."
    )


def _is_faster(table: pl.DataFrame, one: str, other: str) -> bool:
    """Whether one algorithm is faster than another at the largest size that both ran."""
    means = table.group_by("method", "samples_per_cluster").agg(pl.col("cpu_seconds").mean())
    times = {method: dict(rows.select("samples_per_cluster", "cpu_seconds").iter_rows())
             for (method,), rows in means.group_by("method")}  # fmt: skip
    common = set(times.get(one, ())) & set(times.get(other, ()))
    return bool(common) and times[one][max(common)] < times[other][max(common)]
