"""Compiled loops of the certificate: coefficients, their means over runs, and the tightened multiplier.

Arrays and constants are those of :mod:`seqspan.solvers.fast.loops`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.compile import compiled
from seqspan.solvers.fast.loops import Block, add_product

LANES = 16  # maxima that are computed together; the width of a block is a multiple of it

_compiled = compiled(nogil=True, fastmath=True, error_model="numpy")


@_compiled
def shrink(V: Block, Z: Block, t1: Any, diagonal: int) -> None:
    """Z = V - clip(V, t1), zero on the diagonal."""
    n, width = V.shape
    for t in range(n):
        for i in range(width):
            v = V[t, i]
            Z[t, i] = v - min(max(v, -t1), t1)
        fixed = t - diagonal
        if 0 <= fixed < width:
            Z[t, fixed] = V.dtype.type(0)


@_compiled
def project_coefficients(
    V: Block, Q: Block, edges: Any, t1: Any, diagonal: int, share: Any, P: Block
) -> None:
    """``P = Q^T Z`` (n, r), for a range `share` (first, last, step) of the windows between `edges`."""
    n_blocks, _, width = V.shape
    most, rank = np.diff(edges).max(), P.shape[1]
    Z, product = np.empty((most, width), V.dtype), np.empty((most, rank), V.dtype)
    for window in range(share[0], share[1], share[2]):
        first, last = edges[window], edges[window + 1]
        rows, total, some = Z[: last - first], P[first:last], product[: last - first]
        for b in range(n_blocks):
            shrink(V[b, first:last], rows, t1, diagonal + b * width - first)
            add_product(rows, Q[b], some, total, b == 0)


@_compiled
def measure(V: Block, t1: Any, diagonal: int, starts: Any, jumps: Any) -> Any:
    """Return ||Z||_1 for Z as in :func:`shrink`, and for its means over runs of time steps.

    Adds squared and l1 norms of ZR's columns to jumps (3, n), and the squared norms of those of the means.
    ``starts`` has the first step of each run, then n; it is empty if Z must not be averaged.
    """
    n, width = V.shape
    total, total_of_means, run = 0.0, 0.0, 0
    z, before = np.zeros((2, width), V.dtype)
    sums, mean_before = np.zeros((2, width), V.dtype)
    for t in range(n):
        for i in range(width):
            z[i] = V[t, i] - min(max(V[t, i], -t1), t1)
        fixed = t - diagonal
        if 0 <= fixed < width:
            z[fixed] = V.dtype.type(0)
        absolute, squares, differences = V.dtype.type(0), V.dtype.type(0), V.dtype.type(0)
        for i in range(width):
            step = z[i] - before[i]
            absolute += abs(z[i])
            squares += step * step
            differences += abs(step)
            before[i] = z[i]
            sums[i] += z[i]
        total += absolute
        if t > 0:
            jumps[0, t - 1] += squares
            jumps[1, t - 1] += differences
        if starts.size > 0 and t + 1 == starts[run + 1]:
            first, length = starts[run], V.dtype.type(t + 1 - starts[run])
            absolute, squares = V.dtype.type(0), V.dtype.type(0)
            for i in range(width):
                mean = sums[i] / length
                absolute += abs(mean)
                squares += (mean - mean_before[i]) * (mean - mean_before[i])
                mean_before[i] = mean
                sums[i] = V.dtype.type(0)
            total_of_means += length * absolute
            if first > 0:
                jumps[2, first - 1] += squares
            run += 1
    return total, total_of_means


@_compiled
def average(Z: Block, starts: Any) -> None:
    """Replace Z by its means over runs of time steps; ``starts`` has the first step of each run, then n."""
    width = Z.shape[1]
    for run in range(starts.size - 1):
        first, after = starts[run], starts[run + 1]
        mean = np.zeros(width, Z.dtype)
        for t in range(first, after):
            for i in range(width):
                mean[i] += Z[t, i]
        for i in range(width):
            mean[i] /= Z.dtype.type(after - first)
        for t in range(first, after):
            for i in range(width):
                Z[t, i] = mean[i]


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
def dual_residuals(
    fitted: Block, Y: Block, sigma: Block, first: int, last: int, scaled: Block, linear: Any, quadratic: Any
) -> None:
    """For ``E = Y - fitted diag(sigma)``: E diag(sigma), and ``<e, y>`` and ``||e||^2 / 2`` of each row.

    Only of rows first, ..., last - 1, in double precision.
    """
    for t in range(first, last):
        product, square = 0.0, 0.0
        for i in range(sigma.size):
            y, s = np.float64(Y[t, i]), np.float64(sigma[i])
            e = y - np.float64(fitted[t, i]) * s
            scaled[t, i] = e * s
            product += e * y
            square += e * e
        linear[t] = product
        quadratic[t] = square / 2


@_compiled
def shorten(
    P: Block, fitted: Block, Y: Block, sigma: Block, squares: Any, limit: Any, first: int, last: int,
    found: Any,
) -> None:  # fmt: skip
    """Shorten columns of V whose squares exceed a limit by ``X^T G``, and move E by ``g_t - g_{t-1}``.

    ``P = V Q`` (n, r), and ``g_t`` is the shortest multiple of X v_t that is enough, or that does the most.
    Fills steps first, ..., last - 1 of found (4, n), in double precision: ``<e, y>`` and ``||e||^2 / 2`` for
    the new E, the new squares, and ``||g||``.
    """
    before, direction = np.zeros((2, sigma.size))
    for t in range(max(first - 1, 0), last):
        slope, curvature = 0.0, 0.0
        for i in range(sigma.size):
            direction[i] = np.float64(P[t, i]) * np.float64(sigma[i])
            slope += direction[i] * direction[i]
            curvature += (direction[i] * np.float64(sigma[i])) ** 2
        # ||v - step X^T X v||^2 = square - 2 step slope + step^2 curvature
        excess = max(squares[t] - limit, 0.0)
        step = 0.0
        if excess > 0.0 and slope > 0.0:
            root = np.sqrt(max(slope * slope - curvature * excess, 0.0))
            step = min(excess / (slope + root), slope / curvature)
        product, square = 0.0, 0.0
        for i in range(sigma.size):
            y, moved = np.float64(Y[t, i]), step * direction[i]
            e = y - np.float64(fitted[t, i]) * np.float64(sigma[i]) + moved - before[i]
            before[i] = moved
            product += e * y
            square += e * e
        if t >= first:
            found[0, t], found[1, t] = product, square / 2
            found[2, t] = max(squares[t] - step * (2 * slope - step * curvature), 0.0)
            found[3, t] = step * np.sqrt(slope)


@_compiled
def tighten(
    U: Block, correlations: Block, q: Block, k: Block, c: Any, bands: Any, first: int, ahead: Any,
    reached: Block, diagonal: int, clipped: Block, squares: Any, largest: Any, worst: Any,
) -> None:  # fmt: skip
    """Clip the multiplier k b in time until ``|X^T E - V R^T| <= band``, for several bands at once.

    The twin of :func:`seqspan.models.certificate.tighten`. Adds the squared norms of the clipped columns to
    squares (n_bands, n), and raises largest (n_bands, n) to their largest entries and worst (n_bands,) to the
    largest of ``|X^T E - V R^T|``. ``clipped``, if it is not empty, gets the result for the first band.

    U and the correlations have the time steps from `first` on; the other arrays have all steps. What has
    been reached before them moves on: ``ahead`` (width,) is the sum of the correlations ahead, in double
    precision, because it may be n times as large as one of them; ``reached`` (2 n_bands, width) has the
    multiplier of the step before and the largest excess for each band.
    """
    n, width = k.size, U.shape[1]
    t2, huge = c[3], c[4]
    zero = U.dtype.type(0)
    previous, worst_here = reached[: bands.size], reached[bands.size :]
    # several maxima at once: a single running maximum over the atoms of a step would not vectorise
    lanes = np.zeros(LANES, U.dtype)
    target, left = np.zeros((2, width), U.dtype)
    passed = np.zeros(width, U.dtype)  # huge while a free diagonal entry lies ahead
    for i in range(width):
        if first <= diagonal + i < n:
            passed[i] = huge
    free = np.zeros(width, U.dtype)  # the free diagonal entry is here
    for row in range(len(correlations)):
        t = first + row
        fixed = t - diagonal
        if 0 <= fixed < width:
            passed[fixed], free[fixed] = zero, huge
        for i in range(width):
            # after the last step nothing is ahead, not even rounding error
            ahead[i] -= np.float64(correlations[row, i])
            left[i] = U.dtype.type(ahead[i]) if t < n - 1 else zero
            target[i] = k[t] * min(max(q[t] * U[row, i], -t2), t2)
        for j in range(bands.size):
            band = bands[j]
            reach = band * U.dtype.type(n - 1 - t)
            total = zero
            for i in range(width):
                center = previous[j, i] - correlations[row, i]
                low = max(center - band - free[i], left[i] - reach - passed[i])
                high = min(center + band + free[i], left[i] + reach + passed[i])
                v = max(low, min(target[i], high))
                total += v * v
                worst_here[j, i] = max(worst_here[j, i], abs(center - v) - free[i])
                previous[j, i] = v
            squares[j, t] += total
            lanes[:] = zero
            for lane in range(0, width, LANES):
                for i in range(LANES):
                    lanes[i] = max(lanes[i], abs(previous[j, lane + i]))
            for i in range(4):  # in pairs, which depend on each other less than one after the other
                lanes[i] = max(max(lanes[i], lanes[i + 4]), max(lanes[i + 8], lanes[i + 12]))
            longest = max(max(lanes[0], lanes[1]), max(lanes[2], lanes[3]))
            largest[j, t] = max(largest[j, t], longest)
        if clipped.size > 0:
            for i in range(width):
                clipped[row, i] = previous[0, i]
        if 0 <= fixed < width:
            free[fixed] = zero
    if first + len(correlations) == n:
        for j in range(bands.size):
            for i in range(width):
                # v must end at zero, so whatever is left after the last step is excess too
                worst[j] = max(worst[j], worst_here[j, i] + abs(previous[j, i]))


@_compiled
def tighten_parts(
    U: Block, Q: Block, scaled: Block, q: Block, k: Block, c: Any, bands: Any, recordings: Any, ahead: Block,
    length: int, diagonal: int, width: int, share: Any, squares: Any, largest: Any, worst: Any, P: Block,
) -> None:  # fmt: skip
    """Tighten a range `share` (first, last, step) of parts of blocks, with ``X^T E = scaled @ Q^T``.

    A part has `width` atoms. ``recordings`` has the first step of each recording, then n, and ``ahead``
    (n_recordings, r) the sum of `scaled` over each. At most `length` steps are computed at a time. Adds the
    multiplier in the first band, in the coordinates of Q, to P (n, r), unless it is empty.
    """
    n_kept = length if P.size > 0 else 0
    clipped, product = np.empty((n_kept, width), U.dtype), np.empty((n_kept, Q.shape[2]), U.dtype)
    jumps, correlations = np.empty((length, width), U.dtype), np.empty((length, width), U.dtype)
    reached = np.empty((2 * bands.size, width), U.dtype)
    n_parts = U.shape[2] // width
    for part in range(share[0], share[1], share[2]):
        b, atom = part // n_parts, part % n_parts * width
        atoms = Q[b, atom : atom + width]
        for recording in range(recordings.size - 1):
            begin, end = recordings[recording], recordings[recording + 1]
            reached[:] = U.dtype.type(0)
            remaining = np.dot(atoms.astype(np.float64), ahead[recording])
            for first in range(begin, end, length):
                last = min(first + length, end)
                rows, some = correlations[: last - first], jumps[: last - first]
                np.dot(scaled[first:last], atoms.T, rows)
                if n_parts > 1:
                    some[:] = U[b, first:last, atom : atom + width]
                tighten(
                    some if n_parts > 1 else U[b, first:last], rows, q[begin:end], k[begin:end], c, bands,
                    first - begin, remaining, reached, diagonal + part * width - begin, clipped,
                    squares[:, begin:end], largest[:, begin:end], worst,
                )  # fmt: skip
                if P.size > 0:
                    add_product(clipped[: last - first], atoms, product[: last - first], P[first:last], False)
