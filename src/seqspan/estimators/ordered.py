"""Estimators whose models couple neighbours in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import joblib
import numpy.typing as npt
from sklearn.base import clone

from seqspan._core.backend import to_host
from seqspan._core.checks import check_choice, check_weight
from seqspan._core.kernels import Kernel
from seqspan._core.types import Array
from seqspan.cuts.online.stream import TIME_SCALE
from seqspan.cuts.ordered.cut import MIN_LENGTH
from seqspan.estimators._shared import explain_shared
from seqspan.estimators.online import PartialFit
from seqspan.estimators.segmenter import Callback, SubspaceSegmenter
from seqspan.models import Model, Osc, OscLowRank, SpatSc
from seqspan.models.weights import FRACTION, N_SAMPLES, choose_lambda_2, critical_weight
from seqspan.solvers.fast.landmarks import N_LANDMARKS

COUPLED_SOLVERS = ("fast", "vladmap", "ladmpsap", "sylvester", "splitting")


class _Coupled(PartialFit, SubspaceSegmenter):
    """Estimators with a weight lambda_2 on the change in time, and a choice of solvers."""

    lambda_1: float | str
    lambda_2: float | str
    solver: str
    _base = 1.0  # lambda_2 of the paper, for samples of unit length

    def _solver(self) -> str:
        return check_choice("solver", self.solver, COUPLED_SOLVERS)

    def _choose_weights(self, X: Array) -> None:
        wanted = {"lambda_1": self.lambda_1, "lambda_2": self.lambda_2}
        given = {name: check_weight(name, weight) for name, weight in wanted.items() if weight != "auto"}
        if len(given) < len(wanted):
            given = self._weights_of(X, **given)
        self.lambda_1_, self.lambda_2_ = given["lambda_1"], given["lambda_2"]

    def _weights_of(
        self, X: Array, lambda_1: float | None = None, lambda_2: float | None = None
    ) -> dict[str, float]:
        """Choose the weights that are not given."""
        # of long sequences a part is enough, and on a GPU the host chooses
        columns = to_host(self._columns(X[:: -(-len(X) // N_SAMPLES)]))
        critical = critical_weight(columns) or 1.0  # samples of zeros have no scale
        first = FRACTION * critical if lambda_1 is None else lambda_1
        if lambda_2 is None:
            n_threads = None if self.n_jobs is None else joblib.effective_n_jobs(self.n_jobs)

            def make(weight: float) -> Osc | SpatSc:
                return self._coupled(first, weight)

            lambda_2 = choose_lambda_2(columns, make, self._base * critical, n_threads)
        return {"lambda_1": first, "lambda_2": lambda_2}

    def _online_model(self) -> Osc | SpatSc:
        first = 0.1 if isinstance(self.lambda_1, str) else check_weight("lambda_1", self.lambda_1)
        second = self._base if isinstance(self.lambda_2, str) else check_weight("lambda_2", self.lambda_2)
        return self._coupled(first, second)

    def _coupled(self, lambda_1: float, lambda_2: float) -> Osc | SpatSc:
        """The model with given weights."""
        raise NotImplementedError

    def _weights(self) -> tuple[float, float]:
        return self.lambda_1_, self.lambda_2_

    def path(self, X: npt.ArrayLike, lambda_2: Sequence[float]) -> Iterator[Self]:
        """Fit a series of weights lambda_2, each from where the one before ended.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        lambda_2 : sequence of float
            Neighbouring values should be alike, so that little is left to do from one to the next.

        Yields
        ------
        estimator
            Fitted to the next weight. It is one and the same object: copy what is to be kept.

        Examples
        --------
        >>> from seqspan import OSC
        >>> from seqspan.datasets import make_subspaces
        >>> X, labels = make_subspaces(3, 2, 20, 10, rng=0)
        >>> [len(osc.boundaries_) for osc in OSC(3, random_state=0).path(X.T, [0.5, 1.0])]
        [2, 2]
        """
        estimator = clone(self).set_params(warm_start=True)
        for weight in lambda_2:
            yield estimator.set_params(lambda_2=weight).fit(X)


@explain_shared
class OSC(_Coupled):
    """Ordered subspace clustering: sparse coefficients that seldom change in time.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 ||Z||_1 + lambda_2 ||ZR||_{1,2}`` [paper, Eq. objective].

    Parameters
    ----------
    lambda_1 : float or "auto"
        Weight of the coefficients' sparsity: larger uses fewer samples to represent one. "auto" is a
        tenth of the weight at which all coefficients vanish.
    lambda_2 : float or "auto"
        Weight of their change in time: larger gives fewer, longer spans. "auto" takes the weight whose
        spans agree best with those of smaller and larger ones (:mod:`seqspan.models.weights`).
    penalty : {"l1", "nuclear"}
        "nuclear" asks for low rank in place of sparsity, and for another solver than "fast".

    Examples
    --------
    >>> from seqspan import OSC
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(rng=0)
    >>> osc = OSC(n_subspaces=5, random_state=0).fit(X.T)
    >>> osc.boundaries_
    array([20, 40, 60, 80])
    >>> osc.dual_gap_ <= 0.01
    True
    """

    def __init__(
        self,
        n_subspaces: int | str = "auto",
        *,
        n_spans: int | str = "auto",
        lambda_1: float | str = 0.1,
        lambda_2: float | str = 1.0,
        solver: str = "fast",
        penalty: str = "l1",
        cut: str = "ncut",
        min_length: int = MIN_LENGTH,
        kernel: Kernel = "linear",
        zero_diagonal: bool = False,
        normalize: bool = True,
        preprocess: Any = None,
        tol: float = 1e-2,
        stopping: str = "gap",
        max_iter: int = 10_000,
        warm_start: bool = False,
        dictionary: str = "samples",
        n_landmarks: int = N_LANDMARKS,
        time_scale: int = TIME_SCALE,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_subspaces = n_subspaces
        self.n_spans = n_spans
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.solver = solver
        self.penalty = penalty
        self.cut = cut
        self.min_length = min_length
        self.kernel = kernel
        self.zero_diagonal = zero_diagonal
        self.normalize = normalize
        self.preprocess = preprocess
        self.tol = tol
        self.stopping = stopping
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.dictionary = dictionary
        self.n_landmarks = n_landmarks
        self.time_scale = time_scale
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _model(self, n_samples: int) -> Model:
        if check_choice("penalty", self.penalty, ("l1", "nuclear")) == "l1":
            return self._coupled(*self._weights())
        check_choice("solver with penalty='nuclear'", self.solver, COUPLED_SOLVERS[1:])
        if self.zero_diagonal:
            raise ValueError("penalty='nuclear' has no form with zero_diagonal=True; leave one of them out.")
        return OscLowRank(*self._weights())

    def _coupled(self, lambda_1: float, lambda_2: float) -> Osc:
        return Osc(lambda_1, lambda_2, bool(self.zero_diagonal))


@explain_shared
class SpatSC(_Coupled):
    """Spatial subspace clustering: sparse coefficients, each of which seldom changes in time.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 ||Z||_1 + lambda_2 ||ZR||_1``, diag(Z) = 0
    [paper, Eq. YiGuo1].

    Parameters
    ----------
    lambda_1 : float or "auto"
        Weight of the coefficients' sparsity.
    lambda_2 : float or "auto"
        Weight of their change in time, entry by entry.

    Examples
    --------
    >>> from seqspan import SpatSC
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(rng=0)
    >>> SpatSC(n_subspaces=5, random_state=0).fit(X.T).boundaries_
    array([20, 40, 60, 80])
    """

    def __init__(
        self,
        n_subspaces: int | str = "auto",
        *,
        n_spans: int | str = "auto",
        lambda_1: float | str = 0.1,
        lambda_2: float | str = 0.01,
        solver: str = "fast",
        cut: str = "ncut",
        min_length: int = MIN_LENGTH,
        kernel: Kernel = "linear",
        zero_diagonal: bool = True,
        normalize: bool = True,
        preprocess: Any = None,
        tol: float = 1e-2,
        stopping: str = "gap",
        max_iter: int = 10_000,
        warm_start: bool = False,
        dictionary: str = "samples",
        n_landmarks: int = N_LANDMARKS,
        time_scale: int = TIME_SCALE,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_subspaces = n_subspaces
        self.n_spans = n_spans
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.solver = solver
        self.cut = cut
        self.min_length = min_length
        self.kernel = kernel
        self.zero_diagonal = zero_diagonal
        self.normalize = normalize
        self.preprocess = preprocess
        self.tol = tol
        self.stopping = stopping
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.dictionary = dictionary
        self.n_landmarks = n_landmarks
        self.time_scale = time_scale
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    _base = 0.01

    def _model(self, n_samples: int) -> Model:
        return self._coupled(*self._weights())

    def _coupled(self, lambda_1: float, lambda_2: float) -> SpatSc:
        return SpatSc(lambda_1, lambda_2, bool(self.zero_diagonal))
