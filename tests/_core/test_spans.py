from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan._core.spans import (
    Division,
    boundaries_from_labels,
    divide_short_spans,
    labels_from_boundaries,
    make_spans,
    merge_neighbours,
)


@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_spans_cover_every_sample_once(labels):
    labels = np.array(labels)
    boundaries = np.flatnonzero(np.diff(labels)) + 1
    spans = make_spans(labels, boundaries, np.arange(len(labels)) / 4)
    assert np.concatenate([np.full(s.end - s.start, s.label) for s in spans]).tolist() == labels.tolist()
    assert [s.start for s in spans] == [0, *boundaries]
    assert spans[-1].end_time == pytest.approx(len(labels) / 4 if len(labels) > 1 else 1.0)


@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_a_division_and_its_sample_labels_say_the_same(labels):
    labels = np.array(labels)
    division = Division.from_sample_labels(labels)
    np.testing.assert_array_equal(division.sample_labels(len(labels)), labels)
    assert division.n_labels == len(set(labels.tolist()))
    assert len(division.labels) == len(division.boundaries) + 1


@given(labels=st.lists(st.sampled_from("abc"), min_size=1, max_size=30))
def test_splitting_at_the_boundaries_gives_the_runs(labels):
    pieces = np.split(np.array(labels), boundaries_from_labels(labels))
    assert all(len(set(piece)) == 1 for piece in pieces)
    assert all(before[-1] != after[0] for before, after in pairwise(pieces))


@given(boundaries=st.sets(st.integers(1, 19)))
def test_boundaries_survive_the_way_through_labels(boundaries):
    labels = labels_from_boundaries(sorted(boundaries), 20)
    assert boundaries_from_labels(labels).tolist() == sorted(boundaries)
    assert labels.tolist() == [sum(b <= t for b in boundaries) for t in range(20)]


@pytest.mark.parametrize("boundaries", [[], [2]])
def test_labels_can_be_used_as_indices(boundaries):
    names = np.array(["walk", "turn"])
    labels = labels_from_boundaries(boundaries, 3)
    assert names[labels].tolist() == ["walk", "walk", "turn" if boundaries else "walk"]


@pytest.mark.parametrize("boundaries", [[0], [10], [3, 3], [5, 2]])
def test_impossible_boundaries_are_named(boundaries):
    with pytest.raises(ValueError, match=r"ascend strictly within \[1, 9\] for 10 samples; got"):
        labels_from_boundaries(boundaries, 10)


def test_boundaries_that_are_no_indices_are_named():
    with pytest.raises(ValueError, match="1-D array of int; got shape"):
        labels_from_boundaries([1.5], 10)


@given(
    boundaries=st.sets(st.integers(1, 59), max_size=12),
    shortest=st.integers(1, 15),
    joins=st.sets(st.integers(1, 59), max_size=2),
    seed=st.integers(0, 99),
)
def test_short_spans_go_to_their_neighbours(boundaries, shortest, joins, seed):
    places = np.array(sorted(boundaries | joins), dtype=np.intp)
    labels = np.random.default_rng(seed).integers(0, 3, len(places) + 1)
    found = divide_short_spans(Division(places, labels), shortest, 60, sorted(joins))
    edges = [0, *found.boundaries.tolist(), 60]
    ends = {0, 60, *joins}
    assert joins <= set(edges)
    assert all(end - start >= shortest or ends & {start, end} for start, end in pairwise(edges))
    if shortest == 1:
        expected = merge_neighbours(Division(places, labels), sorted(joins))
        np.testing.assert_array_equal(found.boundaries, expected.boundaries)


def test_a_short_span_is_divided_in_its_middle():
    division = Division(np.array([20, 25, 40]), np.array([0, 1, 2, 0]))
    assert divide_short_spans(division, 6, 60).boundaries.tolist() == [23, 40]
    assert divide_short_spans(division, 5, 60).boundaries.tolist() == [20, 25, 40]
    assert divide_short_spans(division, 6, 60, joins=[20]).boundaries.tolist() == [20, 25, 40]


def test_spans_know_their_recording():
    spans = make_spans(np.zeros(6, dtype=int), np.array([1, 3, 4]), np.arange(6.0), None, (3, 4))
    assert [span.recording for span in spans] == [0, 0, 1, 2]
