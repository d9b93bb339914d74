"""How often the ordered cut says "no change" where nothing changes, and where something does.

    python -m benchmarks.one_span --seeds 20

Noise, one subspace with independent coefficients, and one subspace with smooth ones must give one span;
the paper's five subspaces must not.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter1d

from seqspan import OSC
from seqspan.datasets import make_subspaces


def one_subspace(rng: np.random.Generator, n: int, width: float) -> np.ndarray:
    """One subspace of dimension 4 in R^50, its coefficients smoothed over `width` samples."""
    coefficients = rng.standard_normal((n, 4))
    if width:
        coefficients = gaussian_filter1d(coefficients, width, axis=0, mode="reflect")
    basis = np.linalg.qr(rng.standard_normal((50, 4)))[0]
    return (coefficients / coefficients.std(axis=0)) @ basis.T + 0.01 * rng.standard_normal((n, 50))


CASES: dict[str, tuple[int, Callable[[np.random.Generator], np.ndarray]]] = {
    "noise, 200 x 10": (1, lambda rng: rng.standard_normal((200, 10))),
    "noise, 400 x 60": (1, lambda rng: rng.standard_normal((400, 60))),
    "noise without negative values, 300 x 30": (1, lambda rng: rng.random((300, 30))),
    "one subspace, independent samples": (1, lambda rng: one_subspace(rng, 200, 0)),
    "one subspace, smooth over 3 samples": (1, lambda rng: one_subspace(rng, 400, 3)),
    "one subspace, smooth over 10 samples": (1, lambda rng: one_subspace(rng, 400, 10)),
    "one subspace, smooth over 30 samples": (1, lambda rng: one_subspace(rng, 600, 30)),
    "the paper's five subspaces": (5, lambda rng: make_subspaces(rng=rng)[0].T),
    "random walk (not stationary, no right answer)": (
        0,
        lambda rng: rng.standard_normal((400, 5)).cumsum(axis=0) @ rng.standard_normal((5, 40)),
    ),
}


def main() -> None:
    """Count the spans of every case over all seeds."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    print("| case | expected spans | numbers of spans found (times) |\n|---|---|---|")
    for name, (expected, make) in CASES.items():
        found = [
            len(OSC(cut="ordered", random_state=seed).fit(make(np.random.default_rng(seed))).boundaries_) + 1
            for seed in range(seeds)
        ]
        numbers = zip(*np.unique(found, return_counts=True), strict=True)
        counts = ", ".join(f"{k} ({times})" for k, times in numbers)
        print(f"| {name} | {expected or '-'} | {counts} |", flush=True)


if __name__ == "__main__":
    main()
