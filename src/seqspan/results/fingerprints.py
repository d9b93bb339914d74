"""Hashes that show whether anything that affects the result has changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

BLOCK_BYTES = 2**20


def hash_file(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of all files in a folder."""
    digest = hashlib.sha256()
    for part in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if path.is_dir():
            digest.update(os.fsencode(part.relative_to(path)) + b"\0")
        if part.is_file():
            with part.open("rb") as file:
                while block := file.read(BLOCK_BYTES):
                    digest.update(block)
    return digest.hexdigest()


def hash_values(*values: object) -> str:
    """SHA-256 of values that JSON can represent; the order of keys does not matter."""
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash_problem(X: npt.NDArray[Any], settings: Mapping[str, object]) -> str:
    """SHA-256 of a solver's input: the samples and the settings that affect the solution."""
    digest = hashlib.sha256(hash_values(X.shape, str(X.dtype), dict(settings)).encode())
    digest.update(np.ascontiguousarray(X).data)
    return digest.hexdigest()
