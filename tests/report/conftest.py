"""Reports of small recordings, and a real browser to open them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from seqspan.cli.demo import run_demo
from seqspan.cli.inputs import Job
from seqspan.cli.segment import run_job
from seqspan.cli.settings import Settings
from seqspan.datasets import add_noise, make_recurring_subspaces

# the last of them keep the browser from calling home, so that every request is the page's own
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
HOSTILE_FILE = "<img src=x onerror=hacked=1>\"'&{{7*7}}😀\x07\u202e.csv"
HOSTILE_COLUMNS = (
    "<script>hacked=1</script>",
    "</script><script>hacked=1</script>",
    'it\'s "quoted" & <b>bold</b>',
    "\u2028line\u202eside 😀",
    "{{ 7*7 }}<!--",
)
HOSTILE_NAMES = ('<i>true</i> & "one"', "two'<script>hacked=1</script>")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.fail("these tests drive a real browser: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()


def wait_until(page: Page, condition: str) -> None:
    """Ask again and again from here: a condition that the page itself polls is blocked by its policy."""
    for _ in range(6000):  # two minutes at least: a busy machine is slow
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"never true: {condition}")


@dataclass
class Opened:
    """A page, and what it has complained of or asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def open_report(browser):
    contexts = []

    def open_it(path: Path, width: int = 1440, theme: str = "light") -> Opened:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=theme, accept_downloads=True)
        contexts.append(context)
        opened = Opened(context.new_page())
        opened.page.set_default_timeout(120_000)
        opened.page.on("console", lambda message: opened.complaints.append(message.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.goto(path.absolute().as_uri())
        wait_until(opened.page, "document.documentElement.dataset.ready === 'yes'")
        return opened

    yield open_it
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def table_folder(tmp_path_factory) -> Path:
    """Result of a table whose file, columns and true labels are named to harm."""
    X, labels = make_recurring_subspaces([0, 1, 2, 0], 1, 5, [20, 15, 25, 20], rng=3)
    X = add_noise(X, 40, rng=3)
    folder = tmp_path_factory.mktemp("table")
    path = folder / HOSTILE_FILE
    header = ",".join('"' + name.replace('"', '""') + '"' for name in HOSTILE_COLUMNS)
    rows = "\n".join(",".join(f"{value:.9g}" for value in row) for row in X.T)
    path.write_text(f"{header}\n{rows}\n", encoding="utf-8")
    names = (*HOSTILE_NAMES, "three")
    (folder / "truth.json").write_text(_json([names[label] for label in labels]), encoding="utf-8")
    settings = Settings(subspaces="3", truth=str(folder / "truth.json"))
    run_job(Job(path, folder / "out", settings, level=0))
    return folder / "out"


def _json(values: list[str]) -> str:
    import json

    return json.dumps(values)


@pytest.fixture(scope="session")
def film_folder(tmp_path_factory) -> Path:
    """Result of the clip of ``seqspan demo``."""
    folder = tmp_path_factory.mktemp("film")
    assert run_demo(folder, level=0).right
    return folder


@pytest.fixture(scope="session")
def noise_folder(tmp_path_factory) -> Path:
    """Result of a recording in which nothing changes."""
    folder = tmp_path_factory.mktemp("noise")
    noise = np.random.default_rng(0).standard_normal((120, 5))
    np.savetxt(folder / "noise.csv", noise, delimiter=",", header="a,b,c,d,e", comments="")
    assert run_job(Job(folder / "noise.csv", folder, Settings(), level=0)).document["n_spans"] == 1
    return folder


@pytest.fixture(scope="session")
def labels_of_table(table_folder) -> np.ndarray:
    return np.loadtxt(table_folder / "labels.csv", delimiter=",", skiprows=1, usecols=2, dtype=int)
