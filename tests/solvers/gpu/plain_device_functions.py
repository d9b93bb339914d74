"""What every device function of the .cu files must do, in NumPy, one time step after the other."""

from __future__ import annotations

import numpy as np

from seqspan.solvers.gpu.device_functions import LANES, Constants
from seqspan.solvers.gpu.pieces import LENGTH, Pieces, cut_into_pieces, inverse_pivots

HUGE = 1e30


class PlainDeviceFunctions:
    """The methods of :class:`seqspan.solvers.gpu.device_functions.DeviceFunctions` for NumPy arrays."""

    xp = np

    def __init__(self, dtype=np.float64, fused=False):
        self.real = np.dtype(dtype).type
        self.fused = fused

    def can_fuse(self, rank):
        return self.fused

    def parts(self, n, m):
        return 1, 1

    def cut_into_pieces(self, steps, c) -> Pieces:
        return cut_into_pieces(steps, c.r1, c.r2)

    def blocks(self, n, m):
        return 1, -(-n // LENGTH)

    def build(self, V, U, share, pieces, F, ends, c):
        F[:] = right_side(V, U, share, c)
        for k, (start, end) in enumerate(spans(len(V))):
            y = left = 0
            for t in range(end - 1, start - 1, -1):
                y = (F[t] + pieces.coupling[t] * y) * pieces.backward[t]
            for t in range(start, end):
                left = (F[t] + before(pieces.coupling, t) * left) * pieces.forward[t]
            ends[0][k], ends[1][k] = y, left
            ends[2][k] = U[end - 1] - 2 * multiplier_of_u(U, share, c)[end - 1]

    def tiles(self, Q):
        return Q

    def build_and_project(self, V, U, Q, share, pieces, products, thin, ends, c):
        F = np.empty_like(V)
        self.build(V, U, share, pieces, F, ends, c)
        self.project(Q, F, thin)

    def join(self, ends, pieces):
        heads, tails, _ = ends
        for k in range(len(heads) - 2, -1, -1):
            heads[k] += pieces.fade[k] * heads[k + 1]
        for k in range(1, len(tails)):
            tails[k] += pieces.forward_fade[k] * tails[k - 1]
        tails[:-1] = (tails[:-1] + pieces.across[:-1, None] * heads[1:]) * pieces.link[:-1, None]

    def update(self, V, U, D, share, pieces, ends, partial, residuals, c, alpha, measure):
        x = solve_pieces(right_side(V, U, share, c), pieces, ends)
        S = x + D
        Z, J = V - multiplier_of_v(V, c), U - multiplier_of_u(U, share, c)
        step = np.zeros_like(U)
        step[:-1] = np.diff(S, axis=0)
        step[pieces.coupling == 0] = 0  # there a recording ends, and J is zero as well
        V += alpha * (S - Z)
        U += alpha * (step - J)
        partial[0] = np.sum(U**2, axis=1)
        if measure:
            a, b = multiplier_of_v(V, c), multiplier_of_u(U, share, c)
            parts = S - (V - a), S, V - a - Z, a, step - (U - b), step, U - b - J, b
            residuals[:] = 0
            residuals[0] = [np.sum(part**2) for part in parts]

    def expand_and_update(self, V, U, Q, solved, share, pieces, ends, partial, residuals, c, alpha, measure):
        D = (solved[: len(Q)] - solved[len(Q) :]).T @ Q
        self.update(V, U, D, share, pieces, ends, partial, residuals, c, alpha, measure)

    def share_columns(self, partial, norms, share, bound):
        norms[:] = partial.sum(axis=0, dtype=float)
        share[:] = np.minimum(1, bound / np.maximum(np.sqrt(norms), 1e-30))

    def rescale(self, V, U, share, c, drops):
        V -= (drops[0] * multiplier_of_v(V, c)).astype(V.dtype)
        U -= (drops[1] * multiplier_of_u(U, share, c)).astype(U.dtype)

    def invert_pivots(self, w, steps, inverse, c):
        for row, shift in zip(inverse, w, strict=True):
            row[:] = inverse_pivots(steps, shift + c.r1, c.r2)

    def solve_path(self, P, linear, inverse, coupling, out):
        rank = len(P)
        for i in range(rank):
            out[i] = solve_row(P[i] + linear[i], inverse[i], coupling)
            out[rank + i] = solve_row(P[i], inverse[rank], coupling)

    def shrink(self, V, steps, Z, partial, sums, c):
        Z[:] = V - multiplier_of_v(V, c)
        step = np.diff(Z, axis=0)
        step[steps.before[1:] == 0] = 0
        partial[:] = 0
        partial[0, 1:] = np.sum(step**2, axis=1)
        sums[:] = 0
        sums[0] = np.abs(Z).sum(), np.abs(step).sum()

    def tighten(self, U, correlations, share, bands, ahead, steps, squares, extremes, c):
        n, m = U.shape
        target = c.r2 * multiplier_of_u(U, share, c)
        squares[:] = 0
        parts = np.split(np.arange(n), np.flatnonzero(steps.before == 0)[1:])
        for k, band in enumerate(bands):
            clipped = [
                clip_in_time(correlations[part], target[part], band, sums, part[0] if c.fixed else None)
                for part, sums in zip(parts, ahead, strict=True)
            ]
            v, worst = np.vstack([each[0] for each in clipped]), np.max([each[1] for each in clipped], axis=0)
            squares[:, k, :n] = (v**2).reshape(n, m // LANES, LANES).sum(axis=2).T
            extremes[:, 0, k] = np.abs(v).reshape(n, -1, LANES).max(axis=(0, 2))
            extremes[:, 1, k] = worst.reshape(-1, LANES).max(axis=1)

    def collect(self, rows, sums, partial, squares, steps, extremes, found):
        jumps = np.sqrt(partial.sum(axis=0)).sum()
        found[:6] = rows[0, :, 1].sum(), *sums.sum(axis=0), jumps, *rows[1, :, :2].sum(axis=0)
        found[6:] = np.concatenate([squares.sum(axis=0).max(axis=1), *extremes.max(axis=0)])

    def project(self, Q, large, thin):
        thin[:] = Q @ large.T

    def expand(self, stack, split_Q, large):
        large[:] = stack @ split_Q.T

    def expand_exactly(self, thin, Q, large):
        large[:] = thin @ Q

    def split_atoms(self, Q):
        return Q.T

    def stack(self, n, rank):
        return np.zeros((n, rank))

    def split_difference(self, solved, stack):
        rank = stack.shape[1]
        stack[:] = (solved[:rank] - solved[rank:]).T

    def residual(self, Y, sigma, fitted, thin, rows):
        E = Y - sigma[:, None] * fitted
        thin[:] = (sigma[:, None] * E).T
        rows[:] = np.stack([np.sum(E * Y, axis=1), np.sum(E * E, axis=1) / 2, thin.sum(axis=0)], axis=1)

    def prolong(self, coarse, steps, V, U, n_atoms, parts, c, growth):
        old_V, old_U, share = coarse
        a, b = np.clip(old_V, -c.t1, c.t1), multiplier_of_u(old_U, share, c)
        Z, J = old_V - multiplier_of_v(old_V, c), old_U - b
        before = np.vstack([np.zeros_like(b[:1]), b[:-1]])
        atoms = steps.pair if parts == 2 else np.arange(n_atoms)
        second = (steps.before % 2 == 1)[:, None]

        def spread(part):
            return part[steps.pair][:, atoms]

        V[:] = U[:] = 0
        V[:, :n_atoms] = spread(Z / parts + a / growth[0])
        U[:, :n_atoms] = np.where(
            second, spread(J / parts + 2 * b / growth[1]), spread((before + b) / growth[1])
        )
        U[steps.after == 0] = 0


def before(coupling, t):
    """Coupling of a step to the previous one."""
    return coupling[t - 1] if t > 0 else 0


def spans(n):
    return [(start, min(start + LENGTH, n)) for start in range(0, n, LENGTH)]


def multiplier_of_v(V, c: Constants):
    a = np.clip(V, -c.t1, c.t1)
    if c.fixed:
        here = np.arange(min(V.shape))
        a[here, here] = V[here, here]
    return a


def multiplier_of_u(U, share, c: Constants):
    return np.clip(share[:, None] * U, -c.t2, c.t2)


def right_side(V, U, share, c: Constants):
    """F = r1 (Z - a) + r2 (J - b) R^T, transposed."""
    ahead = U - 2 * multiplier_of_u(U, share, c)
    behind = np.vstack([np.zeros_like(ahead[:1]), ahead[:-1]])
    return c.r1 * (V - 2 * multiplier_of_v(V, c)) + c.r2 * (behind - ahead)


def solve_pieces(F, pieces, ends):
    """x of every piece from F and from what enters at its ends, without looking at any other."""
    heads, tails, _ = ends
    x = np.empty_like(F)
    for k, (start, end) in enumerate(spans(len(F))):
        y = heads[k + 1] if k + 1 < len(heads) else 0
        for t in range(end - 1, start - 1, -1):
            x[t] = y = (F[t] + pieces.coupling[t] * y) * pieces.backward[t]
        previous = tails[k - 1] if k > 0 else 0
        for t in range(start, end):
            x[t] = previous = x[t] + before(pieces.coupling, t) * pieces.backward[t] * previous
    return x


def solve_row(f, inverse, coupling):
    x, carried = np.empty_like(f), 0.0
    for t in range(f.size - 1, -1, -1):
        x[t] = carried = (f[t] + coupling[t] * carried) * inverse[t]
    for t in range(1, f.size):
        x[t] += coupling[t - 1] * inverse[t] * x[t - 1]
    return x


def clip_in_time(correlations, target, band, sums, first):
    """The clipped multiplier (n, m) of one recording in one band, and the largest excess of every atom.

    ``first`` is the atom that is the recording's first sample, or None if the diagonal is free.
    """
    n, m = correlations.shape
    v, previous, worst, ahead = np.empty_like(target), np.zeros(m), np.zeros(m), sums.astype(float)
    own = np.full(m, -1) if first is None else np.arange(m) - first  # step at which an atom is the sample
    for t in range(n):
        ahead = ahead - correlations[t] if t < n - 1 else np.zeros(m)
        free = np.where(own == t, HUGE, 0)
        passed = np.where((own > t) & (own < n), HUGE, 0)
        reach, center = band * (n - 1 - t), previous - correlations[t]
        low = np.maximum(center - band - free, ahead - reach - passed)
        high = np.minimum(center + band + free, ahead + reach + passed)
        v[t] = np.maximum(low, np.minimum(target[t], high))
        worst = np.maximum(worst, np.abs(center - v[t]) - free)
        previous = v[t]
    return v, worst + np.abs(previous)
