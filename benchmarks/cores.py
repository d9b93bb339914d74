"""How the stages of a fit scale with the number of threads, and the thread pools that they start.

    python -m benchmarks.cores [--samples 50000] [--threads 1 2] [--repeats 3]
    python -m benchmarks.cores --samples 100000 --all-samples 9842 --threads 1 2 4 8 16

The first row is a memory triad, ``a = b + s c``: what only moves memory cannot scale better. Then come the
solver to a gap of 1e-2 and the costs of all spans, both with all samples as atoms, and fits of the whole
pipeline with landmarks. The shortest of a few repeats counts, and the repeats of all numbers of threads
alternate, so that other work on the machine disturbs all of them alike.

"shared out" does not depend on other work. It is the share of a single-threaded fit's processor time that a
team of threads or k-means deals out, and "limit" is the speed-up that this share allows with so many threads.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numba
import numpy as np
from sklearn.cluster import KMeans

from benchmarks.common import describe_machine, motion_problem, print_table
from seqspan._core import threads
from seqspan._core.threads import Team
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.cut import GRID_POINTS
from seqspan.cuts.ordered.features import sample_features
from seqspan.cuts.ordered.search import grid_step
from seqspan.datasets import make_motion
from seqspan.estimators import OSC
from seqspan.models import Osc
from seqspan.solvers import Stopping
from seqspan.solvers.fast.solver import solve_fast

TRIAD_LENGTH = 2**26  # numbers in each array, far more than caches hold


@numba.njit(nogil=True, fastmath=True, cache=True)
def add_scaled(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """``a = b + 3 c``."""
    for i in range(len(a)):
        a[i] = b[i] + np.float32(3) * c[i]


class Triad:
    """Three arrays far larger than the caches."""

    def __init__(self) -> None:
        self._arrays = [np.ones(TRIAD_LENGTH, np.float32) for _ in range(3)]

    def __call__(self, n_jobs: int) -> None:
        """Run through the arrays ten times."""
        edges = np.linspace(0, TRIAD_LENGTH, n_jobs + 1).astype(int)

        def work(parts: range) -> None:
            for part in parts:
                add_scaled(*(array[edges[part] : edges[part + 1]] for array in self._arrays))

        with Team(n_jobs, uses_blas=False) as team:
            for _ in range(10):
                team.map(work, n_jobs)


def solve(X: np.ndarray, n_jobs: int) -> None:
    """Solve with all samples as atoms."""
    solve_fast(Osc(0.1, 1.0), X, stopping=Stopping(1e-2), n_jobs=n_jobs)


def cost_of_spans(cost: GaussianCost, n_jobs: int) -> None:
    """Costs of all spans between the points of the grid."""
    step = grid_step([slice(0, cost.n_samples)], GRID_POINTS)
    cost.span_costs(cost.places(step), 1, n_jobs, beyond_chance=True)


def fit(rows: np.ndarray, cut: str, n_jobs: int) -> int:
    """Fit with landmarks; returns how many thread pools were started."""
    estimator = OSC(dictionary="landmarks", cut=cut, lambda_1="auto", lambda_2="auto", n_jobs=n_jobs)
    with patch.object(threads, "ThreadPoolExecutor", wraps=threads.ThreadPoolExecutor) as started:
        estimator.fit(rows)
        return int(started.call_count)


def shared_out(rows: np.ndarray) -> float:
    """Of the processor time of a single-threaded fit, the part which teams and k-means deal out."""
    inside = [0.0]
    deal_out, k_means = Team.map, KMeans.fit

    def timed(team: Team, *given: object) -> object:
        began = time.process_time()
        try:
            return deal_out(team, *given)  # type: ignore[arg-type]
        finally:
            inside[0] += time.process_time() - began

    def cluster(estimator: KMeans, samples: np.ndarray) -> object:
        began = time.process_time()
        found = k_means(estimator, samples)
        inside[0] += time.process_time() - began
        return found

    began = time.process_time()
    with patch.object(Team, "map", timed), patch.object(KMeans, "fit", cluster):
        fit(rows, "peaks", 1)
    return inside[0] / (time.process_time() - began)


def scaling(name: str, work: Callable[[int], object], numbers: list[int], repeats: int) -> dict[str, object]:
    """A row of the table: seconds on each number of threads, and how often the first goes into each."""
    best = dict.fromkeys(numbers, np.inf)
    for _ in range(repeats):
        for n_jobs in numbers:
            began = time.perf_counter()
            work(n_jobs)
            best[n_jobs] = min(best[n_jobs], time.perf_counter() - began)
    first = best[numbers[0]]
    return {"stage": name} | {
        f"{n_jobs} threads": f"{seconds:.3g} s, {first / seconds:.2f} x" for n_jobs, seconds in best.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=50_000, help="of the fits with landmarks")
    parser.add_argument("--all-samples", type=int, default=3000, help="of the solver and the costs of spans")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(describe_machine())
    rows = make_motion(options.samples, rng=0)[0].T.astype(np.float32)
    X = motion_problem(options.all_samples).astype(np.float32)
    cost = GaussianCost([sample_features(X)] * 2)
    for cut in ("peaks", "ordered"):
        fit(rows[:6000], cut, max(options.threads))  # load compiled code before the clock starts
    solve(X[:, :600], 1)
    stages = {
        "memory triad": Triad(),
        f"solver, n = {options.all_samples}": partial(solve, X),
        f"costs of all spans, n = {options.all_samples}": partial(cost_of_spans, cost),
        f"landmarks, peaks, n = {options.samples}": partial(fit, rows, "peaks"),
        f"landmarks, ordered, n = {options.samples}": partial(fit, rows, "ordered"),
    }
    for name, work in stages.items():
        print_table([scaling(name, work, options.threads, options.repeats)])
    share, most = shared_out(rows), max(options.threads)
    limit = 1 / (1 - share + share / most)
    print(
        f"landmarks, peaks: {share:.0%} shared out, so {most} threads are at most {limit:.1f} times as fast"
    )
    print(f"thread pools started by one more fit: {fit(rows, 'peaks', most)}")


if __name__ == "__main__":
    main()
