"""Boundaries read off the coefficients: where Z changes from one sample to the next.

The difference ``z_{j+1} - z_j``, column j of ZR, belongs to the boundary ``j + 1``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from seqspan._core.backend import to_host
from seqspan._core.spans import Division, part_slices
from seqspan._core.types import Array, IntArray
from seqspan.cuts.cutter import Cutter, check_auto


def boundary_strength(Z: Array) -> Array:
    """Measure how much the coefficients change from each sample to the next.

    ``b_j = mean_i |ZR|_ij``, the column means of ``|[z_2 - z_1, ..., z_n - z_{n-1}]|``.

    Parameters
    ----------
    Z : array of shape (m, n)
        Column j holds the coefficients of sample j.

    Returns
    -------
    strength : array of shape (n - 1,)
        Entry j belongs to the boundary ``j + 1``.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Segmentation", second paragraph.

    Examples
    --------
    >>> boundary_strength(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    array([0., 1.])
    """
    steps = np.diff(_checked_coefficients(Z), axis=1)
    strength: Array = np.abs(steps, out=steps).mean(axis=0)  # in place: steps are as large as Z
    return strength


def peak_boundaries(Z: Array, n_spans: int | None = None, *, min_length: int = 1) -> IntArray:
    r"""Place boundaries at the peaks of the column means b of \|ZR\|.

    Peaks are ranked by prominence: their height above the higher of the two valleys that separate them from
    higher peaks. If `n_spans` is given, the ``n_spans - 1`` most prominent peaks are kept. If not, peak j is
    kept if its prominence exceeds ``(mean_i |Z|_ij + mean_i |Z|_i,j+1) / 2``. That is half of the largest
    possible b_j, which the triangle inequality allows if the two samples are represented by disjoint sets of
    others, as samples of different subspaces are.

    Parameters
    ----------
    Z : array of shape (m, n)
        Column j holds the coefficients of sample j.
    n_spans : int, optional
    min_length : int
        Length of the shortest span, in samples; of two peaks closer than this the higher stays.

    Returns
    -------
    boundaries : array of int
        Ascending. Fewer than ``n_spans - 1`` if b does not have as many peaks.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Segmentation", second paragraph.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z = np.kron(np.eye(3), np.ones((8, 8))) + 0.05 * rng.standard_normal((24, 24))
    >>> peak_boundaries(Z), peak_boundaries(Z, n_spans=2, min_length=5)
    (array([ 8, 16]), array([16]))
    """
    Z = _checked_coefficients(Z)
    _check_room(Z.shape[1], n_spans, min_length)
    return _select(Z, _find_peaks(boundary_strength(Z), min_length), n_spans)


class PeakCutter(Cutter):
    """Cuts at the peaks of the column differences; every span has a label of its own. Peaks are found once.

    Parameters
    ----------
    X : array of shape (d, n), or None
        Samples, for evidence and confidence alone.
    Z : array of shape (m, n)
        Coefficients.
    joins : tuple of int
        Samples at which another recording begins: boundaries, but not peaks.

    Examples
    --------
    >>> cutter = PeakCutter(None, np.kron(np.eye(3), np.ones((6, 6))))
    >>> cutter.cut().boundaries, cutter.cut(n_spans=2).labels
    (array([ 6, 12]), array([0, 1]))
    """

    def __init__(self, X: Array | None, Z: Array, joins: tuple[int, ...] = ()) -> None:
        super().__init__(X, _checked_coefficients(to_host(Z)), joins)

    def cut(
        self, n_spans: int | str = "auto", n_subspaces: int | str = "auto", grain: str = "default"
    ) -> Division:
        """Divide the recording at its most prominent peaks.

        Parameters
        ----------
        n_spans : int or "auto"
        n_subspaces : int or "auto"
            Stands for `n_spans` if that is "auto".

        Returns
        -------
        Division
        """
        check_auto("n_spans", n_spans)
        check_auto("n_subspaces", n_subspaces)
        wanted = n_subspaces if isinstance(n_spans, str) else n_spans
        if not isinstance(wanted, str):
            _check_room(self._Z.shape[1], wanted, 1)
        own = None if isinstance(wanted, str) else wanted - len(self.joins)  # of spans within recordings
        found = _select(self._Z, self._peaks, own)
        boundaries = np.union1d(found, np.array(self.joins, dtype=np.intp))
        return Division(boundaries, np.arange(len(boundaries) + 1))

    @cached_property
    def _peaks(self) -> tuple[IntArray, Array]:
        """All boundaries at peaks, recording by recording, and their prominences."""
        strength = boundary_strength(self._Z)
        parts = part_slices(self.joins, self._Z.shape[1])
        found = [(part.start, *_find_peaks(strength[part.start : part.stop - 1], 1)) for part in parts]
        starts = np.concatenate([first + peaks for first, peaks, _ in found])
        return starts, np.concatenate([prominences for *_, prominences in found])


def _select(Z: Array, peaks: tuple[IntArray, Array], n_spans: int | None) -> IntArray:
    """Keep the most prominent peaks."""
    starts, prominences = peaks
    if n_spans is None:
        sizes = np.abs(Z).mean(axis=0)
        kept = np.flatnonzero(prominences > (sizes[starts - 1] + sizes[starts]) / 2)
    else:
        kept = np.sort(np.argsort(-prominences, kind="stable")[: n_spans - 1])
    return np.take(starts, kept)


def _find_peaks(strength: Array, min_length: int) -> tuple[IntArray, Array]:
    """Boundaries at the peaks of `strength`, none closer than `min_length` to another or an end."""
    from scipy.signal import find_peaks  # takes longer to import than the rest of seqspan

    if not strength.size:  # of a single sample
        return np.empty(0, dtype=np.intp), np.empty(0)
    allowed = strength[min_length - 1 : len(strength) - min_length + 1]
    # Lower values on either side, so that the first and last allowed boundaries can be peaks too.
    padded = np.pad(allowed, 1, constant_values=strength.min())
    peaks, properties = find_peaks(padded, distance=min_length, prominence=0)
    return peaks + min_length - 1, properties["prominences"]


def _check_room(n_samples: int, n_spans: int | None, min_length: int) -> None:
    """Refuse more spans than have room."""
    if min_length < 1 or (n_spans is not None and not 1 <= n_spans * min_length <= n_samples):
        raise ValueError(
            f"n_spans and min_length must be at least 1, and their product at most {n_samples} for "
            f"{n_samples} samples; got n_spans={n_spans}, min_length={min_length}."
        )


def _checked_coefficients(Z: Array) -> Array:
    """Refuse arrays without consecutive columns."""
    Z = np.asarray(Z)
    if Z.ndim != 2 or Z.shape[0] < 1 or Z.shape[1] < 2:
        raise ValueError(
            f"Z must be a matrix with one column for each of 2 or more samples; got shape {Z.shape}."
        )
    return Z
