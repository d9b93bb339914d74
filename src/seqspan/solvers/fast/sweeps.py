"""Passes over the blocks of the fast solver's state: one iteration and its certificate.

Rows (atoms) are independent except for the thin products and the column norms of U. So a pass processes them
block by block, on all threads of the team. Each block is small enough for the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

RELAXATION = 1.85  # over-relaxation factor, in (0, 2)
BLOCK_WIDTH = 128  # atoms; two buffers (n, 128) per thread stay in the L2 or L3 cache
LANDMARK_WIDTH = 32  # of few atoms, so that there is a block for every thread, and buffers are small
MIN_COLUMNS = 24  # coordinates whose recursions a thread computes together: fewer take as long
PART_ENTRIES = 2**16  # of a block, that a thread works on while they are in its cache
HUGE = 1e30  # stands for infinity in the compiled loops; times n it still fits in float32
TINY = 1e-30  # smallest denominator


@dataclass
class State:
    """State of the solver; its arrays are updated in place.

    ``V`` and ``U`` (n_blocks, n, width) are explained in :mod:`seqspan.solvers.fast.loops`. ``norms`` (n,)
    are the squared column norms of U, ``fitted`` (n, r) is ``Q^T S``, ``gap`` is the last one computed, and
    ``model`` is the model being minimised. The second penalty is r2 at every time step, or r2 times
    ``weights`` (n,), if there are any; it is zero where a recording ends. ``averaged`` says whether the last
    objective was that of the means of Z over runs of time steps without a jump. ``excess`` (n,) is the share
    by which the certificate found columns of the multiplier too long, and ``shortened`` (n,) the share by
    which it shortens them beforehand.
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
    excess: Array | None = None
    shortened: Array | None = None


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
        from seqspan.solvers.fast import (
            loops,  # imports numba, which compiles on first use
        )

        self.loops: ModuleType = loops
        self.model, self.data, self.team = model, data, team
        self.n, self.rank = data.Y.shape
        self.n_atoms, self.first_atom = data.Q.shape[0], first_atom
        self.dtype = data.Q.dtype
        self.entrywise = isinstance(model, SpatSc)
        self.width = min(width or BLOCK_WIDTH, 16 * -(-self.n_atoms // 16))  # whole vector registers
        self.n_blocks = -(-self.n_atoms // self.width)
        self._idle: dict[int, list[Array]] = {}
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

    def zero_state(self, r1: float, r2: float) -> State:
        """Z = 0 and zero multipliers."""
        shape = (self.n_blocks, self.n, self.width)
        V, U = np.zeros(shape, self.dtype), np.zeros(shape, self.dtype)
        return State(V, U, np.zeros(self.n), np.zeros((self.n, self.rank), self.dtype), r1, r2)

    def iterate(self, s: State, *, measure: bool = False) -> Array:
        """Advance the state by one iteration; returns the residuals (8,), zero unless measured."""
        P = self.project_right_side(s)
        correction = np.empty_like(P)
        k = self._penalties(s)
        plain = self.loops.invert_pivots(s.r1, k).astype(self.dtype)
        n_groups = max(min(self.team.n_jobs, self.rank // MIN_COLUMNS), 1)
        edges = [group * self.rank // n_groups for group in range(n_groups + 1)]
        given = P, self.linear, self.eigenvalues, k.astype(self.dtype), plain, self._constants(s)

        def solve(groups: range) -> None:
            for group in groups:
                self.loops.solve_small(*given, s.fitted, correction, *edges[group : group + 2])

        self.team.map(solve, len(edges) - 1)
        s.norms, residuals = self.update(s, correction, measure)
        return residuals

    def project_right_side(self, s: State) -> Array:
        """``Q^T F``, (n, r). F is not kept, because rebuilding it later is cheaper."""
        c, q, k = self._constants(s), self._multiplier_share(s), self._penalties(s).astype(self.dtype)

        def build(F: Array, b: int, first: int) -> None:
            self.loops.build_right_side(s.V[b], s.U[b], q, k, F, c, self._diagonal(b), first)

        return self._project(build)

    def _project(self, build: Callable[[Array, int, int], None]) -> Array:
        """``Q^T F``, (n, r); ``build(rows, block, first)`` writes a block's rows of F from `first` on.

        Threads share the time steps, not the blocks: so nothing they compute has to be added up.
        """
        P, edges = np.empty((self.n, self.rank), self.dtype), self.row_edges()
        most = int(np.diff(edges).max())

        def project(parts: range) -> None:
            F, product = (np.empty((most, width), self.dtype) for width in (self.width, self.rank))
            for part in parts:
                first, last = edges[part : part + 2]
                total, some = P[first:last], slice(last - first)
                for b in range(self.n_blocks):
                    build(F[some], b, first)
                    np.matmul(F[some], self.Q[b], out=product[some] if b else total)
                    if b:
                        total += product[some]

        self.team.map(project, len(edges) - 1)
        return P

    def update(self, s: State, correction: Array, measure: bool) -> tuple[Array, Array]:
        """Update V and U; returns the squared column norms (n,) of the new U and the residuals (8,)."""
        c, q, k = self._constants(s), self._multiplier_share(s), self._penalties(s)
        inverse = self.loops.invert_pivots(s.r1, k)
        pivots, ratios = inverse.astype(self.dtype), (np.append(0, k[:-1]) * inverse).astype(self.dtype)
        k = k.astype(self.dtype)

        def move(blocks: range) -> tuple[Array, Array]:
            norms, residuals = np.zeros(self.n), np.zeros(8 if measure else 0)
            with self._buffers(self.width, self.width) as (F, S):
                for b in blocks:
                    V, U, diagonal = s.V[b], s.U[b], self._diagonal(b)
                    np.matmul(correction, self.Q[b].T, out=S)
                    self.loops.build_right_side(V, U, q, k, F, c, diagonal, 0)
                    self.loops.eliminate(F, pivots, k)
                    self.loops.substitute_and_update(F, S, V, U, q, ratios, c, diagonal, norms, residuals)
            return norms, residuals

        norms, residuals = zip(*self.team.map(move, self.n_blocks), strict=True)
        return _total(norms), _total(residuals)

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
        c, q = self._constants(s), self._multiplier_share(s)
        drops = self.dtype.type(drop_1), np.broadcast_to(drop_2, self.n).astype(self.dtype)

        def shrink(blocks: range) -> Array:
            for b in blocks:
                self.loops.rescale(s.V[b], s.U[b], q, c, self._diagonal(b), *drops)
            squares = [np.einsum("ti,ti->t", s.U[b], s.U[b]) for b in blocks]
            return np.asarray(np.sum(squares, axis=0, dtype=float))

        return _total(self.team.map(shrink, self.n_blocks))

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
        t1, starts = self._constants(s)[2], self.run_starts(s)

        def evaluate(blocks: range) -> tuple[Array, Array]:
            absolute, jumps = np.zeros(2), np.zeros((3, self.n))
            with self._buffers(self.width) as (Z,):
                for b in blocks:
                    absolute[0] += self.loops.shrink(s.V[b], Z, t1, self._diagonal(b), jumps)
                    if starts is not None:
                        absolute[1] += self.loops.average(Z, starts, jumps[2])
            return absolute, jumps

        absolute, jumps = zip(*self.team.map(evaluate, self.n_blocks), strict=True)
        return _total(absolute), _total(jumps) * self.coupled, self._fit(s, t1)

    def _fit(self, s: State, t1: Array) -> Array:
        """``Q^T Z``, (n, r)."""

        def build(Z: Array, b: int, first: int) -> None:
            V, unused = s.V[b, first : first + len(Z)], np.zeros((2, len(Z)))
            self.loops.shrink(V, Z, t1, self._diagonal(b) - first, unused)

        return self._project(build)

    def tighten(self, s: State, scaled: Array, bands: Array) -> tuple[Array, Array, Array]:
        """Clip the multiplier to bands around ``scaled @ Q^T`` (see the loop of the same name).

        From the third band on, columns are shortened beforehand if the state says so. Returns squares and
        largest (n_bands, n) and worst (n_bands,).
        """
        c, q, k = self._constants(s), self._multiplier_share(s), self._penalties(s).astype(self.dtype)
        kept = np.ones((bands.size, self.n), self.dtype)
        if s.shortened is not None:
            kept[2:] -= s.shortened.astype(self.dtype)
        ahead = [scaled[part].sum(axis=0) for part in self.recordings]

        def tighten(blocks: range) -> tuple[Array, Array, Array]:
            squares, largest = np.zeros((2, bands.size, self.n))
            worst = np.zeros(bands.size)
            with self._buffers(self.width) as (correlations,):
                for b in blocks:
                    np.matmul(scaled, self.Q[b].T, out=correlations)
                    for part, rest in zip(self.recordings, ahead, strict=True):
                        self.loops.tighten(
                            s.U[b, part], correlations[part], q[part], k[part], kept[:, part], c, bands,
                            self.Q[b] @ rest, self._diagonal(b) - part.start, squares[:, part],
                            largest[:, part], worst,
                        )  # fmt: skip
            return squares, largest, worst

        squares, largest, worst = zip(*self.team.map(tighten, self.n_blocks), strict=True)
        return _total(squares), np.max(largest, axis=0), np.max(worst, axis=0)

    def split(self, s: State, block: int, rows: slice = slice(None)) -> tuple[Array, Array, Array, Array]:
        """Coefficients Z, jumps J and multipliers r1 a, r2 b of a block; returns Z, a, J, b, each (n, width).

        V is Z + a, and U is J + b as long as the time steps have no weights. With `rows`, only those of some
        time steps.
        """
        _, _, t1, t2, _, _ = self._constants(s)
        V, U = s.V[block, rows], s.U[block, rows]
        a = np.clip(V, -t1, t1)
        b = np.clip(self._multiplier_share(s)[rows, None] * U, -t2, t2)
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

        s.norms = _total(self.team.map(square, self.n_blocks))

    def coefficients(self, s: State) -> Array:
        """Z (n_atoms, n), shrunk from V, or its means over runs if they were certified."""
        t1, starts = self._constants(s)[2], self.run_starts(s) if s.averaged else None
        self.release()  # Z needs the room
        Z = np.empty((self.n_atoms, self.n), self.dtype)

        def transpose(blocks: range) -> None:
            unused = np.zeros((2, self.n))
            with self._buffers(self.width) as (block,):
                for b in blocks:
                    self.loops.shrink(s.V[b], block, t1, self._diagonal(b), unused)
                    if starts is not None:
                        self.loops.average(block, starts, unused[0])
                    rows = Z[b * self.width : (b + 1) * self.width]
                    rows[:] = block.T[: len(rows)]

        self.team.map(transpose, self.n_blocks)
        return Z

    def _constants(self, s: State) -> Array:
        """What the compiled loops call c."""
        t2 = self.model.lam2 / s.r2 if self.entrywise else HUGE
        return np.array([s.r1, s.r2, self.model.lam1 / s.r1, t2, HUGE, RELAXATION], self.dtype)

    def _multiplier_share(self, s: State) -> Array:
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

    def _diagonal(self, block: int) -> int:
        """Time at which the block's first atom is the sample itself; far outside if the diagonal is free."""
        first = self.first_atom + block * self.width
        return int(first if self.model.zero_diagonal else -2 * (self.n + self.width))

    def row_edges(self) -> list[int]:
        """First steps of the parts of time that threads share out, then n; parts stay in the cache."""
        n_jobs = min(self.team.n_jobs, self.n)
        n_parts = n_jobs * -(-self.n * self.width // (PART_ENTRIES * n_jobs))
        return [part * self.n // n_parts for part in range(n_parts + 1)]

    @contextmanager
    def _buffers(self, *widths: int) -> Iterator[list[Array]]:
        """Arrays (n, width) to work in; they are kept for the next pass, because fresh memory costs time."""
        idle = [self._idle.setdefault(width, []) for width in widths]
        taken = [self._take(spare, width) for spare, width in zip(idle, widths, strict=True)]
        try:
            yield taken
        finally:
            for spare, array in zip(idle, taken, strict=True):
                spare.append(array)

    def release(self) -> None:
        """Give back what is kept for further iterations."""
        self._idle.clear()
        self.__dict__.pop("linear", None)

    def _take(self, spare: list[Array], width: int) -> Array:
        """A spare array, or a new one; another thread may have taken the last one just now."""
        try:
            return spare.pop()
        except IndexError:
            return np.empty((self.n, width), self.dtype)


def _total(parts: list[Array] | tuple[Array, ...]) -> Array:
    """Sum the threads' partial results into the first one: a new array would be as large as the samples."""
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total
