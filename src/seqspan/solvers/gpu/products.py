"""The thin products of an iteration, through cuBLAS.

Tensor cores multiply float32 fast but look at the leading 10 bits of a fraction alone. Where both factors are
thin they are split, ``x = leading + rest``, and ``leading leading + leading rest + rest leading`` is one
product of three times the inner length: nearly as good as float32 (an error of 6e-7 in place of 2e-7 was
measured) and twice as fast. The other product has one large factor, whose rest would have to be written and
read again; it stays in plain float32.

The certificate, which adds correlations up over time, does without the split.

In all factors the inner index lies in neighbouring memory and rows begin at multiples of 32 bytes: with
another order tensor cores were no faster than plain float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.backend import require_cupy

# cuBLAS's and CUDA's own numbers: their names are not in CuPy's public interface
NORMAL, TRANSPOSED = 0, 1
FLOAT32, FLOAT64 = 0, 1
COMPUTE_FLOAT32, COMPUTE_FLOAT64, COMPUTE_TENSOR_CORES = 68, 70, 77
ANY_ALGORITHM = -1
FIRST_TENSOR_CORES = 80  # compute capability that multiplies float32 in them
ALIGNMENT = 8  # numbers
HALF, KEPT = np.uint32(0x1000), np.uint32(0xFFFFE000)


def round_to_ten_bits(Q: Any) -> Any:
    """The nearest float32 numbers whose fractions have the 10 bits that tensor cores look at.

    Examples
    --------
    >>> float(round_to_ten_bits(np.float32([1 + 2**-11 + 2**-12]))[0]) == 1 + 2**-10
    True
    """
    return ((Q.view(np.uint32) + HALF) & KEPT).view(np.float32)


class Products:
    """Products of one precision on the current device, without the cost of asking what the arrays are.

    Parameters
    ----------
    dtype : numpy dtype, float32 or float64
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        from cupy_backends.cuda.libs import cublas

        cupy = require_cupy()
        single = dtype == np.float32
        split = single and int(cupy.cuda.Device().compute_capability) >= FIRST_TENSOR_CORES
        self.copies = 3 if split else 1
        self._xp, self._gemm = cupy, cublas.gemmEx
        self._type, self._compute = (FLOAT32, COMPUTE_FLOAT32) if single else (FLOAT64, COMPUTE_FLOAT64)
        self._thin_compute = COMPUTE_TENSOR_CORES if split else self._compute
        self._one, self._zero = np.ones(1, dtype), np.zeros(1, dtype)

    def split_atoms(self, Q: Any) -> Any:
        """Leading bits of Q^T (m, rank), the rest, and the leading bits again, side by side."""
        rank, m = Q.shape
        split = self.stack(m, rank).reshape(m, self.copies, -1)
        split[:, 0, :rank] = Q.T
        if self.copies > 1:
            leading = round_to_ten_bits(Q)
            split[:, 0, :rank] = split[:, 2, :rank] = leading.T
            split[:, 1, :rank] = round_to_ten_bits(Q - leading).T
        return split.reshape(m, -1)

    def stack(self, n: int, rank: int) -> Any:
        """Room for n rows of split numbers, zero."""
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
        """``large (n, m) = thin (n, rank) Q (rank, m)``, not split."""
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
        """C = A B in cuBLAS's order, columns first, each matrix with its leading dimension."""
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
