"""Compilation of loops, cached on disk if possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[Function], Function]:
    """Decorator that compiles a function on its first call and caches the machine code on disk.

    Numba writes its cache next to the module or to the user's cache folder, and refuses to compile if it can
    write to neither, for example in a container whose user has no home. In that case every process compiles
    again.

    Parameters
    ----------
    **options
        Options of ``numba.njit``.

    Returns
    -------
    callable
        The decorator.
    """

    def decorate(function: Function) -> Function:
        try:
            cached: Function = numba.njit(cache=True, **options)(function)
        except RuntimeError:
            return numba.njit(**options)(function)  # type: ignore[no-any-return]
        return cached

    return decorate
