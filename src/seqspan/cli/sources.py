"""Where rows come from: standard input, or a file that grows."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

PAUSE = 0.2  # seconds until a file is looked at again
READ = 1 << 16  # bytes that are read at once


class Source(Protocol):
    """Where bytes come from."""

    def blocks(self) -> Iterator[bytes]:
        """Bytes as they arrive; empty ones where none are there yet."""

    def seek(self, offset: int) -> None:
        """Leave out the first bytes."""


@dataclass
class Pipe:
    """Standard input. After a checkpoint, what arrives is what follows."""

    file: IO[bytes]

    def blocks(self) -> Iterator[bytes]:
        """Bytes until the pipe is closed."""
        read = getattr(self.file, "read1", self.file.read)
        while block := read(READ):
            yield block

    def seek(self, offset: int) -> None:
        """Leave out nothing: whoever writes knows what was read."""


@dataclass
class GrowingFile:
    """A file that is written to; it ends when nothing was added for `patience` seconds."""

    path: Path
    patience: float | None = None
    offset: int = 0

    def blocks(self) -> Iterator[bytes]:
        """Bytes as they are added."""
        waited = 0.0
        with self.path.open("rb") as file:
            if file.seek(0, io.SEEK_END) < self.offset:
                raise ValueError(
                    f"{self.path} is shorter than when the checkpoint was written: it is another file, so "
                    "begin with another checkpoint."
                )
            file.seek(self.offset)
            while self.patience is None or waited <= self.patience:
                block = file.read(READ)
                yield block
                waited = 0.0 if block else waited + PAUSE
                if not block:
                    time.sleep(PAUSE)

    def seek(self, offset: int) -> None:
        """Leave out the first bytes."""
        self.offset = offset
