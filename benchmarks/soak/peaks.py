"""The peak memory that solvers and cuts use, compared with what they request before they start.

Every row is measured in its own process. A small fit comes first, so that everything is imported and
compiled. Then the high-water mark is reset, and the fit runs for a few iterations, with at least one
certificate.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import describe_machine, print_table
from seqspan import LRR, LSR, OSC, SSC, SpatSC
from seqspan._core.memory import OVERHEAD_BYTES
from seqspan.cuts.memory import cut_bytes
from seqspan.solvers.memory import solver_bytes

ITERATIONS = 11  # certificates come every 5 or 10
SLOW = {"sylvester": 500, "splitting, nuclear": 500, "splitting, LRR columns": 500}  # samples at most

#: The estimator of each row.
FITS = {
    "fast": lambda: OSC(n_subspaces=1),
    "fast, landmarks": lambda: OSC(n_subspaces=1, dictionary="landmarks", n_landmarks=100),
    "vladmap": lambda: OSC(n_subspaces=1, solver="vladmap"),
    "ladmpsap": lambda: OSC(n_subspaces=1, solver="ladmpsap"),
    "sylvester": lambda: OSC(n_subspaces=1, solver="sylvester"),
    "splitting": lambda: OSC(n_subspaces=1, solver="splitting"),
    "splitting, nuclear": lambda: OSC(n_subspaces=1, solver="splitting", penalty="nuclear"),
    "splitting, SpatSC": lambda: SpatSC(n_subspaces=1, solver="splitting"),
    "splitting, SSC": lambda: SSC(n_subspaces=1),
    "splitting, SSC outliers": lambda: SSC(n_subspaces=1, noise="outliers", lambda_1=10.0, lambda_2=1.0),
    "splitting, LRR columns": lambda: LRR(n_subspaces=1, noise="columns"),
    "closed_form, LRR": lambda: LRR(n_subspaces=1),
    "closed_form, LRR noise-free": lambda: LRR(n_subspaces=1, noise="none"),
    "closed_form, LSR": lambda: LSR(n_subspaces=1),
    "fast + rbf kernel": lambda: OSC(n_subspaces=1, kernel="rbf"),
    "fast + ncut, 5": lambda: OSC(n_subspaces=5),
    "fast + ncut, auto": lambda: OSC(),
    "fast + ncut, a tenth": lambda: OSC(n_subspaces=-10),
    "fast + peaks": lambda: OSC(cut="peaks"),
    "fast + ordered": lambda: OSC(cut="ordered"),
    "fast, landmarks + ordered": lambda: OSC(cut="ordered", dictionary="landmarks", n_landmarks=100),
    "fast, landmarks + ncut": lambda: OSC(dictionary="landmarks", n_landmarks=100),
}


def make_estimator(name: str, n: int) -> Any:
    """Return the estimator of a row; -10 subspaces stand for a tenth of the samples."""
    estimator = FITS[name]()
    if "max_iter" in estimator.get_params():
        estimator.set_params(max_iter=ITERATIONS, tol=1e-12)
    if isinstance(estimator.n_subspaces, int) and estimator.n_subspaces < 0:
        estimator.set_params(n_subspaces=n // 10)
    return estimator


def _status(name: str) -> int:
    """Return the bytes in a line of /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


def requested_bytes(estimator: Any, X: np.ndarray) -> int:
    """What the fit requests before it starts."""
    method, cutting = estimator.stages()
    n, d = X.shape
    n_atoms = method.n_landmarks if method.dictionary == "landmarks" else None
    shape = (n if method.kernel == "rbf" else d, n)
    solving = solver_bytes(method.solver, method.make_model(X.T), shape, X.dtype, n_atoms=n_atoms)
    coefficients = X.itemsize * (n_atoms or n) * n
    cutting_bytes = cut_bytes(cutting.cut, (n_atoms or n, n), X.dtype, cutting.n_subspaces)
    return OVERHEAD_BYTES + max(solving, coefficients + cutting_bytes)


def run_once(name: str, n: int, d: int, dtype: str) -> dict[str, object]:
    """Fit once and return the memory used; runs in its own process."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)).astype(dtype)
    make_estimator(name, 64).fit(rng.standard_normal((64, d)).astype(dtype))
    estimator = make_estimator(name, n)
    requested = requested_bytes(estimator, X)
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    estimator.fit(X)
    used = _status("VmHWM") - before
    return {
        "fit": name, "samples": n, "features": d, "type": dtype, "requested, MiB": requested / 2**20,
        "used, MiB": used / 2**20, "requested / used": requested / used,
    }  # fmt: skip


def compare_peaks(names: list[str], sizes: list[int], features: list[int], dtypes: list[str]) -> int:
    """Print what every kind of fit requested and used; return 1 if one used more."""
    print(describe_machine(), flush=True)
    rows = []
    for n, d, dtype, name in itertools.product(sizes, features, dtypes, names or FITS):
        if n > SLOW.get(name, n):
            continue
        code = "from benchmarks.soak.peaks import *; print(json.dumps(run_once(*json.loads(sys.argv[1]))))"
        command = [sys.executable, "-c", code, json.dumps([name, n, d, dtype])]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(json.loads(answer.stdout))
        print(*rows[-1].values(), file=sys.stderr, flush=True)
    print_table(rows)
    return int(any(row["requested / used"] < 1 for row in rows))
