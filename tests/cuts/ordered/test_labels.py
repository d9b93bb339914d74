"""Labels of spans against greedy merging by the book, and settled divisions against what they promise."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cuts.ordered.gaussian import features, weighted_cost

from seqspan._core.spans import Division, merge_neighbours, number_in_order
from seqspan.cuts.ordered import labels as labels_module
from seqspan.cuts.ordered.cost import PRIOR_VARIANCE, GaussianCost
from seqspan.cuts.ordered.labels import (
    ALIKE_SAMPLES,
    CORRELATION,
    PRIOR_SAMPLES,
    LabelTree,
    Settling,
    correlation_time,
    effective_share,
    give_lost_labels,
    log_partitions,
    standardise_within,
    variance_inflation,
)

MEANS = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]])
ORDER, LENGTHS = [0, 1, 0, 2, 1, 0], [30, 22, 25, 40, 18, 33]
BOUNDARIES = np.cumsum(LENGTHS)[:-1]


def places(order, lengths, noise=0.4, seed=0):
    """Samples near one of four places in turn."""
    mean = MEANS[np.repeat(order, lengths)]
    return mean + noise * np.random.default_rng(seed).standard_normal(mean.shape)


def spans_of(division, n):
    return list(pairwise([0, *division.boundaries.tolist(), n]))


def cost_of_group(Y, edges, group, share, prior_samples=PRIOR_SAMPLES):
    """Cost of the samples of several spans, of each span the share that counts."""
    rows = np.concatenate([np.arange(edges[s], edges[s + 1]) for s in group])
    weights = np.concatenate(
        [np.full(edges[s + 1] - edges[s], share(edges[s + 1] - edges[s])) for s in group]
    )
    sizes = range(2, Y.shape[1] + 1, 2) if Y.shape[1] > 1 else [1]
    return weighted_cost(Y[rows], weights, sizes, prior_samples)


def standardise_by_the_book(Y, edges):
    """Features whose covariance within spans is the prior's, which counts for as many samples as ever."""
    prior = PRIOR_VARIANCE * np.eye(Y.shape[1])
    scatters = [(j - i) * np.cov(Y[i:j].T, bias=True) for i, j in pairwise(edges)]
    pooled = (sum(scatters) + PRIOR_SAMPLES * prior) / (len(Y) + PRIOR_SAMPLES)
    return Y @ np.linalg.inv(np.linalg.cholesky(pooled)).T * np.sqrt(PRIOR_VARIANCE)


def count_partitions(n, k):
    """Ways to divide n things into k groups, one by one."""
    if k == 0 or n == 0:
        return int(n == k)
    return count_partitions(n - 1, k - 1) + k * count_partitions(n - 1, k)


def merge_by_the_book(Y, edges, inflation, prior_samples):
    """Groups and evidence for every number of labels: always the pair that costs least more is merged.

    It takes the log of the number of partitions to say which spans belong together.
    """

    def effective(group):
        return cost_of_group(
            Y, edges, group, lambda count: 1 / (1 + (count - 1) * CORRELATION), prior_samples
        )

    def evidence(groups):
        costs = [cost_of_group(Y, edges, group, lambda count: 1 / inflation) for group in groups]
        return -sum(costs) - np.log(count_partitions(len(edges) - 1, len(groups)))

    groups = [(span,) for span in range(len(edges) - 1)]
    answers = {len(groups): (groups, evidence(groups))}
    while len(groups) > 1:
        a, b = min(
            combinations(groups, 2),
            key=lambda pair: effective(pair[0] + pair[1]) - effective(pair[0]) - effective(pair[1]),
        )
        groups = [group for group in groups if group not in (a, b)] + [a + b]
        answers[len(groups)] = groups, evidence(groups)
    return answers


@settings(max_examples=25)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    p=st.sampled_from([1, 2, 4]),
    seed=st.integers(0, 999),
)
def test_the_tree_has_the_better_of_two_ways_to_merge_by_the_book(lengths, p, seed):
    edges = np.cumsum([0, *lengths])
    Y = features(edges[-1], p, seed)
    tree = LabelTree(Y, edges[1:-1])
    Y = standardise_by_the_book(Y, edges)
    inflation = inflation_by_the_book(Y, edges)
    ways = [merge_by_the_book(Y, edges, inflation, samples) for samples in (PRIOR_SAMPLES, ALIKE_SAMPLES)]
    assert tree.inflation == pytest.approx(inflation)
    assert tree.evidence.shape == (len(lengths),)
    for n_labels in range(1, len(lengths) + 1):
        groups, evidence = max((way[n_labels] for way in ways), key=lambda answer: answer[1])
        assert tree.evidence[n_labels - 1] == pytest.approx(evidence, rel=1e-8, abs=1e-8)
        labels = tree.labels(n_labels)
        found = {tuple(np.flatnonzero(labels == label)) for label in range(n_labels)}
        assert found == {tuple(sorted(group)) for group in groups}
    assert tree.count_labels() == 1 + np.argmax(tree.evidence)


def inflation_by_the_book(Y, edges):
    """Squared differences of the means of halves, over what they are for independent samples."""
    ratios = []
    for start, end in pairwise(edges):
        first, last = Y[start : start + (end - start) // 2], Y[end - (end - start) // 2 : end]
        if len(first) > 1:
            squares = len(first) * (first.mean(axis=0) - last.mean(axis=0)) ** 2
            ratios.append(squares.sum() / (np.var(first, 0, ddof=1) + np.var(last, 0, ddof=1)).sum())
    return max(np.prod(ratios) ** (1 / len(ratios)), 1.0) if ratios else 1.0


def test_the_inflation_of_a_first_order_process_is_known():
    Y = np.random.default_rng(0).standard_normal((20000, 10))
    for t in range(1, len(Y)):
        Y[t] += 0.8 * Y[t - 1]
    # (1 + 0.8) / (1 - 0.8), less what halves of 100 correlated samples lose at their ends
    assert variance_inflation(Y, np.arange(0, 20001, 200)) == pytest.approx(9, rel=0.1)


def test_drift_within_spans_inflates_and_steps_between_them_do_not():
    rng = np.random.default_rng(0)
    edges = np.array([0, 101, 200])
    Y = rng.standard_normal((200, 8)) + np.repeat([0.0, 50.0], [101, 99])[:, None]
    drifting = Y + np.linspace(0, 5, 200)[:, None]
    assert variance_inflation(Y, edges) < 2 < 10 < variance_inflation(drifting, edges)
    backwards = variance_inflation(drifting[::-1], np.array([0, 99, 200]))
    assert backwards == pytest.approx(variance_inflation(drifting, edges), rel=1e-9)


def test_one_span_that_holds_a_change_inflates_little():
    Y = np.random.default_rng(0).standard_normal((500, 8))
    edges = np.arange(0, 501, 100)
    Y[450:] += 10.0
    assert variance_inflation(Y, edges[-2:]) > 100
    assert variance_inflation(Y, edges) < 10


def test_a_span_without_noise_says_nothing():
    Y = np.random.default_rng(0).standard_normal((300, 8)).cumsum(axis=0)
    with_pause = np.concatenate([Y, np.zeros((100, 8))])
    expected = variance_inflation(Y, np.array([0, 100, 200, 300]))
    assert expected > 10
    assert variance_inflation(with_pause, np.array([0, 100, 200, 300, 400])) == pytest.approx(expected)


def test_samples_that_never_change_are_as_good_as_independent_ones():
    assert variance_inflation(np.ones((20, 3)), np.array([0, 10, 20])) == 1.0
    assert variance_inflation(np.arange(3.0)[:, None], np.array([0, 2, 3])) == 1.0
    edges = np.array([0, 40])
    changing = np.random.default_rng(0).standard_normal((40, 1)).cumsum(axis=0)
    beside = np.hstack([changing, np.full((40, 1), 0.1)])  # with rounding errors in its means
    expected = variance_inflation(changing, edges)
    assert expected > 1
    assert variance_inflation(beside, edges) == pytest.approx(expected)


@pytest.mark.parametrize("n", [1, 2, 7, 16])
def test_partitions_are_counted(n):
    expected = [np.log(float(count_partitions(n, k))) for k in range(1, n + 1)]
    np.testing.assert_allclose(log_partitions(n), expected, atol=1e-9)


def test_many_features_that_say_nothing_do_not_hide_three_kinds_of_spans():
    """By the next best pair alone, a span joins the largest group sooner than its like."""
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(20) % 3, rng.integers(20, 60, 20))
    means = np.array([[2.0, 0.0], [-1.0, 1.5], [-1.0, -1.5]])
    Y = rng.standard_normal((len(kinds), 32))
    Y[:, :2] = means[kinds] + 0.4 * Y[:, :2]
    tree = LabelTree(Y, np.flatnonzero(np.diff(kinds)) + 1)
    assert tree.count_labels() == 3
    assert tree.labels(3).tolist() == [span % 3 for span in range(20)]


@given(lengths=st.lists(st.integers(2, 9), min_size=2, max_size=5), seed=st.integers(0, 999))
def test_standardised_features_vary_within_spans_as_the_prior_expects(lengths, seed):
    edges = np.cumsum([0, *lengths])
    Y = features(edges[-1], 4, seed)
    found = standardise_within(Y, edges)
    np.testing.assert_allclose(found, standardise_by_the_book(Y, edges), rtol=1e-8, atol=1e-8)
    leading = standardise_within(Y[:, :2], edges)
    np.testing.assert_allclose(found[:, :2], leading, rtol=1e-8, atol=1e-8)


def test_features_that_never_change_within_spans_stay_finite():
    Y = np.repeat([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], 10, axis=0)
    tree = LabelTree(Y, np.array([10, 20]))
    assert np.isfinite(tree.evidence).all()
    assert tree.labels(2).tolist() == [0, 1, 0]


def test_the_covariance_that_all_spans_share_does_not_tell_them_apart():
    """Noise along one direction hides the means along it; across it, small differences count."""
    rng = np.random.default_rng(0)
    means = np.repeat([[0.0, 0.0], [0.0, 0.2], [0.9, 0.0], [0.9, 0.2]], 15, axis=0)
    Y = means + rng.standard_normal(means.shape) * [1.0, 0.02]
    assert LabelTree(Y, np.array([15, 30, 45])).labels(2).tolist() == [0, 1, 0, 1]


def test_labels_are_a_tree():
    """One label more divides one group and leaves all others as they were."""
    tree = LabelTree(features(120, 4, 0), np.arange(10, 120, 10))
    for n_labels in range(1, 12):
        fewer, more = tree.labels(n_labels), tree.labels(n_labels + 1)
        assert len(set(fewer)) == n_labels
        assert len(set(zip(fewer, more, strict=True))) == n_labels + 1


def test_places_that_return_are_recognised_and_counted():
    tree = LabelTree(places(ORDER, LENGTHS), BOUNDARIES)
    assert tree.labels(3).tolist() == [0, 1, 0, 2, 1, 0]
    assert tree.count_labels() == 3
    assert [tree.count_labels(fewest) for fewest in (1, 3, 4, 6)] == [3, 3, 4, 6]


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=8), seed=st.integers(0, 999))
@settings(max_examples=30)
def test_with_the_fewest_labels_apart_neighbours_just_differ(lengths, seed):
    edges = np.cumsum([0, *lengths])
    tree = LabelTree(features(edges[-1], 2, seed), edges[1:-1])

    def apart(n_labels):
        labels = tree.labels(n_labels)
        return np.all(labels[1:] != labels[:-1])

    assert tree.fewest_apart() == min(n_labels for n_labels in range(1, len(lengths) + 1) if apart(n_labels))


def test_a_place_returns_although_each_visit_has_a_mean_of_its_own():
    """What the design effect is for: visits differ a little, and very surely so in so many samples."""
    lengths = [400, 400, 400, 400]
    drift = np.repeat([[0.0, 0.0], [0.0, 0.0], [0.35, -0.35], [-0.35, 0.35]], lengths, axis=0)
    Y = places([0, 1, 0, 1], lengths) + drift
    boundaries = np.cumsum(lengths)[:-1]
    assert LabelTree(Y, boundaries).labels(2).tolist() == [0, 1, 0, 1]
    edges = np.cumsum([0, *lengths])
    alone = cost_of_group(Y, edges, (0,), lambda n: 1) + cost_of_group(Y, edges, (2,), lambda n: 1)
    assert cost_of_group(Y, edges, (0, 2), lambda n: 1) > alone  # every sample for one says otherwise


@pytest.mark.parametrize("count", [1, 2, 40, 10_000])
def test_samples_of_a_span_are_worth_fewer_independent_ones(count):
    assert count * effective_share(count) == pytest.approx(count / (1 + (count - 1) * CORRELATION))


def time_by_the_book(Y, edges):
    """One plus twice the autocorrelations up to the first that is not clearly positive, span by span."""
    times = []
    for y in Y.T:
        spans = [y[i:j] - y[i:j].mean() for i, j in pairwise(edges)]
        energy = sum(np.sum(span**2) for span in spans)
        time = 1.0
        for lag in range(1, max(map(len, spans))):
            correlation = sum(np.sum(span[lag:] * span[:-lag]) for span in spans if len(span) > lag) / energy
            if correlation <= 2 / np.sqrt(len(Y)):
                break
            time += 2 * correlation
        times.append(time)
    return np.mean(times)


@pytest.mark.parametrize("lengths", [[60], [1, 30, 29], [5, 5, 5, 45], [1, 1]])
@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_the_correlation_time_is_that_of_the_book(lengths, memory):
    rng = np.random.default_rng(len(lengths))
    n = sum(lengths)
    Y = rng.standard_normal((n, 3))
    for t in range(1, n):
        Y[t] += memory * Y[t - 1]
    edges = np.cumsum([0, *lengths])
    if n > len(lengths):
        assert correlation_time(Y, edges) == pytest.approx(time_by_the_book(Y, edges), rel=1e-12)
    else:
        assert correlation_time(Y, edges) == 1.0


def test_the_correlation_time_of_a_first_order_process_is_known():
    Y = np.random.default_rng(0).standard_normal((5000, 40))
    for t in range(1, len(Y)):
        Y[t] += 0.8 * Y[t - 1]
    # (1 + 0.8) / (1 - 0.8); one sum of correlations varies by a fifth, the mean of forty by a thirtieth
    assert correlation_time(Y, np.array([0, len(Y)])) == pytest.approx(9, rel=0.1)


def test_steps_between_spans_and_samples_that_are_equal_are_no_correlation():
    rng = np.random.default_rng(0)
    edges = np.array([0, 100, 200])
    Y = rng.standard_normal((200, 2)) + np.repeat([0.0, 50.0], 100)[:, None]
    assert correlation_time(Y, edges) < 1.5
    assert correlation_time(np.ones((200, 2)), edges) == 1.0


def settling(Y, min_length=5, inflation=1.0):
    return Settling(GaussianCost([Y], prior_samples=PRIOR_SAMPLES), min_length, inflation)


@pytest.mark.parametrize("seed", range(5))
def test_boundaries_and_labels_that_are_wrong_settle(seed):
    rng = np.random.default_rng(seed)
    Y = places(ORDER, LENGTHS, seed=seed)
    moved = BOUNDARIES + rng.integers(-7, 8, len(BOUNDARIES))
    found = settling(Y).settle(Division(moved, np.array([0, 1, 0, 2, 1, 1])), 6)
    assert found.labels.tolist() == ORDER
    assert np.abs(found.boundaries - BOUNDARIES).max() <= 1


def test_spans_are_added_where_the_label_models_say():
    """Two neighbours had one label, so they became one span; settling finds the sixth elsewhere."""
    Y = places(ORDER, LENGTHS, noise=0.2)
    rough = Division(np.array([30, 52, 77, 117]), np.array([0, 1, 0, 2, 1]))
    found = settling(Y).settle(rough, 6)
    np.testing.assert_array_equal(found.boundaries, BOUNDARIES)
    assert found.labels.tolist() == ORDER


def test_neighbours_of_one_label_become_one_span_unless_a_number_is_asked_for():
    Y = places(ORDER, LENGTHS, noise=0.2)
    rough = Division(np.array([15, *BOUNDARIES]), np.array([0, 0, 1, 0, 2, 1, 0]))
    found = settling(Y).settle(rough)
    np.testing.assert_array_equal(found.boundaries, BOUNDARIES)
    assert found.labels.tolist() == ORDER
    assert len(settling(Y).settle(rough, 7).labels) == 7


def test_with_too_many_paths_boundaries_stay_and_a_neighbour_takes_another_label(monkeypatch):
    monkeypatch.setattr(labels_module, "MAX_PATHS", 0)
    Y = places(ORDER, LENGTHS, noise=0.2)
    halved = Division(np.append(BOUNDARIES, 150), np.array([0, 1, 0, 2, 1, 0, 0]))
    joined, apart = settling(Y).settle(halved), settling(Y).settle(halved, 7)
    np.testing.assert_array_equal(joined.boundaries, BOUNDARIES)
    assert joined.labels.tolist() == ORDER
    np.testing.assert_array_equal(apart.boundaries, halved.boundaries)
    assert apart.labels[:-1].tolist() == ORDER
    assert apart.labels[-1] in (1, 2)


def test_spans_that_return_are_found_where_the_first_search_saw_none():
    Y = places(ORDER * 3, LENGTHS * 3, noise=0.2)
    edges = np.cumsum(LENGTHS * 3)
    rough = Division(edges[:5], np.array(ORDER))  # the last twelve spans are one
    found = settling(Y).settle(rough)
    np.testing.assert_array_equal(found.boundaries, np.delete(edges[:-1], [5, 11]))  # where 0 follows 0
    assert found.n_labels == 3


@pytest.mark.parametrize(("share", "n_spans"), [(0.8, 4), (1.2, 2)])
def test_a_span_has_to_be_worth_its_price(share, n_spans):
    """Ten samples of the first span look like the second, which takes two more spans to say."""
    Y = places([0, 1, 0, 1], [20, 10, 30, 20], noise=0.2)
    rough = Division(np.array([60]), np.array([0, 1]))
    solver = settling(Y, inflation=3.0)
    densities = solver.cost.densities(solver._label_summaries(rough, effective_share))
    gained = float((densities[0] - densities[1])[20:30].sum()) / 3
    price_of_two = 2 * np.log(80 * 2)  # for one of 80 places and one of 2 labels
    found = solver.settle(rough, patience=share * gained / price_of_two)
    assert len(found.labels) == n_spans


def test_recordings_are_settled_each_on_its_own():
    Y = places([0, 1, 1, 0], [30, 30, 30, 30], noise=0.2)
    cost = GaussianCost([Y], prior_samples=PRIOR_SAMPLES)
    rough = Division(np.array([27, 60, 95]), np.array([0, 1, 1, 0]))
    found = Settling(cost, 5, joins=(60,)).settle(rough)
    assert found.boundaries.tolist() == [30, 60, 90]
    assert found.labels.tolist() == [0, 1, 1, 0]


def test_as_many_labels_are_kept_as_there_were():
    """One kind of samples under three labels: the cheapest path has one span, the answer three."""
    Y = np.random.default_rng(0).standard_normal((60, 2))
    found = settling(Y).settle(Division(np.array([20, 40]), np.array([0, 1, 2])))
    assert found.n_labels == 3


def test_too_many_densities_are_not_computed(monkeypatch):
    monkeypatch.setattr(labels_module, "MAX_DENSITIES", 2 * 60 - 1)
    rough = Division(np.array([25]), np.array([0, 1]))
    assert settling(places([0, 1], [30, 30], noise=0.2)).settle(rough).boundaries.tolist() == [25]
    monkeypatch.setattr(labels_module, "MAX_DENSITIES", 2 * 60)
    assert settling(places([0, 1], [30, 30], noise=0.2)).settle(rough).boundaries.tolist() == [30]


@settings(max_examples=40)
@given(
    n=st.integers(2, 40),
    n_spans=st.integers(2, 8),
    n_labels=st.integers(2, 5),
    min_length=st.integers(1, 6),
    seed=st.integers(0, 999),
)
def test_whatever_settles_has_the_numbers_asked_for(n, n_spans, n_labels, min_length, seed):
    n_spans = min(n_spans, n)
    n_labels = min(n_labels, n_spans)
    rng = np.random.default_rng(seed)
    starts = np.sort(rng.choice(np.arange(1, n), n_labels - 1, replace=False))
    found = settling(features(n, 2, seed), min_length).settle(Division(starts, np.arange(n_labels)), n_spans)
    assert len(found.labels) == n_spans
    assert found.n_labels == n_labels
    assert np.all(found.labels[1:] != found.labels[:-1])
    assert min(end - start for start, end in spans_of(found, n)) >= min(min_length, n // n_spans)
    np.testing.assert_array_equal(found.labels, number_in_order(found.labels))


def total_cost(Y, division, inflation=1.0):
    edges = np.array([0, *division.boundaries, len(Y)])
    groups = [np.flatnonzero(division.labels == label) for label in range(division.n_labels)]
    return sum(cost_of_group(Y, edges, group, lambda count: 1 / inflation) for group in groups)


@pytest.mark.parametrize("inflation", [1.0, 4.0])
@pytest.mark.parametrize("seed", range(4))
def test_it_stops_at_the_least_cost_that_it_met(seed, inflation, monkeypatch):
    Y = places(ORDER, LENGTHS, noise=2.0, seed=seed)
    rough = Division(np.array([20, 60, 90, 110, 140]), np.array([0, 1, 2, 0, 2, 1]))
    costs = []
    for rounds in range(1, 7):
        monkeypatch.setattr(labels_module, "ROUNDS", rounds)
        costs.append(total_cost(Y, settling(Y, inflation=inflation).settle(rough, 6), inflation))
    assert np.all(np.diff(costs) <= 1e-9)
    assert costs[-1] < costs[0]


@pytest.mark.parametrize(("boundaries", "labels"), [([], [0]), ([70], [0, 1])])
def test_one_label_has_nothing_to_settle(boundaries, labels):
    rough = Division(np.array(boundaries, dtype=np.intp), np.array(labels))
    found = settling(places([0, 1], [60, 60])).settle(rough, len(labels))
    assert found.boundaries.tolist() == [60] * len(boundaries)
    assert found.labels.tolist() == labels


@pytest.mark.parametrize(
    ("boundaries", "labels", "n_labels", "expected"),
    [
        ([2, 5, 6], [0, 1, 0, 1], 2, [0, 1, 0, 1]),
        ([2, 5, 6], [0, 1, 0, 1], 3, [0, 1, 0, 2]),  # [2, 5) is the longest that shares its label
        ([2, 5, 6], [0, 1, 0, 1], 4, [0, 1, 2, 3]),
        ([9, 10], [5, 3, 5], 3, [0, 1, 2]),
    ],
)
def test_lost_labels_are_given_to_the_longest_spans(boundaries, labels, n_labels, expected):
    given_labels = np.array(labels)
    found = give_lost_labels(Division(np.array(boundaries), given_labels), n_labels)
    assert found.labels.tolist() == expected
    assert found.boundaries.tolist() == boundaries
    assert given_labels.tolist() == labels


@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_neighbours_of_one_label_are_joined(labels):
    n = len(labels)
    samples = np.array(labels)
    found = merge_neighbours(Division(np.arange(1, n), samples))
    assert np.all(found.labels[1:] != found.labels[:-1])
    np.testing.assert_array_equal(found.sample_labels(n), number_in_order(samples))
    expected = list(dict.fromkeys(labels))
    assert [expected[label] for label in found.sample_labels(n)] == labels
