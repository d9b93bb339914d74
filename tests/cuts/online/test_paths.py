"""Paths through known labels that grow: the same as those of all samples at once, and final ones stay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqspan.cuts.online.paths import GrowingPaths
from seqspan.cuts.ordered.paths import CheapestPath


def draw_costs(rng, n_labels, n_samples):
    """Costs of samples with one label for a while."""
    labels = np.repeat(rng.integers(0, n_labels, n_samples), rng.integers(5, 40))[:n_samples]
    costs = rng.standard_normal((n_labels, n_samples)) ** 2
    costs[labels, np.arange(n_samples)] -= rng.uniform(0.2, 1)
    return costs


def sample_labels(spans, n_samples):
    labels, start = np.full(n_samples, -1), 0
    for end, label in spans:
        labels[start:end], start = label, end
    return labels


@given(
    seed=st.integers(0, 10**6), n_labels=st.integers(1, 5), n_samples=st.integers(1, 300),
    shortest=st.integers(1, 12), price=st.floats(0.5, 10), block=st.integers(1, 64),
)  # fmt: skip
def test_the_path_is_that_of_all_samples(seed, n_labels, n_samples, shortest, price, block):
    costs = draw_costs(np.random.default_rng(seed), n_labels, n_samples)
    paths, spans = GrowingPaths(n_labels, price, shortest), []
    for start in range(0, n_samples, block):
        paths.extend(costs[:, start : start + block])
        spans += paths.settle()
    spans += paths.open_spans() or [(n_samples, paths.cheapest_label())]
    whole = CheapestPath(n_labels, n_samples, price, min(shortest, n_samples))
    whole.extend(costs)
    np.testing.assert_array_equal(sample_labels(spans, n_samples), whole.labels())


def test_samples_too_few_for_a_span_have_the_label_that_costs_least_in_all():
    paths = GrowingPaths(2, price=1.0, shortest=5)
    paths.extend(np.array([[0.0, 0.0, 0.0, 3.0], [1.0, 1.0, 1.0, 1.0]]))
    assert paths.open_spans() == []
    assert paths.cheapest_label() == 0
    paths.extend(np.array([[2.0], [0.0]]))
    paths.extend(np.empty((2, 0)))
    assert paths.open_spans() == [(5, 1)]


def test_places_are_whole_numbers_in_a_state_also_while_there_are_none():
    state = GrowingPaths(2, 4.0, 5).state()
    assert {state[name].dtype.kind for name in ("path_where", "path_spans", "path_places")} == {"i"}
    assert state["path_spans"].shape == (0, 3)


def test_little_is_held_in_a_long_span():
    paths = GrowingPaths(3, price=5.0, shortest=5)
    costs = np.repeat([[0.0], [1.0], [1.0]], 64, axis=1)
    for _ in range(500):
        paths.extend(costs)
        assert paths.settle() == []
    assert sum(array.size for array in paths.state().values()) < 200
    assert np.abs(paths.state()["path_sums"]).max() < 100  # they do not grow with the stream


@pytest.mark.parametrize("seed", range(3))
def test_forced_spans_are_followed_by_paths_that_have_them(seed):
    rng = np.random.default_rng(seed)
    costs = 0.02 * rng.standard_normal((3, 600))  # labels that nothing tells apart
    costs[0, :200] -= 0.1
    costs[1, 200:] -= 0.1
    paths, spans = GrowingPaths(3, price=3.0, shortest=5), []
    for start in range(0, 600, 20):
        paths.extend(costs[:, start : start + 20])
        spans += paths.settle() + paths.force(start - 40)
    spans += paths.open_spans()
    ends = [end for end, _ in spans]
    assert ends == sorted(set(ends))
    assert ends[-1] == 600
    assert abs(ends[0] - 200) < 20


def test_spans_up_to_a_place_are_forced_before_they_are_settled():
    paths = GrowingPaths(2, price=3.0, shortest=5)
    paths.extend(np.repeat([[0.0, 1.0], [1.0, 0.0]], [20, 6], axis=1))
    assert paths.open_spans() == [(20, 0), (26, 1)]
    assert paths.settle() == []  # the last six might be noise
    assert paths.force(19) == []
    assert paths.force(20) == [(20, 0)]
    assert paths.open_spans() == [(26, 1)]
    paths.extend(np.repeat([[0.0], [1.0]], 30, axis=1))  # and they were
    assert paths.open_spans() == [(26, 1), (56, 0)]


def test_all_spans_up_to_a_place_are_forced():
    paths = GrowingPaths(2, price=3.2, shortest=5)
    paths.extend(np.repeat([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], [8, 7, 8], axis=1))
    assert paths.settle() == []  # all of it with the first label costs 7.0 instead of 6.4
    assert paths.force(15) == [(8, 0), (15, 1)]
    assert paths.open_spans() == [(23, 0)]


def test_a_path_goes_on_from_its_state():
    costs = draw_costs(np.random.default_rng(0), 3, 400)
    one, found = GrowingPaths(3, 4.0, 5), []
    one.extend(costs[:, :230])
    found += one.settle()
    other = GrowingPaths(3, 4.0, 5)
    other.restore(one.state())
    for paths in (one, other):
        paths.extend(costs[:, 230:])
    assert one.settle() == other.settle()
    assert one.open_spans() == other.open_spans()
