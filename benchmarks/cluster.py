"""The solver split over a real Dask cluster on one machine; scheduler and workers are separate processes.

    python -m benchmarks.cluster --samples 3000 --landmarks 128      # the table in docs/scale.md
    python -m benchmarks.cluster --samples 3000 --landmarks 0        # all samples as atoms

Compares the objective with that of a single process and the bytes per iteration with the formula (counted by
the operating system for the sockets of this process, TCP_INFO). Also prints the seconds per iteration, and
what happens after a SIGKILL in the middle.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from unittest.mock import patch

import numpy as np

from benchmarks.common import describe_machine, motion_problem, print_table
from seqspan._core.threads import Team
from seqspan.models import Osc, SpatSc
from seqspan.solvers import Progress, Solution, Stopping
from seqspan.solvers.cluster.solver import solve_on_cluster, traffic_per_iteration
from seqspan.solvers.fast import solver
from seqspan.solvers.fast.landmarks import choose_landmarks, on_landmarks
from seqspan.solvers.fast.reduced import column_blocks, reduce, reduce_onto
from seqspan.solvers.fast.solver import PENALTIES, solve_fast
from seqspan.solvers.fast.steps import advance
from seqspan.solvers.fast.sweeps import Sweeps


@dataclass
class Cluster:
    """A scheduler and its workers, each in its own process."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self) -> None:
        """Start another worker."""
        command = [
            "distributed.cli.dask_worker",
            self.address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
        ]
        self.workers.append(_start(command))

    def kill_a_worker(self) -> None:
        """Kill a worker without warning, as if its machine went down."""
        worker = self.workers.pop()
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()

    def wait_for(self, n_workers: int) -> None:
        """Wait until that many workers are connected."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=120)


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", *command], **quiet)  # type: ignore[call-overload,no-any-return]


@contextlib.contextmanager
def started_cluster(n_workers: int) -> Iterator[Cluster]:
    """Start a scheduler and workers, and kill them at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    scheduler = _start(
        ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    )
    cluster = Cluster(f"tcp://127.0.0.1:{port}", scheduler)
    try:
        for _ in range(n_workers):
            cluster.add_worker()
        cluster.wait_for(n_workers)
        yield cluster
    finally:
        for process in (*cluster.workers, scheduler):
            process.kill()
            process.wait()


def bytes_of_sockets() -> int:
    """Return the bytes that the open TCP sockets of this process have sent and received."""
    total = 0
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # closed meanwhile, or not a connected socket
            if not os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(name))) as duplicate:
                if duplicate.type == socket.SOCK_STREAM and duplicate.family == socket.AF_INET:
                    info = duplicate.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 136)
                    total += sum(struct.unpack_from("QQ", info, 120))  # bytes acknowledged, bytes received
    return total


class Meter:
    """A callback that records bytes and time at every certificate."""

    def __init__(self) -> None:
        self.marks: list[tuple[int, int, float]] = []

    def __call__(self, progress: Progress) -> None:
        """Record them."""
        self.marks.append((progress.iteration, bytes_of_sockets(), time.perf_counter()))

    def per_iteration(self) -> tuple[float, float]:
        """Return bytes and seconds per iteration between the first mark and the last."""
        (i, b, t), (j, c, u) = self.marks[0], self.marks[-1]
        return (c - b) / (j - i), (u - t) / (j - i)


def solve_here(model: Osc | SpatSc, X: np.ndarray, D: np.ndarray | None, stopping: Stopping) -> Solution:
    """Run the same solver in this process, from the same start and without weights of time steps."""
    data = reduce(X, X.dtype) if D is None else reduce_onto(D, column_blocks(X), X.shape[1], X.dtype)
    with Team(1) as team:
        start = Sweeps(model, data, team).zero_state(PENALTIES[0], PENALTIES[1] * model.lam2)
    with patch.object(solver, "advance_weighted", advance):
        return solve_fast(model, X, dictionary=D, stopping=stopping, start=start, n_jobs=1)


def compare(model: Osc | SpatSc, X: np.ndarray, D: np.ndarray | None, n_workers: int) -> dict[str, object]:
    """Solve one model on a cluster, again with a worker killed on the way, and in this process."""
    here, there, killed = Meter(), Meter(), []
    alone = solve_here(model, X, D, Stopping(1e-3, 2000, callback=here))
    with started_cluster(n_workers) as cluster, tempfile.TemporaryDirectory() as folder:
        solution = solve_on_cluster(
            model,
            X,
            cluster.address,
            dictionary=D,
            stopping=Stopping(1e-3, 2000, callback=there),
            gather=False,
        )

        def kill_once(progress: Progress) -> None:
            if progress.iteration == 40 and not killed:
                cluster.kill_a_worker()
                killed.append(time.perf_counter())

        survived = solve_on_cluster(
            model, X, cluster.address, dictionary=D, checkpoint=folder,
            stopping=Stopping(1e-3, 2000, callback=kill_once), gather=False,
        )  # fmt: skip
    rank = alone.state.fitted.shape[1]
    moved, seconds = there.per_iteration()
    formula = traffic_per_iteration(X.shape[1], rank, X.itemsize, n_workers, model)
    return {
        "model": type(model).__name__, "n": X.shape[1], "atoms": X.shape[1] if D is None else D.shape[1],
        "rank": rank, "dtype": str(X.dtype), "iterations": solution.n_iter, "alone": alone.n_iter,
        "relative difference": abs(solution.objective / alone.objective - 1),
        "MB per iteration": moved / 1e6, "formula": formula / 1e6, "ratio": moved / formula,
        "seconds per iteration": seconds, "alone ": here.per_iteration()[1],
        "killed at 40": bool(killed), "difference then": abs(survived.objective / alone.objective - 1),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--landmarks", type=int, default=64, help="0 uses all samples as atoms")
    parser.add_argument("--workers", type=int, default=3)
    options = parser.parse_args()
    print(describe_machine())
    rows = []
    for dtype in (np.float64, np.float32):
        X = motion_problem(options.samples).astype(dtype)
        D = choose_landmarks(X, options.landmarks) if options.landmarks else None
        for model in (Osc(0.1, 1.0), SpatSc(0.1, 0.01, zero_diagonal=D is None)):
            fitting = model if D is None else on_landmarks(model, options.landmarks, options.samples)
            rows.append(compare(fitting, X, D, options.workers))
            print_table(rows[-1:])
    print_table(rows)


if __name__ == "__main__":
    main()
