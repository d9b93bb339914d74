"""``seqspan watch --states``: the states of a result in the rows that arrive."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from tests.cli.test_watch import DyingFile, Killed, spans_of
from typer.testing import CliRunner

import seqspan
from seqspan.cli import sources
from seqspan.cli import watch as module
from seqspan.cli.apply import read_vocabulary
from seqspan.cli.commands import app
from seqspan.cli.sources import Pipe
from seqspan.cli.watch import Options, Watch, follow
from seqspan.recording import Recording

LENGTH = 90
NAMES = ("a", "b", "c", "d")


def rows_of(order, seed=0, length=LENGTH):
    points = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    rng = np.random.default_rng(seed)
    return np.repeat(points[list(order)], length, axis=0) + 0.1 * rng.standard_normal(
        (len(order) * length, 4)
    )


def text_of(rows, names=NAMES):
    return "".join(",".join(map(str, row)) + "\n" for row in [names, *rows.round(6).tolist()])


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """The states 0, 1 and 2, the first of them with a name; 3 is left for later."""
    rows = rows_of([0, 1, 2, 0, 1], seed=5)
    recording = Recording(
        X=rows, times=np.arange(len(rows)) / 10, time_unit="s", feature_names=NAMES, kind="table"
    )
    folder = tmp_path_factory.mktemp("known") / "monday.seqspan"
    seqspan.segment(recording).rename({"A": "rest"}).save(folder)
    return folder


def watch_states(result, text, **given):
    out = io.BytesIO()
    watch = Watch(Options(), out, vocabulary=read_vocabulary(result), **given)
    watch.run(Pipe(io.BytesIO(text.encode())))
    return [json.loads(line) for line in out.getvalue().splitlines()], watch


def test_every_span_has_the_name_of_its_state(result):
    events, watch = watch_states(result, text_of(rows_of([2, 0, 3, 1, 0], seed=1)))
    spans = spans_of(events)
    assert [span["state"] for span in spans] == ["C", "rest", "new", "B", "rest"]
    assert [span["label"] for span in spans] == [2, 0, -1, 1, 0]
    assert [span["new"] for span in spans] == [False, False, True, False, False]
    assert np.abs(np.array([span["end"] for span in spans]) - LENGTH * np.arange(1, 6)).max() <= 3
    assert all(0 < span["confidence"] < 1 for span in spans[:-1])
    assert max(span["delay"] for span in spans[:-1]) < 2 * LENGTH
    assert not watch.reached


@pytest.mark.parametrize(
    ("until", "state", "number"), [("rest", "rest", 1), ("A", "rest", 1), ("1", "B", 3), ("new", "new", 2)]
)
def test_it_ends_after_a_state(result, until, state, number):
    events, watch = watch_states(result, text_of(rows_of([2, 0, 3, 1, 2], seed=1)), until=until)
    assert watch.reached
    assert spans_of(events)[-1]["state"] == state
    assert spans_of(events)[-1]["number"] == number


def test_columns_are_matched_by_name(result):
    rows = rows_of([0, 1, 3], seed=2)
    wider = np.column_stack([rows[:, ::-1], np.arange(len(rows))])
    expected, _ = watch_states(result, text_of(rows))
    found, watch = watch_states(result, text_of(wider, (*NAMES[::-1], "battery")))
    assert found == expected
    assert watch.notes() == ["left out 1 column that the known states do not look at"]
    unnamed, watch = watch_states(result, "".join(text_of(rows).splitlines(keepends=True)[1:]))
    assert unnamed == expected
    assert watch.notes() == ["the columns have no names; they were taken in the order of the known states"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,c\n1,2,3\n", "missing: d"),
        ("1,2,3\n", r"need 4 columns, and a row has 3 \(a, b, c, d\); begin with a line of names"),
    ],
)
def test_columns_that_are_missing_are_listed(result, text, message):
    with pytest.raises(ValueError, match=message):
        watch_states(result, text)


def test_gaps_change_nothing(result):
    header, *whole = text_of(rows_of([0, 1, 2], seed=3)).splitlines()
    broken = [header]
    for number, line in enumerate(whole):
        broken += ["", "power lost"] * (number % 20 == 0)
        broken.append(",".join(["", *line.split(",")[1:]]) if number % 25 == 5 else line)
    events, watch = watch_states(result, "\n".join(broken))
    assert [span["state"] for span in spans_of(events)] == ["rest", "B", "C"]
    assert watch.notes() == ["left out 14 lines that could not be understood"]


def test_twenty_kills_change_nothing(result, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "READ", 700)  # about 18 rows
    monkeypatch.setattr(sources, "PAUSE", 0.001)
    monkeypatch.setattr(module, "ROWS_PER_CHECKPOINT", 64)
    source, checkpoint, out = tmp_path / "rows.csv", tmp_path / "at.npz", tmp_path / "events.jsonl"
    source.write_text(text_of(rows_of([2, 0, 3, 1, 0, 3, 2], seed=4)))
    vocabulary = read_vocabulary(result)
    follow(str(source), Options(), tmp_path / "whole.jsonl", patience=0.0, vocabulary=vocabulary)
    rng, kills = np.random.default_rng(0), 0
    for _ in range(100):
        with out.open("r+b" if out.exists() else "xb") as events:
            try:
                watch = Watch(Options(), events, checkpoint, vocabulary=vocabulary)
                watch.run(DyingFile(source, int(rng.integers(1, 5)) if kills < 20 else 10**6))
                break
            except Killed:
                kills += 1
    assert kills == 20
    assert out.read_text() == (tmp_path / "whole.jsonl").read_text()


def test_a_checkpoint_without_states_or_of_others_is_refused(result, tmp_path):
    checkpoint, text = tmp_path / "at.npz", text_of(rows_of([0, 1], seed=1))
    watch_states(result, text, checkpoint=checkpoint, until="rest")
    with pytest.raises(ValueError, match="was written with states="):
        Watch(Options(), io.BytesIO(), checkpoint).run(Pipe(io.BytesIO()))


def test_the_command(result, tmp_path):
    text = text_of(rows_of([0, 3, 1], seed=1))
    done = CliRunner().invoke(app, ["watch", "-", "--states", str(result), "--until", "new"], input=text)
    assert done.exit_code == 3, done.output
    spans = [json.loads(line) for line in done.stdout.splitlines() if '"span"' in line]
    assert [span["state"] for span in spans] == ["rest", "new"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--until", "walk"], "--until must be one of rest, B, C, or 'new'; got 'walk'"),
        (["--grain", "fine"], "--grain is not for --states"),
        (["--min-length", "9"], "--min-length is not for --states"),
    ],
)
def test_what_is_wrong_is_said(result, options, message):
    done = CliRunner().invoke(app, ["watch", "-", "--states", str(result), *options], input="")
    assert done.exit_code == 2
    assert message in done.output


def test_a_folder_without_a_result_is_refused(tmp_path):
    done = CliRunner().invoke(app, ["watch", "-", "--states", str(tmp_path)], input="")
    assert done.exit_code == 1
    assert "no result folder" in done.output
