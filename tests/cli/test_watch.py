"""``seqspan watch``: events, exit status, and going on after the program was killed."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from seqspan.cli import sources
from seqspan.cli import watch as module
from seqspan.cli.commands import app
from seqspan.cli.sources import GrowingFile, Pipe
from seqspan.cli.watch import Options, Watch, follow
from seqspan.estimators import _checkpoint as checkpoints
from seqspan.estimators._checkpoint import load_stream, save_stream

ORDER = [0, 1, 2, 0, 3, 1, 0, 2]
LENGTH = 60


def lines(order=ORDER, length=LENGTH, seed=0):
    rng = np.random.default_rng(seed)
    points = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    X = np.repeat(points[list(order)], length, axis=0) + 0.1 * rng.standard_normal((len(order) * length, 4))
    return "a,b,c,d\n" + "".join(",".join(f"{value:.6f}" for value in row) + "\n" for row in X)


def watched(text, **given):
    out = io.BytesIO()
    watch = Watch(Options(), out, **given)
    watch.run(Pipe(io.BytesIO(text.encode())))
    return [json.loads(line) for line in out.getvalue().splitlines()], watch


def spans_of(events):
    return [event for event in events if event["event"] == "span"]


def test_every_span_is_written_once_and_in_order():
    events, _ = watched(lines())
    spans = spans_of(events)
    assert [span["start"] for span in spans] == list(range(0, 480, LENGTH))
    assert [span["end"] for span in spans] == list(range(LENGTH, 481, LENGTH))
    assert [span["label"] for span in spans] == ORDER
    assert [span["new"] for span in spans] == [True, True, True, False, True, False, False, False]
    assert [span["number"] for span in spans] == list(range(8))
    assert all(0 < span["confidence"] < 1 for span in spans[:-1])
    assert spans[-1]["confidence"] is None  # nothing follows
    for event in events:
        if event["event"] == "change":
            assert event["delay"] >= 0
            assert min(abs(event["at"] - span["end"]) for span in spans) <= 6


def test_gaps_change_nothing():
    whole = lines().splitlines()
    broken = [whole[0]]
    for number, line in enumerate(whole[1:]):
        cells = line.split(",")
        broken += [""] * (number % 7 == 0)
        broken.append(",".join(["", *cells[1:]]) if number % 30 == 5 else line)
    events, _ = watched("\n".join(broken))
    assert [span["end"] for span in spans_of(events)] == list(range(LENGTH, 481, LENGTH))


@pytest.mark.parametrize(("until", "last"), [("2", 2), ("new", 1)])
def test_it_ends_when_a_state_was_seen(until, last):
    events, watch = watched(lines(), until=until)
    assert watch.reached
    assert spans_of(events)[last]["label"] == int(until) if until != "new" else spans_of(events)[last]["new"]
    assert len(spans_of(events)) < len(ORDER)


def test_the_first_state_of_all_is_not_new():
    events, watch = watched(lines([0], 200), until="new")
    assert [span["new"] for span in spans_of(events)] == [True]
    assert not watch.reached


class Killed(Exception):
    pass


class DyingFile(GrowingFile):
    """A file whose reader is killed after some blocks."""

    def __init__(self, path, left):
        super().__init__(path, patience=0.0)
        self.left = left

    def blocks(self):
        for block in super().blocks():
            if block and self.left == 0:
                raise Killed
            self.left -= 1
            yield block


def test_twenty_kills_lose_no_span_and_double_none(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "READ", 700)  # about 20 rows
    monkeypatch.setattr(module, "ROWS_PER_CHECKPOINT", 64)
    monkeypatch.setattr(sources, "PAUSE", 0.001)
    source, checkpoint, out = tmp_path / "rows.csv", tmp_path / "at.npz", tmp_path / "events.jsonl"
    source.write_text(lines())
    follow(str(source), Options(), tmp_path / "whole.jsonl", patience=0.0)
    rng, kills = np.random.default_rng(0), 0
    for _ in range(100):
        mode = "r+b" if out.exists() else "xb"
        with out.open(mode) as events:
            watch = Watch(Options(), events, checkpoint)
            try:
                watch.run(DyingFile(source, int(rng.integers(1, 5)) if kills < 20 else 10**6))
                break
            except Killed:
                kills += 1
                if rng.random() < 0.5:  # as if killed in the middle of a line, after the checkpoint
                    events.write(b'{"event": "sp')
    assert kills == 20
    assert out.read_text() == (tmp_path / "whole.jsonl").read_text()
    assert not checkpoint.exists()  # the stream has ended


def test_a_checkpoint_of_other_options_is_refused(tmp_path):
    checkpoint = tmp_path / "at.npz"
    watched(lines(), checkpoint=checkpoint, until="1")
    watch = Watch(Options(grain="fine"), io.BytesIO(), checkpoint)
    with pytest.raises(ValueError, match="was written with grain='default'; got 'fine'"):
        watch.run(Pipe(io.BytesIO()))


def test_a_checkpoint_belongs_to_the_numbers_that_stand_for_missing_values(tmp_path):
    (tmp_path / "rows.csv").write_text(lines([0, 1, 0]))
    source, given = (
        str(tmp_path / "rows.csv"),
        {"patience": 0.0, "checkpoint": tmp_path / "at.npz", "until": "1"},
    )
    follow(source, Options(), tmp_path / "events", missing_values=[-9999], **given)
    with pytest.raises(ValueError, match=r"was written with missing_values=\[-9999\]; got \[-200"):
        follow(source, Options(), tmp_path / "events", missing_values=[-200], **given)


@pytest.mark.parametrize("content", [b"", b"word", "other"])
def test_what_is_no_checkpoint_is_refused(tmp_path, content):
    path = tmp_path / "at.npz"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.savez(path, rows=np.zeros(3))
    with pytest.raises(ValueError, match="is not a checkpoint"):
        load_stream(path, Options().estimator().begin_stream())


def test_a_pipe_is_told_where_to_go_on(tmp_path):
    checkpoint = tmp_path / "at.npz"
    text = lines()
    _, *rows = text.splitlines(keepends=True)
    first, watch = watched(text, checkpoint=checkpoint, until="1")
    seen = watch.stream.n_samples

    class Out(io.BytesIO):
        def seekable(self):
            return False

    out = Out()
    Watch(Options(), out, checkpoint).run(Pipe(io.BytesIO("".join(rows[seen:]).encode())))
    second = [json.loads(line) for line in out.getvalue().splitlines()]
    assert second[0] == {"event": "resumed", "samples": seen}
    ends = [span["end"] for span in spans_of(first) + spans_of(second)]
    assert ends == list(range(LENGTH, 481, LENGTH))


def test_the_command_follows_standard_input():
    done = subprocess.run(
        [sys.executable, "-m", "seqspan.cli", "watch", "-", "--until", "1"],
        input=lines([0, 1, 0], 120), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert [json.loads(line)["label"] for line in done.stdout.splitlines() if '"span"' in line] == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--until", "walk"], "--until must be the number of a label, or 'new'; got 'walk'"),
        (["--grain", "tiny"], "grain must be one of"),
        (["--min-length", "0"], "min_length must be an int"),
        (["--missing-values", "none"], "--missing-values must be numbers, such as -9999,-200; got 'none'"),
    ],
)
def test_what_is_wrong_is_said(options, message):
    done = CliRunner().invoke(app, ["watch", "-", *options], input="")
    assert done.exit_code == 2
    assert message in done.output


def test_a_run_killed_before_its_first_row_can_be_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PAUSE", 0.001)
    source, checkpoint, out = tmp_path / "rows.csv", tmp_path / "at.npz", tmp_path / "events.jsonl"
    source.write_text(lines([0, 1], 80))
    out.touch()
    with out.open("r+b") as events, pytest.raises(Killed):
        Watch(Options(), events, checkpoint).run(DyingFile(source, 0))
    assert checkpoint.exists()
    assert not follow(str(source), Options(), out, checkpoint=checkpoint, patience=0.0).reached
    assert [json.loads(line)["end"] for line in out.read_text().splitlines() if '"span"' in line] == [80, 160]


def test_events_replace_no_file(tmp_path):
    out = tmp_path / "mine.txt"
    out.write_text("precious")
    done = CliRunner().invoke(app, ["watch", "-", "--out", str(out)], input="")
    assert done.exit_code == 1
    assert out.read_text() == "precious"


def drift(seed):
    """A slow drift: changes are suspected that later turn out to be none."""
    rng = np.random.default_rng(seed)
    X = 0.1 * np.cumsum(rng.standard_normal((1500, 4)), axis=0) + rng.standard_normal((1500, 4))
    return "".join(",".join(f"{value:.4f}" for value in row) + "\n" for row in X)


@pytest.mark.parametrize(("text", "some_are"), [(lines(length=97, seed=3), False), (drift(1), True)])
def test_every_suspected_change_becomes_a_boundary_or_is_withdrawn(text, some_are):
    events, watch = watched(text)
    near = max(watch.options.min_length, round(watch.stream.time_scale))
    suspected = []
    for event in events:
        if event["event"] == "change":
            suspected.append(event["at"])
        elif event["event"] == "withdrawn":
            suspected.remove(event["at"])  # it was there, and is withdrawn once
        else:
            suspected = [at for at in suspected if abs(at - event["end"]) > near]
    assert suspected == []
    assert any(event["event"] == "withdrawn" for event in events) == some_are


def checkpoint_of(path):
    """A checkpoint after 128 rows."""
    watch = Watch(Options(), io.BytesIO(), path)
    watch.run(Pipe(io.BytesIO(lines().encode()[:4000])))
    save_stream(path, watch.stream, {"options": watch._signature(), "n_bytes": 10**6})
    return dict(np.load(path))


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("rows"),
        lambda arrays: arrays.update(rows=arrays["rows"][:10]),
        lambda arrays: arrays.update(rows=arrays["rows"] * np.nan),
        lambda arrays: arrays.update(rows=arrays["rows"].astype(str)),
        lambda arrays: arrays.update(document=np.frombuffer(b"[1]", dtype=np.uint8)),
        lambda arrays: arrays.update(document=arrays["document"][arrays["document"] != ord("5")]),
        lambda arrays: arrays.pop("seal"),
    ],
)
def test_a_checkpoint_that_was_changed_is_refused(tmp_path, change):
    arrays = checkpoint_of(tmp_path / "at.npz")
    load_stream(tmp_path / "at.npz", Options().estimator().begin_stream())
    change(arrays)
    np.savez(tmp_path / "at.npz", **arrays)
    with pytest.raises(ValueError, match=r"at\.npz is not a checkpoint"):
        load_stream(tmp_path / "at.npz", Options().estimator().begin_stream())


def test_an_array_is_no_checkpoint(tmp_path):
    with (tmp_path / "at.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(ValueError, match="is not a checkpoint"):
        load_stream(tmp_path / "at.npz", Options().estimator().begin_stream())


def test_a_file_that_was_replaced_is_not_read_on(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PAUSE", 0.001)
    source, checkpoint, out = tmp_path / "rows.csv", tmp_path / "at.npz", tmp_path / "events.jsonl"
    source.write_text(lines())
    follow(str(source), Options(), out, checkpoint=checkpoint, patience=0.0, until="1")
    kept, events = source.read_text(), out.read_text()
    source.write_text(kept[:1000])
    with pytest.raises(ValueError, match=r"rows\.csv has 1000 bytes, fewer than were read before"):
        follow(str(source), Options(), out, checkpoint=checkpoint, patience=0.0)
    source.write_text(kept)
    out.write_text(events[:10])
    with pytest.raises(ValueError, match="events have 10 bytes, fewer than were written before"):
        follow(str(source), Options(), out, checkpoint=checkpoint, patience=0.0)
    assert out.read_text() == events[:10]


def test_quiet_leaves_out_the_notes_but_no_event():
    text = lines() + "not a row\n"
    loud, quiet = (CliRunner().invoke(app, ["watch", "-", *flags], input=text) for flags in ([], ["-q"]))
    assert "seqspan: note:" in loud.stderr
    assert quiet.stderr == ""
    assert quiet.stdout == loud.stdout


@pytest.mark.parametrize("patience", ["-1", "nan"])
def test_patience_is_a_time(tmp_path, patience):
    (tmp_path / "rows.csv").write_text(lines())
    done = CliRunner().invoke(app, ["watch", str(tmp_path / "rows.csv"), "--patience", patience])
    assert done.exit_code == 2
    assert "--patience must be at least 0 seconds" in done.output


def test_bytes_without_lines_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(module, "MAX_LINE", 5000)
    watch = Watch(Options(), io.BytesIO())
    with pytest.raises(ValueError, match="a line must have at most 5,000 bytes"):
        watch.run(Pipe(io.BytesIO(bytes(10**6))))


def test_a_checkpoint_of_another_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "FORMAT", 7)
    checkpoint_of(tmp_path / "at.npz")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="has format 7, and this version of seqspan reads 1"):
        load_stream(tmp_path / "at.npz", Options().estimator().begin_stream())
