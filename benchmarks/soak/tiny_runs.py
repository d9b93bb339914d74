"""Runs of the command line that take milliseconds: reading, solving and the report are replaced by stubs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from seqspan._core.spans import Division
from seqspan.cuts.cutting import Cutting
from seqspan.exports import make_timeline
from seqspan.exports._split import SpanFile
from seqspan.recording import Recording
from seqspan.segmentation import Segmentation

N_SAMPLES = 12
MUTATIONS = ("replace", "rename", "unlink", "remove", "rmdir", "mkdir")  # all that changes a folder's entries


class Killed(OSError):
    """What every operation meets from the moment at which a run is killed."""


@contextmanager
def killed_after(moment: int) -> Iterator[None]:
    """Let this many operations on folders succeed and no further one, as if the program had been killed.

    Cleaning up fails from then on, too. Only open files are closed, which releases locks, as the system does.
    """
    calls = 0

    def mortal(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > moment:
                raise Killed("killed")
            return real(*given, **more)

        return call

    with ExitStack() as stack:
        for name in MUTATIONS:
            stack.enter_context(patch.object(os, name, mortal(getattr(os, name))))
        yield


@dataclass
class Answer:
    """What the stubs find next, and what happens while the report is written."""

    division: Division
    meanwhile: Callable[[], None] = lambda: None


def read_tiny(source: Path, **options: Any) -> Recording:
    """A recording of twelve samples, whatever its file contains."""
    return Recording(
        X=np.zeros((N_SAMPLES, 1)), times=np.arange(N_SAMPLES) / 4, time_unit="s", feature_names=("x",),
        kind="table", source=str(source),
    )  # fmt: skip


def find_tiny(recording: Recording, division: Division) -> Segmentation:
    """A segmentation without coefficients."""
    labels = division.sample_labels(N_SAMPLES)
    return Segmentation(recording, labels, division.boundaries, 0.01, Cutting("ordered"), seconds={})


def split_tiny(timeline: Any, folder: Path) -> list[SpanFile]:
    """One text file per span instead of a film."""
    pieces = []
    for number, span in enumerate(timeline.spans, 1):
        (folder / f"{number}_{span.label}.mp4").write_text(f"film of {span.start} to {span.end}")
        pieces.append(SpanFile(f"{number}_{span.label}.mp4", True, "copied"))
    return pieces


@contextmanager
def stubbed(answer: Answer) -> Iterator[None]:
    """Replace what takes long; all that writes files stays as it is."""

    def report(found: Segmentation, *given: Any, **more: Any) -> str:
        answer.meanwhile()
        return "\n".join(map(str, found.spans))

    def timeline(recording: Recording, spans: Any, names: Any = ()) -> Any:
        made = make_timeline(recording, spans, names)
        object.__setattr__(made, "frame_rate", 4)  # so that it can be split
        return made

    def segment(job: Any, recording: Recording, *given: Any, **more: Any) -> Segmentation:
        return find_tiny(recording, answer.division)

    stubs = {
        "seqspan.cli.segment.read": read_tiny,
        "seqspan.cli.segment._segment": segment,
        "seqspan.cli.segment._parameters": lambda *given: {},
        "seqspan.cli.segment.build_report": report,
        "seqspan.cli.segment.list_files": lambda source, **options: [source],
        "seqspan.cli.export.list_files": lambda source, **options: [source],
        "seqspan.cli.segment.versions": dict,
        "seqspan.cli.segment.parameters_of": lambda *given, **more: None,
        "seqspan.exports.selection.make_timeline": timeline,
        "seqspan.exports.selection.split_video": split_tiny,
    }
    with ExitStack() as stack:
        for name, stub in stubs.items():
            stack.enter_context(patch(name, stub))
        yield
