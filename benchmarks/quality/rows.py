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


def write_runs(labels: np.ndarray) -> str:
    """Write labels as lengths and names of their runs.

    Examples
    --------
    >>> write_runs(np.array([4, 4, 4, 0]))
    '3:4 1:0'
    """
    starts = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1, [len(labels)]])
    return " ".join(f"{end - start}:{labels[start]}" for start, end in pairwise(starts))


def read_runs(text: str) -> np.ndarray:
    """Read labels from their runs.

    Examples
    --------
    >>> read_runs("3:4 1:0").tolist()
    [4, 4, 4, 0]
    """
    runs = [run.split(":") for run in text.split()]
    return np.repeat([int(name) for _, name in runs], [int(length) for length, _ in runs])
