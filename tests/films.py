"""Short films for the tests of exports and reports, whose frames can be told apart by their brightness."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

N_FRAMES, KEYS = 60, (0, 20, 40)
CONTAINERS = {".mp4": "mp4", ".mkv": "matroska", ".ts": "mpegts"}


def write_film(path: Path, rate: Fraction = Fraction(24), sound: bool = False) -> Path:
    """Frame i has the grey level 4 i; the only key frames are at KEYS."""
    with av.open(str(path), "w", format=CONTAINERS.get(path.suffix)) as film:
        stream = film.add_stream("libx264", rate=rate, options={"crf": "1", "sc_threshold": "0", "g": "250"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        track = film.add_stream("aac", rate=44100, layout="mono") if sound else None
        for i in range(N_FRAMES):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 4 * i, np.uint8), "rgb24")
            frame.pict_type = av.video.frame.PictureType.I if i in KEYS else av.video.frame.PictureType.NONE
            film.mux(stream.encode(frame))
        film.mux(stream.encode(None))
        if track is not None:
            _add_sound(film, track, float(N_FRAMES / rate))
    return path


def _add_sound(film, stream, seconds: float) -> None:
    samples = np.sin(np.arange(int(44100 * seconds)) / 20).astype(np.float32)[None]
    for start in range(0, samples.shape[1], 1024):
        block = np.ascontiguousarray(samples[:, start : start + 1024])
        frame = av.AudioFrame.from_ndarray(block, "fltp", "mono")
        frame.sample_rate, frame.pts = 44100, start
        film.mux(stream.encode(frame))
    film.mux(stream.encode(None))


def write_plain_film(path: Path, n_frames: int, grey: int, size: tuple[int, int]) -> None:
    """All frames have the same grey level."""
    width, height = size
    with av.open(str(path), "w") as film:
        stream = film.add_stream("mpeg4", rate=24)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for _ in range(n_frames):
            pixels = np.full((height, width, 3), grey, np.uint8)
            film.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        film.mux(stream.encode(None))


def mean_greys(path: Path) -> list[float]:
    with av.open(str(path)) as film:
        return [float(frame.to_ndarray(format="gray").mean()) for frame in film.decode(video=0)]
