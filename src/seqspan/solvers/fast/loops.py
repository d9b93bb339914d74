"""Compiled sweeps of the fast solver over blocks of atoms and windows of time.

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

Where arrays have three dimensions (n_blocks, n, width), a function runs through all blocks, and through the
windows of a `share`: the first, last and step of a range. So a thread needs the interpreter once per pass.

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

_compiled = compiled(nogil=True, fastmath=True, error_model="numpy")


@_compiled
def build_right_side(
    V: Block, U: Block, at_end: Any, q: Block, k: Block, F: Block, c: Any, diagonal: int, first: int
) -> None:  # fmt: skip
    """F = r1 (Z - a) + (J - b) diag(k) R^T, with ``a = clip(V, t1)``.

    F has the time steps from `first` on, as many as it has rows; ``at_end`` (width,) is U at the last one.
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
        jumps = U[t] if row < n_rows - 1 else at_end
        for i in range(width):
            v = V[t, i]
            z_minus_a = v - two * min(max(v, -threshold[i]), threshold[i])
            u = jumps[i]
            ahead = u - two * min(max(q[t] * u, -t2), t2)
            F[row, i] = r1 * z_minus_a + before * (behind[i] - ahead) + drop * ahead
            behind[i] = ahead
        if 0 <= fixed < width:
            threshold[fixed] = t1


@_compiled
def add_up(F: Block, weights: Block, at_first: Any, at_last: Any) -> None:
    """Sums of the rows of F, weighted by the first row and by the second row of `weights` (2, n_rows)."""
    n_rows, width = F.shape
    at_first[:] = F.dtype.type(0)
    at_last[:] = F.dtype.type(0)
    for row in range(n_rows):
        first, last = weights[0, row], weights[1, row]
        for i in range(width):
            at_first[i] += first * F[row, i]
            at_last[i] += last * F[row, i]


@_compiled
def project_right_side(
    V: Block, U: Block, Q: Block, q: Block, k: Block, weights: Block, edges: Any, c: Any, diagonal: int,
    share: Any, P: Block, ends: Block,
) -> None:  # fmt: skip
    """``P = Q^T F`` (n, r), and what every window of F alone gives at its ends.

    ``ends`` are (2, n_windows, n_blocks, width). ``share`` has the first, last and step of a range of the
    windows between `edges`.
    """
    n_blocks, _, width = V.shape
    most, rank = np.diff(edges).max(), P.shape[1]
    F, product = np.empty((most, width), V.dtype), np.empty((most, rank), V.dtype)
    for window in range(share[0], share[1], share[2]):
        first, last = edges[window], edges[window + 1]
        rows, total, some = F[: last - first], P[first:last], product[: last - first]
        for b in range(n_blocks):
            build_right_side(V[b], U[b], U[b, last - 1], q, k, rows, c, diagonal + b * width, first)
            add_up(rows, weights[:, first:last], ends[0, window, b], ends[1, window, b])
            add_product(rows, Q[b], some, total, b == 0)


@_compiled
def add_product(rows: Block, Q: Block, product: Block, total: Block, is_first: bool) -> None:
    """Add ``rows @ Q`` to a total, which the first product begins; `product` is room for it."""
    np.dot(rows, Q, product)
    if is_first:
        total[:] = product
    else:
        total += product


@_compiled
def eliminate(F: Block, after: Any, inverse: Block, k: Block, first: int) -> None:
    """First half of the tridiagonal solve ``X (r1 I + R diag(k) R^T) = F``, in place, from the last step.

    F has the time steps from `first` on; ``after`` (width,) is what the first half gives after the last one.
    """
    n_rows, width = F.shape
    end = first + n_rows - 1
    for i in range(width):
        F[n_rows - 1, i] = (F[n_rows - 1, i] + k[end] * after[i]) * inverse[end]
    for row in range(n_rows - 2, -1, -1):
        share, scale = k[first + row], inverse[first + row]
        for i in range(width):
            F[row, i] = (F[row, i] + share * F[row + 1, i]) * scale


@_compiled
def _add_residuals_of_v(S: Block, V: Block, threshold: Block, c: Any, residuals: Any) -> None:
    """Add the squared norms of V's update at a step: primal residual, its scale, dual residual, its scale."""
    alpha = c[5]
    zero = V.dtype.type(0)
    primal, scale, dual, dual_scale = zero, zero, zero, zero
    for i in range(threshold.size):
        v, smooth = V[i], S[i]
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
def _add_residuals_of_u(S: Block, before: Block, U: Block, q: Any, c: Any, residuals: Any) -> None:
    """Add the same for U's update at the step before, with its share q from before the update."""
    t2, alpha = c[3], c[5]
    zero = U.dtype.type(0)
    primal, scale, dual, dual_scale = zero, zero, zero, zero
    for i in range(U.size):
        u, step = U[i], S[i] - before[i]
        jump = u - min(max(q * u, -t2), t2)
        u += alpha * (step - jump)
        b = min(max(q * u, -t2), t2)
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
    F: Block, S: Block, V: Block, U: Block, q: Block, ratios: Block, c: Any, diagonal: int, first: int,
    before: Block, norms: Any, residuals: Any,
) -> None:  # fmt: skip
    """Second half of the solve for S, then ``V += alpha (S - Z)`` and ``U += alpha (SR - J)``.

    F has the time steps from `first` on. S has one more row in front, which is S at the step before; the
    others hold ``Q [...]`` on entry. ``before`` (width,) is the result of the solve at the step before.
    Adds the squared norms of the new columns of U to norms (n,), and fills residuals (8,) unless it is empty.
    The last step of U in each recording has no successor and stays zero.
    """
    n_rows, width = F.shape
    t1, t2, huge, alpha = c[2], c[3], c[4], c[5]
    threshold = np.full(width, t1, V.dtype)
    x = before.copy()
    for row in range(1, n_rows + 1):
        t = first + row - 1
        fixed = t - diagonal
        if 0 <= fixed < width:
            threshold[fixed] = huge
        ratio = ratios[t]
        for i in range(width):
            x[i] = F[row - 1, i] + ratio * x[i]
            S[row, i] += x[i]
        if residuals.size > 0:
            _add_residuals_of_v(S[row], V[t], threshold, c, residuals)
        for i in range(width):
            z = V[t, i] - min(max(V[t, i], -threshold[i]), threshold[i])
            V[t, i] += alpha * (S[row, i] - z)
        if 0 <= fixed < width:
            threshold[fixed] = t1
        if ratio == 0:  # the first step of a recording: U does not couple it to the one before
            continue
        if residuals.size > 0:
            _add_residuals_of_u(S[row], S[row - 1], U[t - 1], q[t - 1], c, residuals)
        total, share = V.dtype.type(0), q[t - 1]
        for i in range(width):
            jump = U[t - 1, i] - min(max(share * U[t - 1, i], -t2), t2)
            u = U[t - 1, i] + alpha * (S[row, i] - S[row - 1, i] - jump)
            U[t - 1, i] = u
            total += u * u
        norms[t - 1] += total


@_compiled
def update(
    V: Block, U: Block, Q: Block, q: Block, k: Block, inverse: Block, ratios: Block, edges: Any, c: Any,
    diagonal: int, share: Any, correction: Block, ends: Block, at_ends: Block, norms: Any, residuals: Any,
) -> None:  # fmt: skip
    """Solve for S and update V and U, window by window and block by block.

    ``ends`` are, for each window, the first half of the solve at the step after it and its result at the step
    before; ``at_ends`` (n_blocks, n_windows, width) is U at the last step of each, which the next window may
    have updated already. Fills norms (n,), and residuals (n_windows, 8) unless they are empty.
    """
    n_blocks, _, width = V.shape
    most = np.diff(edges).max()
    F, S = np.empty((most, width), V.dtype), np.zeros((most + 1, width), V.dtype)
    for window in range(share[0], share[1], share[2]):
        first, last = edges[window], edges[window + 1]
        lead = min(first, 1)  # S at the step before, which U there needs
        rows, some = F[: last - first], S[: last - first + 1]
        for b in range(n_blocks):
            before = ends[1, window, b]
            np.dot(correction[first - lead : last], Q[b].T, some[1 - lead :])
            for i in range(width):
                some[0, i] += before[i]
            build_right_side(V[b], U[b], at_ends[b, window], q, k, rows, c, diagonal + b * width, first)
            eliminate(rows, ends[0, window, b], inverse, k, first)
            substitute_and_update(
                rows, some, V[b], U[b], q, ratios, c, diagonal + b * width, first, before, norms,
                residuals[window],
            )  # fmt: skip


@_compiled
def rescale(
    V: Block, U: Block, q: Block, c: Any, diagonal: int, drop_1: Any, drop_2: Block, edges: Any, share: Any,
    norms: Any,
) -> None:  # fmt: skip
    """Subtract a share of both multipliers: ``V -= drop_1 a``, ``U -= b diag(drop_2)``.

    With shares ``1 - r_old / r_new`` the products r1 a and k b do not change. ``share`` is a range of
    windows. Adds the squared norms of the new columns of U to norms (n,).
    """
    n_blocks, _, width = V.shape
    for window in range(share[0], share[1], share[2]):
        for b in range(n_blocks):
            for t in range(edges[window], edges[window + 1]):
                fixed = t - diagonal - b * width
                kept = V[b, t, fixed] * (V.dtype.type(1) - drop_1) if 0 <= fixed < width else drop_1
                norms[t] += _rescale_step(V[b, t], U[b, t], q[t], c, drop_1, drop_2[t])
                if 0 <= fixed < width:
                    V[b, t, fixed] = kept


@_compiled
def _rescale_step(V: Block, U: Block, q: Any, c: Any, drop_1: Any, drop_2: Any) -> Any:
    """Subtract at one step; returns the squared norm of the new column of U."""
    t1, t2 = c[2], c[3]
    total = V.dtype.type(0)
    for i in range(V.size):
        V[i] -= drop_1 * min(max(V[i], -t1), t1)
        U[i] -= drop_2 * min(max(q * U[i], -t2), t2)
        total += U[i] * U[i]
    return total


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
def weigh_steps(inverse: Any, k: Any, edges: Any) -> Any:
    """What a step of a window adds to its first and to its last one (2, n), and what passes through windows.

    The latter (3, n_windows) is: the first half of the solve from the step after a window to its first step,
    from there to the result at its last step, and the result from the step before to the last step.
    """
    weights, through = np.empty((2, k.size)), np.empty((3, edges.size - 1))
    for window in range(edges.size - 1):
        first, last = edges[window], edges[window + 1]
        weights[:, first] = inverse[first]
        passed = k[first - 1] * inverse[first] if first > 0 else 0.0
        for t in range(first + 1, last):
            ratio = k[t - 1] * inverse[t]
            weights[0, t] = ratio * weights[0, t - 1]
            weights[1, t] = inverse[t] + ratio * ratio * weights[1, t - 1]  # diagonal of the inverse
            passed *= ratio
        through[:2, window] = k[last - 1] * weights[:, last - 1]
        through[2, window] = passed
        remaining = 1.0
        for t in range(last - 1, first, -1):
            remaining *= k[t - 1] * inverse[t]
            weights[1, t - 1] *= remaining
    return weights, through


@_compiled
def connect(ends: Block, through: Any) -> None:
    """Replace what each window alone gives at its first and last step by what reaches it from its neighbours.

    Of ends (2, n_windows, width), the first is then the first half of the solve at the step after a window,
    and the second is the result at the step before.
    """
    _, n_windows, width = ends.shape
    reached = np.zeros(width, ends.dtype)
    for window in range(n_windows - 1, -1, -1):
        for i in range(width):
            after, reached[i] = reached[i], ends[0, window, i] + through[0, window] * reached[i]
            ends[0, window, i] = after
            ends[1, window, i] += through[1, window] * after
    reached[:] = ends.dtype.type(0)
    for window in range(n_windows):
        for i in range(width):
            before, reached[i] = reached[i], ends[1, window, i] + through[2, window] * reached[i]
            ends[1, window, i] = before


@_compiled
def _solve_reach(
    P: Block, linear: Block, w: Block, k: Block, plain: Block, r1: Any, first: int, last: int, start: int,
    stop: int, S: Block, correction: Block,
) -> None:  # fmt: skip
    """Solve for the steps first, ..., last - 1, on which only start, ..., stop - 1 have an influence."""
    n, width = P.shape
    one, zero = P.dtype.type(1), P.dtype.type(0)
    inverse, s, d = np.empty((3, stop - start + 1, width), P.dtype)
    for each in (inverse, s, d):
        each[stop - start] = zero  # nothing is after the last step
    for t in range(stop - 1, start - 1, -1):
        row = t - start
        behind = k[t - 1] if t > 0 else zero
        ahead = k[t] if t < n - 1 else zero
        for i in range(width):
            pivot = w[i] + r1 + behind + ahead - ahead * ahead * inverse[row + 1, i]
            inverse[row, i] = one / pivot
            s[row, i] = (P[t, i] + linear[t, i] + ahead * s[row + 1, i]) * inverse[row, i]
            d[row, i] = (P[t, i] + ahead * d[row + 1, i]) * plain[t]
    s_before, d_before = np.zeros(width, P.dtype), np.zeros(width, P.dtype)
    for t in range(start, last):
        row = t - start
        behind = k[t - 1] if t > 0 else zero
        for i in range(width):
            s_before[i] = s[row, i] + behind * inverse[row, i] * s_before[i]
            d_before[i] = d[row, i] + behind * plain[t] * d_before[i]
        if t >= first:
            for i in range(width):
                S[t, i] = s_before[i]
                correction[t, i] = s_before[i] - d_before[i]


@_compiled
def solve_small(
    P: Block, linear: Block, w: Block, k: Block, plain: Block, c: Any, reaches: Any, share: Any, S: Block,
    correction: Block,
) -> None:  # fmt: skip
    """``S = (P + linear) T_w^-1`` and ``correction = S - P T_0^-1``, all (n, r), with one T_w per column.

    ``plain`` (n,) are the reciprocal pivots of T_0 from the last step back. ``share`` has the first, last and
    step of a range of rows of `reaches` (n_reaches, 4): of each, steps first, ..., last - 1 are computed, and
    only start, ..., stop - 1 have an influence on them.
    """
    for row in range(share[0], share[1], share[2]):
        first, last, start, stop = reaches[row]
        _solve_reach(P, linear, w, k, plain, c[0], first, last, start, stop, S, correction)
