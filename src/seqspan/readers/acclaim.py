"""Acclaim motion capture: a motion (.amc, .amc.gz) and the skeleton (.asf) in the same folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from seqspan.readers._asf import (
    ROOT,
    Motion,
    Skeleton,
    check_channels,
    joint_positions,
    parse_amc,
    parse_asf,
)
from seqspan.readers._errors import name_file_in_errors
from seqspan.readers._limits import MAX_TEXT_BYTES, read_lines
from seqspan.readers._mocap import JointMotion, JointOptions, motion_to_recording
from seqspan.readers._registry import Reader
from seqspan.recording import PoseView, Recording

ROOT_CHANNELS: tuple[str, ...] = ("tx", "ty", "tz", "rx", "ry", "rz")  # their usual order
DEFAULT_RATE = 120.0  # frames per second, as in CMU and HDM05; the format does not store it


@dataclass(frozen=True)
class AcclaimOptions(JointOptions):
    """Features of a motion, its skeleton and its frame rate.

    Parameters
    ----------
    features, root_translation, angle_unit, unwrap
        As for all skeletons.
    skeleton : str, optional
        Path of the .asf file. By default, the one in the same folder whose name has the longest common start
        with the name of the motion.
    rate : float
        Frames per second, which the format does not store.
    """

    skeleton: str | None = None
    rate: float = DEFAULT_RATE

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.rate < float("inf"):
            raise ValueError(f"rate must be positive and finite; got {self.rate}.")


def load_acclaim(path: Path, options: AcclaimOptions, max_bytes: int) -> Recording:
    """Read a motion, and its skeleton if there is one."""
    motion = parse_amc(read_lines(path, max_bytes))
    _, *skeletons = acclaim_files(path, options)
    notes = [
        f"AMC files do not store their rate: times assume {options.rate:g} frames per second (option rate)"
    ]
    if not skeletons:
        notes.append("no matching .asf skeleton in the folder, so there are no poses to show")
        return motion_to_recording(_joint_motion(motion, None), options, options.rate, notes)
    (skeleton_path,) = skeletons
    with name_file_in_errors(skeleton_path, "an ASF skeleton"):
        skeleton = parse_asf(read_lines(skeleton_path, MAX_TEXT_BYTES))
    check_channels(skeleton, motion)
    notes.append(f"skeleton: {skeleton_path.name}")
    return motion_to_recording(_joint_motion(motion, skeleton), options, options.rate, notes)


def acclaim_files(path: Path, options: AcclaimOptions) -> list[Path]:
    """The motion, and the skeleton that was given or found."""
    skeleton = Path(options.skeleton) if options.skeleton else find_skeleton(path)
    return [path] if skeleton is None else [path, skeleton]


def find_skeleton(path: Path) -> Path | None:
    """Find the .asf file in the folder whose name has the longest common start with that of the motion.

    Parameters
    ----------
    path : Path
        Of the motion.

    Returns
    -------
    Path or None
        The first by name if several match equally well; None if none has even the first letter in common.
    """
    candidates = sorted(
        entry for entry in path.parent.iterdir() if entry.suffix.lower() == ".asf" and entry.is_file()
    )
    if not candidates:
        return None

    def n_common(candidate: Path) -> int:
        pairs = zip(candidate.stem.lower(), path.name.lower(), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    best = max(candidates, key=n_common)
    return best if n_common(best) else None


def _joint_motion(motion: Motion, skeleton: Skeleton | None) -> JointMotion:
    """Split the channels into the root translation and angles in degrees."""
    names, is_angle = _name_channels(motion, skeleton)
    unit = 1.0 if motion.degrees else np.rad2deg(1.0)
    angle_names = tuple(name for name, angle in zip(names, is_angle, strict=True) if angle)
    root_names = tuple(name for name, angle in zip(names, is_angle, strict=True) if not angle)
    return JointMotion(
        angles=motion.values[:, is_angle] * unit,
        angle_names=angle_names,
        root=motion.values[:, ~is_angle],
        root_names=root_names,
        pose=None if skeleton is None else _pose(skeleton, motion),
    )


def _name_channels(motion: Motion, skeleton: Skeleton | None) -> tuple[list[str], npt.NDArray[np.bool_]]:
    """Name the columns and say which are angles; without a skeleton, assume the usual order at the root."""
    names: list[str] = []
    is_angle: list[bool] = []
    for bone, count in motion.bones:
        channels = ROOT_CHANNELS if bone == ROOT and count == len(ROOT_CHANNELS) else ()
        if skeleton is not None:
            channels = skeleton.bones[bone].channels
        names += [f"{bone}.{channel}" for channel in channels or map(str, range(count))]
        is_angle += [channel[0] == "r" for channel in channels] or [True] * count
    return names, np.array(is_angle)


def _pose(skeleton: Skeleton, motion: Motion) -> PoseView:
    """Compute the joint positions of every frame."""
    names, positions = joint_positions(skeleton, motion)
    index = {name: number for number, name in enumerate(names)}
    edges = tuple((index[skeleton.parents[name]], index[name]) for name in names[1:])
    return PoseView(positions.astype(np.float32), tuple(names), edges)


def load_skeleton_alone(path: Path, options: AcclaimOptions, max_bytes: int) -> Recording:
    """Read a skeleton as a recording of one sample, its rest pose."""
    skeleton = parse_asf(read_lines(path, max_bytes))
    moving = [(name, bone) for name, bone in skeleton.bones.items() if bone.channels]
    bones = tuple((name, len(bone.channels)) for name, bone in moving)
    motion = Motion(np.zeros((1, sum(count for _, count in bones))), bones, skeleton.degrees)
    notes = ["a skeleton without motion: the only sample is its rest pose"]
    return motion_to_recording(
        _joint_motion(motion, skeleton), replace(options, unwrap=False), options.rate, notes
    )


def looks_like_amc(head: bytes) -> bool:
    """Recognise a motion by its keywords, or by a line that starts with the root."""
    text = head.lower()
    return b"\x00" not in head and (
        b":fully-specified" in text or b":degrees" in text or b":radians" in text or b"\nroot " in text
    )


def looks_like_asf(head: bytes) -> bool:
    """Recognise a skeleton by the names of its first sections."""
    text = head.lower()
    return b"\x00" not in head and (b":bonedata" in text or b":root" in text or b":units" in text)


READERS = (
    Reader(
        name="amc",
        title="an AMC motion",
        extensions=(".amc",),
        options=AcclaimOptions,
        load=load_acclaim,
        matches=looks_like_amc,
        files=acclaim_files,
        max_bytes=MAX_TEXT_BYTES,
    ),
    Reader(
        name="asf",
        title="an ASF skeleton",
        extensions=(".asf",),
        options=AcclaimOptions,
        load=load_skeleton_alone,
        matches=looks_like_asf,
        max_bytes=MAX_TEXT_BYTES,
    ),
)
