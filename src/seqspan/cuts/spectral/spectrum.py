"""The leading part of the spectrum of a large symmetric operator, given only its products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import cast

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import is_on_gpu, namespace, to_host
from seqspan._core.convergence import warn_not_converged
from seqspan._core.eigen import symmetric_eigenpairs
from seqspan._core.types import Array
from seqspan.cuts.spectral.affinity import Affinity, SharedAffinity

Product = Callable[[Array], Array]

DENSE_LIMIT = 1000  # samples up to which all eigenvalues take less than half a second
GUARD = 8  # vectors iterated beyond those asked for, which then converge faster
DEPTH = 6  # products per restart: the basis holds as many blocks
MAX_RESTARTS = 50
ROUNDING = 1e-13  # of a block; no direction can be read off a smaller remainder


@dataclass(frozen=True)
class Operator:
    """A symmetric n x n matrix, known by its products with arrays of `xp` of shape (n, any)."""

    product: Product
    n: int
    xp: ModuleType = np


def checked_affinity(W: npt.ArrayLike | SharedAffinity) -> Affinity:
    """Return W in floating point after checking shape, sign, finiteness and symmetry; no needless copy."""
    if isinstance(W, SharedAffinity):  # symmetric and non-negative by construction
        return W
    W = cast(Array, W) if is_on_gpu(W) else np.asarray(W)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or not W.size:
        raise ValueError(f"W must be a square matrix of affinities; got shape {W.shape}.")
    if W.dtype not in (np.float32, np.float64):
        W = W.astype(np.float64)
    smallest, largest = W.min(), W.max()
    if not (smallest >= 0 and largest < np.inf):  # NaN fails every comparison
        raise ValueError(
            f"W must hold finite, non-negative affinities; got entries from {smallest} to {largest}."
        )
    # Two products instead of W == W.T, which at n = 10,000 takes a second and a copy.
    probe = namespace(W).asarray(np.random.default_rng(0).standard_normal(len(W)).astype(W.dtype))
    difference = float(np.abs(W @ probe - probe @ W).max())
    if difference > 1e-4 * float(largest) * np.sqrt(len(W)):
        raise ValueError("W must be symmetric, as |Z| + |Z|^T is; got a W that differs from its transpose.")
    return W


def degrees(W: Affinity) -> Array:
    """Sums of the rows, in double precision."""
    if isinstance(W, SharedAffinity):
        return W.degrees()
    sums: Array = W.sum(axis=1, dtype=np.float64)
    return sums


def multiply(W: Affinity, V: Array) -> Array:
    """W V in W's precision, so that a large W is never converted, returned in double precision."""
    if isinstance(W, SharedAffinity):
        return W.multiply(V)
    product: Array = (W @ V.astype(W.dtype)).astype(np.float64)
    return product


def leading_eigenpairs(
    operator: Operator,
    count: int,
    *,
    by_magnitude: bool = False,
    tol: float = 1e-5,
    guess: Array | None = None,
) -> tuple[Array, Array]:
    """Largest eigenvalues, descending, and their eigenvectors.

    Small operators are written out and solved densely. Large ones go through a restarted block Krylov
    method: a block finds repeated eigenvalues (a graph in several pieces), which a Lanczos iteration from a
    single vector may miss, and reads W once for all its vectors.

    Eigenvectors are arrays of the operator's namespace, eigenvalues are NumPy's. The iteration starts from a
    guess of count + GUARD vectors, or from slow cosines.
    """
    n, xp = operator.n, operator.xp
    if n <= DENSE_LIMIT or (count + GUARD) * DEPTH > n:
        matrix = operator.product(xp.eye(n))
        values, vectors = _eigenpairs((matrix + matrix.T) / 2)
        order = _leading(values, by_magnitude)[:count]
        return values[order], vectors[:, order]
    start = _smooth_start(n, count + GUARD, xp)
    if guess is not None:  # cosines take the place of columns that are missing or nearly dependent
        start = np.linalg.qr(guess + 1e-3 * start)[0]
    return _block_krylov(operator.product, start, count, by_magnitude, tol)


def _eigenpairs(matrix: Array) -> tuple[Array, Array]:
    """All eigenvalues, ascending, and eigenvectors of a dense matrix."""
    if is_on_gpu(matrix):
        values, vectors = namespace(matrix).linalg.eigh(matrix)
        return to_host(values), vectors
    return symmetric_eigenpairs(matrix)


def _block_krylov(
    product: Product, block: Array, count: int, by_magnitude: bool, tol: float
) -> tuple[Array, Array]:
    """Rayleigh-Ritz on a block Krylov space, restarted from its best vectors."""
    xp = namespace(block)
    for _ in range(MAX_RESTARTS):
        basis, image = _krylov_basis(product, block)
        values, rotations = _eigenpairs(basis.T @ image)
        order = _leading(values, by_magnitude)[: count + GUARD]
        values, block = values[order], basis @ rotations[:, order]
        residual = image @ rotations[:, order[:count]] - block[:, :count] * xp.asarray(values[:count])
        error = float(np.linalg.norm(residual, axis=0).max() / np.abs(values).max(initial=1e-300))
        if error <= tol:
            break
    else:
        _warn_not_converged(count, error, tol)
    return values[:count], block[:, :count]


def _warn_not_converged(count: int, error: float, tol: float) -> None:
    """Say that the last eigenvectors asked for are not accurate."""
    warn_not_converged(
        f"{count} leading eigenvectors have a relative residual of {error:.1e} after {MAX_RESTARTS} "
        f"restarts; {tol:.0e} was asked for. This graph hardly tells the last of them apart: "
        "try fewer subspaces.",
        stacklevel=4,
    )


def _smooth_start(n: int, count: int, xp: ModuleType = np) -> Array:
    """Slow cosines in time plus a little fixed noise.

    If each sample is linked to its neighbours in time alone, the leading eigenvectors are such cosines, and
    the iteration tells them apart too slowly. The noise is for all other graphs.
    """
    cosines = xp.cos(np.pi / n * xp.outer(xp.arange(n) + 0.5, xp.arange(count)))
    noise = xp.random.default_rng(0).standard_normal((n, count))  # fixed: the same W, the same answer
    start: Array = np.linalg.qr(cosines + 0.1 * noise)[0]
    return start


def _krylov_basis(product: Product, block: Array) -> tuple[Array, Array]:
    """Orthonormal basis of [V, AV, ..., A^(DEPTH-1) V], and A times that basis."""
    basis, image = block, product(block)
    for _ in range(DEPTH - 1):
        block = _new_directions(basis, image[:, -block.shape[1] :])
        if not block.shape[1]:  # A leads nowhere else
            break
        basis = np.hstack([basis, block])
        image = np.hstack([image, product(block)])
    return basis, image


def _new_directions(basis: Array, block: Array) -> Array:
    """Orthonormal directions of a block that a basis does not have; a remainder that is rounding is none."""
    size = np.linalg.norm(block)
    block, remainder = np.linalg.qr(block - basis @ (basis.T @ block))
    block = block[:, np.abs(np.diag(remainder)) > ROUNDING * size]
    again: Array = np.linalg.qr(block - basis @ (basis.T @ block))[0]  # twice is enough
    return again


def _leading(values: Array, by_magnitude: bool) -> npt.NDArray[np.intp]:
    """Indices from the largest value to the smallest."""
    return np.argsort(-np.abs(values) if by_magnitude else -values, kind="stable")
