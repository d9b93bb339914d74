"""How much memory is still available; checked before anything large is allocated."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

DOUBLE_BYTES = 8  # factorisations are in double precision, whatever the precision of the samples
#: What any fit takes besides its arrays: BLAS workspaces, stacks of threads, and what the allocator keeps of
#: freed arrays. Measured at 300 samples: 0.3 to 3.8 MiB, more than the coefficients.
OVERHEAD_BYTES = 4 * 2**20
PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")
# files with the limit and the usage, and the page-cache entry of memory.stat, in cgroup versions 2 and 1
GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
#: Measured bytes that a library takes on first use: resident memory and reserved address space.
LIBRARIES = {"llvmlite": (120 * 2**20, 320 * 2**20), "polars": (60 * 2**20, 1200 * 2**20)}
UNLIMITED = 2**60  # bytes; cgroup version 1 writes "no limit" as a number larger than this


def free_bytes(loads: str | None = None) -> int | None:
    """Bytes this process may still allocate: the minimum over machine, control group and address space.

    Parameters
    ----------
    loads : str, optional
        A library in :data:`LIBRARIES` that will be loaded first. If it is not loaded yet, its memory is
        subtracted.

    Returns
    -------
    int, or None if the system does not say

    Examples
    --------
    >>> free = free_bytes()
    >>> free is None or free >= 0
    True
    """
    resident, address = (0, 0) if loads is None or loads in sys.modules else LIBRARIES[loads]
    limits = ((_machine(), resident), (_control_group(), resident), (_address_space(), address))
    known = [max(limit - taken, 0) for limit, taken in limits if limit is not None]
    return min(known) if known else None


def require_memory(needed: int, what: str, remedy: str, *, loads: str | None = None) -> None:
    """Raise a MemoryError if there is too little memory: how much is needed, how much is free, what to do.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        What needs them.
    remedy : str
        What to do about it, as a sentence.
    loads : str, optional
        A library in :data:`LIBRARIES` that will be loaded as well.

    Examples
    --------
    >>> require_memory(2**70, "A dream", "Wake up.")
    Traceback (most recent call last):
      ...
    MemoryError: A dream needs 1099511627776.0 GiB of memory; ... GiB are free. Wake up.
    """
    free = free_bytes(loads)
    if free is not None and needed > free:
        after = "" if loads is None or loads in sys.modules else f" after loading {loads}"
        raise MemoryError(
            f"{what} needs {needed / 2**30:.1f} GiB of memory; {free / 2**30:.1f} GiB are free{after}. "
            f"{remedy}"
        )


def require_library(name: str) -> None:
    """Raise a MemoryError if there is too little memory to load a library that would otherwise crash.

    Parameters
    ----------
    name : str
        A name in :data:`LIBRARIES`.

    Examples
    --------
    >>> require_library("llvmlite")
    """
    if name not in sys.modules and free_bytes(name) == 0:
        resident, address = LIBRARIES[name]
        raise MemoryError(
            f"Loading {name} takes {address / 2**30:.1f} GiB of address space and {resident / 2**30:.1f} GiB "
            f"of memory; {(free_bytes() or 0) / 2**30:.1f} GiB are free. Raise the limit (ulimit -v)."
        )


def _machine() -> int | None:
    """Memory that the operating system can give without swapping."""
    for name, value in _fields(PROC / "meminfo"):
        if name == "MemAvailable":
            return value * 1024
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _control_group() -> int | None:
    """What container limits leave: the minimum over this process's control group and its parents."""
    known = [left for group in _groups() if (left := _left_in_group(group)) is not None]
    return min(known) if known else None


def _groups() -> Iterator[Path]:
    """Folders of the control groups that may limit this process's memory, including all parent groups."""
    for line in _lines(PROC / "self/cgroup") or ["0::/"]:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory") and "memory" not in controllers.split(","):
            continue
        # version 1 has a separate tree for memory; version 2 has one tree, alone or next to version 1's
        roots = (CGROUP / "memory",) if controllers else (CGROUP, CGROUP / "unified")
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for root in roots:
            # in a container the path may be the host's; a folder that does not exist sets no limit
            yield from (root.joinpath(*parts[:depth]) for depth in range(len(parts) + 1))


def _left_in_group(group: Path) -> int | None:
    """What one group's limit leaves. The page cache does not count, because the kernel can reclaim it."""
    for limit_name, used_name, files_name in GROUP_FILES:
        limit, used = _number(group / limit_name), _number(group / used_name)
        if limit is None or used is None:
            continue
        files = next((int(line.split()[1]) for line in _lines(group / "memory.stat")
                      if line.startswith(files_name + " ")), 0)  # fmt: skip
        return max(limit - max(used - files, 0), 0) if limit < UNLIMITED else None
    return None


def _address_space() -> int | None:
    """What ``ulimit -v`` and ``ulimit -d`` leave."""
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows
        return None
    used = dict(_fields(PROC / "self/status"))
    known = [
        max(limit - used.get(name, 0) * 1024, 0)
        for kind, name in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData"))
        if (limit := resource.getrlimit(kind)[0]) != resource.RLIM_INFINITY
    ]
    return min(known) if known else None


def _lines(path: Path) -> list[str]:
    """Lines of a file; an empty list if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _number(path: Path) -> int | None:
    """The number in a file; None if the file is missing or holds a word such as "max"."""
    words = [line.strip() for line in _lines(path)]
    return int(words[0]) if words and words[0].isdigit() else None


def _fields(path: Path) -> list[tuple[str, int]]:
    """Names and numbers from a file with lines ``name:  number unit``."""
    pairs = (line.split(":", 1) for line in _lines(path) if ":" in line)
    return [
        (name, int(rest.split()[0])) for name, rest in pairs if rest.split() and rest.split()[0].isdigit()
    ]
