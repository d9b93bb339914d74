"""Every seqspan command in README and docs runs, on small data made here, in the order of its page.

Experiments of the paper and benchmarks take minutes to hours: their commands are parsed and checked, but stop
before the first case (``make bench`` runs the benchmarks at toy size). The demo has tests of its own. A
cluster is replaced by this process. Commands that read a pipe get a table.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import re
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.films import write_film
from tests.readers.samples import write_amc
from typer.testing import CliRunner

from seqspan.cli import app, demo
from seqspan.cli import reproduce as experiments
from seqspan.solvers.cluster import files

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
FENCE = re.compile(r"^( *)```[^\n]*\n(.*?)^\1```$", flags=re.MULTILINE | re.DOTALL)
PIPE = r"(?:\w[\w. ]* \\?\| )?"  # what writes to the pipe is not ours
IN_FENCE = re.compile(rf"^ *(?:\$ )?{PIPE}(seqspan .*)$(?=\n?(.*))", flags=re.MULTILINE)
IN_TEXT = re.compile(rf"`{PIPE}(seqspan [^`]*)`()")
PROGRAM = re.compile(r"python -m ((?:benchmarks|tests)[\w.]*)([^`\n]*)")
#: What stands for something of the reader's own.
PLACEHOLDERS = {
    "INPUT": "recording.csv",
    "path": "recording.csv",
    "NAME": "synthetic",
    "DIR": ".",
    "FILE": "corrected.csv",
    "RESULT": "film.seqspan",
}


def commands_of(page: Path) -> list[tuple[list[str], int]]:
    """Arguments and exit status of every command; a name alone, such as `seqspan segment`, is none."""
    text = page.read_text(encoding="utf-8")
    in_fences = [match for fence in FENCE.finditer(text) for match in IN_FENCE.finditer(fence[2])]
    found = []
    for match in [*in_fences, *IN_TEXT.finditer(FENCE.sub("", text))]:
        words = shlex.split(match[1], comments=True)[1:]
        words = [PLACEHOLDERS.get(word, word) for word in words]
        status = 1 if match[2].startswith("seqspan: error") else 0
        if len(words) > 1 or words[0] in ("demo", "info"):
            found.append((words, status))
    return found


WITH_COMMANDS = [page for page in PAGES if commands_of(page)]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Everything that the pages name: a film, walks, a core with its log, tables, a correction."""
    folder = tmp_path_factory.mktemp("originals")
    write_film(folder / "film.mp4")
    (folder / "walks").mkdir()
    for number in range(2):
        write_amc(folder / "walks" / f"walk_{number}.amc", 40)
    rng = np.random.default_rng(0)
    cube = np.repeat(rng.uniform(1, 5, (6, 4)), 10, axis=0) + 0.05 * rng.standard_normal((60, 4))
    cube.astype("<f4").tofile(folder / "core.img")
    header = "samples = 1\nlines = 60\nbands = 4\ndata type = 4\ninterleave = bip\nbyte order = 0\n"
    (folder / "core.hdr").write_text(f"ENVI\n{header}")
    (folder / "logged.csv").write_text("start,label\n" + "".join(f"{10 * k},{k}\n" for k in range(6)))
    rows = ["time_s,a,b,c", *(f"{k / 10},{','.join(map(str, row[:3]))}" for k, row in enumerate(cube))]
    (folder / "recording.csv").write_text("\n".join(rows))
    rows[7] = rows[7].rpartition(",")[0] + ","
    (folder / "plant.csv").write_text("\n".join(rows))
    (folder / "corrected.csv").write_text("start,end,label\n0,40,A\n40,60,B\n")
    (folder / "overlapping.csv").write_text("start,end,label\n0,45,A\n40,60,B\n")
    for name in ("day1", "day2"):
        shutil.copytree(folder / "walks", folder / name)
        shutil.copy(folder / "film.mp4", folder / name)
    return folder


def run(words: list[str]) -> tuple[int, str]:
    piped = Path("recording.csv").read_bytes() if "-" in words else None
    result = CliRunner().invoke(app, words, input=piped)
    happened = result.exit_code == 3 and "--until" in words  # what was waited for has come
    return 0 if happened else result.exit_code, result.output + repr(result.exception)


def prepare(words: list[str]) -> None:
    """Make the results that a command reads, if no command before it has."""
    if words[0] == "export" and not Path(words[1]).exists():
        assert run(["segment", f"{Path(words[1]).stem}.mp4"])[0] == 0
    if "--states" in words:
        states = words[words.index("--states") + 1]
        assert Path(states).exists() or run(["segment", "recording.csv", "--out", states])[0] == 0


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_runs(page, originals, tmp_path, monkeypatch, plain_report):
    shutil.copytree(originals, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(experiments, "reproduce", lambda name, options: f"would reproduce {name}")
    monkeypatch.setattr(experiments, "redraw", lambda name, options: f"would redraw {name}")
    monkeypatch.setattr(demo, "run_demo", lambda out, level: demo.DemoResult("4 spans", right=True))
    monkeypatch.setattr(files, "map_on_cluster", lambda work, items, *more: map(work, items))
    for words, wanted in commands_of(page):
        prepare(words)
        status, output = run(words)
        assert status == wanted, f"seqspan {shlex.join(words)}: {output}"


def test_commands_are_found(tmp_path):
    walks = ["segment", "walks/*.amc", "--export", "elan", "--jobs", "2"]
    assert (walks, 0) in commands_of(ROOT / "README.md")
    assert len(commands_of(ROOT / "docs" / "reproduction.md")) > 12
    assert (["segment", "plant.csv"], 1) in commands_of(ROOT / "docs" / "start.md")
    page = tmp_path / "page.md"
    page.write_text("seqspan is good: `seqspan segmnet x`\n```\nseqspan info  # all\nseqspan: note: y\n```\n")
    assert commands_of(page) == [(["info"], 0), (["segmnet", "x"], 0)]
    page.write_text("| `cat x.csv \\| seqspan segment -` |\n```\nzcat x.gz | seqspan watch - # all\n```\n")
    assert commands_of(page) == [(["watch", "-"], 0), (["segment", "-"], 0)]


class ParsedError(Exception):
    """The options of a program were understood."""


PROGRAMS = sorted({
    (match[1], *shlex.split(match[2], comments=True))
    for page in PAGES
    for match in PROGRAM.finditer(page.read_text(encoding="utf-8"))
})  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=" ".join)
def test_the_options_of_every_benchmark_are_understood(program, monkeypatch):
    parse_args = argparse.ArgumentParser.parse_args

    def parse_and_stop(self, *given):
        parse_args(self, *given)
        raise ParsedError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_and_stop)
    monkeypatch.setattr(sys, "argv", list(program))
    module = importlib.import_module(program[0])
    if hasattr(module, "__path__"):
        module = importlib.import_module(f"{program[0]}.__main__")
    with pytest.raises(ParsedError):
        module.main()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_programs_and_targets_of_a_page_exist(page):
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"python -m ((?:benchmarks|tests)[\w.]*)", text):
        assert importlib.util.find_spec(name) is not None, name
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    commands = re.findall(r"^(?:\$ )?make ([a-z-]+)|`make ([a-z-]+)", text, flags=re.MULTILINE)
    assert {first or second for first, second in commands} <= set(targets)
