"""Workers with a time limit: a lane keeps one process per home, and restarts it if it had to be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 20  # times the limit, in wall-clock time: the processor may be shared with other work
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Lane:
    """Runs one task at a time, on one core.

    Parameters
    ----------
    limit : float
        Seconds of processor time after which a method is stopped.
    peer_python : str
        The Python in which the peers are installed.
    """

    def __init__(self, limit: float, peer_python: str = sys.executable) -> None:
        self.limit = limit
        self.pythons = {"peers": peer_python, "variants": sys.executable}
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def ask(self, home: str, task: dict[str, Any]) -> dict[str, Any]:
        """Run a task; the status in the answer is done, over the limit, failed or not installed."""
        process = self.processes.get(home)
        if process is None:
            process = self.processes[home] = self._start(home)
        assert process.stdin is not None
        process.stdin.write(json.dumps({**task, "limit": self.limit}) + "\n")
        process.stdin.flush()
        line = self._read(process)
        if line == "ready\n":
            line = self._read(process)
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        code = self._end(home)
        stopped = code in (-signal.SIGXCPU, -signal.SIGKILL)
        return {"status": f"over {self.limit:g} s" if stopped else f"failed: worker ended with {code}"}

    def close(self) -> None:
        """End the workers; they stop at the end of their input."""
        for home in list(self.processes):
            self._end(home)

    def _end(self, home: str) -> int:
        """Close the pipes of a worker, wait until it ends, and return its exit code."""
        process = self.processes.pop(home)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        code = process.wait()
        process.stdout.close()
        return code

    def _read(self, process: subprocess.Popen[str]) -> str:
        """Read a line; it is empty if the process died or was killed at the limit."""
        assert process.stdout is not None
        timer = threading.Timer(PATIENCE * self.limit, process.kill)
        timer.start()
        try:
            return process.stdout.readline()
        finally:
            timer.cancel()

    def _start(self, home: str) -> subprocess.Popen[str]:
        """Start a worker with one thread; compiled code of peers is stored apart from seqspan's."""
        environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": str(ROOT)}
        if home == "peers" and self.pythons["peers"] != sys.executable:
            environment["NUMBA_CACHE_DIR"] = str(Path(self.pythons["peers"]).parent / "numba_cache")
        return subprocess.Popen(
            [self.pythons[home], "-m", "benchmarks.quality.worker", home],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=environment, cwd=ROOT,
        )  # fmt: skip
