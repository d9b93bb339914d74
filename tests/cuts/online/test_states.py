"""Labels of a stream's spans."""

from __future__ import annotations

import numpy as np
import pytest

from seqspan.cuts.online.states import N_ROWS, States


def spans(order, length=50, seed=0, noise=0.3):
    """Features of spans around the points of a simplex."""
    rng = np.random.default_rng(seed)
    points = 2 * np.eye(5)
    return [points[label] + noise * rng.standard_normal((length, 5)) for label in order]


ORDER = [0, 1, 2, 0, 3, 1, 0, 2]


@pytest.mark.parametrize("seed", range(3))
def test_states_that_return_get_their_label_again(seed):
    states = States()
    assert [states.learn(Y, Y) for Y in spans(ORDER, seed=seed)] == ORDER


def test_neighbours_differ_even_if_they_are_alike():
    states = States()
    assert [states.learn(Y, Y) for Y in spans([0, 0, 1])] == [0, 1, 2]
    assert states.match(spans([1])[0]) != 2
    assert states.match(spans([1])[0], before=0) == 2


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_there_are_no_more_labels_than_allowed(limit):
    states = States(limit)
    assert max(states.learn(Y, Y) for Y in spans(ORDER)) == limit - 1


def test_what_is_remembered_does_not_grow_and_is_of_all_spans():
    states = States()
    for round_ in range(40):
        for Y in spans([0, 1], seed=round_):
            states.learn(np.full((len(Y), 2), float(round_)), Y)
    assert [len(rows) for rows in states.rows] == [N_ROWS, N_ROWS]
    assert len(np.unique(states.rows[0])) > 5


def test_labels_are_recognised_in_other_features():
    states = States()
    for Y in spans(ORDER):
        states.learn(Y, Y)
    states.refresh(lambda rows: -rows[:, ::-1])
    for label, Y in enumerate(spans([0, 1, 2, 3], seed=9)):
        if label != ORDER[-1]:
            assert states.match(-Y[:, ::-1]) == label
