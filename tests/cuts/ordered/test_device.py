"""The ordered cut on a real GPU against the host, and what can be known of its device functions without one.

python -m pytest -m gpu tests/cuts/ordered/test_device.py
"""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pytest
from scipy.special import gammaln

from seqspan._core.backend import is_on_gpu, require_cupy, to_host
from seqspan.cuts import make_cutter
from seqspan.cuts.ordered import device_functions
from seqspan.cuts.ordered.cost import GaussianCost, LeadingCosts
from seqspan.cuts.ordered.features import coefficient_features, sample_features
from seqspan.cuts.ordered.labels import LabelTree
from seqspan.cuts.ordered.n_spans import FEATURE_COUNTS, Effort, count_spans
from seqspan.cuts.ordered.search import SpanSearch
from seqspan.cuts.ordered.view_model import filling
from seqspan.datasets import make_motion
from seqspan.models import Osc
from seqspan.solvers import solve_fast

SOURCE = files("seqspan.cuts.ordered").joinpath("spans.cu").read_text()


@pytest.fixture
def cupy(monkeypatch):
    monkeypatch.setattr(device_functions, "MIN_GRID", 2)  # small grids go through the device functions, too
    monkeypatch.setattr("seqspan.cuts.ordered.n_spans.MIN_GRID", 2)
    return require_cupy()


def features(n, p, seed):
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((n, p)) + np.repeat(rng.standard_normal((4, p)), -(-n // 4), axis=0)[:n]
    return (Y - Y.mean(axis=0)) / Y.std(axis=0)


@pytest.mark.parametrize("name", ["SIDE", "COST_THREADS"])
def test_sizes_are_the_same_on_both_sides(name):
    assert re.findall(rf"constexpr int {name} = (\d+);", SOURCE) == [str(getattr(device_functions, name))]


def test_there_is_room_for_every_number_of_features():
    assert re.findall(r"constexpr int MAX_TABLES = (\d+);", SOURCE) == [str(len(FEATURE_COUNTS))]


@pytest.mark.parametrize("name", ["sum_cells", "sum_blocks", "fill_costs", "add_spans", "pair_costs"])
def test_what_is_launched_is_there(name):
    assert re.search(rf"\b{name}\(", SOURCE)


class PassedForGpu(np.ndarray):
    """An array on the host that code takes for one on a GPU."""

    __module__ = "cupy"

    def get(self):
        return np.asarray(self)


class PlainSpanCosts:
    """`SpanCosts` for arrays that are passed for one on a GPU, by the loop of the host."""

    def __init__(self, *model):
        self.model = model

    def add(self, Y, places, shortest, C):
        assert is_on_gpu(Y)
        fill, firsts = filling(np.ascontiguousarray(Y.get()), places)
        for first in firsts:
            fill((places, shortest), self.model, first, C)


class PlainPairCosts:
    """`PairCosts` in NumPy, from the same arguments: each pair by the determinant of its scatter."""

    def __init__(self, model, counts, totals, products):
        self.model, self.moments = model, (counts, totals, products)

    def __call__(self, ones, others):
        prior, sizes, slopes, shares, halves, weight, constant = self.model
        costs = []
        for pair in zip(ones, others, strict=True):
            count, total, product = (moments[list(pair)].sum(axis=0) for moments in self.moments)
            scatter = product - np.outer(total, total) / (count + 1) + prior * np.eye(len(total))
            logs = [np.linalg.slogdet(scatter[:size, :size])[1] for size in sizes]
            cost = np.diff(logs, prepend=0) @ (slopes[:, 0] + count * slopes[:, 1])
            cost += shares @ (gammaln(halves) - gammaln(halves + count / 2))
            costs.append(cost + weight * np.log1p(count) - constant)
        return np.array(costs)


@pytest.fixture
def no_gpu(monkeypatch):
    """What is launched on a GPU, in place of which something else runs on the host."""
    monkeypatch.setattr("seqspan.cuts.ordered.cost.require_cupy", lambda: np)
    monkeypatch.setattr(device_functions, "SpanCosts", PlainSpanCosts)
    monkeypatch.setattr(device_functions, "PairCosts", PlainPairCosts)


@pytest.mark.parametrize("widths", [(1,), (3, 5)], ids=str)
def test_device_functions_get_what_costs_are_made_of(widths, no_gpu):
    views = [features(120, width, seed) for seed, width in enumerate(widths)]
    host, device = GaussianCost(views), GaussianCost([view.view(PassedForGpu) for view in views])
    places = host.places(4, slice(10, 110))
    for beyond_chance in (False, True, False):  # what was computed for one is not used for the other
        options = {"shortest": 3, "n_jobs": 1, "beyond_chance": beyond_chance}
        expected = host.span_costs(places, **options)
        np.testing.assert_allclose(device.span_costs(places, **options), expected, rtol=1e-6)


def test_device_functions_get_the_leading_features(no_gpu, monkeypatch):
    Y, places, costs = features(90, 5, 0), np.arange(0, 91, 3), LeadingCosts(90, (1, 2, 4))
    expected = costs.span_costs(Y, places, 2)
    monkeypatch.setattr("seqspan.cuts.ordered.cost.filling", None)  # the loop of the host
    found = costs.span_costs(Y.view(PassedForGpu), places, 2)
    assert found.dtype == np.float32  # device functions fill in nothing else
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("p", [1, 5])
def test_device_functions_get_the_moments_of_pairs(p, no_gpu):
    cost = GaussianCost([features(60, p, 0)], prior_samples=4.0)
    spans = [cost.summarise(start, start + 20) * 0.3 for start in (0, 20, 40)]
    counts = np.array([span.count for span in spans])
    totals, products = (
        np.stack([getattr(span, name)[0] for span in spans], axis=-1) for name in ("totals", "products")
    )
    groups = [(counts, totals, products)]  # groups last
    found = cost.pairs_on_gpu(groups)(np.array([1, 1]), np.array([0, 2]))
    np.testing.assert_allclose(found, cost.costs([spans[1] + spans[0], spans[1] + spans[2]]))


@pytest.mark.gpu
@pytest.mark.parametrize("widths", [(1,), (3, 5), (16, 16)], ids=str)
@pytest.mark.parametrize("step", [1, 4, 20], ids=["every sample", "short cells", "long cells"])
@pytest.mark.parametrize("beyond_chance", [False, True])
def test_costs_of_all_spans_are_those_of_the_host(widths, step, beyond_chance, cupy):
    views = [features(700, width, seed) for seed, width in enumerate(widths)]
    host, device = GaussianCost(views), GaussianCost([cupy.asarray(view) for view in views])
    places = host.places(step, slice(100, 600))
    options = {"shortest": 3, "n_jobs": 1, "beyond_chance": beyond_chance}
    expected, found = host.span_costs(places, **options), device.span_costs(places, **options)
    assert is_on_gpu(found)
    # sums of up to a few hundred numbers of the size of the largest, in single precision
    np.testing.assert_allclose(to_host(found), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.gpu
@pytest.mark.parametrize("counts", [(1, 2, 4, 8), (1, 2, 3, 3), (1,)], ids=str)
def test_costs_by_leading_features_are_those_of_the_host(counts, cupy):
    Y, places = features(500, counts[-1], 0), np.arange(0, 501, 5)
    costs = LeadingCosts(500, counts)
    expected, found = costs.span_costs(Y, places, 2), costs.span_costs(cupy.asarray(Y), places, 2)
    np.testing.assert_allclose(to_host(found), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.gpu
@pytest.mark.parametrize(("n", "shortest"), [(5, 1), (64, 3), (301, 7)])
def test_the_search_is_that_of_the_host(n, shortest, cupy):
    C = np.triu(np.random.default_rng(n).random((n, n))).astype(np.float32)
    host, device = SpanSearch(C, shortest), SpanSearch(cupy.asarray(C), shortest)
    np.testing.assert_array_equal(device.costs(host.max_spans), host.costs(host.max_spans))
    for n_spans in range(1, host.max_spans + 1):
        np.testing.assert_array_equal(device.divide(n_spans), host.divide(n_spans))


@pytest.mark.gpu
def test_several_searches_at_once_are_those_of_the_host(cupy):
    C = np.triu(np.random.default_rng(0).random((4, 130, 130))).astype(np.float32)
    found = SpanSearch.several(cupy.asarray(C), 2, 10)
    for host, device in zip(SpanSearch.several(C, 2, 10), found, strict=True):
        np.testing.assert_array_equal(device.costs(10), host.costs(10))
        np.testing.assert_array_equal(device.costs(30), host.costs(30))
        np.testing.assert_array_equal(device.divide(7), host.divide(7))


@pytest.mark.gpu
@pytest.mark.parametrize("make", [sample_features, coefficient_features])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_are_those_of_the_host(make, dtype, cupy):
    X = make_motion(1500, 20, rng=1)[0].astype(dtype)
    expected, found = make(X, 8), make(cupy.asarray(X), 8)
    assert is_on_gpu(found)
    aligned = np.abs(np.mean(expected * to_host(found), axis=0))  # the sign of a component is anybody's guess
    assert aligned.min() > 1 - (1e-4 if dtype == np.float32 else 1e-9)


@pytest.mark.gpu
def test_features_of_equal_samples_say_so(cupy):
    np.testing.assert_array_equal(to_host(sample_features(cupy.ones((3, 20)))), np.zeros((20, 1)))


@pytest.mark.gpu
@pytest.mark.parametrize("p", [1, 5, 12, 32])
def test_spans_are_merged_as_on_the_host(p, cupy, monkeypatch):
    monkeypatch.setattr("seqspan.cuts.ordered.labels.MIN_GROUPS", 2)
    Y, boundaries = features(900, p, seed=p), np.arange(20, 900, 20)
    expected, found = LabelTree(Y, boundaries), LabelTree(cupy.asarray(Y), boundaries)
    np.testing.assert_allclose(found.evidence, expected.evidence, rtol=1e-9)
    for n_labels in (2, 5, 30):
        np.testing.assert_array_equal(found.labels(n_labels), expected.labels(n_labels))


@pytest.mark.gpu
@pytest.mark.parametrize("joins", [(), (500, 1100)], ids=["one", "several"])
@pytest.mark.parametrize(("n", "d"), [(1500, 10), (45_001, 4), (1500, 150)], ids=["plain", "long", "wide"])
def test_spans_are_counted_as_on_the_host(n, d, joins, cupy):
    X, effort = make_motion(n, d, rng=2)[0], Effort(4, 4, 300)
    expected, found = (count_spans(each, 5, 2, joins, effort=effort) for each in (X, cupy.asarray(X)))
    assert found.n_features == expected.n_features
    assert found.choose() == expected.choose()
    np.testing.assert_allclose(found.recording, expected.recording, rtol=1e-4, atol=0.1)
    np.testing.assert_allclose(found.features, expected.features, rtol=1e-4, atol=0.1)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("joins", [(), (800,)], ids=["one", "several"])
def test_the_same_coefficients_have_the_same_boundaries(dtype, joins, cupy):
    X = make_motion(3000, rng=3)[0].astype(dtype)
    Z = solve_fast(Osc(0.1, 1.0, joins=joins), X / np.linalg.norm(X, axis=0)).Z
    expected, found = (
        make_cutter("ordered", X, each, min_length=5, joins=joins) for each in (Z, cupy.asarray(Z))
    )
    for numbers in ({}, {"n_spans": 12}, {"n_spans": 9, "n_subspaces": 4}, {"grain": "fine"}):
        np.testing.assert_array_equal(found.cut(**numbers).boundaries, expected.cut(**numbers).boundaries)
        np.testing.assert_array_equal(found.cut(**numbers).labels, expected.cut(**numbers).labels)
