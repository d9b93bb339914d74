"""A process that runs methods: one line of JSON in, one "ready" and one answer out.

    python -m benchmarks.quality.worker peers|variants

`peers` imports neither seqspan nor PyAV, so that OpenCV can be used. It may run under another Python.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import resource
import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.quality.methods import Answer
from benchmarks.quality.shared import take_saved_seconds


def main() -> None:
    # Packages may print; their output must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    home = importlib.import_module(f"benchmarks.quality.{sys.argv[1]}")
    methods = {method.name: method for method in home.METHODS}
    warm: set[str] = set()
    for line in sys.stdin:
        task = json.loads(line)
        method = methods[task["method"]]
        try:
            prepare(method, warm)
            answers.write("ready\n")
            answers.flush()
            answer = run(method, task)
        except Exception as error:
            limit_processor(None)
            missing = isinstance(error, ModuleNotFoundError)
            status = f"not installed: {error.name}" if missing else f"failed: {type(error).__name__}: {error}"
            answer = {"status": " ".join(status.split())[:200]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def prepare(method: Any, warm: set[str]) -> None:
    """Import what is needed and run once on toy data, so that imports and compilation are not timed."""
    for name in method.needs:
        importlib.import_module(name)
    if method.name in warm or method.from_file:
        return
    warm.add(method.name)
    rng = np.random.default_rng(0)
    toy = np.repeat([0.0, 3.0, 0.0], 50)[:, None] + rng.normal(size=(150, 12))
    try:
        method.run(toy, *method.told(method.given[0], (50, 100), 2), rng, "table")
    except Exception:
        return  # a method may refuse toy data and still accept the real data


def limit_processor(seconds: float | None) -> None:
    """Let the system end this process after that much processor time; None removes the limit."""
    soft = resource.RLIM_INFINITY if seconds is None else math.ceil(seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def run(method: Any, task: dict[str, Any]) -> dict[str, Any]:
    """Run one method on one sequence, within its limit of processor time."""
    X = task["source"] if method.from_file else np.load(task["rows"])
    rng = np.random.default_rng(task["seed"])
    take_saved_seconds()  # what the run on toy data may have saved
    start = time.process_time()
    limit_processor(start + task["limit"])
    found = method.run(X, *task["told"], rng, task["kind"])
    seconds = time.process_time() - start + take_saved_seconds()
    limit_processor(None)
    labels, boundaries = found if isinstance(found, Answer) else (np.asarray(found), None)
    if labels.shape != (task["n"],):
        raise ValueError(f"{task['n']} labels are needed; got shape {labels.shape}.")
    numbers = np.unique(labels, return_inverse=True)[1]
    spans = None if boundaries is None else boundaries.tolist()
    return {"status": "done", "seconds": seconds, "labels": numbers.tolist(), "boundaries": spans}


if __name__ == "__main__":
    main()
