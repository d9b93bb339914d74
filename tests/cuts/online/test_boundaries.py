"""Boundaries that are two sides of one change, and how sure those are that are held."""

from __future__ import annotations

import numpy as np
import pytest

from seqspan.cuts.online.boundaries import confidence_within, join_close
from seqspan.cuts.ordered.confidence import boundary_confidence


@pytest.mark.parametrize(
    ("boundaries", "before", "joined"),
    [
        ([], [], []),
        ([3], [], [3]),  # the first of all may be anywhere
        ([10, 18], [], [10, 18]),  # eight samples are enough
        ([10, 17], [], [14]),  # the middle, rounded up
        ([10, 16], [], [13]),
        ([10, 16, 20], [], [17]),
        ([18, 40], [10], [18, 40]),
        ([17, 40], [10], [40]),
        ([17, 20, 40], [2, 10], [20, 40]),
    ],
)
def test_boundaries_of_fewer_than_eight_samples_become_one(boundaries, before, joined):
    found = join_close(boundaries, 8, before)
    assert found == joined
    assert all(isinstance(boundary, int) for boundary in found)


def test_only_boundaries_within_what_is_held_have_a_confidence():
    rng = np.random.default_rng(0)
    Y = np.repeat([[0.0], [1.0], [0.0]], 20, axis=0) + 0.3 * rng.standard_normal((60, 1))
    found = confidence_within(Y, np.array([-5, 0, 20, 40, 60, 70]))
    np.testing.assert_array_equal(np.isnan(found), [True, True, False, False, True, True])
    np.testing.assert_array_equal(found[2:4], boundary_confidence(Y, np.array([20, 40])))
    assert np.isnan(confidence_within(Y, np.array([0, 60]))).all()
    assert confidence_within(Y, np.array([], dtype=int)).shape == (0,)
