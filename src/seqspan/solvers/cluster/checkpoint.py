"""The solver's state on disk: parts written by the workers, and a small file that lists the valid ones."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from seqspan.models import Osc, SpatSc
from seqspan.solvers.fast.reduced import Reduced

FILE = "checkpoint.json"


@dataclass(frozen=True)
class Kept:
    """Penalties and progress of a saved state, and the files with its parts."""

    r1: float
    r2: float
    gap: float = 1.0
    iteration: int = 0
    files: tuple[str, ...] = ()


class Checkpoint:
    """A folder with the last complete state of one problem.

    Parameters
    ----------
    folder : path
        Must be accessible to all workers under this path.
    model : Osc or SpatSc
    data : Reduced
    """

    def __init__(self, folder: Path, model: Osc | SpatSc, data: Reduced) -> None:
        self._folder = folder.resolve()
        self._folder.mkdir(parents=True, exist_ok=True)
        problem = hashlib.sha256(repr((model, data.Q.shape, data.Q.dtype)).encode())
        for array in (data.sigma, data.Q, data.Y):
            problem.update(np.ascontiguousarray(array).tobytes())
        self._problem = problem.hexdigest()

    def names(self, iteration: int, n_parts: int) -> list[str]:
        """File names for the parts of a state."""
        return [str(self._folder / f"part{part}-iteration{iteration}.npz") for part in range(n_parts)]

    def write(self, kept: Kept) -> None:
        """Record a state whose parts have all been written, and delete the previous one."""
        before = self.read()
        partial = self._folder / f"{FILE}.partial"
        partial.write_text(json.dumps({"problem": self._problem, **asdict(kept)}), encoding="utf-8")
        os.replace(partial, self._folder / FILE)
        for file in set(before.files if before is not None else ()) - set(kept.files):
            Path(file).unlink(missing_ok=True)

    def read(self) -> Kept | None:
        """The last complete state; None if there is none or it is from another problem."""
        try:
            stored = json.loads((self._folder / FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if stored.pop("problem") != self._problem:
            return None
        files = tuple(stored["files"])
        if any(Path(file).parent != self._folder for file in files):
            return None  # old parts get deleted, so a tampered checkpoint must not name other files
        return Kept(**{**stored, "files": files})
