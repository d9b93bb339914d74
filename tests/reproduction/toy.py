"""A toy experiment for the tests of batches: cases sleep a little and say which process ran them.

``data`` is the path of a log that gets a line for every case that was started. Beyond the number of lines
that a file ``limit`` beside it states, cases wait until they are killed.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from threadpoolctl import threadpool_info


class Toy:
    name = "toy"
    columns = ("seed", "method", "value", "threads", "process")
    case_columns = ("seed", "method")
    data_columns = ("seed",)

    def run(self, case, rng, data):
        if data:
            with Path(data).open("a") as log:
                log.write(f"{case['seed']},{case['method']}\n")
            wait_beyond_limit(Path(data))
        if case["method"] == "fails":
            raise ArithmeticError("no luck")
        time.sleep(0.02)
        threads = max((pool["num_threads"] for pool in threadpool_info()), default=1)
        return {"value": rng.random(), "threads": threads, "process": os.getpid()}


def wait_beyond_limit(log):
    limit = log.with_name("limit")
    while limit.exists() and len(log.read_text().splitlines()) > int(limit.read_text()):
        time.sleep(0.01)


def grid(seeds, methods=("a", "b")):
    return [{"seed": seed, "method": method} for seed in range(seeds) for method in methods]


def main():
    """Run ``toy.py FOLDER SEEDS JOBS``, as a process that tests can kill."""
    from seqspan.reproduction._batch import Workers, run_cases
    from seqspan.reproduction._rows import RowFile

    folder, seeds, n_jobs = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    with RowFile(folder / "toy.csv", Toy.columns, Toy.case_columns) as file:
        (folder / "started").touch()
        run_cases(Toy(), grid(seeds), file, Workers(n_jobs, data=str(folder / "log")))


if __name__ == "__main__":
    main()
