"""Eight fits at once give what they give alone, and come to an end: threads, processes, forks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# several BLAS threads; and no tracer of coverage.py, whose own locks do not survive a fork in mid-fit
LEFT_OUT = "OPENBLAS_NUM_THREADS", "COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"
SECONDS = 400  # far more than a busy machine takes; a deadlock takes for ever


@pytest.mark.parametrize("way", ["threads", "processes", "fork"])
def test_fits_at_once_equal_fits_alone(way):
    several = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    answer = subprocess.run(
        [sys.executable, "-m", "tests.estimators.concurrent_fits", way], env=several,
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr[-2000:]
    assert answer.stdout.splitlines()[-1].endswith("afterwards")
