"""Hashes that show whether anything that affects the result has changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

BLOCK_BYTES = 2**20
PACKAGE = Path(__file__).parents[1]


def hash_file(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def hash_files(paths: Sequence[Path]) -> str:
    """SHA-256 of a file; of several, that of their names and contents in order."""
    if len(paths) == 1:
        return hash_file(paths[0])
    digest = hashlib.sha256()
    for path in paths:
        digest.update(hash_file(path).encode() + b"  " + os.fsencode(path.name) + b"\0")
    return digest.hexdigest()


@cache
def hash_code() -> str:
    """SHA-256 of this package: in a checkout, code changes without a new version number."""
    paths = sorted(
        path for path in PACKAGE.rglob("*") if path.is_file() and path.parent.name != "__pycache__"
    )
    return hash_values([path.relative_to(PACKAGE).as_posix() for path in paths], hash_files(paths))


def hash_values(*values: object) -> str:
    """SHA-256 of values that JSON can represent; the order of keys does not matter."""
    text = json.dumps(values, sort_keys=True, default=str)  # in ASCII, whatever the values
    return hashlib.sha256(text.encode()).hexdigest()


def hash_problem(X: npt.NDArray[Any], settings: Mapping[str, object]) -> str:
    """SHA-256 of a solver's input: the samples and the settings that affect the solution."""
    digest = hashlib.sha256(hash_values(X.shape, str(X.dtype), dict(settings)).encode())
    digest.update(np.ascontiguousarray(X).data)
    return digest.hexdigest()
