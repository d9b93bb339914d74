"""From coefficients on a GPU to labels: the normalised cut, all its starts at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.backend import namespace, to_host
from seqspan._core.types import Array, IntArray
from seqspan.cuts.spectral.ncut import (
    LINK,
    _leading_vectors,
    _multiply_linked,
    _unit_rows,
    _without_empty_groups,
)

N_STARTS = 10
MAX_ITER = 100


def cut_on_device(W: Any, n_subspaces: int, *, rng: np.random.Generator | int | None = None) -> IntArray:
    """Label samples as :func:`seqspan.cuts.spectral.ncut.normalised_cut` does, where W lies.

    Parameters
    ----------
    W : array of shape (n, n), NumPy's or CuPy's
        Symmetric, non-negative affinities.
    n_subspaces : int
    rng : numpy.random.Generator, int or None

    Returns
    -------
    labels : NumPy array of int, shape (n,)

    Examples
    --------
    >>> W = np.kron([[1, 0, 1], [0, 1, 0], [1, 0, 1]], np.ones((2, 2)))
    >>> cut_on_device(W, 2, rng=0)
    array([0, 0, 1, 1, 0, 0])
    """
    n = len(W)
    if n_subspaces in (1, n):
        return np.arange(n) if n_subspaces == n else np.zeros(n, dtype=np.intp)
    link = LINK * (float(W.sum(axis=1, dtype=np.float64).mean()) or 1.0)
    rows = _unit_rows(_leading_vectors(W, link, 0.0, n_subspaces))
    firsts = np.random.default_rng(rng).integers(n, size=N_STARTS)
    found = np.array(_discretise(rows, _spread_rows(rows, firsts)))
    best: IntArray = found[int(np.argmin(_cut_values(W, link, found, n_subspaces)))]
    return best


def _spread_rows(rows: Any, firsts: IntArray) -> Array:
    """Starts (n_starts, k, k) of the rotation: columns are rows as orthogonal as can be found."""
    xp = namespace(rows)
    picked = [xp.asarray(firsts)]
    similarity = xp.zeros((len(rows), len(firsts)))
    for _ in range(rows.shape[1] - 1):
        similarity += xp.abs(rows @ rows[picked[-1]].T)
        picked.append(similarity.round(9).argmin(axis=0))  # rounding noise must not break ties
    starts: Array = to_host(xp.stack([rows[index] for index in picked], axis=2))
    return starts


def _discretise(rows: Any, rotations: Array) -> list[IntArray]:
    """Alternate between nearest labels and nearest rotation, from every start; distinct labels (n,).

    What is large stays on the device; rotations and their decompositions are a matter of the host.
    """
    xp = namespace(rows)
    n, k = rows.shape
    groups = xp.arange(k)
    best, found = np.full(len(rotations), -np.inf), {}
    for iteration in range(MAX_ITER):
        side_by_side = xp.asarray(np.hstack(list(rotations)))
        scores = (rows @ side_by_side).reshape(n, -1, k)
        indicators = (scores.argmax(axis=2)[..., None] == groups).astype(float)
        left, sizes, right = np.linalg.svd(to_host(indicators.reshape(n, -1).T @ rows).reshape(-1, k, k))
        better = sizes.sum(axis=1) > best + 1e-12 * n
        resting = np.flatnonzero(~better) if iteration < MAX_ITER - 1 else np.arange(len(better))
        for labels in _labels(scores[:, xp.asarray(resting)]) if resting.size else ():
            found[labels.tobytes()] = labels
        if not better.any():
            break
        best, rotations = sizes.sum(axis=1)[better], (left @ right).transpose(0, 2, 1)[better]
    return list(found.values())


def _labels(scores: Any) -> list[IntArray]:
    """Labels (n,) of several starts from their scores (n, n_starts, k)."""
    k, nearest = scores.shape[2], to_host(scores.argmax(axis=2)).T
    return [
        _in_order_of_appearance(
            labels if np.bincount(labels, minlength=k).all() else _whole(scores[:, start]), k
        )
        for start, labels in enumerate(nearest)
    ]


def _whole(scores: Any) -> IntArray:
    """Labels that are all used, from scores (n, k) that leave some unused."""
    return _without_empty_groups(to_host(scores))


def _in_order_of_appearance(labels: IntArray, k: int) -> IntArray:
    """Rename labels to 0, 1, ... as they first occur; all of them do."""
    firsts = [int(np.argmax(labels == label)) for label in range(k)]
    renamed: IntArray = np.argsort(np.argsort(firsts))[labels]
    return renamed


def _cut_values(W: Any, link: float, candidates: IntArray, k: int) -> Array:
    """For every candidate, the sum of cut(c, rest) / assoc(c, all); one product with W for all."""
    xp = namespace(W)
    groups = (xp.asarray(candidates)[..., None] == xp.arange(k)).astype(float)  # (n_candidates, n, k)
    side_by_side = groups.transpose(1, 0, 2).reshape(len(W), -1)
    affinity = _multiply_linked(W, link, side_by_side).reshape(len(W), -1, k).transpose(1, 0, 2)
    between = to_host(groups.transpose(0, 2, 1) @ affinity)
    kept = np.diagonal(between, axis1=1, axis2=2) / between.sum(axis=2)
    return np.asarray(np.sum(1 - kept, axis=1))
