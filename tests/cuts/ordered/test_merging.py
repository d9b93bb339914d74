"""Spans that recur are merged; the evidence against every merge is computed again from the samples."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqspan.cuts.ordered import merging as merging_module
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.merging import MIN_LABEL_EVIDENCE, SpanMerging


def recurring(order, lengths, seed, p=4):
    """Spans of Gaussian samples; those with the same number share mean and covariance."""
    rng = np.random.default_rng(seed)
    models = [(2 * rng.standard_normal(p), 0.3 * rng.standard_normal((p, p))) for _ in range(max(order) + 1)]
    spans = [
        models[which][0] + rng.standard_normal((length, p)) @ models[which][1]
        for which, length in zip(order, lengths, strict=True)
    ]
    Y = np.concatenate(spans)
    return Y / Y.std(axis=0), np.cumsum(lengths)[:-1]


def in_order_of_appearance(labels):
    names = list(dict.fromkeys(labels))
    return [names.index(label) for label in labels]


def cost_of_samples(views, chosen):
    """Cost of a set of samples, gathered row by row."""
    return GaussianCost([Y[chosen] for Y in views]).error(0, len(chosen))


@pytest.mark.parametrize(
    "order", [[0, 1, 0], [0, 1, 2, 0, 1, 2], [0, 1, 0, 1, 2, 0, 3], [2, 0, 1, 1, 2], [0, 0, 0], [0]]
)
@pytest.mark.parametrize("seed", range(3))
def test_planted_spans_that_recur_are_merged(order, seed):
    lengths = np.random.default_rng(seed).integers(30, 60, len(order))
    Y, boundaries = recurring(order, lengths, seed)
    merging = SpanMerging(GaussianCost([Y]), boundaries)
    assert merging.labels(len(set(order))).tolist() == in_order_of_appearance(order)
    assert merging.n_spans == len(order)


def random_merging(n_spans, seed, p=3):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 9, n_spans)
    views = [rng.standard_normal((lengths.sum(), p)).cumsum(axis=0), rng.standard_normal((lengths.sum(), 2))]
    edges = np.concatenate([[0], np.cumsum(lengths)])
    return SpanMerging(GaussianCost(views), edges[1:-1]), views, edges


def groups_of(labels, edges):
    """Samples of each group, in the order of labels."""
    spans = [np.arange(i, j) for i, j in pairwise(edges)]
    return [
        np.concatenate([span for span, label in zip(spans, labels, strict=True) if label == group])
        for group in range(max(labels) + 1)
    ]


@settings(max_examples=30)
@given(n_spans=st.integers(1, 9), seed=st.integers(0, 999))
def test_labels_are_nested_and_numbered_as_they_appear(n_spans, seed):
    merging, _, _ = random_merging(n_spans, seed)
    finer = None
    for k in range(n_spans, 0, -1):
        labels = merging.labels(k).tolist()
        assert len(set(labels)) == k
        assert labels == in_order_of_appearance(labels)
        if finer is not None:  # whoever shared a label still does
            assert len(set(zip(finer, labels, strict=True))) == k + 1
        finer = labels
    assert merging.labels(n_spans).tolist() == list(range(n_spans))


@settings(max_examples=15)
@given(n_spans=st.integers(1, 7), seed=st.integers(0, 999))
def test_every_merge_is_the_one_with_least_evidence_against_it(n_spans, seed):
    merging, views, edges = random_merging(n_spans, seed)
    assert len(merging.evidence_against) == n_spans - 1
    assert len(merging.costs) == n_spans
    for done in range(n_spans):
        groups = groups_of(merging.labels(n_spans - done), edges)
        costs = [cost_of_samples(views, group) for group in groups]
        assert merging.costs[done] == pytest.approx(sum(costs), rel=1e-7, abs=1e-7)
        if len(groups) > 1:
            evidence = [
                (cost_of_samples(views, np.concatenate([groups[i], groups[j]])) - costs[i] - costs[j])
                / min(len(groups[i]), len(groups[j]))
                for i, j in combinations(range(len(groups)), 2)
            ]
            assert merging.evidence_against[done] == pytest.approx(min(evidence), rel=1e-7, abs=1e-7)


def test_there_is_less_evidence_against_merging_spans_that_recur():
    Y, boundaries = recurring([0, 1, 2, 0, 1, 2], [40] * 6, seed=1)
    evidence = SpanMerging(GaussianCost([Y]), boundaries).evidence_against
    assert max(evidence[:3]) < 0 < min(evidence[3:])  # three recur, and one model is even cheaper than two


def test_the_evidence_for_labels_descends_and_counts_them():
    Y, boundaries = recurring([0, 1, 2, 0, 1, 2], [40] * 6, seed=1)
    merging = SpanMerging(GaussianCost([Y]), boundaries)
    evidence = merging.label_evidence
    assert evidence.shape == (5,)
    assert np.all(np.diff(evidence) <= 0)
    assert evidence[0] == max(merging.evidence_against)
    assert evidence[-1] == merging.evidence_against[0]
    merging.evidence_against[:] = [1.0, 5.0, MIN_LABEL_EVIDENCE, 3.0, 9.0]
    del merging.label_evidence  # the largest up to a merge counts: 9, 5, 5, 5, 1
    assert merging.label_evidence.tolist() == [9, 5, 5, 5, 1]
    assert merging.count_labels() == 5


@pytest.mark.parametrize(("evidence", "expected"), [(MIN_LABEL_EVIDENCE, 2), (MIN_LABEL_EVIDENCE - 0.01, 1)])
def test_two_spans_share_a_label_below_the_least_evidence(evidence, expected):
    merging = SpanMerging(GaussianCost([np.zeros((10, 2))]), np.array([5]))
    merging.evidence_against[:] = [evidence]
    assert merging.count_labels() == expected
    assert SpanMerging(GaussianCost([np.zeros((10, 2))]), np.array([], dtype=int)).count_labels() == 1


def test_many_spans_are_merged_without_holding_all_pairs(monkeypatch):
    """Pairs go in chunks: the same merging, in a fraction of the memory."""
    Y = np.random.default_rng(4).standard_normal((60, 4))
    boundaries = np.arange(2, 60, 2)
    at_once = SpanMerging(GaussianCost([Y]), boundaries)
    monkeypatch.setattr(merging_module, "CHUNK", 7)
    sizes = []
    costs = GaussianCost.costs
    monkeypatch.setattr(
        GaussianCost, "costs", lambda self, given: (sizes.append(len(given)), costs(self, given))[1]
    )
    few = SpanMerging(GaussianCost([Y]), boundaries)
    assert few.evidence_against == at_once.evidence_against
    assert few.labels(5).tolist() == at_once.labels(5).tolist()
    assert max(sizes) == 7
