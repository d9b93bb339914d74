"""Real data sets as recordings with their true labels, for the experiments and benchmarks.

Nothing is downloaded: files are expected in the folder ``data``, by default ``$SEQSPAN_DATA``, and the error
for a missing file says where to get it.

>>> load_tirlib(data="nowhere")  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
FileNotFoundError: nowhere...TIRlib.mat: not found. Download TIRlib.mat from https://github.com/sjtrny/...
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from seqspan._core.checks import check_choice
from seqspan._core.types import IntArray
from seqspan.datasets._folder import DataFolder, find_file
from seqspan.datasets._real_mocap import (
    load_cmu86,
    load_cmu86_angles,
    load_hdm05,
    load_mocap6,
    load_mocap6_angles,
)
from seqspan.readers import read
from seqspan.recording import Recording

__all__ = [
    "load_actrectut",
    "load_bbb_clip",
    "load_bbb_film",
    "load_cmu86",
    "load_cmu86_angles",
    "load_hdm05",
    "load_hog",
    "load_hopkins",
    "load_mocap6",
    "load_mocap6_angles",
    "load_osc_cuts",
    "load_tirlib",
]


def load_tirlib(data: DataFolder = None) -> Recording:
    """Load the library of 120 pure mineral spectra, 6 to 14 um in 321 bands.

    Parameters
    ----------
    data : path, optional
        Folder of the data sets; ``$SEQSPAN_DATA`` by default.

    Returns
    -------
    Recording
        Without labels; :func:`seqspan.datasets.make_spectra` mixes its spectra.

    Examples
    --------
    >>> load_tirlib().X.shape
    (120, 321)
    """
    library = read(find_file("tirlib", "TIRlib.mat", data), variable="A", wavelengths="wv")
    return library.with_notes("wavelengths are in micrometres")


def load_bbb_clip(clip: str, data: DataFolder = None) -> Recording:
    """Load a clip of 300 frames with three shots, as in the paper's experiment on video.

    Parameters
    ----------
    clip : {"A", "B"}
    data : path, optional

    Returns
    -------
    Recording
        Grey frames of 129 x 96. The labels are the shots.

    Examples
    --------
    >>> np.flatnonzero(np.diff(load_bbb_clip("A").labels)) + 1
    array([ 85, 178])
    """
    check_choice("clip", clip, ("A", "B"))
    path = find_file("video_bbb", f"bbb_clip{clip}_gray96x129.npz", data)
    recording = read(path, variable="frames")
    with np.load(path, allow_pickle=False) as archive:
        cuts, rate = archive["cuts"], float(archive["fps"])
    times = np.arange(len(recording)) / rate
    return replace(recording, labels=_count_cuts(cuts, len(recording)), times=times, time_unit="s")


def load_bbb_film(data: DataFolder = None) -> Recording:
    """Load 60 s of film; the labels are the shots between hard cuts.

    Parameters
    ----------
    data : path, optional

    Returns
    -------
    Recording
        1440 grey frames of 129 x 96. The notes list gradual transitions: a fade-in, a dissolve and a title.

    Examples
    --------
    >>> film = load_bbb_film()
    >>> len(film), film.time_unit, len(np.unique(film.labels))
    (1440, 's', 6)
    """
    recording = read(find_file("video_bbb", "big_buck_bunny_first60s.mp4", data))
    truth = json.loads(find_file("video_bbb", "labels.json", data).read_text())["big_buck_bunny_first60s.mp4"]
    labels = _count_cuts(truth["hard_cuts_first_frame_of_new_shot"], len(recording))
    notes = [f"{item['type']}: frames {item['frames'][0]}-{item['frames'][1]}" for item in truth["gradual"]]
    return replace(recording, labels=labels).with_notes(*notes)


def load_osc_cuts(data: DataFolder = None) -> dict[str, list[tuple[str, int]]]:
    """Load the cuts that the authors of the paper marked in two cartoons, without the frames.

    Parameters
    ----------
    data : path, optional

    Returns
    -------
    dict of name to list of (type of cut, frame)

    Examples
    --------
    >>> {name: len(cuts) for name, cuts in load_osc_cuts().items()}
    {'confederate_honey': 63, 'fright_to_the_finish': 60}
    """
    lines = find_file("osc_paper_video_labels", "cuts.csv", data).read_text().splitlines()
    cuts: dict[str, list[tuple[str, int]]] = {}
    for line in lines[1:]:
        video, kind, frame = line.split(",")
        cuts.setdefault(video, []).append((kind, int(frame)))
    return cuts


def load_hog(name: str, person: int, data: DataFolder = None) -> Recording:
    """Load a recording of Keck (gestures) or Weizmann (actions) as 324 HoG features per frame.

    Parameters
    ----------
    name : {"keck", "weizmann"}
    person : int
        From 1.
    data : path, optional

    Returns
    -------
    Recording
        Ten gestures or actions, one after the other.

    Examples
    --------
    >>> load_hog("weizmann", 1).X.shape
    (701, 324)
    """
    check_choice("name", name, ("keck", "weizmann"))
    file = f"{'keck' if name == 'keck' else 'wei'}_person_{person}.npz"
    return read(find_file("keck_weizmann_hog", file, data), variable="X", labels="label")


def load_actrectut(subject: int = 1, data: DataFolder = None) -> Recording:
    """Load 24 inertial channels of a person with six activities in 43 spans.

    Parameters
    ----------
    subject : int
    data : path, optional

    Returns
    -------
    Recording
        31,392 samples for subject 1.

    Examples
    --------
    >>> load_actrectut().X.shape
    (31392, 24)
    """
    file = f"actrectut_subject{subject}_walk.mat"
    return read(find_file("actrectut", file, data), variable="data", labels="labels")


def load_hopkins(name: str, data: DataFolder = None) -> Recording:
    """Load the tracked points of a scene with several moving objects, sorted by object.

    Parameters
    ----------
    name : str
        Name of the scene, such as ``"cars1"``.
    data : path, optional

    Returns
    -------
    Recording
        One row per point, with its coordinates in all frames. The labels are the objects.

    Examples
    --------
    >>> load_hopkins("cars1").X.shape
    (307, 40)
    """
    from scipy.io import loadmat

    path = find_file("hopkins", f"{name}_truth.mat", data)
    stored = loadmat(path)
    motions = stored["s"].reshape(-1)
    order = np.argsort(motions, kind="stable")
    tracks = stored["x"][:2].transpose(1, 2, 0)[order]  # points, frames, coordinates
    n_points, n_frames, _ = tracks.shape
    return Recording(
        X=tracks.reshape(n_points, -1),
        times=np.arange(n_points, dtype=float),
        time_unit="sample",
        feature_names=tuple(f"frame{number}.{axis}" for number in range(n_frames) for axis in "xy"),
        kind="table",
        source=str(path),
        notes=("the points have no order of their own and are sorted by label",),
        labels=np.unique(motions[order], return_inverse=True)[1].astype(np.intp),
    )


def _count_cuts(cuts: Any, n_samples: int) -> IntArray:
    """Number the shots; a cut is the first frame of a new shot."""
    labels = np.zeros(n_samples, dtype=np.intp)
    labels[np.asarray(cuts)] = 1
    return np.cumsum(labels)
