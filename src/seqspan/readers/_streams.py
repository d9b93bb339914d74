"""Starts the other process, in which FFmpeg and Pillow decode, and reads what it sends through a pipe."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.extras import MissingPackageError
from seqspan.readers._decoder import BEAT, BUFFER_BYTES, FAILURE, FILE, FRAME, FRAME_HEAD, HEAD, RESULT
from seqspan.readers._isolated import CHILD_ENVIRONMENT

PIPE_BYTES = 2**20  # on Linux: 84 frames, so that the two processes seldom wait for each other
STALL_SECONDS = 120  # without a message: a decoder that takes longer for one picture hangs
ROOT = str(Path(__file__).parents[2])  # this package must be found there, too, however it was found here
START = f"import sys; sys.path.append({ROOT!r}); from seqspan.readers._decoder import main; main()"
#: Every arena of the allocator reserves address space.
ENVIRONMENT = {**CHILD_ENVIRONMENT, "MALLOC_ARENA_MAX": "4"}


@dataclass(frozen=True, eq=False)
class Frame:
    """A picture of shape (height, width) or (height, width, 3), and its time in seconds."""

    time: float
    pixels: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class FileBegins:
    """The decoder begins with the file of this number."""

    number: int


@dataclass(frozen=True)
class Result:
    """What the decoder says at its end."""

    about: Any


def stream(task: str, **request: Any) -> Iterator[Frame | FileBegins | Result]:
    """Run a task in another process, and yield what it sends; the last is its result.

    Parameters
    ----------
    task : str
        ``"module:function"``. The function gets a `Channel` and the request.
    **request
        Its arguments, which must be JSON values.

    Raises
    ------
    ValueError, OSError, MemoryError, ...
        Whatever the task raises; ValueError if the process crashes or hangs.
    """
    command = [sys.executable, "-P", "-c", START]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **ENVIRONMENT},
        bufsize=BUFFER_BYTES,
        pipesize=PIPE_BYTES,
    )
    watch = _Watch(process)
    try:
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as pipe:  # if it is broken, the process has crashed
            pipe.write(json.dumps({"task": task, **request}).encode())
        yield from _messages(process, watch)
    finally:
        watch.stop()
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def run_task(task: str, **request: Any) -> Any:
    """Run a task that sends only a result, and return it."""
    (result,) = stream(task, **request)
    assert isinstance(result, Result)
    return result.about


def _messages(process: subprocess.Popen[bytes], watch: _Watch) -> Iterator[Frame | FileBegins | Result]:
    """Yield the messages of a process up to its result."""
    while True:
        kind, content = _receive(process, watch)
        if kind == FRAME:
            yield _unpack_frame(content)
        elif kind == FILE:
            yield FileBegins(*struct.unpack("<I", content))
        elif kind == FAILURE:
            raise _rebuild(**json.loads(content))
        elif kind == RESULT:
            yield Result(json.loads(content))
            return
        else:
            assert kind == BEAT


def _receive(process: subprocess.Popen[bytes], watch: _Watch) -> tuple[bytes, bytes]:
    """Wait for a message; raise if there will be none."""
    assert process.stdout is not None
    with watch:
        head = process.stdout.read(HEAD.size)
        if len(head) == HEAD.size:
            kind, length = HEAD.unpack(head)
            content = process.stdout.read(length)
            if len(content) == length:
                return kind, content
    if watch.stalled:
        raise ValueError(f"the decoder made no progress for {STALL_SECONDS} s: the file is damaged.")
    raise ValueError(f"the decoder crashed (status {process.wait()}): the file is damaged.")


def _unpack_frame(content: bytes) -> Frame:
    """Turn a message into a picture, without a copy."""
    seconds, height, width, channels = FRAME_HEAD.unpack_from(content)
    shape = (height, width, channels) if channels else (height, width)
    return Frame(seconds, np.frombuffer(content, np.uint8, offset=FRAME_HEAD.size).reshape(shape))


def _rebuild(kind: str, text: str) -> Exception:
    """Make an error of the kind that the other process has raised; messages mention the names of others."""
    known: dict[str, type[Exception]] = {
        "OSError": OSError,
        "ValueError": ValueError,
        "MemoryError": MemoryError,
        "ModuleNotFoundError": MissingPackageError,
    }
    return known.get(kind, type(kind, (Exception,), {}))(text)


class _Watch:
    """Ends a process from which nothing comes while somebody waits for it.

    It counts its own seconds, which stand still while this process is stopped (Ctrl-Z) or the computer
    sleeps.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.stalled = False
        self._process = process
        self._waited = 0
        self._waiting = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def __enter__(self) -> None:
        self._waited, self._waiting = 0, True

    def __exit__(self, *error: object) -> None:
        self._waiting = False

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        self._thread.join()

    def _count(self) -> None:
        while not self._stopped.wait(1.0):
            self._waited += self._waiting
            if self._waited > STALL_SECONDS:
                self.stalled = True
                self._process.kill()
                return
