"""From affinities W and a number of subspaces to labels."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import namespace
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray
from seqspan.cuts.spectral.affinity import SharedAffinity
from seqspan.cuts.spectral.spectrum import GUARD, checked_affinity, degrees, leading_eigenpairs, multiply

SHARED_RESIDUAL = 1e-3  # of eigenvectors: labels are read off them, and products are in single precision
LINK = 0.01  # weight of the tie between neighbours in time, in units of the mean degree


def normalised_cut(
    W: npt.ArrayLike | SharedAffinity,
    n_subspaces: int,
    *,
    rng: np.random.Generator | int | None = None,
    n_starts: int = 10,
    link: float = LINK,
    offset: float = 0.0,
) -> IntArray:
    """Label samples so that little affinity is cut, relative to what each group has in all.

    Seeks the labels that minimise ``sum_c cut(c, rest) / assoc(c, all)`` in the relaxed form of Shi & Malik:
    the leading eigenvectors of ``D^-1/2 W D^-1/2``, rows scaled to length one, are turned by the
    rotation that brings them nearest to indicator vectors (Yu & Shi). That search is started
    `n_starts` times, and of the results the one with the smallest cut is kept.

    Neighbours in time are tied by a weight of 1 % of the mean degree. It is too weak to move a
    boundary that W shows, but decides where W is silent: a sample without any affinity follows its
    neighbours, and of a graph in more pieces than subspaces, pieces that touch in time are joined.

    Parameters
    ----------
    W : array of shape (n, n)
        Symmetric, non-negative affinities, samples in the order of time. It is neither changed nor copied.
    n_subspaces : int
        Number of distinct labels, in [1, n].
    rng : numpy.random.Generator, int or None
        Source of randomness for the starts, or a seed for one. The same seed gives the same labels.
    n_starts : int
    link : float, positive
        Weight of the tie between neighbours in time, in units of the mean degree. As good as zero, 1e-9
        say, gives the plain cut, which knows nothing of the order but where W is silent.
    offset : float
        Added to the diagonal of W, and twice to the degrees, for the eigenvectors alone: a regularisation.
        The cut that Cour, Yu & Shi published as MATLAB code has 0.5, whatever the scale of W.

    Returns
    -------
    labels : array of int, shape (n,)
        Exactly the numbers 0 to ``n_subspaces - 1``, in the order of their first appearance.

    Warns
    -----
    ConvergenceWarning
        If the eigenvectors of a large W can't be told apart to the accuracy needed.

    References
    ----------
    Shi & Malik, Normalized Cuts and Image Segmentation, IEEE PAMI 22 (2000).
    Yu & Shi, Multiclass Spectral Clustering, ICCV 2003.
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, Algorithm alg_final, step 4.

    Examples
    --------
    >>> W = np.kron([[1, 0, 1], [0, 1, 0], [1, 0, 1]], np.ones((2, 2)))  # the first returns at the end
    >>> normalised_cut(W, 2, rng=0)
    array([0, 0, 1, 1, 0, 0])
    """
    cuts = normalised_cuts(W, [n_subspaces], rng=rng, n_starts=n_starts, link=link, offset=offset)
    return cuts[n_subspaces]


def normalised_cuts(
    W: npt.ArrayLike | SharedAffinity,
    numbers: Iterable[int],
    *,
    rng: np.random.Generator | int | None = None,
    n_starts: int = 10,
    link: float = LINK,
    offset: float = 0.0,
) -> dict[int, IntArray]:
    """Cut into several numbers of subspaces for the price of one set of eigenvectors.

    Parameters
    ----------
    W : array of shape (n, n)
    numbers : iterable of int
        Each in [1, n].
    rng, n_starts, link, offset
        As for :func:`normalised_cut`, whose labels these are for a seed.

    Returns
    -------
    dict of int to array of int, shape (n,)

    Examples
    --------
    >>> W = np.kron([[1, 0, 1], [0, 1, 0], [1, 0, 1]], np.ones((2, 2)))
    >>> normalised_cuts(W, [1, 2], rng=0)
    {1: array([0, 0, 0, 0, 0, 0]), 2: array([0, 0, 1, 1, 0, 0])}
    """
    W = checked_affinity(W)
    n, numbers = len(W), list(numbers)
    for number in numbers:
        if not 1 <= number <= n:
            raise ValueError(f"n_subspaces must be in [1, {n}] for {n} samples; got {number}.")
    if n_starts < 1:
        raise ValueError(f"n_starts must be at least 1; got {n_starts}.")
    if not (0 < link < np.inf and 0 <= offset < np.inf):
        raise ValueError(f"link must be positive and offset not negative; got {link} and {offset}.")
    link *= float(degrees(W).mean()) or 1.0  # without any affinity, time is all there is
    # products with few atoms are small: threads would wait for each other
    with Team(1) if isinstance(W, SharedAffinity) else nullcontext():
        vectors = _leading_vectors(W, link, offset, max((k for k in numbers if 1 < k < n), default=0))
        return {k: _cut_into(W, link, vectors, k, np.random.default_rng(rng), n_starts) for k in numbers}


def _cut_into(
    W: Array, link: float, vectors: Array, n_subspaces: int, rng: np.random.Generator, n_starts: int
) -> IntArray:
    """Turn the leading vectors into labels, from several starts; the smallest cut wins."""
    n = len(W)
    if n_subspaces in (1, n):
        return np.arange(n) if n_subspaces == n else np.zeros(n, dtype=np.intp)
    rows = _unit_rows(vectors[:, :n_subspaces])
    firsts = rng.integers(n, size=n_starts)
    found = np.unique([_discretise(rows, _spread_rows(rows, first)) for first in firsts], axis=0)
    costs = [_cut_value(W, link, candidate, n_subspaces) for candidate in found]
    labels: IntArray = found[int(np.argmin(costs))]
    return labels


def _multiply_linked(W: Array, link: float, V: Array) -> Array:
    """Product with W after tying neighbours in time."""
    product = multiply(W, V)
    product[1:] += link * V[:-1]
    product[:-1] += link * V[1:]
    return product


def _leading_vectors(W: Array, link: float, offset: float, count: int) -> Array:
    """Leading eigenvectors of D^-1/2 W D^-1/2, neighbours in time tied, the diagonal lifted by the offset."""
    n = len(W)
    if count == 0:
        return np.empty((n, 0))
    xp = namespace(W)
    scale: Array = 1 / np.sqrt(_multiply_linked(W, link, xp.ones((n, 1))) + 2 * offset)

    def product(V: Array) -> Array:
        return scale * (_multiply_linked(W, link, scale * V) + offset * scale * V)

    if isinstance(W, SharedAffinity):  # links move its own vectors, which cost next to nothing, but a little
        guess = W.leading(count + GUARD)[1]
        return leading_eigenpairs(product, n, count, tol=SHARED_RESIDUAL, guess=guess)[1]
    return leading_eigenpairs(product, n, count, xp=xp)[1]


def _unit_rows(vectors: Array) -> Array:
    """Rows scaled to length one."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: Array = vectors / np.maximum(norms, np.finfo(float).tiny)
    return rows


def _spread_rows(rows: Array, first: int) -> Array:
    """Start of the rotation: rows as orthogonal to each other as can be found, beginning with `first`.

    It looks at angles between rows alone, so that neither the signs of the eigenvectors nor
    their basis in a repeated eigenvalue changes what is picked.
    """
    picked = [first]
    similarity = np.zeros(len(rows))
    for _ in range(rows.shape[1] - 1):
        similarity += np.abs(rows @ rows[picked[-1]])
        picked.append(int(np.argmin(similarity.round(9))))  # rounding noise must not break ties
    return rows[picked].T


def _discretise(rows: Array, rotation: Array, max_iter: int = 100) -> IntArray:
    """Alternate between the nearest labels and the nearest rotation [Yu & Shi 2003, Sec. 4]."""
    best = -np.inf
    for _ in range(max_iter):
        scores = rows @ rotation
        indicators = np.eye(scores.shape[1])[scores.argmax(axis=1)]
        left, sizes, right = np.linalg.svd(indicators.T @ rows)
        if sizes.sum() <= best + 1e-12 * len(rows):
            break
        best, rotation = sizes.sum(), (left @ right).T
    return _in_order_of_appearance(_without_empty_groups(scores))


def _without_empty_groups(scores: Array) -> IntArray:
    """Label by the largest score, then give each unused label to the sample that fits worst where it is."""
    labels: IntArray = scores.argmax(axis=1)
    fit = scores.max(axis=1)
    for unused in np.flatnonzero(np.bincount(labels, minlength=scores.shape[1]) == 0):
        alone = np.bincount(labels)[labels] == 1
        worst = int(np.argmin(np.where(alone, np.inf, fit)))
        labels[worst], fit[worst] = unused, np.inf
    return labels


def _in_order_of_appearance(labels: IntArray) -> IntArray:
    """Rename labels to 0, 1, ... as they first occur."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def _cut_value(W: Array, link: float, labels: IntArray, n_subspaces: int) -> float:
    """Sum over the groups of cut(c, rest) / assoc(c, all) = 1 - assoc(c, c) / assoc(c, all)."""
    groups = np.eye(n_subspaces)[labels]
    affinity = _multiply_linked(W, link, groups)  # (n, n_subspaces): of each sample to each group
    between = groups.T @ affinity
    return float(np.sum(1 - np.diag(between) / between.sum(axis=1)))
