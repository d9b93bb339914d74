"""Spectra: wavelengths kept, bad bands left out by name, a core read along its depth."""

from __future__ import annotations

import numpy as np
import pytest
from tests.readers.samples import write_envi, write_text_spectra

from seqspan.readers import read
from seqspan.recording import SpectrumView

GOOD = [0, 1, 3, 4, 5]  # the sample calls band 2 bad


def write_cube(folder, cube, interleave="bil", order="<", more=""):
    """Write an ENVI image of (lines, samples, bands) from the definition of the three layouts."""
    axes = {"bil": (0, 2, 1), "bip": (0, 1, 2), "bsq": (2, 0, 1)}[interleave]
    (folder / "core.img").write_bytes(cube.astype(f"{order}f4").transpose(axes).tobytes())
    lines, samples, bands = cube.shape
    (folder / "core.hdr").write_text(
        f"ENVI\nsamples = {samples}\nlines = {lines}\nbands = {bands}\nheader offset = 0\ndata type = 4\n"
        f"interleave = {interleave}\nbyte order = {0 if order == '<' else 1}\n{more}"
    )
    return folder / "core.hdr"


@pytest.mark.parametrize("interleave", ["bil", "bip", "bsq"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_every_layout_reads_the_same_core(tmp_path, interleave, order):
    cube = np.random.default_rng(0).random((7, 3, 5)).astype(np.float32)
    path = write_cube(tmp_path, cube, interleave, order)
    assert pytest.approx(cube.mean(axis=1), rel=1e-6) == read(path).X
    assert np.array_equal(read(path, across=2).X, cube[:, 2])


def test_wavelengths_are_kept_and_bad_bands_named(tmp_path):
    write_envi(tmp_path / "core.hdr")
    recording = read(tmp_path / "core.hdr", step=0.5, unit="mm")
    assert isinstance(recording.view, SpectrumView)
    assert recording.view.wavelengths.tolist() == [400, 410, 430, 440, 450]
    assert recording.view.unit == "nm"
    assert recording.feature_names == ("400", "410", "430", "440", "450")
    assert "left out 1 bad band (nm): 420" in recording.notes
    assert "each spectrum is the mean of the 3 pixels across the core" in recording.notes
    assert (recording.times[:3].tolist(), recording.time_unit) == ([0, 0.5, 1], "mm")
    cube = np.fromfile(tmp_path / "core.img", "<f4").reshape(10, 6, 3)
    assert pytest.approx(cube.mean(axis=2)[:, GOOD], rel=1e-6) == recording.X


def test_one_line_of_pixels_runs_along_its_samples(tmp_path):
    cube = np.random.default_rng(1).random((1, 9, 4)).astype(np.float32)
    recording = read(write_cube(tmp_path, cube))
    assert np.array_equal(recording.X, cube[0])
    assert any("its samples run along the core" in note for note in recording.notes)


def test_values_to_ignore_are_missing(tmp_path):
    cube = np.random.default_rng(2).random((6, 2, 4)).astype(np.float32)
    cube[2, 0] = cube[3, :, 1] = -9999
    path = write_cube(tmp_path, cube, more="data ignore value = -9999\n")
    with pytest.raises(
        ValueError, match=r"core\.hdr: some of the 6 rows have missing or infinite values: 2 \(1\)"
    ):
        read(path)
    filled = read(path, missing="interpolate")
    assert filled.X[2] == pytest.approx(cube[2, 1], rel=1e-6)  # the other pixel across is there
    assert filled.X[3, 1] == pytest.approx((filled.X[2, 1] + filled.X[4, 1]) / 2)


@pytest.mark.parametrize("written", ["-1.23e34", "3.4028235e+38", "0.1", "1e39"])
def test_values_to_ignore_are_rounded_as_the_data_are(tmp_path, written):
    cube = np.random.default_rng(2).random((6, 1, 4)).astype(np.float32)
    with np.errstate(over="ignore"):
        cube[3, 0, 1] = np.float64(written)  # in single precision: not the number of the header
    path = write_cube(tmp_path, cube, more=f"data ignore value = {written}\n")
    filled = read(path, missing="interpolate")
    assert filled.X[3, 1] == pytest.approx((filled.X[2, 1] + filled.X[4, 1]) / 2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lines = 10", "lines = 99999999", r"needs .* bytes, but core\.img has 720"),
        ("lines = 10", "lines = -3", "'lines' must be a positive integer"),
        ("bands = 6\n", "", "'bands' must be a positive integer|bands"),
        ("data type = 4", "data type = 6", "'data type' must be one of"),
        ("interleave = bil", "interleave = bill", "'interleave' must be one of"),
        ("header offset = 0", "header offset = x", "'header offset' must be"),
        ("bbl = {1, 1, 0, 1, 1, 1}", "bbl = {1, 1}", "'bbl' must have one number per band, 6; got 2"),
        (
            "bbl = {1, 1, 0, 1, 1, 1}",
            "bbl = {0, 0, 0, 0, 0, 0}",
            "all 6 bands are marked as bad or have no values",
        ),
    ],
)
def test_damaged_headers(tmp_path, old, new, message):
    path = tmp_path / "core.hdr"
    write_envi(path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ValueError, match=rf"core\.hdr.*({message})"):
        read(path)


def test_a_header_without_its_pixels(tmp_path):
    write_envi(tmp_path / "core.hdr")
    (tmp_path / "core.img").unlink()
    with pytest.raises(ValueError, match=r"core\.hdr: there is no data file with the same name"):
        read(tmp_path / "core.hdr")
    write_envi(tmp_path / "core.hdr")
    with pytest.raises(ValueError, match=r"across must be in \[0, 2\]"):
        read(tmp_path / "core.hdr", across=3)


def test_a_text_spectrum_with_its_deviation(tmp_path):
    write_text_spectra(tmp_path / "quartz.txt")
    recording = read(tmp_path / "quartz.txt")
    assert pytest.approx(0.1 + 0.02 * np.arange(12)[None]) == recording.X
    assert recording.view.wavelengths == pytest.approx(0.4 + 0.01 * np.arange(12))
    assert recording.view.unit == "um"
    assert "left out the third column, which holds standard deviations" in recording.notes


def test_a_folder_in_the_way_of_the_usgs(tmp_path):
    for number in (2, 10, 1):
        values = ["-1.23e+34", *(f"{number + 0.1 * band:.4f}" for band in range(4))]
        (tmp_path / f"splib07a_{number}.txt").write_text(" splib07a Record=3: Quartz\n" + "\n".join(values))
    wavelengths = "\n".join(f"{1 + 0.5 * band}" for band in range(5))
    text = f" splib07a Record=1: Wavelengths in micrometers\n{wavelengths}\n"
    (tmp_path / "splib07a_Wavelengths.txt").write_text(text)
    recording = read(tmp_path)
    assert recording.X[:, 0].tolist() == [1, 2, 10]
    assert recording.view.wavelengths.tolist() == [1.5, 2, 2.5, 3]
    assert "left out 1 bad band (um): 1" in recording.notes


def test_spectra_of_different_axes_do_not_mix(tmp_path):
    (tmp_path / "a.asc").write_text("wavelength reflectance\n1 5\n2 6\n")
    (tmp_path / "b.asc").write_text("wavelength reflectance\n1 5\n3 6\n")
    with pytest.raises(ValueError, match=r"b\.asc: its wavelengths differ from those of the first"):
        read(tmp_path)


def test_words_among_the_numbers_are_named(tmp_path):
    (tmp_path / "a.asc").write_text("wavelength reflectance\n1 5\n2 x\n")
    with pytest.raises(ValueError, match=r"a\.asc: line 3 is not a row of 2 numbers: '2 x'"):
        read(tmp_path / "a.asc")


@pytest.mark.parametrize("separator", [" ", ";", "\t", "; "])
def test_decimal_commas_are_no_separators(tmp_path, separator):
    text = f"wavelength reflectance\n0,35{separator}1,25\n0,36{separator}1,5\n"
    (tmp_path / "a.asc").write_text(text)
    recording = read(tmp_path / "a.asc")
    assert recording.X.tolist() == [[1.25, 1.5]]
    assert recording.view.wavelengths.tolist() == [0.35, 0.36]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,234.5 0.3\n1,235.5 0.4\n", "the marks in '1,234.5 0.3' are ambiguous"),
        ("0,35\n0,36\n", "the commas seem to be decimal marks"),
    ],
)
def test_commas_that_could_mean_two_things_are_refused(tmp_path, rows, message):
    (tmp_path / "a.asc").write_text(f"wavelength reflectance\n{rows}")
    with pytest.raises(ValueError, match=rf"a\.asc: {message}"):
        read(tmp_path / "a.asc")


@pytest.mark.data
def test_a_library_in_a_matlab_file(data_dir):
    recording = read(data_dir / "tirlib" / "TIRlib.mat", variable="A")
    assert (recording.kind, recording.X.shape) == ("spectra", (120, 321))
    assert recording.view.wavelengths[[0, -1]].tolist() == [6, 14]
