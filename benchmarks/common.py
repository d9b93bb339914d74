"""What the benchmarks share: a description of the machine, tables, and test problems."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import joblib
import numpy as np

from seqspan.datasets import make_motion, make_subspaces


def describe_machine() -> str:
    """Return processor, cores and versions, to print above every table."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba", "scikit-learn"))
    return f"{_processor()}, {joblib.cpu_count()} cores; Python {platform.python_version()}, {packages}"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def print_table(rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows as a Markdown table; the keys of the first row are the columns."""
    columns = list(rows[0])
    cells = [[_text(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(len(text) for text in texts) for texts in zip(columns, *cells, strict=True)]
    for line in (columns, ["-" * width for width in widths], *cells):
        print("| " + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) + " |")
    print(flush=True)


def _text(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def paper_problem(n: int, noise: float = 0.0, seed: int = 0) -> np.ndarray:
    """Return the paper's synthetic data with unit columns, and noise of a standard deviation."""
    rng = np.random.default_rng(seed)
    X = unit_columns(make_subspaces(samples_per_subspace=n // 5, rng=rng)[0])
    return unit_columns(X + noise * rng.standard_normal(X.shape)) if noise else X


def motion_problem(n: int, seed: int = 0) -> np.ndarray:
    """Return a smooth recording of 62 angles, like motion capture: centred, with unit columns."""
    X = make_motion(n, rng=seed)[0]
    return unit_columns(X - X.mean(axis=1, keepdims=True))


def unit_columns(X: np.ndarray) -> np.ndarray:
    """Scale columns to unit norm."""
    return np.asarray(X / np.linalg.norm(X, axis=0))
