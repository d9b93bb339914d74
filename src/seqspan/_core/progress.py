"""A line on the terminal that says how far a solver is."""

from __future__ import annotations

import math
from types import TracebackType

from rich.console import Console
from rich.progress import Progress as Display
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from seqspan.solvers.loop import Progress


class SolverDisplay:
    """Shows iteration, objective, gap and an estimate of the time left on standard error.

    Parameters
    ----------
    tol : float
        The gap at which the solver will stop.
    """

    def __init__(self, tol: float) -> None:
        self._tol = tol
        self._first: Progress | None = None
        columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        self._display = Display(*columns, console=Console(stderr=True), transient=True)
        self._task = self._display.add_task("solving")

    def __enter__(self) -> SolverDisplay:
        self._display.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._display.stop()

    def __call__(self, progress: Progress) -> None:
        """Show the latest certificate."""
        self._first = self._first or progress
        left = seconds_left(self._first, progress, self._tol)
        estimate = "" if left is None else f", about {left:.0f} s left"
        self._display.update(
            self._task,
            description=f"iteration {progress.iteration}, objective {progress.objective:.6g}, "
            f"gap {progress.gap:.1e} of {self._tol:.0e}{estimate}",
        )


def seconds_left(first: Progress, last: Progress, tol: float) -> float | None:
    """Estimate the time to gap `tol`, the gap falling at the rate seen so far; None if it does not fall.

    Examples
    --------
    >>> seconds_left(Progress(5, 1.0, 1e-1, 1.0), Progress(10, 1.0, 1e-2, 2.0), tol=1e-4)
    2.0
    """
    if last.gap <= tol or not 0 < last.gap < first.gap:
        return 0.0 if last.gap <= tol else None
    rate = math.log(first.gap / last.gap) / (last.seconds - first.seconds)
    return math.log(last.gap / tol) / rate
