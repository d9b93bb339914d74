"""Compiles the device functions in the .cu files for one precision, on first use, and launches them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import Any

import numpy as np

from seqspan._core.backend import require_cupy
from seqspan.solvers.fast.sweeps import HUGE
from seqspan.solvers.gpu.pieces import LENGTH, Pieces, Steps
from seqspan.solvers.gpu.products import Products, tiles_to_expand, tiles_to_project

LANES = 32  # threads of a warp
BANDS = 4  # band widths that tighten tries, as in common.cu
RUNS = 16  # of pieces that threads of join follow at the same time, as in common.cu
PATH_THREADS = 512  # threads per block of solve_path, residual and collect, as in common.cu
SOURCES = "common.cu", "iteration.cu", "tiles.cu", "fused_build.cu", "fused_update.cu", "certificate.cu"
FUSED_SHARED_BYTES = 130_000  # per block that the fused passes need; data centre GPUs have it from Ampere on
MAX_FUSED_RANK = 96  # coordinates for which that is enough
MAX_SHARED_ATTRIBUTE = 97  # CUDA's number for how much there is
RANK_TILE = 64  # coordinates that the first fused pass multiplies by at a time, as in tiles.cu
MAX_TILES = 32  # of 32 atoms that a block goes through: sums over more would be read more often than V
ENOUGH_BLOCKS = 1024  # to fill a GPU
BUILD_WARPS, UPDATE_WARPS = 5, 4  # of a block in the fused passes, as in fused_build.cu and common.cu
STATE_BYTES = 2 * LENGTH * 32 * 4  # of shared memory that V and U of a warp take
BUILD_BYTES = BUILD_WARPS * (STATE_BYTES + LENGTH * 40 * 4 + RANK_TILE * 32 * 4)  # also F and a tile of Q
FUSED_BUILDS = "build_and_project", "build_and_project_any"
FUSED_UPDATES = "expand_and_update", "expand_and_update_any", "expand_and_measure", "expand_and_measure_any"


@dataclass(frozen=True)
class Constants:
    """Penalties, thresholds of both multipliers, and whether the diagonal is fixed (1) or free (0)."""

    r1: float
    r2: float
    t1: float
    t2: float
    fixed: int


def share_out_tiles(n: int, m: int, n_warps: int) -> tuple[int, int]:
    """Number of parts of the atoms that different blocks go through, and tiles of 32 atoms in each.

    Examples
    --------
    >>> share_out_tiles(9842, 9856, 4), share_out_tiles(10**6, 128, 4)
    ((10, 32), (1, 4))
    """
    n_tiles, n_pieces = m // LANES, -(-n // LENGTH)
    wanted = max(-(-n_tiles // MAX_TILES), -(-ENOUGH_BLOCKS // n_pieces))
    per_block = -(-n_tiles // wanted)
    per_block = -(-per_block // n_warps) * n_warps
    return -(-n_tiles // per_block), per_block


def _is_general(c: Constants) -> bool:
    """Whether the diagonal is fixed or entries of U are clipped; otherwise there is less to compute."""
    return bool(c.fixed) or c.t2 < HUGE


def _expand_bytes(rank: int) -> int:
    """Shared memory of the second pass: V, U and Q of every warp, and what Q is multiplied by."""
    n_rows = -(-rank // 16) * 16
    return UPDATE_WARPS * (STATE_BYTES + n_rows * 32 * 4) + n_rows * 4 * (64 + 1)


@cache
def device_functions_for(dtype: np.dtype[Any], device: int) -> DeviceFunctions:
    """Device functions in float32 or float64: compiled once per process and cached on disk by CuPy."""
    return DeviceFunctions(dtype)


class DeviceFunctions:
    """Launches the device functions; every method launches its namesake in the .cu files.

    Parameters
    ----------
    dtype : numpy dtype, float32 or float64
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        cupy = require_cupy()
        self.xp: ModuleType = cupy
        self.real = np.dtype(dtype).type
        self.products = Products(dtype)
        self.threads = 512 // np.dtype(dtype).itemsize
        source = "\n".join(files("seqspan.solvers.gpu").joinpath(name).read_text() for name in SOURCES)
        options = [f"-DREAL={'float' if dtype == np.float32 else 'double'}", "--std=c++17"]
        options += ["-DSPLIT"] if self.products.copies > 1 else []
        self._module = cupy.RawModule(code=source, options=tuple(options))
        self._functions: dict[str, Any] = {}
        self._shared = 3 * LENGTH * self.threads * np.dtype(dtype).itemsize
        for name in ("update", "update_and_measure"):
            self._function(name).max_dynamic_shared_size_bytes = self._shared
        shared = cupy.cuda.runtime.deviceGetAttribute(MAX_SHARED_ATTRIBUTE, cupy.cuda.Device().id)
        self._fuses = self.products.copies > 1 and shared >= FUSED_SHARED_BYTES
        if self._fuses:
            for name in FUSED_BUILDS:
                self._function(name).max_dynamic_shared_size_bytes = BUILD_BYTES
            for name in FUSED_UPDATES:
                self._function(name).max_dynamic_shared_size_bytes = _expand_bytes(MAX_FUSED_RANK)

    def cut_into_pieces(self, steps: Steps, c: Constants) -> Pieces:
        """The tables of :func:`seqspan.solvers.gpu.pieces.cut_into_pieces`."""
        n = len(steps.after)
        n_pieces = -(-n // LENGTH)
        pieces = Pieces(
            *(self.xp.empty(n, self.real) for _ in range(7)),
            *(self.xp.empty(n_pieces, self.real) for _ in range(4)),
        )
        tables = (getattr(pieces, field.name) for field in fields(pieces))
        arguments = *tables, steps.before, steps.after, np.int32(n), np.float64(c.r1), np.float64(c.r2)
        self._launch("cut_into_pieces", -(-n_pieces // 32), 32, arguments)
        return pieces

    def blocks(self, n: int, m: int) -> tuple[int, int]:
        """Number of blocks of atoms and number of pieces of time."""
        return -(-m // self.threads), -(-n // LENGTH)

    def build(self, V: Any, U: Any, share: Any, pieces: Pieces, F: Any, ends: Any, c: Constants) -> None:
        """Write F, and to ends, three arrays (n_pieces, m), heads, tails and the values behind each piece."""
        arrays = V, U, share, pieces.forward, pieces.carry, pieces.weight, F, *ends
        self._over_pieces("build", V.shape, arrays, self._scalars(c))

    def parts(self, n: int, m: int) -> tuple[int, int]:
        """Number of parts of the atoms over which the fused passes sum separately."""
        return share_out_tiles(n, m, BUILD_WARPS)[0], share_out_tiles(n, m, UPDATE_WARPS)[0]

    def can_fuse(self, rank: int) -> bool:
        """Whether the passes can do the thin products themselves."""
        return self._fuses and rank <= MAX_FUSED_RANK

    def build_and_project(
        self, V: Any, U: Any, tiles: tuple[Any, Any], share: Any, pieces: Pieces, products: Any, thin: Any,
        ends: Any, c: Constants,
    ) -> None:  # fmt: skip
        """:meth:`build`, but ``thin (rank, n) = Q F^T`` for F; products (n_parts, rank, n) is a buffer."""
        (n, m), rank = V.shape, len(thin)
        n_parts, per_block = share_out_tiles(n, m, BUILD_WARPS)
        summed = thin if n_parts == 1 else products
        arrays = V, U, tiles[0], share, pieces.forward, pieces.carry, pieces.weight, summed, *ends
        sizes = np.int32(n), np.int32(m), np.int32(rank), np.int32(per_block)
        grid = -(-n // LENGTH), n_parts, -(-rank // RANK_TILE)
        arguments = *arrays, *sizes, *self._scalars(c)
        self._launch(FUSED_BUILDS[_is_general(c)], grid, 32 * BUILD_WARPS, arguments, BUILD_BYTES)
        if n_parts > 1:
            arguments = products, thin, np.int32(n_parts), np.int32(rank * n)
            self._launch("add_products", -(-rank * n // 256), 256, arguments)

    def expand_and_update(
        self, V: Any, U: Any, tiles: tuple[Any, Any], solved: Any, share: Any, pieces: Pieces, ends: Any,
        partial: Any, residuals: Any, c: Constants, alpha: float, measure: bool,
    ) -> None:  # fmt: skip
        """:meth:`update` with D from solved (2 rank, n) and Q; partial is (n_parts, n)."""
        (n, m), rank = V.shape, len(solved) // 2
        n_parts, per_block = share_out_tiles(n, m, UPDATE_WARPS)
        tables = pieces.backward, pieces.eliminate, pieces.substitute
        arrays = V, U, tiles[1], solved, share, *tables, *ends, partial, residuals
        sizes = np.int32(n), np.int32(m), np.int32(rank), np.int32(per_block)
        *penalties, fixed = self._scalars(c)
        name = FUSED_UPDATES[2 * measure + _is_general(c)]
        arguments = *arrays, *sizes, *penalties, self.real(alpha), fixed
        self._launch(name, (-(-n // LENGTH), n_parts), self.threads, arguments, _expand_bytes(rank))

    def join(self, ends: Any, pieces: Pieces) -> None:
        """Heads become y at the first step of every piece, tails x at its last."""
        n_pieces, m = ends[0].shape
        arrays = *ends[:2], pieces.fade, pieces.forward_fade, pieces.across, pieces.link
        self._launch("join", m // LANES, (LANES, RUNS), (*arrays, np.int32(n_pieces), np.int32(m)))

    def update(
        self, V: Any, U: Any, D: Any, share: Any, pieces: Pieces, ends: Any, partial: Any, residuals: Any,
        c: Constants, alpha: float, measure: bool,
    ) -> None:  # fmt: skip
        """Update V and U; write U's squared column norms to partial (n_blocks, n) and residuals (.., 8)."""
        tables = pieces.backward, pieces.eliminate, pieces.substitute
        arrays = V, U, D, share, *tables, *ends, partial, residuals
        *penalties, fixed = self._scalars(c)
        name = "update_and_measure" if measure else "update"
        self._over_pieces(name, V.shape, arrays, (*penalties, self.real(alpha), fixed), self._shared)

    def share_columns(self, partial: Any, norms: Any, share: Any, bound: float) -> None:
        """Sum partial to norms (n,), and compute the multiplier's share of every column from them."""
        n_parts, n = partial.shape
        arguments = partial, norms, share, np.int32(n_parts), np.int32(n), np.float64(bound)
        self._launch("share_columns", -(-n // 64), 64, arguments)

    def rescale(self, V: Any, U: Any, share: Any, c: Constants, drops: tuple[float, float]) -> None:
        """Subtract a share of their multipliers from V and U."""
        _, _, t1, t2, fixed = self._scalars(c)
        scalars = t1, t2, self.real(drops[0]), self.real(drops[1]), fixed
        self._over_pieces("rescale", V.shape, (V, U, share), scalars)

    def invert_pivots(self, w: Any, steps: Steps, inverse: Any, c: Constants) -> None:
        """Reciprocal pivots, one row per entry of w (n_rows,)."""
        n_rows, n = inverse.shape
        sizes = np.int32(n_rows), np.int32(n), np.float64(c.r1), np.float64(c.r2)
        arguments = w, steps.before, steps.after, inverse, *sizes
        self._launch("invert_pivots", -(-n_rows * n // 256), 256, arguments)

    def solve_path(self, P: Any, linear: Any, inverse: Any, coupling: Any, out: Any) -> None:
        """Write ``(P + linear) T_w^-1`` to the upper half of out (2 rank, n), ``P T_0^-1`` to the lower."""
        rank, n = P.shape
        arguments = P, linear, inverse, coupling, out, np.int32(n), np.int32(rank)
        self._launch("solve_path", 2 * rank, PATH_THREADS, arguments)

    def split_difference(self, solved: Any, stack: Any) -> None:
        """Difference of the two halves of solved (2 rank, n), split for :meth:`expand`."""
        rank, n = solved.shape[0] // 2, solved.shape[1]
        arguments = (
            solved,
            stack,
            np.int32(n),
            np.int32(rank),
            np.int32(stack.shape[1] // self.products.copies),
        )
        self._launch("split_difference", -(-rank * n // 256), 256, arguments)

    def residual(self, Y: Any, sigma: Any, fitted: Any, thin: Any, rows: Any) -> None:
        """Write ``sigma E`` to thin (n, at least rank); <E, Y>, <E, E> / 2 and its sum to rows (rank, 3)."""
        rank, n = fitted.shape
        arguments = Y, sigma, fitted, thin, rows, np.int32(n), np.int32(thin.shape[1])
        self._launch("residual", rank, PATH_THREADS, arguments)

    def shrink(self, V: Any, steps: Steps, Z: Any, partial: Any, sums: Any, c: Constants) -> None:
        """Write Z, the squared norms of its steps to partial (n_blocks, n), the l1 norms to sums (.., 2)."""
        scalars = self.real(c.t1), np.int32(c.fixed)
        self._over_pieces("shrink", V.shape, (V, steps.before, Z, partial, sums), scalars)

    def tighten(
        self, U: Any, correlations: Any, share: Any, bands: tuple[float, ...], ahead: Any, steps: Steps,
        squares: Any, extremes: Any, c: Constants,
    ) -> None:  # fmt: skip
        """Write squares (m / 32, BANDS, ..) of the clipped columns and extremes (m / 32, 2, BANDS).

        ``ahead`` (n_recordings, m) holds the sums of the correlations over every recording.
        """
        n, m = U.shape
        arrays = U, correlations, share, ahead, steps.before, steps.after, steps.recording, squares, extremes
        scalars = self.real(c.r2), self.real(c.t2), np.int32(c.fixed)
        arguments = *arrays, np.int32(n), np.int32(m), *scalars, *(self.real(band) for band in bands)
        self._launch("tighten", m // LANES, LANES * BANDS, arguments)

    def collect(
        self, rows: Any, sums: Any, partial: Any, squares: Any, steps: Any, extremes: Any, found: Any
    ) -> None:
        """Write all sums and maxima of a certificate to found (6 + 3 BANDS,); steps is a buffer."""
        n, (n_warps, _, n_steps) = partial.shape[1], squares.shape
        for parts, total, size in ((partial, steps[0], n), (squares, steps[1:], BANDS * n_steps)):
            arguments = parts, total, np.int32(len(parts)), np.int32(size)
            self._launch("add_parts", -(-size // 64), 64, arguments)
        sizes = rows.shape[1], len(sums), n, n_steps, n_warps
        arrays = rows, sums, steps[0], steps[1:], extremes, found
        self._launch("collect", 1, PATH_THREADS, (*arrays, *(np.int32(size) for size in sizes)))

    def prolong(
        self, coarse: tuple[Any, Any, Any], steps: Steps, V: Any, U: Any, n_atoms: int, parts: int,
        c: Constants, growth: tuple[float, float],
    ) -> None:  # fmt: skip
        """Carry a coarse state (V, U, shares, and its constants c) over to twice the samples.

        ``parts`` is 2 if atoms are samples, so that each coarse atom becomes two, and otherwise 1.
        """
        n, m = V.shape
        sizes = (np.int32(size) for size in (coarse[0].shape[1], n, m, n_atoms, parts))
        scalars = *(self.real(x) for x in (c.t1, c.t2, *growth)), np.int32(c.fixed)
        arguments = *coarse, steps.before, steps.after, steps.pair, V, U, *sizes, *scalars
        self._launch("prolong", self.blocks(n, m), self.threads, arguments)

    def project(self, Q: Any, large: Any, thin: Any) -> None:
        """``thin (rank, n) = Q large^T``."""
        self.products.project(Q, large, thin)

    def expand(self, stack: Any, split_Q: Any, large: Any) -> None:
        """``large (n, m) = thin^T Q``, with thin already split into stack."""
        self.products.expand(stack, split_Q, large)

    def expand_exactly(self, thin: Any, Q: Any, large: Any) -> None:
        """``large (n, m) = thin (n, rank) Q`` in full precision, for the certificate."""
        self.products.expand_exactly(thin, Q, large)

    def tiles(self, Q: Any) -> tuple[Any, Any]:
        """Arrange Q for both fused passes."""
        return tiles_to_project(Q, self.xp), tiles_to_expand(Q, self.xp)

    def split_atoms(self, Q: Any) -> Any:
        """Split Q for :meth:`expand`."""
        return self.products.split_atoms(Q)

    def stack(self, n: int, rank: int) -> Any:
        """Allocate the first factor of :meth:`expand`."""
        return self.products.stack(n, rank)

    def _scalars(self, c: Constants) -> tuple[Any, ...]:
        return self.real(c.r1), self.real(c.r2), self.real(c.t1), self.real(c.t2), np.int32(c.fixed)

    def _over_pieces(
        self,
        name: str,
        shape: tuple[int, int],
        arrays: tuple[Any, ...],
        scalars: tuple[Any, ...],
        shared: int = 0,
    ) -> None:
        """Launch a device function with one thread block per block of atoms and piece of time."""
        arguments = *arrays, np.int32(shape[0]), np.int32(shape[1]), *scalars
        self._launch(name, self.blocks(*shape), self.threads, arguments, shared)

    def _launch(
        self,
        name: str,
        blocks: int | tuple[int, ...],
        threads: int | tuple[int, int],
        arguments: tuple[Any, ...],
        shared: int = 0,
    ) -> None:
        grid = (blocks,) if isinstance(blocks, int) else blocks
        block = (threads,) if isinstance(threads, int) else threads
        self._function(name)(grid, block, arguments, shared_mem=shared)

    def _function(self, name: str) -> Any:
        """A device function by name; cached, because the look-up costs as much as a launch."""
        if name not in self._functions:
            self._functions[name] = self._module.get_function(name)
        return self._functions[name]
