"""A few landmarks as atoms instead of all samples: n x n coefficients exhaust memory, m x n do not.

With a dictionary ``D`` of m landmarks, the objective is ``||X - DZ||_F^2 / 2`` plus the same penalties on Z
(m, n). If each landmark is the mean of n / m samples, this is the full problem with a constraint: the samples
of a landmark have equal coefficients. ``XZ' = DZ`` with entries ``z / (n/m)`` has the same l1 norm, but the
2-norm of a change in time is divided by ``sqrt(n / m)``. So OSC's lam2 is multiplied by ``sqrt(m / n)`` for
any choice of landmarks, and a given weight means the same as for all samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from seqspan._core.backend import to_host
from seqspan._core.checks import check_choice
from seqspan._core.scaling import scale_columns
from seqspan._core.solution import Solution
from seqspan._core.threads import Team, openmp_threads
from seqspan._core.types import Array
from seqspan.models import Osc, SpatSc
from seqspan.solvers.fast.reduced import column_blocks, reduce_onto
from seqspan.solvers.fast.solver import solve_reduced
from seqspan.solvers.loop import Stopping
from seqspan.solvers.scaling import at_ordinary_scale, unusual_exponent

DICTIONARIES = ("samples", "landmarks", "auto")
N_LANDMARKS = 512  # number of landmarks, unless the recording is long
MIN_LANDMARKS = 128  # of a long recording
MAX_COEFFICIENTS = 512 * 50_000  # of longer recordings; fewer landmarks find the same boundaries there
MAX_FULL_SAMPLES = 10_000  # up to this many, "auto" uses all samples as atoms: 1.5 GB in single precision
MAX_SAMPLES_PER_MEAN = 10  # beyond this a mean no longer resembles its samples; see docs/scale.md
FIRST_CANDIDATES = 8  # per landmark, at least, of which k-means chooses first centres, one by one
MAX_CANDIDATES = 20_000  # samples, evenly spread over time, that landmarks are chosen from


def count_landmarks(n_samples: int) -> int:
    """Number of landmarks for a recording: fewer for long ones, down to a limit.

    Examples
    --------
    >>> [count_landmarks(n) for n in (20_000, 100_000, 1_000_000)]
    [512, 256, 128]
    """
    return min(max(MAX_COEFFICIENTS // n_samples, MIN_LANDMARKS), N_LANDMARKS)


def choose_landmarks(
    X: Array, n_landmarks: int | str = "auto", method: str = "auto", *, n_jobs: int | None = None
) -> Array:
    """Choose landmarks to represent all samples.

    Parameters
    ----------
    X : array of shape (d, n)
        On the host or on a GPU.
    n_landmarks : int or "auto"
        "auto" is :func:`count_landmarks`.
    method : str
        A name in :data:`CHOICES`, or "auto": means over time if there are at most ten samples per landmark,
        otherwise k-means centres.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    array of shape (d, n_landmarks), on the host
        Fewer columns if there are fewer distinct samples.

    Examples
    --------
    >>> choose_landmarks(np.repeat(np.eye(3), 4, axis=1), 3)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    check_choice("method", method, ("auto", *CHOICES))
    n = X.shape[1]
    wanted = count_landmarks(n) if isinstance(n_landmarks, str) else n_landmarks
    if method == "auto":
        method = "means" if n <= MAX_SAMPLES_PER_MEAN * wanted else "centres"
    candidates = np.unique(np.linspace(0, n - 1, min(n, MAX_CANDIDATES)).astype(np.intp))
    exponent = unusual_exponent(X)
    scaled = np.ldexp(to_host(X[:, candidates]), -exponent)  # squares would over- or underflow
    choose = partial(_centres, n_jobs=n_jobs) if method == "centres" else CHOICES[method]
    with Team(1):  # many small products: BLAS threads would wait for each other
        chosen = choose(scaled, min(wanted, len(candidates)))
    return np.asarray(np.ldexp(chosen, exponent))


def farthest_first(X: Array, m: int, least: float = 1 - 1e-6) -> Array:
    """Choose samples one by one, each with the largest angle to all samples chosen before.

    Parameters
    ----------
    X : array of shape (d, n)
        Unit columns.
    m : int
        Maximum number of samples to choose.
    least : float
        Stop when every sample has a larger cosine than this to one of the chosen samples.

    Returns
    -------
    array of shape (d, at most m)
        In temporal order.

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
    """Means over m equally long runs of samples, as long as a sample."""
    starts = (np.arange(m) * X.shape[1] / m).astype(np.intp)
    return scale_columns(np.add.reduceat(X, starts, axis=1)) * typical_norm(X)


def _centres(X: Array, m: int, n_jobs: int | None = None) -> Array:
    """Centres of k-means, as long as a sample."""
    from sklearn.cluster import KMeans, kmeans_plusplus

    # for single precision, scikit-learn computes the distances in many small double-precision blocks
    rows = np.asarray(X.T, dtype=float)
    some = rows[:: max(len(rows) // (FIRST_CANDIDATES * m), 1)]
    first = kmeans_plusplus(some, m, random_state=0)[0]
    with openmp_threads(n_jobs):
        found = KMeans(m, init=first, n_init=1, max_iter=20, random_state=0).fit(rows)
    centres = np.ascontiguousarray(found.cluster_centers_.T, dtype=X.dtype)
    return scale_columns(centres) * typical_norm(X)


def typical_norm(X: Array) -> Array:
    """Median norm of the columns that are not zero: weights mean the same if atoms are as long as samples.

    Examples
    --------
    >>> typical_norm(np.array([[3.0, 0.0, 0.0], [4.0, 0.0, 5.0]]))
    array(5.)
    """
    norms = np.linalg.norm(X, axis=0)
    return np.asarray(np.median(norms[norms > 0]) if norms.any() else 1.0, dtype=X.dtype)


#: Ways to choose landmarks; benchmarks/landmarks.py compares them.
CHOICES: dict[str, Callable[[Array, int], Array]] = {
    "cover": farthest_first,
    "regular": _regular,
    "means": _means,
    "centres": _centres,
}


def on_landmarks(model: Osc | SpatSc, n_landmarks: int, n: int) -> Osc | SpatSc:
    """Adapt a model to landmarks as atoms: weights keep their meaning, and the diagonal is free.

    Parameters
    ----------
    model : Osc or SpatSc
        With the weights for samples as atoms.
    n_landmarks : int
    n : int
        Number of samples.

    Returns
    -------
    Osc or SpatSc

    Examples
    --------
    >>> on_landmarks(Osc(0.1, 1.0), 100, 10_000)
    Osc(lam1=0.1, lam2=0.1, zero_diagonal=False, joins=())
    """
    shared = np.sqrt(min(n_landmarks / n, 1.0)) if isinstance(model, Osc) else 1.0
    return replace(model, lam2=float(model.lam2 * shared), zero_diagonal=False)


@at_ordinary_scale
def solve_on_landmarks(
    model: Osc | SpatSc, X: Array, D: Array, *, stopping: Stopping | None = None, **options: Any
) -> Solution[Any]:
    """Minimise a model with landmarks as atoms.

    Parameters
    ----------
    model : Osc or SpatSc
        The model for samples as atoms; this function applies :func:`on_landmarks`.
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
