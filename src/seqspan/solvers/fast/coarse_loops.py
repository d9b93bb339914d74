"""Compiled loop that carries a coarse state over to twice the samples.

Arrays and constants are those of :mod:`seqspan.solvers.fast.loops`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.compile import compiled
from seqspan.solvers.fast.loops import Block

_compiled = compiled(nogil=True, fastmath=True, error_model="numpy")


@_compiled
def carry_over(
    coarse_V: Block, coarse_U: Block, V: Block, U: Block, starts: Any, q: Block, weights: Block, c: Any,
    growth: Block, diagonal: int, offset: int, copies: int, first: int, last: int,
) -> None:  # fmt: skip
    """Fill a block of V and U at the samples of the pairs first, ..., last - 1.

    ``starts`` has the first sample of each pair, then n. The atoms are those of the coarse block from the one
    at `offset` on, in 1 or 2 copies that share the coefficients. ``q``, ``weights``, ``c`` and ``diagonal``
    are those of the coarse state, and ``growth`` has the factors of both penalties.
    """
    half = V.shape[1] // copies
    t1, t2, part, two = c[2], c[3], V.dtype.type(1.0 / copies), V.dtype.type(2)
    per_1, per_2 = V.dtype.type(1) / growth[0], V.dtype.type(1) / growth[1]
    before, v, u, between = np.zeros((4, half), V.dtype)
    if first > 0:  # the multiplier of the step before
        for i in range(half):
            jump = coarse_U[first - 1, offset + i]
            before[i] = weights[first - 1] * min(max(q[first - 1] * jump, -t2), t2)
    for pair in range(first, last):
        share, weight = q[pair], weights[pair]
        for i in range(half):
            coefficient, jump = coarse_V[pair, offset + i], coarse_U[pair, offset + i]
            a, b = min(max(coefficient, -t1), t1), min(max(share * jump, -t2), t2)
            v[i] = (coefficient - a) * part + a * per_1
            # Z is constant within a pair, so the multiplier is the mean of those at its ends
            u[i] = (before[i] + weight * b) * per_2
            between[i] = (jump - b) * part + two * weight * b * per_2
            before[i] = weight * b
        fixed = pair - diagonal - offset
        if 0 <= fixed < half:  # Z is zero here
            v[fixed] = min(max(coarse_V[pair, offset + fixed], -t1), t1) * per_1
        for t in range(starts[pair], starts[pair + 1]):
            _spread(v, V[t], copies)
            _spread(u if t == starts[pair] else between, U[t], copies)


@_compiled
def _spread(values: Any, atoms: Any, copies: int) -> None:
    """Give every atom its value; each value counts for 1 or 2 of them."""
    if copies == 1:
        for i in range(values.size):
            atoms[i] = values[i]
    else:
        for i in range(values.size):
            atoms[2 * i] = values[i]
            atoms[2 * i + 1] = values[i]
