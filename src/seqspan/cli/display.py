"""What a person sees while an input is being segmented, and how long each stage took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from seqspan._core.progress import seconds_left
from seqspan.solvers import Progress


class Display:
    """Stages on standard error: a moving line on a terminal, one line each where verbose.

    Parameters
    ----------
    name : str
        Of the input, printable.
    level : int
        0 says nothing, 1 shows a line that is gone in the end, 2 leaves a line per stage.
    """

    def __init__(self, name: str, level: int) -> None:
        self.seconds: dict[str, float] = {}
        self._name = escape(name)
        self._level = level
        self._console = Console(stderr=True, highlight=False)
        self._moving = level == 1 and self._console.is_terminal
        self._bar = Bar(
            *(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()),
            console=self._console,
            transient=True,
            disable=not self._moving,
        )
        self._task = self._bar.add_task("")

    @contextmanager
    def shown(self) -> Iterator[Display]:
        """Show the line while the block runs."""
        # before rich 14.3, a bar that is not shown leaves an empty line where there is no terminal
        with self._bar if self._moving else nullcontext():
            yield self

    @contextmanager
    def stage(self, stage: str) -> Iterator[None]:
        """Name what is being done, and add up how long it takes."""
        self._say(stage)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
            if self._level > 1:
                self._console.print(f"{self._name}: {stage}: {self.seconds[stage]:.2f} s", markup=True)

    def solving(self, tol: float) -> SolverListener:
        """Listen to a solver that will stop at gap `tol`."""
        return SolverListener(self._say, tol)

    def _say(self, text: str) -> None:
        self._bar.update(self._task, description=f"{self._name}: {escape(text)}")


class SolverListener:
    """Says iteration, gap and an estimate of the time left."""

    def __init__(self, say: Callable[[str], None], tol: float) -> None:
        self._say = say
        self._tol = tol
        self._first: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Tell of the latest certificate."""
        self._first = self._first or progress
        left = seconds_left(self._first, progress, self._tol)
        estimate = f", about {left:.0f} s left" if left else ""
        gaps = f"gap {progress.gap:.1e} of {self._tol:.0e}"
        self._say(f"solving: iteration {progress.iteration}, {gaps}{estimate}")
