"""Few atoms in place of all samples: n x n coefficients stop at memory, m x n ones go on.

With a dictionary ``D`` of m landmarks the objective is ``||X - DZ||_F^2 / 2`` plus the same penalties on Z
(m, n). If the landmarks are the means of n / m samples each, that is the full problem restricted to
coefficients which the samples of a landmark share equally: ``XZ' = DZ`` with entries ``z / (n/m)`` leaves
the l1 norm as it is and divides the 2-norm of a jump by ``sqrt(n / m)``. So OSC's weight of the jumps is
multiplied by ``sqrt(m / n)``, whatever the landmarks are: weights mean what they mean for all samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seqspan._core.checks import check_choice, scale_columns
from seqspan._core.memory import require_memory
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray
from seqspan.models import Osc, SpatSc
from seqspan.solvers import Solution, Stopping
from seqspan.solvers.fast.reduced import BLOCK, reduce_onto
from seqspan.solvers.fast.solver import solve_reduced
from seqspan.solvers.needs import solver_bytes

DICTIONARIES = ("samples", "landmarks", "auto")
N_LANDMARKS = 512
LARGEST_FULL = 10_000  # samples up to which "auto" uses them all as atoms: 1.5 GB in single precision
SHORT_STRETCH = 10  # samples whose mean is still like each of them; docs/scale.md compares
LOOKED_AT = 20_000  # samples, evenly in time, that landmarks are chosen from


@dataclass(frozen=True)
class Rows:
    """Samples as rows, perhaps of a memory-mapped file, handed out as columns piece by piece.

    Parameters
    ----------
    X : array of shape (n, d)
    normalize : bool
        Scale every sample to unit norm.

    Examples
    --------
    >>> Rows(np.array([[3.0, 4.0], [0.0, 2.0]])).columns(slice(0, 1))
    array([[0.6],
           [0.8]])
    """

    X: Array
    normalize: bool = True

    def __len__(self) -> int:
        return len(self.X)

    def columns(self, rows: slice | IntArray) -> Array:
        """Some samples, (d, any), as a copy."""
        columns = np.array(self.X[rows]).T
        return scale_columns(columns) if self.normalize else columns

    def blocks(self) -> Iterator[Array]:
        """All samples in order, few at a time."""
        return (self.columns(slice(start, start + BLOCK)) for start in range(0, len(self), BLOCK))


def choose_landmarks(rows: Rows, n_landmarks: int, method: str = "auto") -> Array:
    """Choose atoms that stand for all samples.

    Parameters
    ----------
    rows : Rows
    n_landmarks : int
    method : str
        A name in :data:`CHOICES`, or "auto": means of stretches of time where one stands for up to ten
        samples, centres of k-means beyond.

    Returns
    -------
    array of shape (d, n_landmarks)
        Fewer columns where there are fewer different samples.

    Examples
    --------
    >>> samples = np.repeat(np.eye(3), 4, axis=0)
    >>> choose_landmarks(Rows(samples), 3)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    check_choice("method", method, ("auto", *CHOICES))
    n = len(rows)
    if method == "auto":
        method = "means" if n <= SHORT_STRETCH * n_landmarks else "centres"
    looked_at = np.unique(np.linspace(0, n - 1, min(n, LOOKED_AT)).astype(np.intp))
    with Team(1):  # many small products: threads would wait for each other
        return CHOICES[method](rows.columns(looked_at), min(n_landmarks, len(looked_at)))


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


def represent_on_landmarks(
    rows: Rows, model: Osc | SpatSc, D: Array, stopping: Stopping, **options: Any
) -> Solution[Any]:
    """Minimise a model with landmarks as atoms, reading the samples block by block.

    Parameters
    ----------
    rows : Rows
    model : Osc or SpatSc
        As for the samples as atoms: :func:`on_landmarks` is applied here.
    D : array of shape (d, m)
    stopping : Stopping
    **options
        ``start`` and ``n_threads``, for :func:`seqspan.solvers.solve_fast`.

    Returns
    -------
    Solution
        With Z (m, n).

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(rng=0)
    >>> rows = Rows(X.T)
    >>> D = choose_landmarks(rows, 20)
    >>> solution = represent_on_landmarks(rows, Osc(0.1, 1.0), D, Stopping(tol=1e-3))
    >>> solution.Z.shape, solution.gap <= 1e-3
    ((20, 100), True)
    """
    n, m = len(rows), D.shape[1]
    require_memory(
        solver_bytes("fast", model, (len(D), n), D.dtype, n_atoms=m, n_threads=options.get("n_threads")),
        f"The fast solver on {n} samples and {m} landmarks in {D.dtype}",
        "Take fewer landmarks (n_landmarks), float32, or partial_fit, which forgets what is long past.",
        loads="llvmlite",
    )
    with Team(1):
        data = reduce_onto(D, rows.blocks(), n, D.dtype)
    return solve_reduced(on_landmarks(model, m, n), data, stopping=stopping, **options)
