r"""How many spans a recording has: as many as explain it better than they explain chance.

What k spans explain is their net evidence

    F(k) = (cost of one span) - (cost of the best k spans) - (k - 1) log n,

where log n is the price of saying where a boundary is. Neighbouring samples are not independent, so spans
explain something even where nothing changes. How much, surrogates tell: recordings with the same spectra but
random phases. Two kinds are compared with:

- Surrogates of the samples say whether anything changes. If no F(k) is above what they reach, there is one
  span.
- Surrogates of the features say how many spans there are: the k for which F(k) is furthest above their mean.

The features are as many, 1, 2, 4 or 8, as explain most beyond chance. Two means in turn, hidden in the noise
of many channels, show in one feature; motion needs all eight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from seqspan._core.eigen import symmetric_eigenpairs
from seqspan._core.kernels import spread_anchors
from seqspan._core.scaling import binary_exponent
from seqspan._core.spans import part_slices
from seqspan._core.threads import Team
from seqspan._core.types import Array
from seqspan.cuts.ordered.cost import LeadingCosts
from seqspan.cuts.ordered.features import sample_features
from seqspan.cuts.ordered.search import JoinedSearch, SpanSearch, grid_step

FEATURE_COUNTS = (1, 2, 4, 8)
GRID_POINTS = 600  # places for boundaries while spans are counted
MAX_DIMENSIONS = 100  # of the samples that surrogates are drawn from
MAX_SAMPLES = 20_000  # longer recordings are averaged over blocks of samples
MAX_TOGETHER = 100_000  # the same for several recordings: each needs enough of them to show its spans
N_ANCHORS = 200  # of the features of every surrogate
N_SURROGATES = 16  # of each kind
PATIENCE = 10  # numbers of spans without more evidence after which no more are tried
DEVIATIONS = 3.5  # above the mean of surrogates, for a change to count as one
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

    Examples
    --------
    >>> chance = np.array([[0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 3.0, 4.0]])
    >>> count = SpanCount(np.array([0.0, 8.0, 20.0, 20.5]), chance, chance)
    >>> count.shows_change, count.choose()
    (True, 3)
    """

    recording: Array
    samples: Array
    features: Array
    fewest: int = 1
    n_features: int = 1

    @property
    def threshold(self) -> Array:
        """What each number of spans has to explain for a change to count as one."""
        chance = self.samples.mean(axis=0) + DEVIATIONS * self.samples.std(axis=0, ddof=1)
        threshold: Array = np.maximum(chance, MIN_EVIDENCE)
        return threshold

    @property
    def excess(self) -> float:
        """Most that some number of spans explains beyond what it explains in surrogates of the samples."""
        return float(np.max(self.recording - self.threshold))

    @property
    def shows_change(self) -> bool:
        """Whether some number of spans explains more than it explains in surrogates of the samples."""
        return self.excess > 0

    def choose(self, grain: str = "default") -> int:
        """Number of spans with the most evidence beyond what surrogates of the features have."""
        return int(np.argmax(self.recording - self.chance(grain))) + self.fewest

    def chance(self, grain: str = "default") -> Array:
        """What is subtracted from the evidence of 1, 2, ... spans, because chance explains it."""
        expected: Array = GRAINS[grain] * np.maximum(self.features.mean(axis=0), 0)
        return expected


@dataclass(frozen=True)
class Effort:
    """What counting spends: surrogates of each kind, and places for boundaries."""

    n_surrogates: int
    grid_points: int


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
        Samples, not scaled to unit norm: surrogates are drawn from them as they are.
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
    effort = effort or Effort(N_SURROGATES, GRID_POINTS)
    rows, min_length, parts = _average_blocks(_rotate(X.T), min_length, joins)
    Y = _features(rows, max(FEATURE_COUNTS))
    counts = sorted({min(count, Y.shape[1]) for count in FEATURE_COUNTS})
    evidence = Evidence(parts, min_length, effort.grid_points, counts)
    found = evidence(Y)
    zeros = [np.zeros((2, effort.n_surrogates, len(each))) for each in found]
    drawn = [
        SpanCount(each, none[0], none[1], len(parts), count)
        for each, none, count in zip(found, zeros, counts, strict=True)
    ]

    def explain_samples(seed: int) -> None:
        surrogate = _features(_draw_each(rows, parts, seed), counts[-1])
        for answer, each in zip(drawn, evidence(surrogate, found), strict=True):
            answer.samples[seed] = each

    def explain_features(seed: int) -> None:
        surrogate = _draw_each(Y[:, : counts[best]], parts, seed)
        surrogate /= np.maximum(surrogate.std(axis=0), np.finfo(float).tiny)
        drawn[best].features[seed] = alone(surrogate, [found[best]])[0]

    with Team(n_jobs) as team:
        if max(len(each) for each in found) > 1:
            _for_each_seed(explain_samples, effort.n_surrogates, team)
        best = max(range(len(drawn)), key=lambda i: (max(drawn[i].excess, 0.0), drawn[i].recording.max()))
        alone = Evidence(parts, min_length, effort.grid_points, counts[best : best + 1])
        if len(found[best]) > 1:
            _for_each_seed(explain_features, effort.n_surrogates, team)
    return drawn[best]


def _for_each_seed(explain: Callable[[int], None], n_seeds: int, team: Team) -> None:
    def work(seeds: range) -> None:
        for seed in seeds:
            explain(seed)

    team.map(work, n_seeds)


def _draw_each(rows: Array, parts: list[slice], seed: int) -> Array:
    """A surrogate of every recording."""
    rng = np.random.default_rng(seed)
    return np.concatenate([draw_surrogate(rows[part], rng) for part in parts])


def draw_surrogate(rows: Array, rng: np.random.Generator) -> Array:
    """Draw a stationary recording with the same mean, spectra and cross-spectra [Theiler et al. 1992].

    The recording is followed by its mirror image before its phases are drawn: the jump from its end to its
    start would make the surrogate rougher than it is.

    Examples
    --------
    >>> rows = np.cumsum(np.random.default_rng(0).standard_normal((500, 2)), axis=0)
    >>> drawn = draw_surrogate(rows, np.random.default_rng(1))
    >>> [float(np.diff(each, axis=0).std().round(1)) for each in (rows, drawn)]
    [1.0, 1.0]
    """
    n, mean = len(rows), rows.mean(axis=0)
    spectrum = np.fft.rfft(np.concatenate([rows, rows[::-1]]) - mean, axis=0)
    phases = rng.uniform(0, 2 * np.pi, len(spectrum))
    phases[[0, -1]] = 0  # the mean and the highest frequency are real
    drawn = np.fft.irfft(spectrum * np.exp(1j * phases)[:, None], n=2 * n, axis=0)
    surrogate: Array = drawn[:n] + mean
    return surrogate


def _rotate(rows: Array) -> Array:
    """Coordinates in the directions that vary most: they keep distances, and pictures have many pixels."""
    rows = np.ldexp(rows, -binary_exponent(rows))  # so that sums of squares stay within range
    if rows.shape[1] <= MAX_DIMENSIONS:
        return rows.astype(np.float64)
    some = rows[spread_anchors(len(rows), N_ANCHORS)].astype(np.float64)
    values, vectors = symmetric_eigenpairs(some @ some.T, MAX_DIMENSIONS)  # a few samples of many features
    lengths = np.sqrt(np.maximum(values, np.finfo(float).tiny))
    kept = values >= len(some) * np.finfo(rows.dtype).eps * values[-1]  # the others are rounding
    directions = some.T @ (vectors[:, kept] / lengths[kept])
    return np.asarray(rows @ directions.astype(rows.dtype), dtype=np.float64)


def _features(rows: Array, count: int) -> Array:
    return sample_features(rows.T, count, n_anchors=N_ANCHORS)


def _average_blocks(rows: Array, min_length: int, joins: tuple[int, ...]) -> tuple[Array, int, list[slice]]:
    """Average long recordings over blocks of samples; also the shortest span and recordings, in blocks."""
    parts = part_slices(joins, len(rows))
    size = max(grid_step(parts, MAX_SAMPLES), -(-len(rows) // MAX_TOGETHER))
    starts = [np.arange(part.start, part.stop, size) for part in parts]
    ends = np.cumsum([len(each) for each in starts])
    lengths = np.diff(np.append(np.concatenate(starts), len(rows)))
    means = np.add.reduceat(rows, np.concatenate(starts), axis=0) / lengths[:, None]
    return means, max(1, min_length // size), part_slices(ends[:-1], len(means))


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
        self._counts, self._costs = counts, {counts[-1]: LeadingCosts(self._n_samples, counts)}

    def __call__(self, Y: Array, like: list[Array] | None = None) -> list[Array]:
        """Evidence of as many spans as have most of it, or of as many as `like` has."""
        searches = self._searches(Y)
        if like is None:
            return [self._most(search) for search in searches]
        return [self._net(search, len(each)) for search, each in zip(searches, like, strict=True)]

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

    def _searches(self, Y: Array) -> Sequence[SpanSearch | JoinedSearch]:
        """For each number of features, a search of all recordings on one grid."""
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
            found.append([SpanSearch(each, shortest) for each in costs])
        joins = tuple(part.start for part in self._parts[1:])
        together = [list(each) for each in zip(*found, strict=True)]
        return [JoinedSearch(each, joins) for each in together] if joins else found[0]
