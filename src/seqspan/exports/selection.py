"""Which exports a result folder has, so that a later run writes all of them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seqspan._core.spans import Span
from seqspan.exports import EXPORTS, check_export, make_timeline, split_video, write_export
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
        names = tuple(name for name in EXPORTS if file_of(name) in there)
        return cls(names, any(file.startswith(f"{SPLIT_FOLDER}/") for file in there))

    def __or__(self, other: Selection) -> Selection:
        return Selection(tuple(dict.fromkeys((*self.names, *other.names))), self.split or other.split)

    def __bool__(self) -> bool:
        return bool(self.names) or self.split

    def check(self, recording: Recording) -> None:
        """Refuse exports that do not fit a recording."""
        if not self:
            return
        timeline = make_timeline(recording, [])
        for name in self.names:
            check_export(name, timeline)
        if self.split and timeline.frame_rate is None:
            raise ValueError(f"{timeline.name}: --split needs a video file; this is {timeline.description}.")

    def write(
        self, recording: Recording, spans: Sequence[Span], names: Sequence[str], folder: Path
    ) -> dict[str, Any]:
        """Write the exports; return what ``result.json`` says about them."""
        if not self:
            return {}
        timeline = make_timeline(recording, list(spans), names)
        for name in self.names:
            write_export(name, timeline, folder / file_of(name))
        if not self.split:
            return {}
        (folder / SPLIT_FOLDER).mkdir()
        return {"split": [asdict(piece) for piece in split_video(timeline, folder / SPLIT_FOLDER)]}


def file_of(name: str) -> str:
    """The file of an export in a result folder."""
    return f"{STEM}{EXPORTS[name].suffix}"
