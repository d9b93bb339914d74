"""Several recordings at once: given as recordings or as paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, TypeGuard

from seqspan.readers._read import read
from seqspan.recording import Recording


def is_several(given: Any) -> TypeGuard[Sequence[Recording | str | PathLike[str]]]:
    """Whether something is a list of recordings or paths, and not of numbers.

    Examples
    --------
    >>> is_several(["walk.c3d", "run.c3d"]), is_several([[1.0, 2.0], [3.0, 4.0]])
    (True, False)
    """
    if not isinstance(given, list | tuple) or not given:
        return False
    return all(isinstance(each, Recording | str | PathLike) for each in given)


def read_all(given: Iterable[Any], **options: Any) -> list[Recording]:
    """Read those that are paths."""
    return [each if isinstance(each, Recording) else read(each, **options) for each in given]
