"""Scanned spectra: ENVI headers with BIL, BIP or BSQ files, read by the package spectral."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.checks import check_choice
from seqspan._core.extras import import_optional
from seqspan._core.types import Array
from seqspan.readers._limits import check_bytes
from seqspan.readers._missing import MISSING_CHOICES
from seqspan.readers._registry import Reader
from seqspan.readers._spectra import Scan, spectra_to_recording
from seqspan.recording import Recording

DATA_ENDINGS = ("", ".img", ".dat", ".raw", ".bil", ".bip", ".bsq", ".bin", ".sli")
TYPE_BYTES = {1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 12: 2, 13: 4, 14: 8, 15: 8}  # by ENVI's code, for real numbers
INTERLEAVES = ("bil", "bip", "bsq")
MAX_HEADER_BYTES = 2**24


@dataclass(frozen=True)
class EnviOptions:
    """How a scanned image becomes a recording along depth.

    Parameters
    ----------
    across : "mean" or int
        Average the pixels across the core, or use the pixel with this number, counted from 0.
    step : float
        Distance from one pixel to the next along the core, in `unit`.
    unit : str
        Unit of the depths.
    missing : {"error", "interpolate", "drop"}
        If values are missing: raise, interpolate linearly along the core, or skip the spectra.
    """

    across: str | int = "mean"
    step: float = 1.0
    unit: str = "sample"
    missing: str = "error"

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, MISSING_CHOICES)
        if self.across != "mean" and not isinstance(self.across, int):
            raise ValueError(f"across must be 'mean' or the number of a pixel; got {self.across!r}.")
        if not 0 < self.step < float("inf"):
            raise ValueError(f"step must be positive and finite; got {self.step}.")


@dataclass(frozen=True)
class EnviHeader:
    """The entries of a header that determine the size of the data."""

    lines: int
    samples: int
    bands: int
    item_bytes: int
    offset: int

    @property
    def n_bytes(self) -> int:
        """Smallest possible size of the data file."""
        return self.offset + self.lines * self.samples * self.bands * self.item_bytes


def load_envi(path: Path, options: EnviOptions, max_bytes: int) -> Recording:
    """Read an image of spectra as a recording along its lines, or a spectral library."""
    envi = import_optional("spectral.io.envi", "reading ENVI files")
    check_bytes(path.stat().st_size, min(max_bytes, MAX_HEADER_BYTES), "the header")
    fields = envi.read_envi_header(str(path))
    header = check_header(fields)
    data = find_data(path)
    held = data.stat().st_size
    if header.n_bytes > held:
        raise ValueError(f"the header needs {header.n_bytes:,} bytes, but {data.name} has {held:,}.")
    check_bytes(8 * max(header.lines, header.samples) * header.bands, max_bytes, "the spectra")
    ignored = float(fields["data ignore value"]) if "data ignore value" in fields else None
    image = envi.open(str(path), str(data))
    library = getattr(image, "spectra", None)
    if library is not None:
        check_bytes(8 * header.lines * header.samples, max_bytes, "the spectra")
        spectra, notes = _valid(library, ignored), ["spectra of a library, in the order of the file"]
    else:
        spectra, notes = _along_depth(image.open_memmap(interleave="bip"), ignored, options)
    return _to_recording(spectra, fields, options, notes)


def check_header(fields: dict[str, Any]) -> EnviHeader:
    """Check the sizes in a header before memory is allocated for them."""
    sizes = {}
    for name in ("lines", "samples", "bands"):
        text = str(fields.get(name, ""))
        if not text.strip().isdigit() or int(text) < 1:
            raise ValueError(f"the header's {name!r} must be a positive integer; got {text!r}.")
        sizes[name] = int(text)
    code = str(fields.get("data type", ""))
    if not code.strip().isdigit() or int(code) not in TYPE_BYTES:
        raise ValueError(f"the header's 'data type' must be one of {sorted(TYPE_BYTES)}; got {code!r}.")
    check_choice("the header's 'interleave'", str(fields.get("interleave", "bsq")).lower(), INTERLEAVES)
    offset = str(fields.get("header offset", "0")).strip()
    if not offset.isdigit():
        raise ValueError(f"the header's 'header offset' must be an integer; got {offset!r}.")
    return EnviHeader(**sizes, item_bytes=TYPE_BYTES[int(code)], offset=int(offset))


def find_data(header: Path) -> Path:
    """Find the data file of a header: the same name with another extension."""
    for ending in DATA_ENDINGS:
        for candidate in (header.with_suffix(ending), header.with_suffix(ending.upper())):
            if candidate != header and candidate.is_file():
                return candidate
    endings = " ".join(ending or "(none)" for ending in DATA_ENDINGS)
    raise ValueError(f"there is no data file with the same name and another extension ({endings}).")


def envi_files(path: Path, options: EnviOptions) -> list[Path]:
    """The header and its data file."""
    return [path, find_data(path)]


def _along_depth(
    cube: npt.NDArray[Any], ignored: float | None, options: EnviOptions
) -> tuple[Array, list[str]]:
    """Reduce an image (lines, samples, bands) to one spectrum per step along the core."""
    notes = []
    if cube.shape[0] == 1:
        cube = cube.transpose(1, 0, 2)
        notes.append("the image has one line, so its samples run along the core")
    width = cube.shape[1]
    if options.across == "mean":
        if width > 1:
            notes.append(f"each spectrum is the mean of the {width} pixels across the core")
        # Line by line, because the image may not fit in memory.
        return np.array([np.nanmean(_valid(row, ignored), axis=0) for row in cube]), notes
    number = int(options.across)
    if not 0 <= number < width:
        raise ValueError(f"across must be in [0, {width - 1}] for {width} pixels; got {number}.")
    notes.append(f"each spectrum is pixel {number} (from 0) of the {width} across the core")
    return _valid(cube[:, number], ignored), notes


def _valid(values: npt.NDArray[Any], ignored: float | None) -> Array:
    """Convert to floats, with NaN for the value that the header says to ignore."""
    floats = np.array(values, dtype=float)
    if ignored is None:
        return floats
    if values.dtype.kind == "f":  # the header may have more digits than the data
        with np.errstate(over="ignore"):
            ignored = float(np.array(ignored).astype(values.dtype))
    floats[floats == ignored] = np.nan
    return floats


def _to_recording(
    spectra: Array, fields: dict[str, Any], options: EnviOptions, notes: list[str]
) -> Recording:
    """Add the wavelengths and bad bands of the header."""
    n_bands = spectra.shape[1]
    good = _numbers(fields, "bbl", n_bands)
    wavelengths = _numbers(fields, "wavelength", n_bands)
    scan = Scan(
        spectra=spectra,
        wavelengths=np.arange(1.0, n_bands + 1) if wavelengths is None else wavelengths,
        unit="band" if wavelengths is None else short_unit(str(fields.get("wavelength units", ""))),
        good=np.ones(n_bands, bool) if good is None else good > 0,
        notes=notes,
    )
    times = options.step * np.arange(len(spectra))
    return spectra_to_recording(scan, times, options.unit, options.missing)


def _numbers(fields: dict[str, Any], name: str, count: int) -> Array | None:
    """Read a list in the header that must have one number per band."""
    given = fields.get(name)
    if given is None:
        return None
    values = np.array([float(word) for word in given])
    if len(values) != count:
        raise ValueError(f"the header's {name!r} must have one number per band, {count}; got {len(values)}.")
    return values


def short_unit(name: str) -> str:
    """Abbreviate units that headers spell out.

    Examples
    --------
    >>> short_unit("Nanometers"), short_unit("Micrometers"), short_unit("Unknown")
    ('nm', 'um', '')
    """
    units = {"nanometers": "nm", "micrometers": "um", "microns": "um", "wavenumber": "1/cm", "unknown": ""}
    return units.get(name.strip().lower(), name.strip())


def looks_like_envi(head: bytes) -> bool:
    """Recognise a header by its first word."""
    return head.lstrip()[:4] == b"ENVI"


READERS = (
    Reader(
        name="envi",
        title="an ENVI header",
        extensions=(".hdr",),
        options=EnviOptions,
        load=load_envi,
        matches=looks_like_envi,
        files=envi_files,
    ),
)
