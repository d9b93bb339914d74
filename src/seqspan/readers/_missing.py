"""Missing values: an error that counts them, or filled in, or their rows skipped; always noted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seqspan._core.types import Array, IntArray

MISSING_CHOICES = ("error", "interpolate", "drop")
REMEDY = (
    "pass missing='interpolate' to fill them in, or missing='drop' to skip those rows "
    "(--missing on the command line)."
)
MAX_LISTED = 12  # names in an error; notes list all of them


@dataclass(frozen=True)
class CompleteMatrix:
    """A matrix without missing values.

    Parameters
    ----------
    X : array of shape (n_kept, n_features)
    names : tuple of str
        Of the columns that were kept.
    rows : int array of shape (n_kept,)
        Which rows of the original matrix were kept.
    notes : list of str
    """

    X: Array
    names: tuple[str, ...]
    rows: IntArray
    notes: list[str]


def resolve_missing(
    X: Array, names: tuple[str, ...], missing: str, group: Callable[[str], str] = str
) -> CompleteMatrix:
    """Deal with values that are NaN or infinite.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    names : tuple of str
        Of the columns.
    missing : {"error", "interpolate", "drop"}
        Raise; or interpolate linearly along the rows, repeating the nearest value at the ends; or skip the
        rows with gaps. The last two first skip columns without a single value.
    group : callable
        Maps the name of a column to the name under which its gaps are reported, such as the marker of a
        coordinate.

    Returns
    -------
    CompleteMatrix

    Examples
    --------
    >>> resolve_missing(np.array([[1.0], [np.nan], [3.0]]), ("a",), "interpolate").X.T
    array([[1., 2., 3.]])
    """
    n_samples = len(X)
    everything = CompleteMatrix(X, names, np.arange(n_samples), [])
    if X.dtype.kind != "f":  # integers cannot be missing
        return everything
    counts = np.array([n_samples - np.count_nonzero(np.isfinite(column)) for column in X.T], dtype=int)
    if not counts.any():
        return everything
    if missing == "error":
        gaps = list_gaps(counts, names, group, MAX_LISTED)
        first = np.flatnonzero(~np.isfinite(X).all(axis=1))[0]
        raise ValueError(
            f"some of the {n_samples} rows have missing or infinite values: {gaps}, first in row {first} "
            f"counted from 0; {REMEDY}"
        )
    X, names, counts, notes = _leave_out_empty(X, names, counts, group)
    if missing == "interpolate":
        if counts.any():
            gaps = list_gaps(counts, names, group)
            notes.append(f"filled in missing values by linear interpolation: {gaps}")
        return CompleteMatrix(interpolate_columns(X), names, np.arange(n_samples), notes)
    rows = np.flatnonzero(np.isfinite(X).all(axis=1))
    if not len(rows):
        raise ValueError("every row has a missing value, so missing='drop' would leave nothing.")
    if len(rows) < n_samples:
        notes.append(f"left out {n_samples - len(rows)} of {n_samples} rows because values are missing")
    return CompleteMatrix(X[rows], names, rows, notes)


def _leave_out_empty(
    X: Array, names: tuple[str, ...], counts: IntArray, group: Callable[[str], str]
) -> tuple[Array, tuple[str, ...], IntArray, list[str]]:
    """Leave out the columns without a single value; return X, names, counts and notes."""
    present = counts < len(X)
    if present.all():
        return X, names, counts, []
    empty = dict.fromkeys(group(name) for name, kept in zip(names, present, strict=True) if not kept)
    kept_names = tuple(name for name, kept in zip(names, present, strict=True) if kept)
    notes = [f"left out because all values are missing: {', '.join(empty)}"]
    return X[:, present], kept_names, counts[present], notes


def list_gaps(
    counts: IntArray, names: tuple[str, ...], group: Callable[[str], str] = str, most: int | None = None
) -> str:
    """List names with their number of missing values.

    Examples
    --------
    >>> list_gaps(np.array([2, 0, 1]), ("a", "b", "c"))
    'a (2), c (1)'
    """
    gaps = {group(name): int(count) for name, count in zip(names, counts, strict=True) if count}
    shown = [f"{name} ({count})" for name, count in list(gaps.items())[:most]]
    rest = len(gaps) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def interpolate_columns(X: Array) -> Array:
    """Fill a copy of X linearly along every column; each must have at least one value."""
    filled = np.array(X, dtype=float)
    rows = np.arange(len(X))
    for column in filled.T:
        known = np.isfinite(column)
        if not known.all():
            # halves, because the difference of the largest numbers would overflow
            column[~known] = 2 * np.interp(rows[~known], rows[known], column[known] / 2)
    return filled
