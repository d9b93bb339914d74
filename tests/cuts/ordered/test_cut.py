"""Planted spans are found as they are, whatever is given; and what the answer must not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from seqspan import OSC
from seqspan._core.spans import boundaries_from_labels
from seqspan._core.threads import Team
from seqspan.cuts.ordered import cost as cost_module
from seqspan.cuts.ordered import search as search_module
from seqspan.cuts.ordered.confidence import boundary_confidence
from seqspan.cuts.ordered.cost import make_cost
from seqspan.cuts.ordered.cut import MIN_LENGTH, OrderedCutter
from seqspan.cuts.ordered.jumps import find_jumps
from seqspan.cuts.ordered.merging import SpanMerging
from seqspan.datasets import make_recurring_subspaces, make_subspaces

ORDER, LENGTHS = [0, 1, 2, 0, 3, 1], [25, 30, 20, 28, 33, 24]
GIVEN = {  # what is told about six spans of four subspaces
    "spans and labels": {"n_spans": 6, "n_subspaces": 4},
    "labels": {"n_subspaces": 4},
    "spans": {"n_spans": 6},
    "nothing": {},
}


def ordered_cut(X, Z, *, n_spans="auto", n_subspaces="auto", **options):
    return OrderedCutter(X, Z, **options).cut(n_spans, n_subspaces)


def planted_coefficients(labels, seed=0, noise=0.02):
    """Samples of a subspace represent each other, and others a little."""
    Z = (labels[:, None] == labels) / np.bincount(labels)[labels]
    return Z + noise * np.random.default_rng(seed).standard_normal(Z.shape) / np.sqrt(len(labels))


def scenes(cuts, n, heights=None, noise=0.05, seed=0):
    """Samples near places that change at the cuts; the k-th cut is as high as the k-th height."""
    rng = np.random.default_rng(seed)
    heights = np.full(len(cuts), 3.0) if heights is None else np.array(heights)
    X = noise * rng.standard_normal((6, n))
    for axis, (cut, height) in enumerate(zip(cuts, heights, strict=True)):
        X[axis % 6, cut:] += height
    return X


@pytest.fixture(scope="module")
def solved():
    """The paper's subspaces, one after the other and recurring, with the coefficients that OSC finds."""
    problems = {
        "in turn": make_subspaces(rng=0),
        "recurring": make_recurring_subspaces(ORDER, samples_per_span=LENGTHS, rng=1),
    }
    return {name: (X, labels, OSC(n_subspaces=4).fit(X.T).coef_) for name, (X, labels) in problems.items()}


@pytest.mark.parametrize("given", [{"n_spans": 5}, {"n_subspaces": 5}, {}], ids=str)
def test_subspaces_in_turn_are_found_in_coefficients_of_osc(solved, given):
    X, labels, Z = solved["in turn"]
    found = ordered_cut(X, Z, rng=0, **given)
    np.testing.assert_array_equal(found.boundaries, boundaries_from_labels(labels))
    np.testing.assert_array_equal(found.labels, range(5))


@pytest.mark.parametrize("given", GIVEN)
def test_recurring_subspaces_are_found_in_coefficients_of_osc(solved, given):
    X, labels, Z = solved["recurring"]
    found = ordered_cut(X, Z, rng=0, **GIVEN[given])
    np.testing.assert_array_equal(found.boundaries, np.cumsum(LENGTHS)[:-1])
    np.testing.assert_array_equal(found.sample_labels(len(labels)), labels)


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("mean", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_planted_subspaces_are_found(given, mean, seed):
    X, labels = make_recurring_subspaces(ORDER, 4, 100, LENGTHS, coefficient_mean=mean, rng=seed)
    found = ordered_cut(X, planted_coefficients(labels, seed), rng=seed, **GIVEN[given])
    np.testing.assert_array_equal(found.sample_labels(len(labels)), labels)


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_one_span(seed):
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((10, 120)), rng.standard_normal((120, 120))
    found = ordered_cut(X, Z, rng=seed)
    assert found.boundaries.tolist() == []
    assert found.labels.tolist() == [0]


@pytest.mark.parametrize("given", [{}, {"n_subspaces": 3}, {"n_spans": 4}])
def test_levels_without_noise_are_found(given):
    levels = np.random.default_rng(0).standard_normal((3, 6))
    osc = OSC(cut="ordered", random_state=0, **given).fit(levels[np.repeat([0, 1, 2, 0], 60)])
    assert osc.boundaries_.tolist() == [60, 120, 180]
    assert osc.n_subspaces_ == 3


@pytest.mark.parametrize("seed", range(3))
def test_slow_motion_in_one_subspace_is_no_change(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    coefficients = gaussian_filter1d(rng.standard_normal((4, 300)), 10, axis=1)
    X = np.linalg.qr(rng.standard_normal((20, 4)))[0] @ coefficients
    X /= np.linalg.norm(X, axis=0)
    Z = OSC(n_subspaces=1).fit(X.T).coef_
    assert len(ordered_cut(X, Z, rng=0).boundaries) == 0
    # by itself the evidence, which takes samples for independent, would see changes
    monkeypatch.setattr("seqspan.cuts.ordered.null_distribution.MIN_CHANGE_RATIO", 0.0)
    assert len(ordered_cut(X, Z, rng=0).boundaries) > 0


@pytest.mark.parametrize("value", [0.0, 1.5])
def test_nothing_happening_is_one_span(value):
    assert ordered_cut(np.full((3, 40), value), np.zeros((40, 40)), rng=0).boundaries.tolist() == []


def test_jumps_are_kept_when_nothing_is_given():
    cuts = [33, 61, 100]
    X = scenes(cuts, 140)
    assert find_jumps(X)[0].tolist() == cuts
    for given in ({}, {"n_subspaces": 2}, {"n_spans": 6}):
        assert set(cuts) <= set(ordered_cut(X, np.eye(140), rng=0, **given).boundaries.tolist())


@pytest.mark.parametrize(("n_spans", "expected"), [(1, []), (2, [61]), (3, [61, 100]), (4, [33, 61, 100])])
def test_fewer_spans_than_jumps_keep_the_sharpest(n_spans, expected):
    X = scenes([33, 61, 100], 140, heights=[2.0, 8.0, 4.0], noise=0.03)
    # every step nearby has the same few lengths, so the highest cut is the sharpest
    assert ordered_cut(X, np.eye(140), n_spans=n_spans, rng=0).boundaries.tolist() == expected


@pytest.mark.parametrize("given", [{"n_spans": 8}, {"n_subspaces": 8}], ids=str)
def test_a_jump_gives_way_to_the_number_of_spans(given):
    X = scenes([17], 40)  # eight spans of five samples fit into forty only if none ends at 17
    assert find_jumps(X)[0].tolist() == [17]
    found = ordered_cut(X, np.eye(40), rng=0, **given)
    np.testing.assert_array_equal(found.boundaries, np.arange(5, 40, 5))
    assert 17 in ordered_cut(X, np.eye(40), n_spans=7, rng=0).boundaries


@pytest.mark.parametrize("min_length", [1, 5, 12])
@pytest.mark.parametrize("exact_up_to", [1000, 40, 13])
@pytest.mark.parametrize("cuts", [[], [47], [30, 60]])
def test_no_span_is_too_short(min_length, exact_up_to, cuts):
    n = 101
    for seed in range(3):
        X = scenes(cuts, n, noise=0.3, seed=seed)
        cutter = OrderedCutter(X, np.eye(n), min_length=min_length, rng=0, exact_up_to=exact_up_to)
        for n_spans in (2, 3, 5):
            boundaries = cutter.cut(n_spans).boundaries
            assert len(boundaries) == n_spans - 1
            assert np.diff([0, *boundaries, n]).min() >= min_length


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("grid", [150, 80])
def test_boundaries_on_a_grid_are_refined_to_the_sample(seed, grid):
    lengths = np.random.default_rng(seed).integers(70, 110, 5)
    X, labels = make_subspaces(5, 4, 40, lengths, coefficient_mean=0.0, rng=seed)
    Z = planted_coefficients(labels, seed)
    found = OrderedCutter(X, Z, rng=0, exact_up_to=grid).cut(5)
    assert np.abs(found.boundaries - np.cumsum(lengths)[:-1]).max() <= 1


def test_jumps_on_a_grid_stay_where_they_are():
    cuts = [33, 61, 103]
    cutter = OrderedCutter(scenes(cuts, 140), np.eye(140), rng=0, exact_up_to=35)
    for n_spans in (4, 6, 9):
        assert set(cuts) <= set(cutter.cut(n_spans).boundaries.tolist())


def test_a_seed_decides_and_arrays_stay_as_they_are():
    X, labels = make_subspaces(rng=3)
    Z = planted_coefficients(labels)
    X.setflags(write=False)
    Z.setflags(write=False)
    answers = [ordered_cut(X, Z, rng=rng) for rng in (7, 7, np.random.default_rng(7))]
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer.boundaries, answers[0].boundaries)
        np.testing.assert_array_equal(answer.labels, answers[0].labels)


def test_the_generator_is_copied_when_the_cutter_is_made():
    X, labels = make_subspaces(3, 2, 30, 20, rng=3)
    rng = np.random.default_rng(7)
    cutter = OrderedCutter(X, planted_coefficients(labels), rng=rng)
    assert rng.integers(10**9) == np.random.default_rng(7).integers(10**9)
    assert cutter.null == OrderedCutter(X, planted_coefficients(labels), rng=7).null


def test_one_cutter_answers_as_fresh_ones_do():
    X = scenes([33, 61, 100], 140, heights=[2.0, 8.0, 4.0])
    cutter = OrderedCutter(X, np.eye(140), rng=0)
    for given in ((2, "auto"), ("auto", "auto"), (5, 2), ("auto", 3), (2, "auto")):
        again, fresh = cutter.cut(*given), OrderedCutter(X, np.eye(140), rng=0).cut(*given)
        np.testing.assert_array_equal(again.boundaries, fresh.boundaries)
        np.testing.assert_array_equal(again.labels, fresh.labels)


@pytest.mark.parametrize("given", [{"n_spans": 4}, {"n_subspaces": 3}, {}], ids=str)
def test_neither_axes_nor_threads_matter(given):
    rng = np.random.default_rng(0)
    X, labels = make_recurring_subspaces([0, 1, 0, 2], 3, 30, 35, rng=2)
    X = X + 0.05 * X.std() * rng.standard_normal(X.shape)
    Z = planted_coefficients(labels)
    rows, rotation = rng.permutation(30), np.linalg.qr(rng.standard_normal((30, 30)))[0]
    expected = ordered_cut(X, Z, rng=0, n_jobs=1, **given)
    for A, B, n_jobs in (
        (X[rows], Z, 1),
        (rotation @ X, Z, 1),
        (X + 5, Z, 1),
        (X, Z[rng.permutation(len(Z))], 1),
        (X, Z, 2),
    ):
        found = ordered_cut(A, B, rng=0, n_jobs=n_jobs, **given)
        np.testing.assert_array_equal(found.boundaries, expected.boundaries)
        np.testing.assert_array_equal(found.labels, expected.labels)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 9])
def test_the_shortest_sequences_are_one_span(n):
    rng = np.random.default_rng(n)
    found = ordered_cut(rng.standard_normal((3, n)), np.eye(n), rng=0)
    assert found.boundaries.tolist() == []
    assert found.labels.tolist() == [0]


def test_more_labels_than_spans_are_a_label_for_each():
    X, labels = make_subspaces(rng=0)
    found = ordered_cut(X, planted_coefficients(labels), n_spans=3, n_subspaces=7, rng=0)
    assert found.labels.tolist() == [0, 1, 2]


def test_more_spans_than_fit_are_refused():
    with pytest.raises(ValueError, match=r"n_spans must be in \[1, 4\].*got 5"):
        ordered_cut(np.random.default_rng(0).standard_normal((3, 4 * MIN_LENGTH)), np.eye(20), n_spans=5)


def test_samples_and_coefficients_must_be_as_many():
    X, _ = make_subspaces(3, 2, 20, 10, rng=0)
    with pytest.raises(ValueError, match=r"\[30, 60\]"):
        ordered_cut(X, np.eye(60))


@pytest.mark.parametrize(
    "given", [{"n_subspaces": "soft_gap"}, {"n_subspaces": "many"}, {"n_spans": "soft_gap"}], ids=str
)
def test_words_other_than_auto_are_refused(given):
    cutter = OrderedCutter(scenes([20], 40), np.eye(40), rng=0)
    (name, word), *_ = given.items()
    with pytest.raises(ValueError, match=f"{name} must be an int or 'auto' for this cut; got '{word}'"):
        cutter.cut(**given)


def test_the_samples_are_needed():
    with pytest.raises(ValueError, match="cut='ordered' needs the samples X as well as Z; got X=None"):
        OrderedCutter(None, np.eye(10))


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_the_number_of_threads_reaches_costs_and_search(n_jobs, monkeypatch):
    asked = {"cost": [], "search": []}
    for name, module in (("cost", cost_module), ("search", search_module)):

        def team(n_jobs, name=name, **options):
            asked[name].append(n_jobs)
            return Team(n_jobs, **options)

        monkeypatch.setattr(module, "Team", team)
    monkeypatch.setattr(search_module, "PARALLEL_FROM", 0)
    OrderedCutter(scenes([], 60), np.eye(60), rng=0, n_jobs=n_jobs).cut(3)
    assert set(asked["cost"]) == set(asked["search"]) == {n_jobs}


def test_cost_and_merging_are_computed_once(monkeypatch):
    made = []

    def count(X, Z):
        made.append("cost")
        return make_cost(X, Z)

    monkeypatch.setattr("seqspan.cuts.cutter.make_cost", count)
    X = scenes([33, 61, 100], 140)
    cutter = OrderedCutter(X, np.eye(140), rng=0)
    first, second = cutter.cut(), cutter.cut(5, 2)
    confidence = cutter.confidence(first.boundaries)
    assert made == ["cost"]
    assert cutter.merging(second.boundaries) is cutter.merging(second.boundaries.copy())
    assert cutter.merging(second.boundaries) is not cutter.merging(first.boundaries)
    # and they are those of the cost alone
    cost = make_cost(X, np.eye(140))
    np.testing.assert_array_equal(confidence, boundary_confidence(cost, first.boundaries))
    merging = SpanMerging(cost, second.boundaries)
    np.testing.assert_array_equal(cutter.label_evidence(second.boundaries), merging.label_evidence)
    np.testing.assert_array_equal(second.labels, merging.labels(2))
