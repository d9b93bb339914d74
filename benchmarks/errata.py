"""The paper's steps as printed, beside the corrected ones: how far above the minimum each ends.

    python -m benchmarks.errata

Uses the paper's data (five subspaces, 100 samples; lambda 0.1 and 1, mu = 1), without noise and at 4 dB.
Prints ``objective / minimum - 1`` after 100, 1,000 and 10,000 steps; the fast solver certifies the minimum to
1e-6. Multipliers start at zero.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.common import describe_machine, paper_problem, print_table, unit_columns
from seqspan.datasets import add_noise
from seqspan.models import Osc
from seqspan.models.differences import Path
from seqspan.models.prox import shrink_columns, soft_threshold
from seqspan.solvers import Stopping
from seqspan.solvers.fast.solver import solve_fast

MODEL = Osc(0.1, 1.0)
STEPS = (100, 1_000, 10_000)
R = Path()
RR = 4.0  # above ||R||^2 for every n


def relaxed(X: np.ndarray, mu_step: float) -> Iterator[np.ndarray]:
    """Run Algorithm 1; in every step mu grows by `mu_step` times what Lemma 3 asks for."""
    n = X.shape[1]
    Z, J, Y, mu = np.zeros((n, n)), np.zeros((n, n - 1)), np.zeros((n, n - 1)), 1.0
    lipschitz, eta = np.linalg.norm(X, 2) ** 2, 2 * RR
    while True:
        sigma = lipschitz + mu * eta
        slope = X.T @ (X @ Z - X) - R.adjoint(Y + mu * (J - R.apply(Z)))
        Z = soft_threshold(Z - slope / sigma, MODEL.lam1 / sigma)
        J = shrink_columns(R.apply(Z) - Y / mu, MODEL.lam2 / mu)
        Y = Y + mu * (J - R.apply(Z))
        mu += mu_step * lipschitz / (eta - RR)
        yield Z


def exact(X: np.ndarray, sign: float, factor: float) -> Iterator[np.ndarray]:
    """Run Algorithm 2 with mu = 1, `sign` in the E-step and `factor` times Theorem 1's bound."""
    n = X.shape[1]
    Z, E, J = np.zeros((n, n)), np.zeros_like(X), np.zeros((n, n - 1))
    Y1, Y2 = np.zeros_like(X), np.zeros((n, n - 1))
    eta = 1.02 * factor * (np.linalg.norm(X, 2) ** 2 + RR)
    near = factor - 1  # weight of the proximal term; zero is the paper's plain step
    while True:
        fit, change = X @ Z - X + E, J - R.apply(Z)
        slope = X.T @ (Y1 + fit) - R.adjoint(Y2 + change)
        E_new = (sign * (X @ Z - X + Y1) + near * E) / (2 + near)
        J_new = shrink_columns((R.apply(Z) - Y2 + near * J) / factor, MODEL.lam2 / factor)
        Z, E, J = soft_threshold(Z - slope / eta, MODEL.lam1 / eta), E_new, J_new
        Y1, Y2 = Y1 + X @ Z - X + E, Y2 + J - R.apply(Z)
        yield Z


VARIANTS: dict[str, Callable[[np.ndarray], Iterator[np.ndarray]]] = {
    "Algorithm 1, mu growing as Lemma 3 asks": lambda X: relaxed(X, 1.0),
    "Algorithm 1, mu = 1": lambda X: relaxed(X, 0.0),
    "Algorithm 2, E-step as printed": lambda X: exact(X, 1.0, 1.0),
    "Algorithm 2, E-step's sign corrected": lambda X: exact(X, -1.0, 1.0),
    "Algorithm 2, and three times Theorem 1's bound": lambda X: exact(X, -1.0, 3.0),
}


def excesses(X: np.ndarray, minimum: float, iterates: Iterator[np.ndarray], most: int) -> dict[str, float]:
    """Return ``objective / minimum - 1`` after each number of STEPS."""
    found = {}
    with np.errstate(all="ignore"):  # some of them diverge
        for step, Z in zip(range(1, most + 1), iterates, strict=False):
            if step in STEPS:
                finite = np.all(np.isfinite(Z))
                found[f"after {step:,}"] = MODEL.value(X, Z) / minimum - 1 if finite else np.inf
    return found


def measure(noise: str, X: np.ndarray, most: int) -> list[dict[str, object]]:
    minimum = solve_fast(MODEL, X, stopping=Stopping(tol=1e-6, max_iter=100_000)).objective
    return [
        {"noise": noise, "steps": name}
        | {after: f"{excess:.1e}" for after, excess in excesses(X, minimum, iterate(X), most).items()}
        for name, iterate in VARIANTS.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=STEPS[-1], help="most steps of each algorithm")
    options = parser.parse_args()
    print(describe_machine())
    clean = paper_problem(100)
    noisy = unit_columns(add_noise(clean, 4, rng=0))
    print_table([*measure("none", clean, options.most), *measure("4 dB", noisy, options.most)])


if __name__ == "__main__":
    main()
