"""Threads that process blocks, without competing with BLAS for the same cores."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

T = TypeVar("T")


class _SingleThreadedBlas:
    """Keeps BLAS at one thread while at least one team is working.

    threadpoolctl's own context manager restores the limit it found on entry, which goes wrong when several
    fits overlap in time. Counting the users works. Only the thread that set a limit can lift it, so one
    dedicated thread sets and lifts them all.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything: neither the lock nor the thread survives a fork."""
        self._lock = threading.Lock()
        self._users = 0
        self._owner: ThreadPoolExecutor | None = None
        self._limiter: Any = None
        self._controller: ThreadpoolController | None = None
        self._n_modules = 0

    def _find_libraries(self) -> ThreadpoolController:
        """The BLAS libraries that are loaded. To look for them takes milliseconds; imports load new ones."""
        if self._controller is None or self._n_modules != len(sys.modules):
            self._n_modules = len(sys.modules)
            self._controller = ThreadpoolController()
        return self._controller

    def find_libraries(self) -> ThreadpoolController:
        """The libraries that are loaded and have threads of their own."""
        with self._lock:
            return self._find_libraries()

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._owner = self._owner or ThreadPoolExecutor(1, "seqspan-blas")
                limit = self._find_libraries().limit
                self._limiter = self._owner.submit(limit, limits=1, user_api="blas").result()

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._owner is not None:
                self._owner.submit(self._limiter.restore_original_limits).result()


class _IdlePools:
    """Thread pools that no team uses at the moment; a fit has hundreds of teams, one after the other.

    A pool belongs to one team at a time, so teams inside the work of other teams never wait for a thread
    that waits for them.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything: threads do not survive a fork."""
        self._lock = threading.Lock()
        self._idle: dict[int, list[ThreadPoolExecutor]] = {}

    def take(self, n_threads: int) -> ThreadPoolExecutor:
        """An idle pool, or a new one."""
        with self._lock:
            idle = self._idle.get(n_threads)
            return idle.pop() if idle else ThreadPoolExecutor(n_threads, "seqspan")

    def give_back(self, pool: ThreadPoolExecutor, n_threads: int) -> None:
        """Keep a pool whose work is done for the next team."""
        with self._lock:
            self._idle.setdefault(n_threads, []).append(pool)


_single_threaded_blas = _SingleThreadedBlas()
_idle_pools = _IdlePools()
if hasattr(os, "register_at_fork"):  # pragma: no branch - not on Windows
    os.register_at_fork(after_in_child=_single_threaded_blas.reset)
    os.register_at_fork(after_in_child=_idle_pools.reset)


def count_threads(n_jobs: int | None = None) -> int:
    """Number of threads that `n_jobs` stands for.

    None means every core this process may use, limited by OMP_NUM_THREADS (which joblib sets in its workers).
    Negative numbers count back from the number of cores, as in joblib.

    Examples
    --------
    >>> count_threads(3), count_threads(-1) == joblib.cpu_count()
    (3, True)
    """
    if n_jobs is not None:
        return int(joblib.effective_n_jobs(n_jobs)) if n_jobs < 0 else n_jobs
    requested = os.environ.get("OMP_NUM_THREADS", "")
    available = int(joblib.cpu_count())
    return min(available, int(requested)) if requested.isdigit() and int(requested) > 0 else available


@contextmanager
def openmp_threads(n_jobs: int | None = None) -> Iterator[None]:
    """Give scikit-learn's own threads a number, which OpenMP keeps for each thread that calls it.

    Examples
    --------
    >>> with openmp_threads(1):
    ...     pass
    """
    controller = _single_threaded_blas.find_libraries()
    with controller.limit(limits=count_threads(n_jobs), user_api="openmp"):
        yield


class Team:
    """A fixed number of threads. With one, everything runs in the caller's thread.

    Threads stay when a team leaves, and serve the next one.

    Parameters
    ----------
    n_jobs : int, optional
        As for :func:`count_threads`.
    uses_blas : bool
        Whether the work calls BLAS. If so, BLAS may not start threads of its own.
    """

    def __init__(self, n_jobs: int | None = None, *, uses_blas: bool = True) -> None:
        self.n_jobs = count_threads(n_jobs)
        self._uses_blas = uses_blas
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Team:
        if self.n_jobs > 1:
            self._pool = _idle_pools.take(self.n_jobs - 1)
        if self._uses_blas:
            _single_threaded_blas.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._uses_blas:
            _single_threaded_blas.__exit__()
        if self._pool is not None:
            _idle_pools.give_back(self._pool, self.n_jobs - 1)
            self._pool = None

    def map(self, work: Callable[[range], T], n_blocks: int) -> list[T]:
        """Deal the blocks out to the threads, call `work` once per thread and return the results."""
        n_shares = min(self.n_jobs, n_blocks)
        shares = [range(i, n_blocks, n_shares) for i in range(n_shares)]
        if self._pool is None or n_shares == 1:
            return [work(share) for share in shares]
        others = [self._pool.submit(work, share) for share in shares[1:]]
        try:
            return [work(shares[0])] + [other.result() for other in others]
        finally:
            wait(others)  # after an error, too: the arrays and the threads are the next one's
