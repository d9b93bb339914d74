"""The real data sets of motion capture, which `seqspan.datasets.real` offers with the others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.checks import check_choice
from seqspan._core.types import Array
from seqspan.datasets._folder import DataFolder, find_file
from seqspan.recording import PoseView, Recording

CMU86_TRIALS = (1, 3, 5, 7, 9, 11, 13)
MOCAP6_TRIALS = ("13_29", "13_30", "13_31", "14_06", "14_14", "14_20")


def load_cmu86(trial: int, data: DataFolder = None) -> Recording:
    """Load a trial of CMU subject 86 as joint rotations; the labels are the actions marked by ACA.

    Parameters
    ----------
    trial : {1, 3, 5, 7, 9, 11, 13}
    data : path, optional

    Returns
    -------
    Recording
        Unit quaternions of 15 joints at 60 Hz, 60 features. Actions recur.

    Examples
    --------
    >>> load_cmu86(1).X.shape
    (2285, 60)
    """
    if trial not in CMU86_TRIALS:
        raise ValueError(f"trial must be one of {', '.join(map(str, CMU86_TRIALS))}; got {trial!r}.")
    path = find_file("cmu86", f"86_{trial:02d}_body15_60hz.npz", data)
    with np.load(path, allow_pickle=False) as archive:
        stored = {name: archive[name] for name in archive.files}
    rotations, joints = stored["rot"].astype(float), tuple(map(str, stored["joints"]))
    continuous = continuous_quaternions(rotations)
    return Recording(
        X=continuous.reshape(len(rotations), -1),
        times=np.arange(len(rotations)) / float(stored["fps"]),
        time_unit="s",
        feature_names=tuple(f"{joint}.{letter}" for joint in joints for letter in "xyzw"),
        kind="mocap",
        source=str(path),
        notes=("the signs of the quaternions are chosen such that they are continuous in time",),
        labels=stored["label"].astype(np.intp),
        label_names=tuple(map(str, stored["actions"])),
        view=_pose(rotations, stored, joints),
    )


def continuous_quaternions(rotations: Array) -> Array:
    """Choose between q and -q, which are the same rotation, such that quaternions are continuous in time.

    Parameters
    ----------
    rotations : array of shape (n_samples, n_joints, 4)

    Returns
    -------
    array of the same shape

    Examples
    --------
    >>> continuous_quaternions(np.array([[[0.0, 0, 0, 1]], [[0, 0, 0, -1]]]))[:, 0, 3]
    array([1., 1.])
    """
    agree = np.einsum("tjc,tjc->tj", rotations[1:], rotations[:-1]) >= 0
    signs = np.cumprod(np.where(agree, 1.0, -1.0), axis=0)
    continuous: Array = rotations * np.concatenate([np.ones((1, rotations.shape[1])), signs])[..., None]
    return continuous


def _pose(rotations: Array, stored: dict[str, npt.NDArray[Any]], joints: tuple[str, ...]) -> PoseView:
    """Compute the joint positions from the rotations, parents first."""
    from scipy.spatial.transform import Rotation

    parents = stored["parents"].tolist()
    positions, world = [stored["root"].astype(float)], [Rotation.from_quat(rotations[:, 0])]
    for joint, parent in enumerate(parents[1:], start=1):
        positions.append(positions[parent] + world[parent].apply(stored["offsets"][joint]))
        world.append(world[parent] * Rotation.from_quat(rotations[:, joint]))
    edges = tuple((parent, joint) for joint, parent in enumerate(parents) if parent >= 0)
    return PoseView(np.stack(positions, axis=1).astype(np.float32), joints, edges)


def load_cmu86_angles(data: DataFolder = None) -> Recording:
    """Load trial 1 of CMU subject 86 as joint angles at 120 Hz; the labels are the actions marked by ACA.

    Parameters
    ----------
    data : path, optional

    Returns
    -------
    Recording
        59 angles in degrees, unwrapped, without the root translation.

    Examples
    --------
    >>> load_cmu86_angles().X.shape
    (4579, 59)
    """
    path = find_file("cmu86", "86_01_amc62_120hz.npz", data)
    truth = json.loads(find_file("cmu86", "groundtruth.json", data).read_text())["aca"]["86_01"]
    ends = [span["end_mid"] for span in truth]
    names = tuple(dict.fromkeys(span["action"] for span in truth))
    labels = np.repeat([names.index(span["action"]) for span in truth], np.diff([0, *ends]))
    return replace(_angles(path), labels=labels.astype(np.intp), label_names=names)


def load_mocap6(trial: str, data: DataFolder = None) -> Recording:
    """Load an exercise routine of CMU subject 13 or 14 as 12 selected channels at 10 Hz.

    Parameters
    ----------
    trial : {"13_29", "13_30", "13_31", "14_06", "14_14", "14_20"}
    data : path, optional

    Returns
    -------
    Recording
        The labels are the exercises, which recur.

    Examples
    --------
    >>> load_mocap6("13_29").X.shape
    (382, 12)
    """
    from scipy.io import loadmat

    check_choice("trial", trial, MOCAP6_TRIALS)
    path = find_file("cmu_mocap6", "mocap6.mat", data)
    stored = loadmat(path, squeeze_me=True)
    entry = next(item for item in stored["DataBySeq"] if str(item["filename"]) == trial)
    X = np.asarray(entry["X"], float)
    return Recording(
        X=X,
        times=np.arange(len(X)) / 10,
        time_unit="s",
        feature_names=tuple(map(str, stored["ChannelNames"])),
        kind="mocap",
        source=str(path),
        labels=np.asarray(entry["TrueZ"], np.intp) - 1,
        label_names=tuple(map(str, stored["ActionNames"])),
    )


def load_mocap6_angles(trial: str, data: DataFolder = None) -> Recording:
    """Load an exercise routine as all its joint angles at 120 Hz.

    Parameters
    ----------
    trial : {"13_29", "14_14"}
    data : path, optional

    Returns
    -------
    Recording
        59 angles in degrees, unwrapped, without the root translation. The labels are the exercises.

    Examples
    --------
    >>> load_mocap6_angles("13_29").X.shape
    (4592, 59)
    """
    path = find_file("cmu_mocap6", f"{trial}_amc62_120hz.npz", data)
    recording = _angles(path)
    with np.load(path, allow_pickle=False) as archive:
        labels = np.repeat(archive["label10hz"], 12)[: len(recording)]
    n_labelled = len(labels)
    labelled = recording.take(np.arange(n_labelled))
    return replace(
        labelled, labels=labels.astype(np.intp) - 1, label_names=load_mocap6(trial, data).label_names
    )


def load_hdm05(actor: str = "bd", clips_per_action: int = 1, data: DataFolder = None) -> Recording:
    """Load HDM05 clips of one actor, joined one action after the other.

    Parameters
    ----------
    actor : {"bd", "bk"}
    clips_per_action : int
        Largest number of clips per action; there are 11 actions.
    data : path, optional

    Returns
    -------
    Recording
        59 angles in degrees at 120 Hz, unwrapped within each clip, without the root translation.

    Examples
    --------
    >>> load_hdm05("bd").X.shape
    (2615, 59)
    """
    check_choice("actor", actor, ("bd", "bk"))
    if clips_per_action < 1:
        raise ValueError(f"clips_per_action must be at least 1; got {clips_per_action}.")
    path = find_file("hdm05_cuts", "hdm05_cuts_amc62.npz", data)
    with np.load(path, allow_pickle=False) as archive:
        actions, names = archive["action"].tolist(), archive["names"]
        own = [number for number, owner in enumerate(archive["actor"].tolist()) if owner == actor]
        kinds = tuple(dict.fromkeys(actions[number] for number in own))
        chosen = [[number for number in own if actions[number] == kind][:clips_per_action] for kind in kinds]
        clips = [[_without_root(archive[f"clip{number:03d}"]) for number in group] for group in chosen]
    lengths = [sum(map(len, group)) for group in clips]
    X = np.concatenate([clip for group in clips for clip in group])
    return Recording(
        X=X,
        times=np.arange(len(X)) / 120,
        time_unit="s",
        feature_names=tuple(map(str, names[3:])),
        kind="mocap",
        source=str(path),
        notes=(f"joined {sum(map(len, clips))} clips of actor {actor}",),
        labels=np.repeat(np.arange(len(kinds)), lengths),
        label_names=kinds,
    )


def _angles(path: Path) -> Recording:
    """Read stored AMC values as unwrapped angles."""
    with np.load(path, allow_pickle=False) as archive:
        X, names, rate = archive["X"], archive["names"], float(archive["fps"])
    return Recording(
        X=_without_root(X),
        times=np.arange(len(X)) / rate,
        time_unit="s",
        feature_names=tuple(map(str, names[3:])),
        kind="mocap",
        source=str(path),
        notes=("left out the root translation and removed jumps of 360 degrees",),
    )


def _without_root(X: Array) -> Array:
    """Drop the three coordinates of the root, and remove jumps of a full turn."""
    return np.unwrap(X[:, 3:].astype(float), axis=0, period=360.0)
