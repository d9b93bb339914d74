"""Costs of spans and the search among them on a GPU: launches the device functions in spans.cu.

Each is the twin of a compiled loop in :mod:`seqspan.cuts.ordered.loops`, which runs on the host.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from seqspan._core.backend import require_cupy, to_host
from seqspan._core.types import Array, IntArray

MIN_GROUPS = 200  # groups of samples; fewer are merged on the host before a GPU has started
MAX_PAIR_FEATURES = 32  # lanes of a warp
MIN_GRID = 400  # grid points; with fewer, the host is done before a GPU has started
SIDE = 32  # of the blocks of threads of add_spans, as in spans.cu
COST_THREADS = 128  # per block of fill_costs, as in spans.cu


@cache
def _function(name: str, n_features: int, device: int) -> Any:
    """A device function for a number of features; cached, because the look-up costs as much as a launch."""
    return _module(n_features, device).get_function(name)


@cache
def _module(n_features: int, device: int) -> Any:
    """The device functions: compiled once per process and device, and cached on disk by CuPy."""
    source = files("seqspan.cuts.ordered").joinpath("spans.cu").read_text()
    return require_cupy().RawModule(code=source, options=(f"-DFEATURES={n_features}", "--std=c++17"))


class SpanCosts:
    """Costs of all spans of a grid by one view of the samples.

    Parameters
    ----------
    prior : float
        Prior variance within a span.
    sizes, slopes, tables : arrays
        As for :func:`seqspan.cuts.ordered.loops.fill_costs`.
    """

    def __init__(self, prior: float, sizes: IntArray, slopes: Array, tables: Array) -> None:
        xp = require_cupy()
        self._xp, self._prior, self._n_tables, self._n_lengths = xp, prior, *tables.shape
        self._model = xp.asarray(sizes, dtype=np.int64), xp.asarray(slopes), xp.asarray(tables)

    def add(self, Y: Any, places: IntArray, shortest: int, C: Any) -> None:
        """Add to C (n_tables, n_grid, n_grid) what spans of features Y (n, p) between grid points cost."""
        xp, n_grid = self._xp, len(places)
        Y = xp.ascontiguousarray(xp.asarray(Y[places[0] : places[-1]], dtype=float))
        p = Y.shape[1]
        n_moments = p + p * (p + 1) // 2
        grid, moments = xp.asarray(places - places[0], dtype=np.int32), xp.zeros((n_grid, n_moments))
        device, threads = xp.cuda.Device().id, -(-n_moments // 32) * 32
        _function("sum_cells", p, device)((n_grid - 1,), (threads,), (Y, grid, moments[1:]))
        until = xp.ascontiguousarray(xp.cumsum(moments, axis=0).T)
        sizes = n_grid, shortest, len(self._model[0]), self._n_tables, self._n_lengths
        scalars = *(np.int32(size) for size in sizes), np.float64(self._prior)
        blocks = -(-n_grid // COST_THREADS), n_grid
        arguments = until, grid, *self._model, C, *scalars
        _function("fill_costs", p, device)(blocks, (COST_THREADS,), arguments)


def add_spans(C: Any, shortest: int, best: Any) -> None:
    """Add spans one by one, as :func:`seqspan.cuts.ordered.loops.add_spans` does; also for several C at once.

    Parameters
    ----------
    C : array of shape (n_tables, n_grid, n_grid) or (n_grid, n_grid)
    shortest : int
    best : array of shape (n_tables, n_spans + 1, n_grid) or (n_spans + 1, n_grid)
        The first rows are given, the others are filled in.
    """
    xp, n_grid, n_tables = require_cupy(), C.shape[-1], C.size // C.shape[-1] ** 2
    n_cores = xp.cuda.Device().attributes["MultiProcessorCount"]
    blocks = max(min(-(-n_grid // SIDE), n_cores // n_tables), 1), n_tables
    sizes = (np.int32(size) for size in (n_grid, shortest, best.shape[-2] - 1))
    # a cooperative launch: no block waits for one that has not begun
    launch = _function("add_spans", 1, C.device.id).kernel
    arguments = C, best, xp.zeros(n_tables, np.uint32), *sizes
    launch(blocks, (SIDE, SIDE), arguments, enable_cooperative_groups=True)


class PairCosts:
    """Costs of pairs of groups of samples, as `ViewModel.costs_of_pairs` computes them on the host.

    Parameters
    ----------
    model : (prior, sizes, slopes, shares, halves, weight, constant)
        What costs and their dependence on the number of samples are computed from.
    counts, totals, products : arrays of shape (n_groups,), (n_groups, p) and (n_groups, p, p)
        Moments of the groups, with at most 32 features.
    """

    def __init__(self, model: tuple[Any, ...], counts: Array, totals: Array, products: Array) -> None:
        xp = require_cupy()
        self._prior, sizes, *tables, self._weight, self._constant = model
        self._tables = xp.asarray(sizes, dtype=np.int64), *(xp.asarray(table) for table in tables)
        self._moments = xp.asarray(counts), xp.asarray(totals), xp.asarray(products)

    def __call__(self, ones: IntArray, others: IntArray) -> Array:
        """What each of some groups costs together with another one."""
        xp, (counts, totals, products) = require_cupy(), self._moments
        pairs = (xp.asarray(each, dtype=np.int32) for each in (ones, others))
        costs, n_groups = xp.empty(len(others)), np.int32(len(self._tables[0]))
        scalars = np.int32(len(others)), n_groups, self._prior, self._weight, self._constant
        launch = _function("pair_costs", totals.shape[1], counts.device.id)
        arguments = counts, totals, products, *pairs, *self._tables, costs, *scalars
        launch((max(-(-len(others) * 32 // COST_THREADS), 1),), (COST_THREADS,), arguments)
        return np.asarray(to_host(costs))

    def merge(self, i: int, j: int) -> None:
        """Add group j to group i."""
        for moments in self._moments:
            moments[i] += moments[j]


def sum_blocks(rows: Any, edges: IntArray) -> Any:
    """Sums (n_blocks, d) of the rows (n, d) between neighbouring edges."""
    xp, d = require_cupy(), rows.shape[1]
    sums, places = xp.empty((len(edges) - 1, d)), xp.asarray(edges, dtype=np.int32)
    blocks = len(sums), -(-d // COST_THREADS)
    arguments = xp.ascontiguousarray(rows), places, sums, np.int32(d)
    _function("sum_blocks", 1, rows.device.id)(blocks, (COST_THREADS,), arguments)
    return sums


def fetch_small(C: Any) -> Any:
    """Costs (.., n_grid, n_grid) on the host, if they are so few that the search is faster there."""
    return to_host(C) if C.shape[-1] < MIN_GRID else C
