r"""What a set of samples costs: how badly one model describes them.

Samples ``y_1, ..., y_N`` with p features cost

    -log p(y) = -log  integral  prod_t Normal(y_t; m, S) dNIW(m, S),

the negative log evidence that they are draws of one Gaussian, under a normal-inverse-Wishart prior. Mean and
covariance are integrated out, so one span in place of two different ones costs more, and so do two spans in
place of one. A low-dimensional subspace is a covariance of low rank, which this model favours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seqspan._core.backend import is_on_gpu, require_cupy, to_host
from seqspan._core.spans import Division
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.view_model import ExpectedGaussian, Stacked, ViewModel, filling

if TYPE_CHECKING:
    from seqspan.cuts.ordered.device_functions import PairCosts

CACHED_ROWS = 4096  # samples whose densities are computed at a time
FEATURE_STEP = 2  # costs are averaged over 2, 4, 6, ... features, so that no number has to be chosen


@dataclass(frozen=True)
class Moments:
    """Number of samples, or of independent samples they are worth, and per view their sum and products."""

    count: float
    totals: tuple[Array, ...]
    products: tuple[Array, ...]

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.count + other.count,
            tuple(a + b for a, b in zip(self.totals, other.totals, strict=True)),
            tuple(a + b for a, b in zip(self.products, other.products, strict=True)),
        )

    def __mul__(self, weight: float) -> Moments:
        return Moments(
            self.count * weight,
            tuple(total * weight for total in self.totals),
            tuple(product * weight for product in self.products),
        )


class GaussianCost:
    """Negative log evidence of one Gaussian in nats, averaged over views and numbers of features.

    Parameters
    ----------
    views : sequence of arrays of shape (n, p)
        Features of the n samples: uncorrelated, mean zero, variance one, most important first. If they are
        on a GPU, the costs of all spans are computed there.
    prior_samples : float
        How many samples the prior's covariance counts for.
    step : int
        Costs are averaged over the first `step`, 2 `step`, ... and all features.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(-1, 0.1, (20, 2)), rng.normal(1, 0.1, (20, 2))])
    >>> cost = GaussianCost([Y])
    >>> cost.error(0, 20) + cost.error(20, 40) < cost.error(0, 40)
    True
    """

    def __init__(
        self, views: Sequence[Array], *, prior_samples: float = 1.0, step: int = FEATURE_STEP
    ) -> None:
        self.views = [np.ascontiguousarray(to_host(view)) for view in views]
        self._on_gpu = list(views) if all(is_on_gpu(view) for view in views) else []
        self.n_samples = len(self.views[0])
        if any(len(view) != self.n_samples for view in self.views):
            counts = [len(view) for view in self.views]
            raise ValueError(f"All views must describe the same samples; got {counts} samples.")
        self._models = [ViewModel.for_features(view.shape[1], step, prior_samples) for view in self.views]
        self._spans: dict[tuple[int, int], Moments] = {}
        self._tables: dict[bool, list[Array]] = {}
        self._device_costs: dict[bool, list[Any]] = {}

    @property
    def n_features(self) -> float:
        """Mean number of features of a view that costs are computed from."""
        return float(np.mean([model.sizes.mean() for model in self._models]))

    def summarise(self, start: int, end: int) -> Moments:
        """Moments of the samples in [start, end)."""
        spans = [view[start:end] for view in self.views]
        return Moments(len(spans[0]), tuple(Y.sum(axis=0) for Y in spans), tuple(Y.T @ Y for Y in spans))

    def summarise_labels(self, division: Division, share: Callable[[float], float]) -> list[Moments]:
        """Moments of all samples of each label, of each span the share that counts, by its length."""
        edges = np.concatenate([[0], division.boundaries, [self.n_samples]])
        known = (
            self._spans
        )  # most spans are those of the last division, or it is asked for with another share
        spans = {
            (start, end): known[start, end] if (start, end) in known else self.summarise(start, end)
            for start, end in pairwise(edges.tolist())
        }
        self._spans = spans
        sums: dict[int, Moments] = {}
        for label, span in zip(division.labels.tolist(), spans.values(), strict=True):
            weighted = span * share(span.count)
            sums[label] = sums[label] + weighted if label in sums else weighted
        return [sums[label] for label in sorted(sums)]

    def error(self, start: int, end: int) -> float:
        """Cost of the span [start, end)."""
        return float(self.costs([self.summarise(start, end)])[0])

    def costs(self, summaries: Sequence[Moments]) -> Array:
        """Costs of several sets of samples, each given by its moments."""
        if not summaries:
            return np.empty(0)
        counts = np.array([one.count for one in summaries], dtype=float)
        totals = zip(*(one.totals for one in summaries), strict=True)
        products = zip(*(one.products for one in summaries), strict=True)
        each_view = zip(self._models, totals, products, strict=True)
        per_view = [model.costs(counts, np.stack(t), np.stack(p)) for model, t, p in each_view]
        mean: Array = np.mean(per_view, axis=0)
        return mean

    def costs_of_pairs(self, groups: Sequence[Stacked], one: int, others: IntArray) -> Array:
        """What one group of samples and each of some others cost together."""
        each_view = zip(self._models, groups, strict=True)
        mean: Array = np.mean([model.costs_of_pairs(own, one, others) for model, own in each_view], axis=0)
        return mean

    def pairs_on_gpu(self, groups: Sequence[Stacked]) -> PairCosts:
        """`costs_of_pairs` on a GPU, for a single view."""
        from seqspan.cuts.ordered.device_functions import PairCosts

        counts, totals, products = groups[0]
        moments = counts, np.ascontiguousarray(totals.T), np.ascontiguousarray(np.moveaxis(products, -1, 0))
        return PairCosts(self._models[0].pair_model, *moments)

    def split_costs(self, left: int, places: range, right: int) -> Array:
        """Costs of the span [left, right) divided in two, at each of some consecutive places."""
        whole, start = self.summarise(left, right), self.summarise(left, places[0])
        counts = np.arange(places[0] - left, places[-1] - left + 1)
        lengths = np.concatenate([[0], counts, len(range(left, right)) - counts])
        others, per_view = np.arange(1, len(lengths)), []
        for v, (Y, model) in enumerate(zip(self.views, self._models, strict=True)):
            inside = Y[places[0] : places[-1]].T
            totals = _sum_on(start.totals[v], inside, whole.totals[v])
            products = _sum_on(start.products[v], inside[:, None] * inside[None], whole.products[v])
            groups = lengths.astype(float), totals, products
            costs = model.determinants_of_pairs(groups, 0, others) + self._lengths[v][lengths[1:]]
            per_view.append(costs[: len(counts)] + costs[len(counts) :])
        mean: Array = np.mean(per_view, axis=0)
        return mean

    def densities(self, summaries: Sequence[Moments], n_jobs: int | None = 1) -> Array:
        """Negative log densities, (n_summaries, n_samples), under the expected Gaussian of each summary."""
        blocks = self.density_blocks(summaries, slice(0, self.n_samples), n_jobs)
        return np.concatenate(list(blocks), axis=1)

    def density_blocks(
        self, summaries: Sequence[Moments], part: slice, n_jobs: int | None = 1
    ) -> Iterator[Array]:
        """The same for the samples of a part, in blocks: of long recordings, all would not fit in memory."""
        expected = [self.expect(one) for one in summaries]
        with Team(n_jobs) as team:
            for start in range(part.start, part.stop, CACHED_ROWS):
                rows = slice(start, min(start + CACHED_ROWS, part.stop))
                yield self._densities_in(rows, expected, team)

    def expect(self, one: Moments) -> list[ExpectedGaussian]:
        """The Gaussian expected in each view after samples of these moments."""
        each_view = zip(self._models, one.totals, one.products, strict=True)
        return [model.expect(one.count, total, product) for model, total, product in each_view]

    def density(self, expected: list[ExpectedGaussian], rows: slice) -> Array:
        """Negative log densities of some samples."""
        density = np.zeros(rows.stop - rows.start)
        for Y, gaussian in zip(self.views, expected, strict=True):
            density += gaussian.densities(Y[rows])
        density /= len(self.views)
        return density

    def _densities_in(self, rows: slice, expected: list[list[ExpectedGaussian]], team: Team) -> Array:
        """The same for each of several sets of samples."""
        densities = np.empty((len(expected), rows.stop - rows.start))

        def work(numbers: range) -> None:
            for number in numbers:
                densities[number] = self.density(expected[number], rows)

        team.map(work, len(expected))
        return densities

    def places(self, step: int, part: slice | None = None) -> IntArray:
        """Grid points: first, last, and in each block of `step` samples where the sharpest change is.

        Hard cuts are found to the sample that way, however coarse the grid. A `part` has a grid of its own.
        """
        start, end = (0, self.n_samples) if part is None else (part.start, part.stop)
        if step == 1:
            return np.arange(start, end + 1)
        if end - start == 1:
            return np.array([start, end])
        changes = sum(np.sum(np.diff(view[start:end], axis=0) ** 2, axis=1) for view in self.views)
        changes = np.pad(changes, (0, -(end - start - 1) % step), constant_values=-1.0).reshape(-1, step)
        inside = start + 1 + np.arange(len(changes)) * step + np.argmax(changes, axis=1)
        return np.concatenate([[start], inside, [end]])

    def span_costs(
        self,
        places: IntArray,
        shortest: int = 1,
        n_jobs: int | None = None,
        *,
        beyond_chance: bool = False,
    ) -> Array:
        """Costs of all spans between points of a grid, in O(n p^2) for each of them.

        Parameters
        ----------
        places : array of int, shape (n_grid,)
            Grid points, ascending; the first and the last are usually 0 and n.
        shortest : int
            Length of the shortest span, in grid steps.
        n_jobs : int, optional
            Number of threads.
        beyond_chance : bool
            Subtract what as many independent samples of the whole recording would cost. Otherwise features
            that never change favour a few very short spans, which have the least to lose by them.

        Returns
        -------
        C : array of shape (n_grid, n_grid)
            ``C[start, end]``; zero for spans shorter than `shortest`. Many of them stay on a GPU.
        """
        if beyond_chance not in self._tables:
            self._tables[beyond_chance] = self._length_tables(beyond_chance)
        if self._on_gpu:
            return self._span_costs_on_gpu(places, shortest, beyond_chance)
        C = np.zeros((len(places), len(places)), dtype=np.float32)
        with Team(n_jobs, uses_blas=False) as team:
            for Y, model, table in zip(self.views, self._models, self._tables[beyond_chance], strict=True):
                model.add_span_costs(Y, (places, shortest), table, 1 / len(self.views), C, team)
        return C

    def _span_costs_on_gpu(self, places: IntArray, shortest: int, beyond_chance: bool) -> Array:
        """The same as `span_costs`, in device functions."""
        from seqspan.cuts.ordered.device_functions import SpanCosts, fetch_small

        if beyond_chance not in self._device_costs:
            each_view, share = (
                zip(self._models, self._tables[beyond_chance], strict=True),
                1 / len(self.views),
            )
            self._device_costs[beyond_chance] = [
                SpanCosts(*model.scaled_by(share, table)) for model, table in each_view
            ]
        C = require_cupy().zeros((1, len(places), len(places)), dtype=np.float32)
        for Y, costs in zip(self._on_gpu, self._device_costs[beyond_chance], strict=True):
            costs.add(Y, places, shortest, C)
        found: Array = fetch_small(C[0])
        return found

    @cached_property
    def _lengths(self) -> list[Array]:
        """What the lengths 0, 1, ..., n of a span add to its cost, for each view."""
        return [model.length_table(self.n_samples) for model in self._models]

    def _length_tables(self, beyond_chance: bool) -> list[Array]:
        """The same, beyond chance if requested."""
        if not beyond_chance:
            return self._lengths
        each_view = zip(self._lengths, self._models, strict=True)
        return [table - model.cost_of_chance(self.n_samples) for table, model in each_view]


class LeadingCosts:
    """What spans cost by the first feature, by the first two, ...: all from one pass over a recording.

    Parameters
    ----------
    n_samples : int
    counts : sequence of int
        Numbers of leading features, none smaller than the one before. Nothing is averaged over them.

    Examples
    --------
    >>> Y = np.random.default_rng(0).standard_normal((40, 3))
    >>> C = LeadingCosts(40, (1, 3)).span_costs(Y, np.array([0, 10, 40]))
    >>> np.allclose(C[:, 0, 1], [GaussianCost([Y[:, :count]], step=count).error(0, 10) for count in (1, 3)])
    True
    """

    def __init__(self, n_samples: int, counts: Sequence[int]) -> None:
        models = [ViewModel.for_features(count, count, 1.0) for count in counts]
        slopes = np.zeros((len(counts), len(counts), 2))
        for index, model in enumerate(models):
            slopes[index, : index + 1] = model.slopes
        tables = np.stack([model.length_table(n_samples) for model in models])
        self._model = models[0].prior, np.array(counts), slopes, tables

    @cached_property
    def _on_gpu(self) -> Any:
        from seqspan.cuts.ordered.device_functions import SpanCosts

        return SpanCosts(*self._model)

    def span_costs(self, Y: Array, places: IntArray, shortest: int = 1) -> Array:
        """Costs ``C[count, start, end]`` of all spans between points of a grid, by features Y.

        They are computed where Y is.
        """
        _, counts, _, _ = self._model
        if is_on_gpu(Y):
            there: Array = require_cupy().zeros((len(counts), len(places), len(places)), dtype=np.float32)
            self._on_gpu.add(Y[:, : counts[-1]], places, shortest, there)
            return there
        C = np.zeros((len(counts), len(places), len(places)), dtype=np.float32)
        fill, firsts = filling(np.ascontiguousarray(Y[:, : counts[-1]]), places)
        for first in firsts:
            fill((places, shortest), self._model, first, C)
        return C


def _sum_on(start: Array, steps: Array, whole: Array) -> Array:
    """Zero, then start plus the first 0, 1, ... steps, then what each of these lacks of the whole."""
    before = np.concatenate([start[..., None], steps], axis=-1).cumsum(axis=-1)
    zero: Array = np.zeros_like(start[..., None])
    return np.concatenate([zero, before, whole[..., None] - before], axis=-1)
