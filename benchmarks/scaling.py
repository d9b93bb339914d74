"""How time and memory grow with the length of a recording: 62 angles, up to the paper's longest recording.

    python -m benchmarks.scaling --sizes 1000 2000 4000 9842
    python -m benchmarks.scaling --sizes 9842 --solvers fast

Each size runs in its own process, in float32, to a certified gap of 1e-2. Memory is the peak resident set of
that process; the last column counts it in arrays of n x n, without what the process held before.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.common import describe_machine, motion_problem, print_table
from seqspan.models import Osc
from seqspan.solvers import SOLVERS, Stopping


def run_once(solver: str, n: int) -> None:
    """Solve one problem and print time and memory; called in a separate process."""
    X = motion_problem(n).astype(np.float32)
    SOLVERS[solver](Osc(0.1, 1.0), motion_problem(600).astype(np.float32), stopping=Stopping(0.1, 50))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    began = time.perf_counter()
    solution = SOLVERS[solver](Osc(0.1, 1.0), X, stopping=Stopping(1e-2, 5000))
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    row = {
        "solver": solver, "n": n, "seconds": seconds, "iterations": solution.n_iter, "gap": solution.gap,
        "peak GB": peak / 1e9, "arrays of n x n": (peak - before) / (4 * n * n),
    }  # fmt: skip
    print(json.dumps(row))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000], help="numbers of samples")
    parser.add_argument("--solvers", nargs="+", default=["fast"])
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        run_once(options.solvers[0], options.sizes[0])
        return
    print(describe_machine())
    rows = []
    for solver in options.solvers:
        for n in options.sizes:
            command = [
                sys.executable,
                "-m",
                "benchmarks.scaling",
                "--once",
                "--solvers",
                solver,
                "--sizes",
                str(n),
            ]
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(json.loads(answer.stdout))
    print_table(rows)


if __name__ == "__main__":
    main()
