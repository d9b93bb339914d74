"""Views: what single samples looked like before any preprocessing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from seqspan._core.types import Array, IntArray

Matrix: TypeAlias = npt.NDArray[Any]


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


View: TypeAlias = FrameView | PoseView | SpectrumView
