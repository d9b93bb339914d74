"""``seqspan.segment``: from a file, a recording or an array of rows to a segmentation in one call."""

from __future__ import annotations

from os import PathLike
from typing import Any

from seqspan.estimators._base import Samples, SubspaceSegmenter
from seqspan.estimators.lrr import LRR
from seqspan.estimators.lsr import LSR
from seqspan.estimators.osc import OSC
from seqspan.estimators.spatsc import SpatSC
from seqspan.estimators.ssc import SSC
from seqspan.methods._defaults import complete
from seqspan.readers import read
from seqspan.readers._several import is_several, read_all
from seqspan.recording import Recording, concatenate
from seqspan.segmentation import Segmentation

#: Estimators by the names used in ``segment`` and on the command line.
METHODS: dict[str, type[SubspaceSegmenter]] = {
    "osc": OSC, "spatsc": SpatSC, "ssc": SSC, "lrr": LRR, "lsr": LSR,
}  # fmt: skip


def segment(
    source: str | PathLike[str] | Samples,
    *,
    n_subspaces: int | str = "auto",
    n_spans: int | str = "auto",
    method: str = "osc",
    resample: float | str | None = None,
    **settings: Any,
) -> Segmentation:
    """Divide a recording into spans and label them.

    Parameters
    ----------
    source : path, Recording, list of these, data frame, or array-like of shape (n_samples, n_features)
        A file that :func:`seqspan.read` can read, a recording, a data frame of pandas or polars, or samples
        in order, one per row. Several paths or recordings are segmented together: their labels are shared.
    n_subspaces : int or "auto"
        Number of distinct labels.
    n_spans : int or "auto"
        Number of spans, of all recordings together.
    method : {"osc", "spatsc", "ssc", "lrr", "lsr"}
    resample : float or "first", optional
        Sampling rate of all recordings, in samples per unit of their times, or that of the first one. By
        default samples are taken as they are, and several recordings with different rates are refused.
    **settings
        Parameters of the method's estimator, such as ``cut="ncut"`` or ``lambda_2=3.0``. For all others, the
        defaults are those of :func:`seqspan.estimators.table_of_defaults`, as on the command line.

    Returns
    -------
    Segmentation

    Examples
    --------
    >>> import seqspan
    >>> from seqspan.datasets import make_recurring_subspaces
    >>> X, _ = make_recurring_subspaces((0, 1, 2, 0), 3, 12, (20, 15, 25, 20), rng=0)
    >>> found = seqspan.segment(X.T)
    >>> found.boundaries, found.spans[-1].label
    (array([20, 35, 60]), 0)
    """
    given = complete(method, {"n_subspaces": n_subspaces, "n_spans": n_spans, **settings})
    estimator = METHODS[method](**given)
    recording = read(source) if isinstance(source, str | PathLike) else source
    if resample is not None:
        recording = concatenate(_recordings(recording), resample)
    found: Segmentation = estimator.fit(recording).segmentation_
    return found


def _recordings(source: Any) -> list[Recording]:
    """The recordings of a source that is to be resampled, which needs times."""
    if is_several(source):
        return read_all(source)
    if not isinstance(source, Recording):
        raise ValueError(
            f"resample is for recordings and files, which have times; got {type(source).__name__}."
        )
    return [source]
