"""Shared by the readers of skeletons: their options, and the features of a motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqspan._core.checks import check_choice
from seqspan._core.types import Array
from seqspan.recording import PoseView, Recording

FEATURES = ("angles", "positions")
ANGLE_UNITS = ("degrees", "radians")


@dataclass(frozen=True)
class JointOptions:
    """Which numbers of a motion become the features.

    Parameters
    ----------
    features : {"angles", "positions"}
        Joint angles, as in the paper, or joint positions by forward kinematics.
    root_translation : bool
        Keep the position of the body in the room. If False, the root's three coordinates are left out of the
        angles and subtracted from the positions, so that it does not matter where a movement is made.
    angle_unit : {"degrees", "radians"}
    unwrap : bool
        Remove jumps of a full turn from one frame to the next.
    """

    features: str = "angles"
    root_translation: bool = False
    angle_unit: str = "degrees"
    unwrap: bool = True

    def __post_init__(self) -> None:
        check_choice("features", self.features, FEATURES)
        check_choice("angle_unit", self.angle_unit, ANGLE_UNITS)


@dataclass(frozen=True)
class JointMotion:
    """The motion of a skeleton, in a form common to all formats.

    Parameters
    ----------
    angles : array of shape (n_frames, n_angles), in degrees
    angle_names : tuple of str
    root : array of shape (n_frames, 3)
        Position of the root.
    root_names : tuple of str
    pose : PoseView or None
        None if there is no skeleton.
    """

    angles: Array
    angle_names: tuple[str, ...]
    root: Array
    root_names: tuple[str, ...]
    pose: PoseView | None


def motion_to_recording(
    motion: JointMotion, options: JointOptions, rate: float, notes: list[str]
) -> Recording:
    """Make a recording of kind "mocap" from the chosen features of a motion."""
    if options.features == "angles":
        X, names, more = _angle_features(motion, options)
    else:
        X, names, more = _position_features(motion, options)
    return Recording(
        X=X,
        times=np.arange(len(X)) / rate,
        time_unit="s",
        feature_names=names,
        kind="mocap",
        notes=(*notes, *more),
        view=motion.pose,
    )


def _angle_features(motion: JointMotion, options: JointOptions) -> tuple[Array, tuple[str, ...], list[str]]:
    """Return the angles in the chosen unit, after the position of the root if that is wanted."""
    angles, notes = motion.angles, []
    if options.unwrap:
        angles = np.unwrap(angles, axis=0, period=360.0)
        jumped = np.flatnonzero(np.any(np.abs(angles - motion.angles) > 180, axis=0))
        if jumped.size:
            named = ", ".join(motion.angle_names[index] for index in jumped)
            notes.append(f"removed jumps of 360 degrees from {named}")
    if options.angle_unit == "radians":
        angles = np.deg2rad(angles)
    if options.root_translation:
        return np.hstack([motion.root, angles]), motion.root_names + motion.angle_names, notes
    if motion.root_names:
        notes.append(f"left out the root translation ({', '.join(motion.root_names)})")
    return np.ascontiguousarray(angles), motion.angle_names, notes


def _position_features(
    motion: JointMotion, options: JointOptions
) -> tuple[Array, tuple[str, ...], list[str]]:
    """Return the joint positions, in the room or relative to the root."""
    if motion.pose is None:
        raise ValueError(
            "features='positions' needs a skeleton: pass the .asf file as skeleton=, or put it in the folder "
            "of the motion (86.asf for 86_01.amc)."
        )
    positions, joints, notes = motion.pose.positions.astype(float), motion.pose.joint_names, []
    if not options.root_translation:
        positions, joints = positions[:, 1:] - positions[:, :1], joints[1:]
        notes.append("positions are relative to the root, which is left out")
    names = tuple(f"{joint}.{letter}" for joint in joints for letter in "xyz")
    return positions.reshape(len(positions), -1), names, notes
