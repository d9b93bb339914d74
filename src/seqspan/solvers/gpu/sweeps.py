"""One iteration of the fast solver and its certificate, on arrays of one device.

The same scheme, state and letters as :mod:`seqspan.solvers.fast.sweeps`, laid out for a GPU: V and U are
(n, m), one time step per row, m atoms rounded up to whole warps; what is thin is (rank, n), so that
recursions in time read neighbouring memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from seqspan._core.backend import to_host
from seqspan._core.types import Array
from seqspan.models import Osc, SpatSc
from seqspan.models.certificate import parabola_top
from seqspan.solvers.fast.reduced import Reduced
from seqspan.solvers.fast.sweeps import HUGE, RELAXATION, TINY
from seqspan.solvers.gpu.device_functions import BANDS, LANES, Constants
from seqspan.solvers.gpu.pieces import LENGTH, Pieces


@dataclass
class State:
    """Where the solver stands; its arrays are updated in place.

    ``V`` and ``U`` (n, m) as in :mod:`seqspan.solvers.fast.sweeps`, ``norms`` (n,) the squared column norms
    of U and ``share`` (n,) the multiplier's part of each, ``fitted`` (rank, n) ``Q^T S``, ``gap`` the last
    known.
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


class Sweeps:
    """A model on reduced data that lie on one device.

    Parameters
    ----------
    model : Osc or SpatSc
    data : Reduced
    device functions : DeviceFunctions, or what has its methods
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
        self.split_Q = functions.split_atoms(self.Q)
        self.Y = xp.ascontiguousarray(data.Y.T.astype(float))
        self.sigma = data.sigma.astype(float)
        self.eigenvalues = to_host(self.sigma) ** 2  # on the host, where penalties are chosen by them
        self.linear = (self.Y * self.sigma[:, None]).astype(self.dtype)
        self.shifts = xp.append(self.sigma**2, xp.zeros(1))
        self.outside = float(getattr(data, "outside", 0.0))
        self._room: _Room | None = None
        self._penalties: tuple[float, float] | None = None

    def zero_state(self, r1: float, r2: float) -> State:
        """Z = 0 and zero multipliers."""
        xp, n = self.xp, self.n
        V, U = xp.zeros((n, self.m), self.dtype), xp.zeros((n, self.m), self.dtype)
        fitted = xp.zeros((self.rank, n), self.dtype)
        return State(V, U, xp.zeros(n), xp.ones(n, self.dtype), fitted, r1, r2)

    def iterate(self, s: State, *, measure: bool = False) -> Array:
        """Advance the state by one iteration; returns its residuals (8,), zero unless measured."""
        room, pieces, c, functions = self.room, self._pieces(s), self._constants(s), self.functions
        functions.build(s.V, s.U, s.share, pieces, room.large, room.ends, c)
        functions.join(room.ends, pieces)
        functions.project(self.Q, room.large, room.thin)
        functions.solve_path(room.thin, self.linear, self._inverse, room.solved, c)
        s.fitted = room.solved[: self.rank]
        functions.split_difference(room.solved, room.stack)
        functions.expand(room.stack, self.split_Q, room.large)
        functions.update(
            s.V,
            s.U,
            room.large,
            s.share,
            pieces,
            room.ends,
            room.partial,
            room.residuals,
            c,
            RELAXATION,
            measure,
        )
        if not self.entrywise:
            functions.share_columns(room.partial, s.norms, s.share, self.model.lam2 / s.r2)
        return np.asarray(to_host(room.residuals.sum(axis=0, dtype=float))) if measure else np.zeros(8)

    def rescale(self, s: State, factor_1: float, factor_2: float) -> None:
        """Multiply the penalties, keeping coefficients and multipliers as they are."""
        drop_1, drop_2 = 1 - 1 / factor_1, 1 - 1 / factor_2
        self.functions.rescale(s.V, s.U, s.share, self._constants(s), (drop_1, drop_2))
        if not self.entrywise:  # all of a column shrinks alike: no need to look at it again
            s.norms *= (1 - drop_2 * s.share) ** 2
        s.r1, s.r2 = s.r1 * factor_1, s.r2 * factor_2
        self.set_shares(s)

    def set_shares(self, s: State) -> None:
        """The multiplier's part of every column of U, from their norms."""
        if not self.entrywise:
            self.functions.share_columns(
                s.norms[None].astype(self.dtype), s.norms, s.share, self.model.lam2 / s.r2
            )

    def certify(self, s: State) -> tuple[float, float]:
        """Objective at Z, and a lower bound on the minimum."""
        room = self.room
        self._evaluate(s)
        self._tighten(s)
        self.functions.collect(
            room.rows, room.sums, room.partial, room.squares, room.steps, room.extremes, room.found
        )
        found = to_host(room.found)  # the host waits here, once
        (fit, entries, jumps, steps, linear, quadratic), bands = np.split(found, [6])
        coupled = jumps if self.entrywise else steps
        value = float(fit + self.model.lam1 * entries + self.model.lam2 * coupled) + self.outside
        lower = float(parabola_top(linear, quadratic, self._limit(bands))) + self.outside
        s.gap = max(value - lower, 0.0) / value if value > 0 else 0.0
        return value, lower

    def _evaluate(self, s: State) -> None:
        """What the objective at the shrunk V is made of."""
        room, functions = self.room, self.functions
        functions.shrink(s.V, room.large, room.partial, room.sums, self._constants(s))
        functions.project(self.Q, room.large, room.thin)
        functions.residual(self.Y, self.sigma, room.thin, room.unsplit, room.rows[0])

    def _tighten(self, s: State) -> None:
        """What the dual value at ``E = X - XS`` and the multiplier of J, tightened, is made of."""
        room, functions, lam1 = self.room, self.functions, self.model.lam1
        functions.residual(self.Y, self.sigma, s.fitted, room.unsplit, room.rows[1])
        functions.expand_exactly(room.unsplit, self.Q, room.large)
        # a band wider than the gap would lose more by its scale than there is to win; the last one is open
        bands = lam1, lam1 * (1 + s.gap / 6), lam1 * (1 + s.gap / 2), HUGE
        c = self._constants(s)
        functions.tighten(
            s.U, room.large, s.share, bands, self.Q, room.rows[1], room.squares, room.extremes, c
        )

    def _limit(self, bands: Array) -> Any:
        """How far the dual point may be scaled, in the best of the bands."""
        lengths, largest, worst = np.split(bands, 3)
        size = largest if self.entrywise else np.sqrt(lengths)
        limits = self.model.lam1 / np.maximum(worst, TINY)
        return np.minimum(limits, self.model.lam2 / np.maximum(size, TINY)).max()

    def coefficients(self, s: State) -> Any:
        """Z (n_atoms, n), shrunk from V; lies in the room of this object, which is done with."""
        room, self._room = self.room, None
        self.functions.shrink(s.V, room.large, room.partial, room.sums, self._constants(s))
        return room.large[:, : self.n_atoms].T

    def prolong(self, s: State, fine: Sweeps, growth: tuple[float, float]) -> State:
        """Carry a state over to twice the samples, see :mod:`seqspan.solvers.fast.coarse`."""
        carried = fine.zero_state(s.r1 * growth[0], s.r2 * growth[1])
        self.functions.prolong(
            (s.V, s.U, s.share), carried.V, carried.U, fine.n_atoms, self._constants(s), growth
        )
        if not self.entrywise:
            carried.norms = self.xp.einsum("ti,ti->t", carried.U, carried.U).astype(float)
            fine.set_shares(carried)
        return carried

    @property
    def room(self) -> _Room:
        """Working memory, taken when the first iteration needs it."""
        if self._room is None:
            self._room = _Room(self)
        return self._room

    def _pieces(self, s: State) -> Pieces:
        """Tables for the penalties of now."""
        if self._penalties != (s.r1, s.r2):
            self._penalties = s.r1, s.r2
            self._tables = self.functions.cut_into_pieces(self.n, self._constants(s))
            self._inverse = self.xp.empty((self.rank + 1, self.n), self.dtype)
            self.functions.invert_pivots(self.shifts, self._inverse, self._constants(s))
        tables: Pieces = self._tables
        return tables

    def _constants(self, s: State) -> Constants:
        """What the device functions call r1, r2, t1, t2 and fixed."""
        t2 = self.model.lam2 / s.r2 if self.entrywise else HUGE
        return Constants(s.r1, s.r2, self.model.lam1 / s.r1, t2, int(self.model.zero_diagonal))


class _Room:
    """Working memory of an iteration and of a certificate: one array of the state's size, and small ones."""

    def __init__(self, sweeps: Sweeps) -> None:
        xp, n, m, rank, dtype = sweeps.xp, sweeps.n, sweeps.m, sweeps.rank, sweeps.dtype
        n_blocks, n_pieces = sweeps.functions.blocks(n, m)
        self.large = xp.empty((n, m), dtype)
        self.ends = xp.empty((3, -(-n // LENGTH), m), dtype)
        self.thin = xp.empty((rank, n), dtype)
        self.solved = xp.empty((2 * rank, n), dtype)
        self.partial = xp.empty((n_blocks, n), dtype)
        self.residuals = xp.empty((n_blocks * n_pieces, 8), dtype)
        self.sums = xp.empty((n_blocks * n_pieces, 2), dtype)
        self.squares = xp.empty((m // LANES, BANDS, -(-n // LANES) * LANES), dtype)
        self.extremes = xp.empty((m // LANES, 2, BANDS), dtype)
        self.steps = xp.empty((1 + BANDS, self.squares.shape[2]))
        self.unsplit = xp.empty((n, rank), dtype)
        self.stack = sweeps.functions.stack(n, rank)
        self.rows = xp.empty((2, rank, 3))
        self.found = xp.empty(6 + 3 * BANDS)
