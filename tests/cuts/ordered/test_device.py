"""The ordered cut on a real GPU against the host, and what can be known of its device functions without one.

python -m pytest -m gpu tests/cuts/ordered/test_device.py
"""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pytest

from seqspan._core.backend import is_on_gpu, require_cupy, to_host
from seqspan.cuts import make_cutter
from seqspan.cuts.ordered import device_functions
from seqspan.cuts.ordered.cost import GaussianCost, LeadingCosts
from seqspan.cuts.ordered.features import coefficient_features, sample_features
from seqspan.cuts.ordered.labels import LabelTree
from seqspan.cuts.ordered.n_spans import FEATURE_COUNTS, Effort, count_spans
from seqspan.cuts.ordered.search import SpanSearch
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
