"""Pictures of a film: the right frames, from the right file."""

from __future__ import annotations

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from tests.films import write_film, write_plain_film

from seqspan import read
from seqspan.report import _pictures
from seqspan.report._pictures import film_frames


def test_a_name_that_ffmpeg_takes_for_a_protocol_opens_that_file_and_no_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named = write_film(tmp_path / "film.mp4").rename("concat:other.mp4")
    write_plain_film(tmp_path / "other.mp4", 60, 255, (32, 32))
    shown = next(film_frames(str(named), np.zeros(1)))
    assert shown.shape == (48, 64, 3)
    assert shown.mean() < 5


def test_frames_far_apart_are_sought_and_are_the_right_ones(tmp_path, monkeypatch):
    path = write_film(tmp_path / "film.mp4")
    times = np.array([0, 5, 30, 44, 58]) / 24
    decoded = list(film_frames(str(path), times))
    monkeypatch.setattr(_pictures, "SEEK_SECONDS", 0.3)
    sought = list(film_frames(str(path), times))
    assert [int(picture.mean().round()) for picture in decoded] == pytest.approx(
        [0, 20, 120, 176, 232], abs=2
    )
    np.testing.assert_array_equal(sought, decoded)


def test_pictures_of_a_film_that_has_become_shorter_are_those_that_were_read(tmp_path):
    recording = read(write_film(tmp_path / "film.mp4"), size=(16, 12))
    indices = np.array([0, 58])
    in_colour = _pictures.thumbnails(recording, indices)
    write_plain_film(tmp_path / "film.mp4", 1, 0, (64, 48))
    as_read = _pictures.thumbnails(recording, indices)
    assert list(in_colour) == list(as_read) == [0, 58]
    shown = Image.open(io.BytesIO(base64.b64decode(as_read[58].partition(",")[2])))
    assert (shown.size, shown.mode) == ((16, 12), "L")
    assert np.asarray(shown).mean() == pytest.approx(recording.X[58].mean(), abs=2)
    assert _pictures.thumbnails(replace(recording, view=None), indices) == {}
