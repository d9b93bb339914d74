"""How much memory may still be taken, asked before anything large is allocated."""

from __future__ import annotations

import os
from pathlib import Path

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")


def free_bytes() -> int | None:
    """Memory that this process may still take: the least of machine, control group and address space.

    Returns
    -------
    int, or None where the system does not tell
    """
    known = [limit for limit in (_machine(), _control_group(), _address_space()) if limit is not None]
    return min(known) if known else None


def require_memory(needed: int, what: str, remedy: str) -> None:
    """Raise a MemoryError that says what is needed, what is free and what to do, if it will not fit.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        What needs them.
    remedy : str
        What to do about it, as a sentence.

    Examples
    --------
    >>> require_memory(2**70, "A dream", "Wake up.")
    Traceback (most recent call last):
      ...
    MemoryError: A dream needs 1099511627776.0 GiB of memory; ... GiB are free. Wake up.
    """
    free = free_bytes()
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} needs {needed / 2**30:.1f} GiB of memory; {free / 2**30:.1f} GiB are free. {remedy}"
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
    """What a container's limit leaves (cgroup v2)."""
    try:
        limit = (CGROUP / "memory.max").read_text().strip()
        used = int((CGROUP / "memory.current").read_text())
    except (OSError, ValueError):
        return None
    return max(int(limit) - used, 0) if limit.isdigit() else None


def _address_space() -> int | None:
    """What ``ulimit -v`` leaves."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    used = next((value * 1024 for name, value in _fields(PROC / "self/status") if name == "VmSize"), 0)
    return max(limit - used, 0)


def _fields(path: Path) -> list[tuple[str, int]]:
    """The numbers of a file of lines ``name:  number unit``."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return []
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return [
        (name, int(rest.split()[0])) for name, rest in pairs if rest.split() and rest.split()[0].isdigit()
    ]
