"""Everything that a report tells of, as arrays and plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.confidence import boundary_confidence
from seqspan.cuts.ordered.cost import Evidence
from seqspan.cuts.ordered.cut import describe, label_worths
from seqspan.cuts.ordered.merging import Joining
from seqspan.cuts.spectral.affinity import SharedAffinity, affinity
from seqspan.recording import Recording
from seqspan.results import Solved


@dataclass(frozen=True, eq=False)
class Findings:
    """A segmented recording.

    Parameters
    ----------
    recording : Recording
        As it was read.
    X : array of shape (d, n)
        The samples as they were cut, one per column of Z.
    solved : Solved
    labels : array of int, shape (n_samples,)
    boundaries : array of int
    n_subspaces : int
    rows : array of int, shape (n,)
        The sample that each column of Z stands for.
    cut : str
        How labels were found, a name in :data:`seqspan.pipeline.CUTS`.
    document : mapping
        What ``result.json`` says.
    true_labels : array of int, shape (n_samples,), optional
    true_names : tuple of str
        Of the true labels; empty where only boundaries are known.

    Examples
    --------
    >>> from seqspan import OSC
    >>> from seqspan.datasets import make_subspaces
    >>> from seqspan.results import Solved
    >>> X, _ = make_subspaces(rng=0)
    >>> osc = OSC(5, random_state=0).fit(X.T)
    >>> recording = Recording(X=X.T, times=np.arange(100.0), time_unit="s", kind="table",
    ...                     feature_names=tuple(f"x{i}" for i in range(X.shape[0])), source="toy.csv")
    >>> findings = Findings(recording, X, Solved(osc.coef_, osc.objective_, osc.dual_gap_, osc.n_iter_),
    ...                     osc.labels_, osc.boundaries_, osc.n_subspaces_, np.arange(100), "ncut")
    >>> findings.confidence.shape
    (4,)
    """

    recording: Recording
    X: Array
    solved: Solved
    labels: IntArray
    boundaries: IntArray
    n_subspaces: int
    rows: IntArray
    cut: str
    document: Mapping[str, Any] = field(default_factory=dict)
    true_labels: IntArray | None = None
    true_names: tuple[str, ...] = ()

    @cached_property
    def W(self) -> Array | SharedAffinity:
        """Affinities, in the precision of Z."""
        return affinity(self.solved.Z)

    @property
    def n_landmarks(self) -> int | None:
        """Number of atoms where these are not the samples."""
        m, n = self.solved.Z.shape
        return None if m == n else m

    @cached_property
    def evidence(self) -> Evidence:
        """How well spans are described."""
        return describe(self.X, self.solved.Z)

    @cached_property
    def confidence(self) -> Array:
        """How sure each boundary is."""
        return self.confidence_of(self.boundaries)

    def confidence_of(self, boundaries: IntArray) -> Array:
        """How sure boundaries are, also those of another cut; they are given as samples."""
        return boundary_confidence(self.evidence, np.searchsorted(self.rows, boundaries))

    @cached_property
    def label_worths(self) -> Array:
        """What telling apart 2, 3, ... kinds of the spans found is worth, as the ordered cut weighs it."""
        return label_worths(Joining(self.evidence, np.searchsorted(self.rows, self.boundaries)))

    def to_samples(self, labels: IntArray) -> IntArray:
        """Give every sample the label of the column that stands for it."""
        column = np.searchsorted(self.rows, np.arange(len(self.recording)), side="right") - 1
        return np.asarray(labels[np.maximum(column, 0)])
