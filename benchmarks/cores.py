"""Fits with landmarks on one thread and on several, and the threads that they start.

    python -m benchmarks.cores [--samples 50000] [--threads 1 2] [--repeats 3]

Each row is a fit of the whole pipeline with ``cut="peaks"``. The shortest of a few repeats counts, and the
repeats of all rows alternate, so that other work on the machine disturbs all of them alike. "copy" is the
speed-up of a copy in memory in the same run: on a busy machine it is not the number of threads, either.

"shared out" does not depend on other work. It is the share of a single-threaded fit's processor time that a
team of threads deals out, and "limit" is the speed-up that this share allows with so many threads.
"""

from __future__ import annotations

import argparse
import time
from unittest.mock import patch

import numpy as np

from benchmarks.common import describe_machine, print_table
from benchmarks.iteration_floor import copy_bandwidth
from seqspan._core import threads
from seqspan._core.threads import Team
from seqspan.datasets import make_motion
from seqspan.estimators import OSC


def fit(rows: np.ndarray, n_jobs: int) -> tuple[float, int]:
    """Return the seconds of a fit, and how many thread pools it started."""
    estimator = OSC(dictionary="landmarks", cut="peaks", lambda_1="auto", lambda_2="auto", n_jobs=n_jobs)
    with patch.object(threads, "ThreadPoolExecutor", wraps=threads.ThreadPoolExecutor) as started:
        began = time.perf_counter()
        estimator.fit(rows)
        return time.perf_counter() - began, started.call_count


def shared_out(rows: np.ndarray) -> tuple[float, float]:
    """Return the processor time of a single-threaded fit, and of that the part which teams deal out."""
    inside = [0.0]
    deal_out = Team.map

    def timed(team: Team, *given: object) -> object:
        began = time.process_time()
        try:
            return deal_out(team, *given)  # type: ignore[arg-type]
        finally:
            inside[0] += time.process_time() - began

    began = time.process_time()
    with patch.object(Team, "map", timed):
        fit(rows, 1)
    return time.process_time() - began, inside[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(describe_machine())
    rows = make_motion(options.samples, rng=0)[0].T.astype(np.float32)
    fit(rows[:6000], max(options.threads))  # load compiled code before the clock starts
    found = [[fit(rows, n_jobs) for n_jobs in options.threads] for _ in range(options.repeats)]
    total, inside = shared_out(rows)
    share = inside / total
    print(f"one thread: {total:.1f} s of processor time, {100 * share:.0f} % of it shared out")
    table, bandwidth = [], []
    for column, n_jobs in enumerate(options.threads):
        with Team(n_jobs) as team:
            bandwidth.append(copy_bandwidth(team, np.float32))
        seconds = min(repeat[column][0] for repeat in found)
        table.append({
            "samples": options.samples, "threads": n_jobs, "seconds": seconds,
            "times one": min(repeat[0][0] for repeat in found) / seconds,
            "limit": 1 / (1 - share + share / n_jobs),
            "copy": bandwidth[-1] / bandwidth[0], "pools": max(repeat[column][1] for repeat in found),
        })  # fmt: skip
    print_table(table)


if __name__ == "__main__":
    main()
