"""One iteration of the fast solver and its certificate, on arrays of one device.

The scheme, state and notation are those of :mod:`seqspan.solvers.fast.sweeps`, laid out for a GPU. V and U
are (n, m), one time step per row, with the m atoms rounded up to whole warps. Thin arrays are (rank, n), so
that recursions in time read contiguous memory. U is zero at the last step of every recording.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from seqspan._core.backend import to_host
from seqspan._core.spans import part_slices
from seqspan._core.types import Array
from seqspan.models import Osc, SpatSc
from seqspan.models.certificate import parabola_top
from seqspan.solvers.fast.coarse import PENALTY_GROWTH, SAME_ATOMS_GROWTH
from seqspan.solvers.fast.reduced import Reduced
from seqspan.solvers.fast.sweeps import HUGE, RELAXATION, TINY
from seqspan.solvers.gpu.device_functions import BANDS, LANES, Constants
from seqspan.solvers.gpu.pieces import LENGTH, Pieces, number_steps


@dataclass
class State:
    """State of the solver; its arrays are updated in place.

    ``V`` and ``U`` (n, m) are as in :mod:`seqspan.solvers.fast.sweeps`. ``norms`` (n,) are the squared column
    norms of U, ``share`` (n,) is the multiplier's share of each column, ``fitted`` (rank, n) is ``Q^T S``,
    ``gap`` is the last one computed, and ``joins`` are those of the model being minimised.
    """

    V: Any
    U: Any
    norms: Any
    share: Any
    fitted: Any
    r1: float
    r2: float
    gap: float = 1.0
    iteration: int = 0
    joins: tuple[int, ...] = ()


class Sweeps:
    """A model on reduced data on one device.

    Parameters
    ----------
    model : Osc or SpatSc
    data : Reduced
    functions : DeviceFunctions, or an object with the same methods
    """

    def __init__(self, model: Osc | SpatSc, data: Reduced, functions: Any) -> None:
        self.xp: ModuleType = functions.xp
        self.functions, self.model = functions, model
        self.n, self.rank = data.Y.shape
        self.n_atoms, self.dtype = data.Q.shape[0], data.Q.dtype
        self.entrywise = isinstance(model, SpatSc)
        self.m = -(-self.n_atoms // LANES) * LANES
        xp = self.xp
        self.Q = xp.zeros((self.rank, self.m), self.dtype)
        self.Q[:, : self.n_atoms] = data.Q.T
        self.fused = functions.can_fuse(self.rank)
        self.arranged_Q = functions.tiles(self.Q) if self.fused else functions.split_atoms(self.Q)
        self.Y = xp.ascontiguousarray(data.Y.T.astype(float))
        self.sigma = data.sigma.astype(float)
        self.eigenvalues = to_host(self.sigma) ** 2  # on the host, where the penalties are chosen
        self.linear = (self.Y * self.sigma[:, None]).astype(self.dtype)
        self.shifts = xp.append(self.sigma**2, xp.zeros(1))
        self.outside = data.outside
        self.recordings = part_slices(model.joins, self.n)
        self.lasts = xp.asarray([part.stop - 1 for part in self.recordings])
        self.steps = number_steps(self.n, model.joins, xp)
        self._buffers: _Buffers | None = None
        self._penalties: tuple[float, float] | None = None

    def zero_state(self, r1: float, r2: float) -> State:
        """Z = 0 and zero multipliers."""
        xp, n = self.xp, self.n
        n_rows = (
            -(-n // LENGTH) * LENGTH
        )  # fused passes also read and write what is missing of the last piece
        V, U = (xp.zeros((n_rows, self.m), self.dtype)[:n] for _ in range(2))
        fitted = xp.zeros((self.rank, n), self.dtype)
        return State(V, U, xp.zeros(n), xp.ones(n, self.dtype), fitted, r1, r2, joins=self.model.joins)

    def settle(self, s: State) -> None:
        """Make a state whose V and U were set directly consistent: last steps, norms and shares of U."""
        s.U[self.lasts] = 0
        s.joins = self.model.joins
        if not self.entrywise:
            s.norms = self.xp.einsum("ti,ti->t", s.U, s.U).astype(float)
            self.set_shares(s)

    def iterate(self, s: State, *, measure: bool = False) -> Array:
        """Advance the state by one iteration; returns the residuals (8,), zero unless measured."""
        buffers, functions, pieces, c = self.buffers, self.functions, self._pieces(s), self._constants(s)
        ends, thin, solved = buffers.ends, buffers.thin, buffers.solved
        if self.fused:
            sums = buffers.products, thin, ends
            functions.build_and_project(s.V, s.U, self.arranged_Q, s.share, pieces, *sums, c)
        else:
            functions.build(s.V, s.U, s.share, pieces, buffers.large, ends, c)
            functions.project(self.Q, buffers.large, thin)
        functions.join(ends, pieces)
        functions.solve_path(thin, self.linear, self._inverse, pieces.coupling, solved)
        s.fitted = buffers.fitted
        rest = s.share, pieces, ends, buffers.step_norms, buffers.residuals, c, RELAXATION, measure
        if self.fused:
            functions.expand_and_update(s.V, s.U, self.arranged_Q, solved, *rest)
        else:
            functions.split_difference(solved, buffers.stack)
            functions.expand(buffers.stack, self.arranged_Q, buffers.large)
            functions.update(s.V, s.U, buffers.large, *rest)
        if not self.entrywise:
            functions.share_columns(buffers.step_norms, s.norms, s.share, self.model.lam2 / s.r2)
        return np.asarray(to_host(buffers.residuals.sum(axis=0, dtype=float))) if measure else np.zeros(8)

    def rescale(self, s: State, factor_1: float, factor_2: float) -> None:
        """Multiply the penalties without changing coefficients or multipliers."""
        drop_1, drop_2 = 1 - 1 / factor_1, 1 - 1 / factor_2
        self.functions.rescale(s.V, s.U, s.share, self._constants(s), (drop_1, drop_2))
        if not self.entrywise:  # a column shrinks as a whole, so its norm need not be recomputed
            s.norms *= (1 - drop_2 * s.share) ** 2
        s.r1, s.r2 = s.r1 * factor_1, s.r2 * factor_2
        self.set_shares(s)

    def set_shares(self, s: State) -> None:
        """Compute the multiplier's share of every column of U from the norms."""
        if not self.entrywise:
            self.functions.share_columns(
                s.norms[None].astype(self.dtype), s.norms, s.share, self.model.lam2 / s.r2
            )

    def certify(self, s: State) -> tuple[float, float]:
        """Return the objective at Z and a lower bound on the minimum."""
        buffers = self.buffers
        self._evaluate(s)
        self._tighten(s)
        self.functions.collect(
            buffers.rows,
            buffers.sums,
            buffers.partial,
            buffers.squares,
            buffers.steps,
            buffers.extremes,
            buffers.found,
        )
        found = to_host(buffers.found)  # the only point at which the host waits
        (fit, entries, jumps, steps, linear, quadratic), bands = np.split(found, [6])
        coupled = jumps if self.entrywise else steps
        value = float(fit + self.model.lam1 * entries + self.model.lam2 * coupled) + self.outside
        lower = float(parabola_top(linear, quadratic, self._limit(bands))) + self.outside
        s.gap = max(value - lower, 0.0) / value if value > 0 else 0.0
        return value, lower

    def _evaluate(self, s: State) -> None:
        """Compute the parts of the objective at the shrunk V."""
        buffers, functions = self.buffers, self.functions
        functions.shrink(s.V, self.steps, buffers.large, buffers.partial, buffers.sums, self._constants(s))
        functions.project(self.Q, buffers.large, buffers.thin)
        functions.residual(self.Y, self.sigma, buffers.thin, buffers.unsplit, buffers.rows[0])

    def _tighten(self, s: State) -> None:
        """Compute the parts of the dual value at ``E = X - XS`` and the tightened multiplier of J."""
        buffers, functions, lam1 = self.buffers, self.functions, self.model.lam1
        functions.residual(self.Y, self.sigma, s.fitted, buffers.unsplit, buffers.rows[1])
        functions.expand_exactly(buffers.unsplit, self.Q, buffers.large)
        # a band wider than the gap loses more by its scale than it can gain; the last one is unbounded
        bands = lam1, lam1 * (1 + s.gap / 6), lam1 * (1 + s.gap / 2), HUGE
        functions.tighten(
            s.U,
            buffers.large,
            s.share,
            bands,
            self._sum_correlations(),
            self.steps,
            buffers.squares,
            buffers.extremes,
            self._constants(s),
        )

    def _sum_correlations(self) -> Any:
        """Sums of ``X^T E`` over every recording, (n_recordings, m)."""
        xp, buffers = self.xp, self.buffers
        if len(self.recordings) == 1:
            return buffers.rows[1, :, 2].astype(self.dtype)[None] @ self.Q
        until = xp.cumsum(buffers.unsplit, axis=0, dtype=float)[self.lasts]
        until[1:] -= until[:-1].copy()
        return until.astype(self.dtype) @ self.Q

    def _limit(self, bands: Array) -> Any:
        """Largest scale of the dual point over all bands."""
        lengths, largest, worst = np.split(bands, 3)
        size = largest if self.entrywise else np.sqrt(lengths)
        limits = self.model.lam1 / np.maximum(worst, TINY)
        return np.minimum(limits, self.model.lam2 / np.maximum(size, TINY)).max()

    def coefficients(self, s: State) -> Any:
        """Z (n_atoms, n), shrunk from V. It takes over a buffer, so the buffers are released."""
        buffers, self._buffers = self.buffers, None
        self.functions.shrink(
            s.V, self.steps, buffers.large, buffers.partial, buffers.sums, self._constants(s)
        )
        return buffers.large[:, : self.n_atoms].T

    def prolong(self, s: State, fine: Sweeps) -> State:
        """Carry a state over to twice the samples; see :mod:`seqspan.solvers.fast.coarse`."""
        same_atoms = self.n_atoms == fine.n_atoms
        growth = SAME_ATOMS_GROWTH if same_atoms else PENALTY_GROWTH
        carried = fine.zero_state(s.r1 * growth[0], s.r2 * growth[1])
        self.functions.prolong(
            (s.V, s.U, s.share),
            fine.steps,
            carried.V,
            carried.U,
            fine.n_atoms,
            1 if same_atoms else 2,
            self._constants(s),
            growth,
        )
        fine.settle(carried)
        return carried

    @property
    def buffers(self) -> _Buffers:
        """Working memory, allocated by the first iteration."""
        if self._buffers is None:
            self._buffers = _Buffers(self)
        return self._buffers

    def _pieces(self, s: State) -> Pieces:
        """Tables for the current penalties."""
        if self._penalties != (s.r1, s.r2):
            self._penalties = s.r1, s.r2
            self._tables = self.functions.cut_into_pieces(self.steps, self._constants(s))
            self._inverse = self.xp.empty((self.rank + 1, self.n), self.dtype)
            self.functions.invert_pivots(self.shifts, self.steps, self._inverse, self._constants(s))
        tables: Pieces = self._tables
        return tables

    def _constants(self, s: State) -> Constants:
        """What the device functions call r1, r2, t1, t2 and fixed."""
        t2 = self.model.lam2 / s.r2 if self.entrywise else HUGE
        return Constants(s.r1, s.r2, self.model.lam1 / s.r1, t2, int(self.model.zero_diagonal))


class _Buffers:
    """Working memory of an iteration and a certificate: one array the size of V, and small ones."""

    def __init__(self, sweeps: Sweeps) -> None:
        xp, n, m, rank, dtype = sweeps.xp, sweeps.n, sweeps.m, sweeps.rank, sweeps.dtype
        n_blocks, n_pieces = sweeps.functions.blocks(n, m)
        parts = sweeps.functions.parts(n, m) if sweeps.fused else (1, n_blocks)
        self.large = xp.empty((n, m), dtype)
        self.ends = tuple(xp.empty((3, n_pieces, m), dtype))
        self.thin = xp.empty((rank, n), dtype)
        self.products = xp.empty((parts[0], rank, n), dtype) if parts[0] > 1 else None
        self.solved = xp.empty((2 * rank, n), dtype)
        self.fitted = self.solved[:rank]
        self.partial = xp.empty((n_blocks, n), dtype)
        self.step_norms = self.partial[: parts[1]]
        self.residuals = xp.empty((parts[1] * n_pieces, 8), dtype)
        self.sums = xp.empty((n_blocks * n_pieces, 2), dtype)
        self.squares = xp.empty((m // LANES, BANDS, -(-n // LANES) * LANES), dtype)
        self.extremes = xp.empty((m // LANES, 2, BANDS), dtype)
        self.steps = xp.empty((1 + BANDS, self.squares.shape[2]))
        self.unsplit = xp.empty((n, rank), dtype)
        self.stack = None if sweeps.fused else sweeps.functions.stack(n, rank)
        self.rows = xp.empty((2, rank, 3))
        self.found = xp.empty(6 + 3 * BANDS)
