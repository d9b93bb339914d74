"""Lower bounds on a model's minimum, from any pair (E, V).

The dual of ``min loss(X - XZ) + penalty(Z) + coupling(ZD)`` is

    max  <E, X> - loss*(E) - penalty*(X^T E - V D^T) - coupling*(V).

Conjugates are quadratics on balls (:mod:`seqspan.models.terms`), so along ``s (E, V)`` the dual value is a
parabola that ends at the edge of a ball. The best s has a closed form, and any (E, V) yields a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from seqspan._core.spans import part_slices
from seqspan._core.types import Array, IntArray

if TYPE_CHECKING:
    from seqspan.models import Model

#: Band widths, as multiples of the l1 ball's radius, that :func:`tighten` is tried with. Near the optimum 1
#: is best. Before that, a wider band trades a little of the scale for shorter columns of V.
BANDS = (1.0, 1.001, 1.003, 1.01, 1.03, 1.1)


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
