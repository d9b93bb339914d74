"""How far from the minimum a state of the fast solver is.

ADMM keeps the jumps of Z that should vanish only small, and their norms add up. J has exact zeros. So the
objective is also computed for the means of Z over the runs of time steps without a jump, and the lower one
counts. The lower bound is that of :class:`seqspan.models.certificate.DualPoint`. Its multiplier's columns are
sometimes longer than lam2 once they are tightened. On the way to a tight gap, the residual takes over what is
too long:

    X^T (e_t + g_t - g_{t-1}) - (v_{t-1} - X^T g_{t-1}) + (v_t - X^T g_t)

is the same for all g. Along ``g_t = X v_t`` a column becomes shorter with the smallest change of E.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.models.certificate import DualPoint
from seqspan.solvers.fast.steps import is_tight
from seqspan.solvers.fast.sweeps import HUGE, State, Sweeps

MAX_BAND_GAP = 0.1  # up to this gap a multiplier is always better off in a band


def certify(sweeps: Sweeps, s: State) -> tuple[float, float]:
    """Return the objective and a lower bound on the minimum; updates the state's gap."""
    value, bound = objective(sweeps, s), lower_bound(sweeps, s)
    s.gap = max(value - bound, 0.0) / value if value > 0 else 0.0
    return value, bound


def objective(sweeps: Sweeps, s: State) -> float:
    """The model's value at the shrunk V, or at its means over runs if that is lower."""
    absolute, (squares, entries, between), fitted = sweeps.evaluate(s)
    coupled = entries.sum() if sweeps.entrywise else np.sqrt(squares).sum()
    value, s.averaged = _value(sweeps, absolute[0], coupled, fitted), False
    starts = sweeps.run_starts(s)
    if starts is not None:
        of_means = _value(sweeps, absolute[1], np.sqrt(between).sum(), fitted, starts)
        value, s.averaged = min(value, of_means), of_means < value
    # means are no longer than what they are means of, so this bounds what they leave out, too
    return value + left_out_loss(sweeps, s)


def lower_bound(sweeps: Sweeps, s: State) -> float:
    """The dual value at ``E = X - XS`` and the tightened multiplier of J, in the best of a few bands."""
    model = sweeps.model
    scaled, linear, quadratic = _dual_residuals(sweeps, s.fitted)
    tight = is_tight(sweeps, s)
    # a band wider than the gap loses more by its scale than it can gain
    widths = [1.0] if tight else [1, 1 + s.gap / 6, 1 + s.gap / 2]
    if s.gap > MAX_BAND_GAP:
        widths.append(HUGE / model.lam1)  # no band at all
    bands = (np.array(widths) * model.lam1).astype(sweeps.dtype)
    squares, largest, worst, P = sweeps.tighten(s, scaled, bands, project=tight)
    lengths = largest if sweeps.entrywise else np.sqrt(squares)
    points = [DualPoint(linear, quadratic, *columns) for columns in zip(lengths, largest, worst, strict=True)]
    if tight:
        points.append(_shorten(sweeps, s, P, squares[0], largest[0], float(worst[0])))
    return max(point.bound(model.lam1, model.lam2) for point in points) + sweeps.data.outside


def _shorten(sweeps: Sweeps, s: State, P: Array, squares: Array, largest: Array, worst: float) -> DualPoint:
    """The dual point (E + G - G_before, V - X^T G), where G shortens the columns of V that are too long."""
    data, shares = sweeps.data, sweeps.shares()
    given = P, s.fitted, data.Y, data.sigma, squares, sweeps.model.lam2**2
    found = np.empty((4, sweeps.n))

    def fill(parts: range) -> None:
        for part in parts:
            sweeps.measures.shorten(*given, *shares[part : part + 2], found)

    sweeps.team.map(fill, len(shares) - 1)
    linear, quadratic, squares, moved = found
    # no entry of X^T g exceeds ||g|| times the norm of the longest atom
    return DualPoint(linear, quadratic, np.sqrt(squares), largest + moved * sweeps.longest_atom, worst)


def _dual_residuals(sweeps: Sweeps, fitted: Array) -> tuple[Array, Array, Array]:
    """``E^T X`` in the coordinates of Q, (n, r); ``<e, x>`` and ``||e||^2 / 2`` of every sample, (n,)."""
    data, shares = sweeps.data, sweeps.shares()
    scaled, linear, quadratic = np.empty_like(fitted), np.empty(sweeps.n), np.empty(sweeps.n)
    found = scaled, linear, quadratic

    def fill(parts: range) -> None:
        for part in parts:
            rows = shares[part : part + 2]
            sweeps.measures.dual_residuals(fitted, data.Y, data.sigma, *rows, *found)

    sweeps.team.map(fill, len(shares) - 1)
    return found


def _value(
    sweeps: Sweeps, absolute: float, coupled: float, fitted: Array, starts: IntArray | None = None
) -> float:
    """The model's value from ``||Z||_1``, the norm of ZR and ``Q^T Z``, without coordinates left out.

    With `starts`, the value at the means over the runs that begin there.
    """
    fit = _square_residuals(sweeps, fitted, starts) + sweeps.data.outside
    return float(fit + sweeps.model.lam1 * absolute + sweeps.model.lam2 * coupled)


def _square_residuals(sweeps: Sweeps, fitted: Array, starts: IntArray | None) -> float:
    """``||X - XZ||^2 / 2`` in the coordinates of Q, for Z or for its means over runs."""
    starts = np.arange(sweeps.n + 1) if starts is None else starts
    edges = np.searchsorted(starts, sweeps.shares())  # a run counts where it begins
    given = fitted, sweeps.data.Y, sweeps.data.sigma, starts

    def square(parts: range) -> float:
        parts_of_loss = (sweeps.measures.square_residuals(*given, *edges[part : part + 2]) for part in parts)
        return float(sum(parts_of_loss))

    return float(sum(sweeps.team.map(square, len(edges) - 1)))


def left_out_loss(sweeps: Sweeps, s: State) -> float:
    """Bound on the loss in coordinates that are left out."""
    if not sweeps.data.left_out[0]:
        return 0.0

    def square(blocks: range) -> float:
        return sum(float(np.sum(sweeps.split(s, b)[0] ** 2, dtype=float)) for b in blocks)

    return sweeps.data.left_out_loss(float(np.sqrt(sum(sweeps.team.map(square, sweeps.n_blocks)))))
