"""Which reader a file gets, and what `read` says where there is none or the file is not what it seems."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.readers.samples import WRITERS, write_csv, write_npy, write_png, write_sample

from seqspan import segment
from seqspan.readers import MissingPackageError, read, readers

KINDS = {"video": ("mp4", "avi", "gif", "tiff", "png"), "spectra": ("envi", "text-spectra")}
KINDS["mocap"] = ("amc", "amc.gz", "asf", "bvh", "c3d")


def kind_of(name: str) -> str:
    return next((kind for kind, names in KINDS.items() if name in names), "table")


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_reads_in_one_call(name, tmp_path):
    path = write_sample(name, tmp_path)
    recording = read(path)
    assert recording.kind == kind_of(name)
    assert recording.source == str(path)
    assert len(recording.times) == len(recording) == len(recording.X)
    assert np.isfinite(np.asarray(recording.X, dtype=float)).all()
    assert (np.diff(recording.times) >= 0).all()


@pytest.mark.parametrize("name", WRITERS)
def test_the_recorded_options_read_the_same_matrix_again(name, tmp_path):
    path = write_sample(name, tmp_path)
    first = read(path)
    again = read(path, **first.read_options)
    assert np.array_equal(first.X, again.X)
    assert first.notes == again.notes


COMPANIONS = {
    "amc": ("skeleton.asf",),
    "amc.gz": ("skeleton.asf",),
    "envi": ("core.img",),
    "text-spectra": ("wavelengths.txt",),
}
WATCH = """
import json, sys
from seqspan.readers import read, readers
readers()
opened = set()
sys.addaudithook(lambda event, given: opened.add(str(given[0])) if event == "open" else None)
for path in sys.argv[1:]:
    opened.clear()
    files = read(path).files
    print(json.dumps([files, sorted(opened)]))
"""


def test_every_file_that_is_opened_is_listed(tmp_path):
    inputs = []
    for name in (*WRITERS, "folder"):
        (tmp_path / name).mkdir()
        if name == "folder":
            write_png(tmp_path / name / "1.png")
            write_png(tmp_path / name / "2.png")
            inputs.append((tmp_path / name, [tmp_path / name / "1.png", tmp_path / name / "2.png"]))
            continue
        path = write_sample(name, tmp_path / name)
        if name == "text-spectra":
            path.write_text("USGS spectrum\n1.5\n2.5\n")
            path.with_name("wavelengths.txt").write_text("wavelengths\n1\n2\n")
        inputs.append((path, [path, *(path.with_name(other) for other in COMPANIONS.get(name, ()))]))
    command = [sys.executable, "-c", WATCH, *(str(path) for path, _ in inputs)]
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    for (path, expected), line in zip(inputs, lines, strict=True):
        files, opened = json.loads(line)
        assert files == [str(file) for file in expected]
        folder = path if path.is_dir() else path.parent
        inside = {name for name in opened if Path(name).is_file() and Path(name).parent == folder}
        assert inside <= set(files), path


@pytest.mark.data
@pytest.mark.parametrize(
    "file",
    [
        "86_01.amc.gz",
        "HDM_bd_depositFloorR_001_120.amc",
        "86.asf",
        "HDM_bd.asf",
        "35_26.bvh",
        "C3DRotationExample.c3d",
        "FP_Type1.c3d",
        "Optotrak.c3d",
    ],
)
def test_every_real_recording_reads_in_one_call(file, data_dir):
    recording = read(data_dir / "formats" / file)
    assert recording.kind == "mocap"
    assert np.isfinite(recording.X).all()


def test_content_decides_where_the_name_says_nothing(tmp_path):
    path = tmp_path / "export"
    write_npy(tmp_path / "export.npy")
    (tmp_path / "export.npy").rename(path)
    assert read(path).read_options["format"] == "npy"


def test_a_wrong_name_is_one_error_that_says_what_it_looks_like(tmp_path):
    write_png(tmp_path / "frame.png")
    path = (tmp_path / "frame.png").rename(tmp_path / "markers.c3d")
    with pytest.raises(
        ValueError,
        match=r"markers\.c3d: the name says a C3D recording, but the content does not.* looks like an image",
    ):
        read(path)


def test_format_reads_a_file_under_any_name(tmp_path):
    write_csv(tmp_path / "table.csv")
    path = (tmp_path / "table.csv").rename(tmp_path / "table.export")
    assert read(path, format="csv").X.shape == (20, 2)


def test_unknown_format_lists_the_known(tmp_path):
    write_csv(tmp_path / "table.csv")
    with pytest.raises(ValueError, match=r"format must be one of .*c3d.*; got 'xls'"):
        read(tmp_path / "table.csv", format="xls")


@pytest.mark.parametrize("name", WRITERS)
def test_an_empty_file_is_called_empty(name, tmp_path):
    path = tmp_path / WRITERS[name][0]
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=f"{path.name}.*empty"):
        read(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv: no such file"):
        read(tmp_path / "nowhere.csv")


def test_a_folder_of_other_things_is_named(tmp_path):
    (tmp_path / "notes.md").write_text("hello")
    with pytest.raises(
        ValueError, match=r"holds no images or text files of spectra, so it is not a recording"
    ):
        read(tmp_path)


def test_bytes_of_no_format_are_refused(tmp_path):
    path = tmp_path / "noise"
    path.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(ValueError, match=r"noise: neither its name nor its content"):
        read(path)


def test_an_unknown_option_lists_those_of_the_format(tmp_path):
    path = write_sample("csv", tmp_path)
    with pytest.raises(
        ValueError, match=r"table\.csv: a text table .* has no option stride; its options are missing, time, "
    ):
        read(path, stride=2)


@pytest.mark.parametrize(
    ("name", "package", "wanted", "extra"),
    [
        ("mp4", "av", "reading video", "video"),
        ("bvh", "pybvh", "reading BVH files", "mocap"),
        ("c3d", "ezc3d", "reading C3D files", "mocap"),
        ("envi", "spectral", "reading ENVI files", "spectra"),
        ("mat73", "h5py", "reading MATLAB 7.3 files", "matlab"),
    ],
)
def test_a_missing_package_names_the_extra(tmp_path, monkeypatch, name, package, wanted, extra):
    path = write_sample(name, tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    remedy = f"pip install 'seqspan[{extra}]'"
    message = f"{path}: {wanted} needs the package {package}, which is not installed: {remedy}"
    with pytest.raises(MissingPackageError, match=f"^{re.escape(message)}$"):
        read(path)


def test_a_new_reader_is_one_entry_of_a_module():
    names = [reader.name for reader in readers()]
    assert len(names) == len(set(names))
    assert names[-1] == "csv"  # it takes any text, so that the others are asked first


@pytest.mark.parametrize("name", ["npy", "npz", "mat5", "mat73", "csv", "parquet", "mp4", "amc", "gif"])
def test_max_bytes_is_checked_before_the_content_is_unpacked(name, tmp_path):
    path = write_sample(name, tmp_path)
    with pytest.raises(ValueError, match=rf"{path.name}.*limit of 10"):
        read(path, max_bytes=10)


def test_relative_paths_and_strings_are_taken(tmp_path, monkeypatch):
    write_sample("c3d", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert read("markers.c3d").source == "markers.c3d"
    assert Path("markers.c3d").exists()


@pytest.mark.parametrize(("dtype", "becomes"), [("?", "uint8"), ("e", "float32"), ("g", "float64")])
@pytest.mark.parametrize("ending", [".npy", ".npz"])
def test_types_in_which_nobody_calculates_are_converted(tmp_path, dtype, becomes, ending):
    values = (np.random.default_rng(0).random((40, 3)) > 0.5).astype(dtype)
    path = tmp_path / f"switches{ending}"
    np.save(path, values) if ending == ".npy" else np.savez(path, X=values)
    recording = read(path)
    assert recording.X.dtype == becomes
    np.testing.assert_array_equal(recording.X, values)
    assert len(segment(path)) == 40
