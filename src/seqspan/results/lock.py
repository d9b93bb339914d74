"""One run at a time in a result folder: a lock that the system takes back when its process ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK = ".seqspan-lock"


@contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder until the block ends.

    Parameters
    ----------
    folder : path
        Created if it does not exist, and removed again if nothing was written to it.

    Raises
    ------
    BlockingIOError
        If another run, or another thread of this one, has reserved the folder.
    """
    is_new = not folder.exists()
    file = _open_lock(folder)
    try:
        yield
    finally:
        # First the name, then the lock: whoever opens the file in between finds out that it has no name.
        with suppress(
            OSError
        ):  # Windows does not remove open files, but the next run takes over what is left
            (folder / LOCK).unlink()
        os.close(file)
        if is_new:
            with suppress(OSError):  # it holds a result
                folder.rmdir()


def _open_lock(folder: Path) -> int:
    """Open and lock the file; again if the previous owner has removed it in the meantime."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # the previous owner removed its new, empty folder
            file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT)
            if not _lock(file):
                os.close(file)
                raise BlockingIOError(
                    f"{folder}: another run is writing here; wait until it has finished, or choose another "
                    f"result folder."
                )
            if _still_has_name(file, folder / LOCK):
                return file
            os.close(file)


def _lock(file: int) -> bool:
    """Lock an open file without waiting; return whether that worked."""
    try:
        import fcntl
    except ImportError:  # on Windows
        import msvcrt

        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: as good as it gets there
    return True


def _still_has_name(file: int, path: Path) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False
