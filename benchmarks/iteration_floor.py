"""Compare an iteration of the fast solver with what memory bandwidth and arithmetic allow.

    python -m benchmarks.iteration_floor --sizes 2000 4000 8000

The floor is the time to move the bytes of an iteration at the measured speed of a copy, plus the time of its
two thin products at the measured speed of BLAS. An iteration reads V and U in its first pass, and reads and
writes both in its second: six arrays of n x n. The products take 4 n^2 r operations.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from benchmarks.common import describe_machine, motion_problem, paper_problem, print_table
from seqspan._core.threads import Team
from seqspan.models import Osc
from seqspan.solvers.fast.certificate import certify
from seqspan.solvers.fast.reduced import reduce
from seqspan.solvers.fast.sweeps import Sweeps

REPEATS = 7
ARRAYS_MOVED = 6


def best_seconds(work: Callable[[], object]) -> float:
    """Return the shortest of a few runs, the one least disturbed by other work."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def copy_bandwidth(team: Team, dtype: type) -> float:
    """Return bytes per second, read plus written, of a copy far larger than the caches, on all threads."""
    source = np.ones((team.n_jobs, 2**26 // team.n_jobs), dtype)
    target = np.zeros_like(source)

    def copy(blocks: range) -> None:
        for b in blocks:
            np.copyto(target[b], source[b])

    return 2 * source.nbytes / best_seconds(lambda: team.map(copy, team.n_jobs))


def blas_rate(team: Team, n: int, rank: int, dtype: type) -> float:
    """Return operations per second of products with the solver's shapes, on all threads."""
    left, right = np.ones((n, 128), dtype), np.ones((128, rank), dtype)
    repeats = max(1, int(2e9 / (2 * n * 128 * rank)))

    def multiply(blocks: range) -> None:
        out = np.empty((n, rank), dtype)
        for _ in range(repeats):
            np.matmul(left, right, out=out)

    return team.n_jobs * repeats * 2 * n * 128 * rank / best_seconds(lambda: team.map(multiply, team.n_jobs))


def measure(name: str, X: np.ndarray, dtype: type, n_jobs: int | None) -> dict[str, object]:
    n = X.shape[1]
    with Team(n_jobs) as team:
        sweeps = Sweeps(Osc(0.1, 1.0), reduce(X, dtype), team)
        state = sweeps.zero_state(10.0, 30.0)
        sweeps.iterate(state)
        seconds = best_seconds(lambda: sweeps.iterate(state))
        certificate = best_seconds(lambda: certify(sweeps, state))
        itemsize = np.dtype(dtype).itemsize
        moved = ARRAYS_MOVED * n * n * itemsize / copy_bandwidth(team, dtype)
        multiplied = 4 * n * n * sweeps.rank / blas_rate(team, n, sweeps.rank, dtype)
    floor = moved + multiplied
    return {
        "data": name, "n": n, "rank": sweeps.rank, "dtype": np.dtype(dtype).name, "threads": team.n_jobs,
        "ms per iteration": 1e3 * seconds, "ms moving": 1e3 * moved, "ms multiplying": 1e3 * multiplied,
        "times the floor": seconds / floor, "ms per certificate": 1e3 * certificate,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[500], help="numbers of samples")
    parser.add_argument("--n-jobs", type=int, help="number of threads; all cores by default")
    options = parser.parse_args()
    print(describe_machine())
    rows = []
    for n in options.sizes:
        for dtype in (np.float32, np.float64):
            rows.append(measure("motion", motion_problem(n), dtype, options.n_jobs))
            rows.append(measure("paper, noisy", paper_problem(n, 0.1), dtype, options.n_jobs))
    print_table(rows)


if __name__ == "__main__":
    main()
