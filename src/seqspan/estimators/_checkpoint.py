"""A stream in a file, to go on from after the program ended: arrays and JSON, never pickle."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from seqspan._core.types import Array
from seqspan.cuts.online.stream import Stream
from seqspan.estimators._known_stream import KnownStream
from seqspan.preprocess import Chain, make_chain
from seqspan.preprocess._frozen import FrozenChain

FORMAT = 1  # of the file; another one is refused
DOCUMENT = "document"  # name of the array that holds the JSON
SEAL = "seal"  # name of the array that holds a checksum of all others


def save_stream(path: Path, stream: Stream | KnownStream, about: Mapping[str, Any]) -> None:
    """Write a checkpoint. A program that is killed meanwhile leaves the one before.

    Parameters
    ----------
    path : path
    stream : Stream
    about : mapping
        JSON values to be returned by `load_stream`.
    """
    numbers, arrays = stream.state()
    prepared = stream.prepared
    if isinstance(prepared, FrozenChain):
        numbers["steps"] = list(prepared.chain.records())
        numbers["learned"] = list(prepared.learned.records())
        arrays |= prepared.learned.to_arrays()
    text = json.dumps({"format": FORMAT, "about": dict(about), "stream": numbers})
    arrays[DOCUMENT] = np.frombuffer(text.encode(), dtype=np.uint8)
    arrays[SEAL] = _checksum(arrays)
    packed = io.BytesIO()
    np.savez(packed, **arrays)  # type: ignore[arg-type]
    unfinished = path.with_name(path.name + ".part")
    with unfinished.open("wb") as file:
        file.write(packed.getbuffer())
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def load_stream(
    path: Path, stream: Stream | KnownStream, check: Callable[[dict[str, Any]], None] = lambda about: None
) -> dict[str, Any]:
    """Let a new stream go on from a checkpoint; what `save_stream` was told about it is returned.

    Parameters
    ----------
    path : path
    stream : Stream
        Without samples, and with the parameters of the one that was saved.
    check : callable
        Told what `save_stream` was told; it raises an error if another stream was saved.

    Returns
    -------
    dict
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays: dict[str, Array] = {name: archive[name] for name in archive.files}
        if not np.array_equal(arrays.pop(SEAL), _checksum(arrays)):
            raise ValueError("it has changed since it was written.")
        document = json.loads(arrays.pop(DOCUMENT).tobytes())
    except (KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a checkpoint of a stream: {error}") from error
    if document["format"] != FORMAT:
        raise ValueError(
            f"{path} has format {document['format']}, and this version of seqspan reads {FORMAT}."
        )
    about: dict[str, Any] = document["about"]
    check(about)
    numbers, prepared = document["stream"], None
    if "steps" in numbers:
        learned = Chain.from_arrays(numbers["learned"], arrays)
        prepared = FrozenChain(make_chain(numbers["steps"]), learned)
    stream.restore(numbers, arrays, prepared)
    return about


def _checksum(arrays: Mapping[str, Array]) -> Array:
    """SHA-256 of named arrays, as bytes."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(array.tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)
