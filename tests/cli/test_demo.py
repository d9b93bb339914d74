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


def test_the_demo_finds_what_it_rendered_and_says_so_in_two_lines(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")])
    assert result.exit_code == 0, result.output
    first, second = result.stdout.splitlines()
    assert first == "Found 4 spans of 3 scenes in 210 frames (0.0 % of the frames mislabelled): as rendered."
    assert second.endswith("report.html")
    document = load_result(tmp_path / "demo")
    assert document["scores"]["boundary_f1_within_0"] == 1
    with av.open(str(tmp_path / "demo" / demo.CLIP)) as film:
        assert sum(1 for _ in film.decode(video=0)) == 210


def test_the_demo_fails_where_the_answer_is_not_what_was_rendered(tmp_path, monkeypatch):
    wrong = np.roll(demo.true_labels(), 30)
    monkeypatch.setattr(demo, "true_labels", lambda: wrong)
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "not as rendered, which has" in result.stdout
