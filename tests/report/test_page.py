"""What goes into the page, without a browser."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan import OSC, pipeline
from seqspan._core.dates import Dates
from seqspan._core.scaling import scale_columns
from seqspan._core.solution import Solution
from seqspan._core.spans import MIN_LENGTH
from seqspan.cuts import make_cutter
from seqspan.cuts.cutting import Cutting
from seqspan.cuts.ordered.confidence import boundary_confidence
from seqspan.cuts.ordered.features import sample_features
from seqspan.cuts.spectral.affinity import SharedAffinity
from seqspan.cuts.spectral.n_subspaces import find_soft_gap, soft_scores
from seqspan.cuts.spectral.ncut import normalised_cut
from seqspan.datasets import make_recurring_subspaces
from seqspan.models import Osc
from seqspan.pipeline import as_recording
from seqspan.plots import COLOURS
from seqspan.recording import PoseView, Recording, SpectrumView
from seqspan.report import _content, _recuts, build_report
from seqspan.report._changes import MAX_PLACES, confidence_everywhere, describe_changes
from seqspan.report._channels import MAX_CHANNELS, MAX_POINTS, describe_channels, label_information
from seqspan.report._content import Content
from seqspan.report._page import SCRIPTS, to_script_json
from seqspan.report._pictures import MAX_SIDE, affinity_map, heat_map, symmetric_heat_map
from seqspan.report._recuts import MAX_GROUPS, pool_sum, recut, recut_grains, snap
from seqspan.report._views import make_view, wanted_samples
from seqspan.report._words import (
    describe_certificate,
    describe_number,
    describe_objective,
    describe_one_span,
    describe_returning,
    describe_support,
    describe_uncertain,
)
from seqspan.representation import Representation


def represent(X: np.ndarray, Z: np.ndarray, rows: np.ndarray | None = None, **solution) -> Representation:
    """What the pipeline's first stage would return for samples X (d, n) and coefficients Z."""
    known = {"objective": 10.0, "gap": 0.008, "n_iter": 20} | solution
    rows = np.arange(X.shape[1]) if rows is None else rows
    recording = Recording(
        X=np.repeat(X.T, len(rows) and int(rows[1]) if len(rows) > 1 else 1, axis=0),
        times=np.arange(X.shape[1] * (int(rows[1]) if len(rows) > 1 else 1)) / 10,
        time_unit="s",
        feature_names=tuple(f"c{i}" for i in range(X.shape[0])),
        kind="table",
        source="walk.csv",
    )
    solved = Solution(Z, converged=True, state=None, **known)
    return Representation(recording, X, X.T, rows, Osc(0.1, 1.0), solved)


def make_content(n_per_span: int = 20, cut: str = "ncut", n_labels: int = 2) -> Content:
    X, _ = make_recurring_subspaces([0, 1, 0], 2, 8, n_per_span, rng=0)
    osc = OSC(2, random_state=0).fit(X.T)
    found = represent(scale_columns(X), osc.coef_.astype(np.float32), history=list(osc.history_))
    counts = {"n_spans": 3} if cut == "peaks" else {"n_subspaces": n_labels}
    return Content(pipeline.cut(found, Cutting(cut, **counts)))


def change(content: Content, **fields) -> Content:
    """The same page with another answer."""
    return replace(content, found=replace(content.found, **fields))


@pytest.fixture(scope="module")
def content() -> Content:
    return make_content()


@pytest.fixture(scope="module")
def in_order() -> Content:
    return make_content(cut="ordered")


def data_of(page: str) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


class _Outline(HTMLParser):
    """Elements that are open, in order; raises nothing, so closing is checked here."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "input", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_refers_to_nothing_outside(content):
    page = build_report(content.found)
    outline = _Outline()
    outline.feed(page)
    assert outline.open == []
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page) == []
    assert not re.search(r"<(?:link|iframe|object)|\bsrc=\"(?!data:)|@import|url\(", page)


def test_the_page_holds_what_was_found(content):
    data = data_of(build_report(content.found))
    assert data["found"] == [[0, 20, 40], [0, 1, 0]]
    assert data["confidence"]["2"] == {
        "20": pytest.approx(content.confidence[0], abs=6e-4),
        "40": pytest.approx(content.confidence[1], abs=6e-4),
    }
    assert min(data["confidence"]["2"].values()) > 0.9
    for k, (starts, _) in data["cuts"].items():
        assert sorted(map(int, data["confidence"][k])) == starts[1:]
        assert all(0 <= value <= 1 for value in data["confidence"][k].values())
    assert sorted(map(int, data["cuts"])) == list(range(1, 21))
    assert data["edges"] == {"start": 0.0, "step": pytest.approx(0.1)}
    assert data["colours"] == list(COLOURS)
    assert len(data["spectrum"]) == 21
    assert data["spectrum"][0] == pytest.approx(0, abs=1e-6)


def test_uneven_times_are_all_there(content):
    times = np.cumsum(np.random.default_rng(0).random(60))
    found = replace(content.found, recording=replace(content.recording, times=times))
    np.testing.assert_allclose(data_of(build_report(found))["edges"][:60], times, rtol=1e-9)


@pytest.mark.parametrize(("cut", "numbers"), [("ncut", [1, 2, 3]), ("ordered", [1]), ("peaks", [1, 2, 3])])
def test_short_recordings_have_a_page_too(cut, numbers):
    found = represent(np.eye(3), np.eye(3, dtype=np.float32), objective=0.0, gap=0.0)
    alone = {"n_spans": 1} if cut == "peaks" else {"n_subspaces": 1}
    data = data_of(build_report(pipeline.cut(found, Cutting(cut, **alone))))
    assert data["found"] == [[0], [0]]
    assert data["confidence"]["1"] == {}
    assert sorted(map(int, data["cuts"])) == numbers


@given(text=st.text())
def test_data_cannot_end_its_script_and_comes_back(text):
    written = to_script_json({text: [text]})
    assert "<" not in written
    assert json.loads(written) == {text: [text]}


def test_scripts_do_not_write_html():
    from importlib.resources import files

    for name in SCRIPTS:
        source = files("seqspan.report").joinpath(name).read_text()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", source), name


def test_recuts_of_few_samples_are_those_of_the_library(content):
    cuts = recut(content)
    for k in (1, 3, 7):
        assert cuts[k].tolist() == normalised_cut(content.W, k, rng=0, n_starts=4).tolist()
    assert cuts[2] is content.found.labels


def test_recuts_of_many_samples_are_near_the_exact_ones():
    n = 2 * MAX_GROUPS + 1
    edges = np.array([0, 301, 778, 1190, n])
    labels = np.repeat([0, 1, 2, 0], np.diff(edges))
    noise = np.random.default_rng(0).random((n, n)) * 0.01
    Z = ((labels[:, None] == labels) + noise).astype(np.float32)
    found = pipeline.cut(represent(np.zeros((8, n)), Z), Cutting("ncut", n_subspaces=1))
    assert recut(Content(found))[3].tolist() == labels.tolist()


def test_recuts_in_order_are_those_of_the_library(in_order):
    cuts = recut(in_order)
    assert sorted(cuts) == list(range(1, 60 // MIN_LENGTH + 1))
    assert cuts[2] is in_order.found.labels
    fresh = make_cutter("ordered", in_order.representation.X, in_order.Z)
    for k in (1, 3, 5, 12):
        assert cuts[k].tolist() == fresh.cut(n_subspaces=k).sample_labels(60).tolist()
        assert len(np.unique(cuts[k])) == k


def test_nothing_is_computed_again_for_the_page(in_order, monkeypatch):
    _ = in_order.found.cutter.span_count  # the surrogates of the cut itself
    monkeypatch.setattr("seqspan.cuts.cutter.sample_features", None)
    monkeypatch.setattr("seqspan.cuts.ordered.cut.count_spans", None)
    assert "walk.csv" in build_report(in_order.found)


def test_the_page_of_an_ordered_cut_holds_what_was_found(in_order):
    data = data_of(build_report(in_order.found))
    assert data["found"] == [[0, 20, 40], [0, 1, 0]]
    assert data["cuts"]["2"] == data["found"]
    assert sorted(map(int, data["cuts"])) == list(range(1, 13))
    for k, (starts, _) in data["cuts"].items():
        assert sorted(map(int, data["confidence"][k])) == starts[1:]
    true = data["confidence"]["2"].values()
    false = [value for start, value in data["confidence"]["12"].items() if int(start) not in (20, 40)]
    assert max(false) < 0.5 < min(true)


def test_confidence_is_that_of_the_columns_that_stand_for_samples(in_order):
    X, Z = in_order.representation.X, in_order.Z
    every_third = pipeline.cut(represent(X, Z, 3 * np.arange(60)), in_order.found.cutting)
    assert every_third.boundaries.tolist() == [60, 120]
    np.testing.assert_array_equal(every_third.confidence, in_order.confidence)
    expected = boundary_confidence(sample_features(X), np.array([20, 40]))
    np.testing.assert_array_equal(in_order.confidence, expected)


def test_peaks_are_recut_by_number_of_spans():
    assert len(np.unique(recut(make_content(cut="peaks"))[5])) == 5


@given(n=st.integers(2, 40), size=st.integers(1, 7), seed=st.integers(0, 9))
def test_pooling_keeps_the_sum_and_snapping_keeps_the_labels(n, size, seed):
    rng = np.random.default_rng(seed)
    W = rng.random((n, n))
    W = W + W.T
    assert pool_sum(W, size).sum() == pytest.approx(W.sum())
    labels = np.repeat(rng.integers(0, 3, -(-n // size)), size)[:n]
    moved = snap(labels, rng.random(n - 1), np.array([], dtype=int), size)
    changes = np.flatnonzero(np.diff(labels)) + 1
    assert len(moved) == n
    assert moved[[0, *np.flatnonzero(np.diff(moved)) + 1]].tolist() == labels[[0, *changes]].tolist()
    assert np.abs(np.flatnonzero(np.diff(moved)) + 1 - changes).max(initial=0) < size


def test_landmarks_have_rows_of_their_own_and_affinities_are_means():
    Z = np.abs(np.random.default_rng(0).standard_normal((50, 2 * MAX_SIDE + 3)))
    assert heat_map(Z)["size"] == (1, 3)
    W = SharedAffinity(Z)
    heat, dense = affinity_map(Z), W.multiply(np.eye(len(W)))
    assert (heat["size"], heat["what"]) == ((3, 3), "mean")
    means = [[dense[i : i + 3, j : j + 3].mean() for j in range(0, len(W), 3)] for i in range(0, len(W), 3)]
    assert heat["top"] == pytest.approx(np.percentile(means, 99.5))
    assert pool_sum(W, 3) == pytest.approx(pool_sum(dense, 3))


@pytest.mark.parametrize("n", [5, 2 * MAX_SIDE + 3])
def test_affinities_are_pooled_without_being_written_out(n):
    Z = np.random.default_rng(n).standard_normal((n, n))
    assert symmetric_heat_map(Z) == heat_map(np.abs(Z) + np.abs(Z).T)


@pytest.mark.parametrize("n", [5, MAX_SIDE, 3 * MAX_SIDE + 1])
def test_heat_maps_keep_the_largest_of_every_block(n):
    from io import BytesIO

    from PIL import Image

    Z = np.random.default_rng(n).standard_normal((n, n))
    heat = heat_map(Z)
    picture = np.asarray(Image.open(BytesIO(b64decode(heat["picture"].partition(",")[2]))))
    assert max(picture.shape) <= MAX_SIDE
    size, other = heat["size"]
    assert size == other
    for row, column in [(0, 0), (1, 2), (len(picture) - 1, len(picture) // 2)]:
        block = np.abs(Z[row * size : (row + 1) * size, column * size : (column + 1) * size])
        value = (picture[row, column] / 255) ** 2 * heat["top"]
        # 255 steps of the root: an error of half of one, doubled by the square
        assert value == pytest.approx(min(block.max(), heat["top"]), abs=1.1 / 255 * heat["top"])


def test_samples_of_the_chosen_cut_are_shown_before_all_others():
    cuts = {2: np.repeat([0, 1], 50), 9: np.repeat(np.arange(10), 10)}
    shown = wanted_samples(cuts, 2, 6)
    assert shown.tolist() == [0, 24, 49, 50, 74, 99]


def test_poses_and_spectra_have_their_own_looks(content):
    n = len(content.recording)
    cuts = {2: content.found.labels}
    positions = np.random.default_rng(0).normal(0, [1, 5, 2], (n, 4, 3)).astype(np.float32)
    pose = make_view(replace(content.recording, view=PoseView(positions, ("a",) * 4, ((0, 1),))), cuts, 2)
    assert (pose["kind"], pose["joints"], pose["samples"][0]) == ("poses", 4, 0)
    points = np.frombuffer(b64decode(pose["points"]), np.int8).reshape(len(pose["samples"]), 4, 2)
    first = points[0]
    np.testing.assert_allclose(
        np.corrcoef(first[:, 1], positions[0, :, 1])[0, 1], 1, atol=1e-2
    )  # the tall axis is up
    spectra = np.linspace(0, 1, n)[:, None] + np.zeros((n, 400))
    view = make_view(replace(content.recording, view=SpectrumView(spectra, np.arange(400.0), "nm")), cuts, 2)
    assert (view["kind"], len(view["bands"]), view["bands"][-1]) == ("spectra", 160, 399.0)
    assert [view["blocks"][0][0], view["blocks"][-1][0]] == [0, 999]


def test_wavelengths_that_tell_labels_apart_are_named(content):
    rng = np.random.default_rng(0)
    spectra = rng.normal(0, 0.1, (60, 400))
    spectra[content.found.labels == 1, 95:105] += 1
    view = SpectrumView(spectra, np.arange(400.0), "nm")
    found = make_view(replace(content.recording, view=view), {2: content.found.labels}, 2)
    assert any(95 <= found["bands"][band] < 105 for band in found["telling"])
    alone = make_view(replace(content.recording, view=view), {1: np.zeros(60, dtype=int)}, 1)
    assert alone["telling"] == []


def wide_recording(content: Content, X: np.ndarray) -> Recording:
    names = tuple(f"c{i}" for i in range(X.shape[1]))
    return replace(content.recording, X=X, times=np.arange(float(len(X))), feature_names=names)


def test_the_channels_shown_are_those_that_tell_labels_apart(content):
    rng = np.random.default_rng(0)
    labels = content.found.labels
    X = rng.standard_normal((60, 30))
    X[:, 7] += 100 + 9 * labels  # in mean
    X[:, 21] *= 1 + 20 * labels  # in spread
    view = make_view(wide_recording(content, X), {2: labels}, 2)
    assert [channel["name"] for channel in view["channels"]][:2] == ["c7", "c21"]
    assert (len(view["channels"]), view["total"]) == (MAX_CHANNELS, 30)
    alone = make_view(wide_recording(content, X), {1: np.zeros(60, dtype=int)}, 1)
    assert [channel["name"] for channel in alone["channels"]] == [f"c{i}" for i in range(MAX_CHANNELS)]


@given(seed=st.integers(0, 99), n_labels=st.integers(2, 5))
def test_information_is_what_labels_save_in_the_entropy_of_gaussians(seed, n_labels):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(4000) % n_labels)
    means, spreads = rng.normal(0, 3, n_labels), rng.uniform(1, 3, n_labels)
    x = means[labels] + spreads[labels] * rng.standard_normal(4000)
    entropy = [0.5 * np.log(np.var(x[labels == k])) for k in range(n_labels)]
    expected = 0.5 * np.log(np.var(x)) - np.mean(entropy)
    # every label is given one sample of the whole recording more
    assert label_information(x[:, None], labels)[0] == pytest.approx(expected, abs=0.02)


def test_long_channels_are_summarised_in_their_own_units(content):
    n = 3 * MAX_POINTS + 5
    X = 1e6 + np.random.default_rng(0).standard_normal((n, 1)).cumsum(axis=0)
    (channel,) = describe_channels(wide_recording(content, X), np.zeros(n, dtype=int))["channels"]
    for name, reduce in [("means", np.mean), ("lows", np.min), ("highs", np.max)]:
        values = channel["zero"] + channel["unit"] * np.array(channel[name])
        expected = [reduce(X[start : start + 4]) for start in range(0, n, 4)]
        np.testing.assert_allclose(values, expected, atol=1e-3 * X.std())


@pytest.mark.parametrize("shape", [(3, 2), (5, 4), (50, 6), (6, 50)])
def test_a_constant_recording_has_channels_too(content, shape):
    view = make_view(wide_recording(content, np.full(shape, 0.1)), {1: np.zeros(shape[0], int)}, 1)
    assert all(set(channel["means"]) == {0} for channel in view["channels"])
    assert view["channels"][0]["zero"] == pytest.approx(0.1)


@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-300])
def test_channels_of_any_size(content, scale):
    X = scale * np.random.default_rng(0).integers(-9, 9, (6, 12)).astype(float)
    view = make_view(wide_recording(content, X), {2: np.array([0, 0, 0, 1, 1, 1])}, 2)
    channel = view["channels"][0]
    shown = channel["zero"] + channel["unit"] * np.array(channel["means"])
    np.testing.assert_allclose(shown, X[:, int(channel["name"][1:])], rtol=1e-3, atol=1e-3 * scale)


def test_changes_of_different_size_show_side_by_side():
    rng = np.random.default_rng(0)
    levels = np.repeat([-1.0, 1.0, 0.4], 40)
    Y = levels[:, None] + 0.05 * rng.standard_normal((120, 2))
    values = describe_changes(Y)["values"]
    assert values[0] == 0
    assert values[40] == max(values)
    assert values[80] == max(values[60:])
    assert values[80] > values[40] / 2  # a third of the step
    assert np.median(values) < values[80] / 1.5


def test_the_curve_is_the_confidence_of_single_boundaries(in_order):
    features = in_order.found.cutter.features
    values = confidence_everywhere(features)
    for place in (1, 7, 20, 33, 40, 59):
        assert values[place] == boundary_confidence(features, np.array([place]))[0]
    shown = data_of(build_report(in_order.found))["changes"]
    values[:5] = values[-4:] = 0  # no span can be there
    assert shown == {"size": 1, "values": np.round(1000 * values).astype(int).tolist()}


def test_long_recordings_are_averaged_over_blocks_first():
    levels = np.repeat([-1.0, 1.0], [4 * MAX_PLACES, 4 * MAX_PLACES])
    Y = levels[:, None] + 0.1 * np.random.default_rng(0).standard_normal((8 * MAX_PLACES, 2))
    shown = describe_changes(Y)
    assert (shown["size"], len(shown["values"])) == (8, MAX_PLACES)
    assert np.argmax(shown["values"]) == MAX_PLACES / 2


@pytest.mark.parametrize("seed", range(8))
def test_the_scores_of_gaps_are_those_of_the_library(seed):
    rng = np.random.default_rng(seed)
    W = np.kron(np.eye(rng.integers(2, 9)), np.ones((6, 6))) + rng.random() * 0.1
    W = W + rng.random(W.shape) * 0.1
    W = W + W.T
    degree = W.sum(axis=0)
    spectrum = np.linalg.eigvalsh(np.eye(len(W)) - W / np.sqrt(np.outer(degree, degree)))
    scores = soft_scores(spectrum[:31].clip(0).tolist())
    assert scores.argmax() + 1 == find_soft_gap(W)


def test_sentences_say_what_the_numbers_are(content):
    text = describe_certificate(content)
    assert "stopped within 0.8 % of the optimum" in text
    assert "it does not say how good the spans are" in text
    assert "below 9.92" in describe_objective(content)  # 10 minus 0.8 %
    assert describe_uncertain(content) == "All 2 boundaries are clear."
    assert describe_uncertain(change(content, boundaries=np.array([20]))) == "The only boundary is clear."
    rounded = replace(content.found, given_confidence=np.array([0.9, 0.79996]))
    assert describe_uncertain(Content(rounded)) == "All 2 boundaries are clear."  # as its bar says
    likely = replace(content.found, given_confidence=np.array([0.9, 0.7]))
    assert describe_uncertain(Content(likely)) == (
        "1 of 2 boundaries is clear (confidence of 80 % or more); the other one is likely."
    )
    likely = replace(likely, given_confidence=np.array([0.6, 0.7]))
    assert describe_uncertain(Content(likely)) == (
        "All 2 boundaries are likely, but not clear (confidence below 80 %)."
    )
    wrong = change(content, boundaries=np.array([8, 20, 40, 50]))
    assert (
        describe_uncertain(wrong) == "2 of 4 boundaries are uncertain (confidence below 50 %): take a look."
    )
    assert "1 of 3 boundaries is uncertain" in describe_uncertain(
        change(content, boundaries=np.array([8, 20, 40]))
    )
    assert (
        describe_uncertain(change(content, boundaries=np.array([], dtype=int))) == "There are no boundaries."
    )
    number = describe_number(content, [0.0, 0.01, 0.5, 0.9, 1.0])
    assert "2 states were chosen by the rule" in number
    assert "the runners-up are 3 (score 0.41) and 4 (score 0.1): try them with the slider." in number
    given = describe_number(replace(content, document={"settings": {"subspaces": "2"}}), [0.0, 0.1, 0.5])
    assert given.startswith("2 states were requested.")


def test_a_lone_boundary_can_be_uncertain():
    rng = np.random.default_rng(0)
    found = pipeline.cut(
        represent(rng.standard_normal((8, 60)), rng.standard_normal((60, 60))), Cutting("ordered", n_spans=2)
    )
    uncertain = "The only boundary is uncertain (confidence below 50 %): take a look."
    least_sure = int(np.argmin(confidence_everywhere(found.cutter.features)[1:])) + 1
    assert describe_uncertain(change(Content(found), boundaries=np.array([least_sure]))) == uncertain


def test_sentences_of_the_ordered_cut_give_the_evidence_for_its_labels(in_order):
    second, third = in_order.label_evidence
    assert second > 0 > third  # two states, one of which returns
    assert describe_number(in_order, [0.0, 0.1]) == (
        f"2 states were found. Telling 2 states apart instead of 1 gains {second:.2g} nats; "
        "one more would gain nothing. Spans share a label unless telling them apart describes the samples "
        "better."
    )
    apart = change(in_order, labels=np.repeat([0, 1, 2], 20))
    vars(apart)["label_evidence"] = np.array([9.0, 3.0])
    assert "gains 3 nats; every span has its own." in describe_number(apart, [0.0])
    one = change(in_order, boundaries=np.array([], dtype=int), labels=np.zeros(60, dtype=int))
    assert describe_number(one, [0.0, 0.1]) == (
        "1 state was found. There is one span, so there is nothing to tell apart."
    )
    given = replace(one, document={"settings": {"subspaces": "1"}})
    assert describe_number(given, [0.0]).startswith("1 state was requested.")


def test_evidence_against_another_label_gains_nothing(in_order):
    against = replace(in_order)
    vars(against)["label_evidence"] = np.array([9.0, -1.0])
    assert "one more would gain nothing." in describe_number(against, [0.0])


def test_the_number_is_explained_by_what_chose_it(content, in_order):
    assert data_of(build_report(content.found))["labelEvidence"] is None
    page = build_report(in_order.found)
    evidence = data_of(page)["labelEvidence"]
    np.testing.assert_allclose(evidence["values"], in_order.label_evidence, rtol=1e-2)
    assert 1 + sum(value > 0 for value in evidence["values"]) == in_order.found.n_subspaces
    assert "eigenvalues" not in page.split("<script")[0]


def test_where_no_other_number_can_be_there_are_no_rivals():
    alone = make_content(n_labels=1)
    assert describe_number(alone, [0.0, 0.9]) == "1 state was chosen by the rule “auto”."
    assert "runners-up" in describe_number(alone, [0.0, 0.9, 1.0])


@pytest.mark.parametrize(("room", "numbers", "grains"), [(4, [1, 2, 3], 2), (2, [2], 2), (0, [2], 0)])
def test_long_recordings_have_fewer_other_answers(in_order, monkeypatch, room, numbers, grains):
    monkeypatch.setattr(_recuts, "MOST_ANSWERS", ((60, room),))
    assert sorted(recut(in_order)) == numbers
    assert len(recut_grains(in_order)) == grains
    page = build_report(in_order.found)
    assert ('id="as-found"' in page) == (grains > 0)
    assert ('id="number"' in page) == (len(numbers) > 1)


def test_grains_are_those_of_the_library(in_order):
    grains = recut_grains(in_order)
    data = data_of(build_report(in_order.found))
    for name in ("coarse", "fine"):
        expected = in_order.found.recut(grain=name)
        assert grains[name].labels.tolist() == expected.labels.tolist()
        assert grains[name].cutting.grain == name
        assert data["grains"][name][0] == [0, *expected.boundaries.tolist()]
        assert list(map(int, data["confidence"][name])) == expected.boundaries.tolist()


def test_the_evidence_for_labels_is_left_out_where_it_takes_long(in_order, monkeypatch):
    monkeypatch.setattr(_content, "MAX_EVIDENCE_SAMPLES", 59)
    fresh = Content(in_order.found)
    assert "is left out" in describe_number(fresh, [])
    assert describe_support(fresh) == "2 states were found."
    assert data_of(build_report(in_order.found))["labelEvidence"] == {"values": []}


def test_what_speaks_for_the_labels_is_said_without_numbers(in_order):
    some = replace(in_order)
    vars(some)["label_evidence"] = np.array([4.0, -1.0])
    assert describe_support(some) == (
        "2 states were found. There is strong evidence for 2 states rather than 1, and none for another "
        "state."
    )
    vars(some)["label_evidence"] = np.array([0.5, 1.5])
    assert "hardly any evidence for 2 states rather than 1, and some evidence for" in describe_support(some)
    vars(some)["label_evidence"] = np.array([6.0])
    assert describe_support(some).endswith("very strong evidence for 2 states rather than 1.")


def test_one_span_is_explained(in_order):
    assert describe_one_span(in_order) is None
    one = change(in_order, boundaries=np.array([], dtype=int), labels=np.zeros(60, dtype=int))
    assert "nothing was found to change" in describe_one_span(one)["meaning"]
    assert "--grain fine" in describe_one_span(one)["hints"][0]
    asked = replace(one, document={"settings": {"spans": "1"}})
    assert describe_one_span(asked)["meaning"].startswith("One span was requested")
    assert describe_one_span(asked)["hints"] == ["Give no number, and it is found."]
    peaks = replace(one, found=replace(one.found, cutting=Cutting("peaks")))
    assert not any("--grain" in hint for hint in describe_one_span(peaks)["hints"])
    assert describe_returning(one) == ""


def test_labels_that_return_are_named_most_frequent_first(in_order):
    assert describe_returning(in_order) == "One returns: A (2 spans)."
    apart = change(in_order, labels=np.repeat([0, 1, 2], 20))
    assert describe_returning(apart) == "No state returns."
    some = change(in_order, labels=np.repeat([1, 0, 1, 2, 1, 0], 10), boundaries=np.arange(10, 60, 10))
    assert describe_returning(some) == "2 return: B (3 spans), A (2 spans)."
    many = change(in_order, labels=np.arange(60) % 6, boundaries=np.arange(1, 60))
    assert describe_returning(many).endswith("D (10 spans), and 2 more.")


def test_dates_and_names_reach_the_page(in_order):
    start = np.datetime64("2024-03-01T08:00", "ms")
    dates = Dates(start + np.arange(60) * np.timedelta64(100, "ms"), "UTC")
    dated = replace(in_order.found, recording=replace(in_order.found.recording, dates=dates))
    named = {"label_names": ["idle", ""]}
    data = data_of(build_report(dated, named))
    assert data["dates"] == [
        [0, "2024-03-01T08:00:00.000Z"], [20, "2024-03-01T08:00:02.000Z"], [40, "2024-03-01T08:00:04.000Z"],
    ]  # fmt: skip
    assert data["perSecond"] is None
    assert data["names"] == {"0": "idle"}
    assert describe_returning(replace(in_order, document=named)) == "One returns: idle (2 spans)."
    assert data_of(build_report(in_order.found))["dates"] is None


@pytest.mark.parametrize("n", [1076, 2071, 4422])
def test_moving_poses_stay_within_the_recording(n):
    view = PoseView(np.random.default_rng(0).standard_normal((n, 3, 3)), ("a", "b", "c"), ((0, 1),))
    recording = replace(as_recording(np.zeros((n, 9)), "mocap"), times=np.arange(n) / 30.0, view=view)
    samples = make_view(replace(recording, time_unit="s"), {1: np.zeros(n, int)}, 1)["samples"]
    assert samples[0] == 0
    assert samples[-1] == n - 1
    assert max(np.diff(samples)) < 2 * 30 / 12 + 1
