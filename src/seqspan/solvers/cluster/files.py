"""Many independent inputs on a cluster: each a task, done again elsewhere where its worker is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from seqspan.solvers.cluster.parts import connect

Item = TypeVar("Item")
Result = TypeVar("Result")
LOSSES = 3  # workers that a task may outlive; one that takes down more is at fault itself


def map_on_cluster(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    address: str,
    given_up: Callable[[Item, Exception], Result],
) -> Iterator[Result]:
    """Apply a function to items on the workers of a Dask cluster; results come as they are ready.

    Parameters
    ----------
    work : callable
        Catches its own errors. It must be safe to run again, because a lost worker may have run half of it.
    items : sequence
    address : str
        Of the scheduler.
    given_up : callable
        Makes the result of an item on which more than three workers were lost.

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

        tasks = {client.submit(work, item, pure=False, retries=LOSSES): item for item in items}
        for task in as_completed(tasks):  # type: ignore[no-untyped-call]
            error = task.exception()
            yield task.result() if error is None else given_up(tasks[task], error)
    finally:
        client.close()
