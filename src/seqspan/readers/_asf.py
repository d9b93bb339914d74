"""Acclaim motion capture: parsers of the skeleton (ASF) and the motion (AMC), and forward kinematics.

Conventions of the format: the order "XYZ" means that the rotation about x acts first, so its matrix is
``Rz Ry Rx``. A bone with axis C and motion M rotates by ``C M C^-1`` in the frame of its parent, and extends
from the end of its parent along its direction.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from seqspan._core.types import Array

ROOT = "root"
MAX_BONES = 10_000
CHANNELS = ("tx", "ty", "tz", "rx", "ry", "rz", "l")


@dataclass
class Bone:
    """One bone: its direction at rest, the axis of its rotations, and its channels in the motion."""

    name: str
    direction: tuple[float, ...] = (0.0, 0.0, 0.0)
    length: float = 0.0
    axis: tuple[float, ...] = (0.0, 0.0, 0.0)
    axis_order: str = "xyz"
    channels: tuple[str, ...] = ()


@dataclass
class Skeleton:
    """Bones by name, their parents, and the units of the file."""

    bones: dict[str, Bone] = field(default_factory=lambda: {ROOT: Bone(ROOT)})
    parents: dict[str, str] = field(default_factory=dict)
    degrees: bool = True
    position: tuple[float, ...] = (0.0, 0.0, 0.0)

    def ordered(self) -> list[str]:
        """List the root and all bones connected to it, parents first."""
        children: dict[str, list[str]] = {}
        for child, parent in self.parents.items():
            children.setdefault(parent, []).append(child)
        names = [ROOT]
        for name in names:  # the list grows during the loop: breadth first, without recursion
            names.extend(children.get(name, ()))
        return names


@dataclass(frozen=True)
class Motion:
    """Values of all frames, one column per channel, with the bones in the order of the file."""

    values: Array
    bones: tuple[tuple[str, int], ...]
    degrees: bool

    def columns(self) -> dict[str, slice]:
        """Map each bone to its columns."""
        stops = np.cumsum([count for _, count in self.bones]).tolist()
        return {
            name: slice(stop - count, stop) for (name, count), stop in zip(self.bones, stops, strict=True)
        }


def parse_asf(lines: Iterable[str]) -> Skeleton:
    """Read the text of an ASF file."""
    skeleton = Skeleton()
    section = ""
    bone = Bone("")
    for words in _words(lines):
        if words[0].startswith(":"):
            section = words[0].lower()
        elif section == ":units" and words[0].lower() == "angle":
            skeleton.degrees = _is_degrees(words[-1])
        elif section == ":root":
            _parse_root(words, skeleton)
        elif section == ":bonedata":
            bone = _parse_bone(words, bone, skeleton)
        elif section == ":hierarchy":
            _parse_children(words, skeleton)
    if len(skeleton.bones) == 1 or not skeleton.parents:
        raise ValueError("expected an ASF skeleton with :bonedata and :hierarchy; found no bones.")
    return skeleton


def _words(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split lines into words, skipping comments and empty lines."""
    for line in lines:
        words = line.split("#", 1)[0].split()
        if words:
            yield words


def _is_degrees(word: str) -> bool:
    """Whether the angle unit is degrees, not radians."""
    unit = word.lower()
    if unit not in ("deg", "rad", "degrees", "radians"):
        raise ValueError(f"the angle unit must be deg or rad; got {word!r}.")
    return unit.startswith("deg")


def _parse_root(words: list[str], skeleton: Skeleton) -> None:
    """Read one line of the :root section."""
    root = skeleton.bones[ROOT]
    key = words[0].lower()
    if key == "order":
        root.channels = _channels(words[1:])
    elif key == "axis":
        root.axis_order = _axis_order(words[1])
    elif key == "position":
        skeleton.position = _numbers(words[1:4], 3)
    elif key == "orientation":
        root.axis = _numbers(words[1:4], 3)


def _parse_bone(words: list[str], bone: Bone, skeleton: Skeleton) -> Bone:
    """Read one line of the :bonedata section; return the bone that the line belongs to."""
    key = words[0].lower()
    if key == "begin":
        return Bone("")
    if key == "name":
        bone.name = words[1]
        skeleton.bones[bone.name] = bone
        if len(skeleton.bones) > MAX_BONES:
            raise ValueError(f"the skeleton has more than {MAX_BONES} bones.")
    elif key == "direction":
        bone.direction = _numbers(words[1:4], 3)
    elif key == "length":
        bone.length = _numbers(words[1:2], 1)[0]
    elif key == "axis":
        bone.axis, bone.axis_order = _numbers(words[1:4], 3), _axis_order(words[4])
    elif key == "dof":
        bone.channels = _channels(words[1:])
    return bone


def _parse_children(words: list[str], skeleton: Skeleton) -> None:
    """Read one line of the :hierarchy section: a bone and its children."""
    if words[0].lower() in ("begin", "end"):
        return
    for name in words:
        if name not in skeleton.bones:
            raise ValueError(f"the hierarchy names bone {name!r}, which is not in :bonedata.")
    for child in words[1:]:
        if child in skeleton.parents or child == ROOT:
            raise ValueError(f"bone {child!r} has more than one parent.")
        skeleton.parents[child] = words[0]


def _numbers(words: list[str], count: int) -> tuple[float, ...]:
    """Read exactly `count` finite numbers."""
    values = tuple(float(word) for word in words)
    if len(values) != count or not np.isfinite(values).all():
        raise ValueError(f"expected {count} finite numbers; got {' '.join(words)!r}.")
    return values


def _channels(words: list[str]) -> tuple[str, ...]:
    """Read channel names such as "rx ry rz"."""
    names = tuple(word.lower() for word in words)
    if not set(names) <= set(CHANNELS) or len(set(names)) != len(names):
        raise ValueError(f"channels must be distinct, out of {' '.join(CHANNELS)}; got {' '.join(words)!r}.")
    return names


def _axis_order(word: str) -> str:
    """Read an axis order such as "XYZ"."""
    if sorted(word.lower()) != ["x", "y", "z"]:
        raise ValueError(f"an axis order must name x, y and z once each; got {word!r}.")
    return word.lower()


def parse_amc(lines: Iterable[str]) -> Motion:
    """Read the text of an AMC file: for each frame its number, then one line per bone."""
    values, degrees, n_frames = array("d"), True, 0
    layout: list[tuple[str, int]] = []
    bones: list[tuple[str, int]] = []
    for words in chain(_words(lines), [["end"]]):
        if words[0].startswith(":"):
            degrees = degrees and words[0].lower() != ":radians"
        elif len(words) == 1:  # the next frame's number, or the end
            if n_frames:
                layout = _check_frame(layout or bones, bones, n_frames)
            n_frames, bones = n_frames + 1, []
        elif not n_frames:
            raise ValueError(f"expected a frame number before the line {' '.join(words)[:60]!r}.")
        else:
            values.extend(map(float, words[1:]))
            bones.append((words[0], len(words) - 1))
    if not layout:
        raise ValueError("expected the frames of an AMC motion; found none.")
    table = np.frombuffer(values).reshape(n_frames - 1, -1)
    if not np.isfinite(table).all():
        raise ValueError(
            f"frame {int(np.argwhere(~np.isfinite(table))[0, 0]) + 1} has a value that is not finite."
        )
    return Motion(table, tuple(layout), degrees)


def _check_frame(
    layout: list[tuple[str, int]], bones: list[tuple[str, int]], number: int
) -> list[tuple[str, int]]:
    """Compare a frame with the first one; a file that is cut off usually ends inside a frame."""
    if bones != layout or not bones:
        wanted = sum(count for _, count in layout)
        found = sum(count for _, count in bones)
        raise ValueError(
            f"frame {number} has {found} values for {len(bones)} bones, but the first frame has {wanted} for "
            f"{len(layout)}; all frames must list the same bones in the same order."
        )
    return layout


def check_channels(skeleton: Skeleton, motion: Motion) -> None:
    """Raise if a skeleton does not belong to a motion."""
    for name, count in motion.bones:
        if name not in skeleton.bones or len(skeleton.bones[name].channels) != count:
            known = len(skeleton.bones[name].channels) if name in skeleton.bones else "no"
            raise ValueError(
                f"the motion has {count} channels for bone {name!r}, but the skeleton has {known}: they do "
                f"not belong together. Pass the right .asf file as skeleton=."
            )


def joint_positions(skeleton: Skeleton, motion: Motion) -> tuple[list[str], Array]:
    """Compute where the joints are, from the root outwards.

    Returns
    -------
    names : list of str
        The root, then the bones, each standing for the joint at its end.
    positions : array of shape (n_frames, n_joints, 3)
        In the length unit of the file.
    """
    columns = motion.columns()
    no_motion = np.zeros((len(motion.values), 0))
    positions: dict[str, Array] = {}
    rotations: dict[str, Array] = {}
    names = skeleton.ordered()
    for name in names:
        bone = skeleton.bones[name]
        moved = name in columns
        values = motion.values[:, columns[name]] if moved else no_motion
        rotation, shift = _bone_motion(bone, values, bone.channels if moved else (), skeleton, motion)
        if name == ROOT:
            rotations[name], positions[name] = rotation, shift + np.array(skeleton.position)
            continue
        parent = skeleton.parents[name]
        rotations[name] = rotations[parent] @ rotation
        offset = shift + bone.length * np.array(bone.direction)
        positions[name] = positions[parent] + (rotations[name] @ offset[..., None])[..., 0]
    return names, np.stack([positions[name] for name in names], axis=1)


def _bone_motion(
    bone: Bone, values: Array, channels: tuple[str, ...], skeleton: Skeleton, motion: Motion
) -> tuple[Array, Array]:
    """Return the rotations (n, 3, 3) and translations (n, 3) of one bone in the frame of its parent."""
    by_name = dict(zip(channels, values.T, strict=True))
    still = np.zeros(len(values))
    angles = {name[1]: by_name[name] for name in channels if name[0] == "r"}
    M = rotation_matrices(angles, "".join(angles), len(values), motion.degrees)
    axis = {letter: np.array([angle]) for letter, angle in zip("xyz", bone.axis, strict=True)}
    C = rotation_matrices(axis, bone.axis_order, 1, skeleton.degrees)
    shift = np.stack([by_name.get(f"t{letter}", still) for letter in "xyz"], axis=1)
    return C @ M @ C.transpose(0, 2, 1), shift


def rotation_matrices(angles: dict[str, Array], order: str, n_frames: int, degrees: bool) -> Array:
    """Compose rotations about coordinate axes; the first letter of `order` acts first.

    Parameters
    ----------
    angles : dict of axis letter to array of shape (n_frames,)
    order : str
        Letters of the axes.
    n_frames : int
    degrees : bool
        Whether the angles are in degrees; otherwise they are in radians.

    Returns
    -------
    array of shape (n_frames, 3, 3)

    Examples
    --------
    >>> rotation_matrices({"z": np.array([90.0])}, "z", 1, True).round(3)[0, :, 0]
    array([0., 1., 0.])
    """
    total = np.broadcast_to(np.eye(3), (n_frames, 3, 3))
    for letter in order:
        angle = np.deg2rad(angles[letter]) if degrees else angles[letter]
        first, second = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[letter]
        rotation = np.zeros((n_frames, 3, 3))
        rotation[:] = np.eye(3)
        rotation[:, first, first] = rotation[:, second, second] = np.cos(angle)
        rotation[:, second, first] = np.sin(angle)
        rotation[:, first, second] = -np.sin(angle)
        total = rotation @ total
    return total
