"""How much memory may still be taken, asked before anything large is allocated."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")
# limit, use, and the line of memory.stat with pages of files in it, of versions 2 and 1
GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
#: What libraries take on their first use, measured: resident, and address space, which they reserve freely.
LIBRARIES = {"llvmlite": (120 * 2**20, 320 * 2**20), "polars": (60 * 2**20, 1200 * 2**20)}
UNLIMITED = 2**60  # version 1 writes "no limit" as the largest number of pages


def free_bytes(loads: str | None = None) -> int | None:
    """Memory that this process may still take: the least of machine, control group and address space.

    Parameters
    ----------
    loads : str, optional
        A name in :data:`LIBRARIES` that is to be loaded first, and takes its share if it is not yet.

    Returns
    -------
    int, or None where the system does not tell

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
    """Raise a MemoryError that says what is needed, what is free and what to do, if it will not fit.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        What needs them.
    remedy : str
        What to do about it, as a sentence.
    loads : str, optional
        A name in :data:`LIBRARIES` that is loaded on the way.

    Examples
    --------
    >>> require_memory(2**70, "A dream", "Wake up.")
    Traceback (most recent call last):
      ...
    MemoryError: A dream needs 1099511627776.0 GiB of memory; ... GiB are free. Wake up.
    """
    free = free_bytes(loads)
    if free is not None and needed > free:
        beside = "" if loads is None or loads in sys.modules else f" beside what {loads} will take"
        raise MemoryError(
            f"{what} needs {needed / 2**30:.1f} GiB of memory; {free / 2**30:.1f} GiB are free{beside}. "
            f"{remedy}"
        )


def require_library(name: str) -> None:
    """Raise a MemoryError if a library, which would end the process for lack of memory, can't be loaded.

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
    """What the kernel thinks can be had without swapping."""
    for name, value in _fields(PROC / "meminfo"):
        if name == "MemAvailable":
            return value * 1024
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _control_group() -> int | None:
    """What the limits of containers leave: the least of this process's control group and those above it."""
    known = [left for group in _groups() if (left := _left_in_group(group)) is not None]
    return min(known) if known else None


def _groups() -> Iterator[Path]:
    """Folders of this process's control groups that may limit memory, and of all groups above them."""
    for line in _lines(PROC / "self/cgroup") or ["0::/"]:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory") and "memory" not in controllers.split(","):
            continue
        # version 1 has a tree for memory alone; version 2 one for all, beside those of version 1 or alone
        roots = (CGROUP / "memory",) if controllers else (CGROUP, CGROUP / "unified")
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for root in roots:
            # inside a container the path may be that of outside: folders which are not there have no limit
            yield from (root.joinpath(*parts[:depth]) for depth in range(len(parts) + 1))


def _left_in_group(group: Path) -> int | None:
    """What one group's limit leaves; pages of files that were read do not count, they give way."""
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
    """Lines of a file; none where it can't be read."""
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def _number(path: Path) -> int | None:
    """The number in a file, if it is there and one; "max" is none."""
    words = [line.strip() for line in _lines(path)]
    return int(words[0]) if words and words[0].isdigit() else None


def _fields(path: Path) -> list[tuple[str, int]]:
    """The numbers of a file of lines ``name:  number unit``."""
    pairs = (line.split(":", 1) for line in _lines(path) if ":" in line)
    return [
        (name, int(rest.split()[0])) for name, rest in pairs if rest.split() and rest.split()[0].isdigit()
    ]
