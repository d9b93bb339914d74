"""Few atoms in place of all samples: n x n coefficients stop at memory, m x n ones go on.

With a dictionary ``D`` of m landmarks the objective is ``||X - DZ||_F^2 / 2`` plus the same penalties on Z
(m, n). If the landmarks are the means of n / m samples each, that is the full problem restricted to
coefficients which the samples of a landmark share equally: ``XZ' = DZ`` with entries ``z / (n/m)`` leaves
the l1 norm as it is and divides the 2-norm of a jump by ``sqrt(n / m)``. So OSC's weight of the jumps is
multiplied by ``sqrt(m / n)``, whatever the landmarks are: weights mean what they mean for all samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from seqspan._core.checks import check_choice
from seqspan._core.scaling import scale_columns
from seqspan._core.solution import Solution
from seqspan._core.threads import Team
from seqspan._core.types import Array
from seqspan.models import Osc, SpatSc
from seqspan.solvers.fast.reduced import column_blocks, reduce_onto
from seqspan.solvers.fast.solver import solve_reduced
from seqspan.solvers.loop import Stopping

DICTIONARIES = ("samples", "landmarks", "auto")
N_LANDMARKS = 512
LARGEST_FULL = 10_000  # samples up to which "auto" uses them all as atoms: 1.5 GB in single precision
SAMPLES_OF_A_MEAN = 10  # at most, so that their mean still resembles each of them; docs/scale.md compares
MOST_CANDIDATES = 20_000  # samples, spread evenly in time, that landmarks are chosen from


def choose_landmarks(X: Array, n_landmarks: int, method: str = "auto") -> Array:
    """Choose atoms that stand for all samples.

    Parameters
    ----------
    X : array of shape (d, n)
    n_landmarks : int
    method : str
        A name in :data:`CHOICES`, or "auto": means over time while a landmark stands for at most ten samples,
        k-means centres beyond that.

    Returns
    -------
    array of shape (d, n_landmarks)
        Fewer columns where there are fewer different samples.

    Examples
    --------
    >>> choose_landmarks(np.repeat(np.eye(3), 4, axis=1), 3)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    check_choice("method", method, ("auto", *CHOICES))
    n = X.shape[1]
    if method == "auto":
        method = "means" if n <= SAMPLES_OF_A_MEAN * n_landmarks else "centres"
    candidates = np.unique(np.linspace(0, n - 1, min(n, MOST_CANDIDATES)).astype(np.intp))
    with Team(1):  # many small products: threads would wait for each other
        return CHOICES[method](X[:, candidates], min(n_landmarks, len(candidates)))


def farthest_first(X: Array, m: int, least: float = 1 - 1e-6) -> Array:
    """Choose samples so that each next one's line is the farthest from those of all before it.

    Parameters
    ----------
    X : array of shape (d, n)
        Unit columns.
    m : int
        Number of samples.
    least : float
        Stop where the cosine of every sample to a chosen one is larger.

    Returns
    -------
    array of shape (d, at most m)
        In the order of time.

    Examples
    --------
    >>> farthest_first(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), 3)
    array([[1., 0.],
           [0., 1.]])
    """
    picked = [0]
    nearest = np.abs(X[:, 0] @ X)
    while len(picked) < m:
        farthest = int(np.argmin(nearest))
        if nearest[farthest] > least:
            break
        picked.append(farthest)
        nearest = np.maximum(nearest, np.abs(X[:, farthest] @ X))
    return X[:, np.sort(picked)]


def _regular(X: Array, m: int) -> Array:
    """Samples at regular times."""
    return X[:, ((np.arange(m) + 0.5) * X.shape[1] / m).astype(np.intp)]


def _means(X: Array, m: int) -> Array:
    """Means of equal stretches of time, of unit norm."""
    starts = (np.arange(m) * X.shape[1] / m).astype(np.intp)
    return scale_columns(np.add.reduceat(X, starts, axis=1))


def _centres(X: Array, m: int) -> Array:
    """Centres of k-means, of unit norm."""
    from sklearn.cluster import KMeans

    centres = KMeans(m, n_init=1, max_iter=20, random_state=0).fit(X.T).cluster_centers_
    return scale_columns(np.ascontiguousarray(centres.T, dtype=X.dtype))


#: Ways to choose landmarks; benchmarks/landmarks.py compares them.
CHOICES: dict[str, Callable[[Array, int], Array]] = {
    "cover": farthest_first,
    "regular": _regular,
    "means": _means,
    "centres": _centres,
}


def on_landmarks(model: Osc | SpatSc, n_landmarks: int, n: int) -> Osc | SpatSc:
    """The model for coefficients of landmarks: weights keep their meaning, and there is no diagonal.

    Parameters
    ----------
    model : Osc or SpatSc
        With weights as for the samples as atoms.
    n_landmarks : int
    n : int
        Number of samples.

    Returns
    -------
    Osc or SpatSc

    Examples
    --------
    >>> on_landmarks(Osc(0.1, 1.0), 100, 10_000)
    Osc(lam1=0.1, lam2=0.1, zero_diagonal=False)
    """
    shared = np.sqrt(min(n_landmarks / n, 1.0)) if isinstance(model, Osc) else 1.0
    return replace(model, lam2=float(model.lam2 * shared), zero_diagonal=False)


def solve_on_landmarks(
    model: Osc | SpatSc, X: Array, D: Array, *, stopping: Stopping | None = None, **options: Any
) -> Solution[Any]:
    """Minimise a model with landmarks as atoms.

    Parameters
    ----------
    model : Osc or SpatSc
        As for the samples as atoms: :func:`on_landmarks` is applied here.
    X : array of shape (d, n)
    D : array of shape (d, m)
    stopping : Stopping, optional
    **options
        ``start`` and ``n_jobs``, as for :func:`seqspan.solvers.fast.solver.solve_fast`.

    Returns
    -------
    Solution
        With Z (m, n).

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(rng=0)
    >>> X /= np.linalg.norm(X, axis=0)
    >>> D = choose_landmarks(X, 20)
    >>> solution = solve_on_landmarks(Osc(0.1, 1.0), X, D, stopping=Stopping(tol=1e-3))
    >>> solution.Z.shape, solution.gap <= 1e-3
    ((20, 100), True)
    """
    n, m = X.shape[1], D.shape[1]
    with Team(1):
        data = reduce_onto(D, column_blocks(X), n, D.dtype)
    return solve_reduced(on_landmarks(model, m, n), data, stopping=stopping, **options)
