"""Recordings: samples in order with their times, and views that show what a sample was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from seqspan._core.checks import check_choice
from seqspan._core.dates import Dates
from seqspan._core.types import Array, IntArray

__all__ = ["Dates", "FrameView", "PoseView", "Recording", "SpectrumView"]

Matrix: TypeAlias = npt.NDArray[Any]
KINDS = ("video", "mocap", "spectra", "table")
LENGTH_UNITS = ("mm", "cm", "m", "km", "ft")  # with one of these, a recording runs along depth, not time


@dataclass(frozen=True, eq=False)
class FrameView:
    """The frames of a video.

    Parameters
    ----------
    pixels : uint8 array of shape (n_samples, height, width) or (n_samples, height, width, 3)
        The rows as they were read, reshaped without a copy.

    Examples
    --------
    >>> rows = np.arange(12, dtype=np.uint8).reshape(2, 6)  # two frames of 2 x 3 pixels
    >>> FrameView(rows.reshape(2, 2, 3)).sample(1)
    array([[ 6,  7,  8],
           [ 9, 10, 11]], dtype=uint8)
    """

    pixels: npt.NDArray[np.uint8]

    def sample(self, index: int) -> npt.NDArray[np.uint8]:
        """Return frame `index`, of shape (height, width) or (height, width, 3)."""
        return np.asarray(self.pixels[index])

    def take(self, indices: IntArray) -> FrameView:
        """Return the view of some of the samples."""
        return FrameView(self.pixels[indices])


@dataclass(frozen=True, eq=False)
class PoseView:
    """The poses of a motion capture.

    Parameters
    ----------
    positions : float32 array of shape (n_samples, n_joints, 3)
    joint_names : tuple of str, of length n_joints
    edges : tuple of (int, int)
        Pairs of joints connected by a bone; empty if the file has markers only.

    Examples
    --------
    >>> poses = PoseView(np.zeros((100, 2, 3), dtype=np.float32), ("hip", "knee"), edges=((0, 1),))
    >>> poses.sample(0).shape, poses.take(np.arange(10)).positions.shape
    ((2, 3), (10, 2, 3))
    """

    positions: npt.NDArray[np.float32]
    joint_names: tuple[str, ...]
    edges: tuple[tuple[int, int], ...] = ()

    def sample(self, index: int) -> npt.NDArray[np.float32]:
        """Return the joint positions of pose `index`, of shape (n_joints, 3)."""
        return np.asarray(self.positions[index])

    def take(self, indices: IntArray) -> PoseView:
        """Return the view of some of the samples."""
        return replace(self, positions=self.positions[indices])


@dataclass(frozen=True, eq=False)
class SpectrumView:
    """The spectra of a scan.

    Parameters
    ----------
    spectra : array of shape (n_samples, n_bands)
    wavelengths : array of shape (n_bands,)
    unit : str
        Unit of the wavelengths, such as ``"um"``; empty if the file does not say.

    Examples
    --------
    >>> scan = SpectrumView(np.eye(3), wavelengths=np.array([6.0, 10.0, 14.0]), unit="um")
    >>> scan.sample(1)
    array([0., 1., 0.])
    """

    spectra: Matrix
    wavelengths: Array
    unit: str = ""

    def sample(self, index: int) -> Matrix:
        """Return spectrum `index`, of shape (n_bands,)."""
        return np.asarray(self.spectra[index])

    def take(self, indices: IntArray) -> SpectrumView:
        """Return the view of some of the samples."""
        return replace(self, spectra=self.spectra[indices])


def default_names(n_features: int) -> tuple[str, ...]:
    """Names of columns that have none.

    Examples
    --------
    >>> default_names(2)
    ('x0', 'x1')
    """
    return tuple(f"x{place}" for place in range(n_features))


View: TypeAlias = FrameView | PoseView | SpectrumView


@dataclass(frozen=True, eq=False, kw_only=True)
class Recording:
    """Samples in order, with everything needed to segment them and to show them.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        One sample per row, in order. Keeps the data type of the file (uint8 for video).
    times : array of shape (n_samples,)
        Time or depth of each sample, never decreasing.
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
        True labels, if they are known.
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

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        n_samples, n_features = self.X.shape
        return (
            f"Recording({self.kind}, {n_samples} samples x {n_features} features, {self.X.dtype}, "
            f"source={self.source!r})"
        )

    @property
    def file_rows(self) -> IntArray:
        """Row of the file, or frame of the film, that each sample comes from."""
        return np.arange(len(self)) if self.rows is None else self.rows

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
        )

    def with_notes(self, *notes: str) -> Recording:
        """Return the same recording with more notes."""
        return replace(self, notes=(*self.notes, *notes))
