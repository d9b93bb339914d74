"""Surrogates: what a recording would look like if nothing changed in it but chance.

A surrogate has the spectrum of the recording, so it is as smooth, and its features are correlated alike. Only
the phases are drawn at random.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array


def draw_surrogate(rows: Array, rng: np.random.Generator) -> Array:
    """Draw a stationary recording with the same mean, spectra and cross-spectra.

    The recording is followed by its mirror image before its phases are randomised [Theiler et al. 1992].
    Without it, the jump from its end to its start would make the surrogate rougher than the recording.

    Parameters
    ----------
    rows : array of shape (n, p)
    rng : numpy.random.Generator

    Returns
    -------
    array of shape (n, p)

    Examples
    --------
    >>> rows = np.cumsum(np.random.default_rng(0).standard_normal((500, 2)), axis=0)
    >>> drawn = draw_surrogate(rows, np.random.default_rng(1))
    >>> steps = [float(np.diff(each, axis=0).std().round(1)) for each in (rows, drawn)]
    >>> drawn.shape, steps
    ((500, 2), [1.0, 1.0])
    """
    n, mean = len(rows), rows.mean(axis=0)
    spectrum = np.fft.rfft(np.concatenate([rows, rows[::-1]]) - mean, axis=0)
    phases = rng.uniform(0, 2 * np.pi, len(spectrum))
    phases[[0, -1]] = 0  # the mean and the highest frequency are real
    drawn = np.fft.irfft(spectrum * np.exp(1j * phases)[:, None], n=2 * n, axis=0)
    surrogate: Array = drawn[:n] + mean
    return surrogate
