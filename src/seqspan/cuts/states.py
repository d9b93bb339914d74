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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import column_squares
from seqspan._core.kernels import ROUNDING_ULPS, sample_blocks, spread_anchors
from seqspan._core.spans import UNKNOWN, Division, boundaries_from_labels
from seqspan._core.types import Array, IntArray
from seqspan.cuts.coordinates import Coordinates
from seqspan.cuts.ordered.cost import FEATURE_STEP, GaussianCost, Moments
from seqspan.cuts.ordered.features import SampleFeatures, count_label_features
from seqspan.cuts.ordered.labels import (
    FIXED_CORRELATION,
    PRIOR_SAMPLES,
    correlation_time,
    effective_share,
)
from seqspan.cuts.ordered.paths import CheapestPath
from seqspan.cuts.ordered.view_model import PRIOR_VARIANCE, ExpectedGaussian, ViewModel

N_ANCHORS = 300  # samples that are kept
MAX_SAMPLES = 10_000  # that features are learned from; more are spread evenly over the recording
TINY = 1e-9  # deviation of nearness that is rounding
RAISE = 2**0.25  # factor by which the price of a span is raised
MAX_RAISES = 16  # to 16 times the price
MODELS = ("labels", "counts", "totals", "products")  # arrays of `States`
SMALLEST_UNIT = 1e-180  # of squared distances: divided by it, those of the largest coordinates stay finite
MAX_COST = 1e6  # of being far away, in nats: sums of larger ones would lose the digits of what follows
BEYOND_LIMIT = 1e-6  # share of costs above a limit that counts, so that rounding need not choose among places
MAX_EXPONENT = 1100  # of a float, with a margin
BLOCK = 4096  # samples whose features are computed at once,
BLOCK_VALUES = 2**22  # or fewer, of so many values


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
        features = _learn_features(coordinates, X)
        Y, near = _describe_all(features, coordinates, X)
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
        return states._calibrate(Y, near, division)

    def _calibrate(self, Y: Array, near: Array, division: Division) -> Self:
        """Raise the price until there are no more spans than in a division, and see how well it is met."""
        raised = [self]
        for _ in range(MAX_RAISES):
            raised.append(replace(raised[-1], price=raised[-1].price * RAISE))
        # after the first, all at once: what samples cost takes longer to compute than the paths
        for rivals in (raised[:1], raised[1:]):
            costs = (self._densities(Y[block], near[block]) for block in _blocks(Y.T))
            for states, path in zip(rivals, _cheapest_paths(rivals, costs, len(Y)), strict=True):
                if len(boundaries_from_labels(path)) <= len(division.boundaries):
                    return states._agreeing(path, division)
        return states._agreeing(path, division)

    def _agreeing(self, path: IntArray, division: Division) -> Self:
        """The same states, with the share of a division that a path meets."""
        return replace(self, agreement=float(np.mean(path == division.sample_labels(len(path)))))

    @cached_property
    def _gaussians(self) -> list[ExpectedGaussian]:
        """What is expected of each label and of the background."""
        model = ViewModel.for_features(self.totals.shape[1], FEATURE_STEP, PRIOR_SAMPLES)
        each = zip(self.counts.tolist(), self.totals, self.products, strict=True)
        return [model.expect(*moments) for moments in each]

    def assign(self, X: Array) -> IntArray:
        """Label samples by the cheapest spans; -1 where none of the labels fits.

        Parameters
        ----------
        X : array of shape (d, n)

        Returns
        -------
        array of int, shape (n,)
        """
        (path,) = _cheapest_paths([self], map(self._costs, _split(X)), X.shape[1])
        return path

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

        def scores(block: Array) -> Array:
            costs = self._costs(block)
            return np.asarray(costs[-1] - costs[:-1].min(axis=0))

        return np.concatenate([scores(block) for block in _split(X)])

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
        Y, near = _describe(self.features, self.coordinates(X))
        return Y, self._limit(self._densities(Y, near))

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
        """Negative log densities of a block of samples, of shape (n_labels + 1, n)."""
        return self._densities(*_describe(self.features, self.coordinates(X)))

    def _densities(self, Y: Array, near: Array) -> Array:
        """Negative log densities of samples that `_describe` has described."""
        costs = np.stack([gaussian.densities(Y) for gaussian in self._gaussians])
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


def _cheapest_paths(rivals: Sequence[States], blocks: Iterable[Array], n_samples: int) -> list[IntArray]:
    """Labels of the cheapest spans for several prices, from what blocks of samples cost under each label."""
    shortest = [min(states.shortest, max(n_samples, 1)) for states in rivals]
    each = zip(rivals, shortest, strict=True)
    walks = [CheapestPath(len(states.counts), n_samples, states.price, least) for states, least in each]
    for costs in blocks:
        for states, walk in zip(rivals, walks, strict=True):
            walk.extend(states._limit(costs))
    each_path = zip(rivals, walks, strict=True)
    return [np.append(states.labels, UNKNOWN)[walk.labels()] for states, walk in each_path]


def _learn_features(coordinates: Coordinates, samples: Array) -> SampleFeatures:
    """Learn features from some of the samples; the anchors, most of what is kept, in single precision."""
    X = coordinates(samples[:, spread_anchors(samples.shape[1], MAX_SAMPLES)])
    count, noise = count_label_features(len(X)), _measure_noise(coordinates, samples)
    found = SampleFeatures.fit(X, count, n_anchors=N_ANCHORS, noise=noise)[0]
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


def _describe(features: SampleFeatures, X: Array) -> tuple[Array, Array]:
    """Features of samples, and how near they are to the anchors."""
    kernel = features.kernel(X)
    near = np.log(np.maximum(kernel.mean(axis=1), np.finfo(float).tiny))
    return features.components(kernel), near


def _describe_all(features: SampleFeatures, coordinates: Coordinates, X: Array) -> tuple[Array, Array]:
    """The same for as many samples (d, n) as there are."""
    n = X.shape[1]
    Y, near = np.empty((n, features.components.projection.shape[1])), np.empty(n)
    for block in _blocks(X):
        Y[block], near[block] = _describe(features, coordinates(X[:, block]))
    return Y, near


def _measure_noise(coordinates: Coordinates, X: Array) -> float:
    """What `measure_noise` says of the coordinates of samples (d, n)."""
    each = [column_squares(np.diff(coordinates(_with_next(X, block)), axis=1)) for block in _blocks(X)]
    steps = np.concatenate(each)
    return float(np.median(steps)) / 2 if steps.size else 0.0


def _with_next(X: Array, block: slice) -> Array:
    """A block of samples and the one after it."""
    return X[:, block.start : block.stop + 1]


def _split(X: Array) -> Iterator[Array]:
    """Blocks of samples (d, n), at least one."""
    return (X[:, block] for block in _blocks(X))


def _blocks(X: Array) -> list[slice]:
    """What samples (d, n) are divided into, at least one block: everything at once would take more memory."""
    length = min(BLOCK, max(BLOCK_VALUES // max(len(X), 1), 1))
    return sample_blocks(max(X.shape[1], 1), length)
