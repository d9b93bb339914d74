"""How sure a boundary is: how often it stays where it is when the coefficients are resampled.

This measures stability, not the probability that the boundary is right.
"""

from __future__ import annotations

import numpy as np

from seqspan._types import Array, IntArray

N_TRIALS = 50
MAX_ROWS = 256  # resampled in a trial; bounds the cost at n * MAX_ROWS * N_TRIALS, far below a solve
REACH = 20  # columns looked at on either side; further away, drift inside a span outweighs a sharp boundary
MARGIN = 2


def boundary_confidence(
    Z: Array, boundaries: IntArray, rng: np.random.Generator, *, margin: int = MARGIN
) -> Array:
    r"""Share of resamplings of the rows of Z in which each boundary is found again.

    The columns around the boundary b, 20 on either side but no more than half of the span there, are
    split in two where this leaves the least scatter: at the c that maximises
    ``l r / (l + r) ||mean(left) - mean(right)||^2``, with l and r columns on the two sides. A
    trial draws rows of Z (the samples that represent the others) with replacement; the
    boundary is found again if ``|c - b| <= margin``.

    Parameters
    ----------
    Z : array of shape (m, n)
        Column j holds the coefficients of sample j. Columns are compared by direction.
    boundaries : array of int, shape (p,)
        Interior starts, ascending.
    rng : numpy.random.Generator
    margin : int
        In samples.

    Returns
    -------
    confidence : array of shape (p,)
        In [0, 1].

    Examples
    --------
    >>> Z = np.kron(np.eye(2), np.ones((10, 10)))
    >>> boundary_confidence(Z, np.array([10]), np.random.default_rng(0))
    array([1.])
    >>> noise = np.random.default_rng(0).standard_normal((40, 40))
    >>> bool(boundary_confidence(noise, np.array([20]), np.random.default_rng(0))[0] < 0.5)
    True
    """
    edges = np.concatenate([[0], boundaries, [Z.shape[1]]])
    middles = (edges[:-1] + edges[1:]) // 2
    first = np.maximum(middles[:-1], boundaries - REACH)
    last = np.minimum(middles[1:] + 1, boundaries + REACH)
    found = np.zeros(len(boundaries))
    norms = np.maximum(np.linalg.norm(Z, axis=0), np.finfo(Z.dtype).tiny)
    for _ in range(N_TRIALS):
        rows = np.sort(rng.integers(Z.shape[0], size=min(MAX_ROWS, Z.shape[0])))
        directions = Z[rows] / norms
        splits = [best_split(directions[:, i:j]) for i, j in zip(first, last, strict=True)]
        found += np.abs(first + np.array(splits, dtype=int) - boundaries) <= margin
    return found / N_TRIALS


def best_split(columns: Array) -> int:
    """Number of columns before the split that leaves the least scatter on both sides.

    Examples
    --------
    >>> best_split(np.array([[1.0, 1.0, 1.0, 0.0]]))
    3
    """
    n = int(columns.shape[1])
    if n < 2:
        return n
    sums = np.cumsum(columns, axis=1, dtype=np.float64)
    left = np.arange(1, n)
    # the difference of the two means, from the sums over the left side alone
    difference = sums[:, :-1] - sums[:, -1:] * (left / n)
    gain: Array = np.sum(difference**2, axis=0) * n / (left * (n - left))
    return 1 + int(gain.argmax())
