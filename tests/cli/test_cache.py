"""A repeated command says that nothing has changed only if nothing has that could change the answer."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from tests.readers.samples import ASF, write_amc
from typer.testing import CliRunner

from seqspan.cli import app, segment
from seqspan.results.folder import load_result

UNCHANGED = "nothing has changed since the last run"


def run(path, *options):
    result = CliRunner().invoke(app, ["segment", str(path), "-o", str(path.parent / "out"), *options])
    assert result.exit_code == 0, result.output
    return result.stdout


def write_cube(folder):
    spectra = np.repeat([[1, 2, 3, 4], [4, 1, 2, 0]], 30, axis=0) + np.arange(60)[:, None] % 7 / 50
    spectra.astype("<f4").tofile(folder / "core.img")
    (folder / "core.hdr").write_text(
        "ENVI\nsamples = 1\nlines = 60\nbands = 4\ndata type = 4\ninterleave = bip\nbyte order = 0\n"
    )
    return folder / "core.hdr"


def rewrite_cube(folder):
    write_cube(folder)
    spectra = np.fromfile(folder / "core.img", "<f4").reshape(60, 4)
    spectra[:15] = spectra[45:]
    spectra.tofile(folder / "core.img")


def write_motion(folder):
    write_amc(folder / "skeleton_01.amc", 40)
    return folder / "skeleton_01.amc"


def change_skeleton(folder):
    (folder / "skeleton.asf").write_text(ASF.replace("length 2", "length 3"))


def add_better_skeleton(folder):
    (folder / "skeleton_0.asf").write_text(ASF)


def write_pictures(folder):
    for number in range(30):
        level = 200 if 10 <= number < 20 else 50
        Image.new("L", (16, 12), level + number % 3).save(folder / f"{number}.png")
    return folder


def change_picture(folder):
    Image.new("L", (16, 12), 7).save(folder / "3.png")


def add_picture(folder):
    Image.new("L", (16, 12), 7).save(folder / "30.png")


def write_spectra(folder):
    (folder / "core_Wavelengths.txt").write_text("wavelengths in micrometers\n1\n2\n3\n")
    for number in range(20):
        rows = "\n".join(str(number % 5 + band + 20 * (number > 9) * (band == 1)) for band in range(3))
        (folder / f"core_{number}.txt").write_text(f"USGS spectrum\n{rows}\n")
    return folder


def change_wavelengths(folder):
    (folder / "core_Wavelengths.txt").write_text("wavelengths in micrometers\n1\n2\n4\n")


@pytest.mark.parametrize(
    ("write", "change"),
    [
        (write_cube, rewrite_cube),
        (write_motion, change_skeleton),
        (write_motion, add_better_skeleton),
        (write_pictures, change_picture),
        (write_pictures, add_picture),
        (write_spectra, change_wavelengths),
    ],
)
def test_a_change_to_any_file_that_is_read_is_noticed(tmp_path, write, change):
    (tmp_path / "in").mkdir()
    path = write(tmp_path / "in")
    run(path, "--method", "lsr")
    before = load_result(path.parent / "out")["input"]["sha256"]
    assert UNCHANGED in run(path, "--method", "lsr")
    change(tmp_path / "in")
    assert UNCHANGED not in run(path, "--method", "lsr")
    assert load_result(path.parent / "out")["input"]["sha256"] != before


def test_a_file_that_is_not_read_changes_nothing(tmp_path):
    (tmp_path / "in").mkdir()
    path = write_pictures(tmp_path / "in")
    run(path, "--method", "lsr", "-o", str(path / "result"))
    (path / "notes.md").write_text("remember")
    assert UNCHANGED in run(path, "--method", "lsr", "-o", str(path / "result"))


@pytest.mark.parametrize("part", ["hash_code", "versions"])
def test_other_code_solves_again(tmp_path, monkeypatch, part):
    path = write_cube(tmp_path)
    run(path)
    assert UNCHANGED in run(path)
    assert "only cut again" in run(path, "--spans", "2")
    monkeypatch.setattr(segment, part, lambda: {"seqspan": "another"})
    told = run(path, "--spans", "2")
    assert UNCHANGED not in told
    assert "only cut again" not in told
