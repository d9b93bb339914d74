"""The labelled recordings; some are for choosing, the others for confirming.

Defaults, rules and constants are chosen on recordings marked ``choose``; those marked ``confirm`` are used
after the choice is made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
    """A recording with its true labels, and the path of the video for methods that read files."""

    set_name: str
    name: str
    split: str
    kind: str
    X: np.ndarray
    times: np.ndarray
    labels: np.ndarray
    source: str = ""
    gradual: tuple[tuple[int, int], ...] | None = None  # for the film: where a boundary is not false

    @property
    def n_spans(self) -> int:
        """True number of spans."""
        return len(boundaries_from_labels(self.labels)) + 1

    @property
    def n_labels(self) -> int:
        """True number of distinct labels."""
        return len(np.unique(self.labels))


def labelled(
    set_name: str, name: str, split: str, recording: Recording, stride: int = 1, source: str = ""
) -> Labelled:
    """Take every stride-th row of a loaded recording."""
    assert recording.labels is not None
    X, times = recording.X[::stride], recording.times[::stride]
    return Labelled(set_name, name, split, recording.kind, X, times, recording.labels[::stride], source)


def weizmann(data: Path) -> Iterator[Labelled]:
    for person in (1, 2, 3, 4):
        split = "choose" if person in (1, 3) else "confirm"
        yield labelled("weizmann", str(person), split, real.load_hog("weizmann", person, data))


def keck(data: Path) -> Iterator[Labelled]:
    for person in (1, 2):
        yield labelled("keck", str(person), "confirm", real.load_hog("keck", person, data))


def cmu86(data: Path) -> Iterator[Labelled]:
    for trial in (1, 3, 5, 7, 9, 11, 13):
        split = "choose" if trial in (1, 5, 9, 13) else "confirm"
        yield labelled("cmu86", str(trial), split, real.load_cmu86(trial, data), CMU86_STRIDE)


def mocap6(data: Path) -> Iterator[Labelled]:
    for trial in ("13_29", "13_30", "13_31", "14_06", "14_14", "14_20"):
        split = "choose" if trial in ("13_29", "13_31", "14_14") else "confirm"
        yield labelled("mocap6", trial, split, real.load_mocap6(trial, data))


def hdm05(data: Path) -> Iterator[Labelled]:
    for actor, split in (("bd", "choose"), ("bk", "confirm")):
        for seed in (0, 1):
            yield join_clips(data, actor, seed, split)


def join_clips(data: Path, actor: str, seed: int, split: str) -> Labelled:
    """Join two clips of each of six actions in a random order in which neighbours differ in action."""
    with np.load(data / "hdm05_cuts" / "hdm05_cuts_amc62.npz", allow_pickle=False) as archive:
        actions, actors = archive["action"], archive["actor"]
        order = draw_clips(actions, np.flatnonzero(actors == actor), np.random.default_rng(seed))
        # Without the position of the root and jumps of a full turn, as in seqspan.datasets.real.load_hdm05.
        clips = [np.unwrap(archive[f"clip{i:03d}"][:, 3:].astype(float), axis=0, period=360) for i in order]
    clips = [clip[::HDM05_STRIDE] for clip in clips]
    numbers = np.unique(actions[order], return_inverse=True)[1]
    X, labels = np.concatenate(clips), np.repeat(numbers, [len(clip) for clip in clips])
    times = np.arange(len(X)) * HDM05_STRIDE / 120
    return Labelled("hdm05", f"{actor}{seed}", split, "mocap", X, times, labels)


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
    yield labelled("actrectut", "1", "confirm", real.load_actrectut(1, data), ACTRECTUT_STRIDE)


def clips(data: Path) -> Iterator[Labelled]:
    film = data / "video_bbb" / "big_buck_bunny_first60s.mp4"
    for clip, start, split in (("A", 200, "choose"), ("B", 330, "confirm")):
        recording = real.load_bbb_clip(clip, data)
        yield labelled("clips", clip, split, recording, source=f"{film}#{start}-{start + len(recording.X)}")


def film(data: Path) -> Iterator[Labelled]:
    folder = data / "video_bbb"
    name = "big_buck_bunny_first60s.mp4"
    recording = real.load_bbb_film(data)
    truth = json.loads((folder / "labels.json").read_text())[name]
    gradual = tuple((item["frames"][0], item["frames"][1]) for item in truth["gradual"])
    source = f"{folder / name}#0-{len(recording.X)}"
    yield Labelled(
        "film",
        "60 s",
        "confirm",
        recording.kind,
        recording.X,
        recording.times,
        recording.labels,
        source,
        gradual,
    )


SETS: dict[str, Callable[[Path], Iterator[Labelled]]] = {
    "weizmann": weizmann, "keck": keck, "cmu86": cmu86, "mocap6": mocap6, "hdm05": hdm05,
    "actrectut": actrectut, "clips": clips, "film": film,
}  # fmt: skip
