"""Segmentation while samples arrive: a window of recent samples, landmarks of the past, final boundaries.

Samples are represented by landmarks of everything seen so far, window by window, with a short context of
earlier samples. The representation ``D z`` of each sample goes to :mod:`seqspan.cuts.online.scatter`, which
finds the boundaries. When a span becomes final, it gets the label of the known span that it resembles, or a
new label. Memory does not grow, except for the boundaries themselves.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seqspan._core.scaling import scale_columns
from seqspan._core.spans import Division
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray
from seqspan.cuts.online.scatter import ScatterPath, scatter_cut
from seqspan.models import Osc, SpatSc
from seqspan.solvers import Stopping
from seqspan.solvers.fast.landmarks import farthest_first, on_landmarks
from seqspan.solvers.fast.solver import solve_fast

TIME_SCALE = 120  # samples; one second of motion capture
PENALTY = 0.75  # scatter that a boundary must save, in squared norms of samples per sample of the time scale
PLACES_PER_TIME_SCALE = 10  # candidate boundaries per time scale
WINDOW = 8  # time scales that are solved at once
CONTEXT = 1  # time scales before the window that are solved with it
MARGIN = 1  # time scales at the end of a window that are solved again with the next one
DECIDING = 10  # time scales after which a boundary becomes final in ScatterPath
DELAY = WINDOW + MARGIN + DECIDING  # time scales after which the boundary at a sample cannot move any more
N_STREAM_LANDMARKS = 128  # default number of landmarks of a stream
REFERENCE_SAMPLES = 4096  # weights mean the same as in `fit` on a recording of this many samples
MIN_COSINE = 0.9  # a sample whose cosine to every landmark is below this becomes a landmark
MAX_FEATURES = 64  # more features are reduced to this many by a random projection, which keeps distances
MAX_SAME_DISTANCE = 0.3  # squared distance between means, in squared norms, up to which spans share a label


class OnlineSegmentation:
    """A segmentation that is extended block by block.

    Parameters
    ----------
    model : Osc or SpatSc
        With the weights for a recording of 4,096 samples that are all used as atoms.
    time_scale : int
        Number of samples in which something can happen; one second for motion.
    n_labels : int, optional
        Maximum number of labels.
    n_landmarks : int
    stopping : Stopping, optional
    n_jobs : int, optional

    Examples
    --------
    >>> from seqspan.datasets import make_motion
    >>> X, labels = make_motion(6000, 20, rng=1)
    >>> online = OnlineSegmentation(Osc(0.1, 1.0))
    >>> for block in np.array_split((X - X.mean(axis=1, keepdims=True)).T, 10):
    ...     online.extend(block)
    >>> found = online.division()
    >>> bool(0 < found.n_final < len(np.flatnonzero(np.diff(labels))))
    True
    """

    def __init__(
        self, model: Osc | SpatSc, *, time_scale: int = TIME_SCALE, n_labels: int | None = None,
        n_landmarks: int = N_STREAM_LANDMARKS, stopping: Stopping | None = None, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.model, self.time_scale, self.n_landmarks = model, time_scale, n_landmarks
        self.stopping, self.n_jobs = stopping or Stopping(), n_jobs
        self.delay = DELAY * time_scale
        self.n_samples = 0
        self._labels = _Labels(n_labels)
        self._atoms: Array = np.empty((0, 0))
        self._settled: Array = np.empty((0, 0))
        self._pending: Array = np.empty((0, 0))

    def extend(self, X: Array) -> None:
        """Add the next samples (any, n_features)."""
        columns = scale_columns(np.ascontiguousarray(X.T))
        if self.n_samples == 0:
            self._begin(columns)
        self.n_samples += len(X)
        self._pending = np.concatenate([self._pending, columns], axis=1)
        window, margin = WINDOW * self.time_scale, MARGIN * self.time_scale
        while self._pending.shape[1] >= window + margin:
            self._take(window, margin)

    def finish(self) -> Division:
        """End the stream: process the remaining samples and make all boundaries final."""
        if self._pending.shape[1]:
            self._take(self._pending.shape[1], 0)
        return self.division(all_final=True)

    def division(self, *, all_final: bool = False) -> Division:
        """Spans and labels so far."""
        if self.n_samples == 0:
            return Division(np.empty(0, np.intp), np.zeros(1, np.intp), 0)
        boundaries = self._path.boundaries()
        n_final = len(boundaries) if all_final else len(self._path.final)
        self._labels.settle(boundaries[:n_final])
        return Division(boundaries, self._labels.of(boundaries), n_final)

    def _begin(self, columns: Array) -> None:
        """Set up everything that depends on the number of features."""
        d = len(columns)
        self._atoms = self._settled = self._pending = columns[:, :0]
        size = min(d, MAX_FEATURES)
        rng = np.random.default_rng(0)  # fixed, so that the same samples give the same result
        self._projection = None if d <= size else rng.standard_normal((size, d)) / np.sqrt(size)
        deciding, step = DECIDING * self.time_scale, max(self.time_scale // PLACES_PER_TIME_SCALE, 1)
        self._path = ScatterPath(size, PENALTY * self.time_scale, step, deciding)

    def _take(self, count: int, margin: int) -> None:
        """Represent pending samples. The last `margin` stay pending, because what follows them is unknown."""
        window = np.concatenate([self._settled, self._pending[:, : count + margin]], axis=1)
        before = self._settled.shape[1]
        with Team(1):  # in many small products, threads would wait for each other
            self._learn(window[:, before:])
            features = represent_window(self.model, window, self._atoms, self.stopping, self.n_jobs)
            features = features[:, before : before + count]
            if self._projection is not None:
                features = self._projection @ features
        self._path.extend(features.T)
        self._labels.extend(features.T)
        self._settled = window[:, : before + count][:, -CONTEXT * self.time_scale :]
        self._pending = self._pending[:, count:]

    def _learn(self, columns: Array) -> None:
        """Add samples that resemble no landmark; if there are too many landmarks, keep the most distinct."""
        atoms = self._atoms
        nearest = np.abs(atoms.T @ columns).max(axis=0, initial=0)
        novel = columns[:, (nearest < MIN_COSINE) & (np.abs(columns).max(axis=0) > 0)]
        if novel.shape[1]:
            novel = farthest_first(novel, self.n_landmarks, least=MIN_COSINE)
            atoms = np.concatenate([atoms, novel], axis=1)
        elif not atoms.shape[1]:
            atoms = columns[:, :1]
        if atoms.shape[1] > self.n_landmarks:
            atoms = farthest_first(atoms, self.n_landmarks * 3 // 4)
        self._atoms = atoms


def represent_window(
    model: Osc | SpatSc, window: Array, atoms: Array, stopping: Stopping, n_jobs: int | None = None
) -> Array:
    """Represent samples by landmarks: ``D Z``, of shape (d, n)."""
    fitting = on_landmarks(model, atoms.shape[1], REFERENCE_SAMPLES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # features need no certificate
        Z = solve_fast(fitting, window, dictionary=atoms, stopping=stopping, n_jobs=n_jobs).Z
    return np.asarray(atoms @ Z)


def segment_at_once(
    model: Osc | SpatSc, X: Array, *, time_scale: int = TIME_SCALE, n_landmarks: int = N_STREAM_LANDMARKS
) -> IntArray:
    """Find the same kind of boundaries with the whole sequence known, as a reference for the stream.

    Landmarks are chosen from all samples, all coefficients are computed at once, and no boundary is final
    before the last sample.

    Parameters
    ----------
    model : Osc or SpatSc
    X : array of shape (n_samples, n_features)
    time_scale, n_landmarks : int

    Returns
    -------
    boundaries : array of int

    Examples
    --------
    >>> from seqspan.datasets import make_motion
    >>> X, labels = make_motion(6000, 20, rng=1)
    >>> found = segment_at_once(Osc(0.1, 1.0), (X - X.mean(axis=1, keepdims=True)).T)
    >>> true = np.flatnonzero(np.diff(labels)) + 1
    >>> bool(np.abs(true[:, None] - found).min(axis=0).max() <= 60)
    True
    """
    columns = scale_columns(np.ascontiguousarray(X.T))
    atoms = farthest_first(columns, n_landmarks)
    features = represent_window(model, columns, atoms, Stopping())
    return scatter_cut(features.T, PENALTY * time_scale, max(time_scale // PLACES_PER_TIME_SCALE, 1))


@dataclass
class _Labels:
    """Means of the known labels, and features that wait for their span to become final."""

    limit: int | None
    sums: list[Array] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    _start: int = 0
    _waiting: list[Array] = field(default_factory=list)

    def extend(self, Y: Array) -> None:
        """Add features."""
        self._waiting.append(np.asarray(Y, dtype=float))

    def settle(self, final: IntArray) -> None:
        """Label the spans whose end has become final since the last call."""
        for end in final[len(self.given) :]:
            Y = np.concatenate(self._waiting)
            size = int(end) - self._start
            label = self._match(Y[:size].mean(axis=0), fresh=True)
            self.sums[label] = self.sums[label] + Y[:size].sum(axis=0)
            self.counts[label] += size
            self.given.append(label)
            self._waiting, self._start = [Y[size:]], int(end)

    def of(self, boundaries: IntArray) -> IntArray:
        """Labels of all spans; those of spans that are not final may still change."""
        labels = list(self.given)
        Y = np.concatenate(self._waiting) if self._waiting else np.zeros((1, 1))
        edges = [0, *(boundaries[len(self.given) :] - self._start), len(Y)]
        for start, end in pairwise(edges):
            mean = Y[start : max(end, start + 1)].mean(axis=0)
            labels.append(self._match(mean, fresh=False))
        return np.array(labels, dtype=np.intp)

    def _match(self, mean: Array, *, fresh: bool) -> int:
        """The known label that a span resembles, or a new one (which is recorded if `fresh`)."""
        distances = [
            float(np.sum((total / count - mean) ** 2))
            for total, count in zip(self.sums, self.counts, strict=True)
        ]
        nearest = int(np.argmin(distances)) if distances else 0
        full = self.limit is not None and len(distances) >= self.limit
        if distances and (full or distances[nearest] <= MAX_SAME_DISTANCE):
            return nearest
        if fresh:
            self.sums.append(np.zeros_like(mean))
            self.counts.append(0)
        return len(distances)
