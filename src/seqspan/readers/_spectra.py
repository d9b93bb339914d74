"""Shared by the readers of spectra: bad bands are left out, wavelengths are kept."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from seqspan._core.text import count_of
from seqspan._core.types import Array
from seqspan.readers._missing import resolve_missing
from seqspan.recording import Recording, SpectrumView


@dataclass(frozen=True)
class Scan:
    """Spectra as they are in the file.

    Parameters
    ----------
    spectra : array of shape (n_samples, n_bands)
        NaN where a value is missing.
    wavelengths : array of shape (n_bands,)
    unit : str
        Of the wavelengths.
    good : bool array of shape (n_bands,)
        False for the bands that the file marks as bad.
    notes : list of str
    """

    spectra: Array
    wavelengths: Array
    unit: str
    good: npt.NDArray[np.bool_]
    notes: list[str] = field(default_factory=list)


def spectra_to_recording(scan: Scan, times: Array, time_unit: str, missing: str) -> Recording:
    """Leave out bad bands, resolve missing values, and make a recording of kind "spectra"."""
    empty = ~np.isfinite(scan.spectra).any(axis=0)
    keep = scan.good & ~empty
    if not keep.any():
        raise ValueError(f"all {len(keep)} bands are marked as bad or have no values.")
    notes = list(scan.notes)
    if not keep.all():
        listing = ", ".join(f"{value:.10g}" for value in scan.wavelengths[~keep])
        bands = count_of(int(np.count_nonzero(~keep)), "bad band")
        notes.append(f"left out {bands} ({scan.unit}): {listing}")
    wavelengths = scan.wavelengths[keep]
    names = tuple(f"{value:.10g}" for value in wavelengths)
    complete = resolve_missing(scan.spectra[:, keep], names, missing)
    return Recording(
        X=complete.X,
        times=times[complete.rows],
        rows=complete.rows,
        time_unit=time_unit,
        feature_names=complete.names,
        kind="spectra",
        notes=(*notes, *complete.notes),
        view=SpectrumView(complete.X, wavelengths, scan.unit),
    )
