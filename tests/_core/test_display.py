"""One display for estimators and the command line."""

from __future__ import annotations

import re
import time

import pytest
from rich.console import Console

from seqspan._core.display import Display, seconds_left
from seqspan._core.solution import Progress


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(Console, "is_terminal", property(lambda self: True))


def test_the_line_shows_iteration_gap_and_time_left(terminal):
    with Display("film.mp4", level=1) as display:
        show = display.follow(1e-4)
        show(Progress(5, 3.0, 1e-1, 1.0))
        show(Progress(10, 2.5, 1e-2, 2.0))
        text = display._line.tasks[0].description
    assert text == "film.mp4: solving: iteration 10, gap 1.0e-02 of 1e-04, about 2 s left"
    assert display._line is None


def test_stages_are_timed_and_added_up_even_where_nothing_is_shown(capsys):
    with Display() as display:
        for _ in range(2):
            with display.stage("cutting"):
                time.sleep(0.01)
    assert display.seconds["cutting"] >= 0.02
    assert capsys.readouterr() == ("", "")


def test_a_stage_that_fails_is_timed_too():
    display = Display()
    with pytest.raises(ValueError, match="broken"), display.stage("reading"):
        raise ValueError("broken")
    assert "reading" in display.seconds


def test_verbose_leaves_a_line_for_every_stage(capsys):
    with Display("a[b].csv", level=2) as display, display.stage("reading"):
        pass
    assert re.match(r"a\[b\]\.csv: reading: \d+\.\d", capsys.readouterr().err)


@pytest.mark.parametrize("level", [0, 1])
def test_without_a_terminal_nothing_moves(level, capsys):
    with Display("film.mp4", level=level) as display, display.stage("reading"):
        pass
    assert capsys.readouterr().err == ""


def test_time_left_follows_the_rate_of_the_gap():
    first, last = Progress(5, 1.0, 1e-1, 1.0), Progress(10, 1.0, 1e-2, 2.0)
    assert seconds_left(first, last, 1e-4) == pytest.approx(2.0)
    assert seconds_left(first, last, 1e-2) == 0.0
    assert seconds_left(last, first, 1e-4) is None
    assert seconds_left(first, first, 1e-4) is None
