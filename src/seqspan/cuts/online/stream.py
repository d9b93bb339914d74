"""Segmentation while samples arrive: the ordered cut's evidence, forwards in time, in bounded memory.

The last samples are held. From time to time they tell what the ordered cut finds out about a recording as a
whole: how to preprocess it, its features, how much chance explains, hence the price of a boundary, and over
how many samples it is correlated. In between, :class:`GrowingSearch` divides what arrives at that price. A
span is final as soon as all divisions in play agree on its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from seqspan._core.kernels import spread_anchors
from seqspan._core.spans import MIN_LENGTH, Division
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray
from seqspan.cuts.online.boundaries import confidence_within, join_close
from seqspan.cuts.online.labels import MAX_LABELS, N_ROWS, KnownLabels
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.cut import refine
from seqspan.cuts.ordered.features import SampleFeatures
from seqspan.cuts.ordered.labels import correlation_time
from seqspan.cuts.ordered.n_spans import (
    FEATURE_COUNTS,
    MIN_EVIDENCE,
    N_ANCHORS,
    Effort,
    SpanCount,
    count_spans,
)

if TYPE_CHECKING:
    from seqspan.cuts.online.search import GrowingSearch

HELD = 4096  # samples that are held at most
KEPT = 3072  # the last of them, which stay when room is made
CHUNK = 64  # samples that are processed at once
FIRST_LOOK = 128  # samples after which the stream looks at itself for the first time
DESCRIBED_FOR = 16_384  # samples for which features stay as they are, at least
GROWTH, LATER_GROWTH = 1.5, 2.0  # of the stream, after which it looks again: at first, and later
MAX_PLACES = 512  # places for boundaries; if there are more, they are set further apart
PLACES_PER_TIME_SCALE = 4
EFFORT = Effort(n_chance=6, grid_points=300)
NUMBERS = (
    "n_samples", "start", "final", "final_labels", "delays", "time_scale", "_reached", "_next_look",
    "_saw_change", "_new_state", "_described_at",
)  # fmt: skip
MARGIN = 0.5  # of the price: divisions that cost no more than that above the best are in play


class Prepared(Protocol):
    """Preprocessing with all that it learns fixed."""

    @property
    def reach(self) -> int:
        """Number of samples before and after a sample that it looks at."""

    def __call__(self, rows: Array) -> Array:
        """Preprocess rows."""


Prepare: TypeAlias = "Callable[[Array, Any], Prepared]"


class Stream:
    """A segmentation that is extended block by block; how samples are divided into blocks changes nothing.

    Parameters
    ----------
    prepare : callable
        Learns the preprocessing from rows. Its second argument is None, or an earlier result whose steps are
        to be kept.
    grain : {"coarse", "default", "fine"}
    min_length : int
        Samples of the shortest span.
    time_scale : int, optional
        Samples over which a recording is correlated; found out by default.
    n_labels : int, optional
        Largest number of labels.
    n_jobs : int, optional
        Number of threads.
    """

    def __init__(
        self, prepare: Prepare, *, grain: str = "default", min_length: int = MIN_LENGTH,
        time_scale: int | None = None, n_labels: int | None = None, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self._prepare, self._grain, self._min_length = prepare, grain, min_length
        self._given_scale, self._n_jobs = time_scale, n_jobs
        self.n_samples = self.start = 0  # `start`: the first sample that is held
        self.final: list[int] = []
        self.final_labels: list[int] = []
        self.delays: list[int] = []  # samples from each final boundary to when it became final
        self.known = KnownLabels(min(n_labels or MAX_LABELS, MAX_LABELS))
        self.time_scale = float(time_scale or 1)
        self._rows: Array = np.empty((0, 0))
        self._waiting: list[Array] = []
        self._reached, self._next_look = 0, FIRST_LOOK
        self.prepared: Prepared | None = None
        self._features: SampleFeatures | None = None
        self._search: GrowingSearch | None = None
        self._Y: Array = np.empty((0, 0))
        self._saw_change = self._new_state = False
        self._described_at = 0

    @property
    def rows(self) -> Array:
        """The samples that are held."""
        if self._waiting:
            held = [self._rows] if self._rows.size else []
            self._rows, self._waiting = np.concatenate([*held, *self._waiting]), []
        return self._rows

    def extend(self, rows: Array) -> None:
        """Add the next samples (any, n_features)."""
        for first in range(0, len(rows), HELD - KEPT):
            some = rows[first : first + HELD - KEPT]
            self._waiting.append(some.copy())
            self.n_samples += len(some)
            with Team(1):  # in many small products, BLAS threads would wait for each other
                while self.n_samples - self._reached >= CHUNK:
                    self._advance(self._reached + CHUNK)

    @property
    def later(self) -> IntArray:
        """Boundaries of the best division that are not final."""
        found = [] if self._search is None else self._search.boundaries().tolist()
        return np.array(self._without_transitions(found), dtype=np.intp)

    def confidence(self, boundaries: IntArray) -> Array:
        """How sure boundaries among the samples held are, as in the ordered cut; NaN where none are held."""
        return confidence_within(self._Y, np.asarray(boundaries) - self.start)

    def division(self) -> Division:
        """Spans and labels so far."""
        later = self.later
        labels, edges = list(self.final_labels), [self._last_start, *later.tolist(), self.n_samples]
        for first, end in pairwise(edges):
            Y = self._Y[max(first - self.start, 0) : end - self.start]
            before = labels[-1] if labels else None
            labels.append(self.known.match(Y, before) if len(Y) else 0)
        boundaries = np.array([*self.final, *later], dtype=np.intp)
        return Division(boundaries, np.array(labels, dtype=np.intp), len(self.final))

    def finish(self, whole: Division) -> Division:
        """End the stream: after the last final boundary, spans are those of a cut of all samples held.

        Parameters
        ----------
        whole : Division
            Of the samples that are held.

        Returns
        -------
        Division
            Labels are those of the final spans that `whole` gives the same label, otherwise new ones.
        """
        if not self.final:
            return Division(whole.boundaries, whole.labels, len(whole.boundaries))
        last, n_held = self._last_start - self.start, self.n_samples - self.start
        same = last + max(self._min_length, self.time_scale)  # up to here, it is the last final boundary
        starts = np.array([last, *whole.boundaries[whole.boundaries > same]])
        # the whole's label of a span is read at its end, because its start may differ from the final one
        ends = np.append(starts[1:], n_held)
        labels = self._translate(whole, max(last, 0))[whole.sample_labels(n_held)[ends - 1]]
        for span in np.flatnonzero(labels >= self.known.limit):
            labels[span] = self.known.match(self._Y[max(starts[span], 0) : ends[span]])
        boundaries = np.concatenate([self.final, starts[1:] + self.start])
        return Division(boundaries, np.concatenate([self.final_labels, labels]), len(boundaries))

    def _translate(self, whole: Division, n_final: int) -> IntArray:
        """For each label of a cut of all samples held, the stream's label with most samples in common."""
        final = Division(np.array(self.final), np.array([*self.final_labels, -1]))
        ours = final.sample_labels(self.n_samples)[self.start :][:n_final]
        theirs = whole.sample_labels(self.n_samples - self.start)[:n_final]
        common = np.zeros((whole.n_labels, max(self.final_labels) + 1))
        np.add.at(common, (theirs, ours), 1)
        own = np.full(whole.n_labels, -1, dtype=np.intp)
        while common.max() > 0:
            label, known = np.unravel_index(np.argmax(common), common.shape)
            own[label] = known
            common[label], common[:, known] = 0, 0
        fresh = np.flatnonzero(own < 0)
        own[fresh] = common.shape[1] + np.arange(len(fresh))
        return own

    @property
    def _last_start(self) -> int:
        """Start of the first span that is not final."""
        return self.final[-1] if self.final else 0

    def _advance(self, reached: int) -> None:
        """Process the samples up to a place."""
        self._reached = reached
        if reached - self.start > HELD:
            self._make_room(reached - KEPT)
        if reached >= self._next_look:
            self._look()
        elif self._search is not None:
            self._append()
        if self._search is not None:
            self._settle()

    def _settle(self) -> None:
        """Make boundaries final that all divisions in play agree on."""
        assert self._search is not None
        if not self._saw_change and self._search.agrees(self._margin):
            self._look()  # features of a recording that does not change say little about what comes then
        self._finish_all(self._search.settle(self._margin))
        # until a new state has anchors of its own, it looks like the next new one
        if self._new_state and self._reached - self._described_at >= DESCRIBED_FOR:
            self._describe_anew()
            self._begin_search(self._search.step, self._search.n_features, self._search.price)

    @property
    def _margin(self) -> float:
        """Divisions that cost so much more than the best, in nats, are still in play."""
        assert self._search is not None
        return max(MARGIN * self._search.price, MIN_EVIDENCE)

    def _look(self) -> None:
        """Learn all that the ordered cut learns from a recording, from the samples that are held."""
        samples = self._describe_anew()
        count = count_spans(samples.T, self._min_length, self._n_jobs, effort=EFFORT)
        price = price_of_boundary(count, len(samples), self._grain)
        self._saw_change = count.shows_change
        self._begin_search(max(1, len(self._Y) // MAX_PLACES), count.n_features, price)
        if self._given_scale is None:
            edges = np.array([0, *(b - self.start for b in self._held_boundaries()), len(self._Y)])
            self.time_scale = correlation_time(self._Y[:, : count.n_features], edges)
        self._begin_search(round(self.time_scale / PLACES_PER_TIME_SCALE), count.n_features, price)
        self._next_look = int(self._reached * (GROWTH if self._reached < HELD else LATER_GROWTH))

    def _describe_anew(self) -> Array:
        """Learn preprocessing and features from the samples that are held; return them, preprocessed."""
        rows = self.rows[: self._reached - self.start]
        self.prepared = self._prepare(rows, self.prepared if self.final else None)
        samples = self.prepared(rows)
        self._described_at, self._new_state = self._reached, False
        self._features, Y = SampleFeatures.fit(samples.T, max(FEATURE_COUNTS), n_anchors=N_ANCHORS)
        self._Y = Y[: len(samples) - self.prepared.reach]
        self.known.refresh(self._describe)
        return samples

    def _held_boundaries(self) -> list[int]:
        """Boundaries of the best division among the samples that are held."""
        assert self._search is not None
        return [b for b in (*self.final, *self._search.boundaries().tolist()) if b > self.start]

    def _begin_search(self, step: int, n_features: int, price: float, origin: int | None = None) -> None:
        """Divide everything after the last final boundary, or as much of it as is held."""
        from seqspan.cuts.online.search import GrowingSearch  # numba: imported on first use only

        origin = max(self._last_start, self.start) if origin is None else origin
        Y = self._Y[origin - self.start :, :n_features]
        step = max(1, step, -(-len(Y) // MAX_PLACES))
        self._search = GrowingSearch(
            n_features, step=step, min_length=self._shortest, price=price,
            max_samples=HELD + CHUNK, origin=origin,
        )  # fmt: skip
        self._search.extend(Y)

    @property
    def _shortest(self) -> int:
        """Samples of the shortest span; within the time scale, samples say only one thing."""
        return max(self._min_length, round(self.time_scale))

    def _append(self) -> None:
        """Extend the best division by the samples that have not been looked at."""
        search, prepared = self._search, self.prepared
        assert search is not None
        assert prepared is not None
        assert self._features is not None
        done, reach = len(self._Y), prepared.reach
        first = max(done - reach, 0)
        rows = self.rows[first : self._reached - self.start]
        Y = self._features(prepared(rows)[done - first : len(rows) - reach].T)
        self._Y = np.concatenate([self._Y, Y])
        search.extend(Y[:, : search.n_features])
        if search.n_places > MAX_PLACES:
            self._begin_search(2 * search.step, search.n_features, search.price)

    def _make_room(self, first: int) -> None:
        """Forget the samples before `first`; boundaries there become final as they are."""
        assert self._search is not None
        self._finish_all(self._search.force(first))
        self._search.forget(first)
        self._rows, self._Y = self.rows[first - self.start :].copy(), self._Y[first - self.start :]
        self.start = first

    def _finish_all(self, boundaries: list[int]) -> None:
        """Make boundaries final, except those of a span that is nothing but a change from one to another."""
        assert self._search is not None
        following = self._search.boundaries()[:1].tolist()
        n_final = len(self._without_transitions(boundaries))
        found = self._without_transitions([*boundaries, *following])
        ends = [*found[1:], self.start + len(self._Y)]
        for boundary, end in zip(found[:n_final], ends, strict=False):
            self._finish(boundary, end)

    def _without_transitions(self, boundaries: list[int]) -> list[int]:
        """Leave out spans in which hardly a sample is beside neighbours of its own kind only."""
        reach = 0 if self.prepared is None else self.prepared.reach
        return join_close(boundaries, self._min_length + 2 * reach if reach else 0, self.final[-1:])

    def _finish(self, boundary: int, end: int) -> None:
        """Make a boundary final: move it to the sample where it saves most, and label the span before it.

        The span after it ends at `end`, or goes on.
        """
        assert self._search is not None
        first = max(self._last_start, self.start)
        near = GaussianCost([self._Y[first - self.start : end - self.start]])
        place = refine(near, np.array([boundary - first]), self._search.step, self._min_length)
        boundary = first + int(place[0])
        places = first - self.start + spread_anchors(boundary - first, N_ROWS)
        Y = self._Y[first - self.start : boundary - self.start]
        label, n_known = self.known.learn(self._runs(places), Y), len(set(self.final_labels))
        self._new_state |= label == n_known
        self.final_labels.append(label)
        self.final.append(boundary)
        self.delays.append(self._reached - boundary)

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """All that the stream goes on with but its preprocessing: JSON values, and arrays."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        arrays = {"rows": self.rows, "Y": self._Y}
        arrays |= self.known.arrays()
        if self._search is not None and self._features is not None:
            search = self._search
            numbers["search"] = [search.step, search.n_features, search.price, search.origin]
            arrays |= self._features.to_arrays()
        return numbers, arrays

    def restore(
        self, numbers: Mapping[str, Any], arrays: Mapping[str, Array], prepared: Prepared | None
    ) -> None:
        """Go on from a state."""
        for name in NUMBERS:
            setattr(self, name, numbers[name])
        self._rows, self._Y, self.prepared = arrays["rows"], arrays["Y"], prepared
        self.known.restore(arrays)
        if "search" in numbers:
            self._features = SampleFeatures.from_arrays(arrays)
            self._begin_search(*numbers["search"])

    def _runs(self, places: IntArray) -> Array:
        """Samples, each with those around it that preprocessing looks at: (n, 2 reach + 1, d)."""
        assert self.prepared is not None
        reach = self.prepared.reach
        around = places[:, None] + np.arange(-reach, reach + 1)
        runs: Array = self.rows[np.maximum(around, 0)]
        return runs

    def _describe(self, runs: Array) -> Array:
        """Features of samples that are remembered with those around them."""
        assert self.prepared is not None
        assert self._features is not None
        width = runs.shape[1]
        return self._features(self.prepared(runs.reshape(-1, runs.shape[2]))[width // 2 :: width].T)


def price_of_boundary(count: SpanCount, n_samples: int, grain: str) -> float:
    """What a boundary has to explain, in nats: log n for saying where it is, and what it adds to chance.

    The ordered cut takes the number of spans for which the evidence is furthest above chance. There, one more
    boundary explains as much more in the recording as in surrogates, so that is the price at which a search
    finds the same number. If nothing changes, the price is what two spans have to explain for a change to
    count as one.

    Examples
    --------
    >>> chance = np.array([[0.0, 6.0, 10.0, 12.0], [0.0, 8.0, 10.0, 12.0]])
    >>> count = SpanCount(np.array([0.0, 80.0, 200.0, 201.0]), chance, chance)
    >>> round(price_of_boundary(count, 1000, "default"), 1)  # log 1000 + (12 - 7) / 2
    9.4
    """
    saying = float(np.log(n_samples))
    if len(count.recording) == 1:
        return saying + MIN_EVIDENCE
    if grain != "fine" and not count.shows_change:
        return saying + float(count.threshold(count.limit)[1])
    k = max(count.choose(grain), 2)
    near = count.chance(grain)[k - 2 : k + 1]  # of one span less, and of one more if there is that number
    return saying + max(float(near[-1] - near[0]) / (len(near) - 1), 0.0)
