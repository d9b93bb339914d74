"""The clip that the demo renders, and what it says."""

from __future__ import annotations

import av
import numpy as np
import pytest
from typer.testing import CliRunner

from seqspan.cli import app, demo
from seqspan.results.folder import load_result


def test_the_clip_has_three_scenes_of_which_the_first_returns():
    labels = demo.true_labels()
    changes = np.flatnonzero(np.diff(labels)) + 1
    assert labels[[0, *changes]].tolist() == [0, 1, 2, 0]


def test_frames_are_real_pixels_that_move_with_noise():
    frames = list(demo.render(np.random.default_rng(0)))
    assert len(frames) == len(demo.true_labels())
    assert frames[0].shape == (240, 320, 3)
    assert len(np.unique(frames[0].reshape(-1, 3), axis=0)) > 10_000
    again = next(demo.render(np.random.default_rng(1)))
    difference = frames[0].astype(float) - again
    # two draws of noise: sqrt(2) times its deviation; clipping at black and white takes a little away
    assert difference.std() == pytest.approx(np.sqrt(2) * demo.NOISE, rel=0.1)
    assert np.abs(frames[0].astype(float) - frames[59]).mean() > 3 * np.abs(difference).mean()


def test_the_demo_finds_what_it_rendered_and_corrects_a_boundary_in_three_lines(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")])
    assert result.exit_code == 0, result.output
    first, second, third = result.stdout.splitlines()
    assert first == "Found 4 spans of 3 scenes in 210 frames (0.0 % of the frames mislabelled): as rendered."
    assert second == (
        "Corrected by hand: a boundary from frame 60 to frame 66, written to spans.edl and spans.ffmetadata."
    )
    assert third.endswith("report.html")
    assert "00:00:02:18" in (tmp_path / "demo" / "spans.edl").read_text()
    document = load_result(tmp_path / "demo")
    assert document["scores"]["boundary_f1_within_0"] == 1
    with av.open(str(tmp_path / "demo" / demo.CLIP)) as film:
        assert sum(1 for _ in film.decode(video=0)) == 210
    # again, the same; but a file that somebody has changed is not replaced
    assert CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")]).stdout == result.stdout
    (tmp_path / "demo" / demo.CORRECTED).write_text("mine")
    refused = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")])
    assert refused.exit_code == 1
    assert "demo_corrected.csv: not the demo's file" in refused.stderr


@pytest.mark.parametrize("name", [demo.CLIP, demo.TRUTH])
def test_the_demo_replaces_no_file_of_the_user(tmp_path, monkeypatch, name):
    monkeypatch.setattr(demo, "write_clip", lambda path, frames: path.write_bytes(b"clip"))
    (tmp_path / name).write_text("mine")
    with pytest.raises(FileExistsError, match=f"{name}: not the demo's file; choose another folder"):
        demo.run_demo(tmp_path)
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.usefixtures("plain_report")
def test_the_demo_fails_where_the_answer_is_not_what_was_rendered(tmp_path, monkeypatch):
    wrong = np.roll(demo.true_labels(), 30)
    monkeypatch.setattr(demo, "true_labels", lambda: wrong)
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "not as rendered, which has" in result.stdout
