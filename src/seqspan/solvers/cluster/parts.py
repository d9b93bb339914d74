"""The actors on the workers: where they run, calls to all of them at once, and detection of lost workers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np

from seqspan._core.extras import MissingPackageError
from seqspan._core.types import Array
from seqspan.models import Osc, SpatSc
from seqspan.solvers.cluster.rows import AtomRows
from seqspan.solvers.fast.reduced import Reduced

CONNECT_SECONDS = 10.0  # in which a scheduler has to answer
POLL_SECONDS = 1.0  # between checks that the workers are still there
WORKER_TIMEOUT = 120.0  # seconds to wait until the cluster has a worker


class LostWorker(Exception):
    """A worker that held part of the state is gone."""


class Parts:
    """The atoms in contiguous parts, one actor per part.

    Parameters
    ----------
    model : Osc or SpatSc
    data : Reduced
    address : str
        Address of the scheduler.
    """

    def __init__(self, model: Osc | SpatSc, data: Reduced, address: str) -> None:
        self._client = connect(address)
        self._model, self._data = model, data
        self._actors: list[Any] = []
        self._homes: list[str] = []
        self._handles: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._actors, self._handles = [], []
        self._client.close()

    def __len__(self) -> int:
        return len(self._actors)

    def place(self, files: Sequence[str] | None, n_parts: int | None) -> Array:
        """Create the actors again on the current workers; returns the norms of U."""
        workers = self._wait_for_workers()
        n_atoms, n = len(self._data.Q), len(self._data.Y)
        edges = np.linspace(0, n_atoms, min(n_parts or len(workers), n_atoms) + 1).astype(int)
        self._homes = [list(workers)[i % len(workers)] for i in range(len(edges) - 1)]
        self._handles = [
            self._client.submit(
                AtomRows, self._model, n, int(first), workers[home],
                actor=True, workers=[home], allow_other_workers=False, pure=False,
            )
            for first, home in zip(edges, self._homes, strict=False)
        ]  # fmt: skip
        self._actors = [self._wait(handle, home) for handle, home in self._pairs(self._handles)]
        kept: Sequence[str | None] = files or [None] * len(self._actors)
        atoms = [
            (self._data.Q[first:last], self._data.sigma, file)
            for (first, last), file in zip(pairwise(edges), kept, strict=True)
        ]
        return np.asarray(np.sum(self.call_each("begin", atoms), axis=0))

    def call(self, method: str, *given: Any) -> list[Any]:
        """Call a method of all actors in parallel with the same arguments."""
        return self.call_each(method, [given] * len(self._actors))

    def call_each(self, method: str, given: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Call a method of all actors in parallel, each with its own arguments."""
        try:
            answers = [getattr(actor, method)(*own) for actor, own in zip(self._actors, given, strict=True)]
        except (RuntimeError, ValueError) as error:  # Dask already knows that the worker is gone
            raise LostWorker(str(error)) from error
        return [self._wait(answer, home) for answer, home in self._pairs(answers)]

    def _pairs(self, futures: list[Any]) -> list[tuple[Any, str]]:
        return list(zip(futures, self._homes, strict=True))

    def _wait(self, future: Any, home: str) -> Any:
        """Wait for a result, checking regularly that its worker is still alive."""
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        while True:
            try:
                return future.result(timeout=POLL_SECONDS)
            except TimeoutError:
                if home not in self._client.nthreads():
                    raise LostWorker(home) from None
            except (OSError, KilledWorker, FutureCancelledError) as error:
                raise LostWorker(home) from error

    def _wait_for_workers(self) -> dict[str, int]:
        """Addresses and thread counts of the workers; waits a while for the cluster to restart a lost one."""
        deadline = time.monotonic() + WORKER_TIMEOUT
        while not (workers := dict(self._client.nthreads())):
            if time.monotonic() > deadline:
                raise ConnectionError(
                    f"the cluster at {self._client.scheduler.address} has no workers; at least one is needed."
                )
            time.sleep(POLL_SECONDS)
        return workers


def connect(address: str) -> Any:
    """Create a client that talks to the workers directly, so that no data passes through the scheduler."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingPackageError("a cluster needs Dask: pip install 'seqspan[cluster]'.") from error
    try:
        # registers itself as the default client, which actors need; closing it restores the previous default
        client: Any = Client(address, direct_to_workers=True, timeout=CONNECT_SECONDS)  # type: ignore[no-untyped-call]
        return client
    except (OSError, TimeoutError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {address}: {error}") from error
