"""Write one film per span: copied without loss where key frames allow it, else encoded again."""

from __future__ import annotations

import re
from bisect import insort
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from seqspan._core.extras import import_optional, require_optional
from seqspan._core.spans import Span
from seqspan.exports._timeline import Timeline
from seqspan.readers._decoder import Channel
from seqspan.readers._films import UPRIGHT, Clock, first_stream, frame_rate_of, open_film, orientation_of
from seqspan.readers._streams import run_task

if TYPE_CHECKING:
    from av.container import InputContainer, OutputContainer
    from av.packet import Packet
    from av.video.codeccontext import VideoCodecContext
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

Window: TypeAlias = tuple[Fraction, Fraction]

SPLIT = "seqspan.exports._split:split_here"

#: Encoders, best first, and their options.
ENCODERS = {"libx264": {"crf": "16", "preset": "veryfast"}, "mpeg4": {"qscale": "2"}}
INDEXED = {".mp4", ".m4v", ".mov", ".mkv", ".webm"}  # endings of containers in which FFmpeg can seek exactly
MOST_REORDERED = 16  # frames by which the orders of decoding and showing may differ, in H.264 and H.265
FINEST_CLOCK = 60_000  # ticks per second: MPEG-4 allows 65,535
COLOUR_TAGS = ("color_range", "colorspace", "color_primaries", "color_trc")
RGB = 0  # FFmpeg's code of a colour space
LONGEST_TITLE = 60  # characters of a label's name in a file name
LARGEST_LAG = 2  # seconds by which the packets of one stream may follow those of another


@dataclass(frozen=True)
class SpanFile:
    """The file of a span, and how it was written.

    Parameters
    ----------
    name : str
        File name.
    copied : bool
        Whether it was copied without loss; otherwise it was encoded again.
    reason : str
        Why, in words.

    Examples
    --------
    >>> SpanFile("01_A.mp4", True, "copied").name
    '01_A.mp4'
    """

    name: str
    copied: bool
    reason: str


def split_video(timeline: Timeline, folder: str | PathLike[str]) -> list[SpanFile]:
    """Write one file per span.

    A span that starts and ends at key frames, and refers to no frame outside, is copied without loss. Any
    other span is encoded again, because a copy could only start at the key frame before it. Sound is always
    copied.

    Parameters
    ----------
    timeline : Timeline
        Of a video file.
    folder : path
        An existing folder.

    Returns
    -------
    list of SpanFile
        One for each span, with the attributes ``name``, ``copied`` and ``reason``.

    Examples
    --------
    >>> import tempfile
    >>> import av, numpy as np
    >>> from seqspan import read
    >>> from seqspan.exports import make_timeline
    >>> spans = [Span(0, 10, 0.0, 0.4, 0), Span(10, 20, 0.4, 0.8, 1)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     film = Path(folder) / "film.mp4"
    ...     with av.open(str(film), "w") as output:
    ...         stream = output.add_stream("mpeg4", rate=25)
    ...         stream.width, stream.height = 64, 48
    ...         for level in range(20):  # ever brighter frames
    ...             pixels = np.full((48, 64, 3), 10 * level, np.uint8)
    ...             output.mux(stream.encode(av.VideoFrame.from_ndarray(pixels)))
    ...         output.mux(stream.encode(None))
    ...     files = split_video(make_timeline(read(film), spans), Path(folder))
    >>> [file.name for file in files]
    ['1_A.mp4', '2_B.mp4']
    """
    if timeline.frame_rate is None:
        raise ValueError(f"{timeline.name}: splitting needs a video file; this is {timeline.description}.")
    require_optional("av", "splitting video")
    request = asdict(timeline) | {"frame_rate": str(timeline.frame_rate)}
    files = run_task(SPLIT, timeline=request, folder=str(folder))
    return [SpanFile(**file) for file in files]


def split_here(channel: Channel, timeline: dict[str, Any], folder: str) -> list[dict[str, Any]]:
    """Split a film; the other process does it for `split_video`."""
    spans = tuple(Span(**span) for span in timeline.pop("spans"))
    rate, size = Fraction(timeline.pop("frame_rate")), tuple(timeline.pop("size"))
    film = Timeline(**timeline, spans=spans, frame_rate=rate, size=size)
    return [asdict(file) for file in _write_spans(film, Path(folder))]


def _write_spans(timeline: Timeline, folder: Path) -> list[SpanFile]:
    """Write the files of all spans."""
    index = _index_packets(timeline.source)
    digits = len(str(len(timeline.spans)))
    files = []
    for number, span in enumerate(timeline.spans, 1):
        title = re.sub(r"[^\w-]+", "_", timeline.title(span.label))[:LONGEST_TITLE]
        files.append(_write_span(timeline, span, index, folder / f"{number:0{digits}d}_{title}"))
    return files


def _write_span(timeline: Timeline, span: Span, index: _Index, stem: Path) -> SpanFile:
    """Copy a span if that gives exactly its frames, else encode it again."""
    ending = Path(timeline.source).suffix.lower()
    window = _window(span, index)
    if ending in INDEXED and index.is_whole(*window):
        path = stem.with_suffix(ending)
        _copy(timeline, span, window, path)
        # some containers drop frames of some films, so the copy is read back
        if len(_index_packets(str(path)).times) == index.count(*window):
            return SpanFile(path.name, True, "copied")
        path.unlink()
        reason = "encoded again: a copy lost frames"
    elif ending in INDEXED:
        reason = "encoded again: the span does not start and end at key frames"
    else:
        reason = f"encoded again: {ending} files have no index"
    path = stem.with_suffix(".mp4")
    _encode(timeline, span, window, path)
    return SpanFile(path.name, False, reason)


def _window(span: Span, index: _Index) -> Window:
    """Start and end of a span, a little early, so that rounded time stamps fall on the right side."""
    return Fraction(span.start_time) - index.margin, Fraction(span.end_time) - index.margin


@dataclass(frozen=True)
class _Index:
    """The time of every packet of the film, and whether it is a key frame, in the order of decoding."""

    times: list[Fraction]
    keys: list[bool]
    frame: Fraction  # mean duration in seconds

    @cached_property
    def margin(self) -> Fraction:
        """Half the shortest distance between frames: with a variable rate, far less than half the mean."""
        distances = [after - before for before, after in pairwise(sorted(set(self.times)))]
        return min([self.frame, *distances]) / 2

    def count(self, start: Fraction, end: Fraction) -> int:
        """Number of packets between two times."""
        return sum(start <= time < end for time in self.times)

    def is_whole(self, start: Fraction, end: Fraction) -> bool:
        """Whether the packets between two times are contiguous, start with a key frame and end before one.

        Frames that are shown before the key frame but decoded after it may refer to earlier frames.
        """
        inside = [place for place, time in enumerate(self.times) if start <= time < end]
        if not inside or inside[-1] - inside[0] + 1 != len(inside):
            return False
        first, follows = inside[0], inside[-1] + 1
        starts_with_key = self.keys[first] and self.times[first] == min(self.times[first:follows])
        return starts_with_key and (follows == len(self.keys) or self.keys[follows])


def _index_packets(source: str) -> _Index:
    """Read the time stamps of a film without decoding it."""
    with open_film(source) as film:
        stream = film.streams.video[0]
        start = stream.start_time or 0
        base = stream.time_base or Fraction(1)
        stamps = [(packet.pts, packet.is_keyframe) for packet in film.demux(stream)]
        rate = frame_rate_of(stream)
    stamped = [((pts - start) * base, key) for pts, key in stamps if pts is not None]
    return _Index([time for time, _ in stamped], [key for _, key in stamped], 1 / rate)


def _seek(film: InputContainer, start: Fraction) -> Fraction:
    """Go to the key frame before a time; return the time stamp of the film's first frame in seconds."""
    video = film.streams.video[0]
    base = video.time_base or Fraction(1)
    first = video.start_time or 0
    film.seek(max(first + int(start / base), first), stream=video)
    return first * base


def _packets_of(
    film: InputContainer, streams: list[Any], start: Fraction, end: Fraction
) -> Iterator[Packet[Any]]:
    """Yield the packets between two times."""
    origin = _seek(film, start)
    for packet in film.demux(streams):
        if packet.pts is None:
            continue
        time = packet.pts * packet.time_base - origin
        if time > end + LARGEST_LAG:
            return
        if start <= time < end:
            yield packet


def _with_decoding_times(packets: Iterator[Packet[Any]]) -> Iterator[Packet[Any]]:
    """Fill in missing decoding times: Matroska omits the first ones if frames are reordered."""
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


def _create(path: Path) -> OutputContainer:
    """Create a film."""
    output: OutputContainer = _import_av().open(str(path.resolve()), "w")
    return output


def _import_av() -> ModuleType:
    return import_optional("av", "splitting video")


def _copy(timeline: Timeline, span: Span, window: Window, path: Path) -> None:
    """Copy the packets of a span into its file."""
    with open_film(timeline.source) as film, _create(path) as output:
        targets = _add_copies(output, [film.streams.video[0], *film.streams.audio])
        _copy_packets(film, output, targets, span, window)


def _add_copies(output: OutputContainer, sources: list[Any]) -> dict[Any, Any]:
    """Add a stream of the same kind for each source; this must come before the first packet."""
    return {stream: output.add_stream_from_template(stream) for stream in sources}


def _copy_packets(
    film: InputContainer, output: OutputContainer, targets: dict[Any, Any], span: Span, window: Window
) -> None:
    """Copy the packets of some streams, with times counted from the start of the span."""
    video = film.streams.video[0]
    origin = (video.start_time or 0) * (video.time_base or Fraction(1)) + Fraction(span.start_time)
    for packet in _with_decoding_times(_packets_of(film, list(targets), *window)):
        shift = round(origin / packet.time_base)
        packet.pts, packet.dts = (packet.pts or 0) - shift, (packet.dts or 0) - shift
        packet.stream = targets[packet.stream]
        output.mux(packet)


def _encode(timeline: Timeline, span: Span, window: Window, path: Path) -> None:
    """Decode and encode the frames of a span, each with its own time; copy the sound."""
    with open_film(timeline.source) as film, _create(path) as output:
        target = _add_encoder(output, timeline, first_stream(film))
        sound = _add_copies(output, list(film.streams.audio))
        base = Fraction(target.codec_context.time_base)
        durations: dict[int, int] = {}
        latest = -1
        for time, end, frame in _frames_of(film, *window):
            # two frames may have the same time, but not for an encoder
            latest = max(round((time - span.start_time) / base), latest + 1)
            durations[latest] = max(round((end - span.start_time) / base) - latest, 1)
            picture = _convert(frame, target)
            picture.pts, picture.time_base = latest, base
            _mux(output, target.encode(picture), durations)
        _mux(output, target.encode(None), durations)
        if sound:
            _copy_packets(film, output, sound, span, window)


def _mux(output: OutputContainer, packets: list[Packet[Any]], durations: dict[int, int]) -> None:
    """Write packets with the durations of their frames, of which encoders know nothing."""
    for packet in packets:
        packet.duration = durations.pop(packet.pts or 0, packet.duration or 0)
        output.mux(packet)


def _frames_of(
    film: InputContainer, start: Fraction, end: Fraction
) -> Iterator[tuple[float, float, VideoFrame]]:
    """Yield the frames that start between two times, each with its own start and end."""
    if _has_index(film.name):  # else read from the start: seeking may overshoot
        _seek(film, start)
    for time, finish, frame in _timed_frames(film):
        if time >= end:
            return
        if time >= start:
            yield time, finish, frame


def _has_index(name: str) -> bool:
    """Whether FFmpeg can seek exactly in a film, and its frames come in the order of their times."""
    return Path(name).suffix.lower() in INDEXED


def _timed_frames(film: InputContainer) -> Iterator[tuple[float, float, VideoFrame]]:
    """Yield every frame with its start and end; it ends when the next one starts, or with the film."""
    video = film.streams.video[0]
    clock = Clock(video)
    waiting: deque[VideoFrame] = deque()
    times: list[float] = []  # sorted, as the reader does: AVI stamps frames in the order of decoding
    lag = 1 if _has_index(film.name) else MOST_REORDERED
    for frame in film.decode(video):
        waiting.append(frame)
        insort(times, clock.time_of(frame))
        if len(waiting) > lag:
            yield times.pop(0), times[0], waiting.popleft()
    announced = float((video.duration or 0) * (video.time_base or 0))
    for time, finish, frame in zip(times, [*times[1:], max(announced, clock.end)], waiting, strict=False):
        yield time, finish, frame


def _add_encoder(output: OutputContainer, timeline: Timeline, source: VideoStream) -> VideoStream:
    """Add a video stream by the best encoder available; encoders require even widths and heights."""
    available = _import_av().codecs_available
    name = next(name for name in ENCODERS if name in available)
    target = cast("VideoStream", output.add_stream(name, rate=timeline.rate, options=ENCODERS[name]))
    target.width, target.height = timeline.size[0] // 2 * 2, timeline.size[1] // 2 * 2
    target.pix_fmt = "yuv420p"
    base = source.time_base or Fraction(1, FINEST_CLOCK)
    target.codec_context.time_base = base if base.denominator <= FINEST_CLOCK else Fraction(1, FINEST_CLOCK)
    _copy_appearance(source.codec_context, target.codec_context)
    return target


def _copy_appearance(source: VideoCodecContext, target: VideoCodecContext) -> None:
    """Say the same as the source about colours and the shape of pixels."""
    if source.colorspace != RGB:  # the target's is never RGB
        for name in COLOUR_TAGS:
            setattr(target, name, getattr(source, name))
    ratio = source.sample_aspect_ratio
    if ratio:
        turned = (source.width < source.height) != (target.width < target.height)
        target.sample_aspect_ratio = 1 / ratio if turned else ratio


def _convert(frame: VideoFrame, target: VideoStream) -> VideoFrame:
    """Turn a frame upright, since encoders write no display matrix, and convert its pixels.

    Colours stay: both films say in the same way which colours the numbers mean.
    """
    space, range_ = target.codec_context.colorspace, target.codec_context.color_range
    orientation = orientation_of(frame)
    if orientation != UPRIGHT:
        pixels = orientation.apply(frame.to_ndarray(format="rgb24"))
        frame = _import_av().VideoFrame.from_ndarray(np.ascontiguousarray(pixels), "rgb24")
        return frame.reformat(
            target.width, target.height, "yuv420p", dst_colorspace=space, dst_color_range=range_
        )
    return frame.reformat(
        target.width,
        target.height,
        "yuv420p",
        src_colorspace=space,
        dst_colorspace=space,
        src_color_range=range_,
        dst_color_range=range_,
    )
