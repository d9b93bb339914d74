"""Estimators whose models do not know the order of the samples; the cut does."""

from __future__ import annotations

from typing import Any

from seqspan._core.checks import check_choice, check_weight, check_weights
from seqspan._core.types import Array
from seqspan.estimators._shared import explain_shared
from seqspan.estimators.segmenter import Callback, SubspaceSegmenter
from seqspan.models import Lrr, LrrColumnNoise, LrrNoiseFree, Lsr, Model, Ssc, SscNoiseFree, SscOutliers


@explain_shared
class SSC(SubspaceSegmenter):
    """Sparse subspace clustering: every sample from few others, whatever their place in time.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 ||Z||_1``, diag(Z) = 0, or a variant of it.

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


@explain_shared
class LRR(SubspaceSegmenter):
    """Low-rank representation: all samples from few directions.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 ||Z||_*``, in closed form, or a variant of it.

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


@explain_shared
class LSR(SubspaceSegmenter):
    """Least-squares representation: ridge regression of every sample on all, in closed form.

    Minimises ``||X - XZ||_F^2 / 2 + lambda_1 / 2 ||Z||_F^2``.

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
