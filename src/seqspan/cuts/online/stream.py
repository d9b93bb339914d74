"""Segmentation while samples arrive: a window of the present, landmarks of the past, boundaries that stay.

Samples are represented by landmarks of all that was seen so far, window by window, with a little of the
past as context. What the landmarks make of a sample, ``D z``, goes to the path of
:mod:`seqspan.cuts.online.scatter`, which divides time; a span that is final gets the label of the known span
that it resembles, or a new one. Memory does not grow, but for the boundaries themselves.
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

TIME_SCALE = 120  # samples: a second of motion capture
PRICE = 0.75  # of the time scale, in squared norms of samples, that a boundary has to save
PLACES = 10  # per time scale where a boundary may be
WINDOW, CONTEXT, MARGIN = 8, 1, 1  # time scales that are solved at once, before them, and not yet believed
DECIDING = 10  # time scales after which the path's boundaries stay
DELAY = WINDOW + MARGIN + DECIDING  # time scales from a sample to the last moment that its boundary may move
N_LANDMARKS = 128
RECORDING = 4096  # samples of the recording for which weights mean what they mean in `fit`
NEW = 0.9  # a sample whose cosine to all landmarks is smaller becomes one
FEATURES = 64  # more are projected at random to so many, which keeps their distances
SAME = 0.3  # squared distance of means, in squared norms of samples, up to which spans are of one subspace


class OnlineSegmentation:
    """Extend a segmentation block by block.

    Parameters
    ----------
    model : Osc or SpatSc
        With weights as for a recording of 4,096 samples with all of them as atoms.
    time_scale : int
        Samples in which something can happen; a second, for motion.
    n_labels : int, optional
        No more labels than these.
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
        n_landmarks: int = N_LANDMARKS, stopping: Stopping | None = None, n_jobs: int | None = None,
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
        """Take in the samples (any, n_features) that follow."""
        columns = scale_columns(np.ascontiguousarray(X.T))
        if self.n_samples == 0:
            self._begin(columns)
        self.n_samples += len(X)
        self._pending = np.concatenate([self._pending, columns], axis=1)
        window, margin = WINDOW * self.time_scale, MARGIN * self.time_scale
        while self._pending.shape[1] >= window + margin:
            self._take(window, margin)

    def finish(self) -> Division:
        """No more samples follow: what is left is decided."""
        if self._pending.shape[1]:
            self._take(self._pending.shape[1], 0)
        return self.division(all_final=True)

    def division(self, *, all_final: bool = False) -> Division:
        """Spans so far, with labels."""
        if self.n_samples == 0:
            return Division(np.empty(0, np.intp), np.zeros(1, np.intp), 0)
        boundaries = self._path.boundaries()
        n_final = len(boundaries) if all_final else len(self._path.final)
        self._labels.settle(boundaries[:n_final])
        return Division(boundaries, self._labels.of(boundaries), n_final)

    def _begin(self, columns: Array) -> None:
        """Now the features are known."""
        d = len(columns)
        self._atoms = self._settled = self._pending = columns[:, :0]
        size = min(d, FEATURES)
        rng = np.random.default_rng(0)  # fixed: the same samples, the same answer
        self._projection = None if d <= FEATURES else rng.standard_normal((FEATURES, d)) / np.sqrt(FEATURES)
        deciding, step = DECIDING * self.time_scale, max(self.time_scale // PLACES, 1)
        self._path = ScatterPath(size, PRICE * self.time_scale, step, deciding)

    def _take(self, count: int, margin: int) -> None:
        """Represent pending samples; the last of them, whose future is not known yet, are left for later."""
        window = np.concatenate([self._settled, self._pending[:, : count + margin]], axis=1)
        before = self._settled.shape[1]
        with Team(1):  # threads of many small products would wait for each other
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
        """Make landmarks of samples that resemble none; where there are too many, the most different stay."""
        atoms = self._atoms
        nearest = np.abs(atoms.T @ columns).max(axis=0, initial=0)
        strange = columns[:, (nearest < NEW) & (np.abs(columns).max(axis=0) > 0)]
        if strange.shape[1]:
            strange = farthest_first(strange, self.n_landmarks, least=NEW)
            atoms = np.concatenate([atoms, strange], axis=1)
        elif not atoms.shape[1]:
            atoms = columns[:, :1]
        if atoms.shape[1] > self.n_landmarks:
            atoms = farthest_first(atoms, self.n_landmarks * 3 // 4)
        self._atoms = atoms


def represent_window(
    model: Osc | SpatSc, window: Array, atoms: Array, stopping: Stopping, n_jobs: int | None = None
) -> Array:
    """What landmarks make of samples, ``D Z``, of shape (d, n)."""
    fitting = on_landmarks(model, atoms.shape[1], RECORDING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # features, not a certificate
        Z = solve_fast(fitting, window, dictionary=atoms, stopping=stopping, n_jobs=n_jobs).Z
    return np.asarray(atoms @ Z)


def segment_at_once(
    model: Osc | SpatSc, X: Array, *, time_scale: int = TIME_SCALE, n_landmarks: int = N_LANDMARKS
) -> IntArray:
    """Boundaries of the same kind with the whole sequence known: what :class:`OnlineSegmentation` aims at.

    Landmarks are chosen from all samples, all coefficients are found at once, and no boundary is final before
    the last sample.

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
    return scatter_cut(features.T, PRICE * time_scale, max(time_scale // PLACES, 1))


@dataclass
class _Labels:
    """Means of the known subspaces, and sums of the features that wait for their span to be final."""

    limit: int | None
    sums: list[Array] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    _start: int = 0
    _waiting: list[Array] = field(default_factory=list)

    def extend(self, Y: Array) -> None:
        """Take in features."""
        self._waiting.append(np.asarray(Y, dtype=float))

    def settle(self, final: IntArray) -> None:
        """Label the spans that ended with a final boundary since the last time."""
        for end in final[len(self.given) :]:
            Y = np.concatenate(self._waiting)
            size = int(end) - self._start
            label = self._match(Y[:size].mean(axis=0), fresh=True)
            self.sums[label] = self.sums[label] + Y[:size].sum(axis=0)
            self.counts[label] += size
            self.given.append(label)
            self._waiting, self._start = [Y[size:]], int(end)

    def of(self, boundaries: IntArray) -> IntArray:
        """Labels of all spans, those that are not final by what they resemble now."""
        labels = list(self.given)
        Y = np.concatenate(self._waiting) if self._waiting else np.zeros((1, 1))
        edges = [0, *(boundaries[len(self.given) :] - self._start), len(Y)]
        for start, end in pairwise(edges):
            mean = Y[start : max(end, start + 1)].mean(axis=0)
            labels.append(self._match(mean, fresh=False))
        return np.array(labels, dtype=np.intp)

    def _match(self, mean: Array, *, fresh: bool) -> int:
        """The known subspace that resembles a span, or a new one (which is entered if `fresh`)."""
        distances = [
            float(np.sum((total / count - mean) ** 2))
            for total, count in zip(self.sums, self.counts, strict=True)
        ]
        nearest = int(np.argmin(distances)) if distances else 0
        full = self.limit is not None and len(distances) >= self.limit
        if distances and (full or distances[nearest] <= SAME):
            return nearest
        if fresh:
            self.sums.append(np.zeros_like(mean))
            self.counts.append(0)
        return len(distances)
