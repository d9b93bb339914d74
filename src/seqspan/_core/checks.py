"""Checks of public arguments. Messages say what was given and what is needed."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from seqspan._core.types import Array

MAX_SHOWN = 10  # numbers that an error lists


def check_weight(name: str, weight: object, *, positive: bool = True) -> float:
    """Return a regularisation weight as a float."""
    bound = "> 0" if positive else ">= 0"
    if not isinstance(weight, Real) or isinstance(weight, bool):
        raise ValueError(f"{name} must be a number {bound}; got {weight!r}.")
    number = float(weight)
    if not math.isfinite(number) or number < 0 or (positive and number == 0):
        raise ValueError(f"{name} must be finite and {bound}; got {weight!r}.")
    return number


def check_weights(name: str, weights: object, n: int) -> float | Array:
    """Return one weight, or an array with one per sample."""
    if isinstance(weights, Real | str):
        return check_weight(name, weights)
    array = np.asarray(weights, dtype=float)
    if array.shape != (n,):
        raise ValueError(
            f"{name} must be a number or an array with one number for each of {n} samples; "
            f"got shape {array.shape}."
        )
    if not np.all(np.isfinite(array)) or array.min() <= 0:
        raise ValueError(f"{name} must be finite and > 0 for every sample; got a minimum of {array.min()}.")
    return array


def check_choice(name: str, given: object, choices: Collection[str]) -> str:
    """Return the given string if it is one of the choices."""
    if not isinstance(given, str) or given not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {given!r}.")
    return given


def check_count(name: str, given: object, largest: int, what: str, words: Collection[str] = ()) -> int | str:
    """Return a count in [1, largest], or one of the words that request an estimate."""
    if isinstance(given, str) and given in words:
        return given
    allowed = f"an int in [1, {largest}] for {what}"
    if words:
        allowed += " or one of " + ", ".join(repr(word) for word in words)
    if isinstance(given, bool) or not isinstance(given, Integral) or not 1 <= int(given) <= largest:
        raise ValueError(f"{name} must be {allowed}; got {given!r}.")
    return int(given)


def refuse_weight(name: str, given: object, default: float) -> None:
    """Refuse a weight that a noise-free model does not use; None and the default are accepted."""
    if given is not None and not (isinstance(given, Real) and given == default):
        raise ValueError(
            f"noise='none' does not use {name}: leave it at its default {default}; got {given!r}."
        )


def check_bool(name: str, given: object) -> bool:
    """Return a bool; strings such as "False" are refused."""
    if not isinstance(given, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {given!r}.")
    return bool(given)


def check_seed(name: str, given: Any) -> int:
    """Return a seed for :func:`numpy.random.default_rng`; None draws a fresh one.

    Examples
    --------
    >>> check_seed("random_state", 7)
    7
    """
    if given is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= 0:
        return int(given)
    if isinstance(given, np.random.Generator):
        return int(given.integers(2**31))
    if isinstance(given, np.random.RandomState):
        return int(given.randint(2**31))
    raise ValueError(f"{name} must be None, an int >= 0, a RandomState or a Generator; got {given!r}.")


def check_unmasked(X: object) -> None:
    """Refuse an array with masked entries, which everything else would take for samples."""
    if np.ma.is_masked(X):
        raise ValueError("X must have a value for every sample and feature; some entries are masked.")


def check_rows(X: Any) -> Array:
    """Return samples as an array of finite numbers with two dimensions.

    Examples
    --------
    >>> check_rows([1, 2])
    Traceback (most recent call last):
      ...
    TypeError: samples must be an array of numbers with a row for each; got a list of shape (2,).
    """
    check_unmasked(X)
    rows = np.asarray(X)
    if rows.ndim != 2 or rows.dtype.kind not in "buif" or not rows.size:
        raise TypeError(
            f"samples must be an array of numbers with a row for each; got a {type(X).__name__} of shape "
            f"{rows.shape}."
        )
    rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    if not np.isfinite(rows).all():
        raise ValueError("samples must be finite; some are NaN or infinite.")
    return rows


def check_lengths(lengths: object, n_samples: int) -> tuple[int, ...]:
    """Check the numbers of samples of several recordings, and return them as a tuple.

    Examples
    --------
    >>> check_lengths([700, 650], 1300)
    Traceback (most recent call last):
      ...
    ValueError: lengths must be positive ints that add up to the number of samples, 1300; got [700, 650].
    """
    given: list[Any] = list(lengths) if isinstance(lengths, Iterable) else [lengths]
    counts = [int(length) for length in given if _is_count(length)]
    if len(counts) < len(given) or not isinstance(lengths, Iterable) or sum(counts) != n_samples:
        shown = given if len(given) <= MAX_SHOWN else f"{len(given)} values, {given[0]!r} to {given[-1]!r}"
        raise ValueError(
            f"lengths must be positive ints that add up to the number of samples, {n_samples}; "
            f"got {shown if isinstance(lengths, Iterable) else lengths!r}."
        )
    return tuple(counts)


def _is_count(given: object) -> bool:
    return isinstance(given, Integral) and not isinstance(given, bool) and int(given) > 0
