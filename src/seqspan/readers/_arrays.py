"""From the named arrays of a file to a recording: which is X, and what the others mean for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.types import Array
from seqspan.readers._frames import pixel_names
from seqspan.readers._missing import CHOICES, Complete, require_choice, resolve_missing
from seqspan.readers._table import is_ordered, number_labels, unit_of
from seqspan.recording import FrameView, Recording, SpectrumView, View

Shapes = Mapping[str, tuple[int, ...]]
AnyArray = npt.NDArray[Any]
Fetch = Callable[[list[str]], dict[str, AnyArray]]
USUAL_NAMES = ("X", "x", "data", "Data", "DATA")
WAVELENGTH_NAMES = ("wv", "wvl", "wavelength", "wavelengths", "lambda")


@dataclass(frozen=True)
class ArrayOptions:
    """Which arrays of a file are what.

    Parameters
    ----------
    variable : str, optional
        Name of the array of samples; needed where a file holds several that could be.
    transpose : bool
        Take columns for the samples, as in files that hold one time step per column.
    time, labels, wavelengths : str, optional
        Names of the arrays of times, of true labels, and of the wavelengths of spectra.
    missing : {"error", "interpolate", "drop"}
    """

    variable: str | None = None
    transpose: bool = False
    time: str | None = None
    labels: str | None = None
    wavelengths: str | None = None
    missing: str = "error"

    def __post_init__(self) -> None:
        require_choice("missing", self.missing, CHOICES)


def array_sequence(shapes: Shapes, fetch: Fetch, options: ArrayOptions) -> Recording:
    """Build a recording from arrays that are fetched by name once their shapes have been looked at."""
    name = choose_variable(shapes, options.variable)
    helpers = {
        "time": options.time,
        "labels": options.labels,
        "wavelengths": options.wavelengths or _find_wavelengths(shapes, name),
    }
    for role, helper in helpers.items():
        if helper is not None and helper not in shapes:
            raise ValueError(f"{role}={helper!r} must name one of its arrays; there are {_list(shapes)}.")
    arrays = fetch([name, *(helper for helper in helpers.values() if helper is not None)])
    given = {role: arrays[helper].reshape(-1) for role, helper in helpers.items() if helper is not None}
    notes = [f"X is the array {name!r}"] if len(shapes) > 1 else []
    unused = [other for other in shapes if other not in arrays]
    if unused:
        notes.append(f"arrays that were not used: {', '.join(unused)}")
    return _assemble(arrays[name], given, options, notes)


def choose_variable(shapes: Shapes, wanted: str | None) -> str:
    """Choose the array of samples: the one that was named, or the only one that can be."""
    if wanted is not None:
        if wanted not in shapes:
            raise ValueError(f"variable={wanted!r} must name one of its arrays; there are {_list(shapes)}.")
        return wanted
    matrices = [name for name, shape in shapes.items() if sum(length > 1 for length in shape) > 1]
    usual = [name for name in matrices if name in USUAL_NAMES]
    for candidates in (matrices, usual, list(shapes)):
        if len(candidates) == 1:
            return candidates[0]
    if not shapes:
        raise ValueError("expected an array of numbers; it holds none.")
    raise ValueError(f"several arrays could be the samples ({_list(shapes)}); choose one with variable=.")


def _list(shapes: Shapes) -> str:
    """Name arrays with their shapes."""
    return ", ".join(f"{name} {' x '.join(map(str, shape)) or 'scalar'}" for name, shape in shapes.items())


def _find_wavelengths(shapes: Shapes, variable: str) -> str | None:
    """Find an array that has the name and one of the lengths of a wavelength axis."""
    for name, shape in shapes.items():
        length = int(np.prod(shape, dtype=object))
        if name.lower() in WAVELENGTH_NAMES and len(shapes[variable]) == 2 and length in shapes[variable]:
            return name
    return None


def _assemble(
    samples: AnyArray, given: dict[str, AnyArray], options: ArrayOptions, notes: list[str]
) -> Recording:
    """Shape the samples into rows and dress them with what else the file holds."""
    wavelengths = given.get("wavelengths")
    X, picture, more = _as_rows(samples, options.transpose, wavelengths)
    names = _names(X, picture, wavelengths)
    lengths = {"time": len(X), "labels": len(X), "wavelengths": X.shape[1]}
    for role, values in given.items():
        if len(values) != lengths[role]:
            raise ValueError(
                f"{role} has {len(values)} values; {lengths[role]} are needed for X of {X.shape}."
            )
    complete = resolve_missing(X, names, options.missing)
    times, unit = _times(given.get("time"), options.time, len(X))
    labels, label_names = number_labels(given["labels"][complete.rows]) if "labels" in given else (None, ())
    view, kind = _view(complete, picture, wavelengths is not None)
    return Recording(
        X=complete.X,
        times=times[complete.rows],
        time_unit=unit,
        feature_names=complete.names,
        kind=kind,
        notes=(*notes, *more, *complete.notes),
        labels=labels,
        label_names=label_names,
        view=view,
    )


def _as_rows(
    samples: AnyArray, transpose: bool, wavelengths: AnyArray | None
) -> tuple[AnyArray, tuple[int, ...] | None, list[str]]:
    """Return one row per sample, the shape of the pictures in them if they are such, and notes."""
    notes = []
    if samples.ndim > 2:
        notes.append(f"the axes {samples.shape[1:]} of every sample were laid out in one row")
    X = samples.reshape(samples.shape[0] if samples.ndim else 1, -1)
    bands_first = wavelengths is not None and X.shape[1] != len(wavelengths) == X.shape[0]
    if transpose or bands_first:
        return X.T, None, [*notes, "columns of the array are the samples"]
    return X, samples.shape[1:] if _is_pictures(samples) else None, notes


def _is_pictures(samples: AnyArray) -> bool:
    """Tell stacks of grey or colour pictures by their type and axes."""
    colour = samples.ndim == 4 and samples.shape[3] == 3
    return samples.dtype == np.uint8 and (samples.ndim == 3 or colour)


def _names(X: AnyArray, picture: tuple[int, ...] | None, wavelengths: AnyArray | None) -> tuple[str, ...]:
    """Name bands by wavelength, pixels by place, other columns by number."""
    if wavelengths is not None:
        return tuple(f"{value:.10g}" for value in wavelengths)
    return pixel_names(picture) if picture else tuple(f"column_{number}" for number in range(X.shape[1]))


def _times(values: AnyArray | None, name: str | None, n_samples: int) -> tuple[Array, str]:
    """Return the times that were named, or count the samples."""
    if values is None or name is None:
        return np.arange(n_samples, dtype=float), "sample"
    times = values.astype(float)
    if not is_ordered(times):
        raise ValueError(f"the array {name!r} must not decrease to serve as time.")
    return times, unit_of(name)


def _view(complete: Complete, picture: tuple[int, ...] | None, spectra: bool) -> tuple[View | None, str]:
    """Return what shows a sample, and the kind of the recording."""
    if spectra:
        return SpectrumView(complete.X, np.array(complete.names, dtype=float)), "spectra"
    if picture:
        return FrameView(complete.X.reshape(-1, *picture).view(np.uint8)), "video"
    return None, "table"
