"""Iterations and seconds to tight gaps, before and after.

    python -m benchmarks.tight_gaps [--data DIR] [--large] [--only TEXT ...] [--seconds 60]

Runs the fast solver in double precision on the problems of ``benchmarks.certificate_lag``, with --data also
on Weizmann 2 to 4, and with --large on the paper's data at n = 2,000. "before" is the same solver with one
penalty and one scale of the dual point for all time steps, and without means over runs, in the same run. It
runs on one thread, and seconds are processor time, so that other work on the machine matters less. A gap that
was not reached in --seconds (">") counts with the iterations and seconds spent until then.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.certificate_lag import MODEL, problems
from benchmarks.common import describe_machine, paper_problem, print_table, unit_columns
from benchmarks.one_scale import certify_with_one_scale
from benchmarks.time_to_gap import OutOfTime
from seqspan.solvers import Progress, Stopping
from seqspan.solvers.fast import solver
from seqspan.solvers.fast.steps import advance

GAPS = (1e-2, 1e-4, 1e-6)


def all_problems(data: Path | None, large: bool) -> Iterator[tuple[str, np.ndarray]]:
    yield from problems(data)
    if data is not None:
        from seqspan.datasets.real import load_hog

        for number in (2, 3, 4):
            yield f"Weizmann {number}", unit_columns(load_hog("weizmann", number, data).X.T.astype(float))
    if large:
        yield "paper, n = 2000", paper_problem(2000)


@dataclass(frozen=True)
class Reached:
    """A gap, and what it took."""

    gap: float
    iteration: int
    seconds: float


def history(X: np.ndarray, seconds: float, *, before: bool) -> list[Reached]:
    """Return the certificates of one run."""
    record: list[Reached] = []
    began = time.process_time()

    def callback(progress: Progress) -> None:
        record.append(Reached(progress.gap, progress.iteration, time.process_time() - began))
        if record[-1].seconds > seconds:
            raise OutOfTime

    with suppress(OutOfTime), ExitStack() as stack:
        if before:
            stack.enter_context(patch.object(solver, "advance_weighted", advance))
            stack.enter_context(patch.object(solver, "certify", certify_with_one_scale))
        solver.solve_fast(MODEL, X, stopping=Stopping(min(GAPS), 10**6, callback=callback), n_jobs=1)
    return record


def first(record: list[Reached], gap: float) -> tuple[Reached, bool]:
    """Return the first certificate of a gap, or the last one; and whether the gap was reached."""
    found = next((reached for reached in record if reached.gap <= gap), None)
    return found or record[-1], found is not None


def compare(name: str, X: np.ndarray, seconds: float) -> list[dict[str, object]]:
    """Return one row for each gap."""
    before, after = (history(X, seconds, before=before) for before in (True, False))
    rows = []
    for gap in GAPS:
        (old, old_reached), (new, new_reached) = first(before, gap), first(after, gap)
        mark = "" if old_reached else "> "
        rows.append({
            "problem": name, "n": X.shape[1], "gap": f"{gap:.0e}",
            "iterations before": f"{mark}{old.iteration}",
            "after": f"{'' if new_reached else '> '}{new.iteration}",
            "ratio of iterations": old.iteration / new.iteration,
            "ratio of seconds": old.seconds / new.seconds,
        })  # fmt: skip
    return rows


def geometric_means(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the geometric mean of each ratio, by gap."""
    means = []
    for gap in dict.fromkeys(row["gap"] for row in rows):
        chosen = [row for row in rows if row["gap"] == gap]
        mean = {
            key: float(np.exp(np.mean(np.log([row[key] for row in chosen]))))  # type: ignore[arg-type]
            for key in ("ratio of iterations", "ratio of seconds")
        }
        means.append({"gap": gap, "problems": len(chosen), **mean})
    return means


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of the real data sets")
    parser.add_argument("--large", action="store_true", help="also the paper's data at n = 2,000")
    parser.add_argument("--only", nargs="+", help="only problems whose name contains one of these")
    parser.add_argument("--seconds", type=float, default=60.0, help="longest processor time for one run")
    options = parser.parse_args()
    print(describe_machine())
    for before in (True, False):  # load compiled code before the clock starts
        history(paper_problem(600), 5, before=before)
    rows: list[dict[str, object]] = []
    began = time.perf_counter()
    for name, X in all_problems(options.data, options.large):
        if options.only is None or any(text in name for text in options.only):
            rows += compare(name, X, options.seconds)
            print(f"{name}: {time.perf_counter() - began:.0f} s so far", flush=True)
    print_table(rows)
    print_table(geometric_means(rows))


if __name__ == "__main__":
    main()
