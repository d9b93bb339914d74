"""The other process: FFmpeg and Pillow at work, with limited memory. What they decode goes through a pipe.

A damaged film or picture can make a decoder crash, hang or allocate without bound. That ends this process,
not its parent, which reads the pipe in `_streams`.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import time
import warnings
from importlib import import_module
from typing import IO, Any

import numpy as np
import numpy.typing as npt

HEAD = struct.Struct("<cI")  # kind and length of a message
FRAME_HEAD = struct.Struct("<d3H")  # time, height, width, channels (0 for grey)
FRAME, FILE, BEAT, RESULT, FAILURE = b"f", b"n", b".", b"r", b"e"
BUFFER_BYTES = 2**18
#: Bytes of address space that a decoder starts with: its threads reserve far more than they touch.
BASE_MEMORY = 2**32
BEAT_SECONDS = 1.0


class Channel:
    """The pipe to the parent.

    Parameters
    ----------
    file : binary file
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._flushed = time.monotonic()

    def send_frame(self, seconds: float, pixels: npt.NDArray[np.uint8]) -> None:
        """Send one picture of shape (height, width) or (height, width, channels)."""
        head = FRAME_HEAD.pack(seconds, *(*pixels.shape, 0)[:3])
        self._file.write(HEAD.pack(FRAME, len(head) + pixels.size) + head)
        self._file.write(np.ascontiguousarray(pixels).data)
        self.beat()

    def send_file(self, number: int) -> None:
        """Say which file is read next, so that an error can name it."""
        self._send(FILE, struct.pack("<I", number))
        self._flush()

    def beat(self) -> None:
        """Say now and then that work goes on: without that, the parent would think that it does not."""
        if time.monotonic() - self._flushed > BEAT_SECONDS:
            self._send(BEAT, b"")
            self._flush()

    def finish(self, kind: bytes, about: Any) -> None:
        """Send the last message."""
        self._send(kind, json.dumps(about).encode())
        self._file.close()

    def _send(self, kind: bytes, content: bytes) -> None:
        self._file.write(HEAD.pack(kind, len(content)))
        self._file.write(content)

    def _flush(self) -> None:
        self._file.flush()
        self._flushed = time.monotonic()


_channel: Channel | None = None  # of this process, if it is the other one


def beat() -> None:
    """Say now and then that work goes on, wherever it takes place."""
    if _channel is not None:
        _channel.beat()


def limit_memory(n_bytes: int) -> None:
    """Limit the address space of the other process, if the system can; the limit may be raised later."""
    if _channel is None:
        return
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows, which keeps the limits on sizes
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes if hard < 0 else min(n_bytes, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def describe_error(error: BaseException) -> dict[str, str]:
    """The error in words that the parent can turn into an error of the same kind."""
    known = (ModuleNotFoundError, MemoryError, OSError, ValueError)
    name = next((kind.__name__ for kind in known if isinstance(error, kind)), type(error).__name__)
    return {"kind": name, "text": str(error)[:500]}


def main() -> None:
    """Carry out the request on standard input: a task, "module:function", and its arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends this process
    global _channel
    _channel = channel = Channel(os.fdopen(os.dup(1), "wb", BUFFER_BYTES))
    os.dup2(2, 1)  # what libraries print must not get between the messages
    request = json.loads(sys.stdin.buffer.read())
    limit_memory(BASE_MEMORY)
    module, _, name = request.pop("task").partition(":")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            about = getattr(import_module(module), name)(channel, **request)
    except BrokenPipeError:
        os._exit(1)  # nobody listens any more
    except BaseException as error:
        channel.finish(FAILURE, describe_error(error))
    else:
        channel.finish(RESULT, about)
