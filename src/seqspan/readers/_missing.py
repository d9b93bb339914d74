"""Missing values: an error that counts them, or filled, or left out, always by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seqspan._core.types import Array, IntArray

CHOICES = ("error", "interpolate", "drop")
WAYS_ON = "pass missing='interpolate' or missing='drop' (--missing on the command line)."
MAX_LISTED = 12  # in an error; notes list everything


def require_choice(name: str, given: object, choices: tuple[str, ...]) -> None:
    """Raise where an option is none of its choices."""
    if given not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {given!r}.")


@dataclass(frozen=True)
class Complete:
    """A matrix without missing values.

    Parameters
    ----------
    X : array of shape (n_kept, n_features)
    names : tuple of str
    rows : int array of shape (n_kept,)
        Which rows of the given matrix are left.
    notes : list of str
    """

    X: Array
    names: tuple[str, ...]
    rows: IntArray
    notes: list[str]


def resolve_missing(
    X: Array, names: tuple[str, ...], missing: str, owner: Callable[[str], str] = str
) -> Complete:
    """Deal with values that are NaN or infinite.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    names : tuple of str
    missing : {"error", "interpolate", "drop"}
        Raise; fill linearly along the rows, with the nearest value at the ends; or leave out the
        rows with gaps. Columns without any value are left out first in the last two.
    owner : callable
        Turns the name of a column into what gaps are counted for, such as the marker of a coordinate.

    Returns
    -------
    Complete

    Examples
    --------
    >>> resolve_missing(np.array([[1.0], [np.nan], [3.0]]), ("a",), "interpolate").X.T
    array([[1., 2., 3.]])
    """
    n_samples = len(X)
    if X.dtype.kind != "f":  # whole numbers have no way to be missing
        return Complete(X, names, np.arange(n_samples), [])
    counts = np.array([n_samples - np.count_nonzero(np.isfinite(column)) for column in X.T], dtype=int)
    rows = np.arange(n_samples)
    if not counts.any():
        return Complete(X, names, rows, [])
    if missing == "error":
        listing = list_gaps(counts, names, owner, MAX_LISTED)
        raise ValueError(f"values are missing or not finite (of {n_samples} rows: {listing}); {WAYS_ON}")
    notes = []
    present = counts < n_samples
    if not present.all():
        notes.append(f"left out, without any value: {list_gaps(counts * ~present, names, owner)}")
        X, counts = X[:, present], counts[present]
        names = tuple(name for name, kept in zip(names, present, strict=True) if kept)
    if missing == "interpolate":
        notes.append(f"filled linearly, values per column: {list_gaps(counts, names, owner)}")
        return Complete(interpolated(X), names, rows, notes if counts.any() else notes[:-1])
    rows = np.flatnonzero(np.isfinite(X).all(axis=1))
    notes.append(f"left out {n_samples - len(rows)} of {n_samples} rows, with values missing")
    if not len(rows):
        raise ValueError("every row has a value missing; missing='drop' leaves nothing.")
    return Complete(X[rows], names, rows, notes)


def list_gaps(
    counts: IntArray, names: tuple[str, ...], owner: Callable[[str], str] = str, most: int | None = None
) -> str:
    """Name what has gaps and how many."""
    gaps = {owner(name): int(count) for name, count in zip(names, counts, strict=True) if count}
    shown = [f"{name} {count}" for name, count in list(gaps.items())[:most]]
    rest = len(gaps) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def interpolated(X: Array) -> Array:
    """Fill a copy of X linearly along every column; every column holds a value."""
    filled = np.array(X, dtype=float)
    rows = np.arange(len(X))
    for column in filled.T:
        known = np.isfinite(column)
        if not known.all():
            column[~known] = np.interp(rows[~known], rows[known], column[known])
    return filled
