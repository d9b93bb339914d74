"""The tables of a result: one with a row per span, one with a row per sample."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from seqspan._core.spans import Span
from seqspan._core.types import Array, IntArray


def write_segments(path: Path, spans: Iterable[Span]) -> None:
    """Write one row per span, with the confidence in the boundary at its start.

    Parameters
    ----------
    path : path
        CSV file to write.
    spans : iterable of Span

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "segments.csv"
    ...     write_segments(path, [Span(0, 2, 0.0, 1.0, 0), Span(2, 3, 1.0, 1.5, 1, 0.9)])
    ...     print(path.read_text(), end="")
    start,end,start_time,end_time,label,confidence
    0,2,0,1,0,
    2,3,1,1.5,1,0.9
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["start", "end", "start_time", "end_time", "label", "confidence"])
        for span in spans:
            confidence = "" if span.confidence is None else f"{span.confidence:.3g}"
            times = f"{span.start_time:.10g}", f"{span.end_time:.10g}"
            writer.writerow([span.start, span.end, *times, span.label, confidence])


def write_labels(path: Path, labels: IntArray, times: Array) -> None:
    """Write one row per sample.

    Parameters
    ----------
    path : path
        CSV file to write.
    labels : array of int, shape (n,)
    times : array of shape (n,)

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     write_labels(path, np.array([0, 1]), np.array([0.0, 0.5]))
    ...     print(path.read_text(), end="")
    index,time,label
    0,0,0
    1,0.5,1
    """
    lines = (f"{i},{t:.10g},{label}\n" for i, (t, label) in enumerate(zip(times, labels, strict=True)))
    with path.open("w", encoding="utf-8") as file:
        file.write("index,time,label\n")
        file.writelines(lines)
