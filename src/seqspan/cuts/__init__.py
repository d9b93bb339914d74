"""From coefficients to spans: the normalised cut, the ordered cut and peaks, all behind one interface.

:func:`make_cutter` returns the :class:`Cutter` of a recording. `seqspan.cuts.online` cuts while samples
arrive.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.checks import check_choice
from seqspan._core.spans import MIN_LENGTH, boundaries_from_labels, labels_from_boundaries
from seqspan._core.types import Array
from seqspan.cuts.cutter import Cutter
from seqspan.cuts.cutting import Cutting
from seqspan.cuts.memory import cut_bytes as cut_bytes
from seqspan.cuts.ordered.cut import OrderedCutter
from seqspan.cuts.peaks import PeakCutter, boundary_strength, peak_boundaries
from seqspan.cuts.spectral.affinity import affinity
from seqspan.cuts.spectral.n_subspaces import ESTIMATORS, estimate_n_subspaces
from seqspan.cuts.spectral.ncut import NormalisedCutter, cut_affinity, normalised_cut

__all__ = [
    "CUTS",
    "ESTIMATORS",
    "Cutter",
    "Cutting",
    "affinity",
    "boundaries_from_labels",
    "boundary_strength",
    "cut_affinity",
    "estimate_n_subspaces",
    "labels_from_boundaries",
    "make_cutter",
    "normalised_cut",
    "peak_boundaries",
]

#: Names of the cuts.
CUTS = ("ncut", "ordered", "peaks")


def make_cutter(
    cut: str,
    X: Array | None,
    Z: Array,
    *,
    min_length: int = MIN_LENGTH,
    rng: np.random.Generator | int | None = None,
    n_jobs: int | None = None,
    joins: tuple[int, ...] = (),
) -> Cutter:
    """Make what cuts a recording, as often as asked.

    Parameters
    ----------
    cut : {"ncut", "ordered", "peaks"}
        Normalised cut of the affinity, best spans in the order of time, or peaks of the column differences.
    X : array of shape (d, n), or None
        Samples. The ordered cut needs them, and so do evidence and confidence of every cut.
    Z : array of shape (n, n), or (m, n) if m landmarks are the atoms
        Coefficients. X and Z may be CuPy arrays: the normalised cut works on the GPU, other cuts on the host.
    min_length : int
        Length of the shortest span of the ordered cut, in samples.
    rng : numpy.random.Generator, int or None
        Of the starts of the normalised cut; it has no effect on the other cuts.
    n_jobs : int, optional
        Number of threads of the ordered cut; all cores by default.
    joins : tuple of int
        Samples at which another recording begins, ascending. No span crosses them.

    Returns
    -------
    Cutter

    Examples
    --------
    >>> Z = np.kron(np.eye(3), np.ones((6, 6)))
    >>> [make_cutter(cut, None, Z, rng=0).cut().boundaries.tolist() for cut in ("ncut", "peaks")]
    [[6, 12], [6, 12]]
    """
    check_choice("cut", cut, CUTS)
    if cut == "ncut":
        return NormalisedCutter(X, Z, joins, rng=rng)
    if cut == "peaks":
        return PeakCutter(X, Z, joins)
    return OrderedCutter(X, Z, joins, min_length=min_length, n_jobs=n_jobs)
