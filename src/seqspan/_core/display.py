"""Progress on the terminal while a recording is being segmented, and the time each stage took."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from seqspan._core.solution import Progress


class Display:
    """Shows the stages on standard error: one live line on a terminal, or one line per stage if verbose.

    Parameters
    ----------
    name : str
        Name of the input, printable.
    level : int
        0 shows nothing, 1 shows a line that disappears at the end, 2 leaves a line for every stage.

    Examples
    --------
    >>> with Display() as display, display.stage("reading"):
    ...     pass
    >>> list(display.seconds)
    ['reading']
    """

    def __init__(self, name: str = "", level: int = 0) -> None:
        self.seconds: dict[str, float] = {}
        self._prefix = f"{name}: " if name else ""
        self._level = level
        self._line: Any = None
        self._console: Any = None

    def __enter__(self) -> Self:
        if self._level > 0:
            from rich.console import Console

            self._console = Console(stderr=True, highlight=False)
        # before rich 14.3, a hidden bar leaves an empty line if the output is not a terminal
        if self._level == 1 and self._console.is_terminal:
            self._line = _start_line(self._console)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._line is not None:
            self._line.stop()
            self._line = None

    @contextmanager
    def stage(self, stage: str) -> Iterator[None]:
        """Show the current stage and add its time to `seconds`."""
        self._say(stage)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
            if self._level > 1 and self._console is not None:
                self._console.print(f"{self._prefix}{stage}: {self.seconds[stage]:.2f} s", markup=False)

    def follow(self, tol: float) -> Callable[[Progress], None]:
        """Return a callback that shows iteration, gap and an estimate of the time left until gap `tol`."""
        seen: list[Progress] = []

        def show(progress: Progress) -> None:
            seen.append(progress)
            left = seconds_left(seen[0], progress, tol)
            estimate = f", about {left:.0f} s left" if left else ""
            self._say(
                f"solving: iteration {progress.iteration}, gap {progress.gap:.1e} of {tol:.0e}{estimate}"
            )

        return show

    def _say(self, text: str) -> None:
        if self._line is not None:
            from rich.markup import escape

            self._line.update(self._line.task_ids[0], description=escape(f"{self._prefix}{text}"))


def _start_line(console: Any) -> Any:
    """Start a live line that disappears at the end."""
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    bar = Bar(*columns, console=console, transient=True)
    bar.add_task("")
    bar.start()
    return bar


def seconds_left(first: Progress, last: Progress, tol: float) -> float | None:
    """Estimate the time until the gap reaches `tol` at the current rate; None if the gap is not shrinking.

    Examples
    --------
    >>> seconds_left(Progress(5, 1.0, 1e-1, 1.0), Progress(10, 1.0, 1e-2, 2.0), tol=1e-4)
    2.0
    """
    if last.gap <= tol or not 0 < last.gap < first.gap:
        return 0.0 if last.gap <= tol else None
    rate = math.log(first.gap / last.gap) / (last.seconds - first.seconds)
    return math.log(last.gap / tol) / rate
