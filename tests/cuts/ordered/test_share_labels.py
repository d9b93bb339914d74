"""Labels that spans share once samples around changes, which are beside some of either kind, have no say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan._core.spans import Division
from seqspan.cuts.ordered.cut import OrderedCutter, far_from

REACH = 4


@given(
    n=st.integers(1, 40),
    inside=st.sets(st.integers(1, 39), max_size=6),
    is_join=st.lists(st.booleans(), min_size=6, max_size=6),
    reach=st.integers(1, 50),
)
def test_samples_are_far_from_changes_if_no_change_is_within_their_reach(n, inside, is_join, reach):
    boundaries = sorted(place for place in inside if place < n)
    joins = tuple(place for place, other in zip(boundaries, is_join, strict=False) if other)
    # sample t is beside samples t - reach to t + reach, and boundary b lies between samples b - 1 and b
    near = [
        any(t - reach <= b - 1 and b <= t + reach for b in boundaries if b not in joins) for t in range(n)
    ]
    found = far_from(np.array(boundaries, dtype=np.intp), joins, reach, n)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, ~np.array(near))


def windows(order, joins=(), lengths=30, seed=0):
    """Samples of states beside their neighbours, as a delay embedding puts them; a label for each span."""
    rng = np.random.default_rng(seed)
    lengths = np.broadcast_to(lengths, len(order))
    states = np.repeat(3 * rng.standard_normal((4, 3))[order], lengths, axis=0)
    rows = states + 0.3 * rng.standard_normal(states.shape)
    parts = []
    for part in np.split(rows, joins):
        around = np.arange(len(part))[:, None] + np.arange(-REACH, REACH + 1)
        parts.append(part[around.clip(0, len(part) - 1)].reshape(len(part), -1))
    return np.concatenate(parts).T, Division(np.cumsum(lengths)[:-1], np.arange(len(order)))


def cutter(X, joins=()):
    return OrderedCutter(X, np.zeros((1, X.shape[1])), joins)


@pytest.mark.parametrize(
    ("order", "joins"),
    [([0, 1, 0, 2, 1], ()), ([0, 1, 2, 0, 1], (60,)), ([0, 1, 1, 0, 2], (60,)), ([0, 0, 1, 0], (30, 90))],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_states_that_return_share_a_label(order, joins, seed):
    X, apart = windows(order, joins, seed=seed)
    found = cutter(X, joins).share_labels(apart, REACH)
    np.testing.assert_array_equal(found.boundaries, apart.boundaries)
    np.testing.assert_array_equal(found.labels, order)


@pytest.mark.parametrize("length", [2, 7])
def test_all_samples_of_a_short_recording_have_a_say_and_no_others(length):
    joins = (60, 60 + length)
    X, apart = windows([0, 1, 0, 1], joins, [30, 30, length, 30])
    assert cutter(X, joins).share_labels(apart, REACH).labels.tolist() == [0, 1, 0, 1]


def test_a_single_sample_far_from_changes_is_enough():
    X, _ = windows([0, 1, 0])
    apart = Division(np.array([5, 35]), np.arange(3))
    assert cutter(X[:, 25:]).share_labels(apart, REACH).labels.tolist() == [0, 1, 0]


def test_labels_that_are_as_few_as_they_can_be_stay():
    X, apart = windows([0, 1, 2])
    assert cutter(X).share_labels(apart, REACH) is apart


@pytest.mark.parametrize("boundaries", [[3, 60], [30, 35, 60], [30, 87], [4, 60], [30, 38, 60], [30, 86]])
def test_spans_of_samples_around_changes_alone_have_no_label_to_share(boundaries):
    X, _ = windows([0, 1, 0])
    division = Division(np.array(boundaries), np.arange(len(boundaries) + 1))
    assert cutter(X).share_labels(division, REACH) is division
