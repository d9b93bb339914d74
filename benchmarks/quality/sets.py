"""The labelled recordings, in twelve sets, and a film.

Constants, and the variant of each peer, are chosen on eleven sets and reported on the one left out, for each
set in turn. The film has a table of its own: only its hard cuts are labelled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from seqspan._core.spans import boundaries_from_labels
from seqspan.datasets import real
from seqspan.recording import Recording

CMU86_STRIDE = 6  # 60 Hz to 10 Hz, as the published comparisons do
HDM05_STRIDE = 6  # 120 Hz to 20 Hz
ACTRECTUT_STRIDE = 8  # 31,392 samples to 3,924


@dataclass(frozen=True, eq=False)
class Labelled:
    """A recording with its true labels.

    Parameters
    ----------
    set_name, name : str
    kind : str
        Kind of recording, as in ``seqspan.Recording``.
    X : array of shape (n, d)
    labels : array of int, shape (n,)
    ignore : tuple of int
        Labels that mean "not annotated".
    joins : tuple of int
        First rows after a place where two recordings, or two sides of a missing range, were put end to end.
    source : str
        Path of the video and range of frames, for methods that read files.
    gradual : tuple of (first, last), optional
        For the film: ranges in which a boundary is not false.
    """

    set_name: str
    name: str
    kind: str
    X: np.ndarray
    labels: np.ndarray
    ignore: tuple[int, ...] = ()
    joins: tuple[int, ...] = ()
    source: str = ""
    gradual: tuple[tuple[int, int], ...] | None = None

    @property
    def boundaries(self) -> np.ndarray:
        """True boundaries; spans that are not annotated count as spans."""
        return boundaries_from_labels(self.labels)

    @property
    def n_spans(self) -> int:
        """True number of spans."""
        return len(self.boundaries) + 1

    @property
    def n_labels(self) -> int:
        """True number of distinct labels; "not annotated" counts as one."""
        return len(np.unique(self.labels))


def labelled(set_name: str, name: str, recording: Recording, stride: int = 1, source: str = "") -> Labelled:
    """Take every stride-th row of a loaded recording."""
    assert recording.labels is not None
    X, labels = recording.X[::stride], recording.labels[::stride]
    return Labelled(set_name, name, recording.kind, X, labels, source=source)


def weizmann(data: Path) -> Iterator[Labelled]:
    for person in (1, 2, 3, 4):
        yield labelled("weizmann", str(person), real.load_hog("weizmann", person, data))


def keck(data: Path) -> Iterator[Labelled]:
    for person in (1, 2):
        yield labelled("keck", str(person), real.load_hog("keck", person, data))


def cmu86(data: Path) -> Iterator[Labelled]:
    for trial in (1, 3, 5, 7, 9, 11, 13):
        yield labelled("cmu86", str(trial), real.load_cmu86(trial, data), CMU86_STRIDE)


def mocap6(data: Path) -> Iterator[Labelled]:
    for trial in ("13_29", "13_30", "13_31", "14_06", "14_14", "14_20"):
        yield labelled("mocap6", trial, real.load_mocap6(trial, data))


def hdm05(data: Path) -> Iterator[Labelled]:
    for actor in ("bd", "bk"):
        for seed in (0, 1):
            yield join_clips(data, actor, seed)


def join_clips(data: Path, actor: str, seed: int) -> Labelled:
    """Join two clips of each of six actions in a random order in which neighbours differ in action."""
    with np.load(data / "hdm05_cuts" / "hdm05_cuts_amc62.npz", allow_pickle=False) as archive:
        actions, actors = archive["action"], archive["actor"]
        order = draw_clips(actions, np.flatnonzero(actors == actor), np.random.default_rng(seed))
        # Without the position of the root and jumps of a full turn, as in seqspan.datasets.real.load_hdm05.
        clips = [np.unwrap(archive[f"clip{i:03d}"][:, 3:].astype(float), axis=0, period=360) for i in order]
    clips = [clip[::HDM05_STRIDE] for clip in clips]
    numbers = np.unique(actions[order], return_inverse=True)[1]
    labels = np.repeat(numbers, [len(clip) for clip in clips])
    return Labelled("hdm05", f"{actor}{seed}", "mocap", np.concatenate(clips), labels)


def draw_clips(actions: np.ndarray, own: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw two clips of each of six actions of one actor, no action twice in a row."""
    kinds, counts = np.unique(actions[own], return_counts=True)
    chosen = rng.choice(kinds[counts >= 2], 6, replace=False)
    clips = np.concatenate([rng.choice(own[actions[own] == kind], 2, replace=False) for kind in chosen])
    while True:
        order = rng.permutation(clips)
        if np.all(actions[order][1:] != actions[order][:-1]):
            return order


def actrectut(data: Path) -> Iterator[Labelled]:
    yield labelled("actrectut", "1", real.load_actrectut(1, data), ACTRECTUT_STRIDE)


def clips(data: Path) -> Iterator[Labelled]:
    film = data / "video_bbb" / "big_buck_bunny_first60s.mp4"
    for clip, start in (("A", 200), ("B", 330)):
        recording = real.load_bbb_clip(clip, data)
        yield labelled("clips", clip, recording, source=f"{film}#{start}-{start + len(recording.X)}")


def pool(data: Path, set_name: str, kind: str) -> Iterator[Labelled]:
    """Load all recordings of a set of the wider pool, in the order of their names."""
    paths = sorted((data / "pool" / set_name).glob("*.npz"))
    if not paths:
        raise FileNotFoundError(f"No recordings (*.npz) of {set_name} in {data / 'pool' / set_name}.")
    for path in paths:
        with np.load(path, allow_pickle=False) as archive:
            X, labels = archive["X"].astype(float), archive["label"].astype(int)
            ignore, joins = (tuple(archive[name].tolist()) for name in ("ignore", "joins"))
        yield Labelled(set_name, path.stem, kind, X, labels, ignore, joins)


def film(data: Path) -> Iterator[Labelled]:
    folder, name = data / "video_bbb", "big_buck_bunny_first60s.mp4"
    whole = labelled("film", "60 s", real.load_bbb_film(data))
    truth = json.loads((folder / "labels.json").read_text())[name]
    gradual = tuple((item["frames"][0], item["frames"][1]) for item in truth["gradual"])
    yield replace(whole, source=f"{folder / name}#0-{len(whole.X)}", gradual=gradual)


Load = Callable[[Path], Iterator[Labelled]]
#: The sets that are left out in turn.
TWELVE: dict[str, Load] = {
    "weizmann": weizmann, "keck": keck, "cmu86": cmu86, "mocap6": mocap6, "hdm05": hdm05,
    "actrectut": actrectut, "clips": clips,
    "breakfast": partial(pool, set_name="breakfast", kind="table"),
    "birdsong": partial(pool, set_name="birdsong", kind="spectra"),
    "gesture_phase": partial(pool, set_name="gesture_phase", kind="mocap"),
    "emg_gestures": partial(pool, set_name="emg_gestures", kind="table"),
    "force2020": partial(pool, set_name="force2020", kind="table"),
}  # fmt: skip
SETS: dict[str, Load] = {**TWELVE, "film": film}
