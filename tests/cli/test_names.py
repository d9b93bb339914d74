"""Names of files that are not UTF-8, which Linux allows: read, written and shown like any other."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pympi
import pytest
from tests.films import write_film
from tests.readers.samples import WRITERS, write_sample
from typer.testing import CliRunner

from seqspan.cli import app
from seqspan.readers import read, read_blocks
from seqspan.results.folder import load_result
from seqspan.segmentation import Segmentation

FOLDER, STEM = os.fsdecode(b"M\xfcller"), os.fsdecode(b"caf\xe9")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, whose own name is in Latin-1."""
    try:
        (tmp_path / FOLDER).mkdir()
    except OSError:
        pytest.skip("the file system has only UTF-8 names")
    monkeypatch.chdir(tmp_path / FOLDER)
    return tmp_path / FOLDER


def run(*arguments, status=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == status, ascii(result.output) + repr(result.exception)
    return result


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_is_read(tmp_path, folder, name):
    expected = read(write_sample(name, tmp_path)).X
    for path in tmp_path.iterdir():
        if path.is_file():
            stem, dot, ending = path.name.partition(".")
            path.rename(folder / f"{STEM}{stem}{dot}{ending}")
    path = folder / f"{STEM}{WRITERS[name][0]}"
    assert read(path).X.tolist() == expected.tolist()
    assert sum(map(len, read_blocks(path, 7))) == len(expected)


def test_a_film_through_every_export(folder):
    film = write_film(folder / "film.mp4").rename(folder / f"{STEM}.mp4")
    exports = "edl,otio,fcpxml,chapters,elan,audacity"
    run("segment", film.name, "--spans", 3, "--export", exports, "--split")
    found = folder / f"{STEM}.seqspan"
    assert load_result(found)["input"]["path"] == film.name
    with (found / "segments.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 3
    for path in found.iterdir():
        if path.suffix in (".html", ".edl", ".otio", ".fcpxml", ".ffmetadata", ".eaf", ".csv", ".txt"):
            assert path.read_text(encoding="utf-8")
    url = "/M%FCller/caf%E9.mp4"
    assert pympi.Eaf(str(found / "spans.eaf")).get_linked_files()[0]["MEDIA_URL"].endswith(url)
    clip = json.loads((found / "spans.otio").read_text())["tracks"]["children"][0]["children"][0]
    assert clip["media_references"]["DEFAULT_MEDIA"]["target_url"].endswith(url)
    assert ElementTree.parse(found / "spans.fcpxml").getroot().find(".//asset").get("src").endswith(url)
    assert len(list((found / "split").iterdir())) == 3
    assert Segmentation.load(found).recording.source == film.name


def test_a_process_takes_and_prints_such_names(folder):
    (folder / f"{STEM}.csv").write_text("a,b\n" + "1,2\n" * 10 + "5,0\n" * 10)
    command = [sys.executable, "-m", "seqspan.cli", "segment", f"{STEM}.csv", "--json", "-o", f"{STEM}.out"]
    done = subprocess.run(command, capture_output=True, check=True)
    told = json.loads(done.stdout)
    assert (told["name"], told["folder"]) == ("caf\\udce9.csv", "caf\\udce9.out")
    assert told["input"]["path"] == f"{STEM}.csv"
    assert Path(f"{STEM}.out", "report.html").is_file()
    assert "caf\\udce9.csv" in done.stderr.decode("utf-8")


def test_a_configuration_cannot_hold_such_a_name(folder):
    (folder / "walk.csv").write_text("a,b\n" + "1,2\n" * 20)
    result = run("segment", "walk.csv", "-o", STEM, "--save-config", "run.toml", status=2)
    assert result.stderr == "seqspan: error: --out cannot be saved: TOML has only UTF-8; got caf\\udce9.\n"
    assert not (folder / "run.toml").exists()
