"""Films, decoded by PyAV (FFmpeg) frame by frame in the other process; only scaled-down frames leave it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from io import FileIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqspan._core.extras import import_optional
from seqspan._core.text import count_of
from seqspan.readers._decoder import BASE_MEMORY, Channel, beat, limit_memory
from seqspan.readers._limits import MAX_PIXELS

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.reformatter import VideoReformatter
    from av.video.stream import VideoStream

BUFFER_BYTES = 2**18  # that FFmpeg reads at once
DEFAULT_RATE = Fraction(25)  # frames per second, for a film that does not say
# A film may end this much before the time in its header: edit lists and open GOPs hide frames at the ends.
MAX_LOST_SHARE = 0.02  # of the duration
MAX_LOST_FRAMES = 3
BYTES_PER_PIXEL = 8  # at most
MOST_FRAMES = 40  # that a decoder holds: 16 to refer to, as many in its threads, and some on their way


@dataclass(frozen=True)
class Selection:
    """Which frames are read, and in which form.

    Parameters
    ----------
    size : (int, int)
        Width and height.
    pixel_format : str
        FFmpeg's name of the pixel format.
    stride : int
        Every stride-th frame.
    start, stop : float, optional
        Time range in seconds.
    """

    size: tuple[int, int]
    pixel_format: str
    stride: int = 1
    start: float | None = None
    stop: float | None = None


def decode_film(channel: Channel, path: str, selection: dict[str, Any]) -> dict[str, Any]:
    """Send the selected frames of a film; return what is wrong with it, and notes."""
    wanted = Selection(**selection)
    with open_film(path) as container:
        stream = first_stream(container)
        clock, scaler, problem = Clock(stream), Scaler(wanted), ""
        first = None
        try:
            for time, frame in selected_frames(container, stream, clock, wanted):
                first = time if first is None else first
                channel.send_frame(time, scaler.scale(frame))
        except BrokenPipeError:
            raise
        except OSError as error:  # depending on their code, FFmpeg's errors are OSErrors or ValueErrors
            problem = f"decoding stopped after {clock.n_frames} frames: {error.strerror}"
        except ValueError as error:
            problem = f"decoding stopped after {clock.n_frames} frames: {error}"
        if not problem and wanted.start is None and wanted.stop is None:
            problem = _describe_early_end(container, stream, clock)
    n_skipped = 0 if wanted.start is None or first is None else count_frames_before(path, first)
    return {"problem": problem, "notes": scaler.notes() + clock.notes(), "n_skipped": n_skipped}


def count_frames_before(path: str, seconds: float) -> int:
    """How many frames a film shows before a time: its packets are read, and not decoded."""
    count = 0
    with open_film(path) as container:
        stream = first_stream(container)
        unit, start = float(stream.time_base or 0), stream.start_time or 0
        latest = seconds - 0.1 / float(frame_rate_of(stream))  # half a frame would count one of another rate
        for packet in container.demux(stream):
            count += packet.pts is not None and 0 <= (packet.pts - start) * unit < latest
            if packet.dts is not None and (packet.dts - start) * unit > seconds:  # later ones are shown later
                break
    return count


def probe_film(channel: Channel, path: str) -> dict[str, Any]:
    """Return the frame rate of a film as a fraction, and the size at which it is shown."""
    with open_film(path) as container:
        stream = first_stream(container)
        first = next(container.decode(stream), None)
        if first is None:
            raise ValueError("the film has no frames.")
        size = stream.codec_context.width, stream.codec_context.height
        rate = frame_rate_of(stream)
        return {"rate": [rate.numerator, rate.denominator], "size": orientation_of(first).turn_size(size)}


def pick_frames(
    channel: Channel, path: str, times: list[float], size: tuple[int, int], seek_seconds: float
) -> None:
    """Send the frames nearest to some ascending times, in colour and no larger than `size`.

    If the film ends too early, fewer are sent.
    """
    with open_film(path) as container:
        stream = first_stream(container)
        half = 0.5 / float(frame_rate_of(stream))
        frames = _with_times(stream, container.decode(stream))
        frame = following = next(frames, None)
        for wanted in times:
            if frame is None or wanted - frame[0] > seek_seconds:
                frames = _with_times(stream, _frames_from(container, stream, wanted))
                frame = following = next(frames, None)
            while frame and following and abs(following[0] - wanted) <= abs(frame[0] - wanted):
                frame, following = following, next(frames, None)
            if frame is None or frame[0] < wanted - half:
                return
            channel.send_frame(wanted, _thumbnail(frame[1], size))


def _with_times(stream: VideoStream, frames: Iterator[VideoFrame]) -> Iterator[tuple[float, VideoFrame]]:
    """Yield frames with their times."""
    clock = Clock(stream)
    for frame in frames:
        yield clock.time_of(frame), frame


def _thumbnail(frame: VideoFrame, largest: tuple[int, int]) -> npt.NDArray[Any]:
    """Scale a frame down without distorting it, and turn it upright."""
    scale = min(largest[0] / frame.width, largest[1] / frame.height, 1)
    size = max(round(frame.width * scale), 1), max(round(frame.height * scale), 1)
    return orientation_of(frame).apply(frame.reformat(*size, "rgb24").to_ndarray())


@contextmanager
def open_film(path: str | Path) -> Iterator[InputContainer]:
    """Open a film such that FFmpeg sees only its bytes and cannot open any other file.

    Given the name ``concat:other.mp4``, FFmpeg would open the other file.
    """
    av = import_optional("av", "reading video")
    # PyAV 19 accepts metadata in any encoding and no longer has the option.
    lenient: dict[str, Any] = {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}
    with _Film(path) as file:
        container = av.open(
            file,
            mode="r",
            buffer_size=BUFFER_BYTES,
            io_open=_refuse_other_files,
            options={"max_pixels": str(MAX_PIXELS)},
            **lenient,
        )
        with container:
            yield container


class _Film(FileIO):
    """The bytes of a film; to read them is progress."""

    def read(self, size: int | None = -1, /) -> Any:
        """Read bytes."""
        beat()
        return super().read(size)


def _refuse_other_files(url: str, flags: int, options: dict[str, str]) -> Any:
    """Prevent playlists and the like from opening other files or the network."""
    raise ValueError(f"it refers to another file or address ({url}), which is not opened.")


def first_stream(container: InputContainer) -> VideoStream:
    """Return the video stream to decode, with memory for its frames."""
    if not container.streams.video:
        raise ValueError("the file has no video stream.")
    stream = container.streams.video[0]
    width, height = stream.codec_context.width, stream.codec_context.height
    if width * height > MAX_PIXELS or width < 1 or height < 1:
        raise ValueError(f"frames must have 1 to {MAX_PIXELS} pixels; got {width} x {height}.")
    limit_memory(BASE_MEMORY + MOST_FRAMES * BYTES_PER_PIXEL * width * height)
    stream.thread_type = "AUTO"
    return stream


def frame_rate_of(stream: VideoStream) -> Fraction:
    """Frames per second of a film."""
    return Fraction(stream.average_rate or stream.guessed_rate or DEFAULT_RATE)


def _frames_from(container: InputContainer, stream: VideoStream, seconds: float) -> Iterator[VideoFrame]:
    """The frames from a key frame before a time on.

    In some containers, such as MPEG transport streams, FFmpeg goes to the one after it: then further back.
    """
    for target in (seconds, seconds - 10, seconds - 60, 0.0):
        if stream.time_base is not None:
            container.seek((stream.start_time or 0) + int(max(target, 0) / stream.time_base), stream=stream)
        frames = container.decode(stream)
        first = next(frames, None)
        if target <= 0 or (first is not None and Clock(stream).time_of(first) <= seconds):
            break
    return chain([] if first is None else [first], frames)


def selected_frames(
    container: InputContainer, stream: VideoStream, clock: Clock, wanted: Selection
) -> Iterator[tuple[float, VideoFrame]]:
    """Yield the time and the frame for every stride-th frame in the chosen time range."""
    start = wanted.start
    frames = container.decode(stream) if start is None else _frames_from(container, stream, start)
    n_inside = 0
    for frame in frames:
        time = clock.time_of(frame)
        if wanted.stop is not None and time >= wanted.stop:
            return
        if start is not None and time < start:
            continue
        if n_inside % wanted.stride == 0:
            yield time, frame
        n_inside += 1


class Clock:
    """Times of frames: their time stamps from the start of the stream, or counted if they have none."""

    def __init__(self, stream: VideoStream) -> None:
        self.n_frames = 0
        self.end = 0.0  # seconds; the last frame is taken to last as long as the one before it
        self.longest = 0.0  # seconds between two frames
        self._latest = 0.0
        self._n_unstamped = 0
        self.rate = float(frame_rate_of(stream))
        self._start = float((stream.start_time or 0) * (stream.time_base or 0))

    def time_of(self, frame: VideoFrame) -> float:
        """Return the time of the next frame in seconds."""
        self.n_frames += 1
        if frame.pts is None:
            self._n_unstamped += 1
            time = (self.n_frames - 1) / self.rate
        else:
            time = float(frame.time) - self._start
        duration = time - self._latest if self.n_frames > 1 else 1 / self.rate
        self.longest = max(self.longest, duration)
        self.end, self._latest = max(self.end, time + duration), time
        return time

    def notes(self) -> list[str]:
        """Say how the times differ from those in the file."""
        notes = []
        if self._start:
            notes.append(f"times start at the first frame, which the file puts at {self._start:g} s")
        if self._n_unstamped:
            notes.append(
                f"{count_of(self._n_unstamped, 'frame')} without a time stamp: their times assume "
                f"{self.rate:g} frames per second"
            )
        return notes


@dataclass(frozen=True)
class Orientation:
    """How frames have to be turned to be shown: cameras store them as the sensor sees them.

    Parameters
    ----------
    transposed : bool
        Swap rows and columns first.
    mirrored : bool
        Then reverse every row.
    flipped : bool
        Then reverse the order of the rows.
    """

    transposed: bool = False
    mirrored: bool = False
    flipped: bool = False

    def turn_size(self, size: tuple[int, int]) -> tuple[int, int]:
        """Width and height of a frame after, or before, it is turned."""
        return (size[1], size[0]) if self.transposed else size

    def apply(self, pixels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Turn a frame of shape (height, width) or (height, width, 3)."""
        turned = pixels.swapaxes(0, 1) if self.transposed else pixels
        return turned[:: -1 if self.flipped else 1, :: -1 if self.mirrored else 1]

    @property
    def description(self) -> str:
        """What is done, in words."""
        angle = {
            (True, False, True): "rotated by 90 degrees",
            (False, True, True): "rotated by 180 degrees",
            (True, True, False): "rotated by 270 degrees",
        }
        return angle.get((self.transposed, self.mirrored, self.flipped), "mirrored")


UPRIGHT = Orientation()


def orientation_of(frame: VideoFrame) -> Orientation:
    """Read the orientation from the display matrix, rounded to quarter turns."""
    matrix: Any = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return UPRIGHT
    # A pixel at (x, y) is shown at (a x + c y, b x + d y).
    a, b, _, c, d = np.frombuffer(bytes(matrix), np.int32)[:5].tolist()
    if abs(a) < abs(b):
        return Orientation(transposed=True, mirrored=c < 0, flipped=b < 0)
    return Orientation(mirrored=a < 0, flipped=d < 0)


class Scaler:
    """Scales, rotates and flattens frames; one for all frames, because it is expensive to make."""

    def __init__(self, wanted: Selection) -> None:
        from av.video.reformatter import VideoReformatter

        self._wanted = wanted
        self._reformatter: VideoReformatter = VideoReformatter()
        self._orientations: dict[int, Orientation] = {}  # by angle, which is found much faster
        self._n_corrupt = 0

    def scale(self, frame: VideoFrame) -> npt.NDArray[Any]:
        """Return a small picture, upright."""
        self._n_corrupt += bool(frame.is_corrupt)
        orientation = self._orientation(frame)
        width, height = orientation.turn_size(self._wanted.size)
        small = self._reformatter.reformat(frame, width, height, self._wanted.pixel_format)
        pixels = small.to_ndarray()
        if orientation != UPRIGHT:
            pixels = orientation.apply(pixels)
        return pixels.astype(np.uint8, copy=False)

    def _orientation(self, frame: VideoFrame) -> Orientation:
        """The orientation of a frame; it is looked up once for every angle."""
        if frame.rotation not in self._orientations:
            self._orientations[frame.rotation] = orientation_of(frame)
        return self._orientations[frame.rotation]

    def notes(self) -> list[str]:
        """Say whether frames were turned, and how many are damaged."""
        turned = {orientation for orientation in self._orientations.values() if orientation != UPRIGHT}
        ways = sorted(orientation.description for orientation in turned)
        notes = [f"frames were {way}, as the file says" for way in ways]
        if self._n_corrupt:
            notes.append(f"the decoder concealed errors in {count_of(self._n_corrupt, 'frame')}")
        return notes


def _announced_seconds(container: InputContainer, stream: VideoStream) -> float:
    """Return the duration according to the header, the longest if it gives several, 0 if it gives none.

    For some damaged files FFmpeg corrects the duration to what is there, but not the number of frames.
    """
    claims = [0.0]
    if stream.duration is not None and stream.time_base is not None:
        claims.append(float(stream.duration * stream.time_base))
    if stream.frames and stream.average_rate:
        claims.append(float(stream.frames / stream.average_rate))
    if container.duration is not None and len(container.streams) == 1:
        claims.append(container.duration / 1e6)  # microseconds, of the longest stream
    return max(claims)


def _describe_early_end(container: InputContainer, stream: VideoStream, clock: Clock) -> str:
    """Say by how much the film is shorter than its header says; nothing if it is complete."""
    announced = _announced_seconds(container, stream)
    lost = announced - clock.end
    if lost > max(MAX_LOST_SHARE * announced, MAX_LOST_FRAMES * clock.longest):
        return f"the header says {announced:.3g} s, but the frames end after {clock.end:.3g} s"
    return ""
