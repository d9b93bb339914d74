"""How many spans are found, with no number given, in data without changes and in data with known changes.

    python -m benchmarks.one_span --seeds 20
    python -m benchmarks.one_span --seeds 20 --peer-python peers/bin/python
    python -m benchmarks.one_span --seeds 1 --data DIR

Data without changes (noise, one subspace, a still camera, ...) should give one span in 19 of 20 draws. Data
with changes are the paper's five subspaces, planes that return, and a few means or planes in turn. They
should give the right number in 18 of 20 draws, unless it is too much to ask: if ruptures is installed (in
this Python, or in that of --peer-python), cases count only if its KernelCPD, given the number, finds all
boundaries in 18 of 20 draws. With --data, every labelled span of real recordings is cut as well: a person saw
no change in it, so it should give one span.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter1d

import seqspan
from benchmarks.quality import sets
from benchmarks.quality.lanes import Lane
from benchmarks.quality.scores import score_boundaries
from benchmarks.quality.sets import Labelled
from seqspan._core.spans import boundaries_from_labels
from seqspan.datasets import make_recurring_subspaces, make_subspaces
from seqspan.pipeline import as_recording

ONE_SPAN = 0.95  # share of draws without a change that have to give one span
EXACT = 0.9  # share of draws with changes that have to give the right number of spans
ALL_FOUND = 0.99  # boundary F1 from which all boundaries count as found
RIVALS = ("KernelCPD linear, raw", "KernelCPD rbf, raw")
Draw = Callable[[np.random.Generator], np.ndarray]


def one_subspace(rng: np.random.Generator, n: int, width: float) -> np.ndarray:
    """Make samples of a 4-dimensional subspace of R^50, with coefficients smoothed over `width` samples."""
    coefficients = rng.standard_normal((n, 4))
    if width:
        coefficients = gaussian_filter1d(coefficients, width, axis=0, mode="reflect")
    basis = np.linalg.qr(rng.standard_normal((50, 4)))[0]
    return (coefficients / coefficients.std(axis=0)) @ basis.T + 0.01 * rng.standard_normal((n, 50))


def around_a_mean(rng: np.random.Generator, d: int) -> np.ndarray:
    """Make independent samples of one plane, around a mean."""
    samples = (rng.standard_normal((300, 2)) + np.array([3.0, 1.0])) @ rng.standard_normal((2, d))
    return samples + 0.05 * rng.standard_normal(samples.shape)


def kinds_at_random(rng: np.random.Generator) -> np.ndarray:
    """Make samples around three means, in random order."""
    return rng.standard_normal((3, 8))[rng.integers(0, 3, 300)] + 0.1 * rng.standard_normal((300, 8))


def random_walk(rng: np.random.Generator) -> np.ndarray:
    """Make a random walk in a subspace; it is not stationary, so there is no right number of spans."""
    return rng.standard_normal((400, 5)).cumsum(axis=0) @ rng.standard_normal((5, 40))


WITHOUT_CHANGE: dict[str, Draw] = {
    "noise, 200 x 10": lambda rng: rng.standard_normal((200, 10)),
    "noise, 400 x 60": lambda rng: rng.standard_normal((400, 60)),
    "noise without negative values, 300 x 30": lambda rng: rng.random((300, 30)),
    "one subspace, independent samples": lambda rng: one_subspace(rng, 200, 0),
    "one subspace, smooth over 3 samples": lambda rng: one_subspace(rng, 400, 3),
    "one subspace, smooth over 10 samples": lambda rng: one_subspace(rng, 400, 10),
    "one subspace, smooth over 30 samples": lambda rng: one_subspace(rng, 600, 30),
    "one plane of 6, independent samples around a mean": lambda rng: around_a_mean(rng, 6),
    "one plane of 20, independent samples around a mean": lambda rng: around_a_mean(rng, 20),
    "heavy tails, 300 x 8": lambda rng: rng.standard_t(3, size=(300, 8)),
    "three kinds of samples in random order": kinds_at_random,
    "a still camera": lambda rng: rng.random((1, 100)) + 0.02 * rng.standard_normal((300, 100)),
}


@dataclass(frozen=True)
class Turns:
    """States in turn: 0, 1, 0, 1, ... or 0, 1, 2, 0, 1, 2, ...; five of them, too.

    Parameters
    ----------
    states : {"means", "planes"}
        Each state has its own mean, or its own plane through the origin.
    n_states, n_spans : int
    length : int
        Mean length of a span, in samples.
    equal : bool
        Whether all spans have that length; otherwise some are up to three times as long as others.
    n_channels : int
    noise : float
        Standard deviation of each channel's noise. For comparison: the nearest two means differ by 1.4 per
        channel (root mean square), as two draws of a unit Gaussian do, and samples in planes have a standard
        deviation of 1 per channel.
    """

    states: str
    n_states: int
    n_spans: int
    length: int
    equal: bool
    n_channels: int
    noise: float

    def __str__(self) -> str:
        lengths = "equal" if self.equal else "unequal"
        return (
            f"{self.n_states} {self.states}, {self.n_spans} spans of {self.length} ({lengths}), "
            f"{self.n_channels} channels, noise {self.noise:g}"
        )

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw samples and labels."""
        lengths = np.full(self.n_spans, self.length) if self.equal else draw_lengths(rng, self)
        labels = np.repeat(np.arange(self.n_spans) % self.n_states, lengths)
        clean = draw_means(rng, self)[labels] if self.states == "means" else draw_planes(rng, self, labels)
        return clean + self.noise * rng.standard_normal(clean.shape), labels


def draw_lengths(rng: np.random.Generator, turns: Turns) -> np.ndarray:
    """Draw lengths of spans between half and one and a half times the mean."""
    return np.rint(turns.length * rng.uniform(0.5, 1.5, turns.n_spans)).astype(int)


def draw_means(rng: np.random.Generator, turns: Turns) -> np.ndarray:
    """Draw means, scaled so that the nearest two are as far apart as two unit Gaussians are on average."""
    means = rng.standard_normal((turns.n_states, turns.n_channels))
    distances = [np.linalg.norm(a - b) for i, a in enumerate(means) for b in means[:i]]
    return means * np.sqrt(2 * turns.n_channels) / min(distances)


def draw_planes(rng: np.random.Generator, turns: Turns, labels: np.ndarray) -> np.ndarray:
    """Draw samples in planes, with a variance of 1 for each channel on average."""
    frames = rng.standard_normal((turns.n_states, turns.n_channels, 2))
    bases = np.linalg.qr(frames)[0] * np.sqrt(turns.n_channels / 2)
    return np.einsum("ndk,nk->nd", bases[labels], rng.standard_normal((len(labels), 2)))


#: States, their number, spans, mean length, equal lengths, channels, noise.
TURNS = tuple(
    Turns(*parameters)
    for parameters in (
        ("means", 2, 4, 60, True, 3, 0.3),
        ("means", 2, 4, 60, False, 60, 1.0),
        ("means", 2, 9, 120, True, 8, 0.7),
        ("means", 2, 12, 40, False, 20, 1.5),
        ("means", 2, 20, 40, True, 8, 0.7),
        ("means", 2, 20, 40, False, 3, 0.3),
        ("means", 2, 60, 20, True, 3, 0.1),
        ("means", 2, 60, 20, False, 60, 0.7),
        ("means", 3, 4, 60, False, 8, 0.7),
        ("means", 3, 6, 60, True, 60, 1.0),
        ("means", 3, 12, 40, True, 3, 0.3),
        ("means", 3, 12, 40, False, 8, 1.0),
        ("means", 3, 20, 40, True, 20, 0.1),
        ("means", 3, 20, 40, False, 60, 2.0),
        ("means", 3, 60, 20, True, 8, 0.3),
        ("means", 3, 60, 20, False, 20, 1.0),
        ("means", 5, 9, 100, False, 30, 2.2),
        ("means", 5, 12, 100, True, 60, 3.0),
        ("planes", 2, 4, 60, True, 8, 0.1),
        ("planes", 2, 4, 120, False, 3, 0.1),
        ("planes", 2, 10, 80, True, 20, 0.3),
        ("planes", 2, 12, 80, False, 60, 0.1),
        ("planes", 2, 20, 60, True, 60, 0.3),
        ("planes", 2, 40, 30, True, 20, 0.1),
        ("planes", 3, 4, 80, False, 20, 0.1),
        ("planes", 3, 6, 150, True, 3, 0.05),
        ("planes", 3, 12, 100, False, 8, 0.3),
        ("planes", 3, 20, 60, True, 20, 0.3),
        ("planes", 3, 60, 20, False, 60, 0.1),
    )
)


def returning_planes(rng: np.random.Generator, d: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Make four spans in three planes, with independent samples."""
    X, labels = make_recurring_subspaces([0, 1, 2, 0], 2, d, length, rng=rng)
    return X.T, labels


def paper(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Make the paper's five subspaces."""
    X, labels = make_subspaces(rng=rng)
    return X.T, labels


WITH_CHANGES: dict[str, Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]] = {
    "the paper's five subspaces": paper,
    "three planes of 4, the first returns": lambda rng: returning_planes(rng, 4, 30),
    "three planes of 8, the first returns": lambda rng: returning_planes(rng, 8, 100),
    "three planes of 20, the first returns": lambda rng: returning_planes(rng, 20, 30),
    **{str(turns): turns.draw for turns in TURNS},
}


def count_spans(X: np.ndarray, kind: str = "table") -> int:
    """Return the number of spans that a user finds who gives no number."""
    return len(seqspan.segment(as_recording(X, kind)).spans)


class Rival:
    """ruptures' KernelCPD with the number of spans given, in the Python in which it is installed."""

    def __init__(self, python: str) -> None:
        self.lane = Lane(limit=600, peer_python=python)

    def share(self, draws: list[tuple[np.ndarray, np.ndarray]]) -> float | None:
        """Return the share of draws in which the better variant finds all boundaries.

        None if ruptures is not installed.
        """
        found = [self.find_all(X, labels) for X, labels in draws]
        return None if None in found else float(np.mean(found, axis=0).max())

    def find_all(self, X: np.ndarray, labels: np.ndarray) -> list[bool] | None:
        """Say which variants find all boundaries."""
        truth = Labelled("turns", "", "table", X, labels)
        told = (truth.n_spans, truth.n_labels)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.npy"
            np.save(path, X)
            task = {"rows": str(path), "source": "", "kind": "table", "n": len(X), "told": told, "seed": 0}
            answers = [self.lane.ask("peers", {**task, "method": name}) for name in RIVALS]
        if any(answer["status"].startswith("not installed") for answer in answers):
            return None
        return [score_boundaries(truth, np.array(each["boundaries"])) >= ALL_FOUND for each in answers]


def judge_without_change(seeds: range) -> Iterator[tuple[str, ...]]:
    """Yield the rows of cases without a change."""
    for name, draw in WITHOUT_CHANGE.items():
        found = [count_spans(draw(np.random.default_rng(seed))) for seed in seeds]
        right = np.mean(np.array(found) == 1)
        yield name, "1", describe_counts(found), "", "passes" if right >= ONE_SPAN else "FAILS"


def judge_with_changes(seeds: range, rival: Rival) -> Iterator[tuple[str, ...]]:
    """Yield the rows of cases with changes; those in which the rival fails do not count."""
    for name, draw in WITH_CHANGES.items():
        draws = [draw(np.random.default_rng(seed)) for seed in seeds]
        expected = len(boundaries_from_labels(draws[0][1])) + 1
        found = [count_spans(X) for X, _ in draws]
        verdict = "passes" if np.mean(np.array(found) == expected) >= EXACT else "FAILS"
        share = rival.share(draws)
        if share is not None and share < EXACT:
            verdict = "does not count"
        words = "" if share is None else f"{round(share * len(draws))} of {len(draws)}"
        yield name, str(expected), describe_counts(found), words, verdict


def real_spans(data: Path, shortest: int = 80) -> dict[str, list[int]]:
    """Return the number of spans found in each labelled span of at least `shortest` samples, by set."""
    found: dict[str, list[int]] = {}
    for load in (sets.weizmann, sets.cmu86, sets.mocap6, sets.actrectut, sets.film):
        for sequence in load(data):
            edges = [0, *sequence.boundaries, len(sequence.labels)]
            for start, end in pairwise(edges):
                if end - start >= shortest:
                    count = count_spans(sequence.X[start:end], sequence.kind)
                    found.setdefault(sequence.set_name, []).append(count)
    return found


def describe_counts(found: list[int]) -> str:
    """Write numbers of spans and how often they were found.

    Examples
    --------
    >>> describe_counts([1, 3, 1])
    '1 (2), 3 (1)'
    """
    return ", ".join(f"{k} ({times})" for k, times in zip(*np.unique(found, return_counts=True), strict=True))


def print_row(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Count the spans of every case for all seeds."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--seeds", type=int, default=20, help="number of draws of every case")
    parser.add_argument("--first-seed", type=int, default=0, help="so that draws are fresh")
    parser.add_argument("--peer-python", default=sys.executable, help="the Python in which ruptures is")
    parser.add_argument("--data", type=Path, help="folder of the labelled sets")
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    rival = Rival(options.peer_python)
    print_row("case", "expected spans", "numbers of spans found (times)", "KernelCPD finds all", "verdict")
    print("|---|---|---|---|---|")
    for rows in (judge_without_change(seeds), judge_with_changes(seeds, rival)):
        for row in rows:
            print_row(*row)
    rival.lane.close()
    walks = [count_spans(random_walk(np.random.default_rng(seed))) for seed in seeds]
    print_row("random walk (no right answer)", "-", describe_counts(walks), "", "")
    if options.data is not None:
        for name, found in real_spans(options.data).items():
            print_row(f"labelled spans of {name}", "1", describe_counts(found), "", "")


if __name__ == "__main__":
    main()
