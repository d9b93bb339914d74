"""How long a whole fit with the ordered cut takes, with and without numbers, beside the solve alone.

    python -m benchmarks.whole_fit [--samples 3000] [--features 20] [--repeats 3]

Each row is a call of ``seqspan.segment`` on a motion-like recording: with nothing given, and with the true
numbers of spans and labels. "times solve" and "times both" are ratios of the cut, because seconds depend on
the machine. The last row is ruptures' kernel search, if it is installed, with the number of spans given. The
shortest of a few repeats counts, and repeats alternate, so that other work disturbs all rows alike.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import seqspan
from benchmarks.common import describe_machine, print_table
from seqspan._core.spans import boundaries_from_labels
from seqspan.datasets import make_motion
from seqspan.pipeline import as_recording


def time_fit(rows: np.ndarray, numbers: dict[str, int]) -> dict[str, float]:
    """Return the seconds of a fit and of its stages."""
    began = time.perf_counter()
    found = seqspan.segment(as_recording(rows, "mocap"), **numbers)
    return {"whole": time.perf_counter() - began, **found.seconds}


def time_kernel_search(rows: np.ndarray, n_spans: int) -> dict[str, float]:
    """Return the seconds of ruptures' exact search with the rbf kernel; nothing if it is not installed."""
    try:
        import ruptures
    except ImportError:
        return {}
    began = time.perf_counter()
    ruptures.KernelCPD(kernel="rbf", min_size=5).fit(rows).predict(n_bkps=n_spans - 1)
    return {"whole": time.perf_counter() - began}


def shortest(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the shortest time of each stage."""
    return {stage: min(run[stage] for run in runs) for stage in runs[0]}


def main() -> None:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(describe_machine())
    X, labels = make_motion(options.samples, options.features, rng=0)
    numbers = {"n_spans": len(boundaries_from_labels(labels)) + 1, "n_subspaces": len(np.unique(labels))}
    methods: dict[str, Callable[[np.ndarray], dict[str, float]]] = {
        "nothing given": lambda rows: time_fit(rows, {}),
        "both given": lambda rows: time_fit(rows, numbers),
        "KernelCPD": lambda rows: time_kernel_search(rows, numbers["n_spans"]),
    }
    for method in methods.values():
        method(X.T[:600])  # loads compiled code before the clock starts
    runs = [{name: method(X.T) for name, method in methods.items()} for _ in range(options.repeats)]
    best = {name: shortest([run[name] for run in runs]) for name in methods if runs[0][name]}
    for stages in best.values():
        if "cutting" in stages:
            stages["times solve"] = stages["cutting"] / stages["solving"]
            stages["times both"] = stages["cutting"] / best["both given"]["cutting"]
    columns = ("preparing", "solving", "cutting", "whole", "times solve", "times both")
    print_table(
        [{"": name, **{key: stages.get(key, "") for key in columns}} for name, stages in best.items()]
    )


if __name__ == "__main__":
    main()
