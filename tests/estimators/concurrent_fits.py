"""Eight fits at once, in the way that the first argument names, compared with the same fits alone.

Run by tests/estimators/test_concurrency.py in a process of its own, which can be ended if it hangs.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np

from seqspan import LRR, OSC, SSC, SpatSC
from seqspan.datasets import make_subspaces

warnings.simplefilter("ignore")
N_FITS = 8
SECONDS = 150  # that an answer of another process is waited for

#: Two settings of threads each, so that fits overlap which want BLAS limited with such that do not care.
KINDS: list[Callable[[], object]] = [
    lambda: OSC(n_subspaces=3, n_jobs=2, random_state=0),
    lambda: OSC(cut="ordered", n_jobs=1, random_state=0),
    lambda: SpatSC(n_subspaces=3, n_jobs=2, max_iter=200, random_state=0),
    lambda: SSC(n_subspaces=3, random_state=0),
    lambda: LRR(n_subspaces="auto", random_state=0),
]
Result = tuple[np.ndarray, np.ndarray, float]


def fit(number: int) -> Result:
    """The fit with a number: its estimator and its samples follow from that."""
    X = make_subspaces(3, 3, 30, 30, rng=number)[0].T
    fitted = KINDS[number % len(KINDS)]().fit(X)
    return fitted.coef_, fitted.labels_, fitted.objective_


def differences(alone: Sequence[Result], together: Sequence[Result]) -> float:
    """Largest difference of coefficients; labels must be the same, and the fast solver's but for rounding."""
    largest = 0.0
    for number, (one, other) in enumerate(zip(alone, together, strict=True)):
        assert np.array_equal(one[1], other[1]), f"fit {number} has other labels"
        difference = float(np.abs(one[0] - other[0]).max())
        if number % len(KINDS) < 3:  # BLAS has one thread in its sweeps, not before them
            assert difference <= 1e-12, f"fit {number} of the fast solver differs by {difference}"
        largest = max(largest, difference)
    # elsewhere BLAS may have another number of threads beside others than alone, and adds in another order
    assert largest <= 1e-8, f"coefficients differ by {largest}"
    return largest


def in_threads() -> list[Result]:
    with ThreadPoolExecutor(N_FITS) as pool:
        return list(pool.map(fit, range(N_FITS)))


def in_joblib_threads() -> list[Result]:
    return joblib.Parallel(n_jobs=N_FITS, backend="threading")(joblib.delayed(fit)(i) for i in range(N_FITS))


def in_joblib_processes() -> list[Result]:
    return joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(fit)(i) for i in range(N_FITS))


def in_processes_from_a_thread() -> list[Result]:
    """Workers of joblib started by a thread, while another thread fits."""
    with ThreadPoolExecutor(2) as pool:
        inside, beside = pool.submit(in_joblib_processes), pool.submit(fit, 0)
        beside.result()
        return inside.result()


def in_multiprocessing(method: str) -> list[Result]:
    with multiprocessing.get_context(method).Pool(2) as pool:
        return pool.map_async(fit, range(N_FITS), chunksize=1).get(SECONDS)


def in_forks_beside_a_fit() -> list[Result]:
    """Processes forked in the middle of fits, when BLAS is limited and locks may be held."""
    forked = threading.Event()

    def keep_fitting() -> None:
        while not forked.is_set():
            fit(0)

    busy = [threading.Thread(target=keep_fitting) for _ in range(2)]
    for thread in busy:
        thread.start()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        forked.set()
        results = pool.map_async(fit, range(N_FITS), chunksize=1).get(SECONDS)
    for thread in busy:
        thread.join()
    return results


WAYS: dict[str, tuple[Callable[[], list[Result]], ...]] = {
    "threads": (in_threads, in_joblib_threads),
    "processes": (in_processes_from_a_thread, partial(in_multiprocessing, "spawn")),
    "fork": (partial(in_multiprocessing, "fork"), in_forks_beside_a_fit),
}

if __name__ == "__main__":
    alone = [fit(i) for i in range(N_FITS)]
    for way in WAYS[sys.argv[1]]:
        print(differences(alone, way()))
    print(differences(alone, [fit(i) for i in range(N_FITS)]), "afterwards")
