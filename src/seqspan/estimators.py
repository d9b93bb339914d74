"""The scikit-learn face: rows in, labels out.

All estimators share these parameters:

n_subspaces : int or str
    Number of distinct labels; "auto" or the name of another estimator of
    :mod:`seqspan.n_subspaces` finds it from the affinity.
n_spans : int or "auto"
    Number of stretches of time, for ``cut="peaks"``.
cut : {"ncut", "peaks"}
    How coefficients become labels: normalised cut, or peaks of their change in time.
normalize : bool
    Scale every sample to unit norm, as the models assume.
preprocess : None, "auto", str or list of steps
    Steps of :mod:`seqspan.preprocess` to apply first; "auto" lets the data choose.
tol : float
    Stop when the duality gap is at most `tol` times the objective.
stopping : {"gap", "published"}
    "published" stops by the rule of the solver's paper and reports the gap it stopped at.
max_iter : int
    Largest number of iterations; reaching it warns, and the result is still there.
warm_start : bool
    Start the next ``fit`` where this one ended, as after changing a weight.
n_jobs : int, optional
    Threads of the fast solver; all cores by default.
random_state : int, RandomState or None
    Seed of the cut.
callback : callable, optional
    Called with a :class:`seqspan.solvers.Progress` whenever the gap has been computed.
verbose : int
    Above zero, shows progress on standard error.

and these attributes after ``fit``:

labels_ : array of int, shape (n_samples,)
boundaries_ : array of int
    Interior starts: ``np.split(X, boundaries_)`` gives the spans.
coef_ : array of shape (n_samples, n_samples)
    Z; column j represents sample j.
n_subspaces_ : int
objective_, dual_gap_ : float
    Value of the model at ``coef_``, and by how much of it the optimum could be lower at most.
n_iter_ : int
history_ : list of Progress
    Iteration, objective, gap and seconds of every certificate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy.typing as npt
from sklearn.base import clone

from seqspan._segmenter import Callback, SubspaceSegmenter
from seqspan._types import Array
from seqspan.checks import check_choice, check_weight, check_weights
from seqspan.models import (
    Lrr,
    LrrColumnNoise,
    LrrNoiseFree,
    Lsr,
    Model,
    Osc,
    OscLowRank,
    SpatSc,
    Ssc,
    SscNoiseFree,
    SscOutliers,
)

COUPLED_SOLVERS = ("fast", "vladmap", "ladmpsap", "sylvester", "splitting")


class _Coupled(SubspaceSegmenter):
    """Estimators with a weight lambda_2 on the change in time, and a choice of solvers."""

    lambda_1: float
    lambda_2: float
    solver: str

    def _solver(self) -> str:
        return check_choice("solver", self.solver, COUPLED_SOLVERS)

    def _weights(self) -> tuple[float, float]:
        return check_weight("lambda_1", self.lambda_1), check_weight("lambda_2", self.lambda_2)

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


class OSC(_Coupled):
    """Ordered subspace clustering: sparse coefficients that seldom change in time.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 ||Z||_1 + lambda_2 ||ZR||_{1,2}`` [paper, Eq. objective].
    The parameters that all estimators share are explained in :mod:`seqspan.estimators`.

    Parameters
    ----------
    lambda_1 : float
        Weight of the coefficients' sparsity: larger uses fewer samples to represent one.
    lambda_2 : float
        Weight of their change in time: larger gives fewer, longer spans.
    solver : {"fast", "vladmap", "ladmpsap", "sylvester", "splitting"}
        The minimum is the same: "vladmap" and "ladmpsap" are the paper's relaxed and exact algorithms,
        "sylvester" is the CVPR 2014 one.
    penalty : {"l1", "nuclear"}
        "nuclear" asks for low rank in place of sparsity, and for another solver than "fast".
    zero_diagonal : bool
        Forbid that a sample represents itself.

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
        lambda_1: float = 0.1,
        lambda_2: float = 1.0,
        solver: str = "fast",
        penalty: str = "l1",
        cut: str = "ncut",
        zero_diagonal: bool = False,
        normalize: bool = True,
        preprocess: Any = None,
        tol: float = 1e-2,
        stopping: str = "gap",
        max_iter: int = 10_000,
        warm_start: bool = False,
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
        self.zero_diagonal = zero_diagonal
        self.normalize = normalize
        self.preprocess = preprocess
        self.tol = tol
        self.stopping = stopping
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _model(self, n_samples: int) -> Model:
        if check_choice("penalty", self.penalty, ("l1", "nuclear")) == "l1":
            return Osc(*self._weights(), bool(self.zero_diagonal))
        check_choice("solver with penalty='nuclear'", self.solver, COUPLED_SOLVERS[1:])
        if self.zero_diagonal:
            raise ValueError("penalty='nuclear' has no form with zero_diagonal=True; leave one of them out.")
        return OscLowRank(*self._weights())


class SpatSC(_Coupled):
    """Spatial subspace clustering: sparse coefficients, each of which seldom changes in time.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 ||Z||_1 + lambda_2 ||ZR||_1``, diag(Z) = 0
    [paper, Eq. YiGuo1]. The parameters that all estimators share are explained in
    :mod:`seqspan.estimators`.

    Parameters
    ----------
    lambda_1 : float
        Weight of the coefficients' sparsity.
    lambda_2 : float
        Weight of their change in time, entry by entry.
    solver : {"fast", "vladmap", "ladmpsap", "sylvester", "splitting"}
    zero_diagonal : bool
        Forbid that a sample represents itself.

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
        lambda_1: float = 0.1,
        lambda_2: float = 0.01,
        solver: str = "fast",
        cut: str = "ncut",
        zero_diagonal: bool = True,
        normalize: bool = True,
        preprocess: Any = None,
        tol: float = 1e-2,
        stopping: str = "gap",
        max_iter: int = 10_000,
        warm_start: bool = False,
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
        self.zero_diagonal = zero_diagonal
        self.normalize = normalize
        self.preprocess = preprocess
        self.tol = tol
        self.stopping = stopping
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _model(self, n_samples: int) -> Model:
        return SpatSc(*self._weights(), bool(self.zero_diagonal))


class SSC(SubspaceSegmenter):
    """Sparse subspace clustering: every sample from few others, whatever their place in time.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 ||Z||_1``, diag(Z) = 0, or a variant of it. The parameters
    that all estimators share are explained in :mod:`seqspan.estimators`.

    Parameters
    ----------
    lambda_1 : float or array of shape (n_samples,)
        Weight of the sparsity, or one for each sample. With ``noise="outliers"`` the weight of the
        Gaussian part of the error, None to leave that out.
    lambda_2 : float or None
        With ``noise="outliers"``, the weight of the sparse part of the error, None to leave that out.
    noise : {"gaussian", "none", "outliers"}
        "none" asks for X = XZ exactly; "outliers" minimises
        ``lambda_1 / 2 ||E||_F^2 + lambda_2 ||S||_1 + ||Z||_1`` with X = XZ + E + S.

    Examples
    --------
    >>> from seqspan import SSC
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(rng=0)
    >>> SSC(n_subspaces=5, random_state=0).fit(X.T).boundaries_
    array([20, 40, 60, 80])
    """

    def __init__(
        self,
        n_subspaces: int | str = "auto",
        *,
        n_spans: int | str = "auto",
        lambda_1: float | Array | None = 0.2,
        lambda_2: float | None = None,
        noise: str = "gaussian",
        cut: str = "ncut",
        normalize: bool = True,
        preprocess: Any = None,
        tol: float = 1e-2,
        max_iter: int = 10_000,
        warm_start: bool = False,
        random_state: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_subspaces = n_subspaces
        self.n_spans = n_spans
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.noise = noise
        self.cut = cut
        self.normalize = normalize
        self.preprocess = preprocess
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _solver(self) -> str:
        return "splitting"

    def _model(self, n_samples: int) -> Model:
        noise = check_choice("noise", self.noise, ("gaussian", "none", "outliers"))
        if noise == "none":
            return SscNoiseFree()
        if noise == "gaussian":
            return Ssc(check_weights("lambda_1", self.lambda_1, n_samples))
        weights = {"lambda_1": self.lambda_1, "lambda_2": self.lambda_2}
        lam1, lam2 = (None if value is None else check_weight(name, value) for name, value in weights.items())
        return SscOutliers(lam1, lam2)


class LRR(SubspaceSegmenter):
    """Low-rank representation: all samples from few directions.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 ||Z||_*``, in closed form, or a variant of it. The parameters
    that all estimators share are explained in :mod:`seqspan.estimators`.

    Parameters
    ----------
    lambda_1 : float
        Weight of the rank; with ``noise="columns"`` of the error.
    noise : {"gaussian", "none", "columns"}
        "none" asks for X = XZ exactly and gives the shape interaction matrix; "columns" minimises
        ``lambda_1 ||E||_{1,2} + ||Z||_*`` with X = XZ + E.

    Examples
    --------
    >>> from seqspan import LRR
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(rng=0)
    >>> LRR(n_subspaces=5, random_state=0).fit(X.T).boundaries_
    array([20, 40, 60, 80])
    """

    def __init__(
        self,
        n_subspaces: int | str = "auto",
        *,
        n_spans: int | str = "auto",
        lambda_1: float = 0.4,
        noise: str = "gaussian",
        cut: str = "ncut",
        normalize: bool = True,
        preprocess: Any = None,
        tol: float = 1e-2,
        max_iter: int = 10_000,
        warm_start: bool = False,
        random_state: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_subspaces = n_subspaces
        self.n_spans = n_spans
        self.lambda_1 = lambda_1
        self.noise = noise
        self.cut = cut
        self.normalize = normalize
        self.preprocess = preprocess
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _solver(self) -> str:
        return "splitting" if self.noise == "columns" else "closed_form"

    def _model(self, n_samples: int) -> Model:
        noise = check_choice("noise", self.noise, ("gaussian", "none", "columns"))
        if noise == "none":
            return LrrNoiseFree()
        lam = check_weight("lambda_1", self.lambda_1)
        return Lrr(lam) if noise == "gaussian" else LrrColumnNoise(lam)


class LSR(SubspaceSegmenter):
    """Least-squares representation: ridge regression of every sample on all, in closed form.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 / 2 ||Z||_F^2``. The parameters that all estimators share are
    explained in :mod:`seqspan.estimators`.

    Parameters
    ----------
    lambda_1 : float
        Weight of the coefficients' size.

    Examples
    --------
    >>> from seqspan import LSR
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(rng=0)
    >>> LSR(n_subspaces=5, random_state=0).fit(X.T).boundaries_
    array([20, 40, 60, 80])
    """

    def __init__(
        self,
        n_subspaces: int | str = "auto",
        *,
        n_spans: int | str = "auto",
        lambda_1: float = 0.4,
        cut: str = "ncut",
        normalize: bool = True,
        preprocess: Any = None,
        random_state: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_subspaces = n_subspaces
        self.n_spans = n_spans
        self.lambda_1 = lambda_1
        self.cut = cut
        self.normalize = normalize
        self.preprocess = preprocess
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _solver(self) -> str:
        return "closed_form"

    def _model(self, n_samples: int) -> Model:
        return Lsr(check_weight("lambda_1", self.lambda_1))
