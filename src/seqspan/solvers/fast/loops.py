"""Compiled sweeps of the fast solver over one block of atoms.

A block is a contiguous array ``(n, width)``: one row per time step, one column per atom, so that each step
of a recursion in time is one vector operation on contiguous memory. Two arrays hold the whole state:

    V:  Z = V - clip(V, t1),   multiplier of S = Z   is  r1 clip(V, t1)
    U:  J = U - b,             multiplier of SR = J  is  k b,   b_t = clip(q_t U_t, t2)

with t1 = lam1 / r1 and a second penalty ``k_t`` for each time step. OSC shrinks whole columns:
``q_t = min(1, lam2 / (k_t ||U_t||))`` and no t2; SpatSC shrinks entries: ``q = 1``, ``t2 = lam2 / r2``, and
all its penalties are r2. Where a recording ends and another begins, k is zero, and so is U. U has n steps,
the last always zero, so that V and U have the same shape. A fixed
diagonal means that t1 is infinite at that entry. ``diagonal`` is the time at which the block's first atom is
the sample itself, or less than -n if the diagonal is free.

The constants c are ``r1, r2, t1, t2, huge, alpha``. huge stands for infinity, which fast-math rules out, and
alpha is the over-relaxation factor.

All constants are passed in the precision of the arrays, because a Python literal would promote float32 to
float64. Every loop has a plain NumPy twin in the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.compile import compiled

Block = Any  # float32 or float64 array of shape (n, width), as numba sees it

LANES = 16  # maxima that are computed together; the width of a block is a multiple of it
ROWS_AHEAD = 12  # rows that :func:`eliminate` prefetches: enough to hide latency, few enough to stay cached

_compiled = compiled(nogil=True, fastmath=True, error_model="numpy")


@_compiled
def build_right_side(
    V: Block, U: Block, q: Block, k: Block, F: Block, c: Any, diagonal: int, first: int
) -> None:  # fmt: skip
    """F = r1 (Z - a) + (J - b) diag(k) R^T, with ``a = clip(V, t1)``.

    F has the time steps from `first` on, as many as it has rows.
    """
    n_rows, width = F.shape
    r1, t1, t2, huge = c[0], c[2], c[3], c[4]
    two = V.dtype.type(2)
    threshold = np.full(width, t1, V.dtype)
    behind = np.zeros(width, V.dtype)
    if first > 0:
        for i in range(width):
            u = U[first - 1, i]
            behind[i] = u - two * min(max(q[first - 1] * u, -t2), t2)
    for row in range(n_rows):
        t = first + row
        fixed = t - diagonal
        if 0 <= fixed < width:
            threshold[fixed] = huge
        # differences first: with a large penalty, two rounded products would outweigh r1
        before = k[max(t - 1, 0)]
        drop = before - k[t]
        for i in range(width):
            v = V[t, i]
            z_minus_a = v - two * min(max(v, -threshold[i]), threshold[i])
            u = U[t, i]
            ahead = u - two * min(max(q[t] * u, -t2), t2)
            F[row, i] = r1 * z_minus_a + before * (behind[i] - ahead) + drop * ahead
            behind[i] = ahead
        if 0 <= fixed < width:
            threshold[fixed] = t1


@_compiled
def eliminate(F: Block, inverse_pivots: Block, k: Block) -> Any:
    """First half of the tridiagonal solve ``X (r1 I + R diag(k) R^T) = F``, in place, from the last step.

    The hardware prefetches memory for ascending loops, but not for descending ones. So the descending half is
    the one that touches only F, and it reads a few rows ahead, which makes it three times faster. It returns
    the sum of those reads so that the compiler does not remove them.
    """
    n, width = F.shape
    lines = 64 // F.itemsize
    touched = F.dtype.type(0)
    for i in range(width):
        F[n - 1, i] *= inverse_pivots[n - 1]
    for t in range(n - 2, -1, -1):
        if t >= ROWS_AHEAD:
            for i in range(0, width, lines):
                touched += F[t - ROWS_AHEAD, i]
        for i in range(width):
            F[t, i] = (F[t, i] + k[t] * F[t + 1, i]) * inverse_pivots[t]
    return touched


@_compiled
def _add_residuals_of_v(t: int, S: Block, V: Block, threshold: Block, c: Any, residuals: Any) -> None:
    """Add the squared norms of V's update at step t: primal residual, its scale, dual residual, its scale."""
    alpha = c[5]
    zero = V.dtype.type(0)
    primal, scale, dual, dual_scale = zero, zero, zero, zero
    for i in range(threshold.size):
        v, smooth = V[t, i], S[t, i]
        z = v - min(max(v, -threshold[i]), threshold[i])
        v += alpha * (smooth - z)
        a = min(max(v, -threshold[i]), threshold[i])
        primal += (smooth - v + a) * (smooth - v + a)
        scale += smooth * smooth
        dual += (v - a - z) * (v - a - z)
        dual_scale += a * a
    residuals[0] += primal
    residuals[1] += scale
    residuals[2] += dual
    residuals[3] += dual_scale


@_compiled
def _add_residuals_of_u(t: int, S: Block, U: Block, q: Block, c: Any, residuals: Any) -> None:
    """Add the same for U's update at step t, with the shares q from before the update."""
    t2, alpha = c[3], c[5]
    zero = U.dtype.type(0)
    primal, scale, dual, dual_scale = zero, zero, zero, zero
    for i in range(U.shape[1]):
        u, step = U[t, i], S[t + 1, i] - S[t, i]
        jump = u - min(max(q[t] * u, -t2), t2)
        u += alpha * (step - jump)
        b = min(max(q[t] * u, -t2), t2)
        primal += (step - u + b) * (step - u + b)
        scale += step * step
        dual += (u - b - jump) * (u - b - jump)
        dual_scale += b * b
    residuals[4] += primal
    residuals[5] += scale
    residuals[6] += dual
    residuals[7] += dual_scale


@_compiled
def substitute_and_update(
    F: Block, S: Block, V: Block, U: Block, q: Block, ratios: Block, c: Any, diagonal: int,
    norms: Any, residuals: Any,
) -> None:  # fmt: skip
    """Second half of the solve for S, then ``V += alpha (S - Z)`` and ``U += alpha (SR - J)``.

    S holds ``Q [...]`` on entry. Adds the squared norms of the new columns of U to norms (n,), and fills
    residuals (8,) unless it is empty. The last step of U in each recording has no successor and stays zero.
    """
    n, width = V.shape
    t1, t2, huge, alpha = c[2], c[3], c[4], c[5]
    threshold = np.full(width, t1, V.dtype)
    x = np.zeros(width, V.dtype)
    for t in range(n):
        fixed = t - diagonal
        if 0 <= fixed < width:
            threshold[fixed] = huge
        for i in range(width):
            x[i] = F[t, i] + ratios[t] * x[i]
            S[t, i] += x[i]
        if residuals.size > 0:
            _add_residuals_of_v(t, S, V, threshold, c, residuals)
        for i in range(width):
            z = V[t, i] - min(max(V[t, i], -threshold[i]), threshold[i])
            V[t, i] += alpha * (S[t, i] - z)
        if 0 <= fixed < width:
            threshold[fixed] = t1
        if ratios[t] == 0:  # the first step of a recording: U does not couple it to the one before
            continue
        if residuals.size > 0:
            _add_residuals_of_u(t - 1, S, U, q, c, residuals)
        total = V.dtype.type(0)
        for i in range(width):
            jump = U[t - 1, i] - min(max(q[t - 1] * U[t - 1, i], -t2), t2)
            u = U[t - 1, i] + alpha * (S[t, i] - S[t - 1, i] - jump)
            U[t - 1, i] = u
            total += u * u
        norms[t - 1] += total


@_compiled
def rescale(V: Block, U: Block, q: Block, c: Any, diagonal: int, drop_1: Any, drop_2: Block) -> None:
    """Subtract a share of both multipliers: ``V -= drop_1 a``, ``U -= b diag(drop_2)``.

    With shares ``1 - r_old / r_new`` the products r1 a and k b do not change.
    """
    n, width = V.shape
    t1, t2 = c[2], c[3]
    for t in range(n):
        fixed = t - diagonal
        kept = V[t, fixed] * (V.dtype.type(1) - drop_1) if 0 <= fixed < width else t1
        for i in range(width):
            V[t, i] -= drop_1 * min(max(V[t, i], -t1), t1)
            U[t, i] -= drop_2[t] * min(max(q[t] * U[t, i], -t2), t2)
        if 0 <= fixed < width:
            V[t, fixed] = kept


@_compiled
def invert_pivots(shift: Any, k: Any) -> Any:
    """Reciprocal pivots of ``shift I + R diag(k) R^T``, eliminated from the last step, in double precision.

    k (n,) has one entry per step; the last has no successor and is not used.
    """
    n = k.size
    inverse = np.empty(n)
    for t in range(n - 1, -1, -1):
        pivot = shift
        if t > 0:
            pivot += k[t - 1]
        if t < n - 1:
            pivot += k[t] - k[t] * k[t] * inverse[t + 1]
        inverse[t] = 1.0 / pivot
    return inverse


@_compiled
def solve_small(
    P: Block, linear: Block, w: Block, k: Block, plain: Block, c: Any, S: Block, correction: Block,
    first: int, last: int,
) -> None:  # fmt: skip
    """``S = (P + linear) T_w^-1`` and ``correction = S - P T_0^-1``, all (n, r), with one T_w per column.

    ``plain`` (n,) are the reciprocal pivots of T_0 from the last step back. Only columns first, ..., last - 1
    are computed.
    """
    n, width = len(P), last - first
    r1 = c[0]
    one, zero = P.dtype.type(1), P.dtype.type(0)
    inverse = np.empty((n, width), P.dtype)
    for t in range(n - 1, -1, -1):
        behind = k[t - 1] if t > 0 else zero
        ahead = k[t] if t < n - 1 else zero
        after = min(t + 1, n - 1)  # at the last step it counts for nothing
        p, x, v = P[t, first:last], linear[t, first:last], w[first:last]
        s, d = S[t, first:last], correction[t, first:last]
        s_after, d_after = S[after, first:last], correction[after, first:last]
        for i in range(width):
            s[i] = p[i] + x[i]
            d[i] = p[i]
            pivot = v[i] + r1 + behind + ahead
            if t < n - 1:
                pivot -= ahead * ahead * inverse[after, i]
                s[i] += ahead * s_after[i]
                d[i] += ahead * d_after[i]
            inverse[t, i] = one / pivot
            s[i] *= inverse[t, i]
            d[i] *= plain[t]
    s_before, d_before = np.zeros(width, P.dtype), np.zeros(width, P.dtype)
    for t in range(n):
        behind = k[t - 1] if t > 0 else zero
        s, d = S[t, first:last], correction[t, first:last]
        for i in range(width):
            s_before[i] = s[i] + behind * inverse[t, i] * s_before[i]
            d_before[i] = d[i] + behind * plain[t] * d_before[i]
            s[i] = s_before[i]
            d[i] = s_before[i] - d_before[i]


@_compiled
def shrink(V: Block, Z: Block, t1: Any, diagonal: int, jumps: Any) -> Any:
    """Z = V - clip(V, t1); returns ||Z||_1 and adds squared and l1 norms of ZR's columns to jumps (2, n)."""
    n, width = V.shape
    total = 0.0
    for t in range(n):
        row = V.dtype.type(0)
        for i in range(width):
            v = V[t, i]
            z = v - min(max(v, -t1), t1)
            Z[t, i] = z
            row += abs(z)
        fixed = t - diagonal
        if 0 <= fixed < width:
            row -= abs(Z[t, fixed])
            Z[t, fixed] = V.dtype.type(0)
        total += row
        if t > 0:
            squares, absolute = V.dtype.type(0), V.dtype.type(0)
            for i in range(width):
                step = Z[t, i] - Z[t - 1, i]
                squares += step * step
                absolute += abs(step)
            jumps[0, t - 1] += squares
            jumps[1, t - 1] += absolute
    return total


@_compiled
def average(Z: Block, starts: Any, jumps: Any) -> Any:
    """Replace Z by its means over runs of time steps; ``starts`` has the first step of each run, then n.

    Returns ||Z||_1 and adds squared norms of ZR's columns to jumps (n,).
    """
    width = Z.shape[1]
    total = 0.0
    before = np.zeros(width, Z.dtype)
    for run in range(starts.size - 1):
        first, after = starts[run], starts[run + 1]
        mean = np.zeros(width, Z.dtype)
        for t in range(first, after):
            for i in range(width):
                mean[i] += Z[t, i]
        length = Z.dtype.type(after - first)
        absolute, squares = Z.dtype.type(0), Z.dtype.type(0)
        for i in range(width):
            mean[i] /= length
            absolute += abs(mean[i])
            squares += (mean[i] - before[i]) * (mean[i] - before[i])
            before[i] = mean[i]
        for t in range(first, after):
            for i in range(width):
                Z[t, i] = mean[i]
        total += length * absolute
        if first > 0:
            jumps[first - 1] += squares
    return total


@_compiled
def square_residuals(fitted: Block, Y: Block, sigma: Block, starts: Any, first: int, last: int) -> Any:
    """``||Y - F diag(sigma)||^2 / 2`` in double precision, where F are the means of `fitted` over runs.

    ``starts`` has the first step of each run, then n. Only runs first, ..., last - 1 are counted.
    """
    total, mean = 0.0, np.zeros(sigma.size)
    for run in range(first, last):
        begin, end = starts[run], starts[run + 1]
        mean[:] = 0.0
        for t in range(begin, end):
            for i in range(sigma.size):
                mean[i] += fitted[t, i]
        for i in range(sigma.size):
            mean[i] *= sigma[i] / (end - begin)
        for t in range(begin, end):
            for i in range(sigma.size):
                total += (Y[t, i] - mean[i]) * (Y[t, i] - mean[i])
    return total / 2


@_compiled
def tighten(
    U: Block, correlations: Block, q: Block, k: Block, kept: Block, c: Any, bands: Any, ahead: Any,
    diagonal: int, squares: Any, largest: Any, worst: Any,
) -> None:  # fmt: skip
    """Clip the multiplier k b in time until ``|X^T E - V R^T| <= band``, for several bands at once.

    Each band starts from a share ``kept`` (n_bands, n) of the multiplier's columns.
    The twin of :func:`seqspan.models.certificate.tighten`. Adds the squared norms of the clipped columns to
    squares (n_bands, n), and raises largest (n_bands, n) to their largest entries and worst (n_bands,) to the
    largest of ``|X^T E - V R^T|``. ``ahead`` (width,) is the sum of the correlations over time; it is
    overwritten.
    """
    n, width = U.shape
    t2, huge = c[3], c[4]
    zero = U.dtype.type(0)
    previous = np.zeros((bands.size, width), U.dtype)
    # several maxima at once: a single running maximum over the atoms of a step would not vectorise
    lanes = np.zeros(LANES, U.dtype)
    worst_here = np.zeros((bands.size, width), U.dtype)
    target = np.zeros(width, U.dtype)
    passed = np.zeros(width, U.dtype)  # huge while a free diagonal entry lies ahead
    for i in range(width):
        if 0 <= diagonal + i < n:
            passed[i] = huge
    free = np.zeros(width, U.dtype)  # the free diagonal entry is here
    for t in range(n):
        fixed = t - diagonal
        if 0 <= fixed < width:
            passed[fixed], free[fixed] = zero, huge
        for i in range(width):
            # after the last step nothing is ahead, not even rounding error
            ahead[i] = ahead[i] - correlations[t, i] if t < n - 1 else zero
            target[i] = k[t] * min(max(q[t] * U[t, i], -t2), t2)
        for j in range(bands.size):
            band = bands[j]
            reach = band * U.dtype.type(n - 1 - t)
            share = kept[j, t]
            total = zero
            for i in range(width):
                center = previous[j, i] - correlations[t, i]
                low = max(center - band - free[i], ahead[i] - reach - passed[i])
                high = min(center + band + free[i], ahead[i] + reach + passed[i])
                v = max(low, min(share * target[i], high))
                total += v * v
                worst_here[j, i] = max(worst_here[j, i], abs(center - v) - free[i])
                previous[j, i] = v
            squares[j, t] += total
            lanes[:] = zero
            for first in range(0, width, LANES):
                for i in range(LANES):
                    lanes[i] = max(lanes[i], abs(previous[j, first + i]))
            largest[j, t] = max(largest[j, t], lanes.max())
        if 0 <= fixed < width:
            free[fixed] = zero
    for j in range(bands.size):
        for i in range(width):
            # v must end at zero, so whatever is left after the last step is excess too
            worst[j] = max(worst[j], worst_here[j, i] + abs(previous[j, i]))
