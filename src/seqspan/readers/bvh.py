"""BVH motion capture, with motion and skeleton in one file, read by pybvh."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from seqspan._core.extras import import_optional
from seqspan.readers._limits import MAX_TEXT_BYTES, is_gzip, read_lines
from seqspan.readers._mocap import JointMotion, JointOptions, motion_to_recording
from seqspan.readers._registry import Reader
from seqspan.recording import PoseView, Recording

MAX_DEPTH = 300  # of nested joints; pybvh is recursive


def load_bvh(path: Path, options: JointOptions, max_bytes: int) -> Recording:
    """Read a motion and its skeleton."""
    pybvh = import_optional("pybvh", "reading BVH files")
    with tempfile.TemporaryDirectory(prefix="seqspan-") as folder:
        # pybvh needs UTF-8 in a file named *.bvh; the copy is checked while it is written.
        checked = Path(folder, "motion.bvh")
        with checked.open("w", encoding="utf-8", newline="") as copy:
            copy.writelines(_checked_lines(path, max_bytes))
        recording = pybvh.read_bvh_file(str(checked), world_up="+y")
    motion = _joint_motion(recording)
    if not np.isfinite(motion.angles).all() or not np.isfinite(motion.root).all():
        raise ValueError("some values are not finite.")
    frame_time = float(recording.frame_time)
    if not 0 < frame_time < float("inf"):
        raise ValueError(f"the frame time must be positive and finite; got {frame_time}.")
    return motion_to_recording(motion, options, 1 / frame_time, [])


def _checked_lines(path: Path, max_bytes: int) -> Any:
    """Yield the lines; raise if joints are nested too deeply or the number of frames is wrong."""
    depth, announced, found = 0, None, 0
    for line in read_lines(path, max_bytes):
        words = line.split()
        if announced is None:
            depth += line.count("{") - line.count("}")
            if depth > MAX_DEPTH:
                raise ValueError(f"joints are nested more than {MAX_DEPTH} levels deep.")
            if words and words[0].lower() == "frames:":
                announced = int(words[1])
        elif words and words[0].lower() != "frame":
            found += 1
        yield line
    if announced is None:
        raise ValueError("expected a line 'Frames:'; found none.")
    if announced != found or not found:
        raise ValueError(f"the header says {announced} frames, but the file holds {found}.")


def _joint_motion(recording: Any) -> JointMotion:
    """Convert what pybvh read into angles, root positions and poses."""
    joints = tuple(recording.joint_names)
    orders = recording.euler_orders
    angle_names = tuple(
        f"{joint}.r{axis.lower()}" for joint, order in zip(joints, orders, strict=True) for axis in order
    )
    angles = np.rad2deg(recording.joint_angles).reshape(len(recording.joint_angles), -1)
    positions = recording.joint_positions().astype(np.float32)
    edges = tuple((int(one), int(other)) for one, other in recording.edges)
    return JointMotion(
        angles=angles,
        angle_names=angle_names,
        root=recording.root_pos,
        root_names=tuple(f"{joints[0]}.t{axis}" for axis in "xyz"),
        pose=PoseView(positions, joints, edges),
    )


def looks_like_bvh(head: bytes) -> bool:
    """Recognise BVH by its first word."""
    return not is_gzip(head) and head.lstrip()[:9].upper() == b"HIERARCHY"


READERS = (
    Reader(
        name="bvh",
        title="a BVH motion",
        extensions=(".bvh",),
        options=JointOptions,
        load=load_bvh,
        matches=looks_like_bvh,
        max_bytes=MAX_TEXT_BYTES,
    ),
)
