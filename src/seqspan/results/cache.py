"""Solutions cached between runs, so that only the cut is repeated for another number of spans."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import to_host
from seqspan._core.solution import Progress, Solution
from seqspan._core.types import Array
from seqspan.results.folder import STAGING

CACHE = ".seqspan-solution.npz"
MAX_SPARSE_SHARE = 0.3  # share of non-zero coefficients up to which indices and values take less space
SCALARS = ("objective", "gap", "n_iter", "converged", "message")  # fields of a solution besides its arrays


@dataclass(frozen=True)
class SolutionCache:
    """The last solution, stored in a result folder.

    Parameters
    ----------
    folder : path
    version : str
        Version of the code. Solutions from other versions are not used.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = SolutionCache(Path(folder))
    ...     cache.save("key", Solution(np.eye(3), 1.5, 0.004, n_iter=40, converged=True, state=None))
    ...     cache.load("key").gap, cache.load("another key")
    (0.004, None)
    """

    folder: Path
    version: str = ""

    def clear(self) -> None:
        """Delete the cached solution."""
        (self.folder / CACHE).unlink(missing_ok=True)

    def save(self, key: str, solution: Solution[Any]) -> None:
        """Cache a solution, replacing the previous one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        header: dict[str, Any] = {name: getattr(solution, name) for name in SCALARS}
        header |= {"key": [self.version, key], "history": [asdict(progress) for progress in solution.history]}
        arrays: dict[str, Any] = {"header": np.array(json.dumps(header)), **_pack(to_host(solution.Z))}
        unfinished = self.folder / f"{STAGING}{os.getpid()}.npz"
        try:
            with unfinished.open("wb") as file:
                np.savez(file, **arrays)
            unfinished.replace(self.folder / CACHE)
        finally:
            unfinished.unlink(missing_ok=True)

    def load(self, key: str) -> Solution[None] | None:
        """Return the cached solution if it is for this problem, otherwise None."""
        try:
            # opened here, because np.load leaves the file open if it is not an archive
            with (self.folder / CACHE).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                header = json.loads(str(arrays["header"]))
                if header["key"] != [self.version, key]:
                    return None
                Z = _unpack(arrays)
            history = [Progress(**progress) for progress in header["history"]]
            return Solution(Z, state=None, history=history, **{name: header[name] for name in SCALARS})
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
            return None


def _pack(Z: Array) -> dict[str, npt.NDArray[Any]]:
    """Arrays that store Z, without its zeros if there are many."""
    if np.count_nonzero(Z) > MAX_SPARSE_SHARE * Z.size:
        return {"Z": Z}
    places = np.flatnonzero(Z)
    return {"places": places, "values": Z.ravel()[places], "shape": np.array(Z.shape)}


def _unpack(arrays: Mapping[str, npt.NDArray[Any]]) -> Array:
    """Restore Z from the arrays that store it."""
    if "Z" in arrays:
        return arrays["Z"]
    Z = np.zeros(tuple(arrays["shape"]), dtype=arrays["values"].dtype)
    Z.flat[arrays["places"]] = arrays["values"]
    return Z
