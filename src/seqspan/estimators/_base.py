"""What all estimators share: check the parameters, run the pipeline, set the attributes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from os import PathLike
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_array, validate_data

from seqspan._core.backend import DEVICES, check_device_samples, is_on_gpu, require_cupy, to_host
from seqspan._core.checks import (
    check_bool,
    check_choice,
    check_count,
    check_lengths,
    check_seed,
    check_unmasked,
    check_weight,
)
from seqspan._core.display import Display
from seqspan._core.kernels import Kernel, check_kernel
from seqspan._core.solution import Progress
from seqspan._core.spans import MIN_LENGTH
from seqspan._core.types import Array
from seqspan.cuts import CUTS
from seqspan.cuts.cutting import Cutting
from seqspan.estimators._predict import Predicting
from seqspan.models import Model
from seqspan.pipeline import MIN_SAMPLES, Method, WarmStart, as_recording, cut, represent
from seqspan.readers._data_frames import from_frame, is_frame
from seqspan.readers._several import is_several, read_all
from seqspan.recording import KINDS, Recording, concatenate
from seqspan.representation import Representation
from seqspan.segmentation import Segmentation
from seqspan.solvers import Stopping
from seqspan.solvers.fast.landmarks import DICTIONARIES

PRECISIONS = ("float32", "float64")
PUBLISHED_RULES = ("vladmap", "ladmpsap", "sylvester")  # solvers whose papers give a stopping rule
Callback = Callable[[Progress], None]
Samples: TypeAlias = npt.ArrayLike | Recording | Sequence[Recording | str | PathLike[str]]
Names: TypeAlias = "npt.NDArray[np.object_] | None"  # of a table's columns


class SubspaceSegmenter(Predicting, ClusterMixin, BaseEstimator):
    """Fit a model to samples in order, then cut its coefficients into spans.

    The class attributes are the values of parameters that an estimator does not offer. A new estimator only
    defines its model and its solver.

    Examples
    --------
    >>> from seqspan import LSR, OSC
    >>> issubclass(OSC, SubspaceSegmenter) and issubclass(LSR, SubspaceSegmenter)
    True
    """

    n_subspaces: int | str
    n_spans: int | str
    grain: str
    cut: str
    min_length: int
    kernel: Kernel = "linear"
    normalize: bool
    preprocess: Any
    dtype: str | None
    kind: str
    tol: float = 1e-2
    stopping: str = "gap"
    max_iter: int = 1
    warm_start: bool = False
    device: str = "cpu"
    dictionary: str | npt.ArrayLike = "samples"
    n_landmarks: int | str = "auto"
    n_jobs: int | None
    random_state: Any
    callback: Callback | None
    verbose: int
    _warm: WarmStart | None = None
    _on_gpu: bool = False
    _coefficients: Array | None = None

    def _make_model(self, X: Array) -> Model:
        """Check the model's own parameters and build the model for samples X (d, n)."""
        raise NotImplementedError

    def _solver(self) -> str:
        """Name of the solver, checked."""
        raise NotImplementedError

    def fit(self, X: Samples, y: object = None, *, lengths: Sequence[int] | None = None) -> Self:
        """Segment samples in order.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features), Recording, or list of Recordings
            Samples in order, one per row. A Recording also has a kind, times and names. In a data frame of
            pandas or polars, dates or a column of times are the times, not features
            (:func:`seqspan.readers.from_frame`). A list of Recordings or paths shares its labels.
        y : ignored
        lengths : sequence of int, optional
            Numbers of samples of several recordings, one after another in X. No span crosses from one into
            the next, and nothing is penalised there.

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
        recording, names = self._recording(concatenate(read_all(X)) if is_several(X) else X)
        if lengths is not None:
            recording = replace(recording, lengths=check_lengths(lengths, len(recording)), sources=())
        self._warm = (self._warm or WarmStart()) if check_bool("warm_start", self.warm_start) else None
        method, cutting = self.stages()
        with Display(type(self).__name__, int(self.verbose)) as display:
            found = represent(recording, method, cutting=cutting, warm=self._warm, display=display)
            segmentation = cut(found, cutting, display=display)
        self._forget()
        self._name_features(names)
        self._keep(recording, found, segmentation)
        return self

    def _recording(self, X: Any) -> tuple[Recording, Names]:
        """Check the samples, on the host or on the GPU; also the names of a table's columns."""
        if isinstance(X, Recording):
            check_array(X.X, dtype="numeric", ensure_min_samples=MIN_SAMPLES)
            return X, None
        check_choice("kind", self.kind, KINDS)
        if is_frame(X):
            return self._frame_recording(X)
        if is_on_gpu(X):
            if self.device != "cuda":
                raise ValueError(f"X is a CuPy array, which needs device='cuda'; got device={self.device!r}.")
            return as_recording(check_device_samples(X, MIN_SAMPLES), self.kind), None
        rows, names = self._check_rows(X, MIN_SAMPLES)
        return as_recording(rows, self.kind), names

    def _frame_recording(self, X: Any) -> tuple[Recording, Names]:
        """The features and times of a data frame, and the names of its features if all have names."""
        recording = replace(from_frame(X), kind=self.kind)
        check_array(recording.X, ensure_min_samples=MIN_SAMPLES)
        named = all(isinstance(name, str) for name in X.columns)
        return recording, np.array(recording.feature_names, dtype=object) if named else None

    def _check_rows(self, X: Any, least: int) -> tuple[Array, Names]:
        """Check an array or a table; no attribute changes, because what follows may still fail."""
        check_unmasked(X)
        checked = copy.copy(self)  # scikit-learn sets attributes while it checks
        with np.errstate(invalid="ignore"):  # scikit-learn adds up all entries, and the largest overflow
            rows: Array = validate_data(checked, X, dtype=(np.float64, np.float32), ensure_min_samples=least)
        return rows, getattr(checked, "feature_names_in_", None)

    def _name_features(self, names: Names) -> None:
        """Set the names of a table's columns, if it was one."""
        if names is not None:
            self.feature_names_in_ = names

    def stages(self) -> tuple[Method, Cutting]:
        """Return the settings of the pipeline's two stages, with every parameter checked.

        Examples
        --------
        >>> from seqspan import OSC
        >>> method, cutting = OSC(solver="vladmap", cut="ordered").stages()
        >>> method.solver, cutting.cut
        ('vladmap', 'ordered')
        """
        return self._method(), self._cutting()

    def _method(self) -> Method:
        """How samples are represented."""
        if check_choice("device", self.device, DEVICES) == "cuda":
            require_cupy()
        solver = self._solver()
        self._check_dictionary()
        if self.dtype is not None:
            check_choice("dtype", self.dtype, PRECISIONS)
        if self.device == "cuda":
            check_choice("solver with device='cuda'", solver, ("fast",))
        return Method(
            make_model=self._make_model,
            solver=solver,
            preprocess=self.preprocess,
            normalize=check_bool("normalize", self.normalize),
            kernel=check_kernel(self.kernel),
            dtype=self.dtype,
            dictionary=self.dictionary if isinstance(self.dictionary, str) else np.asarray(self.dictionary),
            n_landmarks=check_count("n_landmarks", self.n_landmarks, 10**6, "landmarks", ("auto",)),
            device=self.device,
            stopping=self._stopping(solver),
            n_jobs=self._jobs(),
        )

    def _check_dictionary(self) -> None:
        """Check what represents the samples: a word, or an array of atoms that nobody preprocesses."""
        given = self.dictionary if isinstance(self.dictionary, str) else "an array"
        if given in ("samples", "an array") and self.n_landmarks != "auto":
            raise ValueError(
                f"n_landmarks={self.n_landmarks} needs dictionary='landmarks' or 'auto'; got {given!r}."
            )
        if isinstance(self.dictionary, str):
            check_choice("dictionary", self.dictionary, DICTIONARIES)
        elif self.preprocess is not None:
            raise ValueError(
                "dictionary=array needs preprocess=None, because steps such as centring look at the samples: "
                f"preprocess samples and atoms before fit; got preprocess={self.preprocess!r}."
            )

    def _stopping(self, solver: str) -> Stopping:
        """When the solver stops, checked."""
        rule = check_choice("stopping", self.stopping, ("gap", "published"))
        if rule == "published" and solver not in PUBLISHED_RULES:
            raise ValueError(
                f"stopping='published' needs a solver with a published rule, {', '.join(PUBLISHED_RULES)}; "
                f"got solver={solver!r}."
            )
        check_weight("tol", self.tol)
        check_count("max_iter", self.max_iter, 10**9, "iterations")
        return Stopping(self.tol, int(self.max_iter), rule == "published", self.callback)

    def _jobs(self) -> int | None:
        """Number of threads as given, checked."""
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or an int other than 0; got {self.n_jobs!r}.")
        return self.n_jobs

    def _cutting(self) -> Cutting:
        """How coefficients become spans."""
        check_choice("cut", self.cut, CUTS)
        check_count("min_length", self.min_length, 10**9, "samples of a span")
        if self.cut != "ordered" and self.min_length != MIN_LENGTH:
            raise ValueError(
                f"min_length is for cut='ordered'; got min_length={self.min_length} with {self.cut!r}."
            )
        seed = check_seed("random_state", self.random_state)
        return Cutting(
            self.cut, self.n_subspaces, self.n_spans, self.grain, int(self.min_length), seed, self._jobs()
        )

    def _forget(self) -> None:
        """Delete the attributes of earlier fits, so that all attributes describe the same fit."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self._stream: Any = None
        self._coefficients = None

    def _keep(self, recording: Recording, found: Representation, segmentation: Segmentation) -> None:
        """Set the attributes."""
        self._on_gpu = is_on_gpu(recording.X)
        xp = require_cupy() if self._on_gpu else np
        self.segmentation_ = segmentation
        self.labels_ = xp.asarray(segmentation.labels)
        self.boundaries_ = xp.asarray(segmentation.boundaries)
        self.n_subspaces_ = segmentation.n_subspaces
        self.objective_, self.dual_gap_ = found.solution.objective, found.solution.gap
        self.n_iter_, self.history_ = found.solution.n_iter, found.solution.history
        self.preprocess_ = found.steps
        self.n_features_in_: int = recording.X.shape[1]
        self._keep_model(found)

    def _keep_model(self, found: Representation) -> None:
        """Set the attributes that only some models have."""

    @property
    def coef_(self) -> Array:
        """Z; column j represents sample j. After a GPU fit of NumPy samples it is copied on first access."""
        Z: Array = self._fitted("coef_").representation.Z
        if self._on_gpu:
            return Z
        self._coefficients = np.asarray(to_host(Z)) if self._coefficients is None else self._coefficients
        return self._coefficients

    @property
    def confidence_(self) -> Array | None:
        """Confidence in each boundary, in [0, 1]; computed on first access."""
        confidence: Array | None = self._fitted("confidence_").confidence
        return confidence

    def _fitted(self, name: str) -> Any:
        """The segmentation, if there is one."""
        if "segmentation_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted: call fit first.")
        return self.segmentation_
