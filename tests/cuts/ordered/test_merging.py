"""Spans that return are joined; what joining loses is computed again from the samples."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqspan.cuts.ordered import merging as span_labels
from seqspan.cuts.ordered.cost import Evidence
from seqspan.cuts.ordered.merging import Joining, boundary_gains


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
    evidence = Evidence([Y[chosen] for Y in views])
    return evidence.cost(evidence.moments(0, len(chosen)))


@pytest.mark.parametrize(
    "order", [[0, 1, 0], [0, 1, 2, 0, 1, 2], [0, 1, 0, 1, 2, 0, 3], [2, 0, 1, 1, 2], [0, 0, 0], [0]]
)
@pytest.mark.parametrize("seed", range(3))
def test_planted_spans_that_return_are_joined(order, seed):
    lengths = np.random.default_rng(seed).integers(30, 60, len(order))
    Y, boundaries = recurring(order, lengths, seed)
    joining = Joining(Evidence([Y]), boundaries)
    assert joining.labels(len(set(order))).tolist() == in_order_of_appearance(order)
    assert joining.n_spans == len(order)


def random_joining(n_spans, seed, p=3):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 9, n_spans)
    views = [rng.standard_normal((lengths.sum(), p)).cumsum(axis=0), rng.standard_normal((lengths.sum(), 2))]
    edges = np.concatenate([[0], np.cumsum(lengths)])
    return Joining(Evidence(views), edges[1:-1]), views, edges


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
    joining, _, _ = random_joining(n_spans, seed)
    finer = None
    for k in range(n_spans, 0, -1):
        labels = joining.labels(k).tolist()
        assert len(set(labels)) == k
        assert labels == in_order_of_appearance(labels)
        if finer is not None:  # whoever shared a label still does
            assert len(set(zip(finer, labels, strict=True))) == k + 1
        finer = labels
    assert joining.labels(n_spans).tolist() == list(range(n_spans))


@settings(max_examples=15)
@given(n_spans=st.integers(1, 7), seed=st.integers(0, 999))
def test_every_joining_is_the_one_that_loses_least(n_spans, seed):
    joining, views, edges = random_joining(n_spans, seed)
    assert len(joining.losses) == n_spans - 1
    assert len(joining.costs) == n_spans
    for done in range(n_spans):
        groups = groups_of(joining.labels(n_spans - done), edges)
        costs = [cost_of_samples(views, group) for group in groups]
        assert joining.costs[done] == pytest.approx(sum(costs), rel=1e-7, abs=1e-7)
        if len(groups) > 1:
            losses = [
                (cost_of_samples(views, np.concatenate([groups[i], groups[j]])) - costs[i] - costs[j])
                / min(len(groups[i]), len(groups[j]))
                for i, j in combinations(range(len(groups)), 2)
            ]
            assert joining.losses[done] == pytest.approx(min(losses), rel=1e-7, abs=1e-7)


def test_joining_what_is_the_same_loses_less_than_joining_what_differs():
    Y, boundaries = recurring([0, 1, 2, 0, 1, 2], [40] * 6, seed=1)
    losses = Joining(Evidence([Y]), boundaries).losses
    assert max(losses[:3]) < 0 < min(losses[3:])  # three return, and one model is even cheaper than two


@settings(max_examples=15)
@given(n_spans=st.integers(1, 7), seed=st.integers(0, 999))
def test_a_boundary_gains_what_its_two_spans_save(n_spans, seed):
    joining, views, edges = random_joining(n_spans, seed)
    gains = boundary_gains(Evidence(views), joining.boundaries)
    assert gains.shape == (n_spans - 1,)
    for gain, (left, middle, right) in zip(
        gains, zip(edges, edges[1:], edges[2:], strict=False), strict=True
    ):
        apart = [cost_of_samples(views, np.arange(i, j)) for i, j in ((left, middle), (middle, right))]
        assert gain == pytest.approx(cost_of_samples(views, np.arange(left, right)) - sum(apart), abs=1e-7)


def test_planted_boundaries_gain_and_others_lose():
    Y, boundaries = recurring([0, 1, 0], [40, 40, 40], seed=0)
    gains = boundary_gains(Evidence([Y]), np.array([20, 40, 80, 100]))
    assert boundaries.tolist() == [40, 80]
    assert min(gains[1:3]) > 0 > max(gains[0], gains[3])


def test_many_spans_are_joined_without_holding_all_pairs(monkeypatch):
    """Pairs are looked at some at a time: the same joining, in a fraction of the memory."""
    Y = np.random.default_rng(4).standard_normal((60, 4))
    boundaries = np.arange(2, 60, 2)
    at_once = Joining(Evidence([Y]), boundaries)
    monkeypatch.setattr(span_labels, "AT_ONCE", 7)
    sizes = []
    costs = Evidence.costs
    monkeypatch.setattr(
        Evidence, "costs", lambda self, given: (sizes.append(len(given)), costs(self, given))[1]
    )
    few = Joining(Evidence([Y]), boundaries)
    assert few.losses == at_once.losses
    assert few.labels(5).tolist() == at_once.labels(5).tolist()
    assert max(sizes) == 7
