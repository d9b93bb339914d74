"""How many spans the ordered cut finds in data without changes, and in data with known changes.

    python -m benchmarks.one_span --seeds 20
    python -m benchmarks.one_span --seeds 1 --data DIR

Noise, one subspace with independent coefficients, and one subspace with smooth coefficients should give one
span. The paper's five subspaces, and planes that return, should give several. With --data, every labelled
span of real recordings is cut as well: a person saw no change in it, so it should give one span.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter1d

from benchmarks.quality import sets
from seqspan import OSC
from seqspan._core.spans import boundaries_from_labels
from seqspan.datasets import make_recurring_subspaces, make_subspaces
from seqspan.preprocess import make_chain


def one_subspace(rng: np.random.Generator, n: int, width: float) -> np.ndarray:
    """Make samples of a 4-dimensional subspace of R^50, with coefficients smoothed over `width` samples."""
    coefficients = rng.standard_normal((n, 4))
    if width:
        coefficients = gaussian_filter1d(coefficients, width, axis=0, mode="reflect")
    basis = np.linalg.qr(rng.standard_normal((50, 4)))[0]
    return (coefficients / coefficients.std(axis=0)) @ basis.T + 0.01 * rng.standard_normal((n, 50))


def around_a_mean(rng: np.random.Generator, d: int) -> np.ndarray:
    """Make independent samples of one plane, around a mean."""
    samples = (rng.standard_normal((300, 2)) + np.array([3.0, 1.0])) @ rng.standard_normal((2, d))
    return samples + 0.05 * rng.standard_normal(samples.shape)


def planes(rng: np.random.Generator, d: int, length: int) -> np.ndarray:
    """Make four spans in three planes, with independent samples."""
    return make_recurring_subspaces([0, 1, 2, 0], 2, d, length, rng=rng)[0].T


CASES: dict[str, tuple[int, Callable[[np.random.Generator], np.ndarray]]] = {
    "noise, 200 x 10": (1, lambda rng: rng.standard_normal((200, 10))),
    "noise, 400 x 60": (1, lambda rng: rng.standard_normal((400, 60))),
    "noise without negative values, 300 x 30": (1, lambda rng: rng.random((300, 30))),
    "one subspace, independent samples": (1, lambda rng: one_subspace(rng, 200, 0)),
    "one subspace, smooth over 3 samples": (1, lambda rng: one_subspace(rng, 400, 3)),
    "one subspace, smooth over 10 samples": (1, lambda rng: one_subspace(rng, 400, 10)),
    "one subspace, smooth over 30 samples": (1, lambda rng: one_subspace(rng, 600, 30)),
    "one plane of 6, independent samples around a mean": (1, lambda rng: around_a_mean(rng, 6)),
    "one plane of 20, independent samples around a mean": (1, lambda rng: around_a_mean(rng, 20)),
    "heavy tails, 300 x 8": (1, lambda rng: rng.standard_t(3, size=(300, 8))),
    "three kinds of samples in random order": (
        1,
        lambda rng: (
            rng.standard_normal((3, 8))[rng.integers(0, 3, 300)] + 0.1 * rng.standard_normal((300, 8))
        ),
    ),
    "a still camera": (1, lambda rng: rng.random((1, 100)) + 0.02 * rng.standard_normal((300, 100))),
    "three planes of 4, the first returns": (4, lambda rng: planes(rng, 4, 30)),
    "three planes of 8, the first returns": (4, lambda rng: planes(rng, 8, 100)),
    "three planes of 20, the first returns": (4, lambda rng: planes(rng, 20, 30)),
    "the paper's five subspaces": (5, lambda rng: make_subspaces(rng=rng)[0].T),
    "random walk (not stationary, no right answer)": (
        0,
        lambda rng: rng.standard_normal((400, 5)).cumsum(axis=0) @ rng.standard_normal((5, 40)),
    ),
}


def count_spans(X: np.ndarray, seed: int = 0) -> int:
    return len(OSC(cut="ordered", random_state=seed).fit(X).boundaries_) + 1


def real_spans(data: Path, shortest: int = 80) -> dict[str, list[int]]:
    """Return the number of spans found in each labelled span of at least `shortest` samples, by set."""
    found: dict[str, list[int]] = {}
    for load in (sets.weizmann, sets.cmu86, sets.mocap6, sets.actrectut, sets.film):
        for sequence in load(data):
            edges = [0, *boundaries_from_labels(sequence.labels), len(sequence.labels)]
            for start, end in pairwise(edges):
                if end - start >= shortest:
                    X = sequence.X[start:end]
                    prepared = make_chain("auto", X, sequence.kind).apply(X)
                    found.setdefault(sequence.set_name, []).append(count_spans(prepared))
    return found


def main() -> None:
    """Count the spans of every case for all seeds."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--seeds", type=int, default=20, help="number of draws of every case")
    parser.add_argument("--data", type=Path, help="folder of the labelled sets")
    options = parser.parse_args()
    print("| case | expected spans | numbers of spans found (times) |\n|---|---|---|")
    for name, (expected, make) in CASES.items():
        found = [count_spans(make(np.random.default_rng(seed)), seed) for seed in range(options.seeds)]
        print(f"| {name} | {expected or '-'} | {describe_counts(found)} |", flush=True)
    if options.data is not None:
        for name, found in real_spans(options.data).items():
            print(f"| labelled spans of {name} | 1 | {describe_counts(found)} |", flush=True)


def describe_counts(found: list[int]) -> str:
    return ", ".join(f"{k} ({times})" for k, times in zip(*np.unique(found, return_counts=True), strict=True))


if __name__ == "__main__":
    main()
