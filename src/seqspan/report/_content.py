"""Everything that a report shows. It is read from the segmentation; nothing is solved again for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from seqspan._core.backend import to_host
from seqspan._core.solution import Solution
from seqspan._core.text import printable
from seqspan._core.types import Array, IntArray
from seqspan.cuts.spectral.affinity import SharedAffinity, affinity
from seqspan.recording import Recording
from seqspan.representation import Representation
from seqspan.segmentation import Segmentation

MAX_EVIDENCE_SAMPLES = 20_000  # for which the evidence for labels is computed once more,
MAX_EVIDENCE_SPANS = 200  # and spans: pairs of them are compared


@dataclass(frozen=True, eq=False)
class Content:
    """A segmentation and everything else the report needs.

    Parameters
    ----------
    found : Segmentation
    document : mapping
        Content of ``result.json``.
    true_labels : array of int, shape (n_samples,), optional
    true_names : tuple of str
        Names of the true labels; empty if only boundaries are known.
    """

    found: Segmentation
    document: Mapping[str, Any] = field(default_factory=dict)
    true_labels: IntArray | None = None
    true_names: tuple[str, ...] = ()

    @property
    def recording(self) -> Recording:
        """The recording as it was read."""
        return self.found.recording

    @property
    def is_solved(self) -> bool:
        """Whether there are coefficients; labels that were known before need none."""
        return self.found.representation is not None

    @property
    def several(self) -> bool:
        """Whether there are several recordings."""
        return len(self.recording.lengths) > 1

    @property
    def title(self) -> str:
        """What the page is about."""
        if self.several:
            return f"{len(self.recording.lengths)} recordings"
        return printable(Path(self.recording.source).name or "recording")

    @property
    def representation(self) -> Representation:
        """Samples and coefficients."""
        if self.found.representation is None:
            raise ValueError("A report needs the coefficients, which are not saved in a result folder.")
        return self.found.representation

    @property
    def solution(self) -> Solution[Any]:
        """Coefficients and certificate."""
        return self.representation.solution

    @cached_property
    def Z(self) -> Array:
        """Coefficients, copied from the GPU if they are there."""
        return np.asarray(to_host(self.solution.Z))

    @property
    def cut(self) -> str:
        """Name of the cut."""
        return self.found.cutting.cut

    @property
    def confidence(self) -> Array:
        """Confidence in each boundary."""
        known = self.found.confidence
        if known is None and not self.is_solved:
            return np.full(len(self.found.boundaries), np.nan)
        return self.found.confidence_of(self.found.boundaries) if known is None else known

    @cached_property
    def W(self) -> Array | SharedAffinity:
        """Affinities, in the precision of Z."""
        return self.found.cutter.W if self.cut == "ncut" else affinity(self.Z)

    @property
    def n_landmarks(self) -> int | None:
        """Number of landmarks, if the atoms are not the samples."""
        atoms = self.representation.landmarks
        return None if atoms is None else atoms.shape[1]

    @cached_property
    def label_evidence(self) -> Array:
        """What a second, third, ... label adds to the ordered cut's evidence, in nats.

        Empty for one span, and where it would take as long as the cut itself.
        """
        boundaries = self.representation.to_columns(self.found.boundaries)
        if self.Z.shape[1] > MAX_EVIDENCE_SAMPLES or len(boundaries) > MAX_EVIDENCE_SPANS:
            return np.empty(0)
        return np.diff(self.found.cutter.label_tree(boundaries).evidence)
