"""What an export needs to know about a recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from seqspan._core.spans import Span
from seqspan._core.text import name_label, noun_of, printable, title_of
from seqspan.readers.video import probe_film
from seqspan.recording import Recording

#: Seconds in each unit of time.
SECONDS = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True)
class Timeline:
    """A recording and the spans that were found in it, as exports need them.

    Parameters
    ----------
    source : str
        Path of the file.
    kind : str
        Kind of recording, such as "video".
    time_unit : str
    spans : tuple of Span
    frame_rate : Fraction, optional
        Frames per second; only video files have one.
    size : (int, int)
        Width and height of the frames in pixels, as they are shown.
    names : tuple of str
        Names of the labels, if the user gave them names.

    Examples
    --------
    >>> film = Timeline("film.mp4", "video", "s", (Span(0, 50, 0.0, 2.0, 0),), Fraction(25), (640, 360))
    >>> film.name, film.frame(2.0)
    ('film.mp4', 50)
    """

    source: str
    kind: str
    time_unit: str
    spans: tuple[Span, ...]
    frame_rate: Fraction | None = None
    size: tuple[int, int] = (0, 0)
    names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the file, made printable."""
        return printable(Path(self.source).name) or "the recording"

    @property
    def description(self) -> str:
        """The recording in words."""
        return f"a recording of kind {self.kind!r} measured in {self.time_unit!r}"

    @property
    def rate(self) -> Fraction:
        """Frames per second of a video file."""
        if self.frame_rate is None:
            raise ValueError(f"{self.name}: a frame rate is needed; {self.description} has none.")
        return self.frame_rate

    def title(self, label: int) -> str:
        """Name of a label, made printable: the user's, or A, B, ..."""
        return printable(title_of(label, self.names))

    def heading(self, label: int) -> str:
        """What a viewer reads about a label: the name that the user gave it, or Scene A, Activity B, ..."""
        title = self.title(label)
        return f"{noun_of(self.kind).capitalize()} {title}" if title == name_label(label) else title

    def seconds(self, time: float) -> float:
        """Convert a time to seconds since the first sample; in a film, since its start."""
        origin = 0.0 if self.frame_rate is not None or not self.spans else self.spans[0].start_time
        return (time - origin) * SECONDS[self.time_unit]

    def frame(self, time: float) -> int:
        """Number of the frame that starts at a time."""
        return round(time * self.rate)


@dataclass(frozen=True)
class Format:
    """A file format.

    Parameters
    ----------
    suffix : str
        Ending of its files, with the dot.
    write : callable
        From a timeline to the text of the file.
    requires : {"video", "time", "length"}
        A video file, or the unit in which the recording must be measured.

    Examples
    --------
    >>> labels = Format(".txt", lambda timeline: f"{len(timeline.spans)} spans", "time")
    >>> labels.write(Timeline("walk.amc", "mocap", "s", ()))
    '0 spans'
    """

    suffix: str
    write: Callable[[Timeline], str]
    requires: str


def make_timeline(recording: Recording, spans: list[Span], names: Sequence[str] = ()) -> Timeline:
    """Collect what exports need, including the frame rate of a video file.

    Parameters
    ----------
    recording : Recording
    spans : list of Span
    names : sequence of str
        Names of the labels, if the user gave them names.

    Returns
    -------
    Timeline

    Examples
    --------
    >>> import numpy as np
    >>> core = Recording(X=np.eye(2), times=np.array([0.0, 0.5]), time_unit="m", feature_names=("a", "b"),
    ...                 kind="spectra", source="core.hdr")
    >>> make_timeline(core, [Span(0, 2, 0.0, 1.0, 0)]).description
    "a recording of kind 'spectra' measured in 'm'"
    """
    unit = recording.time_unit
    timeline = Timeline(recording.source, recording.kind, unit, tuple(spans), names=tuple(names))
    if recording.read_options.get("format") != "video":
        return timeline
    rate, size = probe_film(recording.source)
    return replace(timeline, kind="video", time_unit="s", frame_rate=rate, size=size)
