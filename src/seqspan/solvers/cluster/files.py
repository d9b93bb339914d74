"""Many independent inputs on a cluster: one task each, rerun on another worker if its worker is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from seqspan.solvers.cluster.parts import connect

Item = TypeVar("Item")
Result = TypeVar("Result")
MAX_LOST_WORKERS = 3  # per task; if more die, the task itself is probably the cause


def map_on_cluster(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    address: str,
    given_up: Callable[[Item, Exception], Result],
) -> Iterator[Result]:
    """Apply a function to items on the workers of a Dask cluster; yields results as they become ready.

    Parameters
    ----------
    work : callable
        Must catch its own errors, and must be safe to rerun, because a lost worker may have done half of it.
    items : sequence
    address : str
        Address of the scheduler.
    given_up : callable
        Returns the result for an item that more than three workers were lost on.

    Yields
    ------
    result

    Examples
    --------
    >>> from distributed import LocalCluster
    >>> with LocalCluster(n_workers=2, processes=False, dashboard_address=None) as local:
    ...     sorted(map_on_cluster(abs, [-1, 2, -3], local.scheduler_address, lambda item, error: 0))
    [1, 2, 3]
    """
    client = connect(address)
    try:
        from distributed import as_completed

        tasks = {client.submit(work, item, pure=False, retries=MAX_LOST_WORKERS): item for item in items}
        for task in as_completed(tasks):  # type: ignore[no-untyped-call]
            error = task.exception()
            yield task.result() if error is None else given_up(tasks[task], error)
    finally:
        client.close()
