"""What all estimators share: checks, the way from rows to columns, solving, cutting."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from numbers import Integral
from typing import Any, Self

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from seqspan._core.backend import DEVICES, check_device_samples, is_on_gpu, namespace, require_cupy, to_host
from seqspan._core.checks import check_choice, check_count, check_room, check_weight, scale_columns
from seqspan._core.kernels import Kernel, check_kernel, kernel_map
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cut import MIN_LENGTH
from seqspan.cuts.spectral.n_subspaces import ESTIMATORS
from seqspan.models import Model, Osc, SpatSc
from seqspan.pipeline import CUTS, represent, require_cut_memory, segment
from seqspan.preprocess import make_chain
from seqspan.solvers import Progress, Solution, Stopping
from seqspan.solvers.fast.landmarks import (
    DICTIONARIES,
    LARGEST_FULL,
    N_LANDMARKS,
    Rows,
    choose_landmarks,
    represent_on_landmarks,
)

MIN_SAMPLES = 3
Callback = Callable[[Progress], None]
Minimise = Callable[..., Solution[Any]]


class SubspaceSegmenter(ClusterMixin, BaseEstimator):
    """Fit a model to a sequence of samples, then cut its coefficients into spans.

    Values given here are those of parameters that an estimator does not offer. A new estimator names its
    model and its solver.

    Examples
    --------
    >>> from seqspan import LSR, OSC
    >>> issubclass(OSC, SubspaceSegmenter) and issubclass(LSR, SubspaceSegmenter)
    True
    """

    n_subspaces: int | str
    n_spans: int | str
    cut: str
    min_length: int = MIN_LENGTH
    kernel: Kernel = "linear"
    normalize: bool
    preprocess: Any
    tol: float = 1e-2
    stopping: str = "gap"
    max_iter: int = 1
    warm_start: bool = False
    device: str = "cpu"
    dictionary: str = "samples"
    n_landmarks: int = N_LANDMARKS
    n_jobs: int | None = None
    random_state: Any
    callback: Callback | None
    verbose: int
    _warm: tuple[tuple[Any, ...], Any] | None = None
    _on_gpu: bool = False
    _coefficients: Array

    def _model(self, n_samples: int) -> Model:
        """Check the model's own parameters and build it."""
        raise NotImplementedError

    def _solver(self) -> str:
        """Name the solver to use, checked."""
        raise NotImplementedError

    def _choose_weights(self, X: Array) -> None:
        """Choose weights that are left to the data, of prepared samples in rows."""

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

        Examples
        --------
        >>> from seqspan import OSC
        >>> from seqspan.datasets import make_subspaces
        >>> X, labels = make_subspaces(3, 2, 20, 10, rng=0)
        >>> OSC(n_subspaces=3, random_state=0).fit(X.T).labels_
        array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2,
               2, 2, 2, 2, 2, 2, 2, 2])
        """
        self._on_gpu = is_on_gpu(X)
        samples = self._samples(X)
        self._check()
        prepared, rows = self._prepare(samples)
        self._check_counts(len(rows))
        self._check_memory(len(rows), prepared.dtype)
        self._choose_weights(prepared)
        self._solve(self._model(len(rows)), prepared)
        self._cut(prepared, rows, len(samples))
        return self

    def _samples(self, X: Any) -> Array:
        """Check the samples, where they are."""
        if not is_on_gpu(X):
            checked: Array = validate_data(
                self, X, dtype=(np.float64, np.float32), ensure_min_samples=MIN_SAMPLES
            )
            return checked
        if self.device != "cuda":
            raise ValueError(f"X is a CuPy array, which needs device='cuda'; got device={self.device!r}.")
        on_device: Array = check_device_samples(X, MIN_SAMPLES)
        self.n_features_in_: int = on_device.shape[1]
        return np.asarray(to_host(on_device)) if self.preprocess is not None else on_device

    def _check(self) -> None:
        """Check the parameters that all estimators share."""
        if check_choice("device", self.device, DEVICES) == "cuda":
            require_cupy()
        check_choice("cut", self.cut, CUTS)
        check_count("min_length", self.min_length, 10**9, "samples of a span")
        check_kernel(self.kernel)
        check_choice("stopping", self.stopping, ("gap", "published"))
        check_weight("tol", self.tol)
        check_count("max_iter", self.max_iter, 10**9, "iterations")
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or an int other than 0; got {self.n_jobs!r}.")

    def _check_memory(self, n_samples: int, dtype: npt.DTypeLike) -> None:
        """Refuse before the solver what the cut would have no memory for; the solver asks for itself."""
        if self.device == "cpu" and self.dictionary == "samples":
            shape = n_samples, n_samples
            beside = n_samples**2 * np.dtype(dtype).itemsize
            require_cut_memory(self.cut, shape, dtype, self.n_subspaces, beside=beside)

    def _check_counts(self, n_samples: int) -> None:
        """Check how many labels and spans are asked for, and that the cut can give them."""
        what = f"{n_samples} samples"
        k = check_count("n_subspaces", self.n_subspaces, n_samples, what, tuple(ESTIMATORS))
        n_spans = check_count("n_spans", self.n_spans, n_samples, what, ("auto",))
        if self.cut == "ordered":
            check_room(n_samples, n_spans, k, self.min_length)
        if n_spans == "auto":
            return
        if self.cut == "ncut":
            raise ValueError(
                f"n_spans is for cut='ordered' and cut='peaks'; got n_spans={n_spans} with cut='ncut'."
            )
        if self.cut == "peaks" and isinstance(k, int) and k != n_spans:
            raise ValueError(
                f"cut='peaks' gives every span a label of its own; got n_subspaces={k} and n_spans={n_spans}."
            )

    def _prepare(self, X: Array) -> tuple[Array, IntArray]:
        """Preprocess; also tells which of the given samples each one that is left stands for."""
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
        return X, rows

    def _columns(self, X: Array) -> Array:
        """Transpose, on the device, and scale to unit norm."""
        if self.device == "cuda":
            X = require_cupy().asarray(X)
        columns = namespace(X).ascontiguousarray(X.T)
        if self.normalize:
            columns = scale_columns(columns)
        return columns if self.kernel == "linear" else kernel_map(to_host(columns), self.kernel)

    def _choose_dictionary(self, model: Model, n_samples: int) -> str:
        """Say whether samples or landmarks are the atoms, and tell where that was chosen here."""
        chosen = check_choice("dictionary", self.dictionary, DICTIONARIES)
        check_count("n_landmarks", self.n_landmarks, 10**6, "landmarks")
        setting = self._solver(), self.device, self.kernel
        fits = isinstance(model, Osc | SpatSc) and setting == ("fast", "cpu", "linear")
        if chosen == "landmarks" and not fits:
            raise ValueError(
                "dictionary='landmarks' is for OSC with penalty='l1' and SpatSC, with solver='fast', "
                f"device='cpu' and kernel='linear'; got {type(model).__name__} with {setting}."
            )
        if chosen != "auto":
            return chosen
        if not fits or n_samples <= LARGEST_FULL:
            return "samples"
        warnings.warn(
            f"{n_samples} samples are represented by {self.n_landmarks} landmarks: dictionary='auto' takes "
            f"all of them up to {LARGEST_FULL}.",
            stacklevel=4,
        )
        return "landmarks"

    def _problem(self, model: Model, X: Array) -> tuple[Array, Minimise]:
        """Return the atoms, and what is left to do with them."""
        self.dictionary_ = self._choose_dictionary(model, len(X))
        if isinstance(model, Osc | SpatSc) and self.dictionary_ == "landmarks":
            rows = Rows(X, self.normalize)
            atoms = choose_landmarks(rows, self.n_landmarks)
            self.landmarks_ = np.ascontiguousarray(atoms.T)
            return atoms, partial(represent_on_landmarks, rows, model, atoms)
        atoms = self._columns(X)
        return atoms, partial(represent, atoms, model, self._solver(), device=self.device)

    def _solve(self, model: Model, X: Array) -> None:
        """Run the solver, from where the last fit ended if that is wanted and fits.

        Its state, as large as two times the coefficients, is gone before the cut unless it is wanted.
        """
        options: dict[str, Any] = {}
        solver = self._solver()
        atoms, minimise = self._problem(model, X)
        kind = type(model), getattr(model, "zero_diagonal", None), solver, self.device
        problem = *kind, len(X), atoms.shape, atoms.dtype
        if self.warm_start and self._warm is not None and self._warm[0] == problem:
            options["start"] = self._warm[1]
        if self.device == "cuda":
            check_choice("solver with device='cuda'", solver, ("fast",))
        elif solver == "fast":
            options["n_threads"] = None if self.n_jobs is None else joblib.effective_n_jobs(self.n_jobs)
        with ExitStack() as stack:
            callback = self.callback
            if self.verbose:
                from seqspan._core.progress import SolverDisplay

                callback = _both(stack.enter_context(SolverDisplay(self.tol)), self.callback)
            stopping = Stopping(self.tol, self.max_iter, self.stopping == "published", callback)
            solution = minimise(stopping=stopping, **options)
        self._warm = (problem, solution.state) if self.warm_start else None
        self.coef_ = solution.Z
        self.objective_, self.dual_gap_ = solution.objective, solution.gap
        self.n_iter_, self.history_ = solution.n_iter, solution.history

    def _cut(self, X: Array, rows: IntArray, n_samples: int) -> None:
        """Label the columns, then all samples that each stands for."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        found = segment(
            self._coefficients,
            to_host(self._columns(X)) if self.cut == "ordered" else None,
            cut=self.cut,
            n_subspaces=self.n_subspaces,
            n_spans=self.n_spans,
            min_length=self.min_length,
            rng=rng,
        )
        column = np.searchsorted(rows, np.arange(n_samples), side="right") - 1
        self.labels_ = found.labels[np.maximum(column, 0)]
        self.boundaries_ = rows[found.boundaries]
        self.n_subspaces_ = found.n_subspaces
        self.confidence_ = found.confidence
        if self._on_gpu:
            xp = require_cupy()
            self.labels_, self.boundaries_ = xp.asarray(self.labels_), xp.asarray(self.boundaries_)

    @property
    def coef_(self) -> Array:
        """Z; column j represents sample j. What a GPU found for NumPy's samples is fetched when asked for."""
        try:
            Z = self._coefficients
        except AttributeError:
            raise AttributeError(f"{type(self).__name__} has no coef_ before it is fitted.") from None
        if not self._on_gpu:
            self._coefficients = Z = to_host(Z)
        return Z

    @coef_.setter
    def coef_(self, Z: Array) -> None:
        self._coefficients = Z

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: coefficients as they would be read."""
        if "_coefficients" in vars(self):
            _ = self.coef_
        state: dict[str, Any] = super().__getstate__()
        return state


def _both(first: Callback, second: Callback | None) -> Callback:
    """Tell two listeners."""

    def callback(progress: Progress) -> None:
        first(progress)
        if second is not None:
            second(progress)

    return callback
