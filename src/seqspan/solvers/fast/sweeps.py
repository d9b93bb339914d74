"""Passes over the blocks of the fast solver's state: one iteration and its certificate.

Threads share windows of time (:mod:`seqspan.solvers.fast.windows`), or blocks of atoms where a recursion in
time cannot be divided. What a thread works on at a time, a block in a window, is small enough for the cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import numpy as np

from seqspan._core.memory import require_library
from seqspan._core.spans import part_slices
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray
from seqspan.models import Osc, SpatSc
from seqspan.solvers.fast.reduced import Reduced
from seqspan.solvers.fast.windows import SHARES, TimeSystem, split_time

RELAXATION = 1.85  # over-relaxation factor, in (0, 2)
BLOCK_WIDTH = 128  # atoms; two buffers (n, 128) per thread stay in the L2 or L3 cache
LANDMARK_WIDTH = 64  # of few atoms, so that there are blocks for several threads
PART_ENTRIES = 2**15  # of a block, that a thread works on while they are in its cache
TIGHTENED_WIDTH = 32  # atoms of few that a thread tightens at a time
MIN_ENTRIES = 2**16  # of all blocks, in a window of time: to hand out less takes longer than the work
HUGE = 1e30  # stands for infinity in the compiled loops; times n it still fits in float32
TINY = 1e-30  # smallest denominator


@dataclass
class State:
    """State of the solver; its arrays are updated in place.

    ``V`` and ``U`` (n_blocks, n, width) are explained in :mod:`seqspan.solvers.fast.loops`. ``norms`` (n,)
    are the squared column norms of U, ``fitted`` (n, r) is ``Q^T S``, ``gap`` is the last one computed, and
    ``model`` is the model being minimised. The second penalty is r2 at every time step, or r2 times
    ``weights`` (n,), if there are any; it is zero where a recording ends. ``averaged`` says whether the last
    objective was that of the means of Z over runs of time steps without a jump.
    """

    V: Array
    U: Array
    norms: Array
    fitted: Array
    r1: float
    r2: float
    gap: float = 1.0
    iteration: int = 0
    model: Osc | SpatSc | None = None
    weights: Array | None = None
    averaged: bool = False


class Sweeps:
    """A model on reduced data, laid out in blocks of atoms.

    Parameters
    ----------
    model : Osc or SpatSc
    data : Reduced
    team : Team
    first_atom : int
        Index of the sample that is the first atom, if the atoms are only part of the samples.
    width : int, optional
        Atoms of a block, at most.
    """

    def __init__(
        self,
        model: Osc | SpatSc,
        data: Reduced,
        team: Team,
        first_atom: int = 0,
        *,
        width: int | None = None,
    ) -> None:
        require_library("llvmlite")
        from seqspan.solvers.fast import (  # they import numba, which compiles on first use
            coarse_loops,
            loops,
            measures,
        )

        self.loops: ModuleType = loops
        self.measures: ModuleType = measures
        self.coarse_loops: ModuleType = coarse_loops
        self.model, self.data, self.team = model, data, team
        self.n, self.rank = data.Y.shape
        self.n_atoms, self.first_atom = data.Q.shape[0], first_atom
        self.dtype = data.Q.dtype
        self.entrywise = isinstance(model, SpatSc)
        self.width = min(width or BLOCK_WIDTH, 16 * -(-self.n_atoms // 16))  # whole vector registers
        self.n_blocks = -(-self.n_atoms // self.width)
        self.edges = split_time(
            self.n, max(PART_ENTRIES // self.width, 1), max(MIN_ENTRIES // self.n_atoms, 1)
        )
        self.n_windows = len(self.edges) - 1
        self._ends: Array | None = None
        self._factorised: tuple[float, float, Array, TimeSystem] | None = None
        self.Q = np.zeros((self.n_blocks, self.width, self.rank), self.dtype)
        self.Q.reshape(-1, self.rank)[: self.n_atoms] = data.Q
        self.eigenvalues = data.sigma**2
        self.recordings = part_slices(model.joins, self.n)
        self.coupled = np.ones(self.n)  # zero where a recording ends and another begins
        self.coupled[np.array(model.joins, dtype=np.intp) - 1] = 0.0

    @cached_property
    def linear(self) -> Array:
        """``X^T X`` (or ``D^T X``) in the coordinates of Q, (n, r)."""
        return np.asarray(self.data.Y * self.data.sigma)

    @cached_property
    def longest_atom(self) -> float:
        """The largest norm of an atom."""
        return float(np.sqrt(np.max((self.data.Q**2) @ self.eigenvalues)))

    def zero_state(self, r1: float, r2: float) -> State:
        """Z = 0 and zero multipliers."""
        shape = (self.n_blocks, self.n, self.width)
        V, U = np.zeros(shape, self.dtype), np.zeros(shape, self.dtype)
        return State(V, U, np.zeros(self.n), np.zeros((self.n, self.rank), self.dtype), r1, r2)

    def iterate(self, s: State, *, measure: bool = False) -> Array:
        """Advance the state by one iteration; returns the residuals (8,), zero unless measured."""
        P = self.project_right_side(s)
        correction = np.empty_like(P)
        system, c = self._system(s), self.constants(s)
        given = P, self.linear, self.eigenvalues, system.k, system.inverse, c, system.reaches

        def solve(reaches: range) -> None:
            self.loops.solve_small(*given, bounds(reaches), s.fitted, correction)

        self.team.map(solve, len(system.reaches))
        s.norms, residuals = self.update(s, correction, measure)
        return residuals

    def project_right_side(self, s: State) -> Array:
        """``Q^T F``, (n, r). F is not kept, because rebuilding it later is cheaper."""
        system, q, c = self._system(s), self.multiplier_share(s), self.constants(s)
        P = np.empty((self.n, self.rank), self.dtype)
        self._ends = np.empty((2, self.n_windows, self.n_blocks, self.width), self.dtype)
        state = s.V, s.U, self.Q, q, system.k, system.weights, self.edges, c, self.diagonal

        def project(windows: range) -> None:
            self.loops.project_right_side(*state, bounds(windows), P, self._ends)

        self.team.map(project, self.n_windows)
        return P

    def update(self, s: State, correction: Array, measure: bool) -> tuple[Array, Array]:
        """Update V and U; returns the squared column norms (n,) of the new U and the residuals (8,).

        F is still that of the last :meth:`project_right_side`.
        """
        system, q, c = self._system(s), self.multiplier_share(s), self.constants(s)
        assert self._ends is not None
        self.loops.connect(self._ends.reshape(2, self.n_windows, -1), system.through)
        at_ends = s.U[:, self.edges[1:] - 1]
        norms, residuals = np.zeros(self.n), np.zeros((self.n_windows, 8 if measure else 0))
        given = system.k, system.inverse, system.ratios, self.edges, c, self.diagonal
        changed = correction, self._ends, at_ends, norms, residuals

        def move(windows: range) -> None:
            self.loops.update(s.V, s.U, self.Q, q, *given, bounds(windows), *changed)

        self.team.map(move, self.n_windows)
        return norms, residuals.sum(axis=0)

    def rescale(self, s: State, factor_1: float, factor_2: float) -> None:
        """Multiply the penalties without changing coefficients or multipliers."""
        s.norms = self.shrink_multipliers(s, 1 - 1 / factor_1, 1 - 1 / factor_2)
        s.r1, s.r2 = s.r1 * factor_1, s.r2 * factor_2

    def weigh(self, s: State, weights: Array) -> None:
        """Set the weights of the time steps without changing coefficients or multipliers."""
        old = self.coupled if s.weights is None else s.weights
        # a step without a penalty has no multiplier either
        s.norms = self.shrink_multipliers(
            s, 0.0, 1 - np.divide(old, weights, where=weights > 0, out=old.copy())
        )
        s.weights = weights

    def shrink_multipliers(self, s: State, drop_1: float, drop_2: float | Array) -> Array:
        """Subtract a share of both multipliers; returns the squared column norms (n,) of the new U."""
        c, q, norms = self.constants(s), self.multiplier_share(s), np.zeros(self.n)
        drops = self.dtype.type(drop_1), np.broadcast_to(drop_2, self.n).astype(self.dtype)

        def shrink(windows: range) -> None:
            self.loops.rescale(s.V, s.U, q, c, self.diagonal, *drops, self.edges, bounds(windows), norms)

        self.team.map(shrink, self.n_windows)
        return norms

    def run_starts(self, s: State) -> IntArray | None:
        """First steps of the runs without a jump, then n; None if Z must not be averaged over them."""
        if self.entrywise or self.model.zero_diagonal:
            return None
        ends = (self.jumps(s) > 0) | (self.coupled == 0)
        return np.concatenate([[0], np.flatnonzero(ends[:-1]) + 1, [self.n]])

    def evaluate(self, s: State) -> tuple[Array, Array, Array]:
        """``||Z||_1``, squared and l1 norms of the columns of ZR, and ``Q^T Z`` (n, r).

        The first two also have what they are for the means of Z over runs: (2,) and (3, n) in all.
        """
        t1, starts = self.constants(s)[2], self.run_starts(s)
        starts = np.empty(0, np.intp) if starts is None else starts
        P = np.empty((self.n, self.rank), self.dtype)

        def evaluate(blocks: range) -> tuple[Array, Array]:
            absolute, jumps = np.zeros(2), np.zeros((3, self.n))
            for b in blocks:
                diagonal = self.diagonal + b * self.width
                absolute += self.measures.measure(s.V[b], t1, diagonal, starts, jumps)
            return absolute, jumps

        def project(windows: range) -> None:
            given = s.V, self.Q, self.edges, t1, self.diagonal
            self.measures.project_coefficients(*given, bounds(windows), P)

        absolute, jumps = zip(*self.team.map(evaluate, self.n_blocks), strict=True)
        self.team.map(project, self.n_windows)
        return np.sum(absolute, axis=0), self._total(jumps) * self.coupled, P

    def tighten(
        self, s: State, scaled: Array, bands: Array, *, project: bool = False
    ) -> tuple[Array, Array, Array, Array]:
        """Clip the multiplier to bands around ``scaled @ Q^T`` (see the loop of the same name).

        Returns squares and largest (n_bands, n), worst (n_bands,) and, if asked for, the multiplier in the
        first band in the coordinates of Q, (n, r); otherwise (0, r).
        """
        c, q, k = self.constants(s), self.multiplier_share(s), self._system(s).k
        recordings = np.array([0, *self.model.joins, self.n], dtype=np.intp)
        ahead = np.array([scaled[part].sum(axis=0, dtype=float) for part in self.recordings])
        length = int(np.diff(self.edges).max())
        width = math.gcd(self.width, TIGHTENED_WIDTH) if self.n_blocks < SHARES else self.width
        given = s.U, self.Q, scaled, q, k, c, bands, recordings, ahead, length, self.diagonal, width

        def tighten(parts: range) -> tuple[Array, Array, Array, Array]:
            squares, largest = np.zeros((2, bands.size, self.n))
            worst, P = np.zeros(bands.size), np.zeros((self.n if project else 0, self.rank), self.dtype)
            self.measures.tighten_parts(*given, bounds(parts), squares, largest, worst, P)
            return squares, largest, worst, P.T

        n_parts = self.n_blocks * self.width // width
        squares, largest, worst, P = zip(*self.team.map(tighten, n_parts), strict=True)
        totals = self._total(squares), self._total(largest, np.maximum)
        return *totals, np.max(worst, axis=0), self._total(P).T

    def split(self, s: State, block: int, rows: slice = slice(None)) -> tuple[Array, Array, Array, Array]:
        """Coefficients Z, jumps J and multipliers r1 a, r2 b of a block; returns Z, a, J, b, each (n, width).

        V is Z + a, and U is J + b as long as the time steps have no weights. With `rows`, only those of some
        time steps.
        """
        _, _, t1, t2, _, _ = self.constants(s)
        V, U = s.V[block, rows], s.U[block, rows]
        a = np.clip(V, -t1, t1)
        b = np.clip(self.multiplier_share(s)[rows, None] * U, -t2, t2)
        Z = V - a
        if self.model.zero_diagonal:
            here = np.arange(min(self.width, self.n_atoms - block * self.width))
            times = block * self.width + here - rows.indices(self.n)[0]
            among = (times >= 0) & (times < len(Z))
            Z[times[among], here[among]] = 0
        J = U - b
        return Z, a, J, b if s.weights is None else b * s.weights[rows, None].astype(self.dtype)

    def settle(self, s: State) -> None:
        """Make a state whose V and U were set directly consistent: zero padding, last steps, norms of U."""
        padding = self.n_atoms - (self.n_blocks - 1) * self.width
        s.V[-1, :, padding:] = s.U[-1, :, padding:] = 0
        s.U[:, [part.stop - 1 for part in self.recordings]] = 0

        def square(blocks: range) -> Array:
            return np.asarray(sum(np.einsum("ti,ti->t", s.U[b], s.U[b], dtype=float) for b in blocks))

        s.norms = self._total(self.team.map(square, self.n_blocks))

    def coefficients(self, s: State) -> Array:
        """Z (n_atoms, n), shrunk from V, or its means over runs if they were certified."""
        t1, starts = self.constants(s)[2], self.run_starts(s) if s.averaged else None
        self.release()  # Z needs the room
        Z = np.empty((self.n_atoms, self.n), self.dtype)

        def transpose(blocks: range) -> None:
            block = np.empty((self.n, self.width), self.dtype)
            for b in blocks:
                self.measures.shrink(s.V[b], block, t1, self.diagonal + b * self.width)
                if starts is not None:
                    self.measures.average(block, starts)
                rows = Z[b * self.width : (b + 1) * self.width]
                rows[:] = block.T[: len(rows)]

        self.team.map(transpose, self.n_blocks)
        return Z

    def constants(self, s: State) -> Array:
        """What the compiled loops call c."""
        t2 = self.model.lam2 / s.r2 if self.entrywise else HUGE
        return np.array([s.r1, s.r2, self.model.lam1 / s.r1, t2, HUGE, RELAXATION], self.dtype)

    def multiplier_share(self, s: State) -> Array:
        """What the compiled loops call q: the multiplier's share of every column of U."""
        if self.entrywise:
            return np.ones(self.n, self.dtype)
        share = self.model.lam2 / np.maximum(self._penalties(s) * np.sqrt(s.norms), TINY)
        return np.minimum(share, 1).astype(self.dtype)

    def _penalties(self, s: State) -> Array:
        """What the compiled loops call k, in double precision."""
        return np.asarray(s.r2 * (self.coupled if s.weights is None else s.weights))

    def jumps(self, s: State) -> Array:
        """Column norms (n,) of J, for OSC."""
        penalties = np.maximum(self._penalties(s), TINY)
        return np.asarray(np.maximum(np.sqrt(s.norms) - self.model.lam2 / penalties, 0))

    @property
    def diagonal(self) -> int:
        """Time at which the first atom is the sample itself; far outside if the diagonal is free."""
        return self.first_atom if self.model.zero_diagonal else -2 * (self.n + self.n_blocks * self.width)

    def _system(self, s: State) -> TimeSystem:
        """The system in time; it stays the same until the penalties change."""
        weights = self.coupled if s.weights is None else s.weights
        if (
            self._factorised is None
            or self._factorised[:2] != (s.r1, s.r2)
            or (self._factorised[2] is not weights)
        ):
            k = self._penalties(s)
            system = TimeSystem.factorise(s.r1, k, self.edges, self.dtype, self.loops)
            self._factorised = s.r1, s.r2, weights, system
        return self._factorised[3]

    def shares(self) -> list[int]:
        """First steps of as many parts of time as there are threads, then n."""
        n_shares = min(self.team.n_jobs, self.n_windows)
        return [share * self.n // n_shares for share in range(n_shares + 1)]

    def _total(self, parts: Sequence[Array], add: np.ufunc = np.add) -> Array:
        """Add up the threads' partial results (..., n), in the first of them."""
        total, shares = parts[0], self.shares()

        def fill(some: range) -> None:
            for share in some:
                rows = slice(shares[share], shares[share + 1])
                for part in parts[1:]:
                    add(total[..., rows], part[..., rows], out=total[..., rows])

        if len(parts) > 1:
            self.team.map(fill, len(shares) - 1)
        return total

    def release(self) -> None:
        """Give back what is kept for further iterations."""
        self._ends, self._factorised = None, None
        self.__dict__.pop("linear", None)


def bounds(share: range) -> tuple[int, int, int]:
    """A range as compiled loops take it."""
    return share.start, share.stop, share.step
