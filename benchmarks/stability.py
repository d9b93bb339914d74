"""How much the number of spans changes if the recording hardly does.

    python -m benchmarks.stability --data DIR --draws 3

Every labelled recording is segmented with no numbers given: as it is, with relative noise of 1e-6, and with a
hundredth of its samples dropped at random. The table says for how many recordings the number of spans
changes by more than one in any draw, and the list below it which these are.
"""

from __future__ import annotations

import argparse
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

import seqspan
from benchmarks.common import print_table
from benchmarks.quality.sets import SETS, Labelled
from seqspan.pipeline import as_recording

NOISE = 1e-6  # standard deviation of the noise of each channel, relative to that of the channel
DROPPED = 0.01  # share of the samples
LARGEST_CHANGE = 1  # of the number of spans, in a stable recording


def add_noise(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Add a little noise to every channel."""
    return X + NOISE * X.std(axis=0) * rng.standard_normal(X.shape)


def drop_samples(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Drop a few samples, at least one."""
    n_dropped = max(1, round(DROPPED * len(X)))
    return np.delete(X, rng.choice(len(X), n_dropped, replace=False), axis=0)


CHANGES: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "noise of 1e-6": add_noise,
    "a hundredth dropped": drop_samples,
}


def count_spans(X: np.ndarray, kind: str) -> int:
    """Return the number of spans found with no numbers given."""
    return len(seqspan.segment(as_recording(X, kind)).spans)


def measure(recording: Labelled, n_draws: int) -> dict[str, list[int]]:
    """Return the numbers of spans: that of the recording as it is, then those of all draws, by change."""
    # Draws depend on the name only, so that recordings can be measured in any order.
    seed = zlib.crc32(f"{recording.set_name} {recording.name}".encode())
    usual = count_spans(recording.X, recording.kind)
    found = {}
    for number, (name, change) in enumerate(CHANGES.items()):
        draws = [np.random.default_rng([seed, number, draw]) for draw in range(n_draws)]
        found[name] = [usual, *(count_spans(change(recording.X, rng), recording.kind) for rng in draws)]
    return found


def is_stable(numbers: list[int]) -> bool:
    """Say whether all numbers are close to the first.

    Examples
    --------
    >>> is_stable([5, 6, 4]), is_stable([5, 5, 7])
    (True, False)
    """
    return max(abs(number - numbers[0]) for number in numbers) <= LARGEST_CHANGE


def main() -> None:
    """Measure all recordings, then print the share that changes, and which these are."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--data", default=os.environ.get("SEQSPAN_DATA"), help="folder of the labelled sets")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--draws", type=int, default=3, help="draws of each change")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, the folder of the labelled sets, or set $SEQSPAN_DATA.")
    found = {
        f"{name} {recording.name}": measure(recording, options.draws)
        for name in options.sets
        for recording in SETS[name](Path(options.data))
    }
    unstable = {change: [name for name in found if not is_stable(found[name][change])] for change in CHANGES}
    print_table(
        [
            {
                "change": change,
                "recordings": len(found),
                "unstable": len(names),
                "share": len(names) / len(found),
            }
            for change, names in unstable.items()
        ]
    )
    for change, names in unstable.items():
        for name in names:
            usual, *draws = found[name][change]
            print(f"- {name}, {change}: {usual} spans; then {', '.join(map(str, draws))}")


if __name__ == "__main__":
    main()
