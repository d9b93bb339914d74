"""The report in a real browser: what a reader sees and does."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from tests.report.conftest import HOSTILE_COLUMNS, HOSTILE_FILE, HOSTILE_NAMES, wait_until

from seqspan._core.text import printable
from seqspan.cli.inputs import Job
from seqspan.cli.segment import run_job
from seqspan.cli.settings import Settings
from seqspan.datasets import make_recurring_subspaces
from seqspan.results.cache import SolutionCache

WIDTHS, THEMES = (390, 1440), ("light", "dark")


def spans_shown(page) -> int:
    return page.locator("button.span").count()


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def save(page) -> str:
    with page.expect_download() as download:
        page.click("#save")
    return download.value.path().read_text()


@pytest.mark.parametrize("folder", ["table_folder", "film_folder"])
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_it_opens_quietly_fits_and_is_accessible(request, open_report, folder, width, theme):
    path = request.getfixturevalue(folder) / "report.html"
    opened = open_report(path, width, theme)
    page = opened.page
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("#span-1")  # the editor is part of what is looked at
    found = Axe().run(page).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith("data:")] == [path.absolute().as_uri()]


def test_a_click_zooms_and_escape_shows_all(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    assert spans_shown(page) == 4
    whole = page.locator("#span-1").bounding_box()["width"]
    page.click("#span-1")
    assert page.locator("#span-1").bounding_box()["width"] > 2 * whole
    assert page.locator("#span-1").get_attribute("aria-pressed") == "true"
    assert "2.5 s to 4.58 s" in page.inner_text("#readout")
    assert page.locator("#editor").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#span-1").bounding_box()["width"] == pytest.approx(whole, abs=1)
    page.click("#spans tbody tr:nth-child(3)")
    assert page.locator("#span-2").get_attribute("aria-pressed") == "true"


def test_one_span_has_a_page_too(open_report, noise_folder):
    opened = open_report(noise_folder / "report.html")
    page = opened.page
    assert spans_shown(page) == 1
    assert "There are no boundaries." in page.inner_text("body")
    page.click("#span-0")
    assert page.locator("#span-0").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    page.focus("#number")
    page.keyboard.press("ArrowRight")
    assert spans_shown(page) >= 2
    assert [row["label"] for row in rows_of(save(page))][:2] == ["0", "1"]
    assert opened.complaints == []


def test_confidence_is_shown_as_it_was_written(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    written = rows_of((film_folder / "segments.csv").read_text())
    shown = page.locator("td[data-name=Confidence]").all_inner_texts()
    assert len(shown) == len(written) == 4
    for cell, row in zip(shown[1:], written[1:], strict=True):
        assert float(re.search(r"[\d.]+", cell)[0]) / 100 == pytest.approx(
            float(row["confidence"]), abs=0.006
        )
    text = page.inner_text("body")
    assert "Confidence" in text
    assert "stability" not in text.lower()


def test_the_timeline_works_by_keyboard(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    page.focus("#span-0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "span-2"
    page.keyboard.press("Enter")
    assert page.locator("#span-2").get_attribute("aria-pressed") == "true"
    page.focus("#heat-W")
    page.keyboard.press("ArrowRight")
    assert "column sample 1 " in page.inner_text("#heat-readout")


def test_the_slider_cuts_anew_and_as_found_returns(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    page.focus("#number")
    page.keyboard.press("Home")
    assert spans_shown(page) == 1
    page.keyboard.press("ArrowRight")
    assert len(set(page.locator("#legend b").all_inner_texts())) == 2
    page.keyboard.press("End")
    assert len(set(page.locator("#legend b").all_inner_texts())) == 20
    assert page.inner_text("#number-value") == "20"
    page.click("#as-found")
    assert spans_shown(page) == 4
    assert page.locator("#legend b").all_inner_texts() == ["A", "B", "C"]
    assert "recurs, 2 spans" in page.inner_text("#legend")


def test_the_table_sorts_both_ways(open_report, film_folder):
    page = open_report(film_folder / "report.html").page

    def lengths() -> list[float]:
        cells = page.locator("td[data-name=Length]").all_inner_texts()
        return [float(cell.split()[0]) for cell in cells]

    page.click("#sort-length")
    assert lengths() == sorted(lengths())
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("Length")
    page.click("#sort-length")
    assert lengths() == sorted(lengths(), reverse=True)
    assert page.evaluate("document.activeElement.id") == "sort-length"


def test_the_saved_csv_is_that_of_the_folder_until_it_is_edited(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    written = rows_of((film_folder / "segments.csv").read_text())
    for got, wanted in zip(rows_of(save(page)), written, strict=True):
        assert (got["start"], got["end"], got["label"]) == (wanted["start"], wanted["end"], wanted["label"])
        assert float(got["end_time"]) == pytest.approx(float(wanted["end_time"]))
        assert float(got["confidence"] or -1) == float(wanted["confidence"] or -1)


def test_edits_reach_the_saved_csv_and_can_be_undone(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    page.click("#span-1")
    page.fill("#edit-start", "63")
    page.keyboard.press("Tab")
    page.select_option("#edit-label", "3")
    assert [row["start"] for row in rows_of(save(page))] == ["0", "63", "110", "165"]
    assert rows_of(save(page))[1]["label"] == "3"
    assert rows_of(save(page))[1]["confidence"] == ""
    assert "set by hand" in page.inner_text("#spans")
    page.click("#split")
    assert [row["start"] for row in rows_of(save(page))] == ["0", "63", "86", "110", "165"]
    page.click("#merge")
    page.click("#merge")
    assert [row["start"] for row in rows_of(save(page))] == ["0", "110", "165"]
    page.click("#undo")
    assert [row["start"] for row in rows_of(save(page))] == ["0", "60", "110", "165"]


def test_pointing_at_a_cell_reads_the_coefficient(open_report, table_folder):
    page = open_report(table_folder / "report.html").page
    wait_until(page, "document.getElementById('heat-Z').width === 560")
    box = page.locator("#heat-Z").bounding_box()
    cell = (box["width"] * (1 - 10 / 560)) / 80
    page.locator("#heat-Z").hover(position={"x": box["width"] - 5.5 * cell, "y": box["height"] - 3.5 * cell})
    text = page.inner_text("#heat-readout")
    column, row, value = re.fullmatch(
        r"Z: column sample (\d+), row sample (\d+): (?:at least )?([\d.e-]+)", text
    ).groups()
    assert (column, row) == ("74", "76")
    Z = kept_coefficients(table_folder)
    top = float(page.evaluate("JSON.parse(document.getElementById('data').textContent).heat.Z.top"))
    # the root of a share of the largest is kept in 255 steps
    assert abs(min(abs(Z[76, 74]), top) ** 0.5 - float(value) ** 0.5) <= 0.6 / 255 * top**0.5 + 1e-3


def test_a_report_with_landmarks_names_them(open_report, tmp_path):
    X, _ = make_recurring_subspaces([0, 1, 0], 2, 8, 200, rng=0)
    np.save(tmp_path / "long.npy", X.T)
    run_job(Job(tmp_path / "long.npy", tmp_path / "long", Settings(dictionary="landmarks"), level=0))
    opened = open_report(tmp_path / "long/report.html")
    wait_until(opened.page, "document.getElementById('heat-Z').width === 560")
    opened.page.focus("#heat-Z")
    opened.page.keyboard.press("ArrowDown")
    text = opened.page.inner_text("#heat-readout")
    assert text.startswith("Z: column sample 0, row landmark 2: ")
    assert ", the largest of 2 " in text
    opened.page.focus("#heat-W")
    opened.page.keyboard.press("ArrowDown")
    assert ", the mean of 2 " in opened.page.inner_text("#heat-readout")
    assert not opened.complaints


def kept_coefficients(folder):
    import json

    import numpy as np

    with np.load(folder / ".seqspan-solution.npz") as arrays:
        version, key = json.loads(str(arrays["header"]))["key"]
    return SolutionCache(folder, version).load(key).Z


def test_hostile_names_are_text(open_report, table_folder):
    opened = open_report(table_folder / "report.html")
    page = opened.page
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.locator("h1").inner_text() == printable(HOSTILE_FILE)
    shown = page.inner_text("#caption")
    assert any(printable(name) in shown for name in HOSTILE_COLUMNS)
    assert page.locator(".track.true .span").first.get_attribute("title").startswith(HOSTILE_NAMES[0])
    assert page.locator("b:has-text('bold'), i:has-text('true'), img[src=x]").count() == 0
    assert page.locator("script").count() == 2
    assert opened.complaints == []


def test_the_truth_stands_beside_what_was_found(open_report, table_folder):
    page = open_report(table_folder / "report.html").page
    assert page.locator(".track.true .span").count() == 4
    assert "0.00 %" in page.locator("section", has_text="Compared with the truth").inner_text()
    # the colours agree, as the labels do
    colours = "nodes => nodes.map(node => node.style.backgroundColor)"
    assert page.locator(".track.true .span").evaluate_all(colours) == page.locator(
        "button.span"
    ).evaluate_all(colours)


def test_the_theme_can_be_switched_and_paper_shows_no_buttons(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(media="print")
    assert not page.locator("#save").is_visible()
    assert page.locator("button.span").first.is_visible()
    assert page.locator("#sort-length").is_visible()  # as the head of its column
    corner = "document.getElementById('heat-Z').getContext('2d').getImageData(300, 30, 1, 1).data[0]"
    wait_until(page, f"{corner} > 200")  # light, though the screen is dark
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(page.pdf()) > 10_000
