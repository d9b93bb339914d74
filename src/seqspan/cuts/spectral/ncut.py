"""From affinities W and a number of subspaces to labels.

The functions take their namespace from W: of a CuPy array everything large stays on the GPU.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import is_on_gpu, namespace, to_host
from seqspan._core.spans import Division, number_in_order
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray
from seqspan.cuts.cutter import Cutter, copy_generator
from seqspan.cuts.spectral.affinity import Affinity, SharedAffinity, affinity
from seqspan.cuts.spectral.n_subspaces import estimate_n_subspaces
from seqspan.cuts.spectral.spectrum import (
    GUARD,
    Operator,
    checked_affinity,
    degrees,
    leading_eigenpairs,
    multiply,
)

SHARED_RESIDUAL = 1e-3  # of eigenvectors: labels are read off them, and products are in single precision
LINK = 0.01  # weight of the tie between neighbours in time, in units of the mean degree
JOIN_SHARE = 1e-6  # of a tie: enough for a recording without any affinity to get a label
N_STARTS = 10  # of the search for the best rotation
MAX_ITERATIONS = 100  # of that search, from each start


def normalised_cut(
    W: npt.ArrayLike | SharedAffinity,
    n_subspaces: int,
    *,
    rng: np.random.Generator | int | None = None,
    n_starts: int = N_STARTS,
    link: float = LINK,
    offset: float = 0.0,
    joins: tuple[int, ...] = (),
) -> IntArray:
    """Label samples so that little affinity is cut, relative to what each group has in all.

    Seeks the labels that minimise ``sum_c cut(c, rest) / assoc(c, all)`` in the relaxed form of Shi & Malik:
    the leading eigenvectors of ``D^-1/2 W D^-1/2``, rows scaled to length one, are turned by the rotation
    that brings them closest to indicator vectors (Yu & Shi). That search is started `n_starts` times, and
    the labels with the smallest cut are kept.

    Neighbours in time are tied by a weight of 1 % of the mean degree. It is too weak to move a boundary that
    W shows, but decides where W says nothing: a sample without any affinity follows its neighbours, and if a
    graph falls into more pieces than subspaces, pieces that touch in time are joined.

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
        Weight of the tie between neighbours in time, in units of the mean degree. A value close to zero,
        such as 1e-9, gives the plain cut, which ignores the order unless W says nothing.
    offset : float
        Regularisation: added to the diagonal of W, and twice to the degrees, for the eigenvectors alone. The
        cut that Cour, Yu & Shi published as MATLAB code has 0.5, whatever the scale of W.
    joins : tuple of int
        Samples at which another recording begins: they are not neighbours of the samples before them.

    Returns
    -------
    labels : array of int, shape (n,)
        Exactly the numbers 0 to ``n_subspaces - 1``, in the order of their first appearance.

    Warns
    -----
    ConvergenceWarning
        If the eigenvectors of a large W cannot be told apart to the accuracy needed.

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
    cuts = normalised_cuts(
        W, [n_subspaces], rng=rng, n_starts=n_starts, link=link, offset=offset, joins=joins
    )
    return cuts[n_subspaces]


def normalised_cuts(
    W: npt.ArrayLike | SharedAffinity,
    numbers: Iterable[int],
    *,
    rng: np.random.Generator | int | None = None,
    n_starts: int = N_STARTS,
    link: float = LINK,
    offset: float = 0.0,
    joins: tuple[int, ...] = (),
) -> dict[int, IntArray]:
    """Cut into several numbers of subspaces for the price of one set of eigenvectors.

    Parameters
    ----------
    W : array of shape (n, n)
    numbers : iterable of int
        Each in [1, n].
    rng, n_starts, link, offset, joins
        As for :func:`normalised_cut`, which gives the same labels for a seed.

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
    ties = _tie_neighbours(n, link, joins, namespace(W))
    # products with few atoms are small: threads would wait for each other
    with Team(1) if isinstance(W, SharedAffinity) else nullcontext():
        vectors = _leading_vectors(W, ties, offset, max((k for k in numbers if 1 < k < n), default=0))
        return {k: _cut_into(W, ties, vectors, k, np.random.default_rng(rng), n_starts) for k in numbers}


def cut_affinity(
    W: npt.ArrayLike, n_subspaces: int | str = "auto", *, rng: np.random.Generator | int | None = None
) -> Division:
    """Divide a recording by affinities of your own, from any method.

    Parameters
    ----------
    W : array of shape (n, n)
        Symmetric, non-negative affinities, samples in the order of time.
    n_subspaces : int or str
        Number of labels, or a name in :data:`seqspan.cuts.ESTIMATORS`.
    rng : numpy.random.Generator, int or None
        Of the starts of :func:`normalised_cut`.

    Returns
    -------
    Division
        ``boundaries`` are the interior starts of the spans, ``labels`` has one label per span, and
        ``sample_labels(n)`` one per sample.

    Examples
    --------
    >>> W = np.kron(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]]), np.ones((6, 6)))  # the first returns
    >>> found = cut_affinity(W, rng=0)
    >>> found.boundaries, found.labels
    (array([ 6, 12]), array([0, 1, 0]))
    """
    checked = checked_affinity(W)
    k = estimate_n_subspaces(checked, n_subspaces) if isinstance(n_subspaces, str) else n_subspaces
    return Division.from_sample_labels(number_in_order(normalised_cut(checked, k, rng=rng)))


class NormalisedCutter(Cutter):
    """Cuts the graph of the coefficients, wherever these lie; the affinity is computed once.

    Parameters
    ----------
    X : array of shape (d, n), or None
        Samples, for evidence and confidence alone.
    Z : array of shape (n, n), or (m, n) if m landmarks are the atoms
        Coefficients; may be a CuPy array.
    joins : tuple of int
        Samples at which another recording begins.
    rng : numpy.random.Generator, int or None
        Of the starts. A generator is copied as it is now.

    Examples
    --------
    >>> cutter = NormalisedCutter(None, np.kron(np.eye(3), np.ones((6, 6))), rng=0)
    >>> cutter.cut().boundaries, cutter.cut(n_subspaces=2).n_labels
    (array([ 6, 12]), 2)
    """

    def __init__(
        self,
        X: Array | None,
        Z: Array,
        joins: tuple[int, ...] = (),
        *,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        super().__init__(X, Z, joins)
        self._rng = copy_generator(rng)

    @cached_property
    def W(self) -> Affinity:
        """Affinity of the samples."""
        return affinity(self._Z)

    def cut(
        self, n_spans: int | str = "auto", n_subspaces: int | str = "auto", grain: str = "default"
    ) -> Division:
        """Label the samples; spans are runs of one label.

        Parameters
        ----------
        n_spans : "auto"
            This cut cannot be given a number of spans.
        n_subspaces : int or str
            Number of labels, or a name in :data:`seqspan.cuts.ESTIMATORS`.

        Returns
        -------
        Division
        """
        if n_spans != "auto":
            raise ValueError(
                f"n_spans is for cut='ordered' and cut='peaks'; got n_spans={n_spans} with cut='ncut'."
            )
        k = estimate_n_subspaces(self.W, n_subspaces) if isinstance(n_subspaces, str) else n_subspaces
        labels = normalised_cut(self.W, k, rng=copy_generator(self._rng), joins=self.joins)
        return Division.from_sample_labels(labels, self.joins)


def _cut_into(
    W: Affinity, ties: Array, vectors: Array, n_subspaces: int, rng: np.random.Generator, n_starts: int
) -> IntArray:
    """Turn the leading vectors into labels, from several starts; the smallest cut wins."""
    n = len(W)
    if n_subspaces in (1, n):
        return np.arange(n) if n_subspaces == n else np.zeros(n, dtype=np.intp)
    rows = _unit_rows(vectors[:, :n_subspaces])
    firsts = rng.integers(n, size=n_starts)
    at_once = n_starts if is_on_gpu(rows) else 1  # a GPU waits less; on the CPU it would only take memory
    blocks = [firsts[start : start + at_once] for start in range(0, n_starts, at_once)]
    found = [labels for block in blocks for labels in _discretise(rows, _spread_rows(rows, block))]
    candidates = _distinct(found)
    costs = [_cut_value(W, ties, candidate, n_subspaces) for candidate in candidates]
    return candidates[int(np.argmin(costs))]


def _tie_neighbours(n: int, link: float, joins: tuple[int, ...], xp: Any) -> Array:
    """Weights (n - 1, 1) of the ties between neighbours in time, next to none between recordings."""
    ties = np.full((n - 1, 1), link)
    ties[np.array(joins, dtype=np.intp) - 1] *= JOIN_SHARE
    tied: Array = xp.asarray(ties)
    return tied


def _multiply_linked(W: Affinity, ties: Array, V: Array) -> Array:
    """Product with W after tying neighbours in time."""
    product = multiply(W, V)
    product[1:] += ties * V[:-1]
    product[:-1] += ties * V[1:]
    return product


def _leading_vectors(W: Affinity, ties: Array, offset: float, count: int) -> Array:
    """Leading eigenvectors of D^-1/2 W D^-1/2, neighbours in time tied, the diagonal lifted by the offset."""
    n = len(W)
    if count == 0:
        return np.empty((n, 0))
    xp = namespace(W)
    scale: Array = 1 / np.sqrt(_multiply_linked(W, ties, xp.ones((n, 1))) + 2 * offset)

    def product(V: Array) -> Array:
        return scale * (_multiply_linked(W, ties, scale * V) + offset * scale * V)

    operator = Operator(product, n, xp)
    if isinstance(W, SharedAffinity):  # its own vectors cost next to nothing, and the ties move them little
        guess = W.leading(count + GUARD)[1]
        return leading_eigenpairs(operator, count, tol=SHARED_RESIDUAL, guess=guess)[1]
    return leading_eigenpairs(operator, count)[1]


def _unit_rows(vectors: Array) -> Array:
    """Rows scaled to length one."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: Array = vectors / np.maximum(norms, np.finfo(float).tiny)
    return rows


def _spread_rows(rows: Array, firsts: IntArray) -> Array:
    """Starts of the rotation (n_starts, k, k): columns are rows as orthogonal as can be found, from `firsts`.

    It looks at angles between rows alone, so that neither the signs of the eigenvectors nor their basis in a
    repeated eigenvalue changes what is picked.
    """
    xp = namespace(rows)
    picked = [xp.asarray(firsts)]
    similarity = xp.zeros((len(rows), len(firsts)))
    for _ in range(rows.shape[1] - 1):
        similarity += xp.abs(rows @ rows[picked[-1]].T)
        picked.append(similarity.round(9).argmin(axis=0))  # rounding must not break ties
    starts: Array = to_host(xp.stack([rows[index] for index in picked], axis=2))
    return starts


def _discretise(rows: Array, rotations: Array) -> list[IntArray]:
    """Alternate between nearest labels and nearest rotation, from every start [Yu & Shi 2003, Sec. 4].

    Rotations (n_starts, k, k) and their decompositions are small and stay on the host.
    """
    xp, (n, k) = namespace(rows), rows.shape
    best = np.full(len(rotations), -np.inf)
    found: list[IntArray] = []
    for iteration in range(MAX_ITERATIONS):
        side_by_side = xp.asarray(np.hstack(list(rotations)))  # one product for all starts
        scores = (rows @ side_by_side).reshape(n, -1, k)
        nearest = scores.argmax(axis=2)
        indicators = (nearest[..., None] == xp.arange(k)).astype(float)
        left, sizes, right = np.linalg.svd(to_host(indicators.reshape(n, -1).T @ rows).reshape(-1, k, k))
        fit = sizes.sum(axis=1)
        improves = (fit > best + 1e-12 * n) & (iteration < MAX_ITERATIONS - 1)
        for start in np.flatnonzero(~improves):
            found.append(_use_all_labels(to_host(nearest[:, start]), scores[:, start]))
        if not improves.any():
            break
        best, rotations = fit[improves], (left @ right).swapaxes(1, 2)[improves]
    return [number_in_order(labels) for labels in found]


def _use_all_labels(labels: IntArray, scores: Array) -> IntArray:
    """Give each unused label to the sample that fits worst where it is; scores (n, k) may lie on a GPU."""
    unused = np.flatnonzero(np.bincount(labels, minlength=scores.shape[1]) == 0)
    if not unused.size:
        return labels
    labels, fit = labels.copy(), to_host(scores.max(axis=1))
    for label in unused:
        alone = np.bincount(labels)[labels] == 1
        worst = int(np.argmin(np.where(alone, np.inf, fit)))
        labels[worst], fit[worst] = label, np.inf
    return labels


def _distinct(found: list[IntArray]) -> list[IntArray]:
    """Labels without repetitions, in lexicographic order."""
    by_key = {labels.astype(">u8").tobytes(): labels for labels in found}  # such bytes sort as the numbers do
    return [by_key[key] for key in sorted(by_key)]


def _cut_value(W: Affinity, ties: Array, labels: IntArray, n_subspaces: int) -> float:
    """Sum over the groups of cut(c, rest) / assoc(c, all) = 1 - assoc(c, c) / assoc(c, all)."""
    xp = namespace(W)
    groups = (xp.asarray(labels)[:, None] == xp.arange(n_subspaces)).astype(float)
    to_groups = _multiply_linked(W, ties, groups)  # (n, n_subspaces): affinity of each sample to each group
    between = to_host(groups.T @ to_groups)
    return float(np.sum(1 - np.diag(between) / between.sum(axis=1)))
