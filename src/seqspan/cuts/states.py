r"""What recognises the labels of one recording in others.

A label is the Gaussian that the ordered cut settles with, in the same features. The samples of all labels
together are one more Gaussian, the background: a sample that it describes better than any label does belongs
to none of them. Far from all samples the features say nothing, so being further away than any of them costs
labels extra. A new recording is divided by the dynamic programme of the cut,

    min  sum_t -log p(y_t | label_t) / tau  +  (number of spans) (log K + log L),

with tau the correlation time of the samples, K the number of labels with the background, and L the mean
length of the spans: what it takes to say which label comes next, and when. Where the cut had other reasons
for fewer spans, that price is raised until the recording that the labels come from has no more spans than the
cut found.

If samples were put beside their neighbours, those around a change are beside some of either kind, and one
outlier is in several samples. So that these are no spans, no sample says more than its share of a price.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqspan._core.eigen import principal_directions
from seqspan._core.kernels import ROUNDING_ULPS, spread_anchors
from seqspan._core.scaling import binary_exponent
from seqspan._core.spans import UNKNOWN, Division, boundaries_from_labels
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cost import GaussianCost, Moments
from seqspan.cuts.ordered.features import SampleFeatures, count_label_features, measure_noise
from seqspan.cuts.ordered.labels import (
    FIXED_CORRELATION,
    PRIOR_SAMPLES,
    correlation_time,
    effective_share,
)
from seqspan.cuts.ordered.view_model import PRIOR_VARIANCE

N_ANCHORS = 300  # samples that are kept
MAX_COORDINATES = 64  # of a kept sample; samples with more features are reduced to their principal ones
MAX_VALUES = 100_000  # of principal directions that are kept, 400 kB; at least MIN_COORDINATES directions are
MIN_COORDINATES = 8
MAX_SAMPLES = 10_000  # that features are learned from; more are spread evenly over the recording
TINY = 1e-9  # deviation of nearness that is rounding
RAISE = 2**0.25  # factor by which the price of a span is raised
MAX_RAISES = 16  # to 16 times the price
MODELS = ("labels", "counts", "totals", "products")  # arrays of `States`
FAR = 1e60  # coordinate at which larger ones are put, so that their squares stay finite
OFF_ROUNDING = 1e-12  # of squares; less off the principal directions is rounding, of those and of sums
SMALLEST_UNIT = 1e-180  # of squared distances: divided by it, those of the largest coordinates stay finite
MAX_COST = 1e6  # of being far away, in nats: sums of larger ones would lose the digits of what follows
BEYOND_LIMIT = 1e-6  # share of costs above a limit that counts, so that rounding need not choose among places
MAX_EXPONENT = 1100  # of a float, with a margin
BLOCK = 4096  # samples whose features are computed at once,
BLOCK_VALUES = 2**22  # or fewer, of so many values


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Samples in a few coordinates that keep their distances: principal ones, and how far off these it is.

    Parameters
    ----------
    exponent : int
        Power of two that samples are divided by.
    directions : array of shape (d, r), optional
        Principal directions; by default the features themselves are the coordinates.

    Examples
    --------
    >>> X = np.outer([3.0, 4.0, 0.0], [1.0, 2.0])
    >>> Coordinates(0, np.array([[0.6], [0.8], [0.0]]))(X + [[0.0], [0.0], [2.0]])
    array([[ 5., 10.],
           [ 2.,  2.]])
    """

    exponent: int
    directions: Array | None = None

    @classmethod
    def fit(cls, X: Array) -> Self:
        """Learn the coordinates of samples (d, n)."""
        exponent, d = binary_exponent(X), len(X)
        if d <= MAX_COORDINATES:
            return cls(exponent)
        some = X[:, spread_anchors(X.shape[1], N_ANCHORS)].astype(np.float64)
        count = min(max(MAX_VALUES // d, MIN_COORDINATES), MAX_COORDINATES)
        directions = principal_directions(np.ldexp(some, -exponent), count)
        return cls(exponent, directions.astype(np.float32))

    def __call__(self, X: Array) -> Array:
        """Coordinates of samples (d, n), in double precision."""
        with np.errstate(over="ignore"):  # from there on, all samples are equally far away
            X = np.ldexp(X.astype(np.float64), -self.exponent)
        if not np.abs(X).max(initial=0) <= FAR:  # nor is NaN
            X = np.nan_to_num(X, nan=FAR).clip(-FAR, FAR)
        if self.directions is None:
            return X
        directions = self.directions.astype(np.float64)
        within = directions.T @ X
        # |x - Dw|^2, without another array as large as X; D is orthonormal up to its single precision
        mixed = (directions.T @ directions - 2 * np.eye(len(within))) @ within
        squares = np.einsum("ij,ij->j", X, X)
        off = squares + np.einsum("ij,ij->j", within, mixed)
        return np.vstack([within, np.sqrt(np.where(off > OFF_ROUNDING * squares, off, 0))])


@dataclass(frozen=True, eq=False)
class States:
    """The labels of a recording, so that they are recognised in others.

    Parameters
    ----------
    coordinates : Coordinates
    features : SampleFeatures
    labels : array of int, shape (n_labels,)
        The labels, in ascending order.
    counts, totals, products : arrays of shape (n_labels + 1,), (n_labels + 1, p), (n_labels + 1, p, p)
        Moments of the features for each label, and for the background.
    nearness : (float, float)
        Of the samples, the least log mean kernel with the anchors, and its standard deviation.
    price : float
        What a span costs, in nats times the correlation time.
    shortest : int
        Length of the shortest span, in samples.
    agreement : float
        Share of the samples that the labels come from that are recognised as what they are.
    reach : int
        Number of samples before and after a sample that preprocessing put beside it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(mean, 0.1, (40, 3)) for mean in (-1, 1, -1)]).T
    >>> states = States.learn(X, Division(np.array([40, 80]), np.array([0, 1, 0])))
    >>> states.assign(X[:, 30:50])
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    >>> states.assign(X[:, 30:35] * [[5.0], [-5.0], [5.0]])
    array([-1, -1, -1, -1, -1])
    """

    coordinates: Coordinates
    features: SampleFeatures
    labels: IntArray
    counts: Array
    totals: Array
    products: Array
    nearness: tuple[float, float]
    price: float
    shortest: int
    agreement: float = 1.0
    reach: int = 0

    @classmethod
    def learn(cls, X: Array, division: Division, min_length: int = 1, reach: int = 0) -> Self:
        """Learn what recognises the labels of samples.

        Parameters
        ----------
        X : array of shape (d, n)
            Samples as the cut sees them.
        division : Division
            Their spans, found in whatever way.
        min_length : int
            Length of the shortest span that the cut allows.
        reach : int
            Number of samples before and after a sample that preprocessing put beside it.

        Returns
        -------
        States
        """
        coordinates = Coordinates.fit(X)
        reduced = _in_blocks(lambda block: coordinates(block).T, X).T
        features = _learn_features(reduced)
        found = _in_blocks(lambda block: _describe(features, block), reduced)
        Y, near = found[:, :-1], found[:, -1]
        edges = np.concatenate([[0], division.boundaries, [len(Y)]]).astype(np.intp)
        labels = np.unique(division.labels)
        moments = _summarise(Y, edges, division.labels, labels)
        lengths = np.diff(edges)
        price = correlation_time(Y, edges) * (np.log(len(labels) + 1) + np.log(lengths.mean()))
        states = cls(
            coordinates,
            features,
            labels,
            np.array([one.count for one in moments]),
            np.array([one.totals[0] for one in moments]),
            np.array([one.products[0] for one in moments]),
            (float(near.min()), float(near.std()) if Y.any() else 1.0),  # equal samples differ by rounding
            float(price),
            int(min(min_length + 2 * reach, lengths.min())),
            reach=reach,
        )
        return states._calibrate(states._densities(found), division)

    def _calibrate(self, costs: Array, division: Division) -> Self:
        """Raise the price until there are no more spans than in a division, and see how well it is met."""
        states = self
        path = states._path(costs)
        for _ in range(MAX_RAISES):
            if len(boundaries_from_labels(path)) <= len(division.boundaries):
                break
            states = replace(states, price=states.price * RAISE)
            path = states._path(costs)
        return replace(states, agreement=float(np.mean(path == division.sample_labels(len(path)))))

    @cached_property
    def _moments(self) -> list[Moments]:
        """Moments of each label and of the background."""
        each = zip(self.counts.tolist(), self.totals, self.products, strict=True)
        return [Moments(count, (total,), (product,)) for count, total, product in each]

    def assign(self, X: Array) -> IntArray:
        """Label samples by the cheapest spans; -1 where none of the labels fits.

        Parameters
        ----------
        X : array of shape (d, n)

        Returns
        -------
        array of int, shape (n,)
        """
        return self._path(self._costs(X))

    def _path(self, costs: Array) -> IntArray:
        """Labels of the cheapest spans, from what samples cost under each label."""
        from seqspan.cuts.ordered.loops import cheapest_path  # numba: imported on first use only

        sums = _sum_up(self._limit(costs))
        path = cheapest_path(sums, self.price, min(self.shortest, sums.shape[1] - 1))
        return np.asarray(np.append(self.labels, UNKNOWN)[path])

    def score(self, X: Array) -> Array:
        """How well samples fit: the log density of the best label over that of the background, in nats.

        Parameters
        ----------
        X : array of shape (d, n)

        Returns
        -------
        array of shape (n,)
            Positive where a label describes a sample better than all labels together do.
        """
        costs = self._costs(X)
        scores: Array = costs[-1] - costs[:-1].min(axis=0)
        return scores

    def describe(self, X: Array) -> tuple[Array, Array]:
        """Features of samples, and what they cost under each label and the background.

        Parameters
        ----------
        X : array of shape (d, n)

        Returns
        -------
        features : array of shape (n, p)
        costs : array of shape (n_labels + 1, n)
            Negative log densities, as far as they count.
        """
        described = _describe(self.features, self.coordinates(X))
        return described[:, :-1], self._limit(self._densities(described))

    def _limit(self, costs: Array) -> Array:
        """Limit what a sample says if its neighbours hold it, too: it takes more than those to say enough."""
        if not self.reach:
            return costs
        least = costs.min(axis=0)
        above = costs - least
        share = self.price / (2 * self.reach + 1)
        limited: Array = least + np.minimum(above, share + BEYOND_LIMIT * above)
        return limited

    def _costs(self, X: Array) -> Array:
        """Negative log densities, of shape (n_labels + 1, n)."""

        def costs(block: Array) -> Array:
            return self._densities(_describe(self.features, self.coordinates(block))).T

        return _in_blocks(costs, X).T

    def _densities(self, described: Array) -> Array:
        """Negative log densities of samples that `_describe` has described."""
        Y, near = described[:, :-1], described[:, -1]
        costs = GaussianCost([Y], prior_samples=PRIOR_SAMPLES).densities(self._moments)
        least, deviation = self.nearness
        away = np.maximum(least - near, 0) / max(deviation, TINY)
        costs[:-1] += np.minimum(away**2 / 2, MAX_COST)
        return costs

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything as named arrays; `from_arrays` reads them."""
        numbers = ("nearness", "price", "shortest", "agreement", "reach")
        arrays = {name: np.asarray(getattr(self, name)) for name in (*MODELS, *numbers)}
        arrays["exponent"] = np.asarray(self.coordinates.exponent)
        if self.coordinates.directions is not None:
            arrays["principal"] = self.coordinates.directions
        return arrays | self.features.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Make states from the arrays of `to_arrays`; a ValueError if they cannot be those."""
        states = cls(
            Coordinates(int(arrays["exponent"]), arrays.get("principal")),
            SampleFeatures.from_arrays(arrays),
            **{name: arrays[name] for name in MODELS},
            nearness=(float(arrays["nearness"][0]), float(arrays["nearness"][1])),
            price=float(arrays["price"]),
            shortest=int(arrays["shortest"]),
            agreement=float(arrays["agreement"]),
            reach=int(arrays.get("reach", 0)),  # earlier versions did not say
        )
        states._check()
        return states

    def _check(self) -> None:
        """Refuse what cannot have been learned: a file may have been made by hand."""
        n, p = len(self.labels) + 1, self.totals.shape[-1]
        shapes = [self.counts.shape, self.totals.shape, self.products.shape]
        numbers = (self.counts, self.totals, self.products, [*self.nearness, self.price, self.agreement])
        if not (
            shapes == [(n,), (n, p), (n, p, p)]
            and self.labels.dtype.kind in "iu"
            and (np.diff(self.labels) > 0).all()
            and all(np.isfinite(values).all() for values in numbers)
            and min(self.price, self.shortest - 1, self.reach) >= 0
            and abs(self.coordinates.exponent) <= MAX_EXPONENT
        ):
            raise ValueError("the arrays do not describe labels.")


def _sum_up(costs: Array) -> Array:
    """What samples 0, ..., t - 1 cost, for all t."""
    sums = np.zeros((len(costs), costs.shape[1] + 1))
    np.cumsum(costs, axis=1, out=sums[:, 1:])
    return sums


def _learn_features(X: Array) -> SampleFeatures:
    """Learn features from some of the samples; the anchors, most of what is kept, in single precision."""
    some = spread_anchors(X.shape[1], MAX_SAMPLES)
    count = count_label_features(len(X))
    found = SampleFeatures.fit(X[:, some], count, n_anchors=N_ANCHORS, noise=measure_noise(X))[0]
    places, directions = (
        replace(view, anchors=view.anchors.astype(np.float32)) for view in (found.places, found.directions)
    )
    if np.isinf(places.unit):  # all samples are equal, but those of others need not be
        size = float(np.ldexp(np.linalg.norm(X, axis=0).max(), -found.exponent - places.exponent))
        rounding = ROUNDING_ULPS * float(np.finfo(X.dtype).eps)
        places = replace(places, unit=max((rounding * size) ** 2, SMALLEST_UNIT))
    return replace(found, places=places, directions=directions)


def _summarise(Y: Array, edges: IntArray, labels: IntArray, known: IntArray) -> list[Moments]:
    """Moments of each label, with long spans counting for less, and those of all samples."""
    cost = GaussianCost([Y], prior_samples=PRIOR_SAMPLES)
    sums: dict[int, Moments] = {}
    for label, (start, end) in zip(labels.tolist(), pairwise(edges.tolist()), strict=True):
        span = cost.summarise(start, end)
        weighted = span * effective_share(span.count, FIXED_CORRELATION)
        sums[label] = sums[label] + weighted if label in sums else weighted
    background = cost.summarise(0, len(Y))
    if not Y.any():  # all samples are equal, and say nothing about the world
        background = background * 0.0
    elif len(known) == 1:  # it is all there is, so how much wider the world is, only the prior says
        background = replace(background, products=(background.products[0] / PRIOR_VARIANCE,))
    return [*(sums[label] for label in known.tolist()), background]


def _describe(features: SampleFeatures, X: Array) -> Array:
    """Features of samples, and as the last column how near they are to the anchors."""
    kernel = features.kernel(X)
    near = np.log(np.maximum(kernel.mean(axis=1), np.finfo(float).tiny))
    return np.column_stack([features.components(kernel), near])


def _in_blocks(function: Callable[[Array], Array], X: Array) -> Array:
    """Apply a function from samples (d, n) to rows (n, p), some samples at a time: that takes less memory."""
    length = min(BLOCK, max(BLOCK_VALUES // max(len(X), 1), 1))
    starts = range(0, max(X.shape[1], 1), length)
    return np.concatenate([function(X[:, start : start + length]) for start in starts])
