"""Video, read by PyAV (FFmpeg): frames are decoded one by one, and only the scaled-down ones are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqspan._core.checks import check_choice
from seqspan._core.extras import import_optional
from seqspan._core.text import count_of
from seqspan.readers._errors import DAMAGED_CHOICES, KEEP_DAMAGED
from seqspan.readers._frames import FrameOptions, Pixels, RowStore, frames_to_recording
from seqspan.readers._limits import MAX_PIXELS
from seqspan.readers._registry import Reader
from seqspan.recording import Recording

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
EXTENSIONS = (
    *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".m2ts", ".mts", ".wmv"),
    *(".flv", ".ogv", ".ogg", ".3gp", ".mxf", ".vob", ".y4m", ".ivf", ".h264", ".h265", ".asf"),
)


@dataclass(frozen=True)
class VideoOptions(FrameOptions):
    """Which frames of a film are read, and how.

    Parameters
    ----------
    size, colour, stride
        As for images.
    start, stop : float, optional
        Time range in seconds, without `stop` itself.
    damaged : {"error", "keep"}
        Whether a film that ends early is an error, or is read up to there.
    """

    start: float | None = None
    stop: float | None = None
    damaged: str = "error"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("damaged", self.damaged, DAMAGED_CHOICES)
        if self.start is not None and self.stop is not None and self.stop <= self.start:
            raise ValueError(f"stop must be after start; got start={self.start}, stop={self.stop}.")

    @property
    def whole(self) -> bool:
        """Whether no time range is chosen."""
        return self.start is None and self.stop is None


def load_video(path: Path, options: VideoOptions, max_bytes: int) -> Recording:
    """Read a film into rows of pixels."""
    with open_film(path) as container:
        return _read_container(container, options, max_bytes)


@contextmanager
def open_film(path: str | Path) -> Iterator[InputContainer]:
    """Open a film such that FFmpeg sees only its bytes and cannot open any other file.

    Given the name ``concat:other.mp4``, FFmpeg would open the other file.
    """
    av = import_optional("av", "reading video")
    # PyAV 19 accepts metadata in any encoding and no longer has the option.
    lenient: dict[str, Any] = {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}
    with Path(path).open("rb") as file:
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


def _refuse_other_files(url: str, flags: int, options: dict[str, str]) -> Any:
    """Prevent playlists and the like from opening other files or the network."""
    raise ValueError(f"it refers to another file or address ({url}), which is not opened.")


def _read_container(container: InputContainer, options: VideoOptions, max_bytes: int) -> Recording:
    """Decode, scale and collect the frames of the first video stream."""
    if not container.streams.video:
        raise ValueError("the file has no video stream.")
    stream = container.streams.video[0]
    _check_frame_size(stream)
    stream.thread_type = "AUTO"
    store = RowStore(int(np.prod(options.shape)), max_bytes)
    clock = Clock(stream)
    times: list[float] = []
    scaler = _Scaler(options)
    problem = ""
    try:
        for time, frame in _selected(container, stream, clock, options):
            store.append(scaler.scale(frame))
            times.append(time)
    except OSError as error:  # depending on their code, FFmpeg's errors are OSErrors or ValueErrors
        problem = f"decoding stopped after {clock.n_frames} frames: {error.strerror}"
    except ValueError as error:
        problem = f"decoding stopped after {clock.n_frames} frames: {error}"
    notes = _note_damage(problem or _describe_early_end(container, stream, clock, options), options)
    rows, storage_notes = store.finish()
    if times != sorted(times):
        # AVI stamps packets in decoding order, but frames arrive in display order: sorting is correct.
        times.sort()
        notes.append("time stamps were out of order and have been sorted")
    notes += scaler.notes() + clock.notes() + storage_notes
    return frames_to_recording(rows, options, times, "s", notes)


def _check_frame_size(stream: VideoStream) -> None:
    """Refuse frames that are too large, before the decoder allocates the first one."""
    width, height = stream.codec_context.width, stream.codec_context.height
    if width * height > MAX_PIXELS or width < 1 or height < 1:
        raise ValueError(f"frames must have 1 to {MAX_PIXELS} pixels; got {width} x {height}.")


def _selected(
    container: InputContainer, stream: VideoStream, clock: Clock, options: VideoOptions
) -> Iterator[tuple[float, VideoFrame]]:
    """Yield the time and the frame for every stride-th frame in the chosen time range."""
    if options.start is not None and stream.time_base is not None:
        first = stream.start_time or 0
        container.seek(first + int(options.start / stream.time_base), stream=stream)
    n_inside = 0
    for frame in container.decode(stream):
        time = clock.time_of(frame)
        if options.stop is not None and time >= options.stop:
            return
        if options.start is not None and time < options.start:
            continue
        if n_inside % options.stride == 0:
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
        self.rate = float(stream.average_rate or stream.guessed_rate or DEFAULT_RATE)
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


class _Scaler:
    """Scales, rotates and flattens frames; one for all frames, because it is expensive to make."""

    def __init__(self, options: FrameOptions) -> None:
        from av.video.reformatter import VideoReformatter

        self._options = options
        self._reformatter: VideoReformatter = VideoReformatter()
        self._orientations: set[Orientation] = set()
        self._n_corrupt = 0

    def scale(self, frame: VideoFrame) -> Pixels:
        """Return one row of pixels, of shape (height * width * channels,)."""
        self._n_corrupt += bool(frame.is_corrupt)
        orientation = orientation_of(frame)
        width, height = orientation.turn_size(self._options.size)
        small = self._reformatter.reformat(frame, width, height, self._options.pixel_format)
        pixels = small.to_ndarray()
        if orientation != UPRIGHT:
            self._orientations.add(orientation)
            pixels = orientation.apply(pixels)
        return pixels.reshape(-1).astype(np.uint8, copy=False)

    def notes(self) -> list[str]:
        """Say whether frames were turned, and how many are damaged."""
        ways = sorted(orientation.description for orientation in self._orientations)
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


def _describe_early_end(
    container: InputContainer, stream: VideoStream, clock: Clock, options: VideoOptions
) -> str:
    """Say by how much the film is shorter than its header says; nothing if it is complete."""
    announced = _announced_seconds(container, stream)
    lost = announced - clock.end
    if options.whole and lost > max(MAX_LOST_SHARE * announced, MAX_LOST_FRAMES * clock.longest):
        return f"the header says {announced:.3g} s, but the frames end after {clock.end:.3g} s"
    return ""


def _note_damage(problem: str, options: VideoOptions) -> list[str]:
    """Raise if the film is damaged, or note it if the user wants what is there."""
    if problem and options.damaged == "error":
        raise ValueError(f"the video is incomplete: {problem}; {KEEP_DAMAGED}")
    return [problem] if problem else []


def looks_like_video(head: bytes) -> bool:
    """Recognise the common containers by their magic bytes."""
    starts = (
        b"\x1aE\xdf\xa3",  # Matroska, WebM
        b"OggS",
        b"FLV",
        b"\x00\x00\x01\xba",  # MPEG program stream
        b"\x00\x00\x01\xb3",  # MPEG elementary stream
        b"\x00\x00\x00\x01",  # H.264, H.265 elementary stream
        b"0&\xb2u\x8ef\xcf\x11",  # ASF (Windows Media)
        b"\x06\x0e+4",  # MXF
        b"YUV4MPEG2",
        b"DKIF",  # IVF
    )
    boxes = (b"ftyp", b"moov", b"mdat", b"free", b"wide", b"skip")
    transport = head[:1] == b"G" and head[188:189] == b"G"
    bluray = head[4:5] == b"G" and head[196:197] == b"G"
    riff = head[:4] == b"RIFF" and head[8:12] == b"AVI "
    return head.startswith(starts) or head[4:8] in boxes or riff or transport or bluray


READERS = (
    Reader(
        name="video",
        title="a video",
        extensions=EXTENSIONS,
        options=VideoOptions,
        load=load_video,
        matches=looks_like_video,
    ),
)
