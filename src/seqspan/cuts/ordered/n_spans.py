r"""How many spans a recording has: as many as explain it better than they explain chance.

What k spans explain is their net evidence

    F(k) = (cost of one span) - (cost of the best k spans) - (k - 1) log n,

where log n is the price of saying where a boundary is. Neighbouring samples are not independent, so spans
explain something even where nothing changes. How much, surrogates tell: recordings of nearly the same
spectra, in which nothing changes. Two kinds are compared with:

- Surrogates of the samples say whether anything changes. F(k) is measured in their standard deviations above
  their mean. So is each of them, against the others; how far the most surprising k of each is above them is
  what chance reaches. If no F(k) is far enough above, there is one span. A few surrogates will do
  if some F(k) is far above.
- Surrogates of the features say how many spans there are: the k for which F(k) is furthest above their mean.

The features are as many, 1, 2, 4 or 8, as explain most beyond chance. Two means in turn, hidden in the noise
of many channels, show in one feature; motion needs all eight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar, cast

import numpy as np

from seqspan._core.backend import device_of, is_on_gpu, place_with, to_host
from seqspan._core.eigen import symmetric_eigenpairs
from seqspan._core.kernels import spread_anchors
from seqspan._core.scaling import binary_exponent
from seqspan._core.spans import part_slices
from seqspan._core.threads import Team, count_threads
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import LeadingCosts
from seqspan.cuts.ordered.device_functions import MIN_GRID
from seqspan.cuts.ordered.features import sample_features
from seqspan.cuts.ordered.search import JoinedSearch, SpanSearch, grid_step
from seqspan.cuts.ordered.surrogates import draw_each

T = TypeVar("T")
FEATURE_COUNTS = (1, 2, 4, 8)
GRID_POINTS = 600  # places for boundaries while spans are counted
MAX_DIMENSIONS = 100  # of the samples that surrogates are drawn from
MAX_SAMPLES = 20_000  # longer recordings are averaged over blocks of samples
MAX_TOGETHER = 100_000  # the same for several recordings: each needs enough of them to show its spans
N_ANCHORS = 200  # of the features of every surrogate
N_SURROGATES = 24  # of the samples, at most
N_FIRST = 8  # of them, after which it may be clear that something changes
CLEAR = 10.0  # deviations above their mean, from which it is
N_CHANCE = 8  # surrogates of the features
DEVICE_THREADS = 1  # that a GPU's work is started from: more would wait for each other
FIRST_SPANS = 43  # numbers of spans that a GPU computes at once for the recording
PATIENCE = 10  # numbers of spans without more evidence after which no more are tried
SURPRISE = 2.25  # times the upper quartile of what surrogates reach by chance: a change counts as one
MIN_EVIDENCE = 10.0  # nats; with less, nothing changes, whatever chance explains
GRAINS = {"coarse": 2.0, "default": 1.0, "fine": 0.5}  # how often what chance explains is subtracted


@dataclass(frozen=True)
class SpanCount:
    """Net evidence of 1, 2, ... spans, for the recording and for surrogates.

    Parameters
    ----------
    recording : array of shape (max_spans,)
    samples, features : arrays of shape (n_surrogates, max_spans)
        Of surrogates of the samples and of the features.
    fewest : int
        Number of spans that the first entry is for: that of recordings, if there are several.
    n_features : int
        Number of features that explain most beyond chance.
    limit : float
        Deviations above the mean of surrogates of the samples that chance reaches.

    Examples
    --------
    >>> chance = np.array([[0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 3.0, 4.0]])
    >>> count = SpanCount(np.array([0.0, 8.0, 20.0, 20.5]), chance, chance, limit=3.0)
    >>> count.shows_change, count.choose()
    (True, 3)
    """

    recording: Array
    samples: Array
    features: Array
    fewest: int = 1
    n_features: int = 1
    limit: float = 0.0

    @property
    def shows_change(self) -> bool:
        """Whether some number of spans explains more than it explains in surrogates of the samples."""
        return bool(np.any(self.recording > self.threshold(self.limit)))

    @property
    def is_clear(self) -> bool:
        """Whether it explains so much more that further surrogates would not change that."""
        return bool(np.any(self.recording > self.threshold(CLEAR)))

    @property
    def beyond_chance(self) -> float:
        """Most that some number of spans explains beyond the mean of surrogates of the samples."""
        return float(np.max(self.recording - self.samples.mean(axis=0)))

    def threshold(self, deviations: float) -> Array:
        """What numbers of spans have to explain to be so many deviations above surrogates of the samples."""
        chance = self.samples.mean(axis=0) + deviations * self.samples.std(axis=0, ddof=1)
        threshold: Array = np.maximum(chance, MIN_EVIDENCE)
        return threshold

    @classmethod
    def unrivalled(cls, recording: Array, n_features: int, fewest: int) -> Self:
        """Evidence in the recording, with surrogates that have none."""
        none = np.zeros((2, len(recording)))
        return cls(recording, none, none, fewest, n_features)

    def choose(self, grain: str = "default") -> int:
        """Number of spans with the most evidence beyond what surrogates of the features have."""
        return int(np.argmax(self.recording - self.chance(grain))) + self.fewest

    def chance(self, grain: str = "default") -> Array:
        """What is subtracted from the evidence of 1, 2, ... spans, because chance explains it."""
        expected: Array = GRAINS[grain] * np.maximum(self.features.mean(axis=0), 0)
        return expected


@dataclass(frozen=True)
class Effort:
    """What counting spends: surrogates of samples and of features, and places for boundaries."""

    n_surrogates: int = N_SURROGATES
    n_chance: int = N_CHANCE
    grid_points: int = GRID_POINTS


def count_spans(
    X: Array,
    min_length: int,
    n_jobs: int | None = None,
    joins: tuple[int, ...] = (),
    *,
    effort: Effort | None = None,
) -> SpanCount:
    """Compare what spans explain in a recording and in its surrogates.

    Parameters
    ----------
    X : array of shape (d, n)
        Samples, not scaled to unit norm: surrogates are drawn from them as they are. On a GPU, everything
        large is computed there.
    min_length : int
        Length of the shortest span, in samples.
    n_jobs : int, optional
        Number of threads.
    joins : tuple of int
        Samples at which another recording begins. Every recording has a surrogate of its own.
    effort : Effort, optional

    Returns
    -------
    SpanCount

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 5.0, 0.0], [5.0, 0.0, 5.0]], 50, axis=1) + rng.standard_normal((2, 150))
    >>> count_spans(X, min_length=5).choose()
    3
    """
    effort = effort or Effort()
    rows, min_length, parts = _average_blocks(_rotate(X.T), min_length, joins)
    Y = _features(rows)
    counts = sorted({min(count, Y.shape[1]) for count in FEATURE_COUNTS})
    evidence = Evidence(parts, min_length, effort.grid_points, counts)
    # many short recordings: the host draws their surrogates before a GPU has started
    source, Y = (to_host(each) if evidence.on_host(Y) else each for each in (rows, Y))
    found = evidence(Y)

    def explain_samples(seed: int) -> list[Array]:
        with device_of(rows):  # another thread starts on the first GPU
            drawn = place_with(rows, draw_each(source, parts, seed))
            return evidence(_features(drawn), found)

    with Team(n_jobs if evidence.on_host(Y) else min(count_threads(n_jobs), DEVICE_THREADS)) as team:
        rivals = [SpanCount.unrivalled(*each, len(parts)) for each in zip(found, counts, strict=True)]
        if max(len(each) for each in found) > 1:
            rivals = _compare(rivals, explain_samples, effort.n_surrogates, team)
        best = max(rivals, key=lambda each: (each.shows_change, each.beyond_chance))
        alone = Evidence(parts, min_length, effort.grid_points, [best.n_features])

        def explain_features(seed: int) -> Array:
            with device_of(Y):
                surrogate = draw_each(Y[:, : best.n_features], parts, seed)
                surrogate /= np.maximum(surrogate.std(axis=0), np.finfo(float).tiny)
                return alone(surrogate, [best.recording])[0]

        if len(best.recording) > 1:
            chance = _for_each_seed(explain_features, range(effort.n_chance), team)
            best = replace(best, features=np.stack(chance))
    return best


def _compare(
    rivals: list[SpanCount], explain: Callable[[int], list[Array]], n_surrogates: int, team: Team
) -> list[SpanCount]:
    """Compare each number of features with surrogates, until it is clear that something changes."""
    drawn: list[list[Array]] = []
    seeds = range(min(N_FIRST, n_surrogates))
    while seeds:
        drawn += _for_each_seed(explain, seeds, team)
        samples = zip(*drawn, strict=True)
        rivals = [replace(each, samples=np.stack(own)) for each, own in zip(rivals, samples, strict=True)]
        is_clear = any(each.is_clear for each in rivals)
        seeds = range(len(drawn), len(drawn) if is_clear else n_surrogates)
    limit = min(chance_limit([each.samples for each in rivals]), CLEAR)
    return [replace(each, limit=limit) for each in rivals]


def chance_limit(samples: list[Array]) -> float:
    """Deviations above the others that the most surprising number of spans of a surrogate reaches by chance.

    Parameters
    ----------
    samples : list of arrays of shape (n_surrogates, max_spans)
        Evidence of surrogates, for each number of features.

    Examples
    --------
    >>> evidence = np.random.default_rng(0).standard_normal((1000, 3))
    >>> round(chance_limit([evidence[:, :1]]), 1), round(chance_limit([evidence]), 1)
    (1.5, 3.1)
    """
    n = len(samples[0])
    most = np.full(n, -np.inf)
    for evidence in samples:
        others = (evidence.sum(axis=0) - evidence) / (n - 1)
        squares = (np.sum(evidence**2, axis=0) - evidence**2) / (n - 1)
        deviations = np.sqrt(np.maximum(squares - others**2, 0) * (n - 1) / (n - 2))
        surprise = (evidence - others) / np.maximum(deviations, np.finfo(float).tiny)
        most = np.maximum(most, surprise.max(axis=1))
    return SURPRISE * float(np.percentile(most, 75))


def _for_each_seed(explain: Callable[[int], T], seeds: range, team: Team) -> list[T]:
    """What a function says for each seed, in their order."""
    said: dict[int, T] = {}

    def work(numbers: range) -> None:
        for number in numbers:
            said[seeds[number]] = explain(seeds[number])

    team.map(work, len(seeds))
    return [said[seed] for seed in seeds]


def _rotate(rows: Array) -> Array:
    """Coordinates in the directions that vary most: they keep distances, and pictures have many pixels."""
    rows = np.ldexp(rows, -binary_exponent(rows))  # so that sums of squares stay within range
    if rows.shape[1] <= MAX_DIMENSIONS:
        return rows.astype(np.float64)
    some = to_host(rows[spread_anchors(len(rows), N_ANCHORS)]).astype(np.float64)
    values, vectors = symmetric_eigenpairs(some @ some.T, MAX_DIMENSIONS)  # a few samples of many features
    lengths = np.sqrt(np.maximum(values, np.finfo(float).tiny))
    kept = values >= len(some) * np.finfo(rows.dtype).eps * values[-1]  # the others are rounding
    directions = some.T @ (vectors[:, kept] / lengths[kept])
    # a copy: on a GPU, the row would change while it is subtracted from the others
    directions, first = place_with(rows, directions), rows[0].copy()
    rows -= first  # products of equal rows may differ by rounding, but not those of zeros
    rotated: Array = (rows @ directions.astype(rows.dtype)).astype(np.float64)
    rotated += first.astype(np.float64) @ directions
    return rotated


def _features(rows: Array) -> Array:
    return sample_features(rows.T, max(FEATURE_COUNTS), n_anchors=N_ANCHORS)


def _average_blocks(rows: Array, min_length: int, joins: tuple[int, ...]) -> tuple[Array, int, list[slice]]:
    """Average long recordings over blocks of samples; also the shortest span and recordings, in blocks."""
    parts = part_slices(joins, len(rows))
    size = max(grid_step(parts, MAX_SAMPLES), -(-len(rows) // MAX_TOGETHER))
    starts = [np.arange(part.start, part.stop, size) for part in parts]
    ends = np.cumsum([len(each) for each in starts])
    lengths = np.diff(np.append(np.concatenate(starts), len(rows)))
    means = _sum_blocks(rows, np.concatenate(starts)) / place_with(rows, lengths)[:, None]
    return means, max(1, min_length // size), part_slices(ends[:-1], len(means))


def _sum_blocks(rows: Array, starts: IntArray) -> Array:
    """Sums of the rows from each start to the next."""
    if not is_on_gpu(rows):
        return np.asarray(np.add.reduceat(rows, starts, axis=0))
    if len(starts) == len(rows):
        return rows
    from seqspan.cuts.ordered.device_functions import sum_blocks

    return cast(Array, sum_blocks(rows, np.append(starts, len(rows))))


def _first_peak(net: Array) -> int:
    """Where net evidence is greatest before PATIENCE numbers of spans in a row have no more of it."""
    peaks = np.flatnonzero(net == np.maximum.accumulate(net))  # no less than all before
    waits = np.flatnonzero(np.diff(peaks) > PATIENCE)
    last = net[: peaks[waits[0]] + 1] if len(waits) else net
    return int(np.argmax(last))


class Evidence:
    """Net evidence of 1, 2, ... spans, for each of several numbers of features.

    Parameters
    ----------
    parts : list of slice
        Recordings; with several, the first entry is for as many spans.
    min_length : int
        Length of the shortest span, in samples.
    grid_points : int
        Places for boundaries.
    counts : list of int
        Numbers of features.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.repeat([[-1.0], [1.0], [-1.0]], 20, axis=0) + 0.1 * rng.standard_normal((60, 1))
    >>> (found,) = Evidence([slice(0, 60)], 5, 60, [1])(Y)
    >>> int(np.argmax(found)) + 1
    3
    """

    def __init__(self, parts: list[slice], min_length: int, grid_points: int, counts: list[int]) -> None:
        self._parts, self._step = parts, grid_step(parts, grid_points)
        self._min_length, self._n_samples = min_length, parts[-1].stop
        self._places_per_part = max(part.stop - part.start for part in parts) // self._step
        self._counts, self._costs = counts, {counts[-1]: LeadingCosts(self._n_samples, counts)}

    def __call__(self, Y: Array, like: list[Array] | None = None) -> list[Array]:
        """Evidence of as many spans as have most of it, or of as many as `like` has."""
        most = FIRST_SPANS if like is None else max(len(each) for each in like)
        searches = self._searches(to_host(Y) if self.on_host(Y) else Y, most)
        if like is None:
            return [self._most(search) for search in searches]
        return [self._net(search, len(each)) for search, each in zip(searches, like, strict=True)]

    def on_host(self, Y: Array) -> bool:
        """Whether spans are searched on the host: a GPU would take longer for so few of them."""
        return self._places_per_part < MIN_GRID or not is_on_gpu(Y)

    def _most(self, search: SpanSearch | JoinedSearch) -> Array:
        """Evidence up to the number of spans that has most; a few more numbers are tried in vain."""
        room, count = search.max_spans - len(self._parts) + 1, PATIENCE
        while True:
            net = self._net(search, min(count, room))
            most = _first_peak(net)
            if len(net) == room or len(net) > most + PATIENCE:
                return net[: most + 1]
            count = 2 * count + 1

    def _net(self, search: SpanSearch | JoinedSearch, count: int) -> Array:
        """Net evidence of the first numbers of spans."""
        fewest = len(self._parts)
        costs = search.costs(fewest + count - 1)[-count:]
        net: Array = costs[0] - costs - np.arange(count) * np.log(self._n_samples)
        return net

    def _searches(self, Y: Array, most: int) -> Sequence[SpanSearch | JoinedSearch]:
        """For each number of features, a search of all recordings on one grid; `most` spans are expected."""
        n_features = min(Y.shape[1], self._counts[-1])  # a surrogate may have fewer than the recording
        if n_features not in self._costs:
            fewer = [min(count, n_features) for count in self._counts]
            self._costs[n_features] = LeadingCosts(self._n_samples, fewer)
        found: list[list[SpanSearch]] = []
        for part in self._parts:
            length = part.stop - part.start
            shortest = max(1, -(-min(self._min_length, length) // self._step))
            places = np.arange(part.start, part.stop + self._step, self._step).clip(max=part.stop)
            costs = self._costs[n_features].span_costs(Y, places, shortest)
            found.append(SpanSearch.several(costs, shortest, most))
        joins = tuple(part.start for part in self._parts[1:])
        together = [list(each) for each in zip(*found, strict=True)]
        return [JoinedSearch(each, joins) for each in together] if joins else found[0]
