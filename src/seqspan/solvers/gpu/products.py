"""The thin products of an iteration, on tensor cores where possible.

Tensor cores multiply float32 fast but use only the leading 10 bits of the fraction. So each factor is split
as ``x = leading + rest``, and ``leading leading + leading rest + rest leading`` is nearly as accurate as
float32.

In float32 the two passes of an iteration do both products themselves (``fused_build.cu``,
``fused_update.cu``), and need only Q in the order in which tensor cores take it. In float64, on old GPUs and
with more than 96 coordinates, cuBLAS does them. There only the product of two thin factors is split; in the
other one, the rest of the large factor would have to be written and read again.

The certificate does not use the split, because it sums correlations over time.

In all factors the inner index is contiguous in memory and rows start at multiples of 32 bytes. In any other
layout, tensor cores were no faster than plain float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.backend import require_cupy

# enum values of cuBLAS and CUDA; CuPy's public interface does not name them
NORMAL, TRANSPOSED = 0, 1
FLOAT32, FLOAT64 = 0, 1
COMPUTE_FLOAT32, COMPUTE_FLOAT64, COMPUTE_TENSOR_CORES = 68, 70, 77
ANY_ALGORITHM = -1
MIN_TENSOR_CORE_CAPABILITY = 80  # compute capability from which tensor cores multiply float32
ALIGNMENT = 8  # elements; rows are padded to a multiple of this
HALF_BIT, KEPT_BITS = np.uint32(0x1000), np.uint32(0xFFFFE000)  # masks for rounding to 10 fraction bits


def round_to_ten_bits(Q: Any) -> Any:
    """Round float32 numbers to the 10 fraction bits that tensor cores use.

    Examples
    --------
    >>> float(round_to_ten_bits(np.float32([1 + 2**-11 + 2**-12]))[0]) == 1 + 2**-10
    True
    """
    return ((Q.view(np.uint32) + HALF_BIT) & KEPT_BITS).view(np.float32)


def tiles_to_project(Q: Any, xp: Any = np) -> Any:
    """Arrange Q (rank, m) as fused_build.cu reads it, (n_rows / 64, m / 32, 512, 4).

    Rows are filled up with zeros to multiples of 64. Of each tile of 16 rows and 8 atoms, every lane of a
    warp has four numbers: those of two rows and two neighbouring atoms.

    Examples
    --------
    >>> Q = np.arange(64 * 32.0).reshape(64, 32)
    >>> tiles_to_project(Q)[0, 0, 1]  # row, column: (0, 2), (8, 2), (0, 3), (8, 3)
    array([  2., 258.,   3., 259.])
    """
    rows = _with_zero_rows(Q, 64, xp)
    # rows: block of 64, tile, half, lane; atoms: block of 32, tile, lane, neighbour
    parts = rows.reshape(-1, 4, 2, 8, rows.shape[1] // 32, 4, 4, 2)
    return xp.ascontiguousarray(parts.transpose(0, 4, 5, 1, 3, 6, 7, 2)).reshape(len(parts), -1, 512, 4)


def tiles_to_expand(Q: Any, xp: Any = np) -> Any:
    """The same for fused_update.cu, (m / 32, n_rows * 8, 4): there, a tile has 16 atoms and 8 rows.

    Examples
    --------
    >>> Q = np.arange(16 * 32.0).reshape(16, 32)
    >>> tiles_to_expand(Q)[0, 1]  # row, column: (1, 0), (1, 1), (5, 0), (5, 1)
    array([ 32.,  33., 160., 161.])
    """
    rows = _with_zero_rows(Q, 16, xp)
    # rows: block of 8, half, lane; atoms: block of 32, lane, tile, neighbour
    parts = rows.reshape(-1, 2, 4, rows.shape[1] // 32, 8, 2, 2)
    return xp.ascontiguousarray(parts.transpose(3, 0, 5, 4, 2, 1, 6)).reshape(parts.shape[3], -1, 4)


def _with_zero_rows(Q: Any, multiple: int, xp: Any) -> Any:
    """Q with zeros below, up to a multiple of so many rows."""
    return xp.concatenate([Q, xp.zeros((-len(Q) % multiple, Q.shape[1]), Q.dtype)])


class Products:
    """Products in one precision on the current device, without CuPy's overhead of inspecting the arrays.

    Parameters
    ----------
    dtype : numpy dtype, float32 or float64
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        from cupy_backends.cuda.libs import cublas

        cupy = require_cupy()
        single = dtype == np.float32
        split = single and int(cupy.cuda.Device().compute_capability) >= MIN_TENSOR_CORE_CAPABILITY
        self.copies = 3 if split else 1
        self._xp, self._gemm = cupy, cublas.gemmEx
        self._type, self._compute = (FLOAT32, COMPUTE_FLOAT32) if single else (FLOAT64, COMPUTE_FLOAT64)
        self._thin_compute = COMPUTE_TENSOR_CORES if split else self._compute
        self._one, self._zero = np.ones(1, dtype), np.zeros(1, dtype)

    def split_atoms(self, Q: Any) -> Any:
        """Leading bits of Q^T (m, rank), then the rest, then the leading bits again, side by side."""
        rank, m = Q.shape
        split = self.stack(m, rank).reshape(m, self.copies, -1)
        split[:, 0, :rank] = Q.T
        if self.copies > 1:
            leading = round_to_ten_bits(Q)
            split[:, 0, :rank] = split[:, 2, :rank] = leading.T
            split[:, 1, :rank] = round_to_ten_bits(Q - leading).T
        return split.reshape(m, -1)

    def stack(self, n: int, rank: int) -> Any:
        """Allocate n rows of split numbers, all zero."""
        return self._xp.zeros((n, self.copies * -(-rank // ALIGNMENT) * ALIGNMENT), self._one.dtype)

    def project(self, Q: Any, large: Any, thin: Any) -> None:
        """``thin (rank, n) = Q (rank, m) large^T (m, n)``."""
        (rank, m), n = Q.shape, large.shape[0]
        self._multiply((TRANSPOSED, NORMAL), (n, rank, m), (large, m), (Q, m), (thin, n), self._compute)

    def expand(self, stack: Any, split_Q: Any, large: Any) -> None:
        """``large (n, m) = stack (n, ..) split_Q^T (.., m)``."""
        (n, inner), m = stack.shape, len(split_Q)
        operands = (split_Q, inner), (stack, inner), (large, m)
        self._multiply((TRANSPOSED, NORMAL), (m, n, inner), *operands, self._thin_compute)

    def expand_exactly(self, thin: Any, Q: Any, large: Any) -> None:
        """``large (n, m) = thin (n, rank) Q (rank, m)``, without the split."""
        (rank, m), (n, width) = Q.shape, thin.shape
        operands = (Q, m), (thin, width), (large, m)
        self._multiply((NORMAL, NORMAL), (m, n, rank), *operands, self._compute)

    def _multiply(
        self,
        transposed: tuple[int, int],
        sizes: tuple[int, int, int],
        a: tuple[Any, int],
        b: tuple[Any, int],
        c: tuple[Any, int],
        compute: int,
    ) -> None:
        """C = A B in cuBLAS's column-major order; each matrix comes with its leading dimension."""
        handle, kind = self._xp.cuda.device.get_cublas_handle(), self._type
        one, zero = self._one.ctypes.data, self._zero.ctypes.data
        (A, lda), (B, ldb), (C, ldc) = ((matrix.data.ptr, leading) for matrix, leading in (a, b, c))
        self._gemm(
            handle,
            *transposed,
            *sizes,
            one,
            A,
            kind,
            lda,
            B,
            kind,
            ldb,
            zero,
            C,
            kind,
            ldc,
            compute,
            ANY_ALGORITHM,
        )
