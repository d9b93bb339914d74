"""One film per span: packets copied where the span is whole in them, frames encoded anew where not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqspan._core.spans import Span
from seqspan._core.text import name_label
from seqspan.exports._timeline import Timeline
from seqspan.readers.video import open_film

if TYPE_CHECKING:
    from av.container import InputContainer, OutputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

ENCODERS = ("libx264", "mpeg4")  # the first that this FFmpeg has
QUALITY = {"libx264": {"crf": "16", "preset": "veryfast"}, "mpeg4": {"qscale": "2"}}
INDEXED = {".mp4", ".m4v", ".mov", ".mkv", ".webm"}  # containers that say when each packet is seen, and where


@dataclass(frozen=True)
class Piece:
    """A file that was written, and how: ``copied`` or encoded anew.

    Parameters
    ----------
    name : str
        Of the file.
    copied : bool
        Without loss; else it was encoded anew.
    reason : str

    Examples
    --------
    >>> Piece("01_A.mp4", True, "copied").name
    '01_A.mp4'
    """

    name: str
    copied: bool
    reason: str


def split_video(timeline: Timeline, folder: Path) -> list[Piece]:
    """Write one file per span.

    A span that starts and ends at key frames, and refers to no frame outside, is copied without loss. Any
    other is encoded anew, as a copy could only start at the key frame before it; sound is copied always.

    Parameters
    ----------
    timeline : Timeline
        Of a video file.
    folder : path
        It must exist.

    Returns
    -------
    list of Piece

    Examples
    --------
    >>> import tempfile
    >>> from itertools import islice
    >>> import numpy as np
    >>> from seqspan import read
    >>> from seqspan.cli.demo import render, write_clip
    >>> from seqspan.exports import make_timeline
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     film = Path(folder) / "film.mp4"
    ...     write_clip(film, islice(render(np.random.default_rng(0)), 20))
    ...     spans = [Span(0, 10, 0.0, 0.4, 0), Span(10, 20, 0.4, 0.8, 1)]
    ...     pieces = split_video(make_timeline(read(film), spans), Path(folder))
    >>> [piece.name for piece in pieces]
    ['1_A.mp4', '2_B.mp4']
    """
    if timeline.frame_rate is None:
        raise ValueError(f"{timeline.name}: --split needs a video file; this is {timeline.what}.")
    index = _index_packets(timeline.source)
    digits = len(str(len(timeline.spans)))
    pieces = []
    for number, span in enumerate(timeline.spans, 1):
        stem = folder / f"{number:0{digits}d}_{name_label(span.label)}"
        pieces.append(_write_piece(timeline, span, index, stem))
    return pieces


def _write_piece(timeline: Timeline, span: Span, index: _Index, stem: Path) -> Piece:
    """Copy a span where that gives all of it, else encode it anew."""
    ending = Path(timeline.source).suffix.lower()
    if ending in INDEXED and index.is_whole(*_window(timeline, span)):
        path = stem.with_suffix(ending)
        _copy(timeline, span, path)
        # not every container takes every film as it is: the copy is read back before it is believed
        if len(_index_packets(str(path)).times) == index.count(*_window(timeline, span)):
            return Piece(path.name, True, "copied")
        path.unlink()
        reason = "encoded anew: a copy lost frames"
    elif ending in INDEXED:
        reason = "encoded anew: it does not start and end at key frames"
    else:
        reason = f"encoded anew: {ending} files keep no index to copy by"
    path = stem.with_suffix(".mp4")
    _encode(timeline, span, path)
    return Piece(path.name, False, reason)


def _window(timeline: Timeline, span: Span) -> tuple[Fraction, Fraction]:
    """Start and end half a frame early, so that rounded time stamps fall on the right side."""
    half = Fraction(1, 2) / timeline.rate
    return Fraction(span.start_time) - half, Fraction(span.end_time) - half


@dataclass(frozen=True)
class _Index:
    """Time and kind of every packet of the film, in the order of decoding."""

    times: list[Fraction]
    keys: list[bool]

    def count(self, start: Fraction, end: Fraction) -> int:
        """Number of packets of a span."""
        return sum(start <= time < end for time in self.times)

    def is_whole(self, start: Fraction, end: Fraction) -> bool:
        """Whether the packets of a span stand together, start with a key frame, and end before one.

        Frames that are shown before the key frame but decoded after it may refer to the span before.
        """
        inside = [place for place, time in enumerate(self.times) if start <= time < end]
        if not inside or inside[-1] - inside[0] + 1 != len(inside):
            return False
        first, follows = inside[0], inside[-1] + 1
        starts_with_key = self.keys[first] and self.times[first] == min(self.times[first:follows])
        return starts_with_key and (follows == len(self.keys) or self.keys[follows])


def _index_packets(source: str) -> _Index:
    """Read the time stamps of the film without decoding it."""
    with open_film(source) as film:
        stream = film.streams.video[0]
        start = stream.start_time or 0
        base = stream.time_base or Fraction(1)
        stamps = [(packet.pts, packet.is_keyframe) for packet in film.demux(stream)]
    stamped = [((pts - start) * base, key) for pts, key in stamps if pts is not None]
    return _Index([time for time, _ in stamped], [key for _, key in stamped])


def _seek(film: InputContainer, start: Fraction) -> Fraction:
    """Go to the key frame before a time; return the time stamp, in seconds, of the film's first frame."""
    video = film.streams.video[0]
    base = video.time_base or Fraction(1)
    first = video.start_time or 0
    film.seek(max(first + int(start / base), first), stream=video)
    return first * base


def _packets_of(
    film: InputContainer, streams: list[Any], start: Fraction, end: Fraction
) -> Iterator[Packet[Any]]:
    """Yield the packets of a stretch of time."""
    origin = _seek(film, start)
    for packet in film.demux(streams):
        if packet.pts is None:
            continue
        time = packet.pts * packet.time_base - origin
        if time > end + 2:  # seconds; no stream lags further behind the others
            return
        if start <= time < end:
            yield packet


def _with_decoding_times(packets: Iterator[Packet[Any]]) -> Iterator[Packet[Any]]:
    """Fill in when the first packets are decoded: Matroska does not say it, where frames are reordered."""
    waiting: list[Packet[Any]] = []
    for packet in packets:
        if packet.dts is None:
            waiting.append(packet)
            continue
        if waiting and packet.stream is waiting[0].stream:
            for place, early in enumerate(reversed(waiting), 1):
                early.dts = packet.dts - place * max(early.duration or 0, 1)
            yield from waiting
            waiting = []
        yield packet
    for packet in waiting:
        packet.dts = packet.pts
        yield packet


def _copy(timeline: Timeline, span: Span, path: Path) -> None:
    """Copy the packets of a span into a file of its own."""
    import av

    with open_film(timeline.source) as film, av.open(str(path.resolve()), "w") as piece:
        targets = _add_copies(piece, [film.streams.video[0], *film.streams.audio])
        _copy_packets(film, piece, targets, (timeline, span))


def _add_copies(piece: OutputContainer, sources: list[Any]) -> dict[Any, Any]:
    """Add a stream of the same kind for each; it must be there before the first packet is written."""
    return {stream: piece.add_stream_from_template(stream) for stream in sources}


def _copy_packets(
    film: InputContainer, piece: OutputContainer, targets: dict[Any, Any], part: tuple[Timeline, Span]
) -> None:
    """Copy the packets of some streams, stamped from the start of the span."""
    timeline, span = part
    first = film.streams.video[0]
    origin = (first.start_time or 0) * (first.time_base or Fraction(1)) + Fraction(span.start_time)
    for packet in _with_decoding_times(_packets_of(film, list(targets), *_window(timeline, span))):
        shift = round(origin / packet.time_base)
        packet.pts, packet.dts = (packet.pts or 0) - shift, (packet.dts or 0) - shift
        packet.stream = targets[packet.stream]
        piece.mux(packet)


def _encode(timeline: Timeline, span: Span, path: Path) -> None:
    """Decode the frames of a span and encode them anew; copy the sound."""
    import av

    with open_film(timeline.source) as film, av.open(str(path.resolve()), "w") as piece:
        target = _add_encoder(piece, timeline)
        sound = _add_copies(piece, list(film.streams.audio))
        for number, frame in enumerate(_frames_of(film, *_window(timeline, span))):
            picture = frame.reformat(target.width, target.height, "yuv420p")
            picture.pts, picture.time_base = number, 1 / timeline.rate
            piece.mux(target.encode(picture))
        piece.mux(target.encode(None))
        if sound:
            _copy_packets(film, piece, sound, (timeline, span))


def _frames_of(film: InputContainer, start: Fraction, end: Fraction) -> Iterator[VideoFrame]:
    """Yield the frames of a stretch of time, in the order in which they are seen."""
    video = film.streams.video[0]
    if Path(film.name).suffix.lower() in INDEXED:
        origin = _seek(film, start)
    else:  # others are read from the start, as seeking may overshoot
        origin = (video.start_time or 0) * (video.time_base or Fraction(1))
    rate = video.average_rate or video.guessed_rate or Fraction(25)
    for number, frame in enumerate(film.decode(video)):
        stamped = frame.pts is not None and frame.time_base is not None
        time = Fraction(frame.pts or 0) * (frame.time_base or 0) - origin if stamped else number / rate
        if time >= end:
            return
        if time >= start:
            yield frame


def _add_encoder(piece: OutputContainer, timeline: Timeline) -> VideoStream:
    """Add a video stream by the best encoder there is, its sides even, as encoders want them."""
    import av

    name = next(name for name in ENCODERS if name in av.codecs_available)
    target = cast("VideoStream", piece.add_stream(name, rate=timeline.rate, options=QUALITY[name]))
    target.width, target.height = timeline.size[0] // 2 * 2, timeline.size[1] // 2 * 2
    target.pix_fmt = "yuv420p"
    return target
