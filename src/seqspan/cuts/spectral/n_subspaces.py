"""How many subspaces an affinity W shows.

If W falls into k blocks, it has k large singular values, and its Laplacian ``L = D - W`` has k that are zero,
wherever the samples of a block lie in time. With noise neither is exact; the estimators differ in where they
draw the line. :data:`ESTIMATORS` holds them by name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import namespace
from seqspan._core.threads import Team
from seqspan._core.types import Array
from seqspan.cuts.spectral.affinity import Affinity, SharedAffinity
from seqspan.cuts.spectral.spectrum import (
    Operator,
    Product,
    checked_affinity,
    degrees,
    leading_eigenpairs,
    multiply,
)

Matrix = Literal["affinity", "laplacian", "normalised_laplacian"]

MAX_SUBSPACES = 30  # larger numbers are not considered
RESIDUAL = 1e-2  # of eigenvectors of large W; eigenvalues are off by its square, and gaps are far wider
ZERO = 0.1  # eigenvalues of the normalised Laplacian up to this count as zero
SINGULAR = 0.5  # singular values of W above this fraction of the largest count as large


def estimate_n_subspaces(
    W: npt.ArrayLike | SharedAffinity,
    method: str = "auto",
    *,
    max_subspaces: int = MAX_SUBSPACES,
    threshold: float | None = None,
) -> int:
    """Estimate the number of subspaces by a named method.

    Parameters
    ----------
    W : array of shape (n, n)
        Symmetric, non-negative affinities.
    method : str
        A name in :data:`ESTIMATORS`. ``"auto"`` is ``find_soft_gap``.
    max_subspaces : int
        Larger numbers are not considered. Of a large W only this part of the spectrum is computed.
    threshold : float, optional
        In place of the default of ``"singular_values"``, ``"laplacian_zeros"`` or
        ``"normalised_laplacian_zeros"``.

    Returns
    -------
    n_subspaces : int
        In [1, max_subspaces].

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Estimating the number of subspaces".

    Examples
    --------
    >>> W = np.kron(np.eye(3), np.ones((5, 5)))
    >>> estimate_n_subspaces(W), estimate_n_subspaces(W, "singular_values", threshold=0.1)
    (3, 3)
    """
    if method not in ESTIMATORS:
        raise ValueError(f"method must be one of {sorted(ESTIMATORS)}; got {method!r}.")
    if threshold is None:
        return ESTIMATORS[method](W, max_subspaces=max_subspaces)
    if method not in WITH_THRESHOLD:
        raise ValueError(f"threshold is for the methods {sorted(WITH_THRESHOLD)}; got it with {method!r}.")
    return ESTIMATORS[method](W, max_subspaces=max_subspaces, threshold=threshold)


def count_singular_values(
    W: npt.ArrayLike | SharedAffinity, threshold: float = SINGULAR, *, max_subspaces: int = MAX_SUBSPACES
) -> int:
    """Count the singular values of W above a fraction of the largest.

    ``k = |{i : sigma_i > threshold * sigma_1}|``

    Parameters
    ----------
    W : array of shape (n, n)
        Symmetric, non-negative affinities.
    threshold : float in [0, 1)
        The paper leaves it to the user, in the units of W.
    max_subspaces : int

    Returns
    -------
    n_subspaces : int

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Estimating the number of
    subspaces", first equation.

    Examples
    --------
    >>> count_singular_values(np.diag([5.0, 4.0, 3.0, 2.0]), threshold=0.5)
    3
    """
    if not 0 <= threshold < 1:
        raise ValueError(f"threshold must be in [0, 1), a fraction of the largest; got {threshold}.")
    values = _spectrum(W, "affinity", max_subspaces, singular=True)
    return _within(int(np.count_nonzero(values > threshold * values[0])), max_subspaces)


def count_laplacian_zeros(
    W: npt.ArrayLike | SharedAffinity,
    threshold: float = ZERO,
    *,
    normalised: bool = True,
    max_subspaces: int = MAX_SUBSPACES,
) -> int:
    """Count the eigenvalues of the Laplacian that are zero except for noise.

    ``k = |{i : mu_i < threshold}|``, with mu the spectrum of ``L_n = I - D^-1/2 W D^-1/2``, or of ``L = D -
    W`` in units of the mean degree. A group that gives a share s of its affinity to others has an eigenvalue
    of about s, so the threshold is the largest share allowed.

    Parameters
    ----------
    W : array of shape (n, n)
        Symmetric, non-negative affinities.
    threshold : float, positive
    normalised : bool
        ``L_n`` or ``L``. Only for L is a sample without any affinity a subspace of its own.
    max_subspaces : int

    Returns
    -------
    n_subspaces : int

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Estimating the number of
    subspaces", second paragraph.

    Examples
    --------
    >>> count_laplacian_zeros(np.kron(np.eye(4), np.ones((3, 3))))
    4
    """
    if not threshold > 0:
        raise ValueError(f"threshold must be positive; got {threshold}.")
    values = _spectrum(W, "normalised_laplacian" if normalised else "laplacian", max_subspaces)
    return _within(int(np.count_nonzero(values < threshold)), max_subspaces)


def find_eigen_gap(
    W: npt.ArrayLike | SharedAffinity, of: Matrix = "affinity", *, max_subspaces: int = MAX_SUBSPACES
) -> int:
    """Find the largest gap between consecutive eigenvalues.

    ``k = argmax_i (delta_i - delta_{i+1})`` with delta the eigenvalues of W in descending order, or
    ``argmax_i (mu_{i+1} - mu_i)`` with mu those of a Laplacian in ascending order.

    Parameters
    ----------
    W : array of shape (n, n)
        Symmetric, non-negative affinities.
    of : {"affinity", "laplacian", "normalised_laplacian"}
        Whose eigenvalues.
    max_subspaces : int

    Returns
    -------
    n_subspaces : int

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Estimating the number of
    subspaces", second equation.

    Examples
    --------
    >>> find_eigen_gap(np.diag([5.0, 4.5, 1.0, 0.5]))
    2
    """
    return _place_of_largest(np.abs(np.diff(_spectrum(W, of, max_subspaces))))


def find_svd_gap(W: npt.ArrayLike | SharedAffinity, *, max_subspaces: int = MAX_SUBSPACES) -> int:
    """Find the largest gap between consecutive singular values of W.

    ``k = argmax_i (sigma_i - sigma_{i+1})``: :func:`find_eigen_gap` with the eigenvalues of W without their
    signs. A Laplacian has no negative eigenvalues, so there this would be the same.

    Parameters
    ----------
    W : array of shape (n, n)
        Symmetric, non-negative affinities.
    max_subspaces : int

    Returns
    -------
    n_subspaces : int

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Estimating the number of
    subspaces", last paragraph.

    Examples
    --------
    >>> find_svd_gap(np.array([[0.0, 1.0], [1.0, 0.0]]), max_subspaces=1)  # eigenvalues 1 and -1
    1
    """
    return _place_of_largest(np.abs(np.diff(_spectrum(W, "affinity", max_subspaces, singular=True))))


def find_soft_gap(W: npt.ArrayLike | SharedAffinity, *, max_subspaces: int = MAX_SUBSPACES) -> int:
    """Find the largest gap between eigenvalues of the normalised Laplacian, seen through a soft threshold.

    ``k = argmax_i w_i (f(mu_i) - f(mu_{i+1}))`` with ``f(mu) = 1 / (1 + (mu / 0.1)^3) - mu``, where
    ``w_1 = 1/3`` and all other weights are 1.

    It combines two rules of the paper, which fail on different data. Counting eigenvalues below a threshold,
    the first term of f except for its soft edge, tolerates most noise but needs a threshold. The plain gap,
    the second term, needs none but is soon lost among the gaps that noise opens. The first gap has less
    weight because ``mu_1 = 0`` for every graph, while noise lifts the eigenvalues of all other groups away
    from it. Thresholds from 0.08 to 0.12, powers from 2 to 4 and weights from 0.3 to 0.35 do about as well;
    ``python -m benchmarks.n_subspaces`` compares the estimators.

    Parameters
    ----------
    W : array of shape (n, n)
        Symmetric, non-negative affinities. Samples without any do not count.
    max_subspaces : int

    Returns
    -------
    n_subspaces : int

    References
    ----------
    After Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Estimating the number
    of subspaces".

    Examples
    --------
    >>> W = np.kron(np.eye(3), np.ones((6, 6))) + 0.02
    >>> find_soft_gap(W), find_soft_gap(np.ones((6, 6)))
    (3, 1)
    """
    values = np.maximum(_spectrum(W, "normalised_laplacian", max_subspaces), 0)
    return _place_of_largest(soft_scores(values))


def soft_scores(values: npt.ArrayLike) -> Array:
    """Score the gap after each eigenvalue, as ``find_soft_gap`` compares them.

    Parameters
    ----------
    values : array of shape (m,)
        Smallest eigenvalues of the normalised Laplacian, ascending, none negative.

    Returns
    -------
    array of shape (m - 1,)

    Examples
    --------
    >>> soft_scores([0.0, 0.01, 0.5, 0.6]).round(2)
    array([0.  , 1.48, 0.1 ])
    """
    values = np.asarray(values, dtype=float)
    scores = -np.diff(1 / (1 + (values / ZERO) ** 3) - values)
    scores[:1] /= 3
    return np.asarray(scores)


def laplacian_eigenvalues(W: npt.ArrayLike | SharedAffinity, count: int, *, tol: float = RESIDUAL) -> Array:
    """Smallest eigenvalues of the normalised Laplacian ``I - D^-1/2 W D^-1/2``, ascending.

    Parameters
    ----------
    W : array of shape (n, n)
        Symmetric, non-negative affinities.
    count : int
        In [1, n].
    tol : float
        Residual of the eigenvectors of a large W.

    Returns
    -------
    array of shape (count,)

    Examples
    --------
    >>> laplacian_eigenvalues(np.kron(np.eye(2), np.ones((3, 3))), 3).round(9) + 0.0
    array([0., 0., 1.])
    """
    W = checked_affinity(W)
    if isinstance(W, SharedAffinity):
        with Team(1):
            return 1 - W.leading(count)[0]
    degree = degrees(W)[:, None]
    scale = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0)
    values = _largest_values(W, lambda V: scale * multiply(W, scale * V), count, tol=tol)
    return 1 - values


def _spectrum(
    W: npt.ArrayLike | SharedAffinity, of: Matrix, max_subspaces: int, *, singular: bool = False
) -> Array:
    """The max_subspaces + 1 values that matter: largest first of W, smallest first of a Laplacian."""
    W = checked_affinity(W)
    if max_subspaces < 1:
        raise ValueError(f"max_subspaces must be at least 1; got {max_subspaces}.")
    count = min(max_subspaces + 1, len(W))
    if of == "affinity":
        values = _largest_values(W, partial(multiply, W), count, by_magnitude=singular)
        return np.abs(values) if singular else values
    if of == "laplacian":
        return _plain_laplacian_eigenvalues(W, count)
    if of == "normalised_laplacian":
        return laplacian_eigenvalues(W, count)
    raise ValueError(f"of must be 'affinity', 'laplacian' or 'normalised_laplacian'; got {of!r}.")


def _plain_laplacian_eigenvalues(W: Affinity, count: int) -> Array:
    """Smallest eigenvalues of D - W over the mean degree, ascending."""
    degree = degrees(W)[:, None]
    bound = 2 * float(degree.max())  # on all eigenvalues, so that the smallest become the largest
    values = _largest_values(W, lambda V: (bound - degree) * V + multiply(W, V), count)
    return (bound - values) / (float(degree.mean()) or 1.0)


def _largest_values(
    W: Affinity, product: Product, count: int, *, by_magnitude: bool = False, tol: float = RESIDUAL
) -> Array:
    """Largest eigenvalues, descending, of an operator on arrays like W."""
    operator = Operator(product, len(W), namespace(W))
    return leading_eigenpairs(operator, count, by_magnitude=by_magnitude, tol=tol)[0]


def _place_of_largest(gaps: Array) -> int:
    """Number of values before the largest gap; 1 for a single value, which has none."""
    return int(np.argmax(gaps)) + 1 if gaps.size else 1


def _within(count: int, max_subspaces: int) -> int:
    """At least one subspace and at most `max_subspaces`."""
    return min(max(count, 1), max_subspaces)


WITH_THRESHOLD: dict[str, Callable[..., int]] = {
    "singular_values": count_singular_values,
    "laplacian_zeros": partial(count_laplacian_zeros, normalised=False),
    "normalised_laplacian_zeros": count_laplacian_zeros,
}
#: Estimators of the number of subspaces, by the name that ``n_subspaces=`` accepts.
ESTIMATORS: dict[str, Callable[..., int]] = {
    **WITH_THRESHOLD,
    "eigen_gap": find_eigen_gap,
    "eigen_gap_laplacian": partial(find_eigen_gap, of="laplacian"),
    "eigen_gap_normalised_laplacian": partial(find_eigen_gap, of="normalised_laplacian"),
    "svd_gap": find_svd_gap,
    "soft_gap": find_soft_gap,
    "auto": find_soft_gap,
}
