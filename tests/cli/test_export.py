"""Exports of a result folder, with spans as found and as corrected by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.cli.test_folders import files, n_annotations, run, segment, write_table
from tests.films import mean_greys, write_film

from seqspan.results.documents import DOCUMENT, JOURNAL
from seqspan.results.folder import load_result
from seqspan.results.lock import reserved

pytestmark = pytest.mark.usefixtures("plain_report")


@pytest.fixture(scope="module")
def segmented(tmp_path_factory):
    """A film and its result, to be copied, because films take seconds."""
    folder = tmp_path_factory.mktemp("segmented")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        write_film(folder / "film.mp4")
        segment("film.mp4", "--spans", 3, "--export", "edl")
    return folder


@pytest.fixture
def film(segmented, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(segmented, tmp_path, dirs_exist_ok=True)
    return tmp_path / "film.seqspan"


@pytest.fixture
def walk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "walk.csv")
    segment("walk.csv", "--spans", 4)
    return tmp_path / "walk.seqspan"


def in_points(folder):
    """Start of every event of an edit decision list, in frames of a film with 24 frames per second."""
    lines = (folder / "spans.edl").read_text().splitlines()
    codes = [line.split()[4].split(":") for line in lines if line[:3].isdecimal()]
    return [int(np.dot([86400, 1440, 24, 1], [int(part) for part in code])) for code in codes]


CORRECTED = "start,end,start_time,end_time,label,confidence\n0,20,0,0.5,0,\n20,45,0.5,1,1,\n45,60,1,2.5,0,\n"


def test_corrections_come_back_as_exports_and_films(film):
    before = {name: text for name, text in files(film).items() if name not in (DOCUMENT, "spans.edl")}
    Path("corrected.csv").write_text(CORRECTED)
    result = run("export", film, "--segments", "corrected.csv", "--export", "edl,chapters", "--split")
    pieces = ["1_A.mp4", "2_B.mp4", "3_A.mp4"]
    assert result.stdout == f"{film}: 3 spans to spans.edl, spans.ffmetadata, 3 films in split/\n"
    assert "corrected table, lines 2, 3, 4: times were computed again" in result.stderr
    assert in_points(film) == [0, 20, 45]
    assert [len(mean_greys(path)) for path in sorted((film / "split").iterdir())] == [20, 25, 15]
    document = load_result(film)
    assert document["exported_from"]["path"] == "corrected.csv"
    assert [piece["name"] for piece in document["split"]] == pieces
    after = files(film)
    assert {name: after[name] for name in before} == before
    # the next run that finds other spans says what becomes of the exports
    assert "nothing has changed" in segment("film.mp4", "--spans", 3, "--export", "edl").stdout
    result = segment("film.mp4", "--spans", 2)
    assert "seqspan export film.seqspan --segments corrected.csv" in result.stderr
    assert len(in_points(film)) == len(list((film / "split").iterdir())) == 2
    assert "--segments corrected.csv" not in segment("film.mp4", "--spans", 3).stderr


def test_a_table_edited_in_place_is_what_is_exported(film):
    (film / "segments.csv").write_text(CORRECTED)
    result = run("export", "film.seqspan")
    assert "note: film.seqspan: segments.csv was edited: the exports follow it" in result.stderr
    assert in_points(film) == [0, 20, 45]
    assert (film / "segments.csv").read_text() == CORRECTED
    result = segment("film.mp4")
    assert (film / "segments-edited.csv").read_text() == CORRECTED
    assert "seqspan export film.seqspan --segments film.seqspan/segments-edited.csv" in result.stderr


def test_exports_need_no_correction_and_work_from_anywhere(film, monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    run("export", "../film.seqspan", "--export", "otio", "-q")
    clip = json.loads((film / "spans.otio").read_text())["tracks"]["children"][0]["children"][0]
    assert clip["media_references"]["DEFAULT_MEDIA"]["target_url"] == (tmp_path / "film.mp4").as_uri()
    assert len(in_points(film)) == 3
    assert "exported_from" not in load_result(film)


def test_an_edited_export_is_kept(film):
    (film / "spans.edl").write_text("mine")
    result = run("export", film)
    assert "spans.edl was edited: your version is kept as spans-edited.edl" in result.stderr
    assert (film / "spans-edited.edl").read_text() == "mine"


def test_confidence_stays_where_a_boundary_stays(walk, tmp_path):
    rows = (walk / "segments.csv").read_text().splitlines()
    rows[1], rows[2] = rows[1].replace("0,20,", "0,22,"), rows[2].replace("20,35,", "22,35,")
    Path("corrected.csv").write_text("\n".join(rows))
    run("export", walk, "--segments", "corrected.csv", "--export", "elan")
    from seqspan import Segmentation

    found = Segmentation.load(walk)
    corrected = found.corrected("corrected.csv")
    known = [span.confidence for span in found.spans]
    assert [span.confidence for span in corrected.spans] == [None, None, *known[2:]]
    corrected.save("again")
    assert [span.confidence for span in Segmentation.load("again").spans] == [None, None, *known[2:]]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["walk.seqspan"], 1, "nothing to export: --export LIST or --split says what to write"),
        (["walk.seqspan", "--export", "tape"], 2, "--export must be one of"),
        (["walk.seqspan", "--export", "edl"], 1, "'edl' needs a video file"),
        (["walk.seqspan", "--split"], 1, "--split needs a video file"),
        (
            ["walk.seqspan", "--export", "elan", "--segments", "wrong.csv"],
            1,
            "line 2 (0 to 90) is out of range",
        ),
        (["walk.seqspan", "--export", "elan", "--segments", "none.csv"], 1, "none.csv: no such file."),
        (["nowhere", "--export", "elan"], 1, "nowhere: no result folder; seqspan segment writes one"),
    ],
)
def test_what_cannot_be_exported_is_said_in_one_line(walk, arguments, status, words):
    Path("wrong.csv").write_text("start,end,label\n0,90,A\n")
    before = files(walk)
    result = run("export", *arguments, status=status)
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert files(walk) == before
    assert not Path("nowhere").exists()


def annotations(folder):
    lines = (folder / "spans.labels.txt").read_text().splitlines()
    return [line.split("\t")[2] for line in lines]


def test_names_go_through_corrections_to_exports(walk):
    segment("walk.csv", "--spans", 4, "--names", "A=stand")
    run("export", walk, "--export", "audacity")
    assert annotations(walk) == ["stand", "B", "C", "stand"]
    table = (walk / "segments.csv").read_text()
    Path("corrected.csv").write_text(table.replace(",stand\n", ",wait\n").replace(",C\n", ",jump\n"))
    run("export", walk, "--segments", "corrected.csv")
    assert annotations(walk) == ["wait", "B", "jump", "wait"]
    Path("words.csv").write_text("start,end,label\n0,40,stand\n40,80,run\n")
    run("export", walk, "--segments", "words.csv")
    assert annotations(walk) == ["stand", "run"]
    run("export", walk)
    assert annotations(walk) == ["stand", "B", "C", "stand"]


def test_names_are_in_the_names_of_split_films(film):
    Path("named.csv").write_text("start,end,label,name\n0,20,0,street\n20,60,1,B\n")
    run("export", film, "--segments", "named.csv", "--split")
    assert sorted(path.name for path in (film / "split").iterdir()) == ["1_street.mp4", "2_B.mp4"]


def test_dates_go_through_export_and_correction(walk):
    header, *rows = Path("walk.csv").read_text().splitlines()
    dates = [f"2024-03-01T10:00:{k / 10:06.3f}+02:00" for k in range(60)]
    dated = [f"{date},{row.partition(',')[2]}" for date, row in zip(dates, rows[:60], strict=True)]
    Path("log.csv").write_text("\n".join([header.replace("time_s", "time"), *dated]))
    segment("log.csv", "--spans", 3)
    log = Path("log.seqspan")
    run("export", log, "--export", "audacity")
    ends = [line.split("\t")[1] for line in (log / "spans.labels.txt").read_text().splitlines()]
    assert ends == ["2.000000", "3.500000", "6.000000"]
    table = (log / "segments.csv").read_text()
    assert "0,20,2024-03-01T10:00:00.000+02:00,2024-03-01T10:00:02.000+02:00,0," in table
    Path("corrected.csv").write_text(table.replace("\n0,20,", "\n0,22,").replace("\n20,35,", "\n22,35,"))
    result = run("export", log, "--segments", "corrected.csv")
    assert "corrected table, lines 2, 3: times were computed again" in result.stderr
    ends = [line.split("\t")[1] for line in (log / "spans.labels.txt").read_text().splitlines()]
    assert ends == ["2.200000", "3.500000", "6.000000"]
    result = segment("log.csv", "--segments", "corrected.csv")
    assert "2024-03-01T10:00:02.200+02:00" in (log / "segments.csv").read_text()


def test_an_input_that_has_changed_or_gone_is_not_exported(film):
    original = Path("film.mp4").read_bytes()
    Path("film.mp4").write_bytes(original + b"\0")
    assert "film.mp4: has changed since it was segmented" in run("export", film, status=1).stderr
    Path("film.mp4").unlink()
    assert "film.mp4: the film is not there" in run("export", film, status=1).stderr
    Path("film.mp4").write_bytes(original)
    (film / "labels.csv").write_text("index,time,label\n")
    assert "labels.csv is missing or has changed" in run("export", film, status=1).stderr


def test_a_table_can_be_exported_without_its_input(walk):
    Path("walk.csv").unlink()
    run("export", walk, "--export", "audacity")
    assert n_annotations(walk) == 4


def test_a_killed_export_can_be_repeated(walk, monkeypatch):
    def die(self, target):
        if Path(target).name == "spans.labels.txt":
            raise OSError("killed")
        return replace(self, target)

    replace = Path.replace
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", die)
        run("export", walk, "--export", "audacity", status=1)
    assert not (walk / DOCUMENT).exists()
    assert (walk / JOURNAL).exists()
    run("export", walk, "--export", "audacity")
    assert load_result(walk)["n_spans"] == n_annotations(walk) == 4


def test_an_export_waits_for_no_other_run(walk):
    with reserved(walk):
        assert "another run is writing here" in run("export", walk, "--export", "elan", status=1).stderr
