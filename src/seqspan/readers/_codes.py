"""Numbers that stand for missing values, such as -9999: replaced if the user names them, noted if not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqspan._core.text import list_names
from seqspan._core.types import Array

MAX_LISTED = 12  # names of columns in a note
LEAST_VALUES = 5  # different other values: with fewer, a far one may be a state
LIMITS = {-(2.0**31), 2.0**31 - 1, -(2.0**15), 2.0**15 - 1, 2.0**16 - 1}  # of integers
HUGE = 1e19  # nobody measures 1e20
#: How far a code is from all other values, as a share of their range: any number, and a usual code.
FAR, FAR_IF_USUAL = 1.0, 0.25


def as_codes(given: object) -> tuple[float, ...]:
    """Check what a user says are codes: a number, or several."""
    items = [given] if isinstance(given, str | int | float) else list(given or ())  # type: ignore[call-overload]
    try:
        codes = tuple(float(item) for item in items)
    except (TypeError, ValueError):
        raise ValueError(f"missing_values must be numbers, such as -9999; got {given!r}.") from None
    return tuple(code for code in codes if np.isfinite(code))  # all others are missing anyway


def without_codes(X: Array, codes: Sequence[float]) -> Array:
    """X with NaN in place of numbers that stand for missing values.

    Examples
    --------
    >>> without_codes(np.array([[1, -9999], [2, 3]]), (-9999.0,))
    array([[ 1., nan],
           [ 2.,  3.]])
    """
    if not codes:
        return X
    kind = np.promote_types(X.dtype, np.float32)
    with np.errstate(over="ignore"):
        rounded = np.array(codes).astype(kind)  # as the values were
    X = np.array(X, dtype=kind)
    X[np.isin(X, rounded)] = np.nan
    return X


def note_codes(X: Array, names: Sequence[str]) -> list[str]:
    """Say so if a number repeats far from all other values of a column: it may stand for missing ones.

    Examples
    --------
    >>> column = np.array([[20.1, -200, 20.4, 20.3, -200, 20.2, 20.5]]).T
    >>> note_codes(column, ["T"])[0].partition(":")[0]
    '-200 repeats far from all other values in T (2)'
    """
    if X.dtype.kind not in "if":
        return []
    extremes = [_repeated_extremes(column.astype(float)) for column in X.T]
    codes = {code for found in extremes for code, is_far in found.items() if is_far}
    if not codes:
        return []
    numbers = {
        code: str(X.dtype.type(code)).removesuffix(".0") for code in sorted(codes)
    }  # digits of its type
    found = []
    for code, number in numbers.items():
        places = [place for place, values in enumerate(extremes) if code in values]
        where = [f"{names[place]} ({np.count_nonzero(X[:, place] == code)})" for place in places]
        found.append(f"{number} repeats far from all other values in {list_names(where, MAX_LISTED)}")
    given = ",".join(numbers.values())
    return [
        f"{'; '.join(found)}: if that stands for missing values, pass missing_values="
        f"{f'[{given}]' if len(found) > 1 else given} and missing='interpolate' or 'drop' "
        f"(--missing-values {given} --missing interpolate on the command line)"
    ]


def _repeated_extremes(column: Array) -> dict[float, bool]:
    """The least and the greatest value if they repeat and may be codes, and whether all others are far."""
    column = column[np.isfinite(column)]
    found = {}
    for code in {float(column.min()), float(column.max())} if len(column) else ():
        others = column[column != code]
        if _may_be_code(code) and len(others) and len(column) - len(others) > 1:
            least, greatest = others.min() / 2, others.max() / 2  # halves cannot overflow
            gap = max(least - code / 2, code / 2 - greatest)
            share = FAR_IF_USUAL if _is_usual(code) else FAR
            is_far = gap > share * (greatest - least) and len(np.unique(others)) >= LEAST_VALUES
            found[code] = bool(is_far)
    return found


def _may_be_code(number: float) -> bool:
    """Whether a number may stand for missing values: negative and whole, or a usual code."""
    return (number < 0 and number == np.floor(number)) or _is_usual(number)


def _is_usual(number: float) -> bool:
    """Whether a number is nothing but nines, the limit of a type of integers, or huge."""
    digits = repr(abs(number)).removesuffix(".0").replace(".", "")
    return (len(digits) > 2 and set(digits) == {"9"}) or number in LIMITS or abs(number) > HUGE
