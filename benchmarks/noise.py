"""Strong noise: no solver diverges, and converged OSC still finds the spans.

    python -m benchmarks.noise --seeds 20

Uses the paper's synthetic data with unit columns, noise of standard deviation 0.2, and its weights (0.1 and
1.0).
For every solver of OSC, it prints the clustering error, the largest objective relative to that of Z = 0, and
the largest gap.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks.common import describe_machine, print_table, unit_columns
from seqspan import OSC
from seqspan.datasets import make_subspaces
from seqspan.metrics import clustering_error

SOLVERS = ("fast", "splitting", "vladmap", "ladmpsap", "sylvester")


def draw(seed: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, labels = make_subspaces(rng=rng)
    X = unit_columns(X)
    return X + noise * rng.standard_normal(X.shape), labels


def measure(solver: str, seeds: int, noise: float) -> dict[str, object]:
    errors, objectives, gaps = [], [], []
    for seed in range(seeds):
        X, labels = draw(seed, noise)
        osc = OSC(5, solver=solver, random_state=seed, max_iter=5000).fit(X.T)
        errors.append(clustering_error(labels, osc.labels_))
        objectives.append(osc.objective_ / (X.shape[1] / 2))  # Z = 0 leaves half the squares of unit columns
        gaps.append(osc.dual_gap_)
    return {
        "solver": solver, "mean error": float(np.mean(errors)), "largest error": float(np.max(errors)),
        "largest objective / that of Z = 0": float(np.max(objectives)), "largest gap": float(np.max(gaps)),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=2, help="number of draws")
    parser.add_argument("--noise", type=float, default=0.2, help="standard deviation")
    options = parser.parse_args()
    print(describe_machine())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print_table([measure(solver, options.seeds, options.noise) for solver in SOLVERS])


if __name__ == "__main__":
    main()
