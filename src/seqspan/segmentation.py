"""The result: spans, labels, confidence and certificate, with everything computed along the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from seqspan._core.checks import check_rows
from seqspan._core.spans import UNKNOWN, Span, boundaries_from_labels, make_spans
from seqspan._core.text import count_of, merge_names, noun_of
from seqspan._core.types import Array, IntArray
from seqspan.cuts.cutting import Cutting
from seqspan.exports import make_timeline, write_export
from seqspan.exports.selection import Selection
from seqspan.known import KnownStates
from seqspan.plots import draw_timeline, plot_segmentation
from seqspan.readers._data_frames import from_frame, is_frame
from seqspan.recording import Recording, as_recording
from seqspan.representation import Representation
from seqspan.results.corrections import Corrections, read_corrections
from seqspan.results.documents import Earlier
from seqspan.results.folder import LABELS, SEGMENTS, STATES, require_result, staged, write_document
from seqspan.results.lock import reserved
from seqspan.results.owner import check_owner
from seqspan.results.stored import Stored, read_tables
from seqspan.results.tables import (
    describe_ends,
    describe_recording,
    note_idle_names,
    span_rows,
    spans_frame,
    write_labels,
    write_segments,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

__all__ = ["Segmentation", "Span"]

MAX_MEASURED_SAMPLES = 100_000  # up to which known labels get a confidence; it takes 16 kB of memory each


@dataclass(frozen=True, eq=False)
class Segmentation:
    """A recording divided into spans.

    :func:`seqspan.segment` returns one, a fitted estimator has one as ``segmentation_``, and
    :meth:`Segmentation.load` reads one from a result folder.

    Parameters
    ----------
    recording : Recording
        What was segmented. If it was loaded from a folder, it has times but no features.
    labels : array of int, shape (n_samples,)
        One label per input row.
    boundaries : array of int, shape (n_spans - 1,)
        Interior starts: ``np.split(X, boundaries)`` yields the spans.
    gap : float
        Upper bound on how far the objective is above the minimum, relative to the objective.
    cutting : Cutting
    representation : Representation, optional
        Samples, coefficients and certificate that the spans come from; missing after `load`.
    cutter : Cutter, optional
        What the cut computed: affinities, evidence, costs.
    seconds : dict
        How long each stage took.
    given_confidence : array of float, optional
        Confidence values that are already known, for example after `load`.
    again : callable, optional
        The pipeline's cut function, which `recut` calls.
    label_names : tuple of str
        Names of label 0, label 1, and so on, as `rename` sets them; others are called A, B, ...
    given_states : KnownStates, optional
        What recognises the labels in other recordings, if that is already known.
    notes : tuple of str
        What the user should know about the spans.

    Examples
    --------
    >>> import seqspan
    >>> from seqspan.datasets import make_subspaces
    >>> X, _ = make_subspaces(rng=0)
    >>> found = seqspan.segment(X.T)
    >>> found
    Segmentation(5 spans, 5 labels, 100 samples)
    >>> found.boundaries
    array([20, 40, 60, 80])
    >>> found.recut(n_spans=2).boundaries.size
    1
    """

    recording: Recording
    labels: IntArray
    boundaries: IntArray
    gap: float
    cutting: Cutting = field(default_factory=Cutting)
    representation: Representation | None = None
    cutter: Any = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    given_confidence: Array | None = None
    again: Callable[..., Segmentation] | None = None
    label_names: tuple[str, ...] = ()
    given_states: KnownStates | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        spans = count_of(len(self.boundaries) + 1, "span")
        return (
            f"Segmentation({spans}, {count_of(self.n_subspaces, 'label')}, {count_of(len(self), 'sample')})"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cutter: it can be computed again and may be as large as the coefficients."""
        return {**vars(self), "cutter": None}

    @property
    def n_subspaces(self) -> int:
        """Number of distinct labels; -1, where no known label fits, is none."""
        return len(np.unique(self.labels[self.labels != UNKNOWN]))

    @cached_property
    def confidence(self) -> Array | None:
        """Confidence in each boundary, in [0, 1]; None if neither it nor the coefficients are known."""
        if self.given_confidence is not None or self.representation is None:
            return self.given_confidence
        return self.confidence_of(self.boundaries)

    def confidence_of(self, boundaries: IntArray) -> Array:
        """Confidence in arbitrary boundaries, given as input rows; NaN after the last row that was kept."""
        found = self._require_representation("confidence")
        columns = found.to_columns(boundaries)
        known = np.append(self._cutter().confidence(columns), np.nan)
        return np.asarray(known[np.searchsorted(columns, np.searchsorted(found.rows, boundaries))])

    def _cutter(self) -> Any:
        """The cutter; computed again after unpickling."""
        if self.cutter is None:
            object.__setattr__(self, "cutter", self.recut().cutter)
        return self.cutter

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The spans in order; the confidence of a span is the confidence in the boundary at its start."""
        recording = self.recording
        return tuple(
            make_spans(self.labels, self.boundaries, recording.times, self.confidence, recording.joins)
        )

    def recut(
        self, *, n_spans: int | str = "auto", n_subspaces: int | str = "auto", grain: str = "default"
    ) -> Segmentation:
        """Cut the same coefficients into another number of spans or labels.

        Parameters
        ----------
        n_spans, n_subspaces : int or "auto"
        grain : {"coarse", "default", "fine"}
            For the ordered cut without given numbers: how much has to change for a new span.

        Returns
        -------
        Segmentation
        """
        found = self._require_representation("recut")
        assert self.again is not None
        cutting = replace(self.cutting, n_spans=n_spans, n_subspaces=n_subspaces, grain=grain)
        return self.again(found, cutting, cutter=self.cutter)

    @cached_property
    def states(self) -> KnownStates:
        """What recognises the labels in other recordings; learned on first access, and saved by `save`."""
        if self.given_states is not None:
            return self.given_states
        if self.representation is None:
            raise ValueError(
                "this result does not say what recognises its labels: segment "
                f"{self.recording.source or 'the recording'} again."
            )
        return KnownStates.learn(
            self.recording, self.representation.steps, self.labels, self.boundaries, self.cutting.min_length
        )

    def apply(self, recording: Recording | npt.ArrayLike) -> Self:
        """Find the same labels in another recording.

        Parameters
        ----------
        recording : Recording, or array-like or data frame of shape (n_samples, n_features)
            With the same columns. Those of a Recording or a data frame are matched by name.

        Returns
        -------
        Segmentation
            Of that recording, with the label -1 where none fits. It has no coefficients, so it can be
            plotted and exported, but not recut.
        """
        if is_frame(recording):
            recording = from_frame(recording)
        elif not isinstance(recording, Recording):
            recording = as_recording(check_rows(recording), self.recording.kind)
        return self.from_states(recording, self.states, self.label_names)

    @classmethod
    def from_states(
        cls, recording: Recording, states: KnownStates, label_names: tuple[str, ...] = ()
    ) -> Self:
        """Find known labels in a recording, as `apply` does.

        Parameters
        ----------
        recording : Recording
        states : KnownStates
        label_names : tuple of str

        Returns
        -------
        Segmentation
        """
        labels = states.predict(recording)
        joins = np.array(recording.joins, dtype=np.intp)
        boundaries = np.union1d(boundaries_from_labels(labels), joins)
        evidence = states.measure(recording) if len(recording) <= MAX_MEASURED_SAMPLES else None
        confidence = None if evidence is None else evidence.confidence(boundaries)
        if confidence is not None:
            confidence[np.isin(boundaries, joins)] = np.nan
        return cls(
            recording, labels, boundaries, np.nan, Cutting("ordered"), cutter=evidence,
            given_confidence=confidence, label_names=label_names, given_states=states,
        )  # fmt: skip

    def rename(self, names: Mapping[Any, str] | Sequence[str]) -> Self:
        """Give names to labels.

        Parameters
        ----------
        names : mapping, or sequence of str
            From labels, as numbers or letters, to names: ``{"A": "walk"}``. Or the names of label 0, label 1,
            and so on. Other labels keep the names that they have.

        Returns
        -------
        Segmentation
            The same spans. Tables, exports, plots and the report show the names.
        """
        return replace(self, label_names=merge_names(self.label_names, names))

    def corrected(self, table: str | PathLike[str] | Corrections) -> Self:
        """Divide the same recording as a corrected ``segments.csv`` says.

        Parameters
        ----------
        table : path
            CSV with the columns ``start``, ``end`` and ``label``; the spans must cover every sample once.
            With a column ``name``, labels get these names.

        Returns
        -------
        Segmentation
            Without coefficients, boundaries that were moved have no confidence.
        """
        if not isinstance(table, Corrections):
            table = read_corrections(Path(table), self.recording, self.label_names)
        division = table.division
        known = np.full(len(self) + 1, np.nan)
        if self.given_confidence is not None:
            known[self.boundaries] = self.given_confidence
        confidence = known[division.boundaries] if self.representation is None else None
        labels, names = division.sample_labels(len(self)), merge_names(self.label_names, table.names)
        return replace(
            self, labels=labels, boundaries=division.boundaries, given_confidence=confidence,
            label_names=names, given_states=None, notes=(),
        )  # fmt: skip

    @property
    def _recordings(self) -> tuple[str, ...]:
        """Names of the recordings, if there are several."""
        return self.recording.names if len(self.recording.lengths) > 1 else ()

    def _require_representation(self, what: str) -> Representation:
        if self.representation is None:
            raise ValueError(
                f"{what} needs the coefficients, which are not saved in a result folder: segment "
                f"{self.recording.source or 'the recording'} again."
            )
        return self.representation

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the spans over time or depth, with a legend. Dates are shown as dates.

        Several recordings have a row each.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default a new figure is created.

        Returns
        -------
        ax
        """
        recording = self.recording
        drawn = plot_segmentation(
            self.spans, recording.time_unit, ax, dates=recording.calendar, names=self.label_names,
            noun=noun_of(recording.kind),
        )  # fmt: skip
        if self._recordings:
            drawn.set_yticklabels(self._recordings)
        return drawn

    def _repr_html_(self) -> str:
        """A timeline, for notebooks."""
        return draw_timeline(
            self.spans, repr(self), describe_ends(self.spans, self.recording), self.label_names
        )

    def to_frame(self) -> pl.DataFrame:
        """Return the spans as a polars data frame, one row per span, with the columns of segments.csv.

        Times are dates if the recording has them. ``to_frame().to_pandas()`` is a pandas data frame.
        """
        return spans_frame(self.spans, self.recording.dates, self.label_names, self._recordings)

    def export(self, name: str, path: str | PathLike[str]) -> None:
        """Write the spans in another program's format.

        Parameters
        ----------
        name : str
            A name in :data:`seqspan.exports.EXPORTS`.
        path : path
            File to write.
        """
        if self._recordings:
            raise ValueError(
                f"export writes one file, and these are {len(self._recordings)} recordings: "
                "seqspan segment --together --export writes one for each."
            )
        write_export(name, make_timeline(self.recording, list(self.spans), self.label_names), Path(path))

    def describe(self) -> dict[str, Any]:
        """Return the content of ``result.json`` as plain values."""
        recording, found = self.recording, self.representation
        document: dict[str, Any] = {"input": describe_recording(recording)}
        if found is not None:
            document |= {
                "preprocessing": {"steps": list(found.steps), "reasons": list(found.reasons)},
                "objective": found.solution.objective,
                "n_iter": found.solution.n_iter,
                "warnings": [*found.notes, *self.notes, *note_idle_names(self.labels, self.label_names)],
            }
        return document | {
            "n_subspaces": self.n_subspaces,
            "n_spans": len(self.boundaries) + 1,
            "gap": None if np.isnan(self.gap) else self.gap,
            "cut": self.cutting.cut,
            "seconds": dict(self.seconds),
            "label_names": list(self.label_names),
            "spans": span_rows(self.spans, recording.dates, self.label_names, self._recordings),
        }

    def save(self, folder: str | PathLike[str]) -> None:
        """Write a result folder: segments.csv, labels.csv, states.npz and result.json.

        Parameters
        ----------
        folder : path
            Created if it does not exist. The command line writes the same files plus a report. Earlier
            exports are written again from these spans; edited files are kept under another name.
        """
        folder = Path(folder)
        with reserved(folder):
            if self.recording.source:
                check_owner(folder, Path(self.recording.source))
            exports = Selection.from_files(Earlier.read(folder).present)
            with staged(folder) as staging:
                self.write_tables(staging)
                self.write_states(staging)
                about = exports.write(self.recording, self.spans, self.label_names, staging)
                write_document(staging, self.describe() | about)

    def write_tables(self, folder: str | PathLike[str]) -> None:
        """Write segments.csv and labels.csv."""
        folder = Path(folder)
        write_segments(
            folder / SEGMENTS, self.spans, self.recording.dates, self.label_names, self._recordings
        )
        write_labels(folder / LABELS, self.labels, self.recording, self.label_names)

    def write_states(self, folder: str | PathLike[str]) -> None:
        """Write states.npz, unless the states are neither known nor can be learned."""
        if self.given_states is not None or self.representation is not None:
            self.states.save(Path(folder) / STATES)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read a result folder.

        Parameters
        ----------
        folder : path
            Written by `save` or by the command line.

        Returns
        -------
        Segmentation
            Without samples and coefficients, so it can be plotted and exported but not recut.
        """
        document = require_result(Path(folder))
        found = cls.from_stored(read_tables(Path(folder), document), document)
        known = KnownStates.load(Path(folder) / STATES) if STATES in document["files"] else None
        return replace(found, given_states=known)

    @classmethod
    def from_stored(cls, stored: Stored, document: Mapping[str, Any]) -> Self:
        """Make a segmentation of what the tables and ``result.json`` of a folder say."""
        return cls(
            stored.recording, stored.labels, stored.boundaries, _gap_of(document),
            Cutting(document["cut"]), seconds=document["seconds"], given_confidence=stored.confidence,
            label_names=tuple(document.get("label_names", ())),
        )  # fmt: skip


def _gap_of(document: Mapping[str, Any]) -> float:
    """The gap that ``result.json`` states; NaN for known labels, which nothing was solved for."""
    return float("nan") if document["gap"] is None else float(document["gap"])
