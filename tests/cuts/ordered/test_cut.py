"""Planted spans are found as they are, whatever is given; and what the answer must not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter1d
from tests.problems import make_cost

from seqspan import OSC
from seqspan._core.spans import Division, boundaries_from_labels
from seqspan._core.threads import Team
from seqspan.cuts.ordered import cost as cost_module
from seqspan.cuts.ordered import cut as cut_module
from seqspan.cuts.ordered import features as features_module
from seqspan.cuts.ordered import n_spans as n_spans_module
from seqspan.cuts.ordered import search as search_module
from seqspan.cuts.ordered.confidence import boundary_confidence
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.cut import MIN_LENGTH, OrderedCutter
from seqspan.cuts.ordered.features import count_label_features, sample_features
from seqspan.cuts.ordered.labels import LabelTree
from seqspan.cuts.ordered.n_spans import SpanCount, count_spans
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
    X[5] += 3.0  # at the origin, samples have no direction
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
    found = ordered_cut(X, Z, **given)
    np.testing.assert_array_equal(found.boundaries, boundaries_from_labels(labels))
    np.testing.assert_array_equal(found.labels, range(5))


@pytest.mark.parametrize("given", GIVEN)
def test_recurring_subspaces_are_found_in_coefficients_of_osc(solved, given):
    X, labels, Z = solved["recurring"]
    found = ordered_cut(X, Z, **GIVEN[given])
    np.testing.assert_array_equal(found.boundaries, np.cumsum(LENGTHS)[:-1])
    np.testing.assert_array_equal(found.sample_labels(len(labels)), labels)


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("mean", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_planted_subspaces_are_found(given, mean, seed):
    X, labels = make_recurring_subspaces(ORDER, 4, 100, LENGTHS, coefficient_mean=mean, rng=seed)
    found = ordered_cut(X, planted_coefficients(labels, seed), **GIVEN[given])
    np.testing.assert_array_equal(found.sample_labels(len(labels)), labels)


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_one_span(seed):
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((10, 120)), rng.standard_normal((120, 120))
    found = ordered_cut(X, Z)
    assert found.boundaries.tolist() == []
    assert found.labels.tolist() == [0]


@pytest.mark.parametrize("given", [{}, {"n_subspaces": 3}, {"n_spans": 4}])
def test_levels_without_noise_are_found(given):
    levels = np.random.default_rng(0).standard_normal((3, 6))
    osc = OSC(cut="ordered", random_state=0, **given).fit(levels[np.repeat([0, 1, 2, 0], 60)])
    assert osc.boundaries_.tolist() == [60, 120, 180]
    assert osc.n_subspaces_ == 3


@pytest.mark.parametrize("seed", range(3))
def test_slow_motion_in_one_subspace_is_no_change(seed):
    rng = np.random.default_rng(seed)
    coefficients = gaussian_filter1d(rng.standard_normal((4, 300)), 10, axis=1)
    X = np.linalg.qr(rng.standard_normal((20, 4)))[0] @ coefficients
    X /= np.linalg.norm(X, axis=0)
    cutter = OrderedCutter(X, OSC(n_subspaces=1).fit(X.T).coef_)
    assert len(cutter.cut().boundaries) == 0
    # by itself the evidence, which takes samples for independent, would see changes
    assert cutter.span_count.recording.argmax() > 0


@pytest.mark.parametrize(("period", "seed"), [(40, 2), (80, 2)])
def test_swings_are_no_spans_of_their_own(period, seed):
    rng = np.random.default_rng(seed)
    ways = rng.standard_normal((3, 6, 5))
    spans = []
    for state in (0, 1, 2, 0, 2, 1):
        n = int(rng.integers(150, 300))
        phase = 2 * np.pi * (np.arange(n) + rng.uniform(0, period)) / (period * (1 + 0.3 * state))
        phase += np.cumsum(0.05 * rng.standard_normal(n))
        swing = [np.cos(phase), np.sin(phase), np.cos(2 * phase) / 2, np.sin(2 * phase) / 2, np.full(n, 0.5)]
        spans.append(ways[state] @ swing)
    X = np.hstack(spans)
    X += 0.1 * rng.standard_normal(X.shape)
    found = ordered_cut(X, np.zeros((1, X.shape[1])))
    assert len(found.labels) == 6
    assert found.n_labels == 3


@pytest.mark.parametrize("value", [0.0, 1.5])
def test_nothing_happening_is_one_span(value):
    assert ordered_cut(np.full((3, 40), value), np.zeros((40, 40))).boundaries.tolist() == []


@pytest.mark.parametrize("given", [{}, {"n_subspaces": 4}, {"n_spans": 4}, {"n_spans": 6}], ids=str)
def test_scenes_start_where_they_start(given):
    cuts = [33, 61, 100]
    assert set(cuts) <= set(ordered_cut(scenes(cuts, 140), np.eye(140), **given).boundaries.tolist())


@pytest.mark.parametrize(("n_spans", "expected"), [(1, []), (2, [61]), (3, [61, 100]), (4, [33, 61, 100])])
def test_fewer_spans_than_scenes_keep_the_sharpest_cuts(n_spans, expected):
    X = scenes([33, 61, 100], 140, heights=[2.0, 8.0, 4.0], noise=0.03)
    assert ordered_cut(X, np.eye(140), n_spans=n_spans).boundaries.tolist() == expected


def test_channels_of_noise_do_not_make_spans_short():
    """Two means in turn are found although the coefficients are nothing but noise."""
    rng = np.random.default_rng(5)
    X = 0.7 * rng.standard_normal((8, 400))
    X[:, np.arange(400) // 40 % 2 == 1] += 1.4 * rng.choice([-1, 1], (8, 1))
    Z = rng.standard_normal((30, 400))
    found = ordered_cut(X, Z, n_spans=10)
    assert np.abs(found.boundaries - np.arange(40, 400, 40)).max() <= 1


@pytest.mark.parametrize("given", [{"n_spans": 8}, {"n_subspaces": 8}], ids=str)
def test_a_scene_gives_way_to_the_number_of_spans(given):
    X = scenes([17], 40)  # eight spans of five samples fit into forty only if none ends at 17
    found = ordered_cut(X, np.eye(40), **given)
    np.testing.assert_array_equal(found.boundaries, np.arange(5, 40, 5))
    assert 17 in ordered_cut(X, np.eye(40), n_spans=7).boundaries


@pytest.mark.parametrize("min_length", [1, 5, 12])
@pytest.mark.parametrize("grid", [1000, 40, 13])
@pytest.mark.parametrize("cuts", [[], [47], [30, 60]])
def test_no_span_is_too_short(min_length, grid, cuts, monkeypatch):
    monkeypatch.setattr(cut_module, "GRID_POINTS", grid)
    n = 71
    for seed in range(2):
        cutter = OrderedCutter(scenes(cuts, n, noise=0.3, seed=seed), np.eye(n), min_length=min_length)
        for n_spans in (2, 3, 5, n // min_length):
            boundaries = cutter.cut(n_spans).boundaries
            assert len(boundaries) == n_spans - 1
            assert np.diff([0, *boundaries, n]).min() >= min_length


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("joins", [(), (260,)], ids=["one recording", "two"])
def test_windows_of_a_long_recording_leave_no_trace(given, joins, monkeypatch):
    """Spans may be longer than a window or begin at its edge, and numbers are those of the recording."""
    lengths = [500, 300, 200, 680, 330, 390]
    X, labels = make_recurring_subspaces(ORDER, samples_per_span=lengths, rng=1)
    Z = planted_coefficients(labels)
    monkeypatch.setattr(search_module, "MAX_UNDIVIDED", 900)
    monkeypatch.setattr(search_module, "MIN_WINDOW", 340)
    monkeypatch.setattr(cut_module, "GRID_POINTS", 300)
    numbers = {**GIVEN[given], **({"n_spans": 7} if joins and "n_spans" in GIVEN[given] else {})}
    cutter = OrderedCutter(X, Z, joins)
    assert len(cutter._windows) == 8
    found = cutter.cut(**numbers)
    expected = np.union1d(np.cumsum(lengths)[:-1], joins)
    if not numbers and not joins:  # edges of windows are not counted
        assert cutter._choose(1, "default") == len(expected) + 1
    assert len(found.boundaries) == len(expected)
    assert np.abs(found.boundaries - expected).max() <= 1
    assert found.n_labels == 4


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("grid", [150, 80])
def test_boundaries_on_a_grid_are_refined_to_the_sample(seed, grid, monkeypatch):
    monkeypatch.setattr(cut_module, "GRID_POINTS", grid)
    lengths = np.random.default_rng(seed).integers(70, 110, 5)
    X, labels = make_subspaces(5, 4, 40, lengths, coefficient_mean=0.0, rng=seed)
    found = ordered_cut(X, planted_coefficients(labels, seed), n_spans=5)
    assert np.abs(found.boundaries - np.cumsum(lengths)[:-1]).max() <= 1


def test_scenes_on_a_grid_start_where_they_start(monkeypatch):
    monkeypatch.setattr(cut_module, "GRID_POINTS", 35)
    cuts = [33, 61, 103]
    cutter = OrderedCutter(scenes(cuts, 140), np.eye(140))
    for n_spans in (4, 6):
        assert set(cuts) <= set(cutter.cut(n_spans).boundaries.tolist())


def test_a_recording_shorter_than_a_span_is_one_and_leaves_the_others_theirs():
    X = scenes([30, 60, 63, 93], 123)
    cutter = OrderedCutter(X, np.eye(123), (60, 63))
    assert cutter.cut(5).boundaries.tolist() == [30, 60, 63, 93]


KINDS = {
    "noise": lambda rng, n: rng.standard_normal((3, n)),
    "constant": lambda rng, n: np.full((3, n), 1.5),
    "steps": lambda rng, n: np.repeat(rng.standard_normal((3, n // 4 + 1)), 4, axis=1)[:, :n],
    "one outlier": lambda rng, n: np.where(np.arange(n) == n // 2, 1e6, rng.standard_normal((3, n))),
}


@settings(max_examples=60)
@drawn(
    kind=st.sampled_from(sorted(KINDS)),
    n=st.integers(1, 45),
    min_length=st.integers(1, 6),
    seed=st.integers(0, 999),
    numbers=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_numbers_are_those_asked_for_and_neighbours_differ(kind, n, min_length, seed, numbers):
    rng = np.random.default_rng(seed)
    most = max(1, n // min_length)
    n_spans = 1 + int(numbers[0] * (most - 1) + 0.5)
    n_labels = min(n_spans, 2 + int(numbers[1] * (n_spans - 2) + 0.5))
    cutter = OrderedCutter(KINDS[kind](rng, n), rng.standard_normal((n, n)), min_length=min_length)
    for given in ((n_spans, n_labels), (n_spans, "auto"), ("auto", n_labels), ("auto", "auto")):
        found = cutter.cut(*given)
        assert given[0] in ("auto", len(found.labels))
        assert given[1] in ("auto", found.n_labels)
        assert np.all(found.labels[1:] != found.labels[:-1])
        assert np.diff([0, *found.boundaries, n]).min() >= min(min_length, n)


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("moves", [0, 1, 2, 9])
def test_spans_are_labelled_from_where_boundaries_went_until_they_stay(given, moves, monkeypatch):
    monkeypatch.setattr(cut_module, "ROUNDS", 3)
    seen = []

    def label_and_move(self, boundaries, n_labels, n_spans, grain):
        seen.append((boundaries.tolist(), n_labels, n_spans))
        moved = boundaries + (len(seen) <= moves)
        return Division(moved, np.arange(len(moved) + 1))

    monkeypatch.setattr(OrderedCutter, "_label", label_and_move)
    labels = np.repeat(ORDER, LENGTHS)
    Z = planted_coefficients(labels)
    answer = ordered_cut(Z, Z, **GIVEN[given])
    first = np.array(seen[0][0])
    assert len(seen) == min(moves + 1, 3)
    assert [starts for starts, _, _ in seen] == [(first + k).tolist() for k in range(len(seen))]
    assert answer.boundaries.tolist() == (first + min(moves, 3)).tolist()
    told = GIVEN[given].get("n_subspaces", "auto"), GIVEN[given].get("n_spans")
    assert {(n_labels, n_spans) for _, n_labels, n_spans in seen} == {told}


@pytest.mark.parametrize(("n_spans", "n_labels"), [(7, 3), (7, "auto"), (5, 2)])
def test_many_spans_and_labels_are_exact_even_if_there_are_too_many_paths(n_spans, n_labels, monkeypatch):
    """Spans that return in turn: neighbours would be merged if nobody looked for other boundaries."""
    monkeypatch.setattr("seqspan.cuts.ordered.settling.MAX_PATHS", 0)
    found = ordered_cut(scenes([20, 50], 80), np.eye(80), n_spans=n_spans, n_subspaces=n_labels)
    assert len(found.labels) == n_spans
    assert n_labels in ("auto", found.n_labels)
    assert np.all(found.labels[1:] != found.labels[:-1])


@pytest.mark.parametrize("cut", [[], [30, 60], [20, 40, 60, 80]])
@pytest.mark.parametrize("noise", [0.3, 1.5])
def test_a_coarser_grain_has_no_more_spans(cut, noise):
    for seed in range(3):
        cutter = OrderedCutter(scenes(cut, 100, noise=noise, seed=seed), np.eye(100))
        coarse, default, fine = (
            len(cutter.cut(grain=grain).labels) for grain in ("coarse", "default", "fine")
        )
        assert coarse <= default <= fine
        assert default == len(cutter.cut().labels)


def test_the_grain_is_that_of_the_number_of_spans():
    cutter = OrderedCutter(scenes([30, 60], 90, noise=0.3), np.eye(90))
    drawn_often = np.array([[0.0, 5.0, 20.0, 60.0]] * 8)
    found = np.array([0.0, 30.0, 55.0, 90.0])
    cutter.span_count = SpanCount(found, drawn_often, drawn_often)  # 2, 3 and 4 spans
    for grain, n_spans in (("coarse", 2), ("default", 3), ("fine", 4)):
        assert cutter._choose(1, grain) == n_spans
    assert cutter._choose(3, "coarse") == 3
    nothing = SpanCount(found / 10, drawn_often, 0 * drawn_often)  # less than chance explains
    cutter.span_count = nothing
    assert [cutter._choose(1, grain) for grain in ("coarse", "default", "fine")] == [1, 1, 4]
    assert cutter._choose(2, "default") == 4  # asking for two labels says that something changes


def test_neighbours_that_are_alike_are_one_span_if_no_number_is_asked_for():
    cutter = OrderedCutter(scenes([30, 60, 90], 120, noise=0.3), np.eye(120))
    rough = np.array([15, 30, 60, 90])
    assert cutter._label(rough, "auto", None, "default").boundaries.tolist() == [30, 60, 90]
    assert len(cutter._label(rough, "auto", 5, "default").labels) == 5


def test_spans_are_counted_and_searched_for_beforehand_where_both_wait_for_a_gpu():
    cutter = OrderedCutter(scenes([30], 60), np.eye(60))
    cutter._count_and_search()
    assert vars(cutter).keys() >= {"span_count", "_search"}
    assert cutter._search.divide(2).tolist() == [30]


def test_arrays_stay_as_they_are_and_the_answer_the_same():
    X, labels = make_subspaces(rng=3)
    Z = planted_coefficients(labels)
    X.setflags(write=False)
    Z.setflags(write=False)
    one, other = ordered_cut(X, Z), ordered_cut(X, Z)
    np.testing.assert_array_equal(one.boundaries, other.boundaries)
    np.testing.assert_array_equal(one.labels, other.labels)


@pytest.mark.parametrize("given", [{}, {"n_spans": 4}, {"n_subspaces": 3}], ids=str)
def test_a_seed_does_not_matter(given):
    X, _ = make_recurring_subspaces([0, 1, 0, 2], 3, 30, 35, rng=2)
    X = X + 0.05 * np.random.default_rng(0).standard_normal(X.shape)
    fits = [OSC(cut="ordered", random_state=seed, **given).fit(X.T) for seed in (0, 1, 12345, None)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.labels_, fits[0].labels_)


@pytest.mark.parametrize("exponent", [-40, -1, 7, 60])
@pytest.mark.parametrize("given", [{}, {"n_spans": 4, "n_subspaces": 3}], ids=str)
def test_powers_of_two_do_not_matter(exponent, given):
    X, labels = make_recurring_subspaces([0, 1, 0, 2], 3, 30, 35, rng=2)
    Z = planted_coefficients(labels)
    expected, found = ordered_cut(X, Z, **given), ordered_cut(np.ldexp(X, exponent), Z, **given)
    np.testing.assert_array_equal(found.boundaries, expected.boundaries)
    np.testing.assert_array_equal(found.labels, expected.labels)


def test_one_cutter_answers_as_fresh_ones_do():
    X = scenes([33, 61, 100], 140, heights=[2.0, 8.0, 4.0])
    cutter = OrderedCutter(X, np.eye(140))
    for given in ((2, "auto"), ("auto", "auto"), (5, 2), ("auto", 3), (2, "auto")):
        again, fresh = cutter.cut(*given), OrderedCutter(X, np.eye(140)).cut(*given)
        np.testing.assert_array_equal(again.boundaries, fresh.boundaries)
        np.testing.assert_array_equal(again.labels, fresh.labels)


@pytest.mark.parametrize("given", [{"n_spans": 4}, {"n_subspaces": 3}, {}], ids=str)
def test_neither_axes_nor_threads_matter(given):
    rng = np.random.default_rng(0)
    X, labels = make_recurring_subspaces([0, 1, 0, 2], 3, 30, 35, rng=2)
    X = X + 0.05 * X.std() * rng.standard_normal(X.shape)
    Z = planted_coefficients(labels)
    rows, rotation = rng.permutation(30), np.linalg.qr(rng.standard_normal((30, 30)))[0]
    expected = ordered_cut(X, Z, n_jobs=1, **given)
    for A, B, n_jobs in (
        (X[rows], Z, 1),
        (rotation @ X, Z, 1),
        (X + 5, Z, 1),
        (X, Z[rng.permutation(len(Z))], 1),
        (X, Z, 2),
    ):
        found = ordered_cut(A, B, n_jobs=n_jobs, **given)
        np.testing.assert_array_equal(found.boundaries, expected.boundaries)
        np.testing.assert_array_equal(found.labels, expected.labels)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 9])
def test_the_shortest_sequences_are_one_span(n):
    rng = np.random.default_rng(n)
    found = ordered_cut(rng.standard_normal((3, n)), np.eye(n))
    assert found.boundaries.tolist() == []
    assert found.labels.tolist() == [0]


def test_more_labels_than_spans_are_a_label_for_each():
    X, labels = make_subspaces(rng=0)
    found = ordered_cut(X, planted_coefficients(labels), n_spans=3, n_subspaces=7)
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
    cutter = OrderedCutter(scenes([20], 40), np.eye(40))
    (name, word), *_ = given.items()
    with pytest.raises(ValueError, match=f"{name} must be an int or 'auto' for this cut; got '{word}'"):
        cutter.cut(**given)


def test_the_samples_are_needed():
    with pytest.raises(ValueError, match="cut='ordered' needs the samples X as well as Z; got X=None"):
        OrderedCutter(None, np.eye(10))


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_the_number_of_threads_reaches_costs_and_counting(n_jobs, monkeypatch):
    asked = {"cost": [], "counting": [], "features": []}
    modules = {"cost": cost_module, "counting": n_spans_module, "features": features_module}
    for name, module in modules.items():

        def team(n_jobs, name=name, **options):
            asked[name].append(n_jobs)
            return Team(n_jobs, **options)

        monkeypatch.setattr(module, "Team", team)
    cutter = OrderedCutter(scenes([], 60), np.eye(60), n_jobs=n_jobs)
    cutter.cut("auto")
    assert set(asked["counting"]) == {n_jobs}
    cutter.cut(3)
    assert set(asked["cost"]) == {n_jobs}
    assert set(asked["features"]) == {1, n_jobs}  # one for eigenvectors, and for each surrogate


def test_what_answers_share_is_computed_once(monkeypatch):
    made = []

    def describe(*given, **options):
        made.append("features")
        return sample_features(*given, **options)

    def count(*given, **options):
        made.append("count")
        return count_spans(*given, **options)

    monkeypatch.setattr("seqspan.cuts.cutter.sample_features", describe)
    monkeypatch.setattr("seqspan.cuts.ordered.cut.count_spans", count)
    X = 3 + scenes([33, 61, 100], 140)  # far from zero, so that they are not scaled to unit norm
    cutter = OrderedCutter(X, np.eye(140))
    first, second = cutter.cut(), cutter.cut(5, 2)
    assert made == ["count", "features"]
    cutter.cut("auto", 3), cutter.cut(grain="fine")
    confidence = cutter.confidence(first.boundaries)
    assert made == ["count", "features"]
    assert cutter.label_tree(second.boundaries) is cutter.label_tree(second.boundaries.copy())
    assert cutter.label_tree(second.boundaries) is not cutter.label_tree(first.boundaries)
    # and they are those of the cost alone
    cost = make_cost(X, np.eye(140))
    np.testing.assert_array_equal(confidence, boundary_confidence(cost.views[0], first.boundaries))
    tree = LabelTree(sample_features(X, count_label_features(len(X))), second.boundaries)
    np.testing.assert_allclose(cutter.label_tree(second.boundaries).evidence, tree.evidence, rtol=1e-9)


def test_given_numbers_need_no_surrogates(monkeypatch):
    monkeypatch.setattr("seqspan.cuts.ordered.cut.count_spans", None)
    assert len(ordered_cut(scenes([33], 60), np.eye(60), n_spans=2).labels) == 2


@pytest.mark.parametrize("min_length", [1, 6])
def test_boundaries_move_from_the_grid_to_the_best_sample_nearby(min_length):
    step, n = 4, 64
    rng = np.random.default_rng(0)
    cost = GaussianCost([rng.standard_normal((n, 2)) + np.repeat([0.0, 3.0, 0.0], [24, 13, 27])[:, None]])
    starts = np.array([20, 28, 40])
    refined = cut_module.refine(cost, starts, step, min_length)
    edges = [0, *starts, n]
    for index in (1, 2, 3):  # one after the other, each between where its neighbours are by then
        left, right = edges[index - 1], edges[index + 1]
        places = [
            place
            for place in range(edges[index] - step, edges[index] + step + 1)
            if place - left >= min_length and right - place >= min_length
        ]
        edges[index] = min(places, key=lambda place: cost.error(left, place) + cost.error(place, right))
    np.testing.assert_array_equal(refined, edges[1:-1])
    assert refined.tolist() != starts.tolist()
    np.testing.assert_array_equal(cut_module.refine(cost, starts, 1, min_length), starts)


def test_boundaries_of_recordings_stay_where_they_are_and_others_move_beside_them():
    levels = np.repeat([0.0, 3.0, 0.0, 3.0], [17, 20, 15, 12])[:, None]
    cost = GaussianCost([0.1 * np.random.default_rng(0).standard_normal((64, 2)) + levels])
    refined = cut_module.refine(cost, np.array([20, 36, 40, 50]), 4, 2, (36, 40))
    assert refined.tolist() == [17, 36, 40, 52]
    assert cut_module.refine(cost, np.array([20, 36, 50]), 4, 2).tolist() == [17, 37, 52]
    # without room between its neighbours, a boundary stays
    assert cut_module.refine(cost, np.array([20, 22, 24]), 4, 5, (20, 24)).tolist() == [20, 22, 24]


def test_spans_without_room_on_the_grid_are_halves_of_the_longest():
    whole, apart = [slice(0, 50)], [slice(0, 10), slice(10, 50)]
    assert cut_module._fill_up(np.array([10, 40]), whole, 3, 5).tolist() == [10, 40]
    assert cut_module._fill_up(np.array([10, 40]), whole, 5, 5).tolist() == [10, 17, 25, 40]
    assert cut_module._fill_up(np.array([], dtype=int), [slice(0, 7)], 7, 1).tolist() == [1, 2, 3, 4, 5, 6]
    # spans have their least length, also where only one division is possible, and recordings keep their ends
    assert cut_module._fill_up(np.array([6, 12]), [slice(0, 17)], 5, 3).tolist() == [3, 6, 9, 12]
    assert cut_module._fill_up(np.array([10]), apart, 4, 13).tolist() == [10, 23, 36]
    # the longest has no room for two
    assert cut_module._fill_up(np.array([30]), [slice(0, 30), slice(30, 49)], 4, 10).tolist() == [10, 20, 30]
