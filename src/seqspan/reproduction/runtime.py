"""Time against the number of samples per cluster [paper, "Running Time"].

``fast`` is timed until it has certified a gap of 1e-2; ``vladmap`` and ``sylvester``, as published,
until their objective is as low as the one where ``fast`` stopped, without any certificate on their account.
Everything runs in one thread, so CPU seconds are what the clock of an idle machine would show: growth and
ratios are computed from them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from scipy.stats import linregress, t

from seqspan._core.checks import scale_columns
from seqspan._core.types import Array
from seqspan.datasets import make_subspaces
from seqspan.models import Osc
from seqspan.pipeline import represent
from seqspan.reproduction._figures import draw_growth
from seqspan.reproduction._methods import PAPER
from seqspan.reproduction._study import number
from seqspan.reproduction._tables import markdown
from seqspan.reproduction.sweep import Case, Value
from seqspan.solvers import Progress, Stopping

PARAMETERS = "seed", "method", "parameters", "coefficient_mean", "psnr_target", "samples_per_cluster"
COLUMNS = (
    "seed", "method", "parameters", "coefficient_mean", "psnr_target", "psnr", "error", "seconds", "gap",
    "samples_per_cluster", "cpu_seconds", "objective", "iterations", "finished",
)  # fmt: skip
DRAWN_BY = "seed", "coefficient_mean", "psnr_target", "samples_per_cluster"
ALONE = True  # nothing else may run while time is measured

TOL = 1e-2
LIMIT = 600.0  # CPU seconds after which a run counts as not finished
N_CLUSTERS = 5
MEAN = 0.1
RATIOS = {"vladmap": 20, "sylvester": 500}  # how many times faster `fast` is expected to be
CLAIMS = {"sylvester": 2.0, "vladmap": 1.0}  # growth exponents in the paper's words


@dataclass(frozen=True)
class Grid:
    """Samples per cluster for each algorithm, and repeats.

    Parameters
    ----------
    sizes : tuple of (method, sizes)
    repeats : int
    """

    sizes: tuple[tuple[str, tuple[int, ...]], ...]
    repeats: int = 10

    def with_repeats(self, repeats: int) -> Grid:
        """Change the number of repeats."""
        return replace(self, repeats=repeats)


GRID = Grid(
    (
        ("fast", (20, 30, 40, 60, 80, 120, 200, 320)),
        ("vladmap", (20, 40, 80, 120, 200)),
        ("sylvester", (20, 30, 40, 60)),
    )
)
QUICK = Grid(
    (("fast", (20, 30, 40, 80, 160)), ("vladmap", (20, 40, 80, 160)), ("sylvester", (20, 30, 40))), repeats=2
)


class _Reached(Exception):
    """Raised from a callback when the objective is low enough, or time is up."""


class _Uncertified(Osc):
    """OSC without a certificate, so that none is on the clock."""

    def lower_bound(self, *args: Any, **options: Any) -> float:
        """Bound nothing."""
        return -np.inf


def search_cases(grid: Grid) -> list[Case]:
    """No weights are searched for."""
    return []


def cases(grid: Grid, search: pl.DataFrame) -> list[Case]:
    """List algorithms x sizes x repeats, small sizes first."""
    found: list[Case] = [
        {
            "seed": seed, "method": method, "parameters": "paper", "coefficient_mean": MEAN,
            "psnr_target": float("inf"), "samples_per_cluster": size,
        }
        for method, sizes in grid.sizes for size in sizes for seed in range(grid.repeats)
    ]  # fmt: skip
    return sorted(found, key=lambda case: number(case["samples_per_cluster"]) or 0.0)


def expected_seconds(case: Case) -> float:
    """Estimate the time of a case from the growth that was measured."""
    size = number(case["samples_per_cluster"]) or 0.0
    growth = {"fast": (0.02, 1.6), "vladmap": (0.06, 2.3), "sylvester": (1.5, 3.0)}
    factor, exponent = growth[str(case["method"])]
    return float(factor * (size / 20) ** exponent)


@lru_cache(maxsize=1)
def _load_compiled_code() -> None:
    """Compile, or load what was compiled before, outside the clock."""
    _solve_fast(scale_columns(make_subspaces(samples_per_subspace=120, rng=0)[0]))


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


def _solve_fast(X: Array) -> Timed:
    """Run the fast solver to its certified gap."""
    clock = _Clock()
    found = represent(X, Osc(*_weights()), "fast", Stopping(TOL), n_threads=1)
    return Timed(found.objective, found.gap, found.n_iter, *clock())


def _weights() -> tuple[float, float]:
    return PAPER["osc"][0], PAPER["osc"][1] or 0.0


def _solve_until(method: str, X: Array, target: float, bound: float) -> Timed:
    """Run a published algorithm until its objective is at most `target`, or it has run too long."""
    clock = _Clock()
    last = Timed(np.inf, np.inf, 0, 0.0, 0.0)

    def callback(progress: Progress) -> None:
        nonlocal last
        last = Timed(progress.objective, 1 - bound / progress.objective, progress.iteration, *clock())
        if progress.objective <= target or last.cpu_seconds > LIMIT:
            raise _Reached

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(_Reached):
            represent(X, _Uncertified(*_weights()), method, Stopping(0.0, 10**6, callback=callback))
    return last


def run(case: Case, rng: np.random.Generator, data: str | None = None) -> dict[str, Value]:
    """Time one algorithm on one draw.

    Parameters
    ----------
    case : mapping
    rng : numpy.random.Generator
    data : str, optional
        Not used.

    Returns
    -------
    dict
        The gap of a published algorithm is its distance to the bound that `fast` has proven.
    """
    size = int(number(case["samples_per_cluster"]) or 0)
    clean, _ = make_subspaces(N_CLUSTERS, samples_per_subspace=size, coefficient_mean=MEAN, rng=rng)
    X = scale_columns(clean)
    _load_compiled_code()
    fast = timed = _solve_fast(X)
    if case["method"] != "fast":
        timed = _solve_until(str(case["method"]), X, fast.objective, fast.objective * (1 - fast.gap))
    finished = int(timed.objective <= fast.objective)
    return {"psnr": float("inf"), "error": None, **asdict(timed), "finished": finished}


def fit_growth(sizes: Array, seconds: Array) -> tuple[float, float, float]:
    """Fit ``seconds = factor * sizes^exponent`` in logarithms.

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


def _fits(table: pl.DataFrame) -> Iterator[tuple[str, float, float, float]]:
    """Method, exponent, half width, factor; of the runs that finished."""
    for method in ("fast", "vladmap", "sylvester"):
        rows = table.filter((pl.col("method") == method) & (pl.col("finished") == 1))
        if rows["samples_per_cluster"].n_unique() > 1:
            sizes, seconds = rows["samples_per_cluster"].to_numpy(), rows["cpu_seconds"].to_numpy()
            yield method, *fit_growth(sizes, seconds)


def draw(table: pl.DataFrame) -> dict[str, Figure]:
    """Draw time against size.

    Parameters
    ----------
    table : rows

    Returns
    -------
    dict of a name to its figure
    """
    fits = [(method, exponent, factor) for method, exponent, _, factor in _fits(table)]
    return {"growth": draw_growth(table.filter(pl.col("finished") == 1), fits)}


def ratios(table: pl.DataFrame, method: str) -> tuple[int, Array]:
    """CPU seconds of a published algorithm over those of `fast`, draw by draw, at its largest size.

    Parameters
    ----------
    table : rows
    method : str

    Returns
    -------
    size : int
        Samples per cluster: the largest at which all its runs finished.
    ratios : array
    """
    rows = table.filter(pl.col("method") == method)
    whole = rows.group_by("samples_per_cluster").agg(pl.col("finished").min()).filter(pl.col("finished") == 1)
    if whole.is_empty():
        return 0, np.empty(0)
    largest = max(whole["samples_per_cluster"])
    at = table.filter(pl.col("samples_per_cluster") == largest)
    fast = at.filter(pl.col("method") == "fast").select("seed", fast="cpu_seconds")
    both = at.filter(pl.col("method") == method).select("seed", theirs="cpu_seconds").join(fast, on="seed")
    return int(largest), (both["theirs"] / both["fast"]).to_numpy()


def summarise(table: pl.DataFrame, search: pl.DataFrame) -> str:
    """Say how time grows, and how much faster `fast` is.

    Parameters
    ----------
    table, search : rows; nothing was searched

    Returns
    -------
    str
        Markdown.
    """
    lines = []
    for method, exponent, half, _ in _fits(table):
        rows = table.filter((pl.col("method") == method) & (pl.col("finished") == 1))
        sizes = rows["samples_per_cluster"]
        claim = f"{CLAIMS[method]:g}" if method in CLAIMS else ""
        span = f"{min(sizes):g} to {max(sizes):g}"
        lines.append([method, span, len(rows), f"{exponent:.2f} ± {half:.2f}", claim])
    heads = ["algorithm", "samples per cluster", "runs", "growth exponent (95 %)", "in the paper's words"]
    parts = [
        "# Running time",
        "CPU seconds grow as a power of the number of samples:",
        markdown(heads, lines),
    ]
    parts += [text for method in RATIOS if (text := _speed(table, method))]
    holds = "holds" if _faster(table, "vladmap", "sylvester") else "does not show in these rows"
    parts.append(
        "The paper says that v-LADMAP grows linearly and the CVPR 2014 scheme quadratically. The exponents "
        "here are of the time to an objective of one quality; a step alone costs O(n² d) and O(n³). The "
        f"advantage of v-LADMAP over the CVPR 2014 scheme, which the paper claims, {holds}."
    )
    return "\n\n".join(parts) + "\n"


def _speed(table: pl.DataFrame, method: str) -> str:
    """Say how much faster `fast` is than a published algorithm, if rows tell."""
    size, found = ratios(table, method)
    if not len(found):
        return ""
    state = "as expected" if np.median(found) >= RATIOS[method] else "**less than expected**"
    return (
        f"At {size} samples per cluster (n = {N_CLUSTERS * size}), the largest that `{method}` was given "
        f"and finished, `fast` to a certified gap of 1e-2 is **{np.median(found):.0f} times faster** than "
        f"`{method}` to the same objective (median of {len(found)} draws, {found.min():.0f} to "
        f"{found.max():.0f}): {state}, at least {RATIOS[method]}."
    )


def _faster(table: pl.DataFrame, one: str, other: str) -> bool:
    """Whether one algorithm is faster than another at the largest size that both ran."""
    means = table.group_by("method", "samples_per_cluster").agg(pl.col("cpu_seconds").mean())
    found = {
        row[:2]: row[2] for row in means.select("method", "samples_per_cluster", "cpu_seconds").iter_rows()
    }
    sizes = {name: {size for method, size in found if method == name} for name in (one, other)}
    common = sizes[one] & sizes[other]
    return bool(common) and found[one, max(common)] < found[other, max(common)]
