"""Video through FFmpeg: frames are decoded one after the other and only the reduced rows are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seqspan._core.extras import import_optional
from seqspan.readers._frames import FrameOptions, Pixels, RowStore, frame_sequence
from seqspan.readers._limits import MAX_PIXELS
from seqspan.readers._missing import require_choice
from seqspan.readers._registry import Reader
from seqspan.recording import Recording

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.reformatter import VideoReformatter
    from av.video.stream import VideoStream

BUFFER_BYTES = 2**18
LOST_SHARE, LOST_FRAMES = 0.02, 3  # edit lists and open GOPs hide a few of the frames at the ends
EXTENSIONS = (
    *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".m2ts", ".mts", ".wmv"),
    *(".flv", ".ogv", ".ogg", ".3gp", ".mxf", ".vob", ".y4m", ".ivf", ".h264", ".h265", ".asf"),
)
DAMAGE_CHOICES = ("error", "keep")


@dataclass(frozen=True)
class VideoOptions(FrameOptions):
    """What part of a film is read, and how.

    Parameters
    ----------
    size, colour, stride
        As for pictures.
    start, stop : float, optional
        Part of the film in seconds, stop exclusive.
    damaged : {"error", "keep"}
        Whether a film that breaks off is an error, or is read as far as it goes.
    """

    start: float | None = None
    stop: float | None = None
    damaged: str = "error"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("damaged", self.damaged, DAMAGE_CHOICES)
        if self.start is not None and self.stop is not None and self.stop <= self.start:
            raise ValueError(f"stop must lie after start; got start={self.start}, stop={self.stop}.")

    @property
    def whole(self) -> bool:
        """Whether every frame of the film is decoded."""
        return self.start is None and self.stop is None


def load_video(path: Path, options: VideoOptions, max_bytes: int) -> Recording:
    """Read a film into rows of pixels."""
    with open_film(path) as container:
        return _read_container(container, options, max_bytes)


@contextmanager
def open_film(path: str | Path) -> Iterator[InputContainer]:
    """Open a film by its bytes alone, so that neither its content nor its name leads FFmpeg anywhere else.

    FFmpeg takes a name such as ``concat:other.mp4`` for a protocol, and would open the other file.
    """
    av = import_optional("av", "reading video")
    # PyAV 19 takes metadata in any encoding without being asked, and knows the option no more
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
    """Keep playlists and the like from opening other files or the network."""
    raise ValueError(f"it refers to another file or address ({url}), which is not followed.")


def _read_container(container: InputContainer, options: VideoOptions, max_bytes: int) -> Recording:
    """Decode, reduce and collect the frames of the first video stream."""
    if not container.streams.video:
        raise ValueError("it holds no video stream.")
    stream = container.streams.video[0]
    _check_picture_size(stream)
    stream.thread_type = "AUTO"
    store = RowStore(int(np.prod(options.shape)), max_bytes)
    clock = _Clock(stream)
    times: list[float] = []
    reducer = _Reducer(options)
    problem = ""
    try:
        for time, frame in _selected(container, stream, clock, options):
            store.append(reducer.reduce(frame))
            times.append(time)
    except OSError as error:  # FFmpeg's errors are OSErrors or ValueErrors by their code
        problem = f"decoding stopped after {clock.n_frames} frames: {error.strerror}"
    except ValueError as error:
        problem = f"decoding stopped after {clock.n_frames} frames: {error}"
    notes = _damage_notes(problem or _early_end(container, stream, clock, options), options)
    rows, storage_notes = store.finish()
    if times != sorted(times):
        # AVI stamps packets in the order of decoding; frames come in that of showing, so that the same
        # stamps in ascending order are theirs
        times.sort()
        notes.append("time stamps were not in the order of the frames and have been sorted")
    return frame_sequence(rows, options, times, "s", notes + reducer.notes() + clock.notes() + storage_notes)


def _check_picture_size(stream: VideoStream) -> None:
    """Refuse pictures that would not fit before the decoder allocates the first of them."""
    width, height = stream.codec_context.width, stream.codec_context.height
    if width * height > MAX_PIXELS or width < 1 or height < 1:
        raise ValueError(
            f"its frames are {width} x {height} pixels; at least 1 and at most {MAX_PIXELS} fit."
        )


def _selected(
    container: InputContainer, stream: VideoStream, clock: _Clock, options: VideoOptions
) -> Iterator[tuple[float, VideoFrame]]:
    """Yield time and frame of the part that was asked for, every stride-th of it."""
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


class _Clock:
    """Times of frames: their own stamps from the start of the stream, or counted where they have none."""

    def __init__(self, stream: VideoStream) -> None:
        self.n_frames = 0
        self.end = 0.0  # of the latest frame, in seconds, which lasts as long as the one before it
        self.longest = 0.0  # distance of two frames
        self._latest = 0.0
        self._n_unstamped = 0
        self.rate = float(stream.average_rate or stream.guessed_rate or 25)
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
        """Say where times are not those of the file."""
        notes = []
        if self._start:
            notes.append(f"times count from the first frame, which the file stamps {self._start:g} s")
        if self._n_unstamped:
            notes.append(
                f"{self._n_unstamped} frames without a time stamp were timed at {self.rate:g} per second"
            )
        return notes


class _Reducer:
    """Scale, turn upright and flatten frames; one scaler for all, as making one is the dearer part."""

    def __init__(self, options: FrameOptions) -> None:
        from av.video.reformatter import VideoReformatter

        self._options = options
        self._scaler: VideoReformatter = VideoReformatter()
        self._rotations: set[int] = set()
        self._n_corrupt = 0

    def reduce(self, frame: VideoFrame) -> Pixels:
        """Return one row of pixels, of shape (height * width * channels,)."""
        self._n_corrupt += bool(frame.is_corrupt)
        quarter_turns = round(frame.rotation / 90) % 4
        width, height = self._options.size
        if quarter_turns % 2:
            width, height = height, width
        small = self._scaler.reformat(frame, width, height, self._options.pixel_format)
        picture = small.to_ndarray()
        if quarter_turns:
            self._rotations.add(90 * quarter_turns)
            picture = np.rot90(picture, quarter_turns)
        return picture.reshape(-1).astype(np.uint8, copy=False)

    def notes(self) -> list[str]:
        """Say which frames were turned, and which the decoder marked as damaged."""
        turned = [
            f"frames were turned by {angle} degrees, as the file asks" for angle in sorted(self._rotations)
        ]
        damaged = f"{self._n_corrupt} frames were decoded with errors that the decoder concealed"
        return turned + ([damaged] if self._n_corrupt else [])


def _promised_seconds(container: InputContainer, stream: VideoStream) -> float:
    """Return how long the header says that the frames go on; the longest claim, 0 where there is none.

    FFmpeg shortens the duration of some broken files to what they hold, but not their count of frames.
    """
    claims = [0.0]
    if stream.duration is not None and stream.time_base is not None:
        claims.append(float(stream.duration * stream.time_base))
    if stream.frames and stream.average_rate:
        claims.append(float(stream.frames / stream.average_rate))
    if container.duration is not None and len(container.streams) == 1:
        claims.append(container.duration / 1e6)  # FFmpeg's microseconds; of the longest stream, be it sound
    return max(claims)


def _early_end(container: InputContainer, stream: VideoStream, clock: _Clock, options: VideoOptions) -> str:
    """Compare where the frames end with how long the header says that they go on."""
    promised = _promised_seconds(container, stream)
    lost = promised - clock.end
    if options.whole and lost > max(LOST_SHARE * promised, LOST_FRAMES * clock.longest):
        return f"the header promises {promised:.3g} s, but the frames end after {clock.end:.3g} s"
    return ""


def _damage_notes(problem: str, options: VideoOptions) -> list[str]:
    """Raise on a damaged film, or note the damage where the user wants what there is."""
    if problem and options.damaged == "error":
        raise ValueError(f"expected a whole video, but {problem}; pass damaged='keep' to use what there is.")
    return [problem] if problem else []


def looks_like_video(head: bytes) -> bool:
    """Tell the common containers by their magic bytes."""
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
