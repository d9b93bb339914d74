"""The pages: their Python runs, and the check of their links finds what is broken."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
import textwrap
import types
from itertools import islice
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from seqspan.cli.demo import render, write_clip

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
#: A fence that says ``python`` and no more; ``python no-run`` is for what needs a GPU or other files.
FENCE = re.compile(r"^( *)```python\n(.*?)^\1```$", flags=re.MULTILINE | re.DOTALL)


def blocks_of(page: Path) -> list[str]:
    """The Python of a page, each block with empty lines before it, so that errors name the page's lines."""
    text = page.read_text(encoding="utf-8")
    lines_before = [text.count("\n", 0, match.start(2)) for match in FENCE.finditer(text)]
    codes = [textwrap.dedent(match[2]) for match in FENCE.finditer(text)]
    return ["\n" * before + code for before, code in zip(lines_before, codes, strict=True)]


WITH_PYTHON = [page for page in PAGES if blocks_of(page)]
FILM = "film.mp4"  # the reader's own film; here it is a clip of four scenes


@pytest.fixture(scope="module")
def film(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("film") / FILM
    write_clip(path, islice(render(np.random.default_rng(0)), 0, None, 2))  # every second frame
    return path


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_of_page_runs(page, film, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(film, FILM)
    module = types.ModuleType("page_of_the_documentation")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # where dataclasses and pickle look
    try:
        for code in blocks_of(page):
            exec(compile(code, str(page), "exec", dont_inherit=True), vars(module))
    finally:
        plt.close("all")


def test_pages_are_found():
    assert len(WITH_PYTHON) > 3
    assert blocks_of(ROOT / "README.md")


@pytest.fixture(scope="module")
def check_links():
    spec = importlib.util.spec_from_file_location("check_links", ROOT / "docs" / "check_links.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SOUND = """<link rel="stylesheet" href="style.css"><a href="https://elsewhere.org">x</a><h1 id="one">y</h1>
<a href="#one">x</a> <a href="sub/other.html#two">x</a> <img src="data:image/png;base64,AA">
<a href="#">x</a>"""


def write_site(folder: Path, index: str) -> Path:
    (folder / "sub").mkdir()
    (folder / "index.html").write_text(index)
    (folder / "style.css").write_text("body { background: url(picture.png) }")
    (folder / "sub" / "other.html").write_text('<p id="two"><a href="../index.html">x</a></p>')
    return folder


def test_sound_site_has_no_faults(check_links, tmp_path):
    assert list(check_links.faults(write_site(tmp_path, SOUND))) == []


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('<a href="gone.html">', "leads nowhere"),
        ('<a href="#gone">', "no such place"),
        ('<a href="sub/other.html#gone">', "no such place"),
        ('<img src="gone.png">', "leads nowhere"),
        ('<script src="https://cdn.elsewhere.org/x.js">', "loaded from elsewhere"),
        ('<link rel="stylesheet" href="//fonts.elsewhere.org/x.css">', "loaded from elsewhere"),
        ('<img src="http://elsewhere.org/x.png">', "loaded from elsewhere"),
    ],
)
def test_fault_of_page_is_found(check_links, tmp_path, broken, reason):
    (fault,) = check_links.faults(write_site(tmp_path, SOUND + broken))
    assert reason in fault
    assert "index.html" in fault


def test_fault_of_style_sheet_is_found(check_links, tmp_path):
    site = write_site(tmp_path, SOUND)
    (site / "style.css").write_text("@import url('https://elsewhere.org/x.css');")
    (fault,) = check_links.faults(site)
    assert "loaded from elsewhere" in fault


def test_links_of_markdown_are_followed(check_links, tmp_path):
    page = tmp_path / "README.md"
    (tmp_path / "more.md").write_text("# More of it, truly\n")
    page.write_text("[a](more.md) [b](more.md#more-of-it-truly) [c](https://x.org) `[d](no.md)`\n")
    assert list(check_links.faults(page)) == []
    page.write_text("[a](gone.md) [b](more.md#gone)\n")
    assert len(list(check_links.faults(page))) == 2


def test_tests_that_a_page_names_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "docs" / "everyday.md").read_text())
    assert len(named) > 15
    for path, name in named:
        assert f"def {name}" in (ROOT / path).read_text()
