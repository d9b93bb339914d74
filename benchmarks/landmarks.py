"""Landmarks instead of all samples: how accurate, how fast, how much memory.

    python -m benchmarks.landmarks accuracy                      # labelled sets; needs $SEQSPAN_DATA
    python -m benchmarks.landmarks accuracy --landmarks 256 512 --choices cover regular means centres
    python -m benchmarks.landmarks scaling --sizes 10000 50000 100000 200000

`accuracy` cuts the coefficients of the full dictionary and those of landmarks by the same normalised cut,
with the true number of subspaces given. `scaling` takes motion-like data of 62 angles from the array to the
labels, each size in its own process; the exponent comes from a line fitted to the logarithms. CPU seconds are
printed too, because other work on the machine hardly affects them.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks.common import describe_machine, motion_problem, print_table
from seqspan._core.scaling import scale_columns
from seqspan.cuts.spectral.affinity import affinity
from seqspan.cuts.spectral.n_subspaces import estimate_n_subspaces
from seqspan.cuts.spectral.ncut import normalised_cut
from seqspan.datasets import real
from seqspan.datasets._real_mocap import CMU86_TRIALS, MOCAP6_TRIALS
from seqspan.metrics import clustering_error
from seqspan.models import Osc
from seqspan.preprocess import make_chain
from seqspan.recording import Recording
from seqspan.solvers import Stopping
from seqspan.solvers.fast.landmarks import (
    CHOICES,
    N_LANDMARKS,
    choose_landmarks,
    solve_on_landmarks,
)
from seqspan.solvers.fast.solver import solve_fast

MODEL = Osc(0.1, 1.0)


def labelled_sets(quick: bool) -> Iterator[tuple[str, Recording]]:
    """Yield the labelled recordings that are short enough for the full dictionary."""
    for trial in CMU86_TRIALS[:1] if quick else CMU86_TRIALS:
        yield f"cmu86 {trial}", real.load_cmu86(trial)
    if quick:
        return
    yield "cmu86 1, angles", real.load_cmu86_angles()
    for trial in MOCAP6_TRIALS:
        yield f"mocap6 {trial}", real.load_mocap6(trial)
    for trial in ("13_29", "14_14"):
        yield f"mocap6 {trial}, angles", real.load_mocap6_angles(trial)
    for actor in ("bd", "bk"):
        yield f"hdm05 {actor}", real.load_hdm05(actor, 1)
    for name, persons in (("weizmann", (1, 2, 3, 4)), ("keck", (1, 2))):
        for person in persons:
            yield f"{name} {person}", real.load_hog(name, person)
    table = real.load_actrectut()
    yield "actrectut, every 8th", table.take(np.arange(0, len(table), 8))
    for clip in "AB":
        yield f"film {clip}", real.load_bbb_clip(clip)


def prepare(recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with the command line's preprocessing, and their labels."""
    chain = make_chain("auto", recording.X, recording.kind)
    assert recording.labels is not None
    rows = chain.rows(len(recording))
    return chain.apply(recording.X).astype(np.float32), recording.labels[rows]


def judge(Z: np.ndarray, labels: np.ndarray) -> float:
    found = normalised_cut(affinity(Z), len(np.unique(labels)), rng=0)
    return 1 - clustering_error(labels, found)


def measure_accuracy(sizes: list[int], choices: list[str], quick: bool) -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name, recording in labelled_sets(quick):
        X, labels = prepare(recording)
        columns = np.ascontiguousarray(X.T)
        Z = solve_fast(MODEL, columns, stopping=Stopping(1e-2)).Z
        columns = scale_columns(columns)
        row = {"set": name, "n": len(X), "full": judge(Z, labels)}
        del Z
        for m in sizes:
            for choice in choices:
                D = choose_landmarks(columns, min(m, len(X) // 2), choice)
                solution = solve_on_landmarks(MODEL, columns, D, stopping=Stopping(1e-2))
                row[f"{choice} {m}"] = judge(solution.Z, labels)
        rows.append(row)
        print_table([row])
    means = {key: float(np.mean([row[key] for row in rows])) for key in rows[0] if key not in ("set", "n")}
    print_table([*rows, {"set": "mean", "n": "", **means}])
    print_table(
        [
            {"landmarks": key, "mean - full": value - means["full"],
             "worse by > .02": sum(row[key] < row["full"] - 0.02 for row in rows),
             "better by > .02": sum(row[key] > row["full"] + 0.02 for row in rows)}
            for key, value in means.items() if key != "full"
        ]
    )  # fmt: skip


def run_once(n: int, m: int) -> None:
    """Go from the array to the labels once; called in a separate process."""
    X = np.ascontiguousarray(motion_problem(n).T, dtype=np.float32)
    few = scale_columns(X[:1000].T)
    solve_on_landmarks(MODEL, few, choose_landmarks(few, m), stopping=Stopping(0.1, 20))  # compile
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    began, cpu = time.perf_counter(), time.process_time()
    columns = scale_columns(np.ascontiguousarray(X.T))
    D = choose_landmarks(columns, m)
    chosen = time.perf_counter()
    solution = solve_on_landmarks(MODEL, columns, D, stopping=Stopping(1e-2))
    solved = time.perf_counter()
    W = affinity(solution.Z)
    k = estimate_n_subspaces(W)
    normalised_cut(W, k, rng=0)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    row = {
        "n": n, "landmarks": D.shape[1], "seconds": seconds, "CPU seconds": cpu_seconds,
        "choosing": chosen - began, "solving": solved - chosen, "cutting": began + seconds - solved,
        "iterations": solution.n_iter, "gap": solution.gap, "k": k,
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, "before": before / 1e9,
    }  # fmt: skip
    print(json.dumps(row))


def measure_scaling(sizes: list[int], m: int) -> None:
    rows = []
    for n in sizes:
        command = [
            sys.executable,
            "-m",
            "benchmarks.landmarks",
            "once",
            "--sizes",
            str(n),
            "--landmarks",
            str(m),
        ]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(json.loads(answer.stdout))
        print(answer.stdout, file=sys.stderr, flush=True)
    print_table(rows)
    if len(rows) > 1:
        for what in ("seconds", "CPU seconds"):
            slope = np.polyfit(np.log([row["n"] for row in rows]), np.log([row[what] for row in rows]), 1)[0]
            print(f"{what} grow as n^{slope:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("accuracy", "scaling", "once"), nargs="?", default="scaling")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000])
    parser.add_argument("--landmarks", type=int, nargs="+", default=[N_LANDMARKS])
    parser.add_argument("--choices", nargs="+", default=["auto"], choices=("auto", *CHOICES))
    parser.add_argument("--quick", action="store_true", help="accuracy on one recording only")
    options = parser.parse_args()
    if options.what == "once":
        run_once(options.sizes[0], options.landmarks[0])
        return
    print(describe_machine())
    if options.what == "accuracy":
        measure_accuracy(options.landmarks, options.choices, options.quick)
    else:
        measure_scaling(options.sizes, options.landmarks[0])


if __name__ == "__main__":
    main()
