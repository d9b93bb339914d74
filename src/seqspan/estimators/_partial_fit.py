"""``partial_fit``: estimators that can extend a segmentation while samples arrive."""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from seqspan._core.checks import check_count, check_weight
from seqspan._core.spans import Division
from seqspan._core.types import IntArray
from seqspan.cuts.online.stream import OnlineSegmentation
from seqspan.estimators._base import SubspaceSegmenter
from seqspan.models import Osc, SpatSc
from seqspan.models.weights import LAMBDA_1_FRACTION
from seqspan.solvers import Stopping

#: Parameters that a stream accepts; `random_state` has no effect, because nothing in a stream is random.
USED = {
    "n_subspaces", "lambda_1", "lambda_2", "tol", "max_iter", "time_scale", "n_jobs", "callback",
    "random_state", "kind",
}  # fmt: skip


class PartialFit(SubspaceSegmenter):
    """An estimator for OSC or SpatSC, which can be fitted to a stream."""

    time_scale: int
    _lambda_2_fraction: float  # as in the paper
    _stream: OnlineSegmentation | None = None
    _parameters: dict[str, Any]

    def partial_fit(self, X: npt.ArrayLike, y: object = None, *, last: bool = False) -> Self:
        """Extend the segmentation by the next samples of a stream.

        Samples are seen once and in order. The distant past is represented only by landmarks. A boundary
        becomes final after ``delay_`` more samples, which is 19 times `time_scale`. Streams have their own
        cut, and weights given as "auto" are the paper's. Parameters that a stream does not use must keep
        their defaults.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        last : bool
            Whether the stream ends here. All boundaries become final, and the next call starts a new stream.

        Returns
        -------
        self
            With ``boundaries_`` and ``span_labels_`` of everything so far, ``n_final_``, the number of final
            boundaries, and ``labels_`` of the samples in X.

        Examples
        --------
        >>> from seqspan import OSC
        >>> from seqspan.datasets import make_motion
        >>> X, labels = make_motion(6000, 20, rng=1)
        >>> X -= X.mean(axis=1, keepdims=True)
        >>> osc = OSC()
        >>> for block in np.array_split(X.T, 10):
        ...     osc = osc.partial_fit(block)
        >>> osc = osc.partial_fit(block[:0], last=True)
        >>> true = np.flatnonzero(np.diff(labels)) + 1
        >>> bool(np.abs(true[:, None] - osc.boundaries_).min(axis=0).max() <= 60)  # within half a second
        True
        """
        if self._stream is None:
            stream = self._begin()
            samples, names = self._check_rows(X, 0)
            self._forget()
            self._name_features(names)
            self.n_features_in_ = samples.shape[1]
            self._parameters = self.get_params(deep=False)
        else:
            stream = self._stream
            self._refuse_changes()
            samples = validate_data(
                self, X, dtype=(np.float64, np.float32), reset=False, ensure_min_samples=0
            )
        if len(samples):
            stream.extend(samples)
        self._report(stream.finish() if last else stream.division(), stream, len(samples))
        self._stream = None if last else stream
        return self

    def _begin(self) -> OnlineSegmentation:
        """Check the parameters and start a stream."""
        self._refuse_unused()
        scale = check_count("time_scale", self.time_scale, 10**6, "samples")
        k = check_count("n_subspaces", self.n_subspaces, 10**6, "labels of a stream", ("auto",))
        check_count("max_iter", self.max_iter, 10**9, "iterations")
        return OnlineSegmentation(
            self._coupled(
                self._weight("lambda_1", LAMBDA_1_FRACTION), self._weight("lambda_2", self._lambda_2_fraction)
            ),
            time_scale=int(scale),
            n_labels=None if isinstance(k, str) else k,
            stopping=Stopping(check_weight("tol", self.tol), int(self.max_iter), callback=self.callback),
            n_jobs=self._jobs(),
        )

    def _refuse_unused(self) -> None:
        """Refuse parameters that a stream would ignore."""
        for name, parameter in inspect.signature(type(self)).parameters.items():
            given = getattr(self, name)
            if name not in USED and not _same(given, parameter.default):
                raise ValueError(
                    f"partial_fit does not use {name}: leave it at {parameter.default!r}; got {given!r}. "
                    f"{REMEDIES.get(name, '')}".rstrip()
                )

    def _refuse_changes(self) -> None:
        """Refuse parameters that were changed in the middle of a stream, where they would have no effect."""
        for name, given in self.get_params(deep=False).items():
            before = self._parameters[name]
            if not _same(given, before):
                raise ValueError(
                    f"{name} was {before!r} when the stream began; got {given!r}. End the stream first "
                    "(last=True), or set it back."
                )

    def _weight(self, name: str, paper: float) -> float:
        """The given weight, or the paper's for "auto"."""
        given = getattr(self, name)
        return paper if given == "auto" else check_weight(name, given)

    def _coupled(self, lambda_1: float, lambda_2: float) -> Osc | SpatSc:
        """The model with given weights."""
        raise NotImplementedError

    def _report(self, found: Division, stream: OnlineSegmentation, n_new: int) -> None:
        """Set the attributes."""
        self.boundaries_, self.span_labels_, self.n_final_ = found.boundaries, found.labels, found.n_final
        self.n_subspaces_ = int(found.labels.max()) + 1
        self.n_samples_seen_, self.delay_ = stream.n_samples, stream.delay
        here = np.arange(stream.n_samples - n_new, stream.n_samples)
        self.labels_: IntArray = found.labels[np.searchsorted(found.boundaries, here, side="right")]


def _same(given: Any, other: Any) -> bool:
    """Whether two values of a parameter are the same; arrays are compared by identity."""
    return given is other or (not isinstance(given, np.ndarray) and bool(given == other))


#: What to do instead, for parameters that users are likely to try.
REMEDIES = {
    "preprocess": "Samples are seen only once: centre or scale them with values known in advance.",
    "cut": "Streams have their own cut.",
    "normalize": "Samples of a stream are always scaled to unit norm.",
    "kernel": "Samples of a stream are compared as they are.",
}
