"""Labels of spans against greedy merging by the book."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.cuts.ordered.gaussian import BOUNDARIES, LENGTHS, ORDER, cost_of_group, features, places

from seqspan.cuts.ordered.labels import (
    ALIKE_SAMPLES,
    CORRELATION,
    PRIOR_SAMPLES,
    STRENGTHS,
    LabelTree,
    correlation_time,
    effective_share,
    log_partitions,
    standardise_within,
    variance_inflation,
)
from seqspan.cuts.ordered.view_model import PRIOR_VARIANCE


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
    """Groups, and evidence with each prior, for every number of labels: always the next best pair.

    It takes the log of the number of partitions to say which spans belong together.
    """

    def effective(group):
        return cost_of_group(
            Y, edges, group, lambda count: 1 / (1 + (count - 1) * CORRELATION), prior_samples
        )

    def evidence(groups, strength):
        costs = [
            cost_of_group(Y, edges, group, lambda count: 1 / inflation, PRIOR_SAMPLES * strength)
            for group in groups
        ]
        return -sum(costs) - np.log(count_partitions(len(edges) - 1, len(groups)))

    def answer(groups):
        return groups, [evidence(groups, strength) for strength in STRENGTHS]

    groups = [(span,) for span in range(len(edges) - 1)]
    answers = {len(groups): answer(groups)}
    while len(groups) > 1:
        a, b = min(
            combinations(groups, 2),
            key=lambda pair: effective(pair[0] + pair[1]) - effective(pair[0]) - effective(pair[1]),
        )
        groups = [group for group in groups if group not in (a, b)] + [a + b]
        answers[len(groups)] = answer(groups)
    return answers


@settings(max_examples=25)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    p=st.sampled_from([1, 2, 4]),
    seed=st.integers(0, 999),
    n_jobs=st.integers(1, 4),
)
@example(lengths=[1, 9, 4, 2], p=2, seed=0, n_jobs=1)  # samples are alike for longer than halves differ
def test_the_tree_has_the_better_of_two_ways_to_merge_by_the_book(lengths, p, seed, n_jobs):
    edges = np.cumsum([0, *lengths])
    Y = features(edges[-1], p, seed)
    tree = LabelTree(Y, edges[1:-1], n_jobs=n_jobs)
    Y = standardise_by_the_book(Y, edges)
    times = [time_by_the_book(Y, edges)] if edges[-1] > len(lengths) else []
    inflation = max([inflation_by_the_book(Y, edges), *times])
    ways = [merge_by_the_book(Y, edges, inflation, samples) for samples in (PRIOR_SAMPLES, ALIKE_SAMPLES)]
    assert tree.inflation == pytest.approx(inflation)
    assert tree.evidence.shape == (len(lengths),)
    for n_labels in range(1, len(lengths) + 1):
        groups, _ = max((way[n_labels] for way in ways), key=lambda answer: answer[1][0])
        evidence = max(max(way[n_labels][1]) for way in ways)  # with any prior
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


def test_swings_have_equal_means_but_are_not_independent():
    t, rng = np.arange(800), np.random.default_rng(0)
    edges = np.array([0, 400, 800])
    swings = np.stack([np.cos(2 * np.pi * t / 40), np.sin(2 * np.pi * t / 40)], axis=1)
    Y = swings * np.repeat([1.0, 3.0], 400)[:, None] + 0.1 * rng.standard_normal((800, 2))
    assert variance_inflation(standardise_within(Y, edges), edges) < 1.1
    # a quarter of a swing is alike on either side of a sample
    assert 5 < LabelTree(Y, edges[1:-1]).inflation < 20
    assert LabelTree(rng.permutation(Y), edges[1:-1]).inflation < 2


def test_the_inflation_of_labels_is_the_greater_of_two():
    edges = np.array([0, 200, 400])
    drifting = np.random.default_rng(0).standard_normal((400, 3)) + np.linspace(0, 20, 400)[:, None]
    tree = LabelTree(drifting, edges[1:-1])
    found = (measure(tree.cost.views[0], edges) for measure in (variance_inflation, correlation_time))
    assert tree.inflation == pytest.approx(max(found))
    assert tree.inflation > 10


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
@example(lengths=[3, 3, 7, 3, 6, 1, 7], seed=210)  # the better of two ways changes
@settings(max_examples=30)
def test_from_the_fewest_labels_apart_on_neighbours_differ(lengths, seed):
    edges = np.cumsum([0, *lengths])
    tree = LabelTree(features(edges[-1], 2, seed), edges[1:-1])

    def apart(n_labels):
        labels = tree.labels(n_labels)
        return np.all(labels[1:] != labels[:-1])

    assert tree.fewest_apart() == max((n for n in range(1, len(lengths)) if not apart(n)), default=0) + 1


def test_noise_in_many_channels_does_not_hide_how_many_kinds_there_are():
    """Five means, less far apart than all the noise of a sample is long."""
    rng = np.random.default_rng(0)
    order = [0, 1, 2, 3, 4, 2, 1, 3, 0]
    means = np.linalg.qr(rng.standard_normal((30, 5)))[0].T * 3
    Y = np.repeat(means[order], 60, axis=0) + rng.standard_normal((540, 30))
    assert LabelTree(Y, np.arange(60, 540, 60)).count_labels() == 5


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


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e100])
def test_rounding_within_spans_is_no_correlation(size):
    edges = np.array([0, 50, 100, 200, 300, 500])
    # 0.1 and the like are not the mean of so many of them: what is left is the same for all samples of a span
    steps = size * np.repeat(
        [[0.1, 0.33], [0.3, 0.1], [0.1, 0.7], [0.7, 0.1], [0.3, 0.3]], np.diff(edges), axis=0
    )
    assert correlation_time(steps, edges) == 1.0
    noise = size * np.random.default_rng(0).standard_normal((500, 2))
    assert correlation_time(np.hstack([noise, steps]), edges) == correlation_time(noise, edges)


def test_steps_between_spans_and_samples_that_are_equal_are_no_correlation():
    rng = np.random.default_rng(0)
    edges = np.array([0, 100, 200])
    Y = rng.standard_normal((200, 2)) + np.repeat([0.0, 50.0], 100)[:, None]
    assert correlation_time(Y, edges) < 1.5
    assert correlation_time(np.ones((200, 2)), edges) == 1.0
