from __future__ import annotations

import pytest

from seqspan._core.progress import SolverDisplay, seconds_left
from seqspan.solvers import Progress


def test_time_left_follows_the_rate_of_the_gap():
    first, last = Progress(5, 1.0, 1e-1, 1.0), Progress(10, 1.0, 1e-2, 2.0)
    assert seconds_left(first, last, 1e-4) == pytest.approx(2.0)
    assert seconds_left(first, last, 1e-2) == 0.0
    assert seconds_left(last, first, 1e-4) is None
    assert seconds_left(first, first, 1e-4) is None


def test_the_display_shows_iteration_and_gap():
    with SolverDisplay(1e-4) as display:
        display(Progress(5, 3.0, 1e-1, 1.0))
        display(Progress(10, 2.5, 1e-2, 2.0))
        text = display._display.tasks[0].description
    assert text == "iteration 10, objective 2.5, gap 1.0e-02 of 1e-04, about 2 s left"
