"""Time to a certified gap: the fast solver, the published ones, cvxpy, and the authors' MATLAB code.

    python -m benchmarks.time_to_gap --sizes 100 500 1000 2000 --seconds 120 --plot gaps.png
    python -m benchmarks.time_to_gap --sizes 1000 --solvers fast vladmap --octave path/to/SubKit
    python -m benchmarks.time_to_gap --sizes 100 --solvers fast --cvxpy CLARABEL SCS

OSC with the paper's weights (0.1 and 1.0) on its synthetic data. Every solver runs once, with its compiled
code loaded, and is judged by its own history of certificates. A cell is empty if a solver does not get there
within ``--seconds``. With ``--octave DIR``, a checkout of the authors' SubKit, its ``osc_relaxed`` runs under
GNU Octave on the same data until its own rule stops it. The table says how far above the optimum that is,
and how long the fast solver and v-LADMAP take to reach the same objective.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
from scipy.io import loadmat, savemat
from tests.oracles import formulate

from benchmarks.common import describe_machine, paper_problem, print_table
from seqspan.models import Osc
from seqspan.plots import plot_convergence
from seqspan.solvers import SOLVERS, Progress, Stopping

MODEL = Osc(0.1, 1.0)
GAPS = (1e-2, 1e-3, 1e-4)
MU = 1.0  # the paper's table
LARGEST_SYLVESTER = 500  # samples; at 2000, ten iterations and one certificate take a quarter of an hour
SINGLE = "fast, float32"  # single precision, as large recordings would use it


class OutOfTime(Exception):
    """Raised from a callback to end a solver that takes too long."""


def history(solver: str, X: np.ndarray, tol: float, seconds: float) -> list[Progress]:
    """Run a solver up to a gap or for a time; return its certificates, with their times."""
    record: list[Progress] = []
    began = time.perf_counter()

    def callback(progress: Progress) -> None:
        elapsed = time.perf_counter() - began  # since the call: set-up and coarse start count
        record.append(Progress(progress.iteration, progress.objective, progress.gap, elapsed))
        if elapsed > seconds:
            raise OutOfTime

    X = X.astype(np.float32) if solver == SINGLE else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(OutOfTime):
            SOLVERS[solver.split(",")[0]](MODEL, X, stopping=Stopping(tol, 10**6, callback=callback))
    return record


def first_time(record: list[Progress], reached) -> float | str:
    """Return the seconds until a certificate meets a condition, or an empty text."""
    return next((progress.seconds for progress in record if reached(progress)), "")


def run_octave(checkout: Path, X: np.ndarray) -> tuple[np.ndarray, float]:
    """Run the authors' relaxed OSC; return Z and the seconds that the call itself took."""
    with tempfile.TemporaryDirectory() as folder:
        savemat(Path(folder) / "in.mat", {"X": X})
        script = (
            f"addpath(genpath('{checkout}')); load('{folder}/in.mat'); "
            f"tic; Z = osc_relaxed(X, {MODEL.lam1}, {MODEL.lam2}, 0, {MU}); s = toc; "
            f"save('-v7', '{folder}/out.mat', 'Z', 's');"
        )
        subprocess.run(["octave-cli", "--no-gui", "--quiet", "--eval", script], check=True)
        answer = loadmat(Path(folder) / "out.mat")
    return answer["Z"], float(answer["s"][0, 0])


def compare_with_octave(checkout: Path, X: np.ndarray, seconds: float) -> None:
    """Compare the time to the authors' objective, and to a certified gap of 1e-2, with their time to stop."""
    Z, theirs = run_octave(checkout, X)
    objective = MODEL.value(X, Z)
    optimum = history("fast", X, 1e-5, seconds)[-1].objective
    above = 100 * (objective / optimum - 1)
    print(f"authors' code, n = {X.shape[1]}: {theirs:.1f} s, {above:.1f} % above the optimum")
    rows = []
    for solver in ("fast", SINGLE):
        record = history(solver, X, 1e-2, seconds)
        equal = first_time(record, lambda p: p.objective <= objective)
        certified = first_time(record, lambda p: p.gap <= 1e-2)
        rows.append({"solver": solver, "s to their objective": equal, "s to gap 1e-2": certified})
    equal = bare_seconds_of_vladmap(X, objective, seconds)
    rows.append({"solver": "vladmap, no certificates", "s to their objective": equal, "s to gap 1e-2": ""})
    for row in rows:
        for column in ("s to their objective", "s to gap 1e-2"):
            row[f"authors / {column[5:]}"] = theirs / row[column] if row[column] else ""
    print_table(rows)


def bare_seconds_of_vladmap(X: np.ndarray, objective: float, seconds: float) -> float | str:
    """Return v-LADMAP's time to an objective, without the certificates that only show when it is reached."""
    record = history("vladmap", X, 1e-3, seconds)
    iterations = next((p.iteration for p in record if p.objective <= objective), None)
    if iterations is None:
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = SOLVERS["vladmap"](MODEL, X, stopping=Stopping(0.0, iterations, published=True))
    return solution.history[0].seconds - certificate_seconds(X, solution.Z)


def certificate_seconds(X: np.ndarray, Z: np.ndarray) -> float:
    """Return the time that the one certificate at the end of a run takes."""
    began = time.perf_counter()
    MODEL.value(X, Z)
    MODEL.lower_bound(X, X - X @ Z, np.diff(Z, axis=1))
    return time.perf_counter() - began


def time_cvxpy(name: str, X: np.ndarray) -> dict[str, object]:
    """Time one run of a general convex solver at its default accuracy."""
    import cvxpy as cp

    Z = cp.Variable((X.shape[1], X.shape[1]))
    problem = cp.Problem(*_objective_and_constraints(MODEL, X, Z))
    began = time.perf_counter()
    value = problem.solve(solver=name)
    return {"n": X.shape[1], "solver": f"cvxpy, {name}", "objective": value, "s": time.perf_counter() - began}


def _objective_and_constraints(model: Osc, X: np.ndarray, Z: object) -> tuple[object, list[object]]:
    import cvxpy as cp

    cost, constraints = formulate(model, X, Z)
    return cp.Minimize(cost), constraints


def draw(records: dict[int, dict[str, list[Progress]]], path: Path) -> None:
    """Draw the certified gap of every solver against time, one panel per size."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(records), figsize=(4 * len(records), 3.6), sharey=True, squeeze=False)
    for ax, (n, histories) in zip(axes[0], records.items(), strict=True):
        plot_convergence(ax, histories).set_title(f"n = {n}")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[100])
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--solvers", nargs="+", default=["fast", SINGLE, "vladmap", "ladmpsap", "sylvester"])
    parser.add_argument("--seconds", type=float, default=20.0, help="longest time for one run")
    parser.add_argument("--cvxpy", nargs="*", default=[], help="general solvers at n = 100: CLARABEL, SCS")
    parser.add_argument("--octave", type=Path, help="a checkout of the authors' SubKit")
    parser.add_argument("--plot", type=Path, help="draw gap against time, one panel per size")
    options = parser.parse_args()
    print(describe_machine())
    for solver in ("fast", SINGLE):
        history(solver, paper_problem(600), 1e-2, 60)  # load compiled code before the clock starts
    rows = []
    records: dict[int, dict[str, list[Progress]]] = {n: {} for n in options.sizes}
    for n in options.sizes:
        X = paper_problem(n, options.noise)
        for solver in options.solvers:
            if solver == "sylvester" and n > LARGEST_SYLVESTER:
                continue
            record = records[n][solver] = history(solver, X, min(GAPS), options.seconds)
            times = {f"s to {gap:.0e}": first_time(record, lambda p, gap=gap: p.gap <= gap) for gap in GAPS}
            rows.append(
                {"n": n, "solver": solver, **times, "iterations": record[-1].iteration, "gap": record[-1].gap}
            )
    print_table(rows)
    if options.plot:
        draw(records, options.plot)
    if options.cvxpy:
        print_table([time_cvxpy(name, paper_problem(100, options.noise)) for name in options.cvxpy])
    if options.octave:
        for n in options.sizes:
            compare_with_octave(options.octave, paper_problem(n, options.noise), options.seconds)


if __name__ == "__main__":
    main()
