"""One pipeline: `seqspan.segment`, an estimator with the table of defaults, and the command line agree."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.readers.samples import write_video
from typer.testing import CliRunner

import seqspan
from seqspan import OSC, SSC
from seqspan.cli import app
from seqspan.datasets import make_recurring_subspaces, make_spectra
from seqspan.estimators import table_of_defaults

HIERARCHY = (
    "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 0 0\n"
    "  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
    "  JOINT Leg\n  {\n    OFFSET 0 -2 0\n    CHANNELS 3 Zrotation Yrotation Xrotation\n"
    "    End Site\n    {\n      OFFSET 0 -1 0\n    }\n  }\n}\n"
)


def states(rng: np.random.Generator, n_features: int, noise: float = 0.02) -> np.ndarray:
    """Rows of a recording whose first state returns at the end."""
    X, _ = make_recurring_subspaces((0, 1, 2, 0), 2, n_features, (40, 30, 50, 40), rng=rng)
    return X.T + noise * rng.standard_normal(X.T.shape)


def write_film(path: Path, rng: np.random.Generator) -> Path:
    scenes = rng.integers(40, 215, (3, 6, 8)).repeat(4, axis=1).repeat(4, axis=2)
    pictures = np.concatenate([np.repeat(scenes[[scene]], 40, axis=0) for scene in (0, 1, 2, 0)])
    for number, picture in enumerate(pictures):
        picture[8:14, number % 26 : number % 26 + 6] = 250
    write_video(path.with_suffix(".mp4"), pictures.astype(np.uint8))
    return path.with_suffix(".mp4")


def write_motion(path: Path, rng: np.random.Generator) -> Path:
    rows = 30 * states(rng, 9) + rng.normal(0, 60, 9)
    motion = "\n".join(" ".join(f"{value:.4f}" for value in row) for row in rows)
    path = path.with_suffix(".bvh")
    path.write_text(f"{HIERARCHY}MOTION\nFrames: {len(rows)}\nFrame Time: 0.0083333\n{motion}\n")
    return path


def write_core(path: Path, rng: np.random.Generator) -> Path:
    library = np.abs(rng.standard_normal((20, 40))).cumsum(axis=0)
    X, _ = make_spectra(library, rng=rng)
    cube = np.ascontiguousarray(X.T.astype("<f4"))[:, None, :]  # lines, samples, bands
    path.with_suffix(".img").write_bytes(cube.tobytes())
    bands = ", ".join(str(400 + 10 * band) for band in range(X.shape[0]))
    path.with_suffix(".hdr").write_text(
        f"ENVI\nsamples = 1\nlines = {X.shape[1]}\nbands = {X.shape[0]}\nheader offset = 0\ndata type = 4\n"
        f"interleave = bip\nbyte order = 0\nwavelength units = Nanometers\nwavelength = {{{bands}}}\n"
    )
    return path.with_suffix(".hdr")


def write_table(path: Path, rng: np.random.Generator) -> Path:
    # two columns hardly vary beside the others: their units are larger
    rows = (states(rng, 6, noise=0.02) + rng.normal(0, 0.5, 6)) * np.array([1.0, 0.02, 1.1, 0.05, 1.2, 0.9])
    path = path.with_suffix(".csv")
    np.savetxt(path, rows, delimiter=",", header=",".join("abcdef"), comments="")
    return path


WRITERS = {"video": write_film, "mocap": write_motion, "spectra": write_core, "table": write_table}


def spans_of_command(path: Path, folder: Path, *options: str) -> list[tuple[int, int, int]]:
    command = ["segment", str(path), "--out", str(folder), "--quiet", *options]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    with (folder / "segments.csv").open() as file:
        return [(int(row["start"]), int(row["end"]), int(row["label"])) for row in csv.DictReader(file)]


def spans_of(found: seqspan.Segmentation) -> list[tuple[int, int, int]]:
    return [(span.start, span.end, span.label) for span in found.spans]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", WRITERS)
def test_three_ways_to_the_same_spans(kind, seed, tmp_path):
    path = WRITERS[kind](tmp_path / "recording", np.random.default_rng(seed))
    recording = seqspan.read(path)
    assert recording.kind == kind
    found = spans_of(seqspan.segment(path))
    assert len(found) > 1  # one span would agree by accident
    assert spans_of(OSC(**table_of_defaults()).fit(recording).segmentation_) == found
    assert spans_of_command(path, tmp_path / "out") == found
    assert spans_of(seqspan.Segmentation.load(tmp_path / "out")) == found


@pytest.mark.parametrize("grain", ["coarse", "fine"])
def test_a_grain_means_the_same_everywhere(grain, tmp_path):
    path = write_table(tmp_path / "recording", np.random.default_rng(0))
    found = spans_of(seqspan.segment(path, grain=grain))
    assert (
        spans_of(OSC(**{**table_of_defaults(), "grain": grain}).fit(seqspan.read(path)).segmentation_)
        == found
    )
    assert spans_of(seqspan.segment(path).recut(grain=grain)) == found
    assert spans_of_command(path, tmp_path / "out", "--grain", grain) == found


@pytest.mark.parametrize("seed", [0, 7])
def test_a_seed_means_the_same_everywhere(seed, tmp_path):
    path = write_table(tmp_path / "recording", np.random.default_rng(3))
    found = seqspan.segment(path, cut="ncut", n_subspaces=3, random_state=seed)
    options = {**table_of_defaults(), "cut": "ncut", "random_state": seed}
    assert spans_of(OSC(3, **options).fit(seqspan.read(path)).segmentation_) == spans_of(found)
    asked = ("--cut", "ncut", "--subspaces", "3", "--seed", str(seed))
    assert spans_of_command(path, tmp_path / "out", *asked) == spans_of(found)


def test_other_methods_share_the_defaults_they_have(tmp_path):
    path = write_table(tmp_path / "recording", np.random.default_rng(1))
    found = spans_of(seqspan.segment(path, method="ssc", n_subspaces=3))
    assert spans_of(SSC(3, **table_of_defaults("ssc")).fit(seqspan.read(path)).segmentation_) == found
    assert spans_of_command(path, tmp_path / "out", "--method", "ssc", "--subspaces", "3") == found


def test_an_array_of_rows_is_a_table(tmp_path):
    path = write_table(tmp_path / "recording", np.random.default_rng(2))
    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    assert spans_of(seqspan.segment(rows)) == spans_of(seqspan.segment(path))
    assert spans_of(OSC(**table_of_defaults()).fit(rows).segmentation_) == spans_of(seqspan.segment(path))


def test_unknown_settings_and_methods_are_refused_with_those_that_exist():
    with pytest.raises(ValueError, match=r"the method 'lsr' takes n_subspaces, .*; got lambda_2"):
        seqspan.segment(np.eye(5), method="lsr", lambda_2=1.0)
    with pytest.raises(ValueError, match=r"method must be one of 'osc', .*; got 'magic'"):
        seqspan.segment(np.eye(5), method="magic")
