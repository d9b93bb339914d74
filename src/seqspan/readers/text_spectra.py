"""Text files of spectra as in public libraries: lines about the sample, then columns of numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seqspan._core.checks import check_choice
from seqspan._core.text import count_of
from seqspan._core.types import Array
from seqspan.readers._errors import name_file_in_errors
from seqspan.readers._limits import MAX_TEXT_BYTES, check_bytes, read_lines
from seqspan.readers._missing import MISSING_CHOICES
from seqspan.readers._numbers import marks_of
from seqspan.readers._registry import Reader, extension_of
from seqspan.readers._spectra import Scan, spectra_to_recording
from seqspan.readers.images import natural_key
from seqspan.recording import Recording

EXTENSIONS = (".asc", ".txt")
DELETED = -1e30  # values below are missing: the USGS writes -1.23e34 for deleted channels
WORDS = re.compile(rb"usgs|splib|record=|wavelength|reflectance|emissivity|spectr", re.I)
#: What separates numbers: a comma beside a space always does, one between digits only if nothing else does.
SEPARATORS = re.compile(r"\s*,\s+|\s+,|\s*;\s*|\s+")
_DIGITS_AND_COMMAS = re.compile(r"[+-]?[0-9]+,[0-9]+")
UNITS = re.compile(r"(micrometers?|microns?|um|nanometers?|nm)", re.I)


@dataclass(frozen=True)
class TextSpectraOptions:
    """What to do about missing values.

    Parameters
    ----------
    missing : {"error", "interpolate", "drop"}
        If values are missing in some spectra: raise, interpolate linearly from spectrum to spectrum, or skip
        the spectra. Bands that are missing in all spectra are left out.
    """

    missing: str = "error"

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, MISSING_CHOICES)


def load_text_spectra(path: Path, options: TextSpectraOptions, max_bytes: int) -> Recording:
    """Read one file, or the files of a folder in the order of their names."""
    files = spectra_files(path) if path.is_dir() else [path]
    scans: list[Scan] = []
    for file in files:
        with name_file_in_errors(file, "a text file of spectra"):
            scans.append(read_scan(file, max_bytes))
            _check_same_axis(scans)
            check_bytes(sum(scan.spectra.nbytes for scan in scans), max_bytes, "the spectra")
    first = scans[0]
    spectra = np.concatenate([scan.spectra for scan in scans])
    notes = list(first.notes)
    if path.is_dir():
        listing = ", ".join(file.name for file in files)
        notes.append(f"{count_of(len(files), 'file')}, sorted by name (numbers by value): {listing}")
    scan = Scan(spectra, first.wavelengths, first.unit, first.good, notes)
    return spectra_to_recording(scan, np.arange(len(spectra), dtype=float), "sample", options.missing)


def files_of_spectra(path: Path, options: TextSpectraOptions) -> list[Path]:
    """The spectra, and the files that may hold their wavelengths."""
    spectra = spectra_files(path) if path.is_dir() else [path]
    return spectra + wavelength_files(spectra[0])


def spectra_files(folder: Path) -> list[Path]:
    """List the text files of a folder, except the one that holds the wavelengths."""
    files = [entry for entry in folder.iterdir() if entry.is_file() and extension_of(entry) in EXTENSIONS]
    spectra = [file for file in files if "wavelength" not in file.name.lower()]
    if not spectra:
        raise ValueError(f"the folder holds no text files of spectra ({' '.join(EXTENSIONS)}).")
    return sorted(spectra, key=natural_key)


def _check_same_axis(scans: list[Scan]) -> None:
    """Raise if the wavelengths of the last file differ from those of the first."""
    if not np.array_equal(scans[0].wavelengths, scans[-1].wavelengths):
        raise ValueError(
            "its wavelengths differ from those of the first file; all spectra of a recording must share them."
        )


def read_scan(path: Path, max_bytes: int) -> Scan:
    """Read one file and work out which columns hold wavelengths and spectra."""
    words, table = read_numbers(path, max_bytes)
    table = np.where(table < DELETED, np.nan, table)
    unit, notes = _unit(words), list[str]()
    if table.shape[1] == 1:
        wavelengths, unit, notes = _wavelengths_beside(path, len(table), max_bytes)
        spectra = table.T
    else:
        wavelengths, spectra = table[:, 0], table[:, 1:].T
        if table.shape[1] == 3 and "deviation" in words.lower():
            spectra, notes = spectra[:1], ["left out the third column, which holds standard deviations"]
    if not np.isfinite(wavelengths).all():
        raise ValueError("the first column must hold the wavelengths, but some are missing.")
    return Scan(spectra, wavelengths, unit, np.ones(len(wavelengths), bool), notes)


def _unit(words: str) -> str:
    """Find the wavelength unit in the lines about the sample."""
    unit = UNITS.search(words)
    return "" if unit is None else ("nm" if unit[0].lower().startswith("n") else "um")


def read_numbers(path: Path, max_bytes: int) -> tuple[str, Array]:
    """Split a file into the text at its start and the table of numbers that follows."""
    words: list[str] = []
    rows: list[list[float]] = []
    whole = True  # no number has a point, so that "350,12" could be one number
    for number, line in enumerate(read_lines(path, max_bytes), start=1):
        row = _row_of_numbers(line)
        if row is None and not rows:
            words.append(line)
        elif row is None or (row and rows and len(row) != len(rows[0])):
            raise ValueError(f"line {number} is not a row of {len(rows[0])} numbers: {line.strip()[:60]!r}.")
        elif row:
            rows.append(row)
            whole = whole and _DIGITS_AND_COMMAS.fullmatch(line.strip()) is not None
    if not rows:
        raise ValueError("expected columns of numbers; found only text.")
    table = np.array(rows)
    if whole and table.shape[1] == 2 and len(np.unique(table[:, 0])) < len(table):
        raise ValueError(
            "the commas seem to be decimal marks, as the numbers before them repeat; write decimal points."
        )
    return "".join(words), table


def _row_of_numbers(line: str) -> list[float] | None:
    """Read the numbers in a line, none if it is blank; return None if it holds words."""
    cells = [cell for cell in SEPARATORS.split(line.strip()) if cell]
    if any("," in cell for cell in cells):
        cells = _resolve_commas(cells)
    try:
        return [float(cell) for cell in cells if cell]
    except ValueError:
        return None


def _resolve_commas(cells: list[str]) -> list[str]:
    """Split at commas between digits; if something else separates the cells, they are decimal marks."""
    if len(cells) == 1 or not all(map(marks_of, cells)):
        return [part for cell in cells for part in cell.split(",")]
    if any("." in cell for cell in cells):
        raise ValueError(f"the marks in {' '.join(cells)[:60]!r} are ambiguous; write decimal points only.")
    return [cell.replace(",", ".") for cell in cells]


def _wavelengths_beside(path: Path, n_bands: int, max_bytes: int) -> tuple[Array, str, list[str]]:
    """Read the wavelengths from their own file in the folder, as the USGS has it, or number the bands."""
    for file in wavelength_files(path):
        words, table = read_numbers(file, max_bytes)
        if table.shape == (n_bands, 1):
            return table[:, 0], _unit(words), [f"wavelengths come from {file.name}"]
    return np.arange(1.0, n_bands + 1), "band", ["no wavelengths were found, so the bands are numbered"]


def wavelength_files(path: Path) -> list[Path]:
    """List the other files in the folder whose names say that they hold wavelengths."""
    entries = (entry for entry in sorted(path.parent.iterdir()) if "wavelength" in entry.name.lower())
    return [
        entry for entry in entries if entry.is_file() and extension_of(entry) in EXTENSIONS and entry != path
    ]


def looks_like_text_spectra(head: bytes) -> bool:
    """Recognise a spectrum by the words before its numbers."""
    return b"\x00" not in head and WORDS.search(head) is not None


READERS = (
    Reader(
        name="text-spectra",
        title="a text file of spectra",
        extensions=EXTENSIONS,
        options=TextSpectraOptions,
        load=load_text_spectra,
        matches=looks_like_text_spectra,
        files=files_of_spectra,
        max_bytes=MAX_TEXT_BYTES,
        folder=True,
    ),
)
