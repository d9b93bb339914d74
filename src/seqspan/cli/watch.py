"""``seqspan watch``: rows arrive on standard input or in a growing file, and events are written at once.

Events are JSON objects, one per line: ``span`` for every span that has ended, ``change`` for every change
that is suspected, ``withdrawn`` for a change that is no longer suspected. With a checkpoint, a program that
was killed goes on where it was. With a file for events, none is lost or written twice: what was written after
the checkpoint is written again in its place.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Any

import numpy as np

from seqspan._core.text import count_of
from seqspan.cli.rows import RowParser
from seqspan.cli.sources import GrowingFile, Pipe, Source
from seqspan.cli.vocabulary import NEW, Vocabulary
from seqspan.cuts.online.stream import Stream
from seqspan.estimators import OSC, table_of_defaults
from seqspan.estimators._checkpoint import load_stream, save_stream
from seqspan.estimators._known_stream import KnownStream

BLOCK = 64  # rows that are handed on at once
ROWS_PER_CHECKPOINT = 1024
MAX_LINE = 2**24  # bytes; a source without line ends would fill the memory


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

    def refuse_with_states(self) -> None:
        """Refuse what known states decide themselves."""
        for option in fields(self):
            if (given := getattr(self, option.name)) != option.default:
                flag = "--" + option.name.replace("_", "-")
                raise ValueError(f"{flag} is not for --states, which know it already; got {given!r}.")


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
    vocabulary : Vocabulary, optional
        Known states to recognise; then `until` is the name of one, or "new" for the first that is none.
    """

    options: Options
    out: IO[bytes]
    checkpoint: Path | None = None
    until: str | None = None
    vocabulary: Vocabulary | None = None
    parser: RowParser = field(default_factory=RowParser)
    n_bytes: int = 0  # of the source, up to the last row of the stream
    n_spans: int = 0  # that were written
    suspected: list[int] = field(default_factory=list)
    reached: bool = False  # whether `until` was

    def __post_init__(self) -> None:
        self.estimator = self.options.estimator()
        self.stream: Stream | KnownStream
        if self.vocabulary is None:
            self.stream, self._label = self.estimator.begin_stream(), _label_to_wait_for(self.until)
        else:
            self.options.refuse_with_states()
            self.stream = KnownStream(self.vocabulary.states)
            self.parser.wanted = list(self.vocabulary.states.feature_names)
            self._label = None if self.until is None else self.vocabulary.find(self.until)
        self._columns: list[int] | None = None
        self._rows: list[list[float]] = []
        self._saved_at = 0

    def run(self, source: Source) -> None:
        """Follow a source to its end, or until what was waited for has happened."""
        self._resume(source)
        left = b""
        for block in source.blocks():
            *lines, left = (left + block).split(b"\n")
            if len(left) > MAX_LINE:
                raise ValueError(f"a line must have at most {MAX_LINE:,} bytes; are these rows of text?")
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
            rows, self._rows = np.array(self._rows), []
            self.stream.extend(rows if self.vocabulary is None else rows[:, self._known_columns()])
            self._write_events()
        if self.stream.n_samples - self._saved_at >= ROWS_PER_CHECKPOINT:
            self._save()

    def _known_columns(self) -> list[int]:
        """Where the columns of the known states are in a row."""
        if self._columns is None:
            assert self.vocabulary is not None
            self._columns = self.vocabulary.columns(self.parser)
        return self._columns

    def _write_events(self) -> None:
        """Write the spans that are final, then the changes that are withdrawn or suspected."""
        stream = self.stream
        ended = stream.final[max(self.n_spans - 1, 0) :]
        while self.n_spans < len(stream.final):
            index = self.n_spans
            self._write_span(stream.final[index], stream.final_labels[index], stream.delays[index])
        later = stream.later
        self._withdraw(ended, later.tolist())
        for place, confidence in zip(later.tolist(), _rounded(stream.confidence(later)), strict=True):
            if not self._is_near(place, [*self.suspected, *stream.final[-1:]]):
                self.suspected.append(place)
                self._write(event="change", at=place, confidence=confidence, delay=stream.n_samples - place)

    def _withdraw(self, ended: list[int], later: list[int]) -> None:
        """Forget the changes at which a span has ended; withdraw those that are no longer suspected."""
        open_ones = [place for place in self.suspected if not self._is_near(place, ended)]
        self.suspected = [place for place in open_ones if self._is_near(place, later)]
        for place in sorted(set(open_ones) - set(self.suspected)):
            self._write(event="withdrawn", at=place)

    def _is_near(self, place: int, others: list[int]) -> bool:
        """Whether a change would be the same as another one."""
        near = max(self.options.min_length, round(self.stream.time_scale))
        return any(abs(place - other) <= near for other in others)

    def _write_span(self, end: int, label: int, delay: int) -> None:
        """Write a span that has ended."""
        start = self.stream.final[self.n_spans - 1] if self.n_spans else 0
        confidence = _rounded(self.stream.confidence(np.array([end])))[0]
        known = {} if self.vocabulary is None else {"state": self.vocabulary.name(label)}
        new = label < 0 if known else label not in self.stream.final_labels[: self.n_spans]
        self._write(
            event="span", number=self.n_spans, start=start, end=end, label=label, **known, new=new,
            confidence=confidence, delay=delay,
        )  # fmt: skip
        self.n_spans += 1
        first_of_all = self.n_spans == 1 and not known  # which is new to everybody
        self.reached |= label == self._label or (self.until == NEW and new and not first_of_all)

    def _end(self) -> None:
        """Write the spans that are left when the source ends."""
        stream, n_samples = self.stream, self.stream.n_samples
        if n_samples == 0:
            return
        found = stream.finish() if isinstance(stream, KnownStream) else self.estimator.end_stream(stream)
        ends = [*found.boundaries.tolist(), n_samples]
        stream.final, stream.final_labels = ends, found.labels.tolist()
        for index in range(self.n_spans, len(ends)):
            self._write_span(ends[index], stream.final_labels[index], n_samples - ends[index])
        self._withdraw(ends[:-1], [])
        if self.checkpoint is not None:  # there is nothing to go on with
            self.checkpoint.unlink(missing_ok=True)

    def notes(self) -> list[str]:
        """What was left out."""
        notes, parser = [], self.parser
        if parser.n_refused:
            notes.append(f"left out {count_of(parser.n_refused, 'line')} that could not be understood")
        if len(parser.times) > 1:
            notes.append(f"left out columns with the name of a time: {', '.join(parser.times)}")
        if parser.n_unused:
            columns = count_of(parser.n_unused, "column")
            notes.append(f"left out {columns} that the known states do not look at")
        if self.vocabulary is not None and self.vocabulary.states.feature_names and not parser.named:
            notes.append("the columns have no names; they were taken in the order of the known states")
        return notes

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
            "options": self._signature(), "parser": asdict(self.parser), "n_bytes": self.n_bytes,
            "n_spans": self.n_spans, "suspected": self.suspected, "n_written": _position(self.out),
        }  # fmt: skip
        save_stream(self.checkpoint, self.stream, about)
        self._saved_at = self.stream.n_samples

    def _signature(self) -> dict[str, Any]:
        """What has to be the same to go on from a checkpoint."""
        known = {"states": self.vocabulary and self.vocabulary.sha256}
        return asdict(self.options) | known | {"missing_values": self.parser.codes}

    def _check_same(self, about: dict[str, Any]) -> None:
        """Refuse a checkpoint of another stream."""
        for name, given in self._signature().items():
            before = about["options"].get(name, [] if name == "missing_values" else None)
            if before != given:
                raise ValueError(
                    f"{self.checkpoint} was written with {name}={before!r}; got {given!r}. Use the same "
                    "options, or another checkpoint."
                )

    def _resume(self, source: Source) -> None:
        """Go on from the checkpoint, if there is one."""
        if self.checkpoint is None or not self.checkpoint.exists():
            self._save()  # before the first event, so that whatever is written later can be found again
            return
        about = load_stream(self.checkpoint, self.stream, self._check_same)
        self.parser = RowParser(**about["parser"])
        self.n_bytes, self.n_spans = about["n_bytes"], about["n_spans"]
        self.suspected, self._saved_at = about["suspected"], self.stream.n_samples
        source.seek(self.n_bytes)
        if about["n_written"] is not None and self.out.seekable():
            self._go_back(about["n_written"])
        else:
            self._write(event="resumed", samples=self.stream.n_samples)

    def _go_back(self, n_written: int) -> None:
        """Leave out the events that were written after the checkpoint."""
        size = self.out.seek(0, os.SEEK_END)
        if size < n_written:
            raise ValueError(
                f"the events have {size} bytes, fewer than were written before the checkpoint ({n_written}): "
                "they were replaced. Use another checkpoint."
            )
        self.out.truncate(n_written)
        self.out.seek(n_written)


def follow(
    source: str, options: Options, out: Path | None = None, *, checkpoint: Path | None = None,
    until: str | None = None, patience: float | None = None, vocabulary: Vocabulary | None = None,
    missing_values: Sequence[float] = (),
) -> Watch:  # fmt: skip
    """Follow standard input ("-") or a file, and return what was found out."""
    if patience is not None and not patience >= 0:  # not a number is neither
        raise ValueError(f"--patience must be at least 0 seconds; got {patience}.")
    with ExitStack() as stack:
        events = sys.stdout.buffer if out is None else stack.enter_context(_open(out, checkpoint))
        parser = RowParser(codes=list(missing_values))
        watch = Watch(options, events, checkpoint, until, vocabulary, parser)
        watch.run(Pipe(sys.stdin.buffer) if source == "-" else GrowingFile(Path(source), patience))
    return watch


def _open(out: Path, checkpoint: Path | None) -> IO[bytes]:
    """Open the file for events; only a checkpoint may go on with one that is there and not empty."""
    resumes = checkpoint is not None and checkpoint.exists()
    empty = out.is_file() and out.stat().st_size == 0
    return out.open("r+b" if (resumes and out.exists()) or empty else "xb")


def _label_to_wait_for(until: str | None) -> int | None:
    """The label that `until` names; None for "new"."""
    if until is None or until == NEW:
        return None
    if not until.isdecimal():
        raise ValueError(f"--until must be the number of a label, or 'new'; got {until!r}.")
    return int(until)


def _position(out: IO[bytes]) -> int | None:
    """Bytes written so far, if that can be gone back to."""
    return out.tell() if out.seekable() else None


def _rounded(confidence: Any) -> list[float | None]:
    """Confidence as JSON values."""
    return [None if np.isnan(value) else round(float(value), 3) for value in confidence]
