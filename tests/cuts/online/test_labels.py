"""Labels of a stream's spans."""

from __future__ import annotations

import numpy as np
import pytest

from seqspan.cuts.online.labels import N_ROWS, KnownLabels, summarise


def spans(order, length=50, seed=0, noise=0.3):
    """Features of spans around the points of a simplex."""
    rng = np.random.default_rng(seed)
    points = 2 * np.eye(5)
    return [points[label] + noise * rng.standard_normal((length, 5)) for label in order]


ORDER = [0, 1, 2, 0, 3, 1, 0, 2]


@pytest.mark.parametrize("seed", range(3))
def test_states_that_return_get_their_label_again(seed):
    labels = KnownLabels()
    assert [labels.learn(Y, Y) for Y in spans(ORDER, seed=seed)] == ORDER


def test_neighbours_differ_even_if_they_are_alike():
    labels = KnownLabels()
    assert [labels.learn(Y, Y) for Y in spans([0, 0, 1])] == [0, 1, 2]
    assert labels.match(spans([1])[0]) != 2
    assert labels.match(spans([1])[0], before=0) == 2


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_there_are_no_more_labels_than_allowed(limit):
    labels = KnownLabels(limit)
    assert max(labels.learn(Y, Y) for Y in spans(ORDER)) == limit - 1


def test_what_is_remembered_does_not_grow_and_is_of_all_spans():
    labels = KnownLabels()
    for round_ in range(40):
        for Y in spans([0, 1], seed=round_):
            labels.learn(np.full((len(Y), 2), float(round_)), Y)
    assert [len(rows) for rows in labels.rows] == [N_ROWS, N_ROWS]
    assert len(np.unique(labels.rows[0])) > 5
    assert np.count_nonzero(labels.rows[0] == 39) == 2  # one sample of two features: a span in 40 has no more


def test_labels_are_recognised_in_other_features():
    labels = KnownLabels()
    for Y in spans(ORDER):
        labels.learn(Y, Y)
    labels.refresh(lambda rows: -rows[:, ::-1])
    for label, Y in enumerate(spans([0, 1, 2, 3], seed=9)):
        if label != ORDER[-1]:
            assert labels.match(-Y[:, ::-1]) == label


def test_a_label_that_was_seen_once_is_what_was_seen():
    labels, (Y, other) = KnownLabels(), spans([0, 1], length=20)
    labels.learn(Y, Y)
    before = summarise(Y)
    assert labels.weights == [before.count]
    np.testing.assert_allclose(labels._moments[0].totals[0], before.totals[0])
    np.testing.assert_allclose(labels._moments[0].products[0], before.products[0])
    labels.learn(other, other)
    labels.learn(Y, Y)
    assert labels.weights[0] == 2 * before.count
    np.testing.assert_allclose(labels._moments[0].totals[0], 2 * before.totals[0])


def test_labels_go_on_from_their_arrays():
    labels, fresh = KnownLabels(), KnownLabels()
    for Y in spans(ORDER[:5]):
        labels.learn(Y, Y)
    fresh.restore(labels.arrays())
    assert (fresh.last, fresh.weights) == (labels.last, labels.weights)
    for Y in spans(ORDER[5:], seed=4):
        assert fresh.match(Y) == labels.match(Y)
        assert fresh.learn(Y, Y) == labels.learn(Y, Y)
    for name, values in labels.arrays().items():
        np.testing.assert_array_equal(fresh.arrays()[name], values)


def test_without_labels_there_is_little_to_go_on_from():
    empty = KnownLabels()
    empty.restore(KnownLabels().arrays())
    assert (empty.last, empty.rows, empty.weights) == (None, [], [])
    assert empty.learn(*2 * spans([0])) == 0
