"""Surrogates: recordings as smooth as a given one in which nothing changes."""

from __future__ import annotations

import numpy as np

from seqspan._core.backend import namespace
from seqspan._core.types import Array


def draw_each(rows: Array, parts: list[slice], seed: int) -> Array:
    """Draw a surrogate of every recording.

    Examples
    --------
    >>> draw_each(np.ones((6, 2)), [slice(0, 4), slice(4, 6)], seed=0).shape
    (6, 2)
    """
    rng = np.random.default_rng(seed)
    drawn: Array = namespace(rows).concatenate([draw_surrogate(rows[part], rng) for part in parts])
    return drawn


def draw_surrogate(rows: Array, rng: np.random.Generator) -> Array:
    """Draw a stationary recording with the same mean, spectra and cross-spectra [Theiler et al. 1992].

    The recording is followed by its mirror image before its phases are drawn: the jump from its end to its
    start would make the surrogate rougher than it is.

    Examples
    --------
    >>> rows = np.cumsum(np.random.default_rng(0).standard_normal((500, 2)), axis=0)
    >>> drawn = draw_surrogate(rows, np.random.default_rng(1))
    >>> [float(np.diff(each, axis=0).std().round(1)) for each in (rows, drawn)]
    [1.0, 1.0]
    """
    n, mean, xp = len(rows), rows.mean(axis=0), namespace(rows)
    spectrum = xp.fft.rfft(xp.concatenate([rows, rows[::-1]]) - mean, axis=0)
    phases = rng.uniform(0, 2 * np.pi, len(spectrum))
    phases[[0, -1]] = 0  # the mean and the highest frequency are real
    drawn = xp.fft.irfft(spectrum * xp.asarray(np.exp(1j * phases))[:, None], n=2 * n, axis=0)
    surrogate: Array = drawn[:n] + mean
    return surrogate
