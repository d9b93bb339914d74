"""Reads back what the tables of a result folder say."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seqspan._core.spans import boundaries_from_labels
from seqspan._core.text import printable
from seqspan._core.types import Array, IntArray
from seqspan.recording import Recording
from seqspan.results.documents import DOCUMENT
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

    Raises
    ------
    ValueError
        If the files say something that no run writes: somebody may have made them by hand.
    """
    try:
        _check_document(document)
        stored = _read(folder, document, spans)
        _check_spans(stored)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}" if isinstance(error, LookupError) else str(error)
        raise ValueError(
            f"{printable(str(folder))}: its files are not as seqspan writes them: {reason}"
        ) from error
    return stored


def _check_document(document: Mapping[str, Any]) -> None:
    """Refuse a document without what a segmentation is made of."""
    wanted = {"input": Mapping, "cut": str, "gap": float | int | None, "seconds": Mapping}
    wrong = [
        name for name, kind in wanted.items() if name not in document or not isinstance(document[name], kind)
    ]
    read_label_names(document)
    if wrong:
        raise ValueError(f"{DOCUMENT} does not say {', '.join(wrong)} as it should.")


def read_label_names(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of labels, as ``result.json`` says them."""
    names = document.get("label_names", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{DOCUMENT} does not say label_names as it should.")
    return tuple(names)


def _check_spans(stored: Stored) -> None:
    """Refuse spans that leave samples out, and labels that change within a span."""
    n_samples = len(stored.labels)
    edges = np.concatenate([[0], stored.boundaries, [n_samples]])
    if not n_samples or (np.diff(edges) <= 0).any():
        raise ValueError(f"{SEGMENTS} must have spans in order, within the {n_samples} samples of {LABELS}.")
    if not np.isin(boundaries_from_labels(stored.labels), stored.boundaries).all():
        raise ValueError(f"{LABELS} and {SEGMENTS} have different spans.")
    if not np.isfinite(stored.recording.times).all():
        raise ValueError(f"{LABELS} must have a time for every sample.")


def _read(folder: Path, document: Mapping[str, Any], spans: bool) -> Stored:
    """Read the tables, whatever they say."""
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
