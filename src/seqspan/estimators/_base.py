"""What all estimators share: check the samples, run the pipeline, set the attributes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_array, validate_data

from seqspan._core.backend import check_device_samples, is_on_gpu, require_cupy, to_host
from seqspan._core.checks import check_bool, check_choice, check_lengths, check_unmasked
from seqspan._core.display import Display
from seqspan._core.types import Array
from seqspan.estimators._predict import Predicting
from seqspan.methods._base import Parameters
from seqspan.pipeline import MIN_SAMPLES, WarmStart, as_recording, cut, represent
from seqspan.readers._data_frames import from_frame, is_frame
from seqspan.readers._several import is_several, read_all
from seqspan.recording import KINDS, Recording, concatenate
from seqspan.representation import Representation
from seqspan.segmentation import Segmentation

Samples: TypeAlias = npt.ArrayLike | Recording | Sequence[Recording | str | PathLike[str]]
Names: TypeAlias = "npt.NDArray[np.object_] | None"  # of a table's columns


class SubspaceSegmenter(Predicting, Parameters, ClusterMixin, BaseEstimator):
    """Fit a model to samples in order, then cut its coefficients into spans.

    A new estimator only combines this with the parameters of its method.

    Examples
    --------
    >>> from seqspan import LSR, OSC
    >>> issubclass(OSC, SubspaceSegmenter) and issubclass(LSR, SubspaceSegmenter)
    True
    """

    _warm: WarmStart | None = None
    _on_gpu: bool = False
    _coefficients: Array | None = None

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
        if rows.flags.writeable and isinstance(X, np.ndarray) and np.may_share_memory(rows, X):
            rows = rows.copy()  # states are learned when they are needed, and X may hold other samples then
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
        self.labels_ = xp.array(segmentation.labels)  # copies, which the user may change
        self.boundaries_ = xp.array(segmentation.boundaries)
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
