r"""Recursions in time, cut into pieces that are followed at the same time, and joined exactly.

``x T = f`` with ``T = r1 I + r2 R R^T`` is solved by elimination from the last step,
``y_t = p_t (f_t + r2 y_{t+1})``, and substitution from the first, ``x_t = y_t + r2 p_t x_{t-1}``: two
first-order recursions. What a piece of time adds to them is linear in what enters it, so with

    head_k   y at the first step of piece k, as if nothing entered it
    tail_k   the elimination from the other end, at its last step, likewise

short recursions over the pieces yield what enters each. Both eliminations meet at every border between two
pieces, and there give x itself: ``x_e = (tail + across y_{e+1}) link``. Every piece then solves for its own
x, without a halo and for any penalties; how far the recursion remembers does not matter.

The pivots have a closed form. With ``q + 1/q = r1 / r2 + 2``, the elimination that has come j steps has the
pivot ``(r2 / q) (1 + q^(2j+3)) / (1 + q^(2j+1))``, less r2 where the path ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqspan._core.types import Array

LENGTH = 32  # steps of a piece, as in common.cu


@dataclass(frozen=True)
class Pieces:
    """What the device functions know of T_0, one number for each step or each piece.

    Parameters
    ----------
    backward, forward : arrays of shape (n,)
        Reciprocal pivots of the eliminations from the last step and from the first.
    weight : array of shape (n,)
        Of ``f_t`` in ``head`` of its piece.
    fade, forward_fade : arrays of shape (n_pieces,)
        What is left at one end of a piece of what entered the elimination at the other.
    across, link : arrays of shape (n_pieces,)
        For the border after each piece; the last has none.
    """

    backward: Array
    forward: Array
    weight: Array
    fade: Array
    forward_fade: Array
    across: Array
    link: Array


def inverse_pivots(n: int, shift: float, r2: float) -> Array:
    """Reciprocal pivots of ``shift I + r2 R R^T``, eliminated from the last step.

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
    """The tables for one pair of penalties, in double precision.

    Parameters
    ----------
    n : int, at least 2
    r1, r2 : float, positive
    length : int
        Steps of a piece; the last may have fewer.

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
