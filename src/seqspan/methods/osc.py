"""Parameters of ordered subspace clustering, the paper's method."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from seqspan._core.checks import check_bool, check_choice
from seqspan._core.kernels import Kernel
from seqspan._core.spans import MIN_LENGTH
from seqspan._core.types import Array
from seqspan.methods._base import Callback
from seqspan.methods._coupled import COUPLED_SOLVERS, CoupledParameters
from seqspan.models import Model, Osc, OscLowRank


class OscParameters(CoupledParameters):
    """Of :class:`seqspan.OSC`, which describes them."""

    def __init__(
        self,
        n_subspaces: int | str = "auto",
        *,
        n_spans: int | str = "auto",
        grain: str = "default",
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
        dtype: str | None = None,
        kind: str = "table",
        tol: float = 1e-2,
        stopping: str = "gap",
        max_iter: int = 10_000,
        warm_start: bool = False,
        dictionary: str | npt.ArrayLike = "samples",
        n_landmarks: int | str = "auto",
        time_scale: int | str = "auto",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_subspaces = n_subspaces
        self.n_spans = n_spans
        self.grain = grain
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
        self.dtype = dtype
        self.kind = kind
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

    def _make_model(self, X: Array) -> Model:
        if check_choice("penalty", self.penalty, ("l1", "nuclear")) == "l1":
            return self._coupled(*self._weights(X))
        check_choice("solver with penalty='nuclear'", self.solver, COUPLED_SOLVERS[1:])
        if check_bool("zero_diagonal", self.zero_diagonal):
            raise ValueError("penalty='nuclear' needs zero_diagonal=False; got zero_diagonal=True.")
        return OscLowRank(*self._weights(X))

    def _coupled(self, lambda_1: float, lambda_2: float) -> Osc:
        return Osc(lambda_1, lambda_2, check_bool("zero_diagonal", self.zero_diagonal))
