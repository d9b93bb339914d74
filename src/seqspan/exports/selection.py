"""Which exports a result folder has, so that a later run writes all of them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from seqspan._core.spans import Span
from seqspan.exports import EXPORTS, check_export, make_timeline, split_video, write_export
from seqspan.exports._timeline import Timeline
from seqspan.recording import Recording

STEM = "spans"  # exports are called spans.edl, spans.otio and so on
SPLIT_FOLDER = "split"


@dataclass(frozen=True)
class Selection:
    """Exports that are to be written.

    Parameters
    ----------
    names : tuple of str
        Names in :data:`EXPORTS`.
    split : bool
        Whether to write one film per span.

    Examples
    --------
    >>> wanted = Selection(("edl",)) | Selection.from_files(["segments.csv", "spans.eaf", "split/1_A.mp4"])
    >>> wanted.names, wanted.split
    (('edl', 'elan'), True)
    """

    names: tuple[str, ...] = ()
    split: bool = False

    @classmethod
    def from_files(cls, files: Iterable[str]) -> Selection:
        """The exports among the files of a result."""
        there = set(files)
        names = tuple(name for name in EXPORTS if any(_is_export(name, file) for file in there))
        return cls(names, any(file.startswith(f"{SPLIT_FOLDER}/") for file in there))

    def __or__(self, other: Selection) -> Selection:
        return Selection(tuple(dict.fromkeys((*self.names, *other.names))), self.split or other.split)

    def __bool__(self) -> bool:
        return bool(self.names) or self.split

    def check(self, recording: Recording) -> None:
        """Refuse exports that do not fit a recording."""
        if not self:
            return
        for part in recording.split()[: None if self.split else 1]:  # all are of one kind
            timeline = make_timeline(part, [])
            for name in self.names:
                check_export(name, timeline)
            if self.split and timeline.frame_rate is None:
                raise ValueError(
                    f"{timeline.name}: --split needs a video file; this is {timeline.description}."
                )

    def write(
        self, recording: Recording, spans: Sequence[Span], names: Sequence[str], folder: Path
    ) -> dict[str, Any]:
        """Write the exports; return what ``result.json`` says about them."""
        if not self:
            return {}
        parts = recording.split()
        titles = recording.names if len(parts) > 1 else ("",)
        pieces: list[dict[str, Any]] = []
        for place, (part, title) in enumerate(zip(parts, titles, strict=True)):
            timeline = make_timeline(part, _spans_of(place, spans), names)
            for name in self.names:
                write_export(name, timeline, folder / file_of(name, title))
            if self.split:
                pieces += _split(timeline, folder / SPLIT_FOLDER, title)
        return {"split": pieces} if self.split else {}


def _split(timeline: Timeline, folder: Path, title: str) -> list[dict[str, Any]]:
    """Split a film; with several, each has a folder of its own."""
    (folder / title).mkdir(parents=True)
    pieces = [asdict(piece) for piece in split_video(timeline, folder / title)]
    return [piece | {"name": f"{title}/{piece['name']}" if title else piece["name"]} for piece in pieces]


def file_of(name: str, recording: str = "") -> str:
    """The file of an export in a result folder; with several recordings, each has its own.

    Examples
    --------
    >>> file_of("elan"), file_of("elan", "walk.c3d")
    ('spans.eaf', 'spans-walk.c3d.eaf')
    """
    return f"{STEM}{f'-{recording}' if recording else ''}{EXPORTS[name].suffix}"


def _is_export(name: str, file: str) -> bool:
    """Whether a file is the export of a recording, or of one of several."""
    return (
        file.startswith((f"{STEM}.", f"{STEM}-")) and file.endswith(EXPORTS[name].suffix) and "/" not in file
    )


def _spans_of(place: int, spans: Sequence[Span]) -> list[Span]:
    """The spans of one recording, counted from its first sample."""
    own = [span for span in spans if span.recording == place]
    first = own[0].start
    return [replace(span, start=span.start - first, end=span.end - first, recording=0) for span in own]
