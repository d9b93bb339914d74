"""Films and pictures: the right pixels, at the right times, the right way up."""

from __future__ import annotations

import struct
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from tests.readers.samples import frames, write_gif, write_tiff, write_video

from seqspan.readers import read
from seqspan.readers._frames import RowStore
from seqspan.readers.images import natural_key
from seqspan.recording import FrameView

# MPEG-4 at default quality; a wrong frame, a turn or a shift of the square is off by 40 and more on average
CODEC_ERROR = 4.0


def mean_error(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one.astype(float) - other.astype(float)).mean())


@pytest.mark.data
def test_frames_equal_those_stored_by_plain_pyav(data_dir):
    recording = read(data_dir / "video_bbb" / "big_buck_bunny_first60s.mp4")
    stored = np.load(data_dir / "video_bbb" / "bbb_clipA_gray96x129.npz")["frames"]
    assert recording.X.shape == (1440, 12384)
    assert recording.X.dtype == np.uint8
    # PyAV 16 scales 0.3 % of the pixels to one grey less than later versions
    np.testing.assert_allclose(recording.view.pixels[200:500].astype(int), stored, rtol=0, atol=1)
    assert recording.times[24] == pytest.approx(1.0)


def test_own_size_gives_the_pictures_back(tmp_path):
    write_video(tmp_path / "film.mp4")
    recording = read(tmp_path / "film.mp4", size=(64, 48))
    assert isinstance(recording.view, FrameView)
    for index, picture in enumerate(frames()):
        assert mean_error(recording.view.sample(index), picture) < CODEC_ERROR
    assert recording.feature_names[65] == "1,1"


def test_variable_frame_rates_keep_their_time_stamps(tmp_path):
    stamps = [0, 3, 4, 11, 12, 13, 40, 41, 55, 56, 80, 81]
    write_video(tmp_path / "film.mp4", pts=stamps)
    assert np.allclose(read(tmp_path / "film.mp4").times, np.array(stamps) / 100)


def test_a_title_in_another_encoding_is_no_damage(tmp_path):
    path = tmp_path / "film.mkv"
    write_video(path)
    content = path.read_bytes()
    assert b"Lavf" in content  # the writer's name, the only text in the file
    path.write_bytes(content.replace(b"Lavf", b"\xe9\xe8\xff\xfe"))
    assert len(read(path)) == len(frames())


def test_avi_with_frames_out_of_order_has_ascending_times(tmp_path):
    path = tmp_path / "film.avi"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10, width=64, height=48, pix_fmt="yuv420p")
        stream.codec_context.max_b_frames = 2
        for k in range(30):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 8 * k, np.uint8), "rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    recording = read(path)
    np.testing.assert_allclose(np.diff(recording.times), 0.1)
    assert "time stamps were out of order and have been sorted" in recording.notes
    assert np.all(np.diff(recording.X.mean(axis=1, dtype=float)) >= 0)  # shown in order: never darker


def test_start_stop_and_stride_choose_frames_by_their_times(tmp_path):
    write_video(tmp_path / "film.mp4")
    whole = read(tmp_path / "film.mp4")
    part = read(tmp_path / "film.mp4", start=0.25, stop=1.0, stride=3)
    assert np.allclose(part.times, [0.3, 0.6, 0.9])
    assert np.array_equal(part.X, whole.X[[3, 6, 9]])
    assert part.rows.tolist() == [3, 6, 9]


@pytest.mark.parametrize("name", ["film.mp4", "film.mkv", "film.ts", "film.avi"])
def test_frames_are_those_of_the_film_wherever_reading_starts(tmp_path, name):
    rng = np.random.default_rng(0)
    with av.open(str(tmp_path / name), "w") as container:
        stream = container.add_stream("libx264", rate=10, width=64, height=48, pix_fmt="yuv420p")
        stream.codec_context.max_b_frames, stream.codec_context.gop_size = 2, 12
        for k in range(60):
            frame = av.VideoFrame.from_ndarray(rng.integers(0, 255, (48, 64, 3), np.uint8), "rgb24")
            frame.pts = k if name == "film.avi" else k + (k > 15) * (k // 2)  # the rate varies
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    whole = read(tmp_path / name)
    part = read(tmp_path / name, start=whole.times[35] - 0.01)
    assert part.rows.tolist() == list(range(35, 60))
    assert np.array_equal(part.X, whole.X[35:])


def test_skipped_frames_are_noted_with_the_precision_that_is_left(tmp_path):
    write_video(tmp_path / "film.mp4")  # 10 frames per second
    recording = read(tmp_path / "film.mp4", stride=5)
    assert recording.notes[-1] == "read one frame in 5, so a boundary can be late by up to 4 frames (0.4 s)"
    assert recording.rows.tolist() == list(range(0, 5 * len(recording), 5))
    assert not any("was read, so" in note for note in read(tmp_path / "film.mp4").notes)


def test_colour_has_three_values_per_pixel(tmp_path):
    write_video(tmp_path / "film.mp4")
    recording = read(tmp_path / "film.mp4", colour=True, size=(64, 48))
    assert recording.view.sample(0).shape == (48, 64, 3)
    # Grey pictures have three channels alike, up to the rounding of the conversion.
    assert np.ptp(recording.view.sample(0).astype(int), axis=2).max() <= 3


@pytest.mark.parametrize(("matrix", "turns"), [((0, 1, -1, 0), 3), ((-1, 0, 0, -1), 2), ((0, -1, 1, 0), 1)])
def test_rotation_metadata_turns_the_frames(tmp_path, matrix, turns):
    path = tmp_path / "film.mp4"
    write_video(path)
    content = bytearray(path.read_bytes())
    a, b, c, d = (value << 16 for value in matrix)
    place = content.index(b"tkhd") + 4 + 40  # version and flags to the matrix, in a header of version 0
    content[place : place + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(content)
    upright = np.rot90(frames()[5], turns)
    recording = read(path, size=upright.shape[::-1])
    assert mean_error(recording.view.sample(5), upright) < CODEC_ERROR
    assert any("rotated" in note for note in recording.notes)


def test_a_film_that_breaks_off_is_an_error_unless_asked_for(tmp_path):
    path = tmp_path / "film.avi"
    write_video(path, frames(60, 48, 256))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"film\.avi: the video is incomplete: .*; pass damaged='keep'"):
        read(path)
    kept = read(path, damaged="keep")
    assert 0 < len(kept) < 60
    assert any("the header says" in note or "decoding stopped" in note for note in kept.notes)


def test_a_playlist_does_not_open_other_files(tmp_path):
    write_video(tmp_path / "secret.mp4")
    path = tmp_path / "film.mp4"
    path.write_text(
        f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{tmp_path}/secret.mp4\n#EXT-X-ENDLIST\n"
    )
    for options in ({}, {"format": "video"}):
        with pytest.raises((ValueError, OSError), match=r"film\.mp4"):
            read(path, **options)


def test_sound_alone_is_no_video(tmp_path):
    import av

    path = tmp_path / "song.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44100, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
        frame.rate = 44100
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with pytest.raises(ValueError, match=r"song\.mp4: the file has no video stream"):
        read(path)


def test_folders_are_read_in_the_order_of_the_numbers_in_their_names(tmp_path):
    for number, picture in enumerate(frames()):
        Image.fromarray(picture).save(tmp_path / f"frame{number}.png")
    recording = read(tmp_path, size=(64, 48))
    assert np.array_equal(recording.view.pixels, frames())
    assert recording.time_unit == "sample"
    assert recording.notes[0] == "12 files, sorted by name (numbers by value)"


@pytest.mark.parametrize(("write", "name"), [(write_gif, "film.gif"), (write_tiff, "film.tif")])
def test_files_of_many_pictures(tmp_path, write, name):
    write(tmp_path / name)
    recording = read(tmp_path / name, size=(64, 48), stride=2)
    # A GIF keeps 256 colours, which is every grey.
    assert np.array_equal(recording.view.pixels, frames()[::2])
    assert np.allclose(recording.times[:3], [0, 0.08, 0.16] if name == "film.gif" else [0, 2, 4])


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (np.linspace(0, 0.75, 12, dtype=np.float32), "0 to 0.75"),
        (np.linspace(0, 300, 12, dtype=np.float32), "0 to 300"),
        (np.linspace(-1, 200, 12, dtype=np.float32), "-1 to 200"),
        (np.arange(250, 262, dtype=np.int32), "250 to 261"),
        (np.full(12, np.nan, np.float32), "nan to nan"),
    ],
)
def test_pixels_that_would_be_cut_off_are_refused(tmp_path, values, shown):
    Image.fromarray(values.reshape(3, 4)).save(tmp_path / "deep.tif")
    with pytest.raises(ValueError, match=rf"must be grey levels from 0 to 255; got {shown}"):
        read(tmp_path / "deep.tif")


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_grey_levels_of_any_type_are_read(tmp_path, dtype):
    for number, level in enumerate([0, 1, 255]):
        Image.fromarray(np.full((3, 4), level, dtype)).save(tmp_path / f"{number}.tif")
    assert read(tmp_path, format="images", size=(4, 3)).X[:, 0].tolist() == [0, 1, 255]


def test_deep_pictures_are_brought_to_bytes(tmp_path):
    deep = (frames()[0].astype(np.uint16) * 257).astype(np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    assert np.array_equal(read(tmp_path / "deep.png", size=(64, 48)).view.sample(0), frames()[0])


def test_many_rows_move_to_a_mapped_file():
    rows = np.random.default_rng(0).integers(0, 256, (50, 8), dtype=np.uint8)
    store = RowStore(8, limit=1000, memory_bytes=100)
    for row in rows:
        store.append(row)
    kept, notes = store.finish()
    assert isinstance(kept, np.memmap)
    assert np.array_equal(kept, rows)
    assert "mapped" in notes[0]


@pytest.mark.parametrize(
    "options", [{"size": (0, 5)}, {"stride": 0}, {"damaged": "maybe"}, {"start": 2, "stop": 1}]
)
def test_options_out_of_range_say_what_is_needed(tmp_path, options):
    write_video(tmp_path / "film.mp4")
    with pytest.raises(ValueError, match=r"film\.mp4: (size|stride|damaged|stop) must .*; got"):
        read(tmp_path / "film.mp4", **options)


def test_pictures_with_the_same_number_have_an_order():
    names = ["f01.png", "f1.png", "F1.png", "f2.png", "f10.png"]
    for given in (names, names[::-1]):
        assert [each.name for each in sorted(map(Path, given), key=natural_key)] == [
            "F1.png",
            *names[:2],
            *names[3:],
        ]
