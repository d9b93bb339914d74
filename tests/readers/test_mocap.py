"""Motion capture: values as stored, joints where independent mathematics puts them, gaps never silent."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.readers.samples import ASF, write_amc, write_bvh, write_c3d

from seqspan.readers import read
from seqspan.readers._asf import joint_positions, parse_amc, parse_asf
from seqspan.readers.acclaim import find_skeleton


def homogeneous(turn: np.ndarray, shift: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = turn, shift
    return matrix


def sections(text: str) -> dict[str, list[list[str]]]:
    """Split an ASF text into the words of each section's lines."""
    found: dict[str, list[list[str]]] = {}
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words and words[0].startswith(":"):
            found[words[0]] = rows = []
        elif words and found:
            rows.append(words)
    return found


def place_joints(asf: str, frame: dict[str, list[float]]) -> dict[str, np.ndarray]:
    """Multiply 4 x 4 matrices down the tree, with SciPy's rotations; shares no line with the reader."""
    parts = sections(asf)
    bones, bone = {}, {}
    for key, *values in parts[":bonedata"]:
        bone = {} if key == "begin" else bone
        bone[key] = values
        if key == "name":
            bones[values[0]] = bone
    root = frame["root"]
    # Extrinsic "xyz" in SciPy: about the fixed x first, then y, then z.
    world = {"root": homogeneous(Rotation.from_euler("xyz", root[3:], degrees=True).as_matrix(), root[:3])}
    for parent, *children in [row for row in parts[":hierarchy"] if row[0] not in ("begin", "end")]:
        for name in children:
            bone = bones[name]
            axis = Rotation.from_euler("xyz", [float(value) for value in bone["axis"][:3]], degrees=True)
            letters = "".join(channel[1] for channel in bone.get("dof", []))
            motion = (
                Rotation.from_euler(letters, frame[name], degrees=True) if letters else Rotation.identity()
            )
            turn = homogeneous((axis * motion * axis.inv()).as_matrix(), np.zeros(3))
            reach = float(bone["length"][0]) * np.array([float(value) for value in bone["direction"]])
            world[name] = world[parent] @ turn @ homogeneous(np.eye(3), reach)
    return {name: matrix[:3, 3] for name, matrix in world.items()}


def frame_of(amc: str, number: int) -> dict[str, list[float]]:
    lines = amc.splitlines()
    start = lines.index(str(number)) + 1
    rows = [line.split() for line in lines[start:]]
    stop = next((index for index, row in enumerate(rows) if len(row) == 1), len(rows))
    return {name: [float(value) for value in values] for name, *values in rows[:stop]}


def test_forward_kinematics_agrees_with_homogeneous_matrices(tmp_path):
    write_amc(tmp_path / "skeleton_01.amc")
    text = (tmp_path / "skeleton_01.amc").read_text()
    names, positions = joint_positions(parse_asf(ASF.splitlines()), parse_amc(text.splitlines()))
    for number in (1, 20):
        expected = place_joints(ASF, frame_of(text, number))
        for name, place in zip(names, positions[number - 1], strict=True):
            assert place == pytest.approx(expected[name], abs=1e-9)


@pytest.mark.data
@pytest.mark.parametrize(
    ("motion", "skeleton"),
    [("86_01.amc.gz", "86.asf"), ("HDM_bd_depositFloorR_001_120.amc", "HDM_bd.asf")],
)
def test_forward_kinematics_of_real_first_frames(data_dir, motion, skeleton):
    path = data_dir / "formats" / motion
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    amc, asf = content.decode("latin-1"), (data_dir / "formats" / skeleton).read_text("latin-1")
    expected = place_joints(asf, frame_of(amc, 1))
    view = read(path).view
    for name, place in zip(view.joint_names, view.sample(0), strict=True):
        assert place == pytest.approx(expected[name], abs=1e-4)  # float32 of numbers up to 40
    lengths = np.linalg.norm(
        view.positions[:, 1:] - view.positions[:, [one for one, _ in view.edges]], axis=2
    )
    assert np.ptp(lengths, axis=0).max() < 1e-4  # bones do not stretch


@pytest.mark.data
def test_values_equal_those_stored_before_unwrapping(data_dir):
    recording = read(data_dir / "formats" / "86_01.amc.gz", unwrap=False, root_translation=True)
    stored = np.load(data_dir / "cmu86" / "86_01_amc62_120hz.npz")
    assert np.array_equal(recording.X.astype(np.float32), stored["X"])
    bones = [name.partition(".")[0] for name in recording.feature_names]
    assert bones == [str(name).partition(".")[0] for name in stored["names"]]
    assert recording.times[120] == pytest.approx(1.0)


def test_skeleton_is_the_one_with_the_longest_common_start(tmp_path):
    for name in ("H.asf", "HDM_b.asf", "HDM_bd.asf", "HDM_bk.asf", "x.asf"):
        (tmp_path / name).write_text(ASF)
    assert find_skeleton(tmp_path / "HDM_bd_walk_001.amc.gz").name == "HDM_bd.asf"
    assert find_skeleton(tmp_path / "Hips.amc").name == "H.asf"
    assert find_skeleton(tmp_path / "other.amc") is None


def test_without_a_skeleton_angles_are_read_and_positions_refused(tmp_path):
    write_amc(tmp_path / "skeleton_01.amc")
    with_skeleton = read(tmp_path / "skeleton_01.amc")
    (tmp_path / "skeleton.asf").unlink()
    alone = read(tmp_path / "skeleton_01.amc")
    assert np.array_equal(alone.X, with_skeleton.X)
    assert alone.view is None
    assert any("no poses" in note for note in alone.notes)
    with pytest.raises(ValueError, match=r"needs a skeleton: pass the \.asf file as skeleton="):
        read(tmp_path / "skeleton_01.amc", features="positions")


def test_a_skeleton_of_another_body_is_refused(tmp_path):
    write_amc(tmp_path / "skeleton_01.amc")
    (tmp_path / "skeleton.asf").write_text(ASF.replace("dof rx ry rz", "dof rx ry"))
    with pytest.raises(ValueError, match=r"3 channels for bone 'hip', but the skeleton has 2"):
        read(tmp_path / "skeleton_01.amc")


def test_positions_are_counted_from_the_root_unless_asked(tmp_path):
    write_amc(tmp_path / "skeleton_01.amc")
    body = read(tmp_path / "skeleton_01.amc", features="positions")
    room = read(tmp_path / "skeleton_01.amc", features="positions", root_translation=True)
    assert body.feature_names[:3] == ("hip.x", "hip.y", "hip.z")
    root = room.X[:, :3]
    assert pytest.approx(room.X[:, 3:] - np.tile(root, 3), abs=1e-4) == body.X
    assert root == pytest.approx(read(tmp_path / "skeleton_01.amc", root_translation=True).X[:, :3], abs=1e-4)


def test_radians_in_the_file_and_in_the_result(tmp_path):
    path = tmp_path / "skeleton_01.amc"
    write_amc(path)
    degrees = read(path)
    assert np.deg2rad(degrees.X) == pytest.approx(read(path, angle_unit="radians").X)
    lines = []
    for line in path.read_text().splitlines():
        name, *values = line.split()
        numbers = [float(value) for value in values]
        kept = numbers[:3] if name == "root" else []
        turned = [float(np.deg2rad(value)) for value in numbers[len(kept) :]]
        lines.append(" ".join([name, *map(repr, kept + turned)]))
    path.write_text("\n".join(lines).replace(":DEGREES", ":RADIANS"))
    again = read(path)
    assert pytest.approx(degrees.X) == again.X
    assert again.view.positions == pytest.approx(degrees.view.positions, abs=1e-3)


def test_unwrapping_removes_full_turns_and_says_where(tmp_path):
    path = tmp_path / "turn.amc"
    angles = [170, 179, -172, -163, 178]
    lines = [f"{number}\nroot 0 0 0 0 {angle} 0" for number, angle in enumerate(angles, start=1)]
    path.write_text(":FULLY-SPECIFIED\n:DEGREES\n" + "\n".join(lines) + "\n")
    recording = read(path)
    assert recording.X[:, 1] == pytest.approx([170, 179, 188, 197, 178])
    assert any("jumps of 360 degrees" in note and "root.ry" in note for note in recording.notes)
    assert read(path, unwrap=False).X[:, 1] == pytest.approx(angles)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("knee", "shin", "frame 2 .*; all frames must list the same bones in the same order"),
        ("hip ", "hip nan ", "frame 2 has 10 values for 3 bones, but the first frame has 11 for 3"),
        ("\n7\n", "\n7\nhip 1 2 3\n", "frame 7 has 13 values for 4 bones"),
        ("root ", "root x", "could not convert"),
    ],
)
def test_damaged_motions_say_where(tmp_path, old, new, message):
    path = tmp_path / "skeleton_01.amc"
    write_amc(path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=rf"skeleton_01\.amc.*({message})"):
        read(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("length 2", "length inf", "1 finite numbers"),
        ("hip knee", "hip elbow", "names bone 'elbow'"),
        ("hip knee", "hip knee tail", "'tail' has more than one parent"),
        ("dof rx ry rz", "dof rx rx rz", "must be distinct"),
        ("angle deg", "angle grad", "must be deg or rad"),
        ("axis XYZ", "axis XYY", "axis order"),
        (":bonedata", ":nothing", "found no bones|names bone"),
    ],
)
def test_damaged_skeletons_say_what_is_wrong(tmp_path, old, new, message):
    path = tmp_path / "alone.asf"
    path.write_text(ASF.replace(old, new, 1))
    with pytest.raises(ValueError, match=rf"alone\.asf.*({message})"):
        read(path)


def test_a_cycle_of_bones_does_not_hang(tmp_path):
    path = tmp_path / "alone.asf"
    path.write_text(ASF.replace("root hip tail", "knee hip\n    root tail"))
    assert read(path).view.joint_names == ("root", "tail")


def test_markers_out_of_sight_are_filled_and_named(tmp_path):
    write_c3d(tmp_path / "markers.c3d")
    recording = read(tmp_path / "markers.c3d")
    assert recording.feature_names[:4] == ("LASI.x", "LASI.y", "LASI.z", "RASI.x")
    assert recording.X[3, 6:] == pytest.approx((recording.X[2, 6:] + recording.X[4, 6:]) / 2)
    assert "left out because all values are missing: LOST" in recording.notes
    assert "filled in missing values by linear interpolation: SACR (1)" in recording.notes
    assert recording.times[5] == pytest.approx(0.1)
    assert recording.view.positions.shape == (10, 3, 3)


def test_gaps_can_be_dropped_or_refused(tmp_path):
    write_c3d(tmp_path / "markers.c3d")
    dropped = read(tmp_path / "markers.c3d", missing="drop")
    assert dropped.times == pytest.approx(np.delete(np.arange(10), 3) / 50)
    with pytest.raises(
        ValueError, match=r"markers\.c3d: some of the 10 rows have missing .*: SACR \(1\), LOST \(10\)"
    ):
        read(tmp_path / "markers.c3d", missing="error")


def test_a_recording_cut_after_a_whole_frame_is_read_and_one_torn_is_not(tmp_path):
    path = tmp_path / "markers.c3d"
    write_c3d(path)
    content = path.read_bytes()
    frame_bytes = 4 * 4 * 4
    path.write_bytes(content[: -3 * frame_bytes])
    cut = read(path)
    assert len(cut) == 7
    assert any("the header says 10 frames, but the file ends after 7" in note for note in cut.notes)
    path.write_bytes(content[: -3 * frame_bytes - 10])
    with pytest.raises(ValueError, match=r"markers\.c3d: the recording is incomplete: .*6\.8"):
        read(path)
    assert len(read(path, damaged="keep")) == 6


@pytest.mark.data
def test_rotations_are_read_where_there_are_no_markers(data_dir):
    recording = read(data_dir / "formats" / "C3DRotationExample.c3d")
    assert recording.X.shape == (340, 21 * 12)
    turn = recording.X[100].reshape(21, 3, 4)[5, :, :3]
    assert turn @ turn.T == pytest.approx(np.eye(3), abs=1e-5)


def place_bvh(root: np.ndarray, hips: np.ndarray, leg: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place the two joints of the sample: intrinsic rotations about z, y, x."""
    hip_turn = Rotation.from_euler("ZYX", hips, degrees=True)
    return root, root + hip_turn.apply([0, -2, 0])


def test_bvh_angles_and_positions(tmp_path):
    path = tmp_path / "motion.bvh"
    write_bvh(path)
    values = np.array([line.split() for line in path.read_text().splitlines()[-12:]], dtype=float)
    recording = read(path, unwrap=False, root_translation=True)
    assert pytest.approx(values) == recording.X
    assert recording.feature_names[3:6] == ("Hips.rz", "Hips.ry", "Hips.rx")
    for row, pose in zip(values, recording.view.positions, strict=True):
        hips, leg = place_bvh(row[:3], row[3:6], row[6:])
        assert pose[0] == pytest.approx(hips, abs=1e-4)
        assert pose[1] == pytest.approx(leg, abs=1e-4)
    assert recording.times[-1] == pytest.approx(11 / 120, rel=1e-4)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Frames: 12", "Frames: 900000000", "the header says 900000000 frames, but the file holds 12"),
        ("Frames: 12", "Frames: 11", "the header says 11 frames, but the file holds 12"),
        ("MOTION", "{" * 400 + "MOTION", "nested more than 300 levels deep"),
        ("Frame Time: 0.0083333", "Frame Time: 0", "frame time"),
        ("CHANNELS 3", "CHANNELS 2", "motion.bvh"),
    ],
)
def test_damaged_bvh(tmp_path, old, new, message):
    path = tmp_path / "motion.bvh"
    write_bvh(path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=rf"(?i)motion\.bvh.*{message}|{message}"):
        read(path)
