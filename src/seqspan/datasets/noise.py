"""Noise of a given strength."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqspan._core.types import Array


def add_noise(A: npt.ArrayLike, psnr: float | None, *, rng: np.random.Generator | int | None = None) -> Array:
    """Add Gaussian noise so that the peak signal-to-noise ratio is exactly `psnr`.

    ``X = A + c G`` with G standard normal, ``c^2 = s^2 10^(-psnr / 10) / mean(G_ij^2)`` and
    ``s = max |A_ij|``. So the ratio of this very draw, not only its expectation, is `psnr` up to rounding
    (see :func:`seqspan.metrics.psnr`).

    Parameters
    ----------
    A : array of shape (d, n)
        Clean data with at least one non-zero entry. It is not changed.
    psnr : float or None
        In decibels; lower is noisier. None or infinity adds nothing.
    rng : numpy.random.Generator, int or None
        Source of randomness, or a seed for one.

    Returns
    -------
    X : array of shape (d, n)
        A new array with the data type of A if that is floating point, else float64.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, Eq. PSNR.

    Examples
    --------
    >>> from seqspan.metrics import psnr
    >>> A = np.linspace(0, 1, 12).reshape(3, 4)
    >>> print(f"{psnr(A, add_noise(A, 20, rng=0)):.6f}")
    20.000000
    """
    A = np.asarray(A)
    X = A.astype(A.dtype if np.issubdtype(A.dtype, np.floating) else np.float64)  # always a copy
    if psnr is None or psnr == np.inf:
        return X
    peak = float(np.abs(X).max(initial=0))
    if not np.isfinite(psnr) or not 0 < peak < np.inf:
        raise ValueError(
            f"psnr must be finite or None, and A finite and not all zero; got psnr={psnr} and max|A|={peak}."
        )
    noise = np.random.default_rng(rng).standard_normal(X.shape)
    root_mean_square = float(np.sqrt(np.mean(noise**2)))
    X += noise * (peak * 10 ** (-psnr / 20) / root_mean_square)
    return X
