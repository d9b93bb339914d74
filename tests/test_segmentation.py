"""What was found in a recording: read, recut, drawn, saved and loaded."""

from __future__ import annotations

import csv
import json
import pickle
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.dates import num2date

import seqspan
from seqspan import Recording, Segmentation
from seqspan._core.spans import Division
from seqspan.cuts import boundaries_from_labels, make_cutter
from seqspan.cuts.ordered import cut as ordered
from seqspan.datasets import make_recurring_subspaces
from seqspan.exports import Timeline, write_export
from seqspan.pipeline import as_recording
from seqspan.plots import COLOURS
from seqspan.recording import Dates
from seqspan.report import build_report
from seqspan.results.corrections import Corrections
from seqspan.results.folder import load_result

ORDER, LENGTHS = (0, 1, 2, 0), (20, 15, 25, 20)


def make_recording() -> Recording:
    X, _ = make_recurring_subspaces(ORDER, 3, 12, LENGTHS, rng=0)
    names = tuple(f"c{i}" for i in range(12))
    times = 100 + np.arange(80) / 4
    return Recording(X=X.T, times=times, time_unit="s", feature_names=names, kind="table", source="walk.csv")


@pytest.fixture(scope="module")
def found() -> Segmentation:
    return seqspan.segment(make_recording())


def test_spans_have_samples_times_labels_and_confidence(found):
    assert [(span.start, span.end, span.label) for span in found.spans] == [
        (0, 20, 0), (20, 35, 1), (35, 60, 2), (60, 80, 0),
    ]  # fmt: skip
    assert (found.spans[1].start_time, found.spans[1].end_time) == (105.0, 108.75)
    assert found.spans[0].confidence is None
    assert [span.confidence for span in found.spans[1:]] == found.confidence.tolist()
    assert found.labels.tolist() == np.repeat(ORDER, LENGTHS).tolist()
    assert [len(part) for part in np.split(found.recording.X, found.boundaries)] == list(LENGTHS)
    assert (found.n_subspaces, len(found)) == (3, 80)
    assert 0 <= found.gap <= 0.01


def test_there_is_one_label_per_input_row_even_if_samples_are_skipped():
    found = seqspan.segment(
        make_recording(), preprocess="subsample:2", min_length=4, n_spans=4, n_subspaces=3
    )
    assert found.labels.shape == (80,)
    assert found.representation.X.shape[1] == 40
    assert found.boundaries.tolist() == [20, 36, 60]  # the row of the first sample after the boundary
    np.testing.assert_array_equal(np.flatnonzero(np.diff(found.labels)) + 1, found.boundaries)


def test_recut_equals_a_fit_with_these_numbers_and_computes_nothing_again(found, monkeypatch):
    expected = seqspan.segment(make_recording(), n_spans=3, n_subspaces=2)
    monkeypatch.setattr(ordered, "count_spans", None)
    monkeypatch.setattr("seqspan.cuts.cutter.sample_features", None)
    monkeypatch.setattr("seqspan.pipeline.make_cutter", None)
    again = found.recut(n_spans=3, n_subspaces=2)
    np.testing.assert_array_equal(again.labels, expected.labels)
    np.testing.assert_array_equal(again.confidence, expected.confidence)
    assert found.recut(n_subspaces=2).n_subspaces == 2
    assert len(found.recut(grain="fine").spans) >= len(found.spans)
    with pytest.raises(ValueError, match="n_spans must be at most 16"):
        found.recut(n_spans=17)


@pytest.mark.parametrize("grain", ["coarse", "default", "fine"])
def test_any_grain_comes_from_one_fit(found, grain):
    expected = seqspan.segment(make_recording(), grain=grain)
    np.testing.assert_array_equal(found.recut(grain=grain).labels, expected.labels)
    assert found.recut(grain=grain).cutting.grain == grain
    # and the default again
    np.testing.assert_array_equal(expected.recut().labels, found.labels)


def test_boundaries_between_samples_that_were_kept_have_a_confidence_and_later_ones_none():
    found = seqspan.segment(make_recording(), preprocess="subsample:7")
    last = int(found.representation.rows[-1])
    confidence = found.confidence_of(np.array([8, 9, 14, last, last + 1]))
    assert confidence[0] == confidence[1] == confidence[2] > 0
    assert np.isfinite(confidence[3])
    assert np.isnan(confidence[4])
    labels = np.zeros(len(found), dtype=int)
    labels[last + 1 :] = 1
    corrected = found.corrected(Corrections(Division.from_sample_labels(labels)))
    assert corrected.spans[1].confidence is None
    build_report(corrected)  # warnings are errors


def test_a_grain_goes_without_numbers(found):
    with pytest.raises(ValueError, match=r"grain chooses the numbers.*got grain='fine' with n_spans=3"):
        found.recut(n_spans=3, grain="fine")
    with pytest.raises(ValueError, match=r"got grain='coarse' with .*n_subspaces=2"):
        found.recut(n_subspaces=2, grain="coarse")
    with pytest.raises(ValueError, match="grain must be one of 'coarse', 'default', 'fine'; got 'rough'"):
        found.recut(grain="rough")


@pytest.mark.parametrize("cut", ["ncut", "peaks"])
def test_other_cuts_are_recut_too(cut):
    found = seqspan.segment(make_recording(), cut=cut)
    counts = {"n_spans": 2} if cut == "peaks" else {"n_subspaces": 2}
    expected = seqspan.segment(make_recording(), cut=cut, **counts)
    np.testing.assert_array_equal(found.recut(**counts).labels, expected.labels)
    assert found.confidence.shape == found.boundaries.shape


def test_evidence_is_computed_once(monkeypatch):
    calls = []
    for name in ("sample_features", "count_spans"):
        module = "seqspan.cuts.cutter" if name == "sample_features" else "seqspan.cuts.ordered.cut"
        real = getattr(__import__(module, fromlist=[name]), name)

        def call(*given, real=real, name=name, **options):
            calls.append(name)
            return real(*given, **options)

        monkeypatch.setattr(f"{module}.{name}", call)
    found = seqspan.segment(make_recording())
    _ = found.spans, found.confidence, found.recut(n_subspaces=2).spans
    assert sorted(calls) == ["count_spans", "sample_features"]


def test_a_pickle_leaves_out_what_can_be_computed_again(found):
    back = pickle.loads(pickle.dumps(found))
    assert back.cutter is None
    np.testing.assert_array_equal(back.labels, found.labels)
    np.testing.assert_array_equal(back.recut(n_spans=2).labels, found.recut(n_spans=2).labels)
    np.testing.assert_array_equal(back.confidence, found.confidence)


def test_the_plot_has_a_time_axis_and_a_legend(found):
    ax = found.plot()
    assert ax.get_xlabel() == "time [s]"
    assert ax.get_xlim() == (100.0, 120.0)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["A", "B", "C"]
    assert len(ax.patches) == 4
    plt.close(ax.figure)
    figure, mine = plt.subplots()
    assert found.plot(mine) is mine
    plt.close(figure)


def test_a_frame_has_a_row_for_every_span(found):
    frame = found.to_frame()
    assert frame.columns[:5] == ["start", "end", "start_time", "end_time", "label"]
    assert frame["start"].to_list() == [0, 20, 35, 60]
    assert frame["confidence"].to_list()[0] is None


def test_a_folder_is_written_and_read(found, tmp_path):
    found.save(tmp_path / "walk.seqspan")
    with (tmp_path / "walk.seqspan" / "segments.csv").open() as file:
        assert [row["start"] for row in csv.DictReader(file)] == ["0", "20", "35", "60"]
    document = json.loads((tmp_path / "walk.seqspan" / "result.json").read_text())
    assert (document["n_spans"], document["input"]["kind"]) == (4, "table")
    back = Segmentation.load(str(tmp_path / "walk.seqspan"))
    np.testing.assert_array_equal(back.labels, found.labels)
    np.testing.assert_array_equal(back.boundaries, found.boundaries)
    np.testing.assert_allclose(back.confidence, found.confidence, atol=5e-4)  # three digits are written
    assert (back.gap, back.recording.source, back.recording.time_unit) == (found.gap, "walk.csv", "s")
    assert back.spans[2].start_time == found.spans[2].start_time
    assert repr(back) == repr(found)
    back.export("audacity", tmp_path / "walk.txt")
    found.export("audacity", str(tmp_path / "same.txt"))
    assert (tmp_path / "walk.txt").read_text() == (tmp_path / "same.txt").read_text()


def test_what_is_gone_after_loading_is_said(found, tmp_path):
    found.save(tmp_path)
    back = Segmentation.load(tmp_path)
    with pytest.raises(ValueError, match=r"recut needs the coefficients.*segment walk\.csv again"):
        back.recut(n_spans=2)
    with pytest.raises(ValueError, match="confidence needs the coefficients"):
        back.confidence_of(np.array([20]))


def test_a_folder_without_a_complete_result_is_refused(found, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere: no such folder"):
        Segmentation.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="not a complete result folder"):
        Segmentation.load(tmp_path)
    found.save(tmp_path)
    (tmp_path / "segments.csv").write_text("start\n0\n")
    with pytest.raises(ValueError, match="changed since it was written"):
        Segmentation.load(tmp_path)


def test_one_span_has_no_boundary_and_can_be_saved(tmp_path):
    noise = np.random.default_rng(0).standard_normal((100, 5))
    found = seqspan.segment(noise)
    assert repr(found) == "Segmentation(1 span, 1 label, 100 samples)"
    assert found.confidence.size == 0
    found.save(tmp_path)
    assert Segmentation.load(tmp_path).boundaries.size == 0


def test_a_cut_is_the_cutter_s(found):
    X, Z = found.representation.samples.T, found.representation.Z
    division = make_cutter("ordered", X, Z).cut()
    np.testing.assert_array_equal(division.sample_labels(80), found.labels)


def test_a_notebook_shows_a_small_timeline(found):
    html = found.rename({"A": "<b>walk</b>"})._repr_html_()
    root = ElementTree.fromstring(html)
    bars = root.findall(".//rect")
    assert [bar.get("fill") for bar in bars] == [COLOURS[label] for label in ORDER]
    assert sum(float(bar.get("width")) for bar in bars) == pytest.approx(640, abs=0.1)
    assert bars[0].find("title").text == "<b>walk</b>: 0 to 19"
    assert "http" not in html
    assert len(html) < 2000


def test_a_timeline_of_many_spans_stays_small():
    labels = np.arange(5000) // 2 % 50
    many = Segmentation(as_recording(np.zeros((5000, 1))), labels, boundaries_from_labels(labels), 0.0)
    html = many._repr_html_()
    assert html.count("<rect") == 640
    assert "and 30 more" in html
    assert len(html) < 100_000


def test_dates_are_on_the_axis_and_names_in_the_legend(found):
    start = np.datetime64("2024-03-01T10:00:00", "us")
    dates = Dates(start + np.arange(80) * np.timedelta64(1, "m"), "+02:00")
    dated = replace(found, recording=replace(found.recording, dates=dates)).rename(["walk"])
    ax = dated.plot()
    low, high = num2date(ax.get_xlim())
    assert (low.isoformat(), high.isoformat()) == ("2024-03-01T12:00:00+00:00", "2024-03-01T13:20:00+00:00")
    assert ax.get_xlabel() == "time +02:00"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["walk", "B", "C"]
    assert ax.get_legend().get_title().get_text() == "state"
    plt.close(ax.figure)
    assert dated._repr_html_().count("2024-03-01T1") == 2


def test_names_are_given_by_letter_number_or_order(found):
    assert found.rename({"B": "run", 0: "walk"}).label_names == ("walk", "run")
    assert found.rename(["walk"]).rename({"C": "sit"}).label_names == ("walk", "", "sit")
    with pytest.raises(ValueError, match="names must be for labels such as 0 or 'A'; got 'run'"):
        found.rename({"run": "B"})


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("walk", "a mapping or a sequence of names; got the text 'walk'"),
        ({0: 3}, "names must be text; got 3 for label 0"),
        ({0: None}, "names must be text; got None"),
        ({1.5: "walk"}, "names must be for labels such as 0 or 'A'; got 1.5"),
        ({10**9: "walk"}, "got 1000000000"),
        (["\ud800"], r"names must be text that UTF-8 can write; got '\\\\ud800'"),
    ],
)
def test_names_that_are_none_are_refused(found, names, message):
    with pytest.raises(ValueError, match=message):
        found.rename(names)


def test_strings_are_paths(found, tmp_path):
    found.save(str(tmp_path / "walk.seqspan"))
    assert load_result(str(tmp_path / "walk.seqspan"))["n_spans"] == 4
    timeline = Timeline("walk.amc", "mocap", "s", found.spans)
    write_export("audacity", timeline, str(tmp_path / "labels.txt"))
    assert (tmp_path / "labels.txt").exists()
    found.write_tables(str(tmp_path))
    assert (tmp_path / "segments.csv").exists()
