"""``partial_fit``: the estimators that can extend a segmentation while samples arrive."""

from __future__ import annotations

from typing import Any, Self

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from seqspan._core.checks import check_count
from seqspan._core.kernels import Kernel
from seqspan._core.types import Array, IntArray
from seqspan.cuts.online.stream import OnlineSegmentation, Segments
from seqspan.models import Osc, SpatSc
from seqspan.solvers import Stopping


class PartialFit:
    """Adds `partial_fit` to an estimator whose model is OSC or SpatSC."""

    n_subspaces: int | str
    n_landmarks: int
    time_scale: int
    preprocess: Any
    kernel: Kernel
    tol: float
    n_jobs: int | None
    _online: OnlineSegmentation | None = None

    def partial_fit(self, X: npt.ArrayLike, y: object = None, *, last: bool = False) -> Self:
        """Extend the segmentation by the samples that follow those given before.

        Samples are seen once and in order; the far past is known by landmarks alone. A boundary is final when
        ``delay_`` more samples have come, 19 `time_scale`, and does not move any more. The spans
        are those of :mod:`seqspan.cuts.online.stream`, whatever `cut` says, and weights given as "auto" are
        the paper's.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        last : bool
            No samples follow: everything becomes final, and the next call begins anew.

        Returns
        -------
        self
            With ``boundaries_`` and ``span_labels_`` of all that has come, ``n_final_`` of the boundaries
            being final, and ``labels_`` of the samples in X.

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
        begins = self._online is None
        samples: Array = validate_data(
            self, X, dtype=(np.float64, np.float32), reset=begins, ensure_min_samples=0
        )
        if begins:
            self._online = self._begin()
        online = self._online
        assert online is not None
        if len(samples):
            online.extend(samples)
        self._report(online.finish() if last else online.segments(), online, len(samples))
        self._online = None if last else online
        return self

    def _begin(self) -> OnlineSegmentation:
        """Check what is set, and start."""
        if self.preprocess is not None:
            raise ValueError(
                f"partial_fit sees samples once: preprocess must be None; got {self.preprocess!r}. "
                "Centre or scale by values known beforehand."
            )
        if self.kernel != "linear":
            raise ValueError(
                f"partial_fit compares samples as they are: kernel must be 'linear'; got {self.kernel!r}."
            )
        scale = check_count("time_scale", self.time_scale, 10**6, "samples")
        n_labels = None if isinstance(self.n_subspaces, str) else int(self.n_subspaces)
        threads = None if self.n_jobs is None else joblib.effective_n_jobs(self.n_jobs)
        return OnlineSegmentation(
            self._online_model(), time_scale=int(scale), n_labels=n_labels,
            stopping=Stopping(self.tol), n_threads=threads,
        )  # fmt: skip

    def _online_model(self) -> Osc | SpatSc:
        """The model, without looking at samples."""
        raise NotImplementedError

    def _report(self, found: Segments, online: OnlineSegmentation, n_new: int) -> None:
        """Set the attributes."""
        self.boundaries_, self.span_labels_, self.n_final_ = found.boundaries, found.labels, found.n_final
        self.n_subspaces_ = int(found.labels.max()) + 1
        self.n_samples_seen_, self.delay_ = online.n_samples, online.delay
        here = np.arange(online.n_samples - n_new, online.n_samples)
        self.labels_: IntArray = found.labels[np.searchsorted(found.boundaries, here, side="right")]
