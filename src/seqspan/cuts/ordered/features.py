"""A few features per sample that say what a kernel says: the leading components of kernel PCA.

There are two views: what a sample looks like, and what represents it. Up to `N_ANCHORS` samples the
components are exact; of more, that many anchors spread evenly in time span the space.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import column_squares, namespace, to_host
from seqspan._core.eigen import symmetric_eigenpairs
from seqspan._core.kernels import RelativeDistances, sample_blocks, spread_anchors
from seqspan._core.scaling import binary_exponent
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray

N_FEATURES = 16  # of each view, by which spans are found
LABEL_FEATURES = N_FEATURES // 2, 2 * N_FEATURES  # fewest and most by which labels are found
N_ANCHORS = 500  # samples
DEVICE_BLOCK = 8192  # samples that a GPU compares with the anchors at a time: it likes large blocks
MIN_VARIANCE = 1e-7  # of the first component's; components below are rounding
MIN_DISTANCE = 1e-7  # squared, of the largest; closer samples are the same


def sample_features(
    X: Array, count: int = N_FEATURES, *, n_anchors: int = N_ANCHORS, n_jobs: int | None = 1
) -> Array:
    """Features of a kernel that compares samples by what they are and by their direction.

    The kernel is ``exp(-(a + b) / 2)``: a is the squared distance of two samples and b that of their
    directions, each divided by its median. Loudness tells a syllable from silence, and a mineral has the same
    direction in light and in shadow.

    Parameters
    ----------
    X : array of shape (d, n)
        On the host or on a GPU.
    count : int
    n_anchors : int
        Number of samples that span the space.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    Y : array of shape (n, p), p <= count
        Columns of mean zero and variance one, most important first; where X is.

    Examples
    --------
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=1)
    >>> sample_features(X).shape
    (10, 1)
    """
    return SampleFeatures.fit(X, count, n_anchors=n_anchors, n_jobs=n_jobs)[1]


def count_label_features(n_channels: int) -> int:
    """Number of features by which labels are found: as many as the samples have channels, within limits.

    More states differ in more ways, and more channels show them.

    Examples
    --------
    >>> [count_label_features(n_channels) for n_channels in (3, 24, 1000)]
    [8, 24, 32]
    """
    fewest, most = LABEL_FEATURES
    return min(max(n_channels, fewest), most)


def coefficient_features(Z: Array, count: int = N_FEATURES, *, n_jobs: int | None = 1) -> Array:
    """Features of the kernel ``|cos(z_s, z_t)|`` between columns of Z: samples represented alike are alike.

    Parameters
    ----------
    Z : array of shape (m, n)
        On the host or on a GPU.
    count : int
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    Y : array of shape (n, p), p <= count
        Columns of mean zero and variance one, most important first; where Z is.

    Examples
    --------
    >>> Z = np.kron(np.eye(2), np.ones((5, 5)))
    >>> coefficient_features(Z).shape
    (10, 1)
    """
    anchors = spread_anchors(Z.shape[1], N_ANCHORS)
    xp = namespace(Z)
    norms = xp.maximum(xp.linalg.norm(Z, axis=0), np.finfo(Z.dtype).tiny)
    directions = Z[:, anchors] / norms[anchors]

    def kernel(some: slice | IntArray) -> Array:
        cosines: Array = xp.abs(Z[:, some].T @ directions)
        cosines /= norms[some][:, None]
        return cosines

    return Components.fit(kernel, Z.shape[1], anchors, count, n_jobs=n_jobs)[1]


@dataclass(frozen=True, eq=False)
class Components:
    """Leading components of kernel PCA on anchors, scaled to variance one.

    Parameters
    ----------
    projection : array of shape (n_anchors, p)
        From values of the kernel to components.
    mean, deviation : arrays of shape (p,)
        Of the components, over the samples that they come from.

    Examples
    --------
    >>> kernel = np.kron(np.eye(2), np.ones((5, 5)))
    >>> components, Y = Components.fit(lambda some: kernel[some], 10, np.arange(10), 3)
    >>> np.allclose(components(kernel), Y)
    True
    """

    projection: Array
    mean: Array
    deviation: Array

    @classmethod
    def fit(
        cls,
        kernel: Callable[[slice | IntArray], Array],
        n_samples: int,
        anchors: IntArray,
        count: int,
        *,
        n_jobs: int | None = 1,
    ) -> tuple[Self, Array]:
        """Find the components on the anchors, and also return them for all samples.

        Parameters
        ----------
        kernel : callable
            From some samples to their kernel with the anchors, on the host or on a GPU.
        n_samples : int
        anchors : array of int, shape (n_anchors,)
        count : int
        n_jobs : int, optional
            Number of threads.

        Returns
        -------
        Components
        Y : array of shape (n, p), p <= count
        """
        of_anchors = kernel(anchors)
        at_anchors = to_host(of_anchors).astype(np.float64)
        means = at_anchors.mean(axis=0)
        centred = at_anchors - means - means[:, None] + means.mean()
        with Team(1):  # BLAS threads wait for each other here: 20 times the work on busy cores
            values, vectors = symmetric_eigenpairs(centred, count)
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = values > MIN_VARIANCE * max(values[0], np.finfo(float).tiny)
        vectors = vectors[:, kept]
        projection = (vectors - vectors.mean(axis=0)).astype(of_anchors.dtype)  # centres rows of the kernel
        xp, on_host = namespace(of_anchors), isinstance(of_anchors, np.ndarray)
        there = xp.asarray(projection)
        blocks = sample_blocks(n_samples) if on_host else sample_blocks(n_samples, DEVICE_BLOCK)
        Y = _map_blocks(lambda block: kernel(block) @ there, blocks, n_jobs if on_host else 1)
        mean = Y.mean(axis=0, dtype=np.float64)
        Y = Y.astype(np.float64) - mean
        deviation = to_host(Y.std(axis=0))
        varies = deviation > np.sqrt(MIN_VARIANCE) * deviation.max(initial=0)
        if not varies.any():  # all samples are equal: one feature that says so
            return cls(np.zeros((len(anchors), 1)), np.zeros(1), np.ones(1)), xp.zeros((n_samples, 1))
        found = cls(projection[:, varies], to_host(mean)[varies], deviation[varies])
        return found, Y[:, np.flatnonzero(varies)] / xp.asarray(deviation[varies])

    def __call__(self, kernel: Array) -> Array:
        """Components of samples, from their kernel with the anchors, of shape (n, n_anchors)."""
        components: Array = ((kernel @ self.projection).astype(np.float64) - self.mean) / self.deviation
        return components


@dataclass(frozen=True, eq=False)
class SampleFeatures:
    """What `sample_features` learns of a recording, so that samples of others get the same features.

    Parameters
    ----------
    exponent : int
        Power of two that samples are divided by.
    noise : float
        Variance of the noise, over all features.
    places, directions : RelativeDistances
        Of the samples and of their directions.
    components : Components

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((3, 50))
    >>> features, Y = SampleFeatures.fit(X, 4)
    >>> np.allclose(features(X), Y)
    True
    """

    exponent: int
    noise: float
    places: RelativeDistances
    directions: RelativeDistances
    components: Components

    @classmethod
    def fit(
        cls,
        X: Array,
        count: int = N_FEATURES,
        *,
        n_anchors: int = N_ANCHORS,
        noise: float | None = None,
        n_jobs: int | None = 1,
    ) -> tuple[Self, Array]:
        """Learn the features of samples (d, n), and also return them, of shape (n, p).

        The noise is that between neighbours, unless it is given because X are only some of the samples.
        """
        anchors = spread_anchors(X.shape[1], n_anchors)
        rounding = float(np.finfo(X.dtype).eps)
        exponent = binary_exponent(X)
        X = np.ldexp(X, -exponent)
        noise = measure_noise(X) if noise is None else noise / 4.0**exponent
        places = RelativeDistances.learn(X, anchors, MIN_DISTANCE, rounding)
        directions = RelativeDistances.learn(_directions(X, noise), anchors, MIN_DISTANCE, rounding)

        def kernel(some: slice | IntArray) -> Array:
            return _kernel(places(X[:, some]), directions(_directions(X[:, some], noise)))

        components, Y = Components.fit(kernel, X.shape[1], anchors, count, n_jobs=n_jobs)
        return cls(exponent, noise, places, directions, components), Y

    def __call__(self, X: Array) -> Array:
        """Features of samples (d, n), of shape (n, p)."""
        return self.components(self.kernel(X))

    def kernel(self, X: Array) -> Array:
        """The kernel of samples (d, n) with the anchors, of shape (n, n_anchors)."""
        X = np.ldexp(X, -self.exponent)
        return _kernel(self.places(X), self.directions(_directions(X, self.noise)))

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything as named arrays, for a file; `from_arrays` reads them."""
        numbers = {"features_exponent": self.exponent, "features_noise": self.noise}
        arrays = {name: np.asarray(number) for name, number in numbers.items()}
        for part in PARTS:
            values = vars(getattr(self, part))
            arrays |= {f"{part}_{name}": np.asarray(value) for name, value in values.items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Make features from the arrays of `to_arrays`."""
        found: dict[str, Any] = {}
        for part, kind in PARTS.items():
            values = {field.name: arrays[f"{part}_{field.name}"] for field in fields(kind)}
            # numbers come back as arrays without a dimension
            found[part] = kind(**{name: v if v.ndim else v.item() for name, v in values.items()})
        return cls(int(arrays["features_exponent"]), float(arrays["features_noise"]), **found)


#: The fields of `SampleFeatures` that hold arrays.
PARTS = {"places": RelativeDistances, "directions": RelativeDistances, "components": Components}


def _map_blocks(function: Callable[[slice], Array], blocks: list[slice], n_jobs: int | None) -> Array:
    """Rows that a function returns for blocks of samples, in order."""
    rows: list[Array] = [np.empty(0)] * len(blocks)

    def work(numbers: range) -> None:
        for number in numbers:
            rows[number] = function(blocks[number])

    with Team(n_jobs) as team:
        team.map(work, len(blocks))
    together: Array = namespace(rows[0]).concatenate(rows)
    return together


def _kernel(places: Array, directions: Array) -> Array:
    """The kernel of two distances; the first array is overwritten."""
    places += directions
    places /= -2
    kernel: Array = np.exp(places, out=places)
    return kernel


def measure_noise(X: Array) -> float:
    """Variance of the noise, over all features.

    Noise of variance v makes neighbouring samples differ by 2 v or more. The median has the fewest changes.

    Examples
    --------
    >>> measure_noise(np.array([[0.0, 2.0, 0.0, 2.0]]))
    2.0
    """
    steps = np.diff(X, axis=1)
    return float(np.median(column_squares(steps))) / 2 if steps.size else 0.0


def _directions(X: Array, noise: float) -> Array:
    """Samples divided by their norm; those that noise hides, being no longer than it, stay short."""
    directions: Array = X / np.sqrt(np.maximum(column_squares(X) + noise, np.finfo(X.dtype).tiny))
    return directions
