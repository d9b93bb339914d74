"""One row per recording, method and setting, appended to a CSV file; the last row of a key counts.

A row holds the answer, not its scores: they are computed when the rows are read.
"""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

KEY = ("set", "sequence", "method", "given")
COLUMNS = (*KEY, "peer", "n", "status", "seconds", "runs")
Row = dict[str, Any]


def append_row(path: Path, row: dict[str, object]) -> None:
    """Append one row, after a header if the file is new."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if new:
            writer.writeheader()
        writer.writerow(row)


def read_rows(path: Path) -> dict[tuple[str, ...], Row]:
    """Read all rows, by their key."""
    if not path.exists():
        return {}
    csv.field_size_limit(2**24)
    with path.open(newline="") as file:
        return {tuple(row[name] for name in KEY): row for row in csv.DictReader(file)}


def is_finished(row: Row | None, limit: float) -> bool:
    """Say whether a row need not be run again: it is done, or was stopped at a limit at least as long."""
    if row is None:
        return False
    if row["status"] == "done":
        return True
    return row["status"].startswith("over ") and float(row["status"].split()[1]) >= limit


def write_runs(labels: np.ndarray, boundaries: np.ndarray | None = None) -> str:
    """Write spans as their lengths and labels; without boundaries, they end where the label changes.

    Examples
    --------
    >>> write_runs(np.array([4, 4, 4, 0])), write_runs(np.array([4, 4, 4, 0]), np.array([1, 3]))
    ('3:4 1:0', '1:4 2:4 1:0')
    """
    changes = np.flatnonzero(np.diff(labels)) + 1
    edges = [0, *(changes if boundaries is None else np.union1d(changes, boundaries)), len(labels)]
    return " ".join(f"{end - start}:{labels[start]}" for start, end in pairwise(edges))


def read_runs(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Read labels and boundaries.

    Examples
    --------
    >>> labels, boundaries = read_runs("1:4 2:4 1:0")
    >>> labels.tolist(), boundaries.tolist()
    ([4, 4, 4, 0], [1, 3])
    """
    lengths, names = zip(*(map(int, run.split(":")) for run in text.split()), strict=True)
    return np.repeat(names, lengths), np.cumsum(lengths)[:-1]
