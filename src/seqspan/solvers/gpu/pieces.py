r"""Recursions in time, cut into pieces that are solved in parallel and joined exactly.

``x T = f`` with ``T = r1 I + r2 R R^T`` is solved by elimination from the last step,
``y_t = p_t (f_t + r2 y_{t+1})``, and substitution from the first, ``x_t = y_t + r2 p_t x_{t-1}``: two
first-order recursions. The output of a piece is linear in its input, so with

    head_k   y at the first step of piece k, with zero input
    tail_k   the elimination from the other end, at the last step of piece k, with zero input

short recursions over the pieces yield the input of each piece. The two eliminations meet at every border
between pieces and give x there: ``x_e = (tail + across y_{e+1}) link``. Every piece then solves for its own
x, without a halo and for any penalties, no matter how long the memory of the recursion is.

Several recordings are several systems: the coupling r2 is zero between them. All recursions are then
``y_t = p_t f_t + (r2 p_t) y_{t+1}``, with factors that are zero where a recording ends.

The pivots have a closed form. With ``q + 1/q = r1 / r2 + 2``, the pivot after j steps of elimination is
``(r2 / q) (1 + q^(2j+3)) / (1 + q^(2j+1))``, minus r2 at the end of the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqspan._core.spans import part_slices
from seqspan._core.types import Array
from seqspan.solvers.fast.coarse import pair_starts

LENGTH = 32  # time steps per piece, as in common.cu


@dataclass(frozen=True)
class Steps:
    """Where every time step lies in its recording: integers of shape (n,), on the host or on a GPU.

    Parameters
    ----------
    before, after : arrays of int32
        Number of steps of its recording before and after each step.
    recording, pair : arrays of int32
        Number of its recording, and of the pair that :func:`seqspan.solvers.fast.coarse.halve` averages.
    """

    before: Any
    after: Any
    recording: Any
    pair: Any


def number_steps(n: int, joins: Sequence[int], xp: Any = np) -> Steps:
    """Find the place of every time step in its recording.

    Parameters
    ----------
    n : int
    joins : sequence of int
        Steps at which another recording begins.
    xp : module
        Whose arrays are returned.

    Returns
    -------
    Steps

    Examples
    --------
    >>> steps = number_steps(5, (3,))
    >>> steps.before.tolist(), steps.after.tolist(), steps.pair.tolist()
    ([0, 1, 2, 0, 1], [2, 1, 0, 1, 0], [0, 0, 1, 2, 2])
    """
    parts = part_slices(joins, n)
    lengths = np.array([part.stop - part.start for part in parts])
    first = np.repeat([part.start for part in parts], lengths)
    before = np.arange(n) - first
    after = np.repeat(lengths, lengths) - 1 - before
    recording = np.repeat(np.arange(len(parts)), lengths)
    pair = np.searchsorted(pair_starts(n, joins), np.arange(n), side="right") - 1
    return Steps(*(xp.asarray(each.astype(np.int32)) for each in (before, after, recording, pair)))


@dataclass(frozen=True)
class Pieces:
    """Tables for T_0 that the device functions use: one number per step or per piece.

    Parameters
    ----------
    backward, forward : arrays of shape (n,)
        Reciprocal pivots of the eliminations from the last step and from the first.
    eliminate, carry : arrays of shape (n,)
        The same times the coupling to the step eliminated before: the next one, or the previous one.
    substitute : array of shape (n,)
        ``backward`` times the coupling to the previous step.
    coupling : array of shape (n,)
        Coupling to the next step: r2, or zero where a recording ends.
    weight : array of shape (n,)
        Weight of ``f_t`` in the ``head`` of its piece.
    fade, forward_fade : arrays of shape (n_pieces,)
        Factor by which the input of an elimination has decayed at the other end of a piece.
    across, link : arrays of shape (n_pieces,)
        Factors for the border after each piece; the last piece has none.
    """

    backward: Array
    forward: Array
    eliminate: Array
    carry: Array
    substitute: Array
    coupling: Array
    weight: Array
    fade: Array
    forward_fade: Array
    across: Array
    link: Array


def inverse_pivots(steps: Steps, shift: float, r2: float) -> Array:
    """Reciprocal pivots of ``shift I + r2 R R^T``, eliminated from the last step of each recording back.

    Parameters
    ----------
    steps : Steps
    shift, r2 : float, positive

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> inverse_pivots(number_steps(2, ()), 1.0, 1.0)  # of [[2, -1], [-1, 2]]: 1 / (2 - 1/2) and 1/2
    array([0.66666667, 0.5       ])
    """
    return _invert(steps.after, steps.before == 0, shift, r2)


def _invert(passed: Array, ends: Array, shift: float, r2: float) -> Array:
    """Reciprocal pivots after so many steps of elimination; `ends` at the end of a path."""
    q = 2 * r2 / (shift + 2 * r2 + np.sqrt(shift * (shift + 4 * r2)))
    power = q ** (2.0 * passed + 1)
    pivots = r2 / q * (1 + power * q * q) / (1 + power) - np.where(ends, r2, 0)
    return np.asarray(1 / pivots)


def cut_into_pieces(steps: Steps, r1: float, r2: float, length: int = LENGTH) -> Pieces:
    """Compute the tables for one pair of penalties, in double precision.

    Parameters
    ----------
    steps : Steps
    r1, r2 : float, positive
    length : int
        Time steps per piece; the last may have fewer.

    Returns
    -------
    Pieces
    """
    n = len(steps.after)
    backward = inverse_pivots(steps, r1, r2)
    forward = _invert(steps.before, steps.after == 0, r1, r2)
    coupling = np.where(steps.after > 0, r2, 0.0)
    earlier = np.append(0.0, coupling[:-1])
    padding = -n % length
    ratios = np.pad(coupling * backward, (0, padding), constant_values=1).reshape(-1, length)
    forward_ratios = np.pad(earlier * forward, (0, padding), constant_values=1).reshape(-1, length)
    passed = np.cumprod(ratios, axis=1)
    entered = np.hstack([np.ones((len(ratios), 1)), passed[:, :-1]])
    lasts, firsts = np.arange(length - 1, n - 1, length), np.arange(length, n, length)
    across = np.append(coupling[lasts] * forward[lasts], 0)
    link = 1 / (1 - across * np.append(earlier[firsts] * backward[firsts], 0))
    return Pieces(
        backward=backward,
        forward=forward,
        eliminate=coupling * backward,
        carry=earlier * forward,
        substitute=earlier * backward,
        coupling=coupling,
        weight=entered.ravel()[:n] * backward,
        fade=np.asarray(passed[:, -1], dtype=float),
        forward_fade=np.prod(forward_ratios, axis=1),
        across=across,
        link=link,
    )
