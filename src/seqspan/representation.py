"""Samples and the coefficients that represent them: what the pipeline makes first, and cuts divide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seqspan._core.backend import is_on_gpu, to_host
from seqspan._core.solution import Solution
from seqspan._core.types import Array, IntArray
from seqspan.recording import Recording

__all__ = ["Representation"]


@dataclass(frozen=True, eq=False)
class Representation:
    """Samples as columns, and the coefficients that represent them.

    Parameters
    ----------
    recording : Recording
        As it was read.
    X : array of shape (d, n)
        Preprocessed samples, one per column.
    samples : array of shape (n, d)
        The same as rows, before they were scaled to unit norm or mapped by a kernel. Cuts look at these,
        because how large a sample is says something, too.
    rows : array of int, shape (n,)
        Index of the input row that each column stands for.
    model : Model
        What was minimised.
    solution : Solution
        Coefficients and certificate.
    landmarks : array of shape (d, m), optional
        The atoms, if they are not the samples themselves.
    steps : tuple of dict
        Preprocessing steps that were applied.
    reasons : tuple of str
        Why "auto" chose them.
    notes : tuple of str
        What the user should know.
    reused : bool
        Whether the solution comes from an earlier run.
    reach : int
        Number of neighbours on either side that samples were put beside.

    Examples
    --------
    >>> import seqspan
    >>> from seqspan.datasets import make_subspaces
    >>> X, _ = make_subspaces(rng=0)
    >>> found = seqspan.segment(X.T)
    >>> found.representation.X.shape, found.representation.Z.shape
    ((100, 100), (100, 100))
    """

    recording: Recording
    X: Array
    samples: Array
    rows: IntArray
    model: Any
    solution: Solution[Any]
    landmarks: Array | None = None
    steps: tuple[dict[str, Any], ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reused: bool = False
    reach: int = 0

    def __getstate__(self) -> dict[str, Any]:
        """Fetch from a GPU what was found there for NumPy samples, so that loading needs no GPU."""
        if is_on_gpu(self.recording.X):
            return dict(vars(self))
        fetched = {
            "X": to_host(self.X),
            "samples": to_host(self.samples),
            "solution": replace(self.solution, Z=to_host(self.Z)),
        }
        return {**vars(self), **fetched}

    @property
    def Z(self) -> Array:
        """Coefficients; column j represents column j of X."""
        return self.solution.Z

    @property
    def joins(self) -> tuple[int, ...]:
        """Columns at which another recording begins."""
        return tuple(np.searchsorted(self.rows, self.recording.joins).tolist())

    def to_columns(self, boundaries: IntArray) -> IntArray:
        """The columns that follow boundaries of input rows, each once; none follows the last row kept."""
        columns = np.unique(np.searchsorted(self.rows, boundaries))
        return columns[columns < len(self.rows)]

    def to_rows(self, labels: IntArray) -> IntArray:
        """Give every input row the label of the column that stands for it."""
        columns = np.searchsorted(self.rows, np.arange(len(self.recording)), side="right") - 1
        return np.asarray(labels[np.maximum(columns, 0)])
