"""The methods that are compared: what each minimises, with which weights, and how its answer is scored."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seqspan._core.types import Array, IntArray
from seqspan.cuts.spectral.affinity import symmetric_affinity
from seqspan.cuts.spectral.ncut import normalised_cut
from seqspan.metrics import clustering_error
from seqspan.models import Lrr, Model, Osc, SpatSc, Ssc
from seqspan.reproduction._variants import (
    NonNegativeOsc,
    NonNegativeSpatSc,
    NonNegativeSsc,
    solve_as_coded,
)
from seqspan.solvers import SOLVERS, Stopping

#: lambda_1 and lambda_2, or None for a method with one weight.
Weights = tuple[float, float | None]

#: The paper's four methods, in its order, and what people call them.
NAMES = {"osc": "OSC", "spatsc": "SpatSC", "lrr": "LRR", "ssc": "SSC"}
METHODS = tuple(NAMES)
#: The weights of the paper's table; those for video and activities differ in one.
PAPER: dict[str, Weights] = {"osc": (0.1, 1.0), "spatsc": (0.1, 0.01), "lrr": (0.4, None), "ssc": (0.2, None)}
PAPER_REAL: dict[str, Weights] = PAPER | {"ssc": (0.1, None)}
#: What is in the authors' code only: the constraint Z >= 0, and their iteration.
VARIANTS = ("osc_nonnegative", "spatsc_nonnegative", "ssc_nonnegative", "osc_as_coded", "spatsc_as_coded")

NO_LINK = 1e-9  # in units of the mean degree: next to nothing, for a cut that ignores the order of time
TOOLBOX_OFFSET = 0.5  # added to the diagonal of W, as in the published MATLAB code of the normalised cut
MAX_ITER = 5000
LARGEST = (
    1e6  # absolute value above which coefficients have diverged and are scaled, so that sums stay finite
)

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
_SOLVERS = {"osc": "fast", "spatsc": "fast", "lrr": "closed_form"}  # for all others "splitting"


@dataclass(frozen=True)
class Answer:
    """Coefficients, their objective, and a bound on how far it is from the minimum."""

    Z: Array
    objective: float
    gap: float


def paper_weights(method: str, table: Mapping[str, Weights] = PAPER) -> Weights:
    """Return the paper's weights of a method; a variant has those of its original.

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
    options: dict[str, Any] = {"n_jobs": 1} if solver == "fast" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the row has the gap
        solution = SOLVERS[solver](model, X, stopping=Stopping(tol, MAX_ITER), **options)
    return Answer(solution.Z, solution.objective, solution.gap)


def score(Z: Array, labels: IntArray, rng: np.random.Generator) -> dict[str, float]:
    """Cut the affinity in three ways, and compute the share of samples with a wrong label.

    Parameters
    ----------
    Z : array of shape (n, n)
    labels : array of int, shape (n,)
        The true labels.
    rng : numpy.random.Generator

    Returns
    -------
    dict
        "error" of the plain normalised cut, "error_linked" of seqspan's cut, which links neighbours in time
        by 1 % of the mean degree, and "error_toolbox" of the cut in the published MATLAB code.
    """
    largest = np.abs(Z).max(initial=0.0)
    if not np.isfinite(largest):
        Z = np.zeros_like(Z)  # a diverged answer says nothing
    W = symmetric_affinity(Z / largest if largest > LARGEST else Z)
    # in random order: where W is zero, even the smallest link would give the order of time away
    order = rng.permutation(len(W))
    shuffled = W[np.ix_(order, order)]
    k, seed = len(np.unique(labels)), int(rng.integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # some eigenvectors are too close to separate
        plain = normalised_cut(shuffled, k, rng=seed, link=NO_LINK)
        linked = normalised_cut(W, k, rng=seed)
        toolbox = normalised_cut(shuffled, k, rng=seed, n_starts=1, link=NO_LINK, offset=TOOLBOX_OFFSET)
    return {
        "error": clustering_error(labels[order], plain),
        "error_linked": clustering_error(labels, linked),
        "error_toolbox": clustering_error(labels[order], toolbox),
    }


def run_method(
    method: str, X: Array, labels: IntArray, weights: Weights, tol: float, rng: np.random.Generator
) -> dict[str, float]:
    """Minimise, cut and score; only the minimisation is timed.

    Parameters
    ----------
    method : str
    X : array of shape (d, n)
        Unit columns.
    labels : array of int, shape (n,)
    weights : (lambda_1, lambda_2)
    tol : float
    rng : numpy.random.Generator
        For the cuts.

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
