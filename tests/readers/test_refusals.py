"""What is refused, and in which words: the file, what it holds, what is needed."""

from __future__ import annotations

import re
import struct
import zipfile
from types import SimpleNamespace

import h5py
import numpy as np
import polars as pl
import pytest
import scipy.io
from PIL import Image
from tests.readers.samples import (
    ASF,
    frames,
    matrix,
    write_amc,
    write_bvh,
    write_c3d,
    write_sample,
    write_video,
)

from seqspan._core.extras import MissingPackageError
from seqspan.readers import _asf, _films, _isolated, _streams, images, read, video
from seqspan.readers._c3d_parameters import MAX_RECORDS, check_parameters
from seqspan.readers._errors import name_file_in_errors
from seqspan.readers._mocap import JointMotion, JointOptions, motion_to_recording
from seqspan.readers.numpy_files import read_header


def refused(path, message, **options):
    """The reason is given, and starts with the file."""
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: .*{message}"):
        read(path, **options)


@pytest.mark.parametrize(
    ("format", "options", "message"),
    [
        ("csv", {"decimal": "x"}, "decimal must be '.' or ','; got 'x'"),
        ("csv", {"delimiter": "ab"}, "delimiter must be one ASCII character; got 'ab'"),
        ("envi", {"across": "median"}, "across must be 'mean' or the number of a pixel; got 'median'"),
        ("envi", {"step": 0.0}, "step must be positive and finite; got 0.0"),
        ("envi", {"step": float("inf")}, "step must be positive and finite; got inf"),
        ("amc", {"rate": -1.0}, "rate must be positive and finite; got -1.0"),
        ("npz", {"variable": "Y"}, "variable must be one of the file's arrays (X 20 x 4, label 20); got 'Y'"),
        ("npz", {"time": "t"}, "time must be one of the file's arrays (X 20 x 4, label 20); got 't'"),
    ],
)
def test_options_that_cannot_be_meant(tmp_path, format, options, message):
    path = write_sample(format, tmp_path)
    with pytest.raises(ValueError, match=re.escape(message)):
        read(path, **options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("book.xlsx", b"PK\x03\x04", "spreadsheets are not read; save the sheet as CSV."),
        ("rows.jsonl", b'{"a": 1}\n', "JSON is read by seqspan watch alone"),
        ("sound.wav", b"RIFF    WAVE", "sound is not read; compute features of it"),
        ("frame.pkl", b"\x80\x04", "pickles are never loaded; save arrays as .npy"),
        ("grid.nc", b"\x89HDF\r\n\x1a\n", "this format is not read; save its arrays"),
        ("track.gpx", b"<gpx>", "tracks are not read; export them as CSV."),
    ],
)
def test_formats_that_are_not_read_say_what_to_do(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    refused(tmp_path / name, message)


def test_arrays_of_other_hdf5_files_lie_as_they_were_written(tmp_path):
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["x"] = matrix()
    np.testing.assert_array_equal(read(tmp_path / "data.h5").X, matrix())


def test_what_a_matlab_file_holds_in_place_of_arrays_is_named(tmp_path):
    scipy.io.savemat(tmp_path / "x.mat", {"trial": {"X": matrix()}, "who": "me"})
    refused(tmp_path / "x.mat", r"no array of real numbers, but trial \(struct\), who \(char\); save")


def test_arrays_of_time_must_not_decrease(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez(path, X=matrix(), t=np.arange(20.0)[::-1])
    refused(path, "array 't' cannot be the time: its values must be finite and never decrease", time="t")


def test_what_else_lies_in_an_archive_is_passed_over(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez(path, X=matrix())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("README", "about the data")
    assert np.array_equal(read(path).X, matrix())


def test_a_negative_length_is_no_shape(tmp_path):
    path = tmp_path / "array.npy"
    np.save(path, matrix())
    content = path.read_bytes()
    path.write_bytes(content.replace(b"(20, 4), ", b"(-20, 4),"))
    with path.open("rb") as file, pytest.raises(ValueError, match=r"cannot have the shape \(-20, 4\)"):
        read_header(file)


@pytest.mark.parametrize("version", [5, 73])
def test_complex_variables_are_no_samples(tmp_path, version):
    path = tmp_path / "variables.mat"
    values = matrix() + 1j
    if version == 5:
        scipy.io.savemat(path, {"data": values})
        refused(path, "variable 'data' must hold real numbers; it holds complex128")
    else:
        with h5py.File(path, "w", userblock_size=512) as file:
            file["data"] = values
        refused(path, "the file holds no array of real numbers")


def test_dates_that_are_not_the_time_are_left_out_by_name(tmp_path):
    path = tmp_path / "table.parquet"
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 4), eager=True)
    pl.DataFrame({"a": [1.0, 2, 3, 4], "start": days, "b": [5.0, 6, 7, 8], "end": days}).write_parquet(path)
    recording = read(path)
    assert recording.feature_names == ("a", "b")
    assert recording.X.tolist() == [[1, 5], [2, 6], [3, 7], [4, 8]]
    assert recording.times.tolist() == [0, 86400, 172800, 259200]
    assert "left out date columns that are not the time: end" in recording.notes


def test_labels_may_be_numbers_between_the_features(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,kind,b\n1,7,4\n2,7,5\n3,2.5,6\n")
    recording = read(path, labels="kind")
    assert recording.X.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert (recording.labels.tolist(), recording.label_names) == ([1, 1, 0], ("2.5", "7"))


def test_labels_that_are_long_numbers_have_different_names(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,kind\n1,1234567\n2,1234568\n3,0.1234567\n")
    assert read(path, labels="kind").label_names == ("0.1234567", "1234567", "1234568")


def test_dropping_every_row_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,\n,2\n3,\n")
    refused(path, "every row has a missing value, so missing='drop' would leave nothing", missing="drop")


# --- motion capture ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (":DEGREES\n", "expected the frames of an AMC motion; found none"),
        (":DEGREES\n1\nroot 0 0 0 0 0 0\n2\nroot 0 0 0 inf 0 0\n", "frame 2 has a value that is not finite"),
    ],
)
def test_motions_without_frames_or_with_infinite_angles(tmp_path, text, message):
    path = tmp_path / "walk_01.amc"
    path.write_text(text)
    refused(path, message)


def test_too_many_bones(tmp_path, monkeypatch):
    monkeypatch.setattr(_asf, "MAX_BONES", 3)  # the root counts
    path = tmp_path / "alone.asf"
    path.write_text(ASF)
    refused(path, "the skeleton has more than 3 bones")


def test_lines_of_the_root_that_no_reader_knows_are_passed_over(tmp_path):
    path = tmp_path / "skeleton_01.amc"
    write_amc(path)
    expected = read(path, features="positions").X
    skeleton = tmp_path / "skeleton.asf"
    skeleton.write_text(ASF.replace("  axis XYZ\n  position", "  axis XYZ\n  colour red\n  position"))
    assert np.array_equal(read(path, features="positions").X, expected)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Frames: 12\n", "", "expected a line 'Frames:'; found none"),
        ("Frame Time: 0.0083333", "Frame Time: inf", "the frame time must be positive and finite; got inf"),
    ],
)
def test_bvh_without_its_numbers(tmp_path, old, new, message):
    path = tmp_path / "motion.bvh"
    write_bvh(path)
    path.write_text(path.read_text().replace(old, new, 1))
    refused(path, message)


def test_bvh_with_infinite_angles(tmp_path):
    path = tmp_path / "motion.bvh"
    write_bvh(path)
    *head, last = path.read_text().splitlines()
    path.write_text("\n".join([*head, " ".join(["nan", *last.split()[1:]])]) + "\n")
    refused(path, "some values are not finite")


def test_a_motion_without_a_root_says_nothing_of_its_place():
    motion = JointMotion(np.zeros((3, 1)), ("elbow.rx",), np.empty((3, 0)), (), None)
    recording = motion_to_recording(motion, JointOptions(), 100.0, [])
    assert recording.notes == ()
    assert recording.feature_names == ("elbow.rx",)


def record(name: bytes, group: int, offset: int, body: bytes = b"") -> bytes:
    """A record of C3D parameters as the format's manual lays it out."""
    return struct.pack("<bb", len(name), group) + name + struct.pack("<h", offset) + body


def whole(name: bytes, group: int, kind: int, dimensions: list[int], values: bytes) -> bytes:
    body = struct.pack("<bB", kind, len(dimensions)) + bytes(dimensions) + values
    return record(name, group, 2 + len(body), body)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (b"\x04", "the parameter section is cut off"),
        (b"\x7f\x01AB", "the name of a parameter does not fit into the parameter section"),
        (record(b"USED", 1, -5), "'USED' points outside the parameter section"),
        (record(b"USED", 1, 500), "'USED' points outside the parameter section"),
        (record(b"USED", 1, 1), "'USED' points outside the parameter section"),
        (whole(b"USED", 1, 9, [], b"\0\0"), "'USED' has an unknown type"),
        (
            whole(b"LABELS", 1, -1, [200, 200], b"short"),
            "'LABELS' claims 40,000 bytes, but its record holds 5",
        ),
        (whole(b"USED", 1, 2, [], struct.pack("<H", 10_001)), "'USED' is 10001; at most 10000 is allowed"),
        (record(b"A", -1, 2) * (MAX_RECORDS + 1), "the file has more than 10000 parameters"),
    ],
)
def test_parameters_of_a_damaged_c3d(section, message):
    with pytest.raises(ValueError, match=message):
        check_parameters(section, "<")


def test_parameters_of_a_sound_c3d_pass():
    """A count of another group, the largest count of markers, and an end that is marked by no offset."""
    check_parameters(
        record(b"POINT", -1, 3, b"\0")
        + whole(b"USED", 1, 2, [], struct.pack("<H", 10_000))
        + record(b"SUBJECT", -2, 3, b"\0")
        + whole(b"USED", 2, 2, [], struct.pack("<H", 60_000))
        + record(b"LAST", -3, 0),
        "<",
    )


def test_a_c3d_whose_head_is_not_one(tmp_path):
    path = tmp_path / "markers.c3d"
    path.write_bytes(b"\x02\x50" + bytes(100))
    refused(path, "expected a C3D header: 512 bytes, the second of which is 0x50", format="c3d")
    write_c3d(path)
    content = bytearray(path.read_bytes())
    content[512 + 3] = 99  # the processor's code
    path.write_bytes(content)
    refused(path, "the C3D parameters are damaged or lie outside the file")


@pytest.mark.parametrize(
    ("rate", "unit"), [(50.0, "s"), (1.0, "s"), (0.0, "sample"), (float("nan"), "sample")]
)
def test_a_c3d_without_a_rate_counts_frames(tmp_path, monkeypatch, rate, unit):
    from seqspan.readers import c3d

    write_c3d(tmp_path / "markers.c3d")
    run = c3d.run_isolated

    def with_rate(*given, **more):
        arrays, about = run(*given, **more)
        return arrays, {**about, "point_rate": rate}

    monkeypatch.setattr(c3d, "run_isolated", with_rate)
    recording = read(tmp_path / "markers.c3d")
    assert recording.time_unit == unit
    assert recording.times == pytest.approx(np.arange(10) / (rate if unit == "s" else 1))
    assert any("times count frames" in note for note in recording.notes) == (unit == "sample")


def test_a_c3d_with_neither_markers_nor_rotations(tmp_path, monkeypatch):
    from seqspan.readers import c3d

    write_c3d(tmp_path / "markers.c3d")
    empty = {"points": np.empty((3, 0, 10)), "rotations": np.empty((4, 4, 0, 10))}
    monkeypatch.setattr(c3d, "run_isolated", lambda *given: (empty, {}))
    refused(tmp_path / "markers.c3d", "the file holds neither markers nor rotations")


# --- pictures and films ---


def test_a_folder_without_pictures_or_spectra(tmp_path):
    (tmp_path / "notes.md").write_text("nothing to see")
    refused(tmp_path, "the folder holds no images", format="images")
    refused(tmp_path, "the folder holds no text files of spectra", format="text-spectra")


def test_too_many_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(images, "MAX_PAGES", 11)
    path = write_sample("tiff", tmp_path)
    refused(path, "the file has more than 11 pages")
    monkeypatch.setattr(images, "MAX_PAGES", 13)
    assert len(read(path)) == 12


def test_dark_pictures_of_sixteen_bits_stay_dark(tmp_path):
    """The depth of a picture's type sets the scale, not its brightest pixel."""
    night, day = frames(2)[0].astype(np.uint16), frames(2)[1].astype(np.uint16) * 257
    Image.fromarray(night).save(tmp_path / "1.png")
    Image.fromarray(day).save(tmp_path / "2.png")
    X = read(tmp_path, size=(64, 48)).X
    assert X[0].max() == 1  # 250 of 65,535
    assert np.abs(X[1].astype(int) - frames(2)[1].reshape(-1)).max() <= 1


def test_floats_are_grey_values_as_they_are(tmp_path):
    values = frames(1)[0].astype(np.float32)
    Image.fromarray(values).save(tmp_path / "float.tif")
    assert np.array_equal(read(tmp_path / "float.tif", size=(64, 48)).X[0], frames(1)[0].reshape(-1))


def test_a_part_of_a_film_without_frames(tmp_path):
    write_video(tmp_path / "film.mp4")
    refused(tmp_path / "film.mp4", "there are no frames in the chosen time range", start=0.51, stop=0.52)


def test_a_disk_that_fails_in_the_middle_of_a_film(tmp_path, monkeypatch):
    """FFmpeg's errors are OSErrors where the system has a number for them."""
    write_video(tmp_path / "film.mp4")
    select = _films.selected_frames

    def fail_after_five(*given):
        for number, found in enumerate(select(*given)):
            if number == 5:
                raise OSError(5, "Input/output error")
            yield found

    def decode_here(task, path, selection):
        sent = []
        channel = SimpleNamespace(send_frame=lambda *given: sent.append(_streams.Frame(*given)))
        about = _films.decode_film(channel, path, selection)
        yield from [*sent, _streams.Result(about)]

    monkeypatch.setattr(_films, "selected_frames", fail_after_five)
    monkeypatch.setattr(video, "stream", decode_here)
    refused(tmp_path / "film.mp4", "decoding stopped after 6 frames: Input/output error; pass damaged='keep'")
    assert len(read(tmp_path / "film.mp4", damaged="keep")) == 5


def test_frames_without_a_stamp_are_counted(tmp_path, monkeypatch):
    class Unstamped:
        pts = None

    import av

    write_video(tmp_path / "film.mp4")
    with av.open(str(tmp_path / "film.mp4")) as film:
        clock = _films.Clock(film.streams.video[0])
        assert [clock.time_of(Unstamped()) for _ in range(3)] == pytest.approx([0, 0.1, 0.2])
    assert clock.end == pytest.approx(0.3)
    assert clock.notes() == ["3 frames without a time stamp: their times assume 10 frames per second"]


# --- spectra ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wavelength\nno number\n", "expected columns of numbers; found only text"),
        ("wavelength\n-1.23e34 1\n2 3\n", "the first column must hold the wavelengths, but some are missing"),
        ("wavelength\n1 2\n\n3 4\n5 6 7\n", "line 5 is not a row of 2 numbers: '5 6 7'"),
        ("wavelength\n\n1 2\nend\n", "line 4 is not a row of 2 numbers: 'end'"),
    ],
)
def test_text_that_is_no_spectrum(tmp_path, text, message):
    path = tmp_path / "quartz.txt"
    path.write_text(text)
    refused(path, message, format="text-spectra")


def test_wavelengths_of_another_instrument_are_not_taken(tmp_path):
    (tmp_path / "Wavelengths_AVIRIS.txt").write_text("wavelength (um)\n0.4\n0.5\n")
    (tmp_path / "quartz.txt").write_text("USGS reflectance\n0.1\n0.2\n\n0.3\n")
    recording = read(tmp_path / "quartz.txt", format="text-spectra")
    assert recording.X.tolist() == [[0.1, 0.2, 0.3]]
    assert (recording.view.wavelengths.tolist(), recording.view.unit) == ([1, 2, 3], "band")
    assert recording.view.sample(0).tolist() == [0.1, 0.2, 0.3]
    assert "no wavelengths were found, so the bands are numbered" in recording.notes


def test_an_envi_library_gives_its_spectra_in_order(tmp_path):
    spectra = np.random.default_rng(0).random((5, 7)).astype("<f4")
    (tmp_path / "library.sli").write_bytes(spectra.tobytes())
    (tmp_path / "library.hdr").write_text(
        "ENVI\nsamples = 7\nlines = 5\nbands = 1\nheader offset = 0\nfile type = ENVI Spectral Library\n"
        "data type = 4\ninterleave = bsq\nbyte order = 0\nspectra names = {a, b, c, d, e}\n"
        "wavelength units = Micrometers\nwavelength = {1, 2, 3, 4, 5, 6, 7}\n"
    )
    recording = read(tmp_path / "library.hdr")
    assert np.array_equal(recording.X, spectra)
    assert recording.view.wavelengths.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert "spectra of a library, in the order of the file" in recording.notes


# --- what a parser may do to its caller ---


def test_what_does_not_fit_in_memory_is_said_of_the_file(tmp_path):
    path = tmp_path / "large.csv"
    with (
        pytest.raises(ValueError, match=r"large\.csv: does not fit in memory as a table\."),
        name_file_in_errors(path, "a table"),
    ):
        raise MemoryError


def test_a_package_missing_in_the_parser_s_process_is_called_missing(tmp_path, monkeypatch):
    """A stand-in for the parser, whose import fails there and not here."""
    script = tmp_path / "parser.py"
    script.write_text(
        "import pathlib, sys\n"
        "reason = \"No module named 'ezc3d' (ModuleNotFoundError)\"\n"
        "pathlib.Path(sys.argv[3], 'error.txt').write_text(reason)\n"
        "raise SystemExit(1)\n"
    )
    monkeypatch.setattr(_isolated, "SCRIPT", script)
    write_c3d(tmp_path / "markers.c3d")
    with pytest.raises(MissingPackageError, match=r"markers\.c3d.*No module named 'ezc3d'"):
        read(tmp_path / "markers.c3d")


def test_a_recording_says_what_it_is(tmp_path):
    path = write_sample("npy", tmp_path)
    assert re.match(r"Recording\(table, 20 samples x 4 features, float64, ", repr(read(path)))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_an_array_without_samples_says_so(tmp_path, shape):
    np.save(tmp_path / "none.npy", np.zeros(shape))
    refused(tmp_path / "none.npy", r"the array of shape .* has no samples, or no features")
