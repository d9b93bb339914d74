"""``seqspan watch``: rows arrive on standard input or in a growing file, and events are written at once.

Events are JSON objects, one per line: ``span`` for every span that has ended, ``change`` for every change
that is suspected. With a checkpoint, a program that was killed goes on where it was. With a file for events,
none is lost or written twice: what was written after the checkpoint is written again in its place.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from seqspan._core.text import count_of
from seqspan.cli.rows import RowParser
from seqspan.cuts.online.stream import Stream
from seqspan.estimators import OSC, table_of_defaults
from seqspan.estimators._checkpoint import load_stream, save_stream

BLOCK = 64  # rows that are handed on at once
ROWS_PER_CHECKPOINT = 1024
PAUSE = 0.2  # seconds until a file is looked at again
READ = 1 << 16  # bytes that are read at once


@dataclass(frozen=True)
class Options:
    """What is asked for; a checkpoint belongs to one set of them."""

    grain: str = "default"
    min_length: int = 5
    n_subspaces: int | None = None
    time_scale: int | None = None
    kind: str = "table"

    def estimator(self) -> OSC:
        """The estimator whose stream this is."""
        auto = {name: "auto" for name in ("n_subspaces", "time_scale") if getattr(self, name) is None}
        given = asdict(self) | auto
        return OSC(**{**table_of_defaults(), **given})


class Source(Protocol):
    """Where bytes come from."""

    def blocks(self) -> Iterator[bytes]:
        """Bytes as they arrive; empty ones where none are there yet."""

    def seek(self, offset: int) -> None:
        """Leave out the first bytes."""


@dataclass
class Pipe:
    """Standard input. After a checkpoint, what arrives is what follows."""

    file: IO[bytes]

    def blocks(self) -> Iterator[bytes]:
        """Bytes until the pipe is closed."""
        read = getattr(self.file, "read1", self.file.read)
        while block := read(READ):
            yield block

    def seek(self, offset: int) -> None:
        """Leave out nothing: whoever writes knows what was read."""


@dataclass
class GrowingFile:
    """A file that is written to; it ends when nothing was added for `patience` seconds."""

    path: Path
    patience: float | None = None
    offset: int = 0

    def blocks(self) -> Iterator[bytes]:
        """Bytes as they are added."""
        waited = 0.0
        with self.path.open("rb") as file:
            file.seek(self.offset)
            while self.patience is None or waited <= self.patience:
                block = file.read(READ)
                yield block
                waited = 0.0 if block else waited + PAUSE
                if not block:
                    time.sleep(PAUSE)

    def seek(self, offset: int) -> None:
        """Leave out the first bytes."""
        self.offset = offset


@dataclass
class Watch:
    """A stream, what was said about it, and how far its source was read.

    Parameters
    ----------
    options : Options
    out : binary file
        Where events go.
    checkpoint : path, optional
    until : str, optional
        Label of the span after which to stop, or "new" for the first label that was not there before.
    """

    options: Options
    out: IO[bytes]
    checkpoint: Path | None = None
    until: str | None = None
    parser: RowParser = field(default_factory=RowParser)
    n_bytes: int = 0  # of the source, up to the last row of the stream
    n_spans: int = 0  # that were written
    suspected: list[int] = field(default_factory=list)
    reached: bool = False  # whether `until` was

    def __post_init__(self) -> None:
        self.estimator = self.options.estimator()
        self.stream: Stream = self.estimator.begin_stream()
        self._rows: list[list[float]] = []
        self._saved_at = 0

    def run(self, source: Source) -> None:
        """Follow a source to its end, or until what was waited for has happened."""
        self._resume(source)
        left = b""
        for block in source.blocks():
            *lines, left = (left + block).split(b"\n")
            for line in lines:
                self._take(line)
                if self.reached:
                    self._save()
                    return
        self._take(left, newline=0)
        self._flush()
        if not self.reached:
            self._end()

    def _take(self, line: bytes, newline: int = 1) -> None:
        """Take one line."""
        row = self.parser.parse(line.decode("utf-8", "replace"))
        self.n_bytes += len(line) + newline
        if row is not None:
            self._rows.append(row)
        if len(self._rows) == BLOCK:
            self._flush()

    def _flush(self) -> None:
        """Hand the rows on, and write what they tell; a checkpoint is written only when no row waits."""
        if self._rows:
            self.stream.extend(np.array(self._rows))
            self._rows = []
            self._write_events()
        if self.stream.n_samples - self._saved_at >= ROWS_PER_CHECKPOINT:
            self._save()

    def _write_events(self) -> None:
        """Write the spans that are final, then the changes that are suspected."""
        stream = self.stream
        while self.n_spans < len(stream.final):
            index = self.n_spans
            self._write_span(stream.final[index], stream.final_labels[index], stream.delays[index])
        near = max(self.options.min_length, round(stream.time_scale))
        self.suspected = [place for place in self.suspected if place > (stream.final or [0])[-1] - near]
        later = stream.later
        for place, confidence in zip(later.tolist(), _rounded(stream.confidence(later)), strict=True):
            if all(abs(place - other) > near for other in (*self.suspected, *stream.final[-1:])):
                self.suspected.append(place)
                self._write(event="change", at=place, confidence=confidence, delay=stream.n_samples - place)

    def _write_span(self, end: int, label: int, delay: int) -> None:
        """Write a span that has ended."""
        start = self.stream.final[self.n_spans - 1] if self.n_spans else 0
        new = label not in self.stream.final_labels[: self.n_spans]
        confidence = _rounded(self.stream.confidence(np.array([end])))[0]
        self._write(
            event="span", number=self.n_spans, start=start, end=end, label=label, new=new,
            confidence=confidence, delay=delay,
        )  # fmt: skip
        self.n_spans += 1
        self.reached |= self.until == str(label) or (self.until == "new" and new and self.n_spans > 1)

    def _end(self) -> None:
        """Write the spans that are left when the source ends."""
        stream, n_samples = self.stream, self.stream.n_samples
        if n_samples == 0:
            return
        found = self.estimator.end_stream(stream)
        ends = [*found.boundaries.tolist(), n_samples]
        stream.final, stream.final_labels = ends, found.labels.tolist()
        for index in range(self.n_spans, len(ends)):
            self._write_span(ends[index], stream.final_labels[index], n_samples - ends[index])
        if self.checkpoint is not None:  # there is nothing to go on with
            self.checkpoint.unlink(missing_ok=True)

    def _write(self, **event: Any) -> None:
        """Write one event."""
        self.out.write(json.dumps(event).encode() + b"\n")
        self.out.flush()

    def _save(self) -> None:
        """Write a checkpoint, once what was written before cannot be lost any more."""
        if self.checkpoint is None:
            return
        with suppress(io.UnsupportedOperation, OSError):  # pipes and buffers cannot be synchronised
            os.fsync(self.out.fileno())
        about = {
            "options": asdict(self.options), "parser": asdict(self.parser), "n_bytes": self.n_bytes,
            "n_spans": self.n_spans, "suspected": self.suspected, "n_written": _position(self.out),
        }  # fmt: skip
        save_stream(self.checkpoint, self.stream, about)
        self._saved_at = self.stream.n_samples

    def _resume(self, source: Source) -> None:
        """Go on from the checkpoint, if there is one."""
        if self.checkpoint is None or not self.checkpoint.exists():
            self._save()  # before the first event, so that whatever is written later can be found again
            return
        about = load_stream(self.checkpoint, self.stream)
        for name, before in about["options"].items():
            if asdict(self.options)[name] != before:
                given = asdict(self.options)[name]
                raise ValueError(
                    f"{self.checkpoint} was written with {name}={before!r}; got {given!r}. Use the same "
                    "options, or another checkpoint."
                )
        self.parser = RowParser(**about["parser"])
        self.n_bytes, self.n_spans = about["n_bytes"], about["n_spans"]
        self.suspected, self._saved_at = about["suspected"], self.stream.n_samples
        source.seek(self.n_bytes)
        if about["n_written"] is not None and self.out.seekable():
            self.out.truncate(about["n_written"])
            self.out.seek(about["n_written"])
        else:
            self._write(event="resumed", samples=self.stream.n_samples)


def follow(
    source: str, options: Options, out: Path | None, checkpoint: Path | None, until: str | None,
    patience: float | None,
) -> bool:  # fmt: skip
    """Follow standard input ("-") or a file, and say whether what was waited for has happened."""
    if until is not None and until != "new" and not until.isdecimal():
        raise ValueError(f"--until must be the number of a label, or 'new'; got {until!r}.")
    with ExitStack() as stack:
        events = sys.stdout.buffer if out is None else stack.enter_context(_open(out, checkpoint))
        watch = Watch(options, events, checkpoint, until)
        watch.run(Pipe(sys.stdin.buffer) if source == "-" else GrowingFile(Path(source), patience))
    if watch.parser.n_refused:
        lines = count_of(watch.parser.n_refused, "line")
        sys.stderr.write(f"seqspan: note: {lines} could not be understood and left out\n")
    return watch.reached


def _open(out: Path, checkpoint: Path | None) -> IO[bytes]:
    """Open the file for events; only a checkpoint may go on with one that is there and not empty."""
    resumes = checkpoint is not None and checkpoint.exists()
    empty = out.is_file() and out.stat().st_size == 0
    return out.open("r+b" if (resumes and out.exists()) or empty else "xb")


def _position(out: IO[bytes]) -> int | None:
    """Bytes written so far, if that can be gone back to."""
    return out.tell() if out.seekable() else None


def _rounded(confidence: Any) -> list[float | None]:
    """Confidence as JSON values."""
    return [None if np.isnan(value) else round(float(value), 3) for value in confidence]
