"""Reads true labels or boundaries from a file and scores a result against them."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seqspan._core.spans import boundaries_from_labels, labels_from_boundaries
from seqspan._core.types import IntArray
from seqspan.metrics import boundary_f1, clustering_error, covering

MAX_BYTES = 2**26  # size limit of a truth file
MARGINS = (0, 1, 5)  # samples; allowed distances of a boundary from the true one


@dataclass(frozen=True, eq=False)
class Truth:
    """True labels and boundaries.

    Parameters
    ----------
    labels : array of int, shape (n,)
        Numbered in order of appearance.
    boundaries : array of int
    names : tuple of str
        Names of the labels; empty if only boundaries are known, because then nothing is known about labels.
    """

    labels: IntArray
    boundaries: IntArray
    names: tuple[str, ...] = ()

    @classmethod
    def from_labels(cls, values: list[str]) -> Truth:
        """Build from one label per sample."""
        names = tuple(dict.fromkeys(values))
        labels = np.array([names.index(value) for value in values], dtype=np.intp)
        return cls(labels, boundaries_from_labels(labels), names)

    @classmethod
    def from_boundaries(cls, starts: list[int], n_samples: int) -> Truth:
        """Build from interior starts; a start at 0 is allowed and ignored."""
        boundaries = np.array(sorted(set(starts) - {0}), dtype=np.intp)
        return cls(labels_from_boundaries(boundaries, n_samples), boundaries)


def read_truth(path: Path, n_samples: int) -> Truth:
    """Read true labels or boundaries.

    Parameters
    ----------
    path : path
        CSV or text: a column ``label`` with one row per sample, columns ``start,label`` with one row per
        span, a column ``start``, or one value per line (as many as samples: labels; fewer: boundaries).
        JSON: a list of either, or ``{"labels": [...]}`` or ``{"boundaries": [...]}``.
    n_samples : int

    Returns
    -------
    Truth
    """
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(
            f"{path}: a truth file may have at most {MAX_BYTES:,} bytes; got {path.stat().st_size:,}."
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".json":
            return _from_json(json.loads(text), n_samples)
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        return _from_rows(list(csv.reader(text.splitlines(), delimiter=delimiter)), n_samples)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: it is not UTF-8 text; save it as UTF-8.") from error
    except RecursionError as error:
        raise ValueError(f"{path}: expected a list; got brackets within brackets.") from error
    except ValueError as error:
        raise ValueError(f"{path}: not labels or boundaries for {n_samples} samples: {error}") from error


def _from_json(content: Any, n_samples: int) -> Truth:
    """Read a list, or an object with a list of labels or boundaries."""
    if isinstance(content, dict):
        for name in ("labels", "boundaries"):
            if name in content:
                return _from_list(content[name], n_samples, labels=name == "labels")
        raise ValueError(f"expected 'labels' or 'boundaries'; got {', '.join(map(repr, content))}.")
    return _from_list(content, n_samples, labels=isinstance(content, list) and len(content) == n_samples)


def _from_list(values: Any, n_samples: int, *, labels: bool) -> Truth:
    """Read labels, one per sample, or boundaries."""
    if not isinstance(values, list):
        raise ValueError(f"expected a list; got {type(values).__name__}.")
    if not labels:
        starts = [_sample_number(value) for value in values]
        if len(set(starts)) < len(starts):  # such as labels of which one is missing
            raise ValueError(
                f"{len(values)} values are no labels, of which each sample has one, and no boundaries, of "
                "which no two are the same."
            )
        return Truth.from_boundaries(starts, n_samples)
    if len(values) != n_samples:
        raise ValueError(f"one label per sample is needed; got {len(values)}.")
    return Truth.from_labels([str(value) for value in values])


def _from_rows(rows: list[list[str]], n_samples: int) -> Truth:
    """Read a table with named columns, or one unnamed column."""
    rows = [[cell.strip() for cell in row] for row in rows if row]
    if not rows:
        raise ValueError("it is empty.")
    header = [cell.lower() for cell in rows[0]]
    if "start" not in header and "label" not in header:
        body = rows[1:] if header[0] in ("boundary", "boundaries", "labels") else rows
        if any(len(row) > 1 for row in body):
            raise ValueError("a table needs a header with the column start or label.")
        return _from_list([row[0] for row in body], n_samples, labels=len(body) == n_samples)
    columns = _columns(header, rows[1:])
    if "start" not in columns:
        return _from_list(columns["label"], n_samples, labels=True)
    return _from_spans(columns, n_samples)


def _columns(header: list[str], rows: list[list[str]]) -> dict[str, list[str]]:
    """The columns of a table by name."""
    for name in ("start", "label"):
        if header.count(name) > 1:
            raise ValueError(f"the column {name} is there {header.count(name)} times.")
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} cells, but the header has {len(header)}.")
    if not rows:
        raise ValueError("it has a header but no rows.")
    return {name: [row[place] for row in rows] for place, name in enumerate(header)}


def _from_spans(columns: dict[str, list[str]], n_samples: int) -> Truth:
    """Build from starts, one per span, with labels if there are any."""
    starts = [_sample_number(value) for value in columns["start"]]
    order = sorted(range(len(starts)), key=starts.__getitem__)
    following = [*(starts[place] for place in order[1:]), n_samples]
    for place, following_start in zip(order, following, strict=True):
        if starts[place] == following_start:
            raise ValueError(f"two spans start at {following_start}.")
        end = _sample_number(columns["end"][place]) if "end" in columns else following_start
        if end != following_start:
            raise ValueError(f"a span ends at {end}, but the next one, or the end, is at {following_start}.")
    truth = Truth.from_boundaries(starts, n_samples)
    if "label" not in columns:
        return truth
    names = [columns["label"][place] for place in order]
    first_named = 0 if 0 in starts else 1
    return Truth.from_labels([names[max(label - first_named, 0)] for label in truth.labels])


def _sample_number(value: object) -> int:
    """The number of a sample; spreadsheets may write it as 120.0."""
    try:
        number = float(value) if isinstance(value, str | int | float) else np.nan
    except (ValueError, OverflowError):
        number = np.nan
    if isinstance(value, bool) or not number.is_integer():
        raise ValueError(f"the start of a span must be the number of a sample; got {value!r}.")
    return int(number)


def score(truth: Truth, labels: IntArray, boundaries: IntArray) -> dict[str, float]:
    """Compare the result with the truth; labels are compared only if they are known.

    Examples
    --------
    >>> truth = Truth.from_boundaries([2], 4)
    >>> score(truth, np.array([0, 0, 1, 1]), np.array([2]))["covering"]
    1.0
    """
    scores = {f"boundary_f1_within_{m}": boundary_f1(truth.boundaries, boundaries, margin=m) for m in MARGINS}
    spans = labels_from_boundaries(boundaries, len(labels))
    scores["covering"] = covering(labels_from_boundaries(truth.boundaries, len(labels)), spans)
    if truth.names:
        scores["clustering_error"] = clustering_error(truth.labels, labels)
    return scores
