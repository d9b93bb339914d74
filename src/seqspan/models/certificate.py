"""Lower bounds on a model's minimum, from any pair (E, V).

The dual of ``min loss(X - XZ) + penalty(Z) + coupling(ZD)`` is

    max  <E, X> - loss*(E) - penalty*(X^T E - V D^T) - coupling*(V).

Conjugates are quadratics on balls (:mod:`seqspan.models.terms`), so along ``s (E, V)`` the dual value is a
parabola that ends at the edge of a ball. The best s has a closed form, and any (E, V) yields a bound. If D
couples neighbours in time, time steps may also have scales of their own: see :class:`DualPoint`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seqspan._core.spans import part_slices
from seqspan._core.types import Array, IntArray

if TYPE_CHECKING:
    from seqspan.models import Model
    from seqspan.models.objectives import _PathModel

#: Band widths, as multiples of the l1 ball's radius, that :func:`tighten` is tried with. Near the optimum 1
#: is best. Before that, a wider band trades a little of the scale for shorter columns of V.
BANDS = (1.0, 1.001, 1.003, 1.01, 1.03, 1.1)
TINY = 1e-30  # smallest denominator
FASTEST_DECAY = 1e-16  # of a scale's distance from one, per time step; it keeps logarithms finite


def scaled_bound(model: Model, X: Array, E: Array, V: Array | None, atoms: Array | None = None) -> float:
    """Evaluate the dual at the best scaling of (E, V): one factor, or one per column if there is no coupling.

    Parameters
    ----------
    model : Model
    X, E : arrays of shape (d, n)
    V : array of the shape of Z D, or None without coupling
    atoms : array of shape (d, m), default X
        The atoms that represent the samples.

    Returns
    -------
    float
    """
    M = (X if atoms is None else atoms).T @ E
    if model.coupling is not None and V is not None:
        M = M - model.coupling.operator.adjoint(V)
    limit = np.minimum(model.loss.limit(E), model.penalty.limit(M))
    linear = np.sum(E * X, axis=0)
    quadratic = model.loss.conjugate(E) + model.penalty.conjugate(M)
    if model.coupling is not None and V is not None:
        # a graph without edges sets no limit
        limit = np.minimum(limit.min(), model.coupling.term.limit(V).min(initial=np.inf))
        linear, quadratic = linear.sum(), quadratic.sum()
    return float(np.sum(parabola_top(linear, quadratic, limit)))


def parabola_top(linear: Array, quadratic: Array, limit: Array) -> Array:
    """Maximise ``s * linear - s^2 * quadratic`` over ``0 <= s <= limit``.

    Parameters
    ----------
    linear, quadratic, limit : arrays of one shape, quadratic and limit non-negative

    Returns
    -------
    array of that shape
        The maxima; zero if the limit is infinite and the quadratic coefficient is zero.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        top = np.where(quadratic > 0, linear / (2 * quadratic), np.inf)
    s = np.clip(np.minimum(top, limit), 0, None)
    s = np.where(np.isfinite(s) & (linear > 0), s, 0.0)
    return np.asarray(s * (linear - s * quadratic))  # s**2 would overflow when a tiny E is scaled up


@dataclass(frozen=True)
class DualPoint:
    """A pair (E, V) of a model that couples neighbours in time, reduced to what its bound depends on.

    With one scale for all time steps, the longest column of V decides. With a scale for each, a column that
    is too long costs only its neighbourhood. A scale tau_t must shorten column t of V to lam2. Suppose that
    ``m_t = X^T e_t - v_{t-1} + v_t`` is within lam1, and that e_t gets the smaller of the scales before and
    after it, say tau_{t-1}. Then m_t becomes ``tau_{t-1} m_t + (tau_t - tau_{t-1}) v_t``. So it stays within
    lam1 if tau grows by at most ``(1 - tau_{t-1}) lam1 / max |v_t|``, and in the same way backwards in time.

    Parameters
    ----------
    linear, quadratic : arrays of shape (n,)
        ``<e_t, x_t>`` and ``||e_t||^2 / 2`` for the columns of E.
    lengths, largest : arrays of shape (n,)
        Norms of the columns of V, in the dual norm of the coupling, and their largest entries. Column t lies
        between the samples t and t + 1, so the last one is zero, and those between two recordings are too.
    worst : float
        Largest entry of ``|X^T E - V R^T|``.

    Examples
    --------
    >>> e, lengths = np.ones(5), np.array([0.5, 2.0, 0.5, 0.5, 0.0])  # the second column is too long
    >>> point = DualPoint(linear=e, quadratic=e / 2, lengths=lengths, largest=lengths, worst=1.0)
    >>> round(point.bound(lam1=1.0, lam2=1.0), 6)  # with one scale for all steps it would be 1.875
    2.25
    """

    linear: Array
    quadratic: Array
    lengths: Array
    largest: Array
    worst: float

    def bound(self, lam1: float, lam2: float) -> float:
        """The better of the bounds with one scale for all time steps and with a scale for each."""
        limit = min(lam1 / max(self.worst, TINY), lam2 / max(self.lengths.max(), TINY))
        one = parabola_top(self.linear.sum(), self.quadratic.sum(), np.asarray(limit))
        scale = min(lam1 / max(self.worst, TINY), 1.0)
        scales = scale * self._row_scales(lam1 / scale, lam2 / scale)
        linear, quadratic = scales @ self.linear, scales**2 @ self.quadratic
        return float(max(one, parabola_top(linear, quadratic, np.asarray(1.0))))

    def _row_scales(self, lam1: float, lam2: float) -> Array:
        """Scales of the columns of E, if ``|X^T E - V R^T|`` is within lam1."""
        lost = np.maximum(1 - lam2 / np.maximum(self.lengths, TINY), 0)
        kept = np.log(np.clip(1 - lam1 / np.maximum(self.largest, TINY), FASTEST_DECAY, 1))
        lost = spread_in_time(lost, kept)
        return np.asarray(1 - np.maximum(lost, np.append(0.0, lost[:-1])))


def spread_in_time(values: Array, rates: Array) -> Array:
    """Raise ``values_t`` to at least ``values_{t-1} exp(rates_t)`` and ``values_{t+1} exp(rates_t)``.

    Parameters
    ----------
    values : array of shape (n,), non-negative
    rates : array of shape (n,), not positive

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> spread_in_time(np.array([0.0, 0.0, 8.0, 1.0]), np.log(np.full(4, 0.5))).round(6)
    array([2., 4., 8., 4.])
    """
    return np.maximum(_spread_forwards(values, rates), _spread_forwards(values[::-1], rates[::-1])[::-1])


def _spread_forwards(values: Array, rates: Array) -> Array:
    """The same in one direction."""
    total = np.cumsum(rates)
    return np.asarray(np.exp(np.maximum.accumulate(np.log(np.maximum(values, TINY)) - total) + total))


def stepwise_bound(model: _PathModel, X: Array, E: Array, V: Array, atoms: Array) -> float:
    """Evaluate the dual at the best of one scale for all time steps and a scale for each.

    Parameters
    ----------
    model : Osc or SpatSc
    X, E : arrays of shape (d, n)
    V : array of the shape of Z R
    atoms : array of shape (d, m)

    Returns
    -------
    float
    """
    lengths, largest = np.zeros((2, X.shape[1]))
    # between two recordings, and after the last sample, V has no column
    coupled = np.setdiff1d(np.arange(X.shape[1] - 1), np.array(model.joins, dtype=np.intp) - 1)
    lengths[coupled] = model.lam2 / model.coupling.term.limit(V)
    largest[coupled] = np.abs(V).max(axis=0, initial=0)
    M = atoms.T @ E - model.coupling.operator.adjoint(V)
    worst = float(model.lam1 / model.penalty.limit(M).min())
    point = DualPoint(np.sum(E * X, axis=0), np.sum(E * E, axis=0) / 2, lengths, largest, worst)
    return point.bound(model.lam1, model.lam2)


def tighten(
    correlations: Array, V: Array, band: float, zero_diagonal: bool, joins: Sequence[int] = ()
) -> Array:
    """Move V as little as needed, step by step in time, until ``|X^T E - V R^T| <= band``.

    The single worst entry of a dual point sets its scale. Clipping fixes only the entries that exceed the
    band and makes the columns of V slightly longer. That costs in the 2-norm of whole columns instead of a
    maximum over n^2 entries. With ``c = X^T E`` and ``v_0 = v_n = 0``, entry j of a row must satisfy
    ``v_{j-1} - v_j in [c_j - band, c_j + band]``, and v_n = 0 must stay within reach. Where another
    recording begins, v is zero too.

    Parameters
    ----------
    correlations : array of shape (m, n)
        ``X^T E``.
    V : array of shape (m, n - 1 - n_joins)
    band : float
    zero_diagonal : bool
        Whether the diagonal of Z is fixed at zero. Its entries are then unbounded in the dual.
    joins : sequence of int
        Columns at which another recording begins.

    Returns
    -------
    array of the shape of V

    Examples
    --------
    >>> c, V = np.array([[0.5, -0.5]]), np.array([[0.0]])
    >>> tighten(c, V, 0.4, zero_diagonal=False)
    array([[-0.1]])
    """
    tightened = []
    for place, part in enumerate(part_slices(joins, correlations.shape[1])):
        own = V[:, part.start - place : part.stop - place - 1]  # one column less for each earlier part
        diagonal = np.arange(len(V)) - part.start if zero_diagonal else None
        tightened.append(_tighten_part(correlations[:, part], own, band, diagonal))
    return np.concatenate(tightened, axis=1)


def _tighten_part(correlations: Array, V: Array, band: float, diagonal: IntArray | None) -> Array:
    """The same within one recording; `diagonal` is the column, if any, in which each row is free."""
    m, n = correlations.shape
    tightened = np.empty_like(V)
    previous = np.zeros(m, dtype=V.dtype)
    ahead = correlations.sum(axis=1)  # sum of c over the columns still to come
    for j in range(n - 1):
        c = correlations[:, j]
        ahead = ahead - c
        reach = np.full(m, band * (n - 1 - j))
        width = np.full(m, band)
        if diagonal is not None:
            reach[(diagonal > j) & (diagonal < n)] = np.inf  # the free entry ahead absorbs anything
            width[diagonal == j] = np.inf
        low = np.maximum(previous - c - width, ahead - reach)
        high = np.minimum(previous - c + width, ahead + reach)
        previous = np.maximum(low, np.minimum(V[:, j], high))
        tightened[:, j] = previous
    return tightened
