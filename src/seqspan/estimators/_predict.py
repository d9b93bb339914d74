"""``predict`` and ``score_samples``: the labels of a fit in new recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from seqspan._core.backend import check_device_samples, is_on_gpu, require_cupy, to_host
from seqspan._core.checks import check_lengths, check_unmasked
from seqspan._core.types import Array, IntArray
from seqspan.known import KnownStates
from seqspan.readers._data_frames import from_frame, is_frame
from seqspan.recording import Recording
from seqspan.segmentation import Segmentation


class Predicting:
    """An estimator whose labels are recognised in new recordings."""

    segmentation_: Segmentation

    def predict(self, X: npt.ArrayLike | Recording, *, lengths: Iterable[int] | None = None) -> IntArray:
        """Find the labels of the fit in new recordings.

        The recordings are divided into spans by the objective of the ordered cut, with the labels known. On
        the samples of the fit the answer is nearly ``labels_``, at least if ``cut="ordered"``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features), or Recording
            Samples in order, with the features of the fit. The columns of a Recording or a data frame are
            matched by name.
        lengths : iterable of int, optional
            Numbers of samples of the recordings that are concatenated in X; one recording by default.

        Returns
        -------
        labels : array of int, shape (n_samples,)
            -1 where none of the labels fits.

        Examples
        --------
        >>> from seqspan import OSC
        >>> from seqspan.datasets import make_recurring_subspaces
        >>> X, labels = make_recurring_subspaces((0, 1, 2, 0, 1), 3, 30, 40, rng=0)
        >>> osc = OSC(n_subspaces=3, random_state=0).fit(X[:, :120].T)
        >>> bool(np.mean(osc.predict(X[:, 120:].T) == labels[120:]) > 0.95)
        True
        """
        labels: IntArray = self._map_parts(X, lengths, lambda known, part: known.predict(part))
        return labels

    def score_samples(self, X: npt.ArrayLike | Recording, *, lengths: Iterable[int] | None = None) -> Array:
        """How well each sample fits the labels of the fit.

        Parameters
        ----------
        X, lengths
            As for `predict`.

        Returns
        -------
        scores : array of shape (n_samples,)
            Log density under the label that fits best, minus that under the background of all samples of the
            fit, in nats. It is negative where no label fits.

        Examples
        --------
        >>> from seqspan import OSC
        >>> from seqspan.datasets import make_recurring_subspaces
        >>> X, _ = make_recurring_subspaces((0, 1, 2, 0), 3, 30, 40, rng=0)
        >>> osc = OSC(n_subspaces=3, random_state=0).fit(X.T)
        >>> bool(np.median(osc.score_samples(X.T)) > 0 > np.median(osc.score_samples(5 * X.T)))
        True
        """
        scores: Array = self._map_parts(X, lengths, lambda known, part: known.score_samples(part))
        return scores

    def _map_parts(
        self,
        X: Any,
        lengths: Iterable[int] | None,
        function: Callable[[KnownStates, Recording | npt.NDArray[Any]], npt.NDArray[Any]],
    ) -> Any:
        """Apply a function to each recording, and join what it returns."""
        known, given = self._known(), self._new_samples(X)
        rows = given.X if isinstance(given, Recording) else given
        edges = _edges(len(rows), lengths)
        if isinstance(given, Recording):
            parts: list[Any] = [given.take(np.arange(start, end)) for start, end in pairwise(edges)]
        else:
            parts = [to_host(given[start:end]) for start, end in pairwise(edges)]
        found = np.concatenate([function(known, part) for part in parts])
        return require_cupy().asarray(found) if is_on_gpu(rows) else found

    def _known(self) -> KnownStates:
        """What recognises the labels; after a stream there is none."""
        check_is_fitted(self)
        if "segmentation_" not in vars(self):
            raise NotFittedError(
                f"{type(self).__name__} was fitted to a stream, which keeps no samples to learn its labels "
                "from: call fit before predict and score_samples."
            )
        return self.segmentation_.states

    def _new_samples(self, X: Any) -> Any:
        """Check samples to predict; a data frame becomes a recording."""
        if is_on_gpu(X):
            return check_device_samples(X, 1)
        if isinstance(X, Recording) or is_frame(X):
            recording = X if isinstance(X, Recording) else from_frame(X)
            check_array(recording.X, dtype="numeric")
            return recording
        check_unmasked(X)
        with np.errstate(invalid="ignore"):  # scikit-learn adds up all entries, and the largest overflow
            return validate_data(self, X, dtype=(np.float64, np.float32), reset=False)


def _edges(n_samples: int, lengths: Iterable[int] | None) -> list[int]:
    """Where recordings start, and where the last one ends."""
    given = (n_samples,) if lengths is None else check_lengths(lengths, n_samples)
    return [0, *np.cumsum(given).tolist()]
