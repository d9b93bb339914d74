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
    """Draw a recording with nearly the same spectra and cross-spectra, in which nothing changes.

    The cosine transform of a stationary recording has coefficients that are hardly correlated, and those of
    neighbouring frequencies vary alike. So neither their signs nor how two neighbours share their energy says
    anything, if nothing changes: signs are drawn, and pairs of neighbours are rotated by random angles.
    Cosines have no jump from the end to the start, which would make surrogates rougher than the recording.

    Examples
    --------
    >>> rows = np.cumsum(np.random.default_rng(0).standard_normal((500, 2)), axis=0)
    >>> drawn = draw_surrogate(rows, np.random.default_rng(1))
    >>> [float(np.diff(each, axis=0).std().round(1)) for each in (rows, drawn)]
    [1.0, 1.0]
    """
    n, mean, xp = len(rows), rows.mean(axis=0), namespace(rows)
    # the cosine transform is the Fourier transform of a recording and its mirror image, half a step later
    turns = xp.exp(0.5j * np.pi / n * xp.arange(n))[:, None]
    spectrum = xp.fft.rfft(xp.concatenate([rows, rows[::-1]]) - mean, axis=0)
    waves = (spectrum[:n] / turns).real * xp.asarray(rng.choice([-1.0, 1.0], n))[:, None]
    first = int(rng.integers(1, 3))  # the mean stays, and a frequency has either neighbour for its partner
    lower, upper = slice(first, n - 1, 2), slice(first + 1, n, 2)
    angles = xp.asarray(rng.uniform(0, 2 * np.pi, len(range(n)[lower])))[:, None]
    cosines, sines = xp.cos(angles), xp.sin(angles)
    waves[lower], waves[upper] = (
        cosines * waves[lower] - sines * waves[upper],
        sines * waves[lower] + cosines * waves[upper],
    )
    surrogate: Array = xp.fft.irfft(waves * turns, n=2 * n, axis=0)[:n] + mean
    return surrogate
