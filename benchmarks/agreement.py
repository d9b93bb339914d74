"""Show that all solvers reach the same minimum, and that cvxpy finds it too.

    python -m benchmarks.agreement              # n = 100 as in the paper; a minute or two
    python -m benchmarks.agreement --quick      # toy size, seconds
    python -m benchmarks.agreement --no-cvxpy   # compares the solvers with each other only

First, every solver minimises OSC on the paper's synthetic data, without and with noise, to a relative
duality gap of 1e-5. Then every other model is minimised on a small problem. The last column is the distance
from cvxpy (without it, from the best of the solvers), relative to the objective. The benchmark fails if one
is above 1e-4.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from tests.oracles import minimum
from tests.problems import CASES

from benchmarks.common import paper_problem
from seqspan.models import Model, Osc
from seqspan.solvers import SOLVERS, Stopping

TOL = 1e-5
MAX_ITER = 200_000
AGREED = 1e-4  # relative; a larger difference is a failure
NOISES = (0.0, 0.2)
OSC = Osc(0.1, 1.0)  # the paper's weights
COUPLED_ONLY = ("vladmap", "ladmpsap", "sylvester")


@dataclass(frozen=True)
class Row:
    """One run: objective, certified gap, iterations and processor time."""

    problem: str
    solver: str
    objective: float
    gap: float
    iterations: int
    seconds: float


def run_solver(problem: str, solver: str, model: Model, X: np.ndarray, **options: float) -> Row:
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a gap above the tolerance shows in the table
        s = SOLVERS[solver](model, X, stopping=Stopping(tol=TOL, max_iter=MAX_ITER), **options)
    seconds = time.process_time() - began
    return Row(problem, solver, s.objective, s.gap, s.n_iter, seconds)


def run_cvxpy(problem: str, model: Model, X: np.ndarray) -> Row:
    began = time.process_time()
    value = minimum(model, X)
    return Row(problem, "cvxpy", value, np.nan, 0, time.process_time() - began)


def osc_rows(n: int, cvxpy: bool) -> Iterator[list[Row]]:
    """Yield the rows of OSC with the paper's weights, one block per noise level."""
    for noise in NOISES:
        X = paper_problem(n, noise)
        name = f"OSC {X.shape[0]}x{X.shape[1]}, noise {noise}"
        rows = [run_solver(name, s, OSC, X) for s in SOLVERS if s != "closed_form"]
        yield [*rows, run_cvxpy(name, OSC, X)] if cvxpy else rows


def model_rows(cvxpy: bool) -> Iterator[list[Row]]:
    """Yield the rows of every model on a tall and a wide problem, for all solvers that accept it."""
    for seed, (name, case) in enumerate(CASES.items()):
        for shape in ("wide", "tall"):
            model, X = case.problem(shape, seed)
            problem = f"{name} {X.shape[0]}x{X.shape[1]}"
            rows = []
            for solver in SOLVERS:
                options = {"mu": case.mu} if solver in COUPLED_ONLY else {}
                try:
                    rows.append(run_solver(problem, solver, model, X, **options))
                except ValueError:  # the solver does not accept this model
                    continue
            yield [*rows, run_cvxpy(problem, model, X)] if cvxpy else rows


def print_block(rows: list[Row]) -> float:
    """Print the rows of one problem; return their largest distance from the reference."""
    reference = rows[-1].objective if rows[-1].solver == "cvxpy" else min(r.objective for r in rows)
    worst = 0.0
    for r in rows:
        away = (r.objective - reference) / reference
        worst = max(worst, abs(away))
        gap = "" if np.isnan(r.gap) else f"{r.gap:.1e}"
        iterations = r.iterations or ""
        print(
            f"{r.problem:<28} {r.solver:<11} {r.objective:>14.8f} {gap:>8} {iterations:>7} "
            f"{r.seconds:>8.2f} {away:>9.1e}",
            flush=True,
        )
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=int, default=100, help="time steps of the OSC problem (default 100)")
    parser.add_argument("--quick", action="store_true", help="toy size: 25 time steps")
    parser.add_argument("--no-cvxpy", action="store_true", help="leave out the independent oracle")
    given = parser.parse_args()
    print(
        f"{'problem':<28} {'solver':<11} {'objective':>14} {'gap':>8} {'steps':>7} {'cpu s':>8} {'away':>9}"
    )
    cvxpy = not given.no_cvxpy
    for solver in SOLVERS:  # compile before the clock starts
        if solver != "closed_form":
            run_solver("", solver, OSC, paper_problem(10, 0.0))
    osc = [print_block(rows) for rows in osc_rows(25 if given.quick else given.size, cvxpy)]
    others = [print_block(rows) for rows in model_rows(cvxpy)]
    print(f"\nlargest relative difference: OSC {max(osc):.1e}, other models {max(others):.1e}")
    if max(*osc, *others) > AGREED:
        raise SystemExit(f"Some solver differs by more than {AGREED}.")


if __name__ == "__main__":
    main()
