"""The methods that are compared: what each minimises, with which weights, and how its answer is scored."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seqspan._core.types import Array, IntArray
from seqspan.cuts.spectral.affinity import symmetric_affinity
from seqspan.cuts.spectral.ncut import normalised_cut
from seqspan.metrics import clustering_error
from seqspan.models import Lrr, Model, Osc, SpatSc, Ssc
from seqspan.pipeline import represent
from seqspan.reproduction._variants import (
    NonNegativeOsc,
    NonNegativeSpatSc,
    NonNegativeSsc,
    solve_as_coded,
)
from seqspan.solvers import Stopping

Weights = tuple[float, float | None]

#: The paper's four methods, in its order, and the weights of its table.
METHODS = ("osc", "spatsc", "lrr", "ssc")
PAPER: dict[str, Weights] = {"osc": (0.1, 1.0), "spatsc": (0.1, 0.01), "lrr": (0.4, None), "ssc": (0.2, None)}
PAPER_REAL: dict[str, Weights] = PAPER | {"ssc": (0.1, None)}  # video and activities
#: What the authors' code adds: Z >= 0 at the minimum, and its own iteration.
VARIANTS = ("osc_nonnegative", "spatsc_nonnegative", "ssc_nonnegative", "osc_as_coded", "spatsc_as_coded")

PLAIN = 1e-9  # link of a cut that has none to speak of
TOOLBOX_OFFSET = 0.5  # of the published MATLAB code of the normalised cut
MAX_ITER = 5000
LARGEST = 1e6  # coefficients beyond have diverged; they are scaled so that sums of them exist

_MODELS: dict[str, Callable[[float, float], Model]] = {
    "osc": Osc,
    "spatsc": SpatSc,
    "lrr": lambda lam, _: Lrr(lam),
    "ssc": lambda lam, _: Ssc(lam),
    "osc_nonnegative": NonNegativeOsc,
    "spatsc_nonnegative": NonNegativeSpatSc,
    "ssc_nonnegative": lambda lam, _: NonNegativeSsc(lam),
    "osc_as_coded": NonNegativeOsc,
    "spatsc_as_coded": NonNegativeSpatSc,
}
_SOLVERS = {"osc": "fast", "spatsc": "fast", "lrr": "closed_form"}


@dataclass(frozen=True)
class Answer:
    """Coefficients, the objective there, and how far from optimal it may be."""

    Z: Array
    objective: float
    gap: float


def paper_weights(method: str, table: dict[str, Weights] = PAPER) -> Weights:
    """Return the paper's weights of a method; a variant has those of what it varies.

    Examples
    --------
    >>> paper_weights("osc_nonnegative")
    (0.1, 1.0)
    """
    return table[method.split("_")[0]]


def minimise(method: str, X: Array, weights: Weights, tol: float) -> Answer:
    """Represent the columns of X by each other, in one thread.

    Parameters
    ----------
    method : str
        One of `METHODS` or `VARIANTS`.
    X : array of shape (d, n)
        Unit columns.
    weights : (lambda_1, lambda_2)
    tol : float

    Returns
    -------
    Answer
    """
    model = _MODELS[method](weights[0], weights[1] or 0.0)
    if isinstance(model, NonNegativeOsc | NonNegativeSpatSc) and method.endswith("as_coded"):
        Z, V = solve_as_coded(model, X)
        objective = model.value(X, Z)
        bound = model.lower_bound(X, X - X @ Z, V) if np.isfinite(objective) else 0.0
        return Answer(Z, objective, 1 - max(bound, 0.0) / objective)
    solver = _SOLVERS.get(method, "splitting")
    options: dict[str, Any] = {"n_threads": 1} if solver == "fast" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the row's gap says it
        solution = represent(X, model, solver, Stopping(tol, MAX_ITER), **options)
    return Answer(solution.Z, solution.objective, solution.gap)


def score(Z: Array, labels: IntArray, rng: np.random.Generator) -> dict[str, float]:
    """Cut the affinity in three ways, and count what is mislabelled.

    Parameters
    ----------
    Z : array of shape (n, n)
    labels : array of int, shape (n,)
        The truth.
    rng : numpy.random.Generator

    Returns
    -------
    dict
        "error" of the plain normalised cut, "error_linked" of seqspan's, which ties neighbours in time by
        1 %, and "error_toolbox" of the cut as in the published MATLAB code.
    """
    largest = np.abs(Z).max(initial=0.0)
    if not np.isfinite(largest):
        Z = np.zeros_like(Z)  # a diverged answer says nothing
    W = symmetric_affinity(Z / largest if largest > LARGEST else Z)
    # in random order, so that where W is silent the tie between neighbours tells nothing, either
    order = rng.permutation(len(W))
    shuffled = W[np.ix_(order, order)]
    k, seed = len(np.unique(labels)), int(rng.integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of eigenvectors too close to tell apart
        plain = normalised_cut(shuffled, k, rng=seed, link=PLAIN)
        linked = normalised_cut(W, k, rng=seed)
        toolbox = normalised_cut(shuffled, k, rng=seed, n_starts=1, link=PLAIN, offset=TOOLBOX_OFFSET)
    return {
        "error": clustering_error(labels[order], plain),
        "error_linked": clustering_error(labels, linked),
        "error_toolbox": clustering_error(labels[order], toolbox),
    }


def run_method(
    method: str, X: Array, labels: IntArray, weights: Weights, tol: float, rng: np.random.Generator
) -> dict[str, float]:
    """Minimise, cut and score; seconds are those of the minimisation.

    Parameters
    ----------
    method : str
    X : array of shape (d, n)
        Unit columns.
    labels : array of int, shape (n,)
    weights : (lambda_1, lambda_2)
    tol : float
    rng : numpy.random.Generator
        Of the cuts.

    Returns
    -------
    dict
    """
    began = time.perf_counter()
    answer = minimise(method, X, weights, tol)
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "gap": answer.gap,
        "objective": answer.objective,
        **score(answer.Z, labels, rng),
    }
