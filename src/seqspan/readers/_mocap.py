"""What the readers of motion capture share: angles without jumps, gaps filled, poses to show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqspan._core.types import Array
from seqspan.readers._missing import require_choice
from seqspan.recording import PoseView, Recording

FEATURES = ("angles", "positions")
ANGLE_UNITS = ("degrees", "radians")


@dataclass(frozen=True)
class JointOptions:
    """Which numbers of a skeleton's motion become the features.

    Parameters
    ----------
    features : {"angles", "positions"}
        Joint angles, as in the paper, or the joints' places by forward kinematics.
    root_translation : bool
        Keep where the body is in the room. Without it the root's three coordinates are left out of the
        angles and subtracted from the positions: the same step taken elsewhere is the same step.
    angle_unit : {"degrees", "radians"}
    unwrap : bool
        Remove the jumps of a full turn between one frame and the next.
    """

    features: str = "angles"
    root_translation: bool = False
    angle_unit: str = "degrees"
    unwrap: bool = True

    def __post_init__(self) -> None:
        require_choice("features", self.features, FEATURES)
        require_choice("angle_unit", self.angle_unit, ANGLE_UNITS)


@dataclass(frozen=True)
class JointMotion:
    """A motion as every format of skeletons gives it.

    Parameters
    ----------
    angles : array of shape (n_frames, n_angles), in degrees
    angle_names : tuple of str
    root : array of shape (n_frames, 3)
    root_names : tuple of str
    pose : PoseView or None
        None where no skeleton was found.
    """

    angles: Array
    angle_names: tuple[str, ...]
    root: Array
    root_names: tuple[str, ...]
    pose: PoseView | None


def joint_sequence(motion: JointMotion, options: JointOptions, rate: float, notes: list[str]) -> Recording:
    """Choose the features of a motion and dress them as a recording of kind "mocap"."""
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
    """Return angles in the unit that was asked for, with the root's place before them if wanted."""
    angles, notes = motion.angles, []
    if options.unwrap:
        angles = np.unwrap(angles, axis=0, period=360.0)
        jumped = np.flatnonzero(np.any(np.abs(angles - motion.angles) > 180, axis=0))
        if jumped.size:
            named = ", ".join(motion.angle_names[index] for index in jumped)
            notes.append(f"jumps of a full turn were removed from {named}")
    if options.angle_unit == "radians":
        angles = np.deg2rad(angles)
    if options.root_translation:
        return np.hstack([motion.root, angles]), motion.root_names + motion.angle_names, notes
    if motion.root_names:
        notes.append(f"the root's translation ({', '.join(motion.root_names)}) was left out")
    return np.ascontiguousarray(angles), motion.angle_names, notes


def _position_features(
    motion: JointMotion, options: JointOptions
) -> tuple[Array, tuple[str, ...], list[str]]:
    """Return the joints' places in the room, or from the root."""
    if motion.pose is None:
        raise ValueError(
            "features='positions' needs the skeleton: put the .asf file beside the motion, its name the "
            "start of the motion's name, or pass skeleton=."
        )
    places, joints, notes = motion.pose.positions.astype(float), motion.pose.joint_names, []
    if not options.root_translation:
        places, joints = places[:, 1:] - places[:, :1], joints[1:]
        notes.append("positions are counted from the root, which was left out")
    names = tuple(f"{joint}.{letter}" for joint in joints for letter in "xyz")
    return places.reshape(len(places), -1), names, notes
