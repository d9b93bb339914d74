"""The fast solver on a Dask cluster, with the atoms split over the workers. It survives lost workers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from seqspan._core.solution import Solution
from seqspan._core.threads import Team
from seqspan._core.types import Array
from seqspan.models import Osc, SpatSc
from seqspan.solvers.cluster.checkpoint import Checkpoint, Kept
from seqspan.solvers.cluster.parts import LostWorker, Parts
from seqspan.solvers.fast.certificate import certify
from seqspan.solvers.fast.reduced import Reduced, column_blocks, reduce, reduce_onto
from seqspan.solvers.fast.solver import CHECK_EVERY, MAX_INITIAL_R2, PENALTIES
from seqspan.solvers.fast.steps import advance
from seqspan.solvers.fast.sweeps import State, Sweeps
from seqspan.solvers.loop import Algorithm, Stopping, run
from seqspan.solvers.scaling import at_ordinary_scale

T = TypeVar("T")
CHECKPOINT_EVERY = 25  # iterations: writing the state takes about as long as two of them


@at_ordinary_scale
def solve_on_cluster(
    model: Osc | SpatSc,
    X: Array,
    address: str,
    *,
    dictionary: Array | None = None,
    stopping: Stopping | None = None,
    checkpoint: str | Path | None = None,
    gather: bool = True,
) -> Solution[State]:
    """Minimise OSC or SpatSC with the atoms split over the workers of a Dask cluster.

    Parameters
    ----------
    model : Osc or SpatSc
    X : array of shape (d, n)
        Its dtype is the precision of the solver.
    address : str
        Address of the scheduler, such as ``"tcp://10.0.0.1:8786"``. The workers need seqspan installed.
    dictionary : array of shape (d, n_atoms), optional
        Atoms to use instead of the samples.
    stopping : Stopping, optional
    checkpoint : path, optional
        Folder, accessible to all workers, where the state is saved every 25 iterations. If a worker or this
        process dies, the solver continues from there; without it, the solver starts again from zero.
    gather : bool
        Collect the coefficients in this process. If False, Z is empty. ``state.fitted`` is always ``Q^T S``.

    Returns
    -------
    Solution

    Examples
    --------
    >>> from distributed import LocalCluster
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(3, 2, 20, 10, rng=0)
    >>> with LocalCluster(n_workers=2, processes=False, dashboard_address=None) as local:
    ...     solution = solve_on_cluster(Osc(0.1, 1.0), X, local.scheduler_address)
    >>> solution.Z.shape, solution.gap <= 0.01
    ((30, 30), True)
    """
    if not isinstance(model, Osc | SpatSc):
        raise ValueError(f"the cluster minimises Osc and SpatSc; got {type(model).__name__}.")
    if dictionary is not None and model.zero_diagonal:
        raise ValueError("zero_diagonal=True needs the samples as atoms; got another dictionary.")
    began = time.perf_counter()
    data = (
        reduce(X, X.dtype)
        if dictionary is None
        else reduce_onto(dictionary, column_blocks(X), X.shape[1], X.dtype)
    )
    folder = None if checkpoint is None else Checkpoint(Path(checkpoint), model, data)
    with Team(1) as team, Parts(model, data, address) as parts:
        sweeps = _Coordinator(model, data, team, parts, folder, gather)
        state = sweeps.resume()
        return run(_algorithm(sweeps), state, stopping or Stopping(), warm=state.iteration > 0, began=began)


def traffic_per_iteration(n: int, rank: int, itemsize: int, n_workers: int, model: Osc | SpatSc) -> float:
    """Bytes that one iteration sends over the network, including its share of the certificate.

    Per worker: ``2 n r b`` to upload the product and download its correction and, for OSC, ``2 * 8 n`` for
    the norms. Every fifth iteration a certificate adds ``2 n r b + 11 * 8 n`` (SpatSC: ``9 * 8 n``), or a
    little more as long as the gap is large; on the way to a tight gap OSC's adds ``3 n r b + 7 * 8 n``.

    Parameters
    ----------
    n, rank, itemsize, n_workers : int
    model : Osc or SpatSc

    Returns
    -------
    float

    Examples
    --------
    >>> traffic_per_iteration(100_000, 62, 4, 3, Osc(0.1, 1.0)) / 1e6  # MB
    188.64
    """
    thin, vector = n * rank * itemsize, 8 * n
    norms = 0 if isinstance(model, SpatSc) else vector
    iteration = 2 * thin + 2 * norms
    certificate = 2 * thin + 9 * vector + 2 * norms
    return n_workers * (iteration + certificate / CHECK_EVERY)


class _Coordinator(Sweeps):
    """The passes of the solver; each is run by all parts and summed here."""

    def __init__(
        self, model: Osc | SpatSc, data: Reduced, team: Team, parts: Parts, folder: Checkpoint | None,
        gather: bool,
    ) -> None:  # fmt: skip
        super().__init__(model, data, team)
        self.parts, self.folder, self.gather = parts, folder, gather

    def resume(self) -> State:
        """Place the parts on the current workers; returns the last checkpoint, or a zero state."""
        kept = self.folder.read() if self.folder is not None else None
        n_parts = None if kept is None else len(kept.files)
        norms = self.parts.place(None if kept is None else kept.files, n_parts)
        start = kept or Kept(PENALTIES[0], min(PENALTIES[1] * self.model.lam2, MAX_INITIAL_R2))
        nothing = np.empty(0, self.dtype)
        fitted = np.zeros((self.n, self.rank), self.dtype)
        return State(nothing, nothing, norms, fitted, start.r1, start.r2, start.gap, start.iteration)

    def replay(self, s: State, iteration: int) -> None:
        """Go back to the last checkpoint and repeat the iterations up to `iteration`; updates s in place."""
        while True:
            try:
                again = self.resume()
                while again.iteration < iteration:
                    advance(self, again)
                again.gap, again.averaged = s.gap, s.averaged  # the certificate continues from the last one
                s.__dict__.update(again.__dict__)
                return
            except LostWorker:
                continue

    def keep(self, s: State) -> None:
        """Write a checkpoint."""
        if self.folder is not None:
            files = self.folder.names(s.iteration, len(self.parts))
            self.parts.call_each("keep", [(file,) for file in files])
            self.folder.write(Kept(s.r1, s.r2, s.gap, s.iteration, tuple(files)))

    def project_right_side(self, s: State) -> Array:
        return sum_up(self.parts.call("project", *self._shared(s)))

    def update(self, s: State, correction: Array, measure: bool) -> tuple[Array, Array]:
        norms, residuals = zip(*self.parts.call("update", correction, measure), strict=True)
        return sum_up(norms), sum_up(residuals)

    def shrink_multipliers(self, s: State, drop_1: float, drop_2: float | Array) -> Array:
        return sum_up(self.parts.call("shrink_multipliers", *self._shared(s), drop_1, drop_2))

    def evaluate(self, s: State) -> tuple[Array, Array, Array]:
        absolutes, jumps, fitted = zip(*self.parts.call("evaluate", *self._shared(s)), strict=True)
        return sum_up(absolutes), sum_up(jumps), sum_up(fitted)

    def tighten(
        self, s: State, scaled: Array, bands: Array, *, project: bool = False
    ) -> tuple[Array, Array, Array, Array]:
        found = self.parts.call("tighten", *self._shared(s), scaled, bands, project)
        squares, largest, worst, P = zip(*found, strict=True)
        return sum_up(squares), np.max(largest, axis=0), np.max(worst, axis=0), sum_up(P)

    def coefficients(self, s: State) -> Array:
        if not self.gather:
            return np.empty((0, self.n), self.dtype)
        return np.vstack(self.parts.call("coefficients", *self._shared(s), s.averaged))

    def _shared(self, s: State) -> tuple[Array, float, float]:
        return s.norms, s.r1, s.r2


def sum_up(parts: Any) -> Array:
    """Sum the workers' results, in the order of the atoms."""
    return np.asarray(np.sum(parts, axis=0, dtype=parts[0].dtype))


def _algorithm(sweeps: _Coordinator) -> Algorithm[State]:
    """The solver's steps; if a worker is lost, they are repeated from the last checkpoint."""

    def step(s: State) -> State:
        wanted = s.iteration + 1
        try:
            advance(sweeps, s)
        except LostWorker:
            sweeps.replay(s, wanted)
        if wanted % CHECKPOINT_EVERY == 0:
            persist(sweeps.keep, s)
        return s

    def persist(work: Callable[[State], T], s: State) -> T:
        while True:
            try:
                return work(s)
            except LostWorker:
                sweeps.replay(s, s.iteration)

    return Algorithm(
        step,
        certify=lambda s: persist(lambda now: certify(sweeps, now), s),
        coefficients=lambda s: persist(sweeps.coefficients, s),
        check_every=CHECK_EVERY,
    )
