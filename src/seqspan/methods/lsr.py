"""Parameters of least-squares representation."""

from __future__ import annotations

from typing import Any

from seqspan._core.checks import check_weight
from seqspan._core.spans import MIN_LENGTH
from seqspan._core.types import Array
from seqspan.methods._base import Callback, Parameters
from seqspan.models import Lsr, Model


class LsrParameters(Parameters):
    """Of :class:`seqspan.LSR`, which describes them."""

    def __init__(
        self,
        n_subspaces: int | str = "auto",
        *,
        n_spans: int | str = "auto",
        grain: str = "default",
        lambda_1: float = 0.4,
        cut: str = "ncut",
        min_length: int = MIN_LENGTH,
        normalize: bool = True,
        preprocess: Any = None,
        dtype: str | None = None,
        kind: str = "table",
        n_jobs: int | None = None,
        random_state: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_subspaces = n_subspaces
        self.n_spans = n_spans
        self.grain = grain
        self.lambda_1 = lambda_1
        self.cut = cut
        self.min_length = min_length
        self.normalize = normalize
        self.preprocess = preprocess
        self.dtype = dtype
        self.kind = kind
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _solver(self) -> str:
        return "closed_form"

    def _make_model(self, X: Array) -> Model:
        return Lsr(check_weight("lambda_1", self.lambda_1))
