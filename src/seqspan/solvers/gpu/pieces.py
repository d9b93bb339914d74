r"""Recursions in time, cut into pieces that are solved in parallel and joined exactly.

``x T = f`` with ``T = r1 I + r2 R R^T`` is solved by elimination from the last step,
``y_t = p_t (f_t + r2 y_{t+1})``, and substitution from the first, ``x_t = y_t + r2 p_t x_{t-1}``: two
first-order recursions. The output of a piece is linear in its input, so with

    head_k   y at the first step of piece k, with zero input
    tail_k   the elimination from the other end, at the last step of piece k, with zero input

short recursions over the pieces yield the input of each piece. The two eliminations meet at every border
between pieces and give x there: ``x_e = (tail + across y_{e+1}) link``. Every piece then solves for its own
x, without a halo and for any penalties, no matter how long the memory of the recursion is.

The pivots have a closed form. With ``q + 1/q = r1 / r2 + 2``, the pivot after j steps of elimination is
``(r2 / q) (1 + q^(2j+3)) / (1 + q^(2j+1))``, minus r2 at the end of the path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqspan._core.types import Array

LENGTH = 32  # time steps per piece, as in common.cu


@dataclass(frozen=True)
class Pieces:
    """Tables for T_0 that the device functions use: one number per step or per piece.

    Parameters
    ----------
    backward, forward : arrays of shape (n,)
        Reciprocal pivots of the eliminations from the last step and from the first.
    weight : array of shape (n,)
        Weight of ``f_t`` in the ``head`` of its piece.
    fade, forward_fade : arrays of shape (n_pieces,)
        Factor by which the input of an elimination has decayed at the other end of a piece.
    across, link : arrays of shape (n_pieces,)
        Factors for the border after each piece; the last piece has none.
    """

    backward: Array
    forward: Array
    weight: Array
    fade: Array
    forward_fade: Array
    across: Array
    link: Array


def inverse_pivots(n: int, shift: float, r2: float) -> Array:
    """Reciprocal pivots of ``shift I + r2 R R^T``, eliminated from the last step back.

    Parameters
    ----------
    n : int, at least 2
    shift, r2 : float, positive

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> inverse_pivots(2, 1.0, 1.0)  # of [[2, -1], [-1, 2]]: 1 / (2 - 1/2) and 1/2
    array([0.66666667, 0.5       ])
    """
    q = 2 * r2 / (shift + 2 * r2 + np.sqrt(shift * (shift + 4 * r2)))
    power = q ** (2.0 * np.arange(n - 1, -1, -1) + 1)
    pivots = r2 / q * (1 + power * q * q) / (1 + power)
    pivots[0] -= r2
    return np.asarray(1 / pivots)


def cut_into_pieces(n: int, r1: float, r2: float, length: int = LENGTH) -> Pieces:
    """Compute the tables for one pair of penalties, in double precision.

    Parameters
    ----------
    n : int, at least 2
    r1, r2 : float, positive
    length : int
        Time steps per piece; the last may have fewer.

    Returns
    -------
    Pieces
    """
    backward = inverse_pivots(n, r1, r2)
    forward = backward[::-1]  # a path read backwards is the same path
    padding = -n % length
    ratios = np.pad(r2 * backward, (0, padding), constant_values=1).reshape(-1, length)
    forward_ratios = np.pad(r2 * forward, (0, padding), constant_values=1).reshape(-1, length)
    passed = np.cumprod(ratios, axis=1)
    entered = np.hstack([np.ones((len(ratios), 1)), passed[:, :-1]])
    across = np.append(forward_ratios[:-1, -1], 0)
    link = 1 / (1 - across * np.append(ratios[1:, 0], 0))
    return Pieces(
        backward=backward,
        forward=forward,
        weight=entered.ravel()[:n] * backward,
        fade=np.asarray(passed[:, -1], dtype=float),
        forward_fade=np.prod(forward_ratios, axis=1),
        across=across,
        link=link,
    )
