"""How often each estimator of the number of subspaces is right, by noise level.

    python -m benchmarks.n_subspaces [--repeats 10]

OSC with the paper's weights (lambda 0.1 and 1.0, unit columns) on the paper's synthetic data, and on data
with other numbers, orders, lengths and dimensions of the subspaces.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seqspan import OSC
from seqspan.cuts.spectral.affinity import symmetric_affinity
from seqspan.cuts.spectral.n_subspaces import ESTIMATORS, estimate_n_subspaces
from seqspan.datasets import add_noise, make_recurring_subspaces

LEVELS = (None, 20, 12, 8, 4)  # PSNR in decibels; None adds no noise
PAPER = {"paper": {"order": range(5)}}
OTHERS = {
    "one": {"order": (0,), "samples_per_span": 60},
    "two": {"order": range(2)},
    "three": {"order": range(3)},
    "eight": {"order": range(8)},
    "recurring": {"order": (0, 1, 0, 2, 1)},
    "unequal": {"order": range(4), "samples_per_span": (10, 40, 20, 30)},
    "long": {"order": range(3), "samples_per_span": 60},
    "dimension 8": {"order": range(4), "dimension": 8, "ambient": 60, "samples_per_span": 30},
}
METHODS = [name for name in ESTIMATORS if name != "soft_gap"]  # "auto" is the soft gap


def estimates(data: dict, level: float | None, seed: int) -> dict[str, bool]:
    """Say for each method whether it finds the true number in one draw."""
    rng = np.random.default_rng(seed)
    clean, labels = make_recurring_subspaces(**data, rng=rng)
    X = add_noise(clean, level, rng=rng)
    Z = OSC(n_subspaces=1, lambda_1=0.1, lambda_2=1.0).fit(X.T).coef_
    W = symmetric_affinity(Z)
    truth = len(np.unique(labels))
    return {method: estimate_n_subspaces(W, method) == truth for method in METHODS}


def shares_right(cases: dict[str, dict], repeats: int) -> dict[str, list[float]]:
    """Return for each method the share of right answers at each noise level."""
    shares: dict[str, list[float]] = {method: [] for method in METHODS}
    for level in LEVELS:
        rows = [estimates(data, level, seed) for data in cases.values() for seed in range(repeats)]
        for method in METHODS:
            shares[method].append(float(np.mean([row[method] for row in rows])))
    return shares


def print_table(title: str, shares: dict[str, list[float]]) -> None:
    """Print one row per method and one column per noise level."""
    heads = ["no noise" if level is None else f"{level} dB" for level in LEVELS] + ["mean"]
    print(f"\n{title}\n\n| estimator | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for method, row in shares.items():
        print(f"| {method} | {' | '.join(f'{share:.2f}' for share in [*row, np.mean(row)])} |")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10, help="draws per kind of data and noise level")
    repeats = parser.parse_args(arguments).repeats
    warnings.simplefilter("ignore", ConvergenceWarning)  # k depends on Z far less than on the noise
    print_table(f"The paper's five subspaces, {repeats} draws", shares_right(PAPER, repeats))
    print_table(f"{', '.join(OTHERS)}, {repeats} draws each", shares_right(OTHERS, repeats))


if __name__ == "__main__":
    main()
