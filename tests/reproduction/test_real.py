"""The experiments on real data: what they are given, and one run of each."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from seqspan.datasets.real import load_bbb_film
from seqspan.reproduction import EXPERIMENTS, mocap, video
from seqspan.reproduction._batch import make_generator

pytestmark = pytest.mark.data


def test_the_clips_have_300_frames_and_three_scenes_each():
    clips = video._load_clips(None)
    assert list(clips) == list(video.CLIPS)
    for X, labels in clips.values():
        assert X.shape == (129 * 96, 300)
        assert len(np.unique(labels)) == 3
        assert min(np.bincount(labels - labels.min())) >= 40


def test_the_clips_are_all_that_the_film_has():
    cuts = np.flatnonzero(np.diff(load_bbb_film().labels)) + 1
    pairs = [(first, last) for first, last in pairwise(cuts) if last - first < 250]
    assert len(pairs) == len(video.CLIPS)


@pytest.mark.parametrize(
    "recording", [recording for panel in mocap.MOCAP.panels for recording in panel.recordings]
)
def test_recordings_are_whole_and_labelled(recording):
    X, labels = mocap._load_recording(recording, None)
    assert X.shape[1] == len(labels) >= 200
    assert np.allclose(X.mean(axis=1), 0, atol=1e-9)
    assert 4 <= len(np.unique(labels)) <= 11


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("spectra", {"coefficient_mean": 0.1}),
        ("video", {"recording": "A"}),
        ("mocap", {"recording": "mocap6/13_30"}),
    ],
)
def test_osc_beats_chance_under_little_noise(name, wanted):
    experiment = EXPERIMENTS[name]
    wanted = {"seed": 0, "method": "osc", "psnr_target": 30.0, **wanted}
    cases = experiment.cases(experiment.full, pl.DataFrame())
    case = next(case for case in cases if wanted.items() <= case.items())
    row = experiment.run(case, make_generator(name, case, experiment.data_columns))
    assert row["gap"] <= 1e-2
    assert row["error"] <= (0.6 if name == "mocap" else 0.05)
    assert row["psnr"] == pytest.approx(30)
