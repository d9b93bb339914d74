"""One film per span: every frame in its own span, at its own time, shown as in the whole film."""

from __future__ import annotations

import struct
from fractions import Fraction

import av
import numpy as np
import pytest
from tests.films import mean_greys

from seqspan import read
from seqspan._core.spans import make_spans
from seqspan.exports import make_timeline, split_video

MILLISECOND = Fraction(1, 1000)
# 25, 5 and 50 frames per second, as of a telephone in changing light
STAMPS = [*range(0, 1200, 40), *range(1200, 7200, 200), *range(7200, 7820, 20)]
STARTS = np.array([30, 60])


def write_film(path, stamps=STAMPS, codec="libx264", size=(64, 48), draw=None, **tags):
    """Frame i has the grey level 2 i, or what is drawn; only the first is a key frame."""
    with av.open(str(path), "w") as film:
        options = {"crf": "1", "sc_threshold": "0"} if codec == "libx264" else {"qscale": "1"}
        stream = film.add_stream(codec, rate=25, options=options | {"g": "250"})
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.codec_context.time_base = MILLISECOND
        for name, value in tags.items():
            setattr(stream.codec_context, name, value)
        for number, stamp in enumerate(stamps):
            pixels = np.full((size[1], size[0], 3), 2 * number, np.uint8) if draw is None else draw(number)
            frame = av.VideoFrame.from_ndarray(pixels, "rgb24")
            frame = frame.reformat(format="yuv420p", dst_colorspace=tags.get("colorspace"))
            frame.pts, frame.time_base = stamp, MILLISECOND
            film.mux(stream.encode(frame))
        film.mux(stream.encode(None))
    return path


def split(path, starts=STARTS, **options):
    recording = read(path, **options)
    spans = make_spans(np.arange(len(starts) + 1).repeat(np.diff([0, *starts, len(recording)])), starts,
                       recording.times)  # fmt: skip
    return [path.parent / file.name for file in split_video(make_timeline(recording, spans), path.parent)]


def times_of(path):
    with av.open(str(path)) as film:
        return [float(frame.time) for frame in film.decode(video=0)]


def seconds_of(path):
    with av.open(str(path)) as film:
        return float(film.streams.video[0].duration * film.streams.video[0].time_base)


@pytest.mark.parametrize(("ending", "codec"), [(".mp4", "libx264"), (".mkv", "libx264"), (".mov", "mpeg4")])
def test_frames_of_a_variable_rate_keep_their_times(tmp_path, ending, codec):
    path = write_film(tmp_path / f"film{ending}", codec=codec)
    parts = split(path)
    assert [seconds_of(part) for part in parts] == pytest.approx([1.20, 6.00, 0.62], abs=0.021)
    whole = mean_greys(path)
    for part, start, end in zip(parts, [0, *STARTS], [*STARTS, len(STAMPS)], strict=True):
        stamps = np.array(STAMPS[start:end]) / 1000
        assert times_of(part) == pytest.approx(stamps - stamps[0], abs=2e-3)
        np.testing.assert_allclose(mean_greys(part), whole[start:end], atol=1.5)


def test_a_stride_loses_no_frames(tmp_path):
    path = write_film(tmp_path / "film.mp4")
    parts = split(path, np.array([10, 20]), stride=3)
    assert [len(times_of(part)) for part in parts] == [30, 30, 31]


def test_frames_stamped_in_the_order_of_decoding_stay_in_their_spans(tmp_path):
    path = write_film(tmp_path / "film.avi", range(0, 3600, 40))
    notes = read(path).notes
    assert "time stamps were out of order and have been sorted" in notes
    whole = mean_greys(path)
    parts = split(path)
    greys = [mean_greys(part) for part in parts]
    assert [len(part) for part in greys] == [30, 30, 30]
    np.testing.assert_allclose(np.concatenate(greys), whole, atol=1.5)


def turn(path, matrix):
    """Write a display matrix into the header of a film."""
    content = bytearray(path.read_bytes())
    a, b, c, d = (value << 16 for value in matrix)
    place = content.index(b"tkhd") + 4 + 40  # version and flags to the matrix, in a header of version 0
    content[place : place + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(content)


def draw_corner(number):
    """A bright corner that no rotation or reflection leaves in place."""
    pixels = np.full((48, 64, 3), 20 + number // 4, np.uint8)
    pixels[:12, :32] = 240
    return pixels


def shown(path):
    """Grey levels of the first and the last frame, turned by an oracle: where a pixel (x, y) is shown."""
    with av.open(str(path)) as film:
        frames = list(film.decode(video=0))
    matrix = frames[0].side_data.get("DISPLAYMATRIX")
    a, b, c, d = (1, 0, 0, 1)
    if matrix is not None:
        values = np.frombuffer(bytes(matrix), np.int32) // 2**16
        a, b, c, d = values[[0, 1, 3, 4]].tolist()
    turned = []
    for frame in (frames[0], frames[-1]):
        pixels = frame.to_ndarray(format="gray")
        y, x = np.indices(pixels.shape)
        to_x, to_y = a * x + c * y, b * x + d * y
        picture = np.empty((np.ptp(to_y) + 1, np.ptp(to_x) + 1), np.uint8)
        picture[to_y - to_y.min(), to_x - to_x.min()] = pixels
        turned.append(picture.astype(float))
    return turned


@pytest.mark.parametrize("matrix", [(0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0), (1, 0, 0, -1)])
def test_every_part_is_shown_the_same_way_up(tmp_path, matrix):
    path = write_film(tmp_path / "film.mp4", draw=draw_corner)
    turn(path, matrix)
    first, last = shown(path)
    parts = split(path)
    for part in parts:
        assert shown(part)[0].shape == first.shape
    assert np.abs(shown(parts[0])[0] - first).mean() < 3
    assert np.abs(shown(parts[-1])[-1] - last).mean() < 3
    timeline = make_timeline(read(path), [])
    assert timeline.size == first.shape[::-1]
    small = read(path, size=timeline.size)
    assert np.abs(small.view.sample(0) - first).mean() < 3
    assert any("as the file says" in note for note in small.notes)


def test_a_copied_part_keeps_its_rotation(tmp_path):
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w") as film:
        stream = film.add_stream("mpeg4", rate=25, options={"g": "1", "qscale": "1"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(20):
            film.mux(stream.encode(av.VideoFrame.from_ndarray(draw_corner(number), "rgb24")))
        film.mux(stream.encode(None))
    turn(path, (0, 1, -1, 0))
    recording = read(path)
    spans = make_spans(np.repeat([0, 1], 10), np.array([10]), recording.times)
    files = split_video(make_timeline(recording, spans), tmp_path)
    assert [file.copied for file in files] == [True, True]
    assert np.abs(shown(tmp_path / files[1].name)[-1] - shown(path)[-1]).mean() < 1


@pytest.mark.parametrize(
    "tags",
    [
        {"colorspace": 1, "color_primaries": 1, "color_trc": 1, "color_range": 1},
        {"colorspace": 5, "color_range": 2},
        {"sample_aspect_ratio": Fraction(4, 3)},
    ],
)
def test_colours_and_the_shape_of_pixels_stay(tmp_path, tags):
    def look(path):
        with av.open(str(path)) as film:
            first = next(film.decode(video=0)).to_ndarray(format="rgb24")
            context = film.streams.video[0].codec_context
            return first.reshape(-1, 3).mean(0), {name: getattr(context, name) for name in tags}

    path = write_film(
        tmp_path / "film.mp4", draw=lambda _: np.full((48, 64, 3), [200, 60, 30], np.uint8), **tags
    )
    colour, said = look(path)
    assert said == tags
    for part in split(path):
        found = look(part)
        assert found[1] == tags
        np.testing.assert_allclose(found[0], colour, atol=3)
