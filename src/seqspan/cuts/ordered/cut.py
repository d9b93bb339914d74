"""From samples and coefficients to spans in the order of time, with one label for spans that recur.

Both views say where one span ends and the next begins: the samples, and the coefficients that represent them.
How many spans there are, and which of them are alike, the samples say. The model is in docs/ordered_cut.md.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import device_of, is_on_gpu, place_with, to_host
from seqspan._core.spans import MIN_LENGTH, Division, part_slices
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray
from seqspan.cuts.cutter import Cutter, check_auto
from seqspan.cuts.ordered.cost import GaussianCost
from seqspan.cuts.ordered.labels import LabelTree
from seqspan.cuts.ordered.n_spans import GRAINS, SpanCount, count_spans
from seqspan.cuts.ordered.search import JoinedSearch, SpanSearch, divide_long, grid_step
from seqspan.cuts.ordered.settling import Settling
from seqspan.cuts.ordered.transitions import Transitions

ROUNDS = 3  # of labelling spans and moving them to where labels change
GRID_POINTS = 1500  # places for boundaries in the first search; they are exact to the sample afterwards


class OrderedCutter(Cutter):
    """Cuts one recording into any number of spans and labels; what the answers share is computed once.

    Parameters
    ----------
    X : array of shape (d, n)
        Samples in the order of time, not scaled to unit norm.
    Z : array of shape (m, n)
        Their coefficients.
    joins : tuple of int
        Samples at which another recording begins. No span crosses them.
    min_length : int
        Length of the shortest span, in samples.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> X, _ = make_subspaces(rng=0)
    >>> cutter = OrderedCutter(X, np.kron(np.eye(5), np.ones((20, 20))))
    >>> [cutter.cut(n_spans).boundaries.tolist() for n_spans in (1, 5)]
    [[], [20, 40, 60, 80]]
    """

    def __init__(
        self,
        X: Array | None,
        Z: Array,
        joins: tuple[int, ...] = (),
        *,
        min_length: int = MIN_LENGTH,
        n_jobs: int | None = None,
    ) -> None:
        if X is None:
            raise ValueError("cut='ordered' needs the samples X as well as Z; got X=None.")
        n: int = X.shape[1]
        self._min_length, self._n_jobs = min(min_length, n), n_jobs
        self._samples: Array = to_host(X)
        super().__init__(self._samples, Z, joins)
        self._parts = part_slices(joins, n)
        self._windows = divide_long(self._parts)
        self._starts = tuple(window.start for window in self._windows[1:])
        # edges of windows that are no joins: the search divides there, and spans may go across
        self._seams = tuple(sorted({*self._starts} - {*joins}))
        self._step = grid_step(self._windows, GRID_POINTS)
        self._most: int = sum(max((part.stop - part.start) // self._min_length, 1) for part in self._parts)
        self._divisions: dict[int, IntArray] = {}

    def cut(
        self, n_spans: int | str = "auto", n_subspaces: int | str = "auto", grain: str = "default"
    ) -> Division:
        """Divide the recording into spans and label them.

        Parameters
        ----------
        n_spans : int or "auto"
        n_subspaces : int or "auto"
            Number of labels, at most as many as spans.
        grain : {"coarse", "default", "fine"}
            How much has to change for a new span, if their number is not given.

        Returns
        -------
        Division
        """
        check_auto("n_spans", n_spans)
        check_auto("n_subspaces", n_subspaces)
        fewest = 1 if isinstance(n_subspaces, str) else n_subspaces
        if isinstance(n_spans, str) and is_on_gpu(self._Z):
            self._count_and_search()
        wanted = self._choose(fewest, grain) if isinstance(n_spans, str) else n_spans
        least = len(self._parts)
        if not least <= wanted <= self._most:
            raise ValueError(f"n_spans must be in [{least}, {self._most}] for this recording; got {wanted}.")
        boundaries = self._divide(wanted)
        for _ in range(ROUNDS):
            found = self._label(boundaries, n_subspaces, None if isinstance(n_spans, str) else wanted, grain)
            if isinstance(n_spans, str) and isinstance(n_subspaces, str):
                tree = self.label_tree(boundaries)
                found = Transitions(tree.cost, tree.inflation, self.joins).absorb(found)
            if np.array_equal(found.boundaries, boundaries):
                break
            boundaries = found.boundaries  # where labels change, which says more about the labels
        return found

    def _label(self, boundaries: IntArray, n_labels: int | str, n_spans: int | None, grain: str) -> Division:
        """Label spans and settle them: exactly `n_spans`, or as many as the evidence wants."""
        tree = self.label_tree(boundaries)
        if isinstance(n_labels, str):
            # spans that were asked for stay apart, and a change takes two labels
            a_change = min(2, tree.n_spans - len(self._parts) + 1)
            n_labels = tree.count_labels(a_change if n_spans is None else tree.fewest_apart())
        labelled = Division(tree.boundaries, tree.labels(min(n_labels, tree.n_spans)))
        settling = Settling(tree.cost, self._min_length, tree.inflation, self.joins, self._n_jobs)
        return settling.settle(labelled, n_spans, GRAINS[grain])

    def share_labels(self, division: Division, reach: int) -> Division:
        """Let more spans share a label if samples around changes say that they differ, and others do not."""
        kept = far_from(division.boundaries, self.joins, reach, self.cost.n_samples)
        # where spans begin among the samples that are kept
        starts: IntArray = np.cumsum(kept, dtype=np.intp)[division.boundaries - 1]
        if np.diff(starts, prepend=0, append=int(kept.sum())).min() == 0:
            return division
        joins = tuple(starts[np.isin(division.boundaries, self.joins)].tolist())
        tree = LabelTree(self.label_features[np.flatnonzero(kept)], starts, joins)
        n_labels = tree.count_labels(fewest=tree.fewest_apart())
        if n_labels >= division.n_labels:
            return division
        return Division(division.boundaries, tree.labels(n_labels))

    @cached_property
    def span_count(self) -> SpanCount:
        """What spans explain in the recording, compared with chance."""
        samples = place_with(self._Z, self._samples)
        return count_spans(samples, self._min_length, self._n_jobs, self._starts)

    def _count_and_search(self) -> None:
        """Count spans and prepare the search at the same time: each waits for the GPU in turn."""
        stages = (lambda: self.span_count), (lambda: self._search)

        def work(numbers: range) -> None:
            with device_of(self._Z):
                for number in numbers:
                    stages[number]()

        with Team(2) as team:  # it looks for BLAS libraries now: beside a thread that loads some, that hangs
            team.map(work, len(stages))

    @cached_property
    def _search(self) -> SpanSearch | JoinedSearch:
        searches = [self._search_in(window) for window in self._windows]
        return searches[0] if len(searches) == 1 else JoinedSearch(searches, self._starts)

    def _search_in(self, part: slice) -> SpanSearch:
        """Search one recording, or a window of a long one."""
        places = self.cost.places(self._step, part)
        # places in two neighbouring blocks may be neighbouring samples
        shortest = min(1 + -(-(self._min_length - 1) // self._step), len(places) - 1)
        costs = self.cost.span_costs(places, shortest, self._n_jobs, beyond_chance=True)
        return SpanSearch(costs, shortest, places=places)

    def _choose(self, fewest: int, grain: str) -> int:
        """Number of spans, at least `fewest`; asking for several labels says that something changes."""
        changes = fewest > 1 or grain == "fine" or self.span_count.shows_change
        found = self.span_count.choose(grain) - len(self._seams) if changes else len(self._parts)
        return min(max(found, fewest), self._most)

    def _divide(self, n_spans: int) -> IntArray:
        """Boundaries of the best `n_spans` spans, as samples."""
        if n_spans not in self._divisions:
            room = self._search.max_spans
            starts = self._search.divide(min(n_spans + len(self._seams), room))
            starts = starts[~np.isin(starts, self._seams)]
            starts = _fill_up(starts, self._parts, n_spans, self._min_length)
            starts = refine(self.cost, starts, self._step, self._min_length, self.joins)
            self._divisions[n_spans] = starts
        return self._divisions[n_spans]


def far_from(
    boundaries: IntArray, joins: tuple[int, ...], reach: int, n_samples: int
) -> npt.NDArray[np.bool_]:
    """Which samples have no boundary within their reach; another recording is out of reach.

    Examples
    --------
    >>> far_from(np.array([3, 6]), (6,), 2, 8).astype(int)
    array([1, 0, 0, 0, 0, 1, 1, 1])
    """
    far = np.ones(n_samples, dtype=bool)
    for boundary in boundaries[~np.isin(boundaries, joins)].tolist():
        far[max(boundary - reach, 0) : boundary + reach] = False
    return far


def _fill_up(starts: IntArray, parts: list[slice], n_spans: int, min_length: int) -> IntArray:
    """Halve the longest spans until there are `n_spans`: a coarse grid has no room for very many."""
    if len(starts) + 1 >= n_spans:
        return starts
    found = []
    for part in parts:
        own = starts[(starts > part.start) & (starts < part.stop)]
        found.append(np.concatenate([[part.start], own, [part.stop]]))
    rooms = [(part.stop - part.start) // min_length for part in parts]
    for _ in range(n_spans - len(starts) - 1):
        longest = [
            np.diff(edges).max() * (len(edges) <= room) for edges, room in zip(found, rooms, strict=True)
        ]
        widest = int(np.argmax(longest))
        found[widest] = _halve_longest(found[widest])
    apart = [_move_apart(edges, min(min_length, int(edges[-1] - edges[0]))) for edges in found]
    return np.concatenate([edges[:-1] for edges in apart])[1:]


def _halve_longest(edges: IntArray) -> IntArray:
    """Halve the longest of the spans between edges."""
    longest = int(np.argmax(np.diff(edges)))
    return np.insert(edges, longest + 1, (edges[longest] + edges[longest + 1]) // 2)


def _move_apart(edges: IntArray, shortest: int) -> IntArray:
    """Move the edges of a recording's spans by as little as needed, so that none of them is too short.

    Examples
    --------
    >>> _move_apart(np.array([0, 3, 6, 12, 15]), 3), _move_apart(np.array([0, 3, 5, 9, 13]), 3)
    (array([ 0,  3,  6, 12, 15]), array([ 0,  3,  6,  9, 13]))
    """
    least = shortest * np.arange(len(edges))
    forwards = np.maximum.accumulate(edges - least) + least
    moved: IntArray = np.minimum(forwards, edges[-1] - least[::-1])
    return moved


def refine(
    cost: GaussianCost, starts: IntArray, step: int, min_length: int, joins: tuple[int, ...] = ()
) -> IntArray:
    """Move boundaries from grid points to the sample where they save most; those of recordings stay."""
    edges = np.concatenate([[0], starts, [cost.n_samples]])
    for index in range(1, len(edges) - 1 if step > 1 else 0):
        left, start, right = (int(edge) for edge in edges[index - 1 : index + 2])
        places = range(max(start - step, left + min_length), min(start + step, right - min_length) + 1)
        if not places or start in joins:
            continue
        edges[index] = places[int(np.argmin(cost.split_costs(left, places, right)))]
    return edges[1:-1]
