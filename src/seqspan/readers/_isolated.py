"""Start a native parser in a process of its own, and take its result or its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.extras import MissingPackageError

SCRIPT = Path(__file__).with_name("_native.py")
BASE_SECONDS = 15.0
BYTES_PER_SECOND = 5e6  # far below what any of the parsers needs, so that only a hang runs out of time
# Address space, of which libraries reserve far more than they use; polars waits forever for what it lacks.
BASE_MEMORY = {"columns": 2**32}
USUAL_BASE_MEMORY = 2**29
MEMORY_PER_BYTE = 1024  # of the file; no packing in these formats does better
# Every thread reserves address space; backtraces of a panic are of no use to the caller.
FEW_THREADS = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "2",
    "RUST_BACKTRACE": "0",
}


def run_isolated(
    task: str, path: Path, max_bytes: int, **arguments: Any
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Run a task of `_native` on a file.

    Parameters
    ----------
    task : str
        Name of the task.
    path : Path
    max_bytes : int
        Largest result that is accepted; the process may use a few times as much.
    **arguments
        Of the task, as JSON knows them.

    Returns
    -------
    arrays : dict of name to array
    about : dict

    Raises
    ------
    ValueError
        With the parser's reason, or that it crashed or hung.
    """
    n_bytes = path.stat().st_size
    memory = BASE_MEMORY.get(task, USUAL_BASE_MEMORY) + min(3 * max_bytes, MEMORY_PER_BYTE * n_bytes)
    given = json.dumps({"memory": memory, "max_bytes": max_bytes, **arguments})
    seconds = BASE_SECONDS + n_bytes / BYTES_PER_SECOND
    with tempfile.TemporaryDirectory(prefix="seqspan-") as folder:
        command = [sys.executable, "-P", str(SCRIPT), task, str(path.resolve()), folder, given]
        try:
            done = subprocess.run(
                command, env={**os.environ, **FEW_THREADS}, timeout=seconds, capture_output=True, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise ValueError(f"its parser was stopped after {seconds:.0f} s: the file is damaged.") from error
        written = Path(folder, "about.json")
        if done.returncode or not written.exists():
            raise _reason(Path(folder), done)
        about = json.loads(written.read_text("utf-8"))
        arrays = {file.stem: np.load(file, allow_pickle=False) for file in Path(folder).glob("*.npy")}
    return arrays, about


def _reason(folder: Path, done: subprocess.CompletedProcess[bytes]) -> Exception:
    """Tell a file that the parser refused from one that it broke on."""
    written = folder / "error.txt"
    if not written.exists():
        return ValueError(f"its parser broke down (status {done.returncode}): the file is damaged.")
    reason = written.read_text("utf-8")
    if "(ModuleNotFoundError)" in reason:
        return MissingPackageError(reason)
    return ValueError(f"could not be parsed: {reason}")
