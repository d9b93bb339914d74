"""Reads back what the tables of a result folder say."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seqspan._core.spans import boundaries_from_labels
from seqspan._core.types import Array, IntArray
from seqspan.recording import Recording
from seqspan.results.folder import LABELS, SEGMENTS
from seqspan.results.tables import read_recording


@dataclass(frozen=True, eq=False)
class Stored:
    """A segmentation without samples and coefficients.

    Parameters
    ----------
    recording : Recording
        With times, but without features.
    labels : array of int, shape (n_samples,)
    boundaries : array of int, shape (n_spans - 1,)
    confidence : array of shape (n_spans - 1,), optional
        NaN where it is not known.
    """

    recording: Recording
    labels: IntArray
    boundaries: IntArray
    confidence: Array | None = None


def read_tables(folder: Path, document: Mapping[str, Any], *, spans: bool = True) -> Stored:
    """Read the tables of a result.

    Parameters
    ----------
    folder : path
    document : mapping
        Content of ``result.json``.
    spans : bool
        Whether to read ``segments.csv``, too. Otherwise spans start where labels change.

    Returns
    -------
    Stored
    """
    samples = _read_columns(folder / LABELS)
    recording = read_recording(samples, document["input"])
    labels = np.array(samples["label"], dtype=np.intp)
    if not spans:
        return Stored(recording, labels, boundaries_from_labels(labels))
    rows = _read_columns(folder / SEGMENTS)
    known = np.array([float(text or "nan") for text in rows["confidence"][1:]])
    confidence = known if np.any(np.isfinite(known)) else None
    return Stored(recording, labels, np.array(rows["start"][1:], dtype=np.intp), confidence)


def _read_columns(path: Path) -> dict[str, list[str]]:
    """Columns of a table of ours, as text."""
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
