"""Parameters of low-rank representation."""

from __future__ import annotations

from typing import Any

from seqspan._core.checks import check_choice, check_weight, refuse_weight
from seqspan._core.spans import MIN_LENGTH
from seqspan._core.types import Array
from seqspan.methods._base import Callback, Parameters
from seqspan.models import Lrr, LrrColumnNoise, LrrNoiseFree, Model

PAPER_LAMBDA_1 = 0.4  # for samples of unit norm


class LrrParameters(Parameters):
    """Of :class:`seqspan.LRR`, which describes them."""

    def __init__(
        self,
        n_subspaces: int | str = "auto",
        *,
        n_spans: int | str = "auto",
        grain: str = "default",
        lambda_1: float = PAPER_LAMBDA_1,
        noise: str = "gaussian",
        cut: str = "ncut",
        min_length: int = MIN_LENGTH,
        normalize: bool = True,
        preprocess: Any = None,
        dtype: str | None = None,
        kind: str = "table",
        tol: float = 1e-2,
        max_iter: int = 10_000,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_subspaces = n_subspaces
        self.n_spans = n_spans
        self.grain = grain
        self.lambda_1 = lambda_1
        self.noise = noise
        self.cut = cut
        self.min_length = min_length
        self.normalize = normalize
        self.preprocess = preprocess
        self.dtype = dtype
        self.kind = kind
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _solver(self) -> str:
        return "splitting" if self.noise == "columns" else "closed_form"

    def _make_model(self, X: Array) -> Model:
        noise = check_choice("noise", self.noise, ("gaussian", "none", "columns"))
        if noise == "none":
            refuse_weight("lambda_1", self.lambda_1, PAPER_LAMBDA_1)
            return LrrNoiseFree()
        lam = check_weight("lambda_1", self.lambda_1)
        return Lrr(lam) if noise == "gaussian" else LrrColumnNoise(lam)
