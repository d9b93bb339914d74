"""The report in a real browser: what a reader sees and does."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from tests.report.conftest import HOSTILE_COLUMNS, HOSTILE_FILE, HOSTILE_NAMES, wait_until

from seqspan import pipeline, segment
from seqspan._core.solution import Solution
from seqspan._core.spans import boundaries_from_labels, number_in_order
from seqspan._core.text import printable
from seqspan.cli.inputs import Job
from seqspan.cli.segment import run_job
from seqspan.cli.settings import Settings
from seqspan.cuts.cutting import Cutting
from seqspan.datasets import make_recurring_subspaces
from seqspan.models import Osc
from seqspan.recording import PoseView, Recording, as_recording
from seqspan.report import build_report
from seqspan.report._page import to_script_json
from seqspan.representation import Representation
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
    page.click("#split")  # and so is the bar
    for summary in page.locator("summary").all():
        if not summary.evaluate("node => node.parentElement.open"):
            summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
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
    assert page.locator("#span-0").is_visible()  # what is around it stays in sight
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
    assert "nothing was found to change" in page.inner_text("#one-span")
    page.click("#span-0")
    assert page.locator("#span-0").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    page.focus("#number")
    page.keyboard.press("ArrowRight")
    assert spans_shown(page) >= 2
    assert not page.locator("#one-span").is_visible()
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
    page.focus("#matrices summary")
    page.keyboard.press("Enter")
    wait_until(page, "document.getElementById('heat-W').width === 560")
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
    page.click("#all-labels")
    assert len(set(page.locator("#legend b").all_inner_texts())) == 20
    assert page.inner_text("#number-value") == "20"
    assert page.inner_text("#answer-title").endswith("of 20 scenes")
    page.click("#as-found")
    assert page.inner_text("#answer-title") == "4 spans of 3 scenes"
    assert spans_shown(page) == 4
    assert page.locator("#legend b").all_inner_texts() == ["A", "B", "C"]
    assert "returns, 2 spans" in page.inner_text("#legend")


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


def starts_of(page) -> list[int]:
    return [int(row["start"]) for row in rows_of(save(page))]


def test_a_span_can_be_split_at_any_sample(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    page.click("#span-1")
    page.fill("#split-at", "77")
    page.keyboard.press("Tab")
    page.click("#split")
    assert starts_of(page) == [0, 60, 77, 110, 165]
    assert page.locator("#span-2").get_attribute("aria-pressed") == "true"
    page.select_option("#edit-label", "3")
    rows = rows_of(save(page))
    assert (rows[2]["label"], rows[2]["confidence"], rows[2]["end"]) == ("3", "", "110")
    assert float(rows[2]["start_time"]) == pytest.approx(77 / 24)
    assert "set by hand" in page.inner_text("#spans")


def test_boundaries_move_by_field_by_key_and_by_dragging(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    page.click("#span-1")
    page.fill("#edit-start", "63")
    page.keyboard.press("Tab")
    page.fill("#edit-end", "119")
    page.keyboard.press("Tab")
    assert starts_of(page) == [0, 63, 120, 165]
    page.focus("#handle-end")
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.id") == "handle-end"
    assert starts_of(page) == [0, 63, 112, 165]
    page.locator("#timeline").scroll_into_view_if_needed()
    handle, span = (page.locator(name).bounding_box() for name in ("#handle-start", "#span-1"))
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + 20)
    page.mouse.down()
    page.mouse.move(span["x"] + span["width"] / 2, handle["y"] + 20, steps=4)
    page.mouse.up()
    assert starts_of(page)[1] == pytest.approx((63 + 112) / 2, abs=1)
    page.fill("#edit-start", "500")  # out of range
    page.keyboard.press("Tab")
    assert starts_of(page)[1] == 111


def test_spans_are_joined_with_either_neighbour(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    page.click("#span-1")
    page.click("#join-next")
    assert starts_of(page) == [0, 60, 165]
    assert [row["label"] for row in rows_of(save(page))] == ["0", "1", "0"]
    page.click("#join-previous")
    assert [(row["start"], row["label"]) for row in rows_of(save(page))] == [("0", "1"), ("165", "0")]


def test_every_correction_can_be_undone(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    assert not page.locator("#edited").is_visible()
    page.click("#span-1")
    page.fill("#edit-start", "63")
    page.keyboard.press("Tab")
    page.click("#join-next")
    assert "2 corrections, not saved yet" in page.inner_text("#edited-text")
    page.click("#undo")
    assert starts_of(page) == [0, 63, 110, 165]
    assert "1 correction, saved" in page.inner_text("#edited-text")
    page.click("#as-found")  # another answer loses nothing
    assert starts_of(page) == [0, 60, 110, 165]
    page.keyboard.press("Control+z")
    assert starts_of(page) == [0, 63, 110, 165]
    page.click("#undo-all")
    assert starts_of(page) == [0, 60, 110, 165]
    assert not page.locator("#edited").is_visible()


def test_labels_can_be_named(open_report, film_folder):
    opened = open_report(film_folder / "report.html")
    page = opened.page
    page.click("#rename-0")
    page.keyboard.type('<b>"Castle", day</b>')
    page.keyboard.press("Enter")
    name = '<b>"Castle", day</b>'
    assert page.locator("#legend b").first.inner_text() == name
    assert page.evaluate("document.activeElement.id") == "rename-0"
    assert [row["name"] for row in rows_of(save(page))] == [name, "B", "C", name]
    assert list(rows_of(save(page))[0]) == [
        "start", "end", "start_time", "end_time", "label", "confidence", "name",
    ]  # fmt: skip
    page.click("#undo")
    assert [row["name"] for row in rows_of(save(page))] == ["A", "B", "C", "A"]
    assert opened.complaints == []


def test_the_answer_comes_first_and_mathematics_is_folded(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    headings = page.locator("h2:visible").all_inner_texts()
    assert headings == ["4 spans of 3 scenes", "How sure is it?", "Spans", "For experts"]
    shown = page.inner_text("body")
    assert shown.count("optimum") == 1
    assert "it does not say how good the spans are" in shown
    assert "nats" not in shown
    for selector in ("#number-plot", "#heat-Z", "#convergence"):
        assert not page.locator(selector).is_visible()
    page.click("#why summary")
    wait_until(page, "document.querySelector('#number-plot svg')?.checkVisibility() ?? false")


def test_pointing_at_a_cell_reads_the_coefficient(open_report, table_folder):
    page = open_report(table_folder / "report.html").page
    page.click("#matrices summary")
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
    opened.page.click("#matrices summary")
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
    shown = page.inner_text("#telling") + page.inner_text("#legend")
    assert any(printable(name) in shown for name in HOSTILE_COLUMNS)
    assert page.locator(".track.true .span").first.get_attribute("title").startswith(HOSTILE_NAMES[0])
    assert page.locator("b:text-is('bold'), i:has-text('true'), img[src=x]").count() == 0
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
    page.click("#matrices summary")
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


@pytest.fixture(scope="module")
def long_report(tmp_path_factory):
    """A thousand spans of nine states, in a table whose channels have units."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 40, 1000)
    labels = np.repeat(np.cumsum(rng.integers(1, 9, 1000)) % 9, lengths)
    labels = number_in_order(labels)
    X = np.stack([20 + 5 * labels, rng.standard_normal(len(labels))], axis=1)
    Z = rng.random((40, len(labels)), dtype=np.float32)
    recording = Recording(
        X=X, times=np.arange(len(X)) / 10, time_unit="s", feature_names=("pressure [bar]", "noise"),
        kind="table", source="pump.csv",
    )  # fmt: skip
    solution = Solution(Z, objective=1.0, gap=0.01, n_iter=1, converged=True, state=None)
    found = Representation(recording, X.T, X, np.arange(len(X)), Osc(0.1, 1.0), solution, landmarks=X[:40].T)
    one = pipeline.cut(found, Cutting("peaks", n_spans=1))
    given = np.full(999, 0.7)
    many = replace(one, labels=labels, boundaries=boundaries_from_labels(labels), given_confidence=given)
    path = tmp_path_factory.mktemp("long") / "report.html"
    path.write_text(build_report(many), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", WIDTHS)
def test_a_thousand_spans_stay_readable(open_report, long_report, width):
    opened = open_report(long_report, width)
    page = opened.page
    assert page.inner_text("#answer-title") == "1,000 spans of 9 states"
    assert page.locator("[data-group]").count() == 9
    assert page.locator("#spans tr[data-span]").count() == 0  # until a group is opened
    assert spans_shown(page) < width / 4
    page.click("#group-3")
    own = page.locator("#spans tr[data-span]").count()
    assert 0 < own <= 100
    page.fill("#search", "1000")
    assert page.locator("#row-999").count() == 1
    assert page.inner_text("#matches").endswith("of 1000")
    page.fill("#search", "")
    page.uncheck("#grouped")
    drawn = page.locator("#spans tr[data-span]").count()
    assert drawn <= 100
    page.locator("#spans tr.more").scroll_into_view_if_needed()
    wait_until(page, f"document.querySelectorAll('#spans tr[data-span]').length > {drawn}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#changes .chosen").count() == 0  # a thousand arrows would be one broad bar
    page.locator(".track.found").click(position={"x": 300, "y": 20})
    assert page.locator("#changes .chosen, #changes .tick").count() > 0
    assert opened.complaints == []


def test_a_span_too_narrow_for_a_button_can_be_clicked(open_report, long_report):
    page = open_report(long_report).page
    page.locator(".track.found").click(position={"x": 700, "y": 20})
    assert page.locator(".span[aria-pressed=true]").count() == 1
    assert page.locator("#editor").is_visible()
    wide = page.locator(".span[aria-pressed=true]").bounding_box()["width"]
    assert wide > 300


def test_channels_that_tell_states_apart_are_shown_in_their_own_units(open_report, long_report):
    page = open_report(long_report).page
    first = page.locator("#telling figure").first
    assert first.inner_text().startswith("pressure [bar]")
    text = first.locator("svg").get_attribute("aria-label")
    assert text.startswith("pressure [bar], mean: A 20")
    assert "pressure [bar]" in page.locator("#legend li").first.inner_text()


def test_what_is_constant_within_a_state_varies_by_zero(open_report, tmp_path):
    rng = np.random.default_rng(0)
    levels = np.repeat([[-200.1, 3.0, 1.0], [148.3, -1.0, 5.0]], [41, 79], axis=0)
    recording = as_recording(levels + rng.normal(size=(120, 3)) * [0, 0.3, 0.3])
    (tmp_path / "report.html").write_text(build_report(segment(recording, n_spans=2)), encoding="utf-8")
    legend = open_report(tmp_path / "report.html").page.locator("#legend").inner_text()
    assert "± 0" in legend
    assert "e-" not in legend


@pytest.mark.parametrize(("motion", "moves"), [("no-preference", True), ("reduce", False)])
def test_figures_move_while_the_pointer_is_on_them(open_report, tmp_path, motion, moves):
    t = np.arange(60)[:, None, None] / 10
    positions = np.concatenate([np.sin(t + phase) * [1.0, 3.0, 0.5] for phase in range(4)], axis=1)
    X = positions.reshape(60, -1)
    recording = Recording(
        X=X, times=np.arange(60) / 10, time_unit="s", feature_names=tuple(map(str, range(12))), kind="mocap",
        source="walk.bvh", view=PoseView(positions.astype(np.float32), ("a",) * 4, ((0, 1), (1, 2), (2, 3))),
    )  # fmt: skip
    (tmp_path / "report.html").write_text(build_report(segment(recording, n_spans=2)), encoding="utf-8")
    page = open_report(tmp_path / "report.html").page
    page.emulate_media(reduced_motion=motion)
    figure = page.locator("#legend svg.pose").first
    assert figure.bounding_box()["height"] > 120
    path = "document.querySelector('#legend svg.pose path').getAttribute('d')"
    still = page.evaluate(path)
    figure.hover()
    if moves:
        wait_until(page, f"{path} !== {json.dumps(still)}")
    else:
        page.wait_for_timeout(350)
        assert page.evaluate(path) == still
    page.mouse.move(0, 0)
    assert page.evaluate(path) == still


@pytest.fixture
def dated_report(long_report, tmp_path):
    """The page of a recording with dates, in which clocks change, and with a name for its first state."""
    text = long_report.read_text(encoding="utf-8")
    dates = [[0, "2024-03-31T01:30:00.0+01:00"]]
    data = data_of(long_report)
    starts = json.loads(data)["found"][0]
    later = next(start for start in starts if start > 18_000)  # half an hour of ten samples a second
    clock = np.datetime64("2024-03-31T02:30") + np.timedelta64(100 * later, "ms")
    dates.append([later, f"{np.datetime_as_string(clock, 'ms')[:-2]}+02:00"])
    changed = json.loads(data) | {"dates": dates, "names": {"0": "idle"}}
    path = tmp_path / "report.html"
    path.write_text(text.replace(data, to_script_json(changed)), encoding="utf-8")
    return path, later


def test_dates_in_are_dates_out(open_report, dated_report):
    path, later = dated_report
    opened = open_report(path)
    rows = rows_of(save(opened.page))
    assert rows[0]["start_time"] == "2024-03-31T01:30:00.0+01:00"
    assert rows[0]["name"] == "idle"
    second = np.datetime64("2024-03-31T01:30") + np.timedelta64(100 * int(rows[1]["start"]), "ms")
    assert rows[1]["start_time"] == f"{np.datetime_as_string(second, 'ms')[:-2]}+01:00"
    after = next(row for row in rows if int(row["start"]) == later)
    assert after["start_time"].endswith("+02:00")
    assert after["start_time"] == dict(json.loads(data_of(path))["dates"])[later]
    axis = opened.page.locator("#changes text").all_text_contents()
    assert any(text.startswith("31 Mar, 01:30") for text in axis)
    assert "2024-03-31 01:30:00.0" in opened.page.locator("#span-0, .span").first.get_attribute("aria-label")
    opened.page.uncheck("#grouped")
    assert "2024" not in opened.page.locator("td[data-name=Length]").first.inner_text()
    assert opened.complaints == []


@pytest.fixture(scope="module")
def epoch_folder(tmp_path_factory):
    """Result of a table with times in milliseconds since 1970, not quite evenly spaced."""
    X, _ = make_recurring_subspaces([0, 1, 2, 0], 1, 5, [40, 40, 40, 40], rng=3)
    folder = tmp_path_factory.mktemp("epoch")
    times = 1_700_000_000_000 + np.cumsum(np.random.default_rng(0).integers(80, 121, 160))
    rows = "".join(f"{time},{','.join(map(str, row))}\n" for time, row in zip(times, X.T, strict=True))
    (folder / "pump.csv").write_text(f"timestamp,a,b,c,d,e\n{rows}")
    run_job(Job(folder / "pump.csv", folder / "out", Settings(subspaces="3"), level=0))
    return folder / "out"


@pytest.mark.parametrize("width", WIDTHS)
def test_times_since_1970_are_shown_as_dates_and_saved_as_they_came(open_report, epoch_folder, width):
    opened = open_report(epoch_folder / "report.html", width)
    page = opened.page
    assert "160 samples, 16.1 s from 2023-11-14 22:13:20 UTC" in page.inner_text("header")
    axis = page.locator("#changes text").all_text_contents()
    assert any(re.match(r"22:13:\d\d$", text) for text in axis)
    table = page.inner_text("#spans")
    assert "2023-11-14 22:13:" in table
    assert "17000000" not in table
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    written = rows_of((epoch_folder / "segments.csv").read_text())
    for got, wanted in zip(rows_of(save(page)), written, strict=True):
        assert (got["start_time"], got["end_time"]) == (wanted["start_time"], wanted["end_time"])
    assert opened.complaints == []


def test_sentences_about_the_answer_found_are_not_said_of_another_one(open_report, film_folder):
    page = open_report(film_folder / "report.html").page
    assert page.locator("#sure-lead").is_visible()
    page.click("#span-1")
    page.click("#split")
    assert not page.locator("#sure-lead").is_visible()
    assert not page.locator("#support").is_visible()
    page.click("#undo")
    assert page.locator("#support").is_visible()


def data_of(path) -> str:
    return re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S)[1]


@pytest.mark.parametrize("measured", [True, False])
def test_known_labels_have_a_page_without_coefficients(open_report, tmp_path, measured):
    X, _ = make_recurring_subspaces([0, 1, 0, 2], 2, 8, 30, rng=1)
    known = segment(X[:, :90].T, n_spans=3, n_subspaces=2).rename({"A": "walk"})
    applied = known.apply(pipeline.as_recording(X[:, 30:].T))
    if not measured:
        applied = replace(applied, cutter=None, given_confidence=None)
    (tmp_path / "report.html").write_text(build_report(applied), encoding="utf-8")
    opened = open_report(tmp_path / "report.html")
    page = opened.page
    assert page.inner_text("#answer-title") == "3 spans of 2 states, some unknown"
    assert "33 % of the samples fit no known state" in page.inner_text("#sure")
    assert ("How clear the boundaries are is not known." in page.inner_text("#sure")) != measured
    assert page.locator("#matrices").count() == 0
    assert page.locator("#span-2").get_attribute("aria-label").startswith("Span 3, state unknown")
    page.click("#span-2")
    page.click("#split")
    rows = rows_of(save(page))
    assert [(row["label"], row["name"]) for row in rows] == [
        ("1", "B"), ("0", "walk"), ("-1", "unknown"), ("-1", "unknown")
    ]  # fmt: skip
    assert not opened.complaints
