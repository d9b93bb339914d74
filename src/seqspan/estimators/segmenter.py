"""What all estimators share: checks, the way from rows to columns, solving, cutting."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from numbers import Integral
from typing import Any, Self

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from seqspan._types import Array, IntArray
from seqspan.checks import check_choice, check_count, check_weight, scale_columns
from seqspan.models import Model
from seqspan.n_subspaces import ESTIMATORS
from seqspan.pipeline import CUTS, represent, segment
from seqspan.preprocess import make_chain
from seqspan.solvers import Progress, Stopping

MIN_SAMPLES = 3
Callback = Callable[[Progress], None]


class SubspaceSegmenter(ClusterMixin, BaseEstimator):
    """Fit a model to a sequence of samples, then cut its coefficients into spans.

    Values given here are those of parameters that an estimator does not offer.
    """

    n_subspaces: int | str
    n_spans: int | str
    cut: str
    normalize: bool
    preprocess: Any
    tol: float = 1e-2
    stopping: str = "gap"
    max_iter: int = 1
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any
    callback: Callback | None
    verbose: int
    _warm: tuple[tuple[Any, ...], Any] | None = None

    def _model(self, n_samples: int) -> Model:
        """Check the model's own parameters and build it."""
        raise NotImplementedError

    def _solver(self) -> str:
        """Name the solver to use, checked."""
        raise NotImplementedError

    def fit(self, X: npt.ArrayLike, y: object = None) -> Self:
        """Segment a sequence.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in order, one per row.
        y : ignored

        Returns
        -------
        self
        """
        samples: Array = validate_data(
            self, X, dtype=(np.float64, np.float32), ensure_min_samples=MIN_SAMPLES
        )
        self._check()
        columns, rows = self._columns(samples)
        self._check_counts(len(rows))
        self._solve(self._model(len(rows)), columns)
        self._cut(rows, len(samples))
        return self

    def _check(self) -> None:
        """Check the parameters that all estimators share."""
        check_choice("cut", self.cut, CUTS)
        check_choice("stopping", self.stopping, ("gap", "published"))
        check_weight("tol", self.tol)
        check_count("max_iter", self.max_iter, 10**9, "iterations")
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or an int other than 0; got {self.n_jobs!r}.")

    def _check_counts(self, n_samples: int) -> None:
        """Check how many labels and spans are asked for, and that the cut can give them."""
        what = f"{n_samples} samples"
        k = check_count("n_subspaces", self.n_subspaces, n_samples, what, tuple(ESTIMATORS))
        n_spans = check_count("n_spans", self.n_spans, n_samples, what, ("auto",))
        if n_spans == "auto":
            return
        if self.cut != "peaks":
            raise ValueError(f"n_spans is for cut='peaks'; got n_spans={n_spans} with cut={self.cut!r}.")
        if isinstance(k, int) and k != n_spans:
            raise ValueError(
                f"cut='peaks' gives every span a label of its own; got n_subspaces={k} and n_spans={n_spans}."
            )

    def _columns(self, X: Array) -> tuple[Array, IntArray]:
        """Preprocess, transpose and scale to unit norm; also tells which sample each column stands for."""
        rows = np.arange(len(X))
        self.preprocess_: tuple[dict[str, Any], ...] = ()
        if self.preprocess is not None:
            chain = make_chain(self.preprocess, X)
            self.preprocess_ = chain.records()
            with np.errstate(over="ignore", invalid="ignore"):
                X, rows = chain.apply(X), chain.rows(len(X))
            if not np.all(np.isfinite(X)):
                raise ValueError(
                    f"preprocess={self.preprocess!r} left the range of {X.dtype}: scale X down first."
                )
        columns = np.ascontiguousarray(X.T)
        return (scale_columns(columns) if self.normalize else columns), rows

    def _solve(self, model: Model, X: Array) -> None:
        """Run the solver, from where the last fit ended if that is wanted and fits.

        Its state, as large as two times the coefficients, is gone before the cut unless it is wanted.
        """
        options: dict[str, Any] = {}
        solver = self._solver()
        problem = type(model), getattr(model, "zero_diagonal", None), solver, X.shape, X.dtype
        if self.warm_start and self._warm is not None and self._warm[0] == problem:
            options["start"] = self._warm[1]
        if solver == "fast":
            options["n_threads"] = None if self.n_jobs is None else joblib.effective_n_jobs(self.n_jobs)
        with ExitStack() as stack:
            callback = self.callback
            if self.verbose:
                from seqspan.progress import SolverDisplay

                callback = _both(stack.enter_context(SolverDisplay(self.tol)), self.callback)
            stopping = Stopping(self.tol, self.max_iter, self.stopping == "published", callback)
            solution = represent(X, model, solver, stopping, **options)
        self._warm = (problem, solution.state) if self.warm_start else None
        self.coef_ = solution.Z
        self.objective_, self.dual_gap_ = solution.objective, solution.gap
        self.n_iter_, self.history_ = solution.n_iter, solution.history

    def _cut(self, rows: IntArray, n_samples: int) -> None:
        """Label the columns, then all samples that each stands for."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        found = segment(self.coef_, cut=self.cut, n_subspaces=self.n_subspaces, n_spans=self.n_spans, rng=rng)
        column = np.searchsorted(rows, np.arange(n_samples), side="right") - 1
        self.labels_ = found.labels[np.maximum(column, 0)]
        self.boundaries_ = rows[found.boundaries]
        self.n_subspaces_ = found.n_subspaces


def _both(first: Callback, second: Callback | None) -> Callback:
    """Tell two listeners."""

    def callback(progress: Progress) -> None:
        first(progress)
        if second is not None:
            second(progress)

    return callback
