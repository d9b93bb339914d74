"""A toy experiment for the tests of sweeps: cases that sleep a little and tell which process ran them.

``data`` is the path of a log that gets a line for every case that was started.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from threadpoolctl import threadpool_info

PARAMETERS = ("seed", "method")
COLUMNS = ("seed", "method", "value", "threads", "process")
DRAWN_BY = ("seed",)
NAME = "tests.reproduction.toy"


def grid(seeds, methods=("a", "b")):
    return [{"seed": seed, "method": method} for seed in range(seeds) for method in methods]


def run(case, rng, data):
    if data:
        with Path(data).open("a") as log:
            log.write(f"{case['seed']},{case['method']}\n")
    if case["method"] == "fails":
        raise ArithmeticError("no luck")
    time.sleep(0.02)
    threads = max((pool["num_threads"] for pool in threadpool_info()), default=1)
    return {"value": rng.random(), "threads": threads, "process": os.getpid()}


def main():
    """Run ``toy.py FOLDER SEEDS JOBS``, as a process that tests can kill."""
    from seqspan.reproduction.sweep import RowFile, run_cases

    folder, seeds, jobs = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    with RowFile(folder / "toy.csv", COLUMNS, PARAMETERS) as file:
        (folder / "started").touch()
        run_cases(NAME, grid(seeds), file, jobs=jobs, data=str(folder / "log"))


if __name__ == "__main__":
    main()
