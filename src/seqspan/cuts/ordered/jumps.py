"""Jumps: hard cuts in the data, where one step is far longer than those around it and the change stays."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from seqspan._core.types import Array, IntArray

REACH = 8  # steps on either side that a jump is compared with
MIN_SHARPNESS = 3.0  # length of a jump, in units of the longest of these steps
MIN_STEP = 0.05  # of the spread of all samples; steps nearby count as no shorter, since at rest they are 0
MIN_SHIFT = 0.5  # of the jump's length, by which the medians before and after it must differ


def find_jumps(X: Array) -> tuple[IntArray, Array]:
    """Find where consecutive samples differ much more than any others nearby.

    The step ``||x_t - x_{t-1}||`` is a jump if it is at least three times as long as each of the eight steps
    before and after it, if it is at least 15 % of the root mean square distance of samples from their mean,
    and if the medians of the eight samples on either side differ by at least half of it, so that a single
    outlier is no jump. The cuts of a film are such jumps; motion has none.

    Parameters
    ----------
    X : array of shape (d, n)

    Returns
    -------
    starts : array of int
        The first samples after the jumps, ascending.
    sharpness : array of float
        Length of each jump, in units of the longest other step nearby.

    Examples
    --------
    >>> X = np.repeat([[0.0, 1.0]], 10, axis=1) + 0.01 * np.sin(np.arange(20))
    >>> find_jumps(X)[0]
    array([10])
    """
    n = X.shape[1]
    if n < 2 * REACH:
        return np.empty(0, dtype=np.intp), np.empty(0)
    lengths = np.linalg.norm(np.diff(X, axis=1), axis=0)  # entry t is the step that arrives at sample t + 1
    padded = np.pad(lengths, REACH)
    windows = sliding_window_view(padded, REACH).max(axis=1)
    nearby = np.maximum(windows[: n - 1], windows[REACH + 1 :])
    spread = np.sqrt(np.sum(np.var(X, axis=1, dtype=np.float64)))
    sharpness = lengths / np.maximum(nearby, max(MIN_STEP * spread, np.finfo(float).tiny))
    # A step near an end has fewer steps to be compared with; that does not make it a jump.
    inner = (np.arange(n - 1) >= REACH - 1) & (np.arange(n - 1) <= n - 1 - REACH)
    starts = np.flatnonzero((sharpness >= MIN_SHARPNESS) & inner) + 1
    stays = [_shift(X, int(t)) >= MIN_SHIFT * lengths[t - 1] for t in starts]
    starts = starts[np.array(stays, dtype=bool)]
    return starts, sharpness[starts - 1]


def _shift(X: Array, start: int) -> float:
    """Distance between the medians of the samples on either side."""
    before = np.median(X[:, start - REACH : start], axis=1)
    after = np.median(X[:, start : start + REACH], axis=1)
    return float(np.linalg.norm(after - before))
