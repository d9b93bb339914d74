"""How many iterations lie between a good objective and the certificate that proves it.

    python -m benchmarks.certificate_lag [--data DIR]

Runs the fast solver on the paper's data, clean and noisy, on a smooth recording and, with --data, on real
ones. "primal" counts iterations until the objective is within the target, "certified" until the certificate
is. "one scale" is the certificate with one scale of the dual point for all time steps, and without means of Z
over runs. "scaled" is that without tightening: the dual point is scaled by its single worst entry.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.common import describe_machine, motion_problem, paper_problem, print_table, unit_columns
from benchmarks.one_scale import certify_with_one_scale
from seqspan._core.threads import Team
from seqspan.models import Osc
from seqspan.solvers.fast.certificate import certify
from seqspan.solvers.fast.reduced import reduce
from seqspan.solvers.fast.steps import advance
from seqspan.solvers.fast.sweeps import State, Sweeps

MODEL = Osc(0.1, 1.0)
TARGETS = (1e-2, 1e-3)
ITERATIONS = 300

Bounds = tuple[float, float]


def problems(data: Path | None) -> Iterator[tuple[str, np.ndarray]]:
    yield "paper, n = 100", paper_problem(100)
    yield "paper, n = 100, noise 0.2", paper_problem(100, 0.2)
    yield "paper, n = 500", paper_problem(500)
    yield "motion, n = 500", motion_problem(500)
    if data is not None:
        from seqspan.datasets.real import load_bbb_clip, load_hog

        yield "Weizmann 1", unit_columns(load_hog("weizmann", 1, data).X.T.astype(float))
        yield "film clip A", unit_columns(load_bbb_clip("A", data).X.T.astype(float))


def bounds_by_iteration(X: np.ndarray) -> Iterator[tuple[int, Bounds, Bounds, Bounds]]:
    """Yield iteration, and objective and bound by each of the three certificates."""
    with Team(1) as team:
        sweeps = Sweeps(MODEL, reduce(X, float), team)
        state = sweeps.zero_state(10.0, 30.0)
        for iteration in range(1, ITERATIONS + 1):
            advance(sweeps, state)
            one_scale = certify_with_one_scale(sweeps, state)
            scaled = one_scale[0], scaled_bound(sweeps, state, X)
            yield iteration, certify(sweeps, state), one_scale, scaled


def scaled_bound(sweeps: Sweeps, state: State, X: np.ndarray) -> float:
    """Return the dual value at E = X - XS and the multiplier, scaled just enough to be feasible."""
    multiplier = np.vstack([sweeps.split(state, b)[3].T for b in range(sweeps.n_blocks)])[: X.shape[1], :-1]
    E = X - X @ (sweeps.data.Q @ state.fitted.T)
    V = MODEL.coupling.feasible(state.r2 * multiplier)
    worst = np.abs(X.T @ E - MODEL.coupling.operator.adjoint(V)).max()
    s = min(1.0, MODEL.lam1 / worst)
    return float(s * np.vdot(E, X) - s**2 * np.vdot(E, E) / 2)


def lag(name: str, X: np.ndarray) -> list[dict[str, object]]:
    record = list(bounds_by_iteration(X))
    optimum = max(bound for _, (_, bound), _, _ in record)
    rows = []
    for target in TARGETS:
        first = {
            "primal": next((i for i, (p, _), _, _ in record if p <= optimum * (1 + target)), None),
            "certified": next((i for i, (p, d), _, _ in record if (p - d) / p <= target), None),
            "one scale": next((i for i, _, (p, d), _ in record if (p - d) / p <= target), None),
            "scaled": next((i for i, _, _, (p, d) in record if (p - d) / p <= target), None),
        }
        rows.append(
            {
                "problem": name,
                "target": f"{target:.0e}",
                **{k: v or f"> {ITERATIONS}" for k, v in first.items()},
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of the real data sets")
    options = parser.parse_args()
    print(describe_machine())
    print_table([row for name, X in problems(options.data) for row in lag(name, X)])


if __name__ == "__main__":
    main()
