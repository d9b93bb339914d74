"""Motion capture with the skeleton in the same file: BVH through pybvh."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from seqspan._core.extras import import_optional
from seqspan.readers._limits import MAX_TEXT_BYTES, is_gzip, read_lines
from seqspan.readers._mocap import JointMotion, JointOptions, joint_sequence
from seqspan.readers._registry import Reader
from seqspan.recording import PoseView, Recording

MAX_DEPTH = 300  # joints inside joints; pybvh walks them by recursion


def load_bvh(path: Path, options: JointOptions, max_bytes: int) -> Recording:
    """Read a motion and its skeleton."""
    pybvh = import_optional("pybvh", "reading BVH files")
    with tempfile.TemporaryDirectory(prefix="seqspan-") as folder:
        # pybvh wants UTF-8 under a name ending in .bvh; what it gets was checked on the way.
        checked = Path(folder, "motion.bvh")
        with checked.open("w", encoding="utf-8", newline="") as copy:
            copy.writelines(_checked_lines(path, max_bytes))
        recording = pybvh.read_bvh_file(str(checked), world_up="+y")
    motion = _joint_motion(recording)
    if not np.isfinite(motion.angles).all() or not np.isfinite(motion.root).all():
        raise ValueError("it has values that are not finite.")
    frame_time = float(recording.frame_time)
    if not 0 < frame_time < float("inf"):
        raise ValueError(f"the frame time must be positive; got {frame_time}.")
    return joint_sequence(motion, options, 1 / frame_time, [])


def _checked_lines(path: Path, max_bytes: int) -> Any:
    """Pass the lines on; raise where joints nest too deep or frames are fewer than promised."""
    depth, promised, found = 0, None, 0
    for line in read_lines(path, max_bytes):
        words = line.split()
        if promised is None:
            depth += line.count("{") - line.count("}")
            if depth > MAX_DEPTH:
                raise ValueError(f"joints are nested more than {MAX_DEPTH} deep.")
            if words and words[0].lower() == "frames:":
                promised = int(words[1])
        elif words and words[0].lower() != "frame":
            found += 1
        yield line
    if promised is None:
        raise ValueError("expected a BVH motion with a line 'Frames:'; found none.")
    if promised != found or not found:
        raise ValueError(f"it promises {promised} frames, but holds {found}.")


def _joint_motion(recording: Any) -> JointMotion:
    """Take angles, root and poses from what pybvh read."""
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
    """Tell BVH by its first word."""
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
