"""The weights lambda_1 and lambda_2 by themselves.

Weights scale with the squared length of the samples, so both are fractions of the critical weight: the
lambda_1 from which on Z = 0. On samples of unit length these fractions are the paper's weights. How much
change in time should cost is left to the data: of a few weights, each started from where the one before
ended, the one is taken whose spans agree best with those of the others, the paper's unless another is
clearly better.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.metrics import adjusted_rand_score

from seqspan._core.spans import labels_from_boundaries
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cut import MIN_LENGTH, ordered_cut
from seqspan.models import Osc, SpatSc
from seqspan.solvers.fast.solver import solve_fast
from seqspan.solvers.loop import Stopping

FRACTION = 0.1  # lambda_1, of the critical weight
FACTORS = (0.3, 1.0, 3.0)  # lambda_2, of the paper's
N_SAMPLES = 600  # that are looked at; longer sequences are thinned
N_SPANS = 8  # that are compared
CLEARLY = 0.1  # more agreement than that of the paper's weight

Coupled = Osc | SpatSc


def critical_weight(X: Array) -> float:
    """Smallest lambda_1 at which all coefficients are zero, where a sample may represent itself.

    It is the largest squared length of a sample.

    Parameters
    ----------
    X : array of shape (d, n)

    Examples
    --------
    >>> critical_weight(np.array([[3.0, 0.0], [4.0, 1.0]]))
    25.0
    """
    return float(np.einsum("ij,ij->j", X, X).max())


def choose_lambda_2(
    X: Array, make: Callable[[float], Coupled], base: float, n_threads: int | None = None
) -> float:
    """Take the weight whose spans agree best with those of the other weights.

    Parameters
    ----------
    X : array of shape (d, n)
    make : callable
        Makes the model with a given lambda_2.
    base : float
        The candidates are multiples of it.
    n_threads : int, optional

    Returns
    -------
    float

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> X, _ = make_subspaces(3, 2, 20, 10, rng=0)
    >>> choose_lambda_2(X, lambda weight: Osc(0.1, weight), 1.0) in (0.3, 1.0, 3.0)
    True
    """
    X = np.ascontiguousarray(X[:, :: -(-X.shape[1] // N_SAMPLES)])
    candidates = [factor * base for factor in FACTORS]
    state, found = None, []
    for weight in candidates:
        stopping = Stopping(tol=1e-2, max_iter=1000)
        solution = solve_fast(make(weight), X, stopping=stopping, start=state, n_threads=n_threads)
        state = solution.state
        found.append(_spans(X, solution.Z, n_threads))
    agreement = np.array([np.mean([adjusted_rand_score(one, other) for other in found]) for one in found])
    agreement[FACTORS.index(1.0)] += CLEARLY
    return candidates[int(np.argmax(agreement))]


def _spans(X: Array, Z: Array, n_threads: int | None) -> IntArray:
    """Number of the span of each sample, in a division into a fixed number of them."""
    n = X.shape[1]
    n_spans = max(1, min(N_SPANS, n // (2 * MIN_LENGTH)))
    cut = ordered_cut(X, Z, n_spans=n_spans, n_subspaces=1, n_threads=n_threads)
    return labels_from_boundaries(cut.boundaries, n)
