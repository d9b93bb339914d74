"""Every export is opened by a reader of its format that is not ours."""

from __future__ import annotations

import csv
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import av
import numpy as np
import pympi
import pytest
from tests.films import CONTAINERS, N_FRAMES, mean_greys, write_film, write_plain_film

from seqspan import read
from seqspan._core.spans import Span
from seqspan._core.text import name_label, printable
from seqspan.exports import EXPORTS, Timeline, _split, check_export, make_timeline, split_video, write_export

CUTS = (0, 20, 45, 60)
HOSTILE = '<b>"it\'s"=;#\\ & 😀\x07.mp4'


def make_spans(rate: Fraction) -> list[Span]:
    pairs = zip(CUTS[:-1], CUTS[1:], (0, 1, 0), strict=True)
    return [Span(a, b, float(a / rate), float(b / rate), label, 0.5) for a, b, label in pairs]


def film_timeline(path: Path, rate: Fraction) -> Timeline:
    return make_timeline(read(path), make_spans(rate))


@pytest.fixture
def otio():
    import opentimelineio

    return opentimelineio


@pytest.fixture(params=[Fraction(24), Fraction(30000, 1001)], ids=["24", "29.97"])
def timeline(request, tmp_path):
    return film_timeline(write_film(tmp_path / "film.mp4", request.param), request.param)


@pytest.mark.otio
def test_edl_opens_in_opentimelineio(otio, timeline, tmp_path):
    write_export("edl", timeline, tmp_path / "spans.edl")
    nominal = round(timeline.rate)
    clips = list(otio.adapters.read_from_file(str(tmp_path / "spans.edl"), rate=nominal).find_clips())
    starts = [clip.source_range.start_time.to_frames() for clip in clips]
    lengths = [clip.source_range.duration.to_frames() for clip in clips]
    assert (starts, lengths) == ([0, 20, 45], [20, 25, 15])
    assert all(clip.name == "film.mp4" for clip in clips)


@pytest.mark.otio
@pytest.mark.parametrize(
    "rate", [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(25, 2), Fraction(2275, 197)]
)
def test_edl_of_a_film_without_a_whole_rate_is_timed_by_the_clock(otio, tmp_path, rate):
    spans = (Span(0, 3, 0.0, float(3 / rate), 0), Span(3, 7, float(3 / rate), float(7 / rate), 1))
    write_export("edl", Timeline("slow.mp4", "video", "s", spans, rate, (64, 48)), tmp_path / "spans.edl")
    clips = list(otio.adapters.read_from_file(str(tmp_path / "spans.edl"), rate=25).find_clips())
    starts = [clip.source_range.start_time.to_seconds() for clip in clips]
    assert starts == pytest.approx([0, float(3 / rate)], abs=0.02)
    assert clips[1].source_range.duration.to_seconds() == pytest.approx(float(4 / rate), abs=0.04)


@pytest.mark.otio
def test_otio_opens_in_opentimelineio(otio, timeline, tmp_path):
    write_export("otio", timeline, tmp_path / "spans.otio")
    opened = otio.adapters.read_from_file(str(tmp_path / "spans.otio"))
    clips = list(opened.find_clips())
    assert [clip.source_range.start_time.value for clip in clips] == [0, 20, 45]
    assert [clip.metadata["seqspan"]["label"] for clip in clips] == [0, 1, 0]
    assert clips[0].media_reference.target_url == Path(timeline.source).absolute().as_uri()
    assert opened.duration().value == N_FRAMES
    assert opened.duration().rate == pytest.approx(float(timeline.rate))


@pytest.mark.filterwarnings("ignore:Testing an element:DeprecationWarning")  # in the adapter
@pytest.mark.otio
def test_fcpxml_opens_in_opentimelineio(otio, timeline, tmp_path):
    write_export("fcpxml", timeline, tmp_path / "spans.fcpxml")
    root = ElementTree.parse(tmp_path / "spans.fcpxml").getroot()
    clips = root.findall(".//asset-clip")

    def seconds(text: str) -> Fraction:
        return Fraction(text.removesuffix("s"))

    assert [seconds(clip.get("start")) * timeline.rate for clip in clips] == [0, 20, 45]
    assert [seconds(clip.get("duration")) * timeline.rate for clip in clips] == [20, 25, 15]
    assert {clip.get("ref") for clip in clips} == {root.find(".//asset").get("id")}
    if timeline.rate == 24:  # the adapter knows whole rates
        project = otio.adapters.read_from_file(str(tmp_path / "spans.fcpxml"))
        assert len(list(project.find_children(descended_from_type=otio.schema.Clip))) == 3


def test_chapters_open_in_ffmpeg(timeline, tmp_path):
    write_export("chapters", timeline, tmp_path / "spans.ffmetadata")
    with av.open(str(tmp_path / "spans.ffmetadata"), format="ffmetadata") as container:
        chapters = container.chapters()
    starts = [float(chapter["start"] * chapter["time_base"]) for chapter in chapters]
    assert starts == pytest.approx([float(cut / timeline.rate) for cut in CUTS[:-1]], abs=1e-3)
    assert [chapter["metadata"]["title"] for chapter in chapters] == ["Scene A", "Scene B", "Scene A"]


def test_elan_opens_in_pympi(timeline, tmp_path):
    write_export("elan", timeline, tmp_path / "spans.eaf")
    document = pympi.Eaf(str(tmp_path / "spans.eaf"))
    found = document.get_annotation_data_for_tier("spans")
    wanted = [round(1000 * float(cut / timeline.rate)) for cut in CUTS]
    assert sorted(found) == [
        (wanted[0], wanted[1], "A"),
        (wanted[1], wanted[2], "B"),
        (wanted[2], wanted[3], "A"),
    ]


def test_seconds_count_from_the_first_sample(tmp_path):
    day = 1_700_000_000_000.0  # milliseconds since 1970
    spans = (Span(0, 5, day, day + 500, 0), Span(5, 9, day + 500, day + 900, 1))
    timeline = Timeline("log.csv", "table", "ms", spans)
    write_export("audacity", timeline, tmp_path / "labels.txt")
    np.testing.assert_allclose(np.loadtxt(tmp_path / "labels.txt", usecols=(0, 1)), [[0, 0.5], [0.5, 0.9]])
    write_export("elan", timeline, tmp_path / "spans.eaf")
    found = pympi.Eaf(str(tmp_path / "spans.eaf")).get_annotation_data_for_tier("spans")
    assert sorted(found) == [(0, 500, "A"), (500, 900, "B")]


def test_names_of_labels_appear_in_every_export(tmp_path):
    path = write_film(tmp_path / "film.mp4", Fraction(24))
    timeline = make_timeline(read(path), make_spans(Fraction(24)), ["opening; credits", ""])
    for name in ("edl", "otio", "fcpxml", "chapters", "elan", "audacity"):
        write_export(name, timeline, tmp_path / "export")
        text = (tmp_path / "export").read_text().replace("\\", "")
        assert text.count("opening; credits") == 2, name
    files = split_video(timeline, tmp_path)
    assert [file.name for file in files] == ["1_opening_credits.mp4", "2_B.mp4", "3_opening_credits.mp4"]


def test_an_edl_speaks_of_scenes(timeline, tmp_path):
    write_export("edl", timeline, tmp_path / "spans.edl")
    comments = [line for line in (tmp_path / "spans.edl").read_text().splitlines() if "COMMENT" in line]
    assert comments == ["* COMMENT: SCENE A", "* COMMENT: SCENE B", "* COMMENT: SCENE A"]


def test_audacity_and_depth_are_plain_tables(tmp_path):
    spans = (Span(0, 5, 100.0, 102.5, 0), Span(5, 9, 102.5, 104.5, 27, 0.25))
    write_export("audacity", Timeline("walk.amc", "mocap", "ms", spans), tmp_path / "labels.txt")
    np.testing.assert_allclose(
        np.loadtxt(tmp_path / "labels.txt", usecols=(0, 1)), [[0, 0.0025], [0.0025, 0.0045]]
    )
    write_export("depth", Timeline("core.csv", "spectra", "m", spans), tmp_path / "depth.csv")
    with (tmp_path / "depth.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[1] == {"from_m": "102.5", "to_m": "104.5", "label": "AB", "confidence": "0.25"}


def test_names_that_xml_does_not_allow_are_shown_by_their_codes(tmp_path):
    spans, names = (Span(0, 9, 0.0, 1.0, 0),), ("a\uffff\ufffe\x00",)
    write_export("elan", Timeline("walk.amc", "mocap", "s", spans, names=names), tmp_path / "spans.eaf")
    values = ElementTree.parse(tmp_path / "spans.eaf").getroot().iter("ANNOTATION_VALUE")
    assert [value.text for value in values] == ["a\\uffff\\ufffe␀"]


@pytest.mark.otio
def test_hostile_names_stay_text_in_every_format(otio, tmp_path):
    path = write_film(tmp_path / HOSTILE)
    timeline = film_timeline(path, Fraction(24))
    for name in ("edl", "otio", "fcpxml", "chapters", "elan"):
        write_export(name, timeline, tmp_path / f"spans{EXPORTS[name].suffix}")
    shown = printable(HOSTILE)
    assert len(list(otio.adapters.read_from_file(str(tmp_path / "spans.edl"), rate=24).find_clips())) == 3
    assert otio.adapters.read_from_file(str(tmp_path / "spans.otio")).name == shown
    assert ElementTree.parse(tmp_path / "spans.fcpxml").getroot().find(".//event").get("name") == shown
    assert len(pympi.Eaf(str(tmp_path / "spans.eaf")).get_annotation_data_for_tier("spans")) == 3
    with av.open(str(tmp_path / "spans.ffmetadata"), format="ffmetadata") as container:
        assert container.metadata["title"] == shown


@pytest.mark.parametrize(
    ("name", "kind", "unit", "fitting"),
    [
        ("edl", "mocap", "s", "elan, audacity"),
        ("depth", "mocap", "s", "elan, audacity"),
        ("elan", "spectra", "m", "depth"),
        ("chapters", "table", "sample", "none"),
    ],
)
def test_an_export_that_makes_no_sense_says_which_do(name, kind, unit, fitting):
    with pytest.raises(ValueError, match=f"needs .* Exports that fit: {fitting}"):
        check_export(name, Timeline("x.csv", kind, unit, ()))


@pytest.mark.parametrize("ending", CONTAINERS)  # Matroska keeps no decoding times, MPEG-TS no index
@pytest.mark.parametrize("sound", [False, True], ids=["silent", "with sound"])
def test_split_files_hold_their_frames_and_no_others(tmp_path, sound, ending):
    path = write_film(tmp_path / f"film{ending}", sound=sound)
    whole = mean_greys(path)
    files = split_video(film_timeline(path, Fraction(24)), tmp_path)
    if ending in (".mp4", ".mkv"):
        assert [file.copied for file in files] == [True, False, False]  # 45 is no key frame
        assert [file.name for file in files] == [f"1_A{ending}", "2_B.mp4", "3_A.mp4"]
    for file, start, end in zip(files, CUTS[:-1], CUTS[1:], strict=True):
        greys = mean_greys(tmp_path / file.name)
        assert len(greys) == end - start
        # encoding is lossy: one level of 255, a quarter of the step between frames
        np.testing.assert_allclose(greys, whole[start:end], atol=0 if file.copied else 1.5)
        with av.open(str(tmp_path / file.name)) as film:
            assert len(film.streams.audio) == int(sound)
            assert float(film.duration / av.time_base) == pytest.approx((end - start) / 24, abs=0.1)
    assert ("no index" if ending == ".ts" else "key frames") in files[2].reason


def test_labels_are_named_like_columns_of_a_spreadsheet():
    names = [name_label(label) for label in range(2000)]
    assert len(set(names)) == 2000
    assert sorted(names, key=lambda name: (len(name), name)) == names


def test_a_name_that_ffmpeg_takes_for_a_protocol_opens_that_file_and_no_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named = write_film(tmp_path / "film.mp4").rename("concat:other.mp4")
    write_plain_film(tmp_path / "other.mp4", N_FRAMES, 255, (32, 32))
    timeline = film_timeline(named, Fraction(24))
    files = split_video(timeline, Path("."))

    assert timeline.size == (64, 48)
    assert [len(mean_greys(tmp_path / file.name)) for file in files] == [20, 25, 15]
    assert mean_greys(tmp_path / files[0].name)[0] < 5


def test_motion_has_annotations_but_no_film(tmp_path):
    spans = (Span(0, 5, 100.0, 102.5, 0), Span(5, 9, 102.5, 104.5, 1))
    write_export("elan", Timeline("walk.amc", "mocap", "s", spans), tmp_path / "spans.eaf")
    document = pympi.Eaf(str(tmp_path / "spans.eaf"))
    assert sorted(document.get_annotation_data_for_tier("spans")) == [
        (0, 2500, "A"),
        (2500, 4500, "B"),
    ]
    assert document.get_linked_files() == []


def test_importing_exports_does_not_load_ffmpeg():
    code = "import seqspan.exports, sys; print('av' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


def test_only_films_have_a_rate_and_can_be_split(tmp_path):
    motion = Timeline("walk.amc", "mocap", "s", ())
    with pytest.raises(
        ValueError, match=r"walk\.amc: a frame rate is needed; a recording of kind 'mocap' .* has none"
    ):
        motion.frame(1.0)
    with pytest.raises(
        ValueError, match=r"walk\.amc: splitting needs a video file; this is a recording of kind 'mocap'"
    ):
        split_video(motion, tmp_path)


def test_a_copy_that_lost_frames_is_encoded_again(tmp_path, monkeypatch):
    path = write_film(tmp_path / "film.mp4")
    copy = _split._copy
    monkeypatch.setattr(
        _split, "_copy", lambda film, span, window, to: copy(film, span, (window[0], 0.5), to)
    )
    monkeypatch.setattr(_split, "run_task", lambda _, **request: _split.split_here(None, **request))
    file, *_ = split_video(film_timeline(path, Fraction(24)), tmp_path)
    assert (file.copied, file.reason) == (False, "encoded again: a copy lost frames")
    np.testing.assert_allclose(mean_greys(tmp_path / file.name), mean_greys(path)[:20], atol=1.5)


def test_packets_that_are_not_contiguous_are_no_whole_span():
    index = _split._Index(
        [Fraction(time) for time in (0, 3, 1, 2, 4)], [True, True, False, True, True], Fraction(1)
    )
    assert index.is_whole(Fraction(0), Fraction(4))
    assert not index.is_whole(Fraction(0), Fraction(2))  # 3 is decoded between
    assert not index.is_whole(Fraction(9), Fraction(10))


def test_frames_before_a_key_frame_that_refer_to_the_span_before_are_not_lost(tmp_path):
    """In an open group, frames are decoded after the key frame, shown before it, and refer to both sides."""
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w") as film:
        settings = "open-gop=1:bframes=3:b-adapt=0:keyint=20:min-keyint=20:scenecut=0:b-pyramid=0"
        stream = film.add_stream("libx264", rate=24, options={"crf": "1", "x264-params": settings})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for i in range(N_FRAMES):
            film.mux(
                stream.encode(av.VideoFrame.from_ndarray(np.full((48, 64, 3), 4 * i, np.uint8), "rgb24"))
            )
        film.mux(stream.encode(None))
    spans = [Span(0, 17, 0.0, 17 / 24, 0), Span(17, 60, 17 / 24, 60 / 24, 1)]
    files = split_video(make_timeline(read(path), spans), tmp_path)
    greys = [mean_greys(tmp_path / file.name) for file in files]
    np.testing.assert_allclose(np.concatenate(greys), mean_greys(path), atol=1.5)
    assert [file.copied for file in files] == [True, False]


def test_packets_that_never_say_when_they_are_decoded_keep_the_order_of_showing():
    packets = [SimpleNamespace(dts=None, pts=pts, stream="film") for pts in (0, 10, 20)]
    assert [packet.dts for packet in _split._with_decoding_times(iter(packets))] == [0, 10, 20]
