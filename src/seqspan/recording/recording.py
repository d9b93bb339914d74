"""One recording, or several one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.checks import check_choice, check_lengths
from seqspan._core.dates import Dates
from seqspan._core.spans import part_slices
from seqspan._core.types import Array, IntArray
from seqspan.recording.views import Matrix, View

KINDS = ("video", "mocap", "spectra", "table")
LENGTH_UNITS = ("mm", "cm", "m", "km", "ft")  # with one of these, a recording runs along depth, not time


def default_names(n_features: int) -> tuple[str, ...]:
    """Names of columns that have none.

    Examples
    --------
    >>> default_names(2)
    ('x0', 'x1')
    """
    return tuple(f"x{place}" for place in range(n_features))


@dataclass(frozen=True, eq=False, kw_only=True)
class Recording:
    """Samples in order, with everything needed to segment them and to show them.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        One sample per row, in order. Keeps the data type of the file (uint8 for video).
    times : array of shape (n_samples,)
        Time or depth of each sample, never decreasing within a recording.
    time_unit : str
        ``"s"``, ``"m"``, ... or ``"sample"`` if only the order is known.
    feature_names : tuple of str, of length n_features
    kind : {"video", "mocap", "spectra", "table"}
    source : str
        Path or name of what was read.
    files : tuple of str
        Paths of all files that decided what was read: also a skeleton, a data file, the images of a folder.
    notes : tuple of str
        One line for everything that was left out, filled in or assumed.
    labels : int array of shape (n_samples,), optional
        True labels, if they are known; -1 where a sample has none.
    label_names : tuple of str
        Name of label 0, label 1, and so on.
    view : FrameView, PoseView, SpectrumView or None
        Shows single samples as they were read, unchanged by preprocessing.
    read_options : mapping
        Format and options that were used; reading the file with them again gives the same X.
    steps : tuple of mapping
        Preprocessing steps applied so far, in order.
    dates : Dates, optional
        Dates of the samples, if the file has them; `times` then count seconds from the first sample.
    rows : int array of shape (n_samples,), optional
        Row of the file, or frame of the film, that each sample comes from, counted from 0; by default every
        row is a sample.
    lengths : tuple of int
        Numbers of samples of several recordings, one after another; empty if there is one. Each has times of
        its own. :func:`seqspan.recording.concatenate` makes such a recording.
    sources : tuple of str
        Paths or names of the several recordings.

    Examples
    --------
    >>> import numpy as np
    >>> from seqspan import Recording
    >>> recording = Recording(X=np.eye(3), times=np.arange(3.0), time_unit="s",
    ...                       feature_names=("a", "b", "c"), kind="table")
    >>> recording.take(np.array([0, 2])).times
    array([0., 2.])
    """

    X: Matrix
    times: Array
    time_unit: str
    feature_names: tuple[str, ...]
    kind: str
    source: str = ""
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    labels: IntArray | None = None
    label_names: tuple[str, ...] = ()
    view: View | None = None
    read_options: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[Mapping[str, Any], ...] = ()
    dates: Dates | None = None
    rows: IntArray | None = None
    lengths: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.X.ndim != 2:
            raise ValueError(f"X must have two axes, (n_samples, n_features); got shape {self.X.shape}.")
        check_choice("kind", self.kind, KINDS)
        n_samples, n_features = self.X.shape
        given = {"times": len(self.times), "labels": n_samples if self.labels is None else len(self.labels)}
        for name, length in given.items():
            if length != n_samples:
                raise ValueError(f"{name} must have one entry per row of X, {n_samples}; got {length}.")
        if len(self.feature_names) != n_features:
            raise ValueError(
                f"feature_names must have one entry per column of X, {n_features}; "
                f"got {len(self.feature_names)}."
            )
        if self.lengths:
            check_lengths(self.lengths, n_samples)
        if self.sources and len(self.sources) != len(self.lengths):
            raise ValueError(
                f"sources must have one entry per recording, {len(self.lengths)}; got {len(self.sources)}."
            )

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        n_samples, n_features = self.X.shape
        return (
            f"Recording({self.kind}, {n_samples} samples x {n_features} features, {self.X.dtype}, "
            f"source={self.source!r})"
        )

    @property
    def calendar(self) -> Dates | None:
        """The dates to show: those of the file, or those that times since 1970 stand for; None without."""
        return Dates.since_1970(self.times, self.time_unit) if self.dates is None else self.dates

    @property
    def file_rows(self) -> IntArray:
        """Row of the file, or frame of the film, that each sample comes from."""
        return np.arange(len(self)) if self.rows is None else self.rows

    @property
    def joins(self) -> tuple[int, ...]:
        """Samples at which another recording begins."""
        return tuple(np.cumsum(self.lengths[:-1]).tolist())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the recordings, each different: of their files, and numbers where these are the same."""
        sources = self.sources or ("",) * max(len(self.lengths), 1)
        stems = [PurePath(source).name or "recording" for source in sources]
        repeated = {stem for stem in stems if stems.count(stem) > 1}
        numbered = {stem: _numbered(stem, stems) for stem in repeated}
        return tuple(next(numbered[stem]) if stem in repeated else stem for stem in stems)

    def split(self) -> list[Recording]:
        """Return the recordings one by one."""
        if len(self.lengths) <= 1:
            return [self]
        sources = self.sources or (self.source,) * len(self.lengths)
        return [
            replace(self.take(np.arange(part.start, part.stop)), source=source, lengths=(), sources=())
            for part, source in zip(part_slices(self.joins, len(self)), sources, strict=True)
        ]

    def take(self, indices: IntArray) -> Recording:
        """Return some of the samples, with their times, labels and view.

        Parameters
        ----------
        indices : int array of shape (m,), increasing

        Returns
        -------
        Recording
            Of m samples.
        """
        return replace(
            self,
            X=self.X[indices],
            times=self.times[indices],
            labels=None if self.labels is None else self.labels[indices],
            view=None if self.view is None else self.view.take(indices),
            dates=None if self.dates is None else self.dates.take(indices),
            rows=self.file_rows[indices],
            **self._take_parts(indices),
        )

    def _take_parts(self, indices: IntArray) -> dict[str, Any]:
        """Lengths and sources of the recordings that some of the samples are from."""
        if not self.lengths:
            return {}
        places = np.searchsorted(self.joins, indices, side="right")
        lengths = np.bincount(places).tolist()
        left = [place for place, length in enumerate(lengths) if length]
        sources = tuple(self.sources[place] for place in left) if self.sources else ()
        return {"lengths": tuple(lengths[place] for place in left), "sources": sources}

    def with_notes(self, *notes: str) -> Recording:
        """Return the same recording with more notes."""
        return replace(self, notes=(*self.notes, *notes))


def _numbered(stem: str, taken: Sequence[str]) -> Iterator[str]:
    """Yield a name with numbers, except those that are taken."""
    yield from (name for number in count(1) if (name := f"{stem} {number}") not in taken)


def as_recording(rows: npt.NDArray[Any], kind: str = "table") -> Recording:
    """Make a recording from an array of rows, with default times and names.

    Examples
    --------
    >>> as_recording(np.eye(3)).feature_names
    ('x0', 'x1', 'x2')
    """
    n_samples, n_features = rows.shape
    return Recording(
        X=rows,
        times=np.arange(float(n_samples)),
        time_unit="sample",
        feature_names=default_names(n_features),
        kind=kind,
    )
