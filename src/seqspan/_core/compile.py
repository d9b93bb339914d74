"""Compilation of loops, kept on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[Function], Function]:
    """Decorate a function to be compiled at its first call, and the machine code kept for the next process.

    Numba keeps it beside the module or in the user's cache folder, and refuses to compile where it can write
    neither: in a container, say, whose user has no home. There every process compiles anew.

    Parameters
    ----------
    **options
        Of ``numba.njit``.

    Returns
    -------
    callable
        The decorator.
    """

    def decorate(function: Function) -> Function:
        try:
            kept: Function = numba.njit(cache=True, **options)(function)
        except RuntimeError:
            return numba.njit(**options)(function)  # type: ignore[no-any-return]
        return kept

    return decorate
