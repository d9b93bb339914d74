"""Random fits, one after the other in one process: none may crash, return NaN or leak memory.

    python -m benchmarks.soak                     # 10,000 fits
    python -m benchmarks.soak --fits 100          # toy size
    python -m benchmarks.soak --only 4711         # repeat one of them, and describe it
    python -m benchmarks.soak memory              # memory used, compared with what was requested
    python -m benchmarks.soak folders             # 2,000 histories of result folders

Shapes, types, layouts, scales, kinds of samples (constant, zeros, duplicates, rank one, outliers ...),
estimators and their settings are drawn from a seed, one per fit. One in twenty is wrong on purpose and must
raise a ValueError. One in four is fitted again with samples that must give the same answer, one in ten by an
estimator that was used before, one in fifty by the command line. Failures are written to a CSV file with the
seeds that repeat them.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import gc
import sys
import time
import traceback
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.common import describe_machine, print_table
from benchmarks.soak.cases import Case, draw_case
from benchmarks.soak.checks import find_faults
from benchmarks.soak.command_line import other_than_command_line
from benchmarks.soak.histories import stale_attributes
from benchmarks.soak.refusals import REFUSALS, rightly_refused
from benchmarks.soak.relations import broken_relations

EVERY = 500  # fits; after as many, memory is measured
SETTLED = 2000  # fits; afterwards memory must not grow: even rare settings have been imported and compiled
GROWTH = 1.05  # largest ratio of memory at the end to memory after SETTLED fits


@dataclass
class Tally:
    """What has happened so far."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str, str]] = field(default_factory=list)
    resident: list[tuple[int, int]] = field(default_factory=list)

    def note_memory(self, fits: int) -> None:
        """Record the resident memory, without garbage and without what the allocator keeps for later."""
        gc.collect()
        with suppress(OSError, AttributeError):  # other systems have no such function
            ctypes.CDLL(None).malloc_trim(0)
        self.resident.append((fits, resident_bytes()))

    @property
    def settled(self) -> tuple[int, int]:
        """Fits and memory that the end is compared with; in a short run that is the end itself."""
        return next((each for each in self.resident if each[0] >= SETTLED), self.resident[-1])


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


def run_case(case: Case, tally: Tally) -> None:
    """Fit, check, and count."""
    faults: list[str] = []
    refused = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _fit(case)
        except ValueError as error:
            refusal = rightly_refused(case, error)
            refused = refusal is not None
            tally.counts[f"refused: {refusal}"] += refused
            if (case.valid and not refused) or not str(error):
                faults.append(f"crash: ValueError: {error}")
        except Exception:
            faults.append("crash: " + traceback.format_exc(limit=-3))
        else:
            faults += [] if case.valid else ["crash: accepted invalid input"]
    kinds = {warning.category.__name__ for warning in caught}
    tally.counts.update(kinds)
    tally.counts["valid" if case.valid else "invalid"] += 1
    if case.valid and not faults and not refused:
        faults += find_faults(case, ConvergenceWarning.__name__ in kinds)
        faults += _fit_again(case)
    strange = [w for w in caught if issubclass(w.category, RuntimeWarning) and not refused]
    faults += [f"warning: {w.message} ({Path(w.filename).name}:{w.lineno})" for w in strange[:1]]
    for fault in faults:
        tally.counts[_kind(fault)] += 1
        tally.failures.append((case.seed, fault, case.words))


def _fit(case: Case) -> None:
    if not case.blocks:
        case.estimator.fit(case.X)
        return
    X = np.asarray(case.X)
    for block in np.array_split(X, case.blocks):
        case.estimator.partial_fit(block)
    case.estimator.partial_fit(X[:0], last=True)


def _fit_again(case: Case) -> list[str]:
    """Fit in other ways that must give the same answer, and return what is wrong with that."""
    try:
        return [*broken_relations(case), *stale_attributes(case), *other_than_command_line(case)]
    except Exception:
        return ["crash: " + traceback.format_exc(limit=-3)]


def _kind(fault: str) -> str:
    """Return the row of the table in which a fault is counted."""
    words = {"crash": "crashes", "warning": "numpy warnings", "negative gap": "gaps negative"}
    known = next((kind for start, kind in words.items() if fault.startswith(start)), None)
    return known or ("results not finite" if "not finite" in fault else "wrong results")


def soak(seeds: range, failures: Path | None = None) -> Tally:
    """Run the fits of a range of seeds; write failures as they are found."""
    tally, began = Tally(), time.perf_counter()
    for done, seed in enumerate(seeds, start=1):
        run_case(draw_case(seed), tally)
        if done % EVERY == 0 or done == len(seeds):
            tally.note_memory(done)
            _write_failures(tally, failures)
            print(
                f"{done} fits, {len(tally.failures)} faults, {tally.resident[-1][1] / 2**20:.1f} MiB, "
                f"{time.perf_counter() - began:.0f} s",
                flush=True,
            )
    return tally


def _write_failures(tally: Tally, path: Path | None) -> None:
    """Write seeds, faults and cases so far."""
    if path is not None and tally.failures:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([("seed", "fault", "case"), *tally.failures])


def report(tally: Tally) -> bool:
    """Print the table; return whether there are no faults."""
    counts = tally.counts
    bad = ("crashes", "results not finite", "gaps negative", "wrong results", "numpy warnings")
    first, last = tally.settled[1], tally.resident[-1][1]
    row = {"fits": counts["valid"] + counts["invalid"], "of them invalid": counts["invalid"]}
    row |= {name: counts[name] for name in (*(f"refused: {why}" for why in REFUSALS), *bad)} | {
        "not converged, warned": counts["ConvergenceWarning"]
    }
    row |= {
        f"MiB after {tally.settled[0]}": f"{first / 2**20:.1f}",
        "MiB at the end": f"{last / 2**20:.1f}",
        "ratio": f"{last / first:.4f}",
    }
    print_table([{"": name, "count": value} for name, value in row.items()])
    return not any(counts[name] for name in bad) and last <= GROWTH * first


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["fits", "memory", "folders"], default="fits")
    parser.add_argument("--fits", type=int, default=10_000, help="number of fits")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first fit; the others follow")
    parser.add_argument("--only", type=int, help="repeat the fit of one seed and describe it")
    parser.add_argument("--failures", type=Path, default=Path("out/soak_failures.csv"), help="CSV file")
    parser.add_argument("--names", nargs="+", default=[], help="for memory: which fits; all by default")
    parser.add_argument("--sizes", type=int, nargs="+", default=[500], help="for memory: samples")
    parser.add_argument("--features", type=int, nargs="+", default=[30], help="for memory: features")
    parser.add_argument("--dtypes", nargs="+", default=["float64", "float32"], help="for memory: precisions")
    parser.add_argument("--histories", type=int, default=2000, help="for folders: number of histories")
    options = parser.parse_args()
    if options.what == "folders":
        from benchmarks.soak.folders import soak_folders

        soak_folders(options.histories)
        print(f"{options.histories} histories: nothing of the user's was lost")
        return 0
    if options.what == "memory":
        from benchmarks.soak.peaks import compare_peaks

        return compare_peaks(options.names, options.sizes, options.features, options.dtypes)
    if options.only is not None:
        case = draw_case(options.only)
        print(case.words, flush=True)
        tally = soak(range(options.only, options.only + 1))
        print("\n".join(fault for _, fault, _ in tally.failures) or "no faults")
        return int(bool(tally.failures))
    print(describe_machine(), flush=True)
    tally = soak(range(options.seed, options.seed + options.fits), options.failures)
    if tally.failures:
        print(f"failures: {options.failures}")
    return int(not report(tally))


if __name__ == "__main__":
    sys.exit(main())
