"""Named arrays become a recording: one holds the samples, others their times, labels or wavelengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.checks import check_choice
from seqspan._core.types import Array
from seqspan.readers._codes import as_codes, note_codes, without_codes
from seqspan.readers._columns import Given, check_times, find_places, note_features
from seqspan.readers._frames import pixel_names
from seqspan.readers._missing import MISSING_CHOICES, CompleteMatrix, resolve_missing
from seqspan.readers._table import as_tuple, number_labels
from seqspan.readers._time_names import unit_of
from seqspan.recording import FrameView, Recording, SpectrumView, View

Shapes = Mapping[str, tuple[int, ...]]
AnyArray = npt.NDArray[Any]
Fetch = Callable[[list[str]], dict[str, AnyArray]]
REAL_KINDS = "iufb"  # NumPy's letters for integers, unsigned integers, floats and booleans
#: Types in which nobody should calculate, by NumPy's letters, and what they become: bool, half, long double.
CALCULABLE: dict[str, type[np.generic]] = {"?": np.uint8, "e": np.float32, "g": np.float64}
USUAL_NAMES = ("X", "x", "data", "Data", "DATA")
LEAST_SIGNAL = 20  # values of a row that is a signal, and not one sample
FEW_ROWS, MANY_ROWS = 4, 500  # times fewer rows than columns, and fewer than these, may be channels
WAVELENGTH_NAMES = ("wv", "wvl", "wavelength", "wavelengths", "lambda")


@dataclass(frozen=True)
class ArrayOptions:
    """Which arrays of a file hold the samples, times, labels and wavelengths.

    Parameters
    ----------
    variable : str, optional
        Name of the array that holds the samples; needed only if several could.
    transpose : bool
        Whether samples are the columns of the array.
    time, labels, wavelengths : str, optional
        Names of the arrays that hold the times, the true labels, and the wavelengths of spectra.
    missing : {"error", "interpolate", "drop"}
        If values are missing: raise, interpolate linearly along the rows, or skip the rows.
    columns, exclude : sequence of str or int
        Features to use, or to leave out: numbers as text from "1" on, ranges of them ("3-8"), ints from 0
        on, or wavelengths. By default all are used.
    missing_values : float or sequence of float
        Numbers that stand for missing values, such as -9999.
    """

    variable: str | None = None
    transpose: bool = False
    time: str | None = None
    labels: str | None = None
    wavelengths: str | None = None
    missing: str = "error"
    columns: tuple[Given, ...] = ()
    exclude: tuple[Given, ...] = ()
    missing_values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, MISSING_CHOICES)
        object.__setattr__(self, "missing_values", as_codes(self.missing_values))
        for name in ("columns", "exclude"):
            object.__setattr__(self, name, as_tuple(getattr(self, name)))


def arrays_to_recording(shapes: Shapes, fetch: Fetch, options: ArrayOptions) -> Recording:
    """Choose arrays by their names and shapes, fetch only those, and make them a recording."""
    name = choose_variable(shapes, options.variable)
    others = {
        "time": options.time,
        "labels": options.labels,
        "wavelengths": options.wavelengths or _find_wavelengths(shapes, name),
    }
    for role, other in others.items():
        if other is not None:
            _check_name(role, other, shapes)
    arrays = fetch([name, *(other for other in others.values() if other is not None)])
    given = {role: arrays[other].reshape(-1) for role, other in others.items() if other is not None}
    notes = [f"the samples are array {name!r}"] if len(shapes) > 1 else []
    unused = [unread for unread in shapes if unread not in arrays]
    if unused:
        notes.append(f"unused arrays: {', '.join(unused)}")
    return _assemble(arrays[name], given, options, notes)


def choose_variable(shapes: Shapes, wanted: str | None) -> str:
    """Choose the array of samples: the one that was named, or the only possible one."""
    if wanted is not None:
        _check_name("variable", wanted, shapes)
        return wanted
    matrices = [name for name, shape in shapes.items() if sum(length > 1 for length in shape) > 1]
    usual = [name for name in matrices if name in USUAL_NAMES]
    for candidates in (matrices, usual, list(shapes)):
        if len(candidates) == 1:
            return candidates[0]
    if not shapes:
        raise ValueError("the file holds no array of real numbers.")
    raise ValueError(f"several arrays could hold the samples ({_list(shapes)}); choose one with variable=.")


def _check_name(option: str, given: str, shapes: Shapes) -> None:
    """Raise if an option names an array that is not there."""
    if given not in shapes:
        raise ValueError(f"{option} must be one of the file's arrays ({_list(shapes)}); got {given!r}.")


def _list(shapes: Shapes) -> str:
    """List arrays with their shapes."""
    return ", ".join(f"{name} {' x '.join(map(str, shape)) or 'scalar'}" for name, shape in shapes.items())


def _find_wavelengths(shapes: Shapes, variable: str) -> str | None:
    """Find an array that is named like wavelengths and has as many values as X has rows or columns."""
    for name, shape in shapes.items():
        length = int(np.prod(shape, dtype=object))
        if name.lower() in WAVELENGTH_NAMES and len(shapes[variable]) == 2 and length in shapes[variable]:
            return name
    return None


def _assemble(
    samples: AnyArray, given: dict[str, AnyArray], options: ArrayOptions, notes: list[str]
) -> Recording:
    """Lay the samples out as rows, and add times, labels and a view."""
    wavelengths = given.get("wavelengths")
    X, image, more = _as_rows(samples, options.transpose, wavelengths)
    X = X.astype(CALCULABLE.get(X.dtype.char, X.dtype), copy=False)
    names = _names(X, image, wavelengths)
    lengths = {"time": len(X), "labels": len(X), "wavelengths": X.shape[1]}
    for role, values in given.items():
        if len(values) != lengths[role]:
            raise ValueError(
                f"{role} has {len(values)} values, but X of shape {X.shape} needs {lengths[role]}."
            )
    X, names, chosen = _choose_features(X, names, image, options)
    X = without_codes(X, options.missing_values)
    doubts = [] if image else note_codes(X, names)
    complete = resolve_missing(X, names, options.missing)
    times, unit = _times(given.get("time"), options.time, len(X))
    labels, label_names = number_labels(given["labels"][complete.rows]) if "labels" in given else (None, ())
    view, kind = _view(complete, image, wavelengths is not None)
    return Recording(
        X=complete.X,
        times=times[complete.rows],
        time_unit=unit,
        feature_names=complete.names,
        kind=kind,
        notes=(*notes, *more, *doubts, *complete.notes, *chosen),
        labels=labels,
        label_names=label_names,
        view=view,
        rows=complete.rows,
    )


def _as_rows(
    samples: AnyArray, transpose: bool, wavelengths: AnyArray | None
) -> tuple[AnyArray, tuple[int, ...] | None, list[str]]:
    """Return one row per sample, the shape of the images if the samples are images, and notes."""
    notes = []
    if not samples.size:
        raise ValueError(f"the array of shape {samples.shape} has no samples, or no features.")
    if samples.ndim > 2:
        notes.append(f"samples of shape {samples.shape[1:]} were flattened into rows")
    X = samples.reshape(samples.shape[0] if samples.ndim else 1, -1)
    bands_first = wavelengths is not None and X.shape[1] != len(wavelengths) == X.shape[0]
    is_row = wavelengths is None and samples.ndim == 2 and len(X) == 1  # as MATLAB has signals
    is_signal = is_row and X.shape[1] >= LEAST_SIGNAL
    if transpose or bands_first or is_signal:
        return X.T, None, [*notes, "samples are the columns of the array"]
    if wavelengths is None and samples.ndim == 2 and FEW_ROWS * len(X) < X.shape[1] and len(X) < MANY_ROWS:
        notes.append(
            f"{len(X)} rows are taken for samples, and {X.shape[1]} columns for features; if it is the other "
            f"way round, pass transpose=True (--read transpose=true on the command line)"
        )
    return X, samples.shape[1:] if _are_images(samples) else None, notes


def _are_images(samples: AnyArray) -> bool:
    """Recognise a stack of grey or colour images by its data type and axes."""
    colour = samples.ndim == 4 and samples.shape[3] == 3
    return samples.dtype == np.uint8 and (samples.ndim == 3 or colour)


def _names(X: AnyArray, image: tuple[int, ...] | None, wavelengths: AnyArray | None) -> tuple[str, ...]:
    """Name bands by wavelength, pixels by position, other columns by number."""
    if wavelengths is not None:
        return tuple(f"{value:.10g}" for value in wavelengths)
    return pixel_names(image) if image else tuple(f"column_{number}" for number in range(X.shape[1]))


def _choose_features(
    X: AnyArray, names: tuple[str, ...], image: tuple[int, ...] | None, options: ArrayOptions
) -> tuple[AnyArray, tuple[str, ...], list[str]]:
    """Keep the features that the user wants; return X, names and a note."""
    if not options.columns and not options.exclude:
        return X, names, []
    if image:
        raise ValueError("columns and exclude are for tables of numbers; the array holds images.")
    unwanted = set(find_places("exclude", options.exclude, names))
    wanted = find_places("columns", options.columns, names) if options.columns else range(len(names))
    kept = [place for place in wanted if place not in unwanted]
    if not kept:
        raise ValueError("columns and exclude leave no feature.")
    chosen = tuple(names[place] for place in kept)
    return X[:, kept], chosen, [note_features(chosen)]


def _times(values: AnyArray | None, name: str | None, n_samples: int) -> tuple[Array, str]:
    """Return the named times, or count the samples."""
    if values is None or name is None:
        return np.arange(n_samples, dtype=float), "sample"
    times = values.astype(float)
    check_times(f"array {name!r}", times)
    return times, unit_of(name, times)


def _view(complete: CompleteMatrix, image: tuple[int, ...] | None, spectra: bool) -> tuple[View | None, str]:
    """Return the view of the samples and the kind of recording."""
    if spectra:
        return SpectrumView(complete.X, np.array(complete.names, dtype=float)), "spectra"
    if image:
        return FrameView(complete.X.reshape(-1, *image).view(np.uint8)), "video"
    return None, "table"
