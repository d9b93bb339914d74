"""How many spans: what they explain, compared with what they explain in surrogates."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from tests.cuts.ordered.gaussian import cost_by_chain

from seqspan.cuts.ordered import device_functions, surrogates
from seqspan.cuts.ordered import n_spans as module
from seqspan.cuts.ordered.features import sample_features
from seqspan.cuts.ordered.n_spans import (
    CLEAR,
    FEATURE_COUNTS,
    GRAINS,
    MIN_EVIDENCE,
    N_CHANCE,
    N_FIRST,
    N_SURROGATES,
    SURPRISE,
    Effort,
    Evidence,
    SpanCount,
    chance_limit,
    count_spans,
)
from seqspan.cuts.ordered.search import SpanSearch


def turns(n_spans, length=40, d=4, noise=0.3, seed=0):
    """Samples near two places in turn."""
    rng = np.random.default_rng(seed)
    place = rng.standard_normal((d, 2))[:, np.arange(n_spans) % 2]
    X = np.repeat(place / place.std(), length, axis=1)
    return X + noise * rng.standard_normal(X.shape)


def smooth_noise(seed=0):
    """Samples without a change, each much like the one before."""
    X = np.random.default_rng(seed).standard_normal((4, 400))
    for t in range(1, 400):
        X[:, t] += 0.9 * X[:, t - 1]
    return X


def answer(X, min_length=5, grain="default", **options):
    count = count_spans(X, min_length, **options)
    return count.choose(grain) if count.shows_change else 1


def chance(*means, deviation=0.5):
    """Two surrogates with these means and this sample standard deviation."""
    spread = deviation / np.sqrt(2) * np.sign(np.arange(len(means)))  # one span explains nothing
    return np.array([means - spread, means + spread])


def test_a_change_is_more_than_chance_explains():
    drawn = chance(0.0, 10.0, 20.0)
    limit = np.array([0.0, 10.0, 20.0]) + 3 * np.array([0.0, 0.5, 0.5])
    for k in (1, 2):
        found = np.zeros(3)
        for beyond, expected in ((1e-9, True), (-1e-9, False)):
            found[k] = limit[k] + beyond
            assert SpanCount(found, drawn, drawn, limit=3.0).shows_change == expected


def test_chance_is_what_the_most_surprising_number_of_spans_of_a_surrogate_reaches():
    rng = np.random.default_rng(0)
    samples = [rng.standard_normal((9, 4)) * [0.0, 1.0, 10.0, 3.0], rng.standard_normal((9, 2)) * [0.0, 1.0]]
    most = []
    for seed in range(9):
        others = [np.delete(each, seed, axis=0)[:, 1:] for each in samples]
        surprises = [
            (each[seed, 1:] - other.mean(axis=0)) / other.std(axis=0, ddof=1)
            for each, other in zip(samples, others, strict=True)
        ]
        most.append(max(0.0, *np.concatenate(surprises)))  # one span explains nothing, and never surprises
    assert chance_limit(samples) == pytest.approx(SURPRISE * np.percentile(most, 75))


def test_little_evidence_is_no_change_even_if_chance_explains_less():
    drawn = chance(0.0, -50.0, -90.0)
    assert not SpanCount(np.array([0.0, MIN_EVIDENCE - 1e-9, -9.0]), drawn, drawn).shows_change
    assert SpanCount(np.array([0.0, MIN_EVIDENCE + 1e-9, -9.0]), drawn, drawn).shows_change


@pytest.mark.parametrize(("grain", "expected"), [("coarse", 2), ("default", 3), ("fine", 4)])
def test_the_grain_says_how_often_chance_is_subtracted(grain, expected):
    drawn = chance(0.0, 3.0, 7.0, 11.5)
    count = SpanCount(np.array([0.0, 20.0, 26.0, 29.0]), np.zeros((2, 4)), drawn)
    assert set(GRAINS) == {"coarse", "default", "fine"}
    assert count.choose(grain) == expected


def test_chance_that_explains_less_than_nothing_is_no_evidence():
    drawn = chance(0.0, -3.0, -9.0, -30.0)
    assert SpanCount(np.array([0.0, 4.0, 5.0, 3.0]), drawn, drawn).choose() == 3


def net_evidence_by_the_book(Y, shortest, max_spans):
    """What the best of all divisions into 1, 2, ... spans saves, less the price of its boundaries."""
    n, p = Y.shape
    net = []
    for n_spans in range(1, max_spans + 1):
        costs = [
            sum(cost_by_chain(Y[i:j], [p]) for i, j in pairwise([0, *starts, n]))
            for starts in combinations(range(1, n), n_spans - 1)
            if np.diff([0, *starts, n]).min() >= shortest
        ]
        net.append(cost_by_chain(Y, [p]) - min(costs) - (n_spans - 1) * np.log(n))
    return np.array(net)


def test_net_evidence_is_that_of_the_best_division():
    X = turns(3, length=4, d=2, noise=0.1)
    Y = sample_features(X)
    found = count_spans(X, min_length=3).recording
    each = [net_evidence_by_the_book(Y[:, :p], shortest=3, max_spans=4) for p in FEATURE_COUNTS]
    # up to the most evidence, for one of the numbers of features; costs are in single precision
    rivals = [net[: int(np.argmax(net)) + 1] for net in each]
    assert max(map(len, rivals)) > 1
    assert any(len(net) == len(found) and np.allclose(net, found, atol=1e-4) for net in rivals)


@pytest.mark.parametrize(("X", "longest"), [(turns(4), 12), (smooth_noise(), 80)])
def test_surrogates_are_asked_for_the_same_numbers_of_spans(X, longest):
    count = count_spans(X, 5)
    assert count.recording[0] == 0
    assert count.recording.argmax() == len(count.recording) - 1 < longest
    assert count.samples.shape == (N_SURROGATES, len(count.recording))
    assert count.features.shape == (N_CHANCE, len(count.recording))
    assert np.all(count.samples[:, 0] == 0)
    assert np.all(count.features[:, 0] == 0)


@pytest.mark.parametrize("n_spans", [3, 4, 5, 6])
@pytest.mark.parametrize("seed", range(6, 9))
def test_two_places_in_turn_are_a_change_however_often(n_spans, seed):
    """A slow wave explains as much as two places, unless it may rise and fall elsewhere."""
    rng = np.random.default_rng(seed)
    places = rng.standard_normal((2, 10))
    X = np.repeat(places[np.arange(n_spans) % 2], rng.integers(30, 120, n_spans), axis=0)
    X += np.linalg.norm(places[0] - places[1]) / 3 * rng.standard_normal(X.shape)
    assert count_spans(X.T, 5).shows_change


@pytest.mark.parametrize("n_spans", [2, 3, 5, 9])
@pytest.mark.parametrize("seed", range(3))
def test_places_in_turn_are_counted(n_spans, seed):
    assert answer(turns(n_spans, seed=seed)) == n_spans


@pytest.mark.parametrize(("d", "n"), [(1, 200), (3, 100), (12, 300)])
@pytest.mark.parametrize("seed", range(5))
def test_white_noise_is_one_span(d, n, seed):
    assert answer(np.random.default_rng(seed).standard_normal((d, n))) == 1


@pytest.mark.parametrize("seed", range(3))
def test_smooth_noise_is_one_span_although_spans_explain_it(seed):
    count = count_spans(smooth_noise(seed), 5)
    assert count.recording.max() > MIN_EVIDENCE
    assert not count.shows_change


def test_no_span_is_shorter_than_asked_for():
    X = turns(6, length=8, noise=0.05)
    assert count_spans(X, 8).choose() == 6
    assert len(count_spans(X, 12).recording) <= 4


@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize("min_length", [1, 5])
def test_the_shortest_recordings_are_counted_too(n, min_length):
    X = np.random.default_rng(n).standard_normal((2, n))
    assert 1 <= answer(X, min_length) <= n
    assert answer(np.ones((2, n)), min_length) == 1


def same(count, other):
    names = ("recording", "samples", "features")
    return all(np.array_equal(getattr(count, name), getattr(other, name)) for name in names)


def test_it_is_the_same_every_time_with_any_number_of_threads():
    X = turns(3)
    X.setflags(write=False)
    expected = count_spans(X, 5, n_jobs=1)
    assert all(same(count_spans(X, 5, n_jobs=n_jobs), expected) for n_jobs in (1, 2, 3, None))


def test_surrogates_differ_from_each_other():
    count = count_spans(turns(4), 5)
    for drawn in (count.features, count.samples):
        assert len(np.unique(drawn[:, -1])) == len(drawn) > 2


def test_a_few_surrogates_do_if_a_change_is_clear(monkeypatch):
    clear, noise = turns(20), smooth_noise()
    count = count_spans(clear, 5)
    assert len(count.samples) == N_FIRST
    assert count.limit <= CLEAR  # a few surrogates may surprise each other more than that
    assert len(count_spans(noise, 5).samples) == N_SURROGATES
    answers = [answer(clear), answer(noise)]
    monkeypatch.setattr(module, "CLEAR", 1e9)
    assert len(count_spans(clear, 5).samples) == N_SURROGATES
    assert [answer(clear), answer(noise)] == answers == [20, 1]


@pytest.mark.parametrize("n_spans", [2, 5])
def test_a_long_recording_is_averaged_over_blocks(n_spans, monkeypatch):
    X = turns(n_spans, length=100, noise=1.5)
    monkeypatch.setattr(module, "MAX_SAMPLES", 150)
    asked = []

    def spy(rows, rng, draw=surrogates.draw_surrogate):
        asked.append(rows.shape)
        return draw(rows, rng)

    monkeypatch.setattr(surrogates, "draw_surrogate", spy)
    assert count_spans(X, 5, n_jobs=1).choose() == n_spans
    size = -(-X.shape[1] // 150)
    assert {n for n, _ in asked} == {-(-X.shape[1] // size)}


def test_pictures_are_counted_in_the_directions_that_vary_most():
    few = turns(4)
    directions = np.linalg.qr(np.random.default_rng(1).standard_normal((module.MAX_DIMENSIONS + 50, 4)))[0]
    many = directions @ few + 3.0
    assert many.shape[0] > module.MAX_DIMENSIONS
    rotated = module._rotate(many.T)
    assert rotated.shape == (160, 5)  # four directions and the mean; all others would be rounding
    ratios = pdist(rotated) / pdist(few.T)
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)  # scaled by a power of two
    assert answer(many) == answer(few) == 4


def test_blocks_are_means_and_the_last_may_be_shorter(monkeypatch):
    monkeypatch.setattr(module, "MAX_SAMPLES", 4)
    rows = np.arange(20.0).reshape(10, 2)
    averaged, min_length, parts = module._average_blocks(rows, 7, ())
    np.testing.assert_array_equal(averaged, [rows[:3].mean(0), rows[3:6].mean(0), rows[6:9].mean(0), rows[9]])
    assert (min_length, parts) == (2, [slice(0, 4)])
    assert module._average_blocks(rows, 2, ())[1] == 1


def test_blocks_on_a_gpu_are_summed_by_a_device_function(monkeypatch):
    rows, starts, asked = np.arange(20.0).reshape(10, 2), np.array([0, 3, 8]), []

    def sum_blocks(rows, edges):
        asked.append(edges.tolist())
        return np.add.reduceat(rows, edges[:-1], axis=0)

    monkeypatch.setattr(module, "is_on_gpu", lambda array: array is rows)
    monkeypatch.setattr(device_functions, "sum_blocks", sum_blocks)
    np.testing.assert_array_equal(module._sum_blocks(rows, starts)[:, 0], [6, 50, 34])
    assert asked == [[0, 3, 8, 10]]
    assert module._sum_blocks(rows, np.arange(10)) is rows


@pytest.mark.parametrize(("length", "too_few"), [(399, True), (400, False)])
def test_few_spans_are_searched_on_the_host_wherever_the_samples_are(length, too_few, monkeypatch):
    evidence = Evidence([slice(0, 30), slice(30, 30 + length)], 5, 600, [1])
    Y = np.zeros((30 + length, 1))
    assert evidence.on_host(Y)
    monkeypatch.setattr(module, "is_on_gpu", lambda array: array is Y)
    assert evidence.on_host(Y) == too_few


def test_no_more_features_are_computed_than_are_looked_at():
    rows = np.random.default_rng(0).standard_normal((300, 40))
    assert module._features(rows).shape == (300, max(FEATURE_COUNTS))


def test_no_block_has_samples_of_two_recordings(monkeypatch):
    monkeypatch.setattr(module, "MAX_SAMPLES", 3)
    rows = np.arange(20.0).reshape(10, 2)
    averaged, _, parts = module._average_blocks(rows, 7, (4,))
    expected = [rows[:3].mean(0), rows[3], rows[4:7].mean(0), rows[7:].mean(0)]
    np.testing.assert_array_equal(averaged, expected)
    assert parts == [slice(0, 2), slice(2, 4)]


def test_a_coarse_grid_counts_the_same():
    assert Effort().grid_points == module.GRID_POINTS
    assert answer(turns(5), effort=Effort(grid_points=50)) == 5


@pytest.mark.parametrize(("grid_points", "step"), [(90, 1), (30, 3), (25, 4)])
def test_evidence_is_that_of_boundaries_on_the_grid(grid_points, step, monkeypatch):
    Y = sample_features(turns(3, length=30))[:, :2]
    grids = []

    class Search(SpanSearch):
        @classmethod
        def several(cls, C, shortest, most):
            grids.append((C.shape, shortest))
            return SpanSearch.several(C, shortest, most)

    monkeypatch.setattr(module, "SpanSearch", Search)
    (found,) = Evidence([slice(0, 90)], 5, grid_points, [2])(Y)
    places = [*range(0, 90, step), 90]
    assert grids == [((1, len(places), len(places)), -(-5 // step))]
    shortest = max(1, -(-5 // step))
    best = min(
        cost_by_chain(Y[:place], [2]) + cost_by_chain(Y[place:], [2]) for place in places[shortest:-shortest]
    )
    assert found[1] == pytest.approx(cost_by_chain(Y, [2]) - best - np.log(90), abs=1e-3)


def test_each_recording_has_a_grid_of_its_own():
    Y = sample_features(turns(4, length=30, seed=1))[:, :1]
    (found,) = Evidence([slice(0, 50), slice(50, 120)], 5, 120, [1])(Y)

    def least(part):
        places = range(part.start + 5, part.stop - 4)
        halves = [
            cost_by_chain(Y[part.start : p], [1]) + cost_by_chain(Y[p : part.stop], [1]) for p in places
        ]
        return min(halves)

    whole = [cost_by_chain(Y[part], [1]) for part in (slice(0, 50), slice(50, 120))]
    halved = [least(part) for part in (slice(0, 50), slice(50, 120))]
    more = min(halved[0] + whole[1], whole[0] + halved[1])
    assert found[0] == 0
    assert found[1] == pytest.approx(sum(whole) - more - np.log(120), abs=1e-3)


def test_it_gives_up_when_more_spans_explain_no_more(monkeypatch):
    asked = []

    class Search(SpanSearch):
        def cost(self, n_spans):
            asked.append(n_spans)
            return super().cost(n_spans)

    monkeypatch.setattr(module, "SpanSearch", Search)
    X = turns(3)
    expected = count_spans(X, 5, n_jobs=1).recording
    most = max(asked)
    monkeypatch.setattr(module, "PATIENCE", 3)
    asked.clear()
    np.testing.assert_array_equal(count_spans(X, 5, n_jobs=1).recording, expected)
    assert max(asked) < most < X.shape[1] // 5


@pytest.mark.parametrize("scale", [2.0**990, 2.0**-990])
@pytest.mark.parametrize("d", [3, 120])  # the second has more features than are kept
def test_the_scale_of_the_samples_does_not_matter(d, scale):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((d, 3)), 30, axis=1) + 0.5 * rng.standard_normal((d, 90))
    effort = Effort(n_surrogates=3, n_chance=2, grid_points=100)
    ordinary, scaled = (count_spans(Y, 5, effort=effort) for Y in (X, scale * X))
    np.testing.assert_allclose(scaled.recording, ordinary.recording, rtol=1e-6)
    np.testing.assert_allclose(scaled.samples, ordinary.samples, rtol=1e-6)


def test_many_short_recordings_keep_enough_samples_to_show_their_spans():
    """Averaged like one recording of a million samples, 250 of them would be five, which show nothing."""
    rows = np.arange(10.0**6)[:, None]
    one, _, _ = module._average_blocks(rows, 5, ())
    many, shortest, parts = module._average_blocks(rows, 50, tuple(range(1000, 10**6, 1000)))
    assert (len(one), len(many), len(parts), shortest) == (20_000, 100_000, 1000, 5)
    np.testing.assert_array_equal(many[parts[1]][:2, 0], [1004.5, 1014.5])


def test_the_first_peak_is_where_patience_ends():
    net = np.concatenate([[0.0, 1.0, 3.0], np.zeros(10), [9.0]])
    assert module._first_peak(net) == 2
    assert module._first_peak(net[[0, 1, 2, 3, -1]]) == 4
    assert module._first_peak(np.zeros(4)) == 0
