"""The parts of TW-FINCH, on data small enough to work out by hand."""

from itertools import pairwise

import numpy as np
import pytest
from benchmarks.quality.methods import Answer
from benchmarks.quality.tw_finch import (
    METHODS,
    average,
    cluster_in_time,
    cluster_levels,
    first_neighbours,
    join_neighbours,
    refine,
)

DIRECTIONS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
TRUTH = np.repeat([0, 1, 2, 0], [20, 30, 25, 25])


def spans(seed):
    """Four spans around three directions, one of which returns."""
    rng = np.random.default_rng(seed)
    return DIRECTIONS[TRUTH] + 0.1 * rng.normal(size=(len(TRUTH), 2))


def test_neighbours_are_near_in_direction_times_time():
    F = np.array([[1.0, 0], [3.0, 0.3], [0, 1.0], [0.1, 5.0], [2.0, 0]])
    neighbours, distances = first_neighbours(F, np.arange(5.0))
    # The last row has the direction of the first: a distance of zero, however long ago that was.
    assert neighbours.tolist() == [4, 0, 3, 2, 0]
    cosine = 3 / np.hypot(3, 0.3)
    assert distances == pytest.approx(
        [0, (1 - cosine) / 5, *2 * [(1 - 5 / np.hypot(0.1, 5)) / 5], 0], abs=1e-12
    )
    # Seen from time 1, a direction half as far away at time 2 beats the same one at time 9.
    near = np.array([[1.0, 0.0], [np.cos(0.5), np.sin(0.5)], [np.cos(0.2), np.sin(0.2)]])
    assert first_neighbours(near, np.array([1.0, 2.0, 90.0]))[0][0] == 1
    assert first_neighbours(near, np.array([1.0, 2.0, 2.5]))[0][0] == 2


def test_neighbours_do_not_depend_on_the_block(monkeypatch):
    whole = first_neighbours(spans(0), np.arange(100.0))
    monkeypatch.setattr("benchmarks.quality.tw_finch.BLOCK", 7)
    for one, other in zip(whole, first_neighbours(spans(0), np.arange(100.0)), strict=True):
        assert other == pytest.approx(one)


def test_linked_rows_are_one_cluster():
    assert join_neighbours(np.array([2, 3, 0, 1, 2])).tolist() == [0, 1, 0, 1, 0]


def test_averages_are_those_of_the_clusters():
    F, labels = spans(1), np.arange(100) % 3
    means, times = average(F, labels)
    for label in range(3):
        assert means[label] == pytest.approx(F[labels == label].mean(axis=0))
        assert times[label] == pytest.approx(np.flatnonzero(labels == label).mean())


@pytest.mark.parametrize("seed", range(5))
def test_levels_are_nested_and_end_with_one_cluster(seed):
    levels = cluster_levels(spans(seed))
    numbers = [labels.max() + 1 for labels in levels]
    assert numbers[-1] == 1
    assert len(numbers) > 2
    assert all(2 * after <= before for before, after in pairwise([100, *numbers]))
    for finer, coarser in pairwise(levels):
        assert len(np.unique(np.stack([finer, coarser]), axis=1).T) == finer.max() + 1


@pytest.mark.parametrize("n_clusters", [1, 2, 4, 9, 60])
def test_any_number_of_clusters_can_be_had(n_clusters):
    F = spans(2)
    labels = refine(F, cluster_levels(F), n_clusters)
    assert np.unique(labels).tolist() == list(range(n_clusters))


def test_clusters_are_joined_from_the_nearest_level_above():
    F = np.random.default_rng(4).normal(size=(100, 3))  # no clear clusters: every other way gives others
    levels = cluster_levels(F)
    for labels in levels:
        assert np.array_equal(refine(F, levels, labels.max() + 1), labels)


def test_with_no_number_given_levels_count_from_the_top():
    X = spans(5)
    *levels, _ = cluster_levels(X)  # the last one has a single cluster
    for level in (1, 2):
        labels = cluster_in_time(X, None, None, None, "table", features="raw", level=level)
        assert np.array_equal(labels, levels[-level])
    finest = cluster_in_time(X, None, None, None, "table", features="raw", level=99)
    assert np.array_equal(finest, levels[0])


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_clusters_do_not_mix_directions_that_are_far_apart(method):
    truth = np.repeat([0, 1, 2, 3], [20, 30, 25, 25])
    corners = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    F = corners[truth] + 0.1 * np.random.default_rng(3).normal(size=(100, 2))
    told = method.told(method.given[0], np.flatnonzero(np.diff(truth)) + 1, 4)
    found = method.run(F, *told, np.random.default_rng(0), "table")
    labels = found.labels if isinstance(found, Answer) else found
    same = sum(np.bincount(truth[labels == label]).max() for label in np.unique(labels))
    # With no number given, the top level may have as few as two clusters, each of two directions.
    assert same == 100 or (told == (None, None) and len(np.unique(labels)) < 4)
