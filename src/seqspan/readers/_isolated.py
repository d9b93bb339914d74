"""Run a native parser in its own process, so that a crash or a hang cannot reach the caller."""

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
from seqspan.readers._limits import plain_name

SCRIPT = Path(__file__).with_name("_native.py")
BASE_SECONDS = 15.0
BYTES_PER_SECOND = 5e6  # far slower than any of the parsers, so that only a hang runs out of time
# Bytes of address space, not of memory in use: libraries reserve far more than they touch, and polars hangs
# if it gets too little.
BASE_MEMORY = {"columns": 2**32}
USUAL_BASE_MEMORY = 2**29
MEMORY_PER_BYTE = 1024  # bytes of memory per byte of the file: no compression in these formats does better
# Every thread reserves address space, and nobody reads the backtrace of a panic.
CHILD_ENVIRONMENT = {
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
        Size limit of the result; the process may use a few times as much memory.
    **arguments
        Further arguments of the task, which must be JSON values.

    Returns
    -------
    arrays : dict of name to array
    about : dict
        Everything else that the task returns.

    Raises
    ------
    ValueError
        If the parser refuses the file, crashes or hangs.
    """
    n_bytes = path.stat().st_size
    memory = BASE_MEMORY.get(task, USUAL_BASE_MEMORY) + min(3 * max_bytes, MEMORY_PER_BYTE * n_bytes)
    given = json.dumps({"memory": memory, "max_bytes": max_bytes, **arguments})
    seconds = BASE_SECONDS + n_bytes / BYTES_PER_SECOND
    with tempfile.TemporaryDirectory(prefix="seqspan-") as folder, plain_name(path.resolve()) as file:
        environment = {**os.environ, **CHILD_ENVIRONMENT}
        command = [sys.executable, "-P", str(SCRIPT), task, str(file), folder, given]
        try:
            done = subprocess.run(command, env=environment, timeout=seconds, capture_output=True, check=False)
        except subprocess.TimeoutExpired as error:
            raise ValueError(f"the parser hung for {seconds:.0f} s: the file is damaged.") from error
        written = Path(folder, "about.json")
        if done.returncode or not written.exists():
            raise _explain_failure(Path(folder), done)
        about = json.loads(written.read_text("utf-8"))
        arrays = {file.stem: np.load(file, allow_pickle=False) for file in Path(folder).glob("*.npy")}
    return arrays, about


def _explain_failure(folder: Path, done: subprocess.CompletedProcess[bytes]) -> Exception:
    """Distinguish a file that the parser refused from one on which it crashed."""
    written = folder / "error.txt"
    if not written.exists():
        return ValueError(f"the parser crashed (status {done.returncode}): the file is damaged.")
    reason = written.read_text("utf-8")
    if "(ModuleNotFoundError)" in reason:
        return MissingPackageError(reason)
    return ValueError(f"could not be parsed: {reason}")
