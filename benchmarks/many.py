"""Many files with one vocabulary: processor time, peak memory, and whether the spans are right.

    python -m benchmarks.many --files 1000      # a million samples: 3 GB, five minutes of processor time
    python -m benchmarks.many --files 100

Every file is a table of 1,000 rows with a time and eight columns: four spans of 250 rows around one of six
means, with noise. `seqspan segment --together` segments them, with nothing given.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common import describe_machine, print_table

COLUMNS, STATES, SPANS, LENGTH = 8, 6, 4, 250
NOISE = 0.5
RATE = 100  # rows per second


def write_files(folder: Path, n_files: int) -> None:
    """Write the tables; neighbouring spans have different states."""
    rng = np.random.default_rng(0)
    means = rng.standard_normal((STATES, COLUMNS))
    times = np.arange(SPANS * LENGTH) / RATE
    for number in range(n_files):
        steps = rng.integers(1, STATES, SPANS)
        states = np.cumsum(steps) % STATES
        X = np.repeat(means[states], LENGTH, axis=0) + NOISE * rng.standard_normal((SPANS * LENGTH, COLUMNS))
        with (folder / f"trial{number:04d}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["time", *"abcdefgh"])
            writer.writerows(np.column_stack([times, X]).round(4).tolist())


def measure(n_files: int) -> dict[str, object]:
    """Segment the files in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        trials, out = Path(folder) / "trials", Path(folder) / "out"
        trials.mkdir()
        write_files(trials, n_files)
        began = time.perf_counter()
        command = [
            sys.executable,
            "-m",
            "seqspan.cli",
            "segment",
            str(trials),
            "--together",
            "--out",
            str(out),
        ]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        seconds, used = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        found = json.loads((out / "result.json").read_text())
        right = sum(span["start"] % LENGTH == 0 for span in found["spans"])
        stages = {f"{stage} s": value for stage, value in found["seconds"].items() if stage != "solver"}
        return {
            "files": n_files, "samples": found["input"]["n_samples"], "seconds": seconds,
            "CPU s": used.ru_utime + used.ru_stime, "peak GB": used.ru_maxrss / 1e6, **stages,
            "report kB": (out / "report.html").stat().st_size / 1000, "spans": found["n_spans"],
            "of them at the sample": right, "true": SPANS * n_files, "states": found["n_subspaces"],
        }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, nargs="+", default=[2])
    options = parser.parse_args()
    print(describe_machine(), end="\n\n")
    print_table([measure(n_files) for n_files in options.files])


if __name__ == "__main__":
    main()
