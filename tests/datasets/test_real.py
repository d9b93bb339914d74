"""The real sets: sizes, labels and spans as their sources describe them, and help where they are absent."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from seqspan.datasets import real
from seqspan.datasets._folder import SOURCES

LOADERS = {
    "tirlib": lambda data=None: real.load_tirlib(data),
    "video_bbb": lambda data=None: real.load_bbb_clip("A", data),
    "osc_paper_video_labels": lambda data=None: real.load_osc_cuts(data),
    "cmu86": lambda data=None: real.load_cmu86(1, data),
    "cmu_mocap6": lambda data=None: real.load_mocap6("13_29", data),
    "hdm05_cuts": lambda data=None: real.load_hdm05("bd", data=data),
    "keck_weizmann_hog": lambda data=None: real.load_hog("keck", 1, data),
    "actrectut": lambda data=None: real.load_actrectut(1, data),
    "hopkins": lambda data=None: real.load_hopkins("cars1", data),
}


def n_spans(labels: np.ndarray) -> int:
    return 1 + int(np.count_nonzero(np.diff(labels)))


@pytest.mark.parametrize("folder", SOURCES)
def test_an_absent_set_says_what_to_get_from_where(folder, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=rf"(?s){folder}.*not found\. Download .*https?://"):
        LOADERS[folder](tmp_path)
    monkeypatch.delenv("SEQSPAN_DATA", raising=False)
    with pytest.raises(
        FileNotFoundError, match=rf"{folder}': pass data= or set \$SEQSPAN_DATA\. .*https?://"
    ):
        LOADERS[folder]()


@pytest.mark.data
@pytest.mark.parametrize(
    ("load", "shape", "n_labels", "spans"),
    [
        (lambda: real.load_bbb_clip("A"), (300, 12384), 3, 3),
        (lambda: real.load_bbb_clip("B"), (300, 12384), 3, 3),
        (real.load_bbb_film, (1440, 12384), 6, 6),
        (lambda: real.load_cmu86(1), (2285, 60), 4, 7),
        (lambda: real.load_cmu86(13), (3106, 60), 6, 9),
        (real.load_cmu86_angles, (4579, 59), 4, 7),
        (lambda: real.load_mocap6("14_06"), (446, 12), 8, None),
        (lambda: real.load_mocap6_angles("13_29"), (4592, 59), 6, None),
        (lambda: real.load_hdm05("bd"), (None, 59), 11, 11),
        (lambda: real.load_hdm05("bk", clips_per_action=2), (None, 59), 11, 11),
        (lambda: real.load_hog("keck", 1), (1245, 324), 10, 10),
        (lambda: real.load_hog("weizmann", 4), (488, 324), 10, 10),
        (real.load_actrectut, (31392, 24), 6, 43),
        (lambda: real.load_hopkins("cars1"), (307, 40), 2, 2),
    ],
)
def test_sets_have_the_sizes_that_their_sources_give(load, shape, n_labels, spans):
    recording = load()
    assert recording.X.shape[1] == shape[1]
    assert shape[0] in (None, len(recording))
    assert len(np.unique(recording.labels)) == n_labels
    assert spans in (None, n_spans(recording.labels))
    assert recording.labels.min() >= 0
    assert not recording.label_names or recording.labels.max() < len(recording.label_names)
    assert np.isfinite(recording.X.astype(float)).all()


@pytest.mark.data
def test_library_of_spectra():
    library = real.load_tirlib()
    assert library.X.shape == (120, 321)
    assert library.view.wavelengths[[0, 1, -1]] == pytest.approx([6, 6.025, 14])
    assert np.linalg.matrix_rank(library.X) == 120


@pytest.mark.data
def test_the_two_representations_of_a_trial_agree_on_its_actions(data_dir):
    angles, turns = real.load_cmu86_angles(), real.load_cmu86(1)
    raw = np.load(data_dir / "cmu86" / "86_01_body15_60hz.npz")["raw_frame"]
    assert [angles.label_names[label] for label in angles.labels[raw]] == [
        turns.label_names[label] for label in turns.labels
    ]
    ends = json.loads((data_dir / "cmu86" / "groundtruth.json").read_text())["aca"]["86_01"]
    assert (np.flatnonzero(np.diff(angles.labels)) + 1).tolist() == [span["end_mid"] for span in ends][:-1]


@pytest.mark.data
def test_rotations_are_continuous_unit_quaternions_and_bones_rigid():
    recording = real.load_cmu86(3)
    turns = recording.X.reshape(len(recording), 15, 4)
    assert np.linalg.norm(turns, axis=2) == pytest.approx(np.ones((len(recording), 15)), abs=1e-4)
    assert np.einsum("tjc,tjc->tj", turns[1:], turns[:-1]).min() >= 0
    pose = recording.view
    one, other = np.array(pose.edges).T
    lengths = np.linalg.norm(pose.positions[:, one] - pose.positions[:, other], axis=2)
    assert np.ptp(lengths, axis=0).max() < 1e-4


@pytest.mark.data
def test_a_hand_is_where_the_rotations_of_its_arm_put_it(data_dir):
    stored = np.load(data_dir / "cmu86" / "86_03_body15_60hz.npz")
    pose = real.load_cmu86(3).view
    hand = pose.joint_names.index("right_hand")
    for index in (0, 1000):
        joint, place = hand, np.zeros(3)
        while joint > 0:  # from the hand inwards, each offset turned by all joints above it
            place = place + stored["offsets"][joint]
            joint = int(stored["parents"][joint])
            place = Rotation.from_quat(stored["rot"][index, joint]).apply(place)
        assert pose.sample(index)[hand] == pytest.approx(stored["root"][index] + place, abs=1e-4)


@pytest.mark.data
def test_cuts_of_the_cartoons():
    cuts = real.load_osc_cuts()
    assert cuts["confederate_honey"][0] == ("Start", 827)
    assert set(cuts) == {"confederate_honey", "fright_to_the_finish"}


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (lambda: real.load_bbb_clip("C"), "clip must be one of 'A', 'B'; got 'C'"),
        (lambda: real.load_cmu86(2), "trial must be one of 1, 3, .*; got 2"),
        (lambda: real.load_mocap6("1"), "trial must be one of '13_29', .*; got '1'"),
        (lambda: real.load_hdm05("xx"), "actor must be one of 'bd', 'bk'; got 'xx'"),
        (lambda: real.load_hdm05("bd", 0), "clips_per_action must be at least 1; got 0"),
        (lambda: real.load_hog("hog", 1), "name must be one of 'keck', 'weizmann'; got 'hog'"),
    ],
)
def test_arguments_out_of_range(load, message):
    with pytest.raises(ValueError, match=message):
        load()
