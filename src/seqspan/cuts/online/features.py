"""Features of samples that arrive later: those of the ordered cut, on anchors that were chosen before.

The kernel is that of :func:`seqspan.cuts.ordered.features.sample_features`. With samples and their directions
side by side, it is one Gaussian kernel ``exp(-|w - a|^2 / 2)`` of wider samples w, which takes one product
with the anchors a.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from seqspan._core.eigen import symmetric_eigenpairs
from seqspan._core.kernels import median_distance, spread_anchors, squared_distances
from seqspan._core.scaling import binary_exponent
from seqspan._core.threads import Team
from seqspan._core.types import Array
from seqspan.cuts.ordered.features import MIN_DISTANCE, MIN_VARIANCE
from seqspan.cuts.ordered.n_spans import FEATURE_COUNTS, N_ANCHORS

CHUNK = 1024  # samples whose kernel values are held at once


@dataclass(frozen=True, eq=False)
class AnchorFeatures:
    """A map from samples to the leading components of kernel PCA on anchors.

    Parameters
    ----------
    unit : float
        Power of two by which samples are divided, so that squares stay within range.
    noise : float
        Half the median squared step from one sample to the next: samples no longer than it have no direction.
    means : array of shape (2, d)
        Of samples and of directions; subtracting them changes no distance and saves digits.
    widths : array of shape (2,)
        Median squared distances.
    anchors : array of shape (m, 2 d)
    directions : array of shape (m, p)
    offsets : array of shape (p,)

    Examples
    --------
    >>> rows = np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=0)
    >>> AnchorFeatures.fit(rows, 8)(rows).shape
    (10, 1)
    """

    unit: float
    noise: float
    means: Array
    widths: Array
    anchors: Array
    directions: Array
    offsets: Array

    @classmethod
    def fit(cls, rows: Array, count: int = max(FEATURE_COUNTS), *, n_anchors: int = N_ANCHORS) -> Self:
        """Choose anchors spread evenly over the rows, and scale features to variance one."""
        unit = float(np.ldexp(1.0, binary_exponent(rows)))
        steps = np.diff(rows / unit, axis=0)
        noise = float(np.median(np.einsum("ij,ij->i", steps, steps))) / 2 if len(steps) else 0.0
        some = rows[spread_anchors(len(rows), n_anchors)] / unit
        views = some, _directions(some, noise)
        between = [squared_distances(view.T, np.arange(len(some))) for view in views]
        everything = np.arange(len(some))
        widths = np.array([median_distance(each, everything, MIN_DISTANCE) for each in between])
        means = np.stack([view.mean(axis=0) for view in views])
        empty = np.empty(0)
        plain = cls(unit, noise, means, widths, _wide(views, means, widths), empty, empty)
        return plain._with_components(rows, count)

    def _with_components(self, rows: Array, count: int) -> Self:
        """Add the directions of the leading components, scaled to variance one over the rows."""
        kernel = _gaussian(self.anchors, self.anchors).astype(np.float64)
        means = kernel.mean(axis=0)
        with Team(1):  # BLAS threads wait for each other here
            values, vectors = symmetric_eigenpairs(kernel - means - means[:, None] + means.mean(), count)
        vectors = vectors[:, ::-1][:, values[::-1] > MIN_VARIANCE * max(values[-1], np.finfo(float).tiny)]
        vectors = vectors - vectors.mean(axis=0)
        rough = type(self)(
            self.unit, self.noise, self.means, self.widths, self.anchors, vectors, np.zeros(vectors.shape[1])
        )
        Y = rough(rows)
        deviations = Y.std(axis=0)
        varies = deviations > np.sqrt(MIN_VARIANCE) * deviations.max(initial=0)
        if not varies.any():
            vectors, Y, deviations, varies = np.zeros((len(kernel), 1)), np.zeros((1, 1)), np.ones(1), [True]
        scaled = vectors[:, varies] / deviations[varies]
        offsets = Y.mean(axis=0)[varies] / deviations[varies]
        return type(self)(
            self.unit, self.noise, self.means, self.widths, self.anchors, scaled.astype(np.float32), offsets
        )

    def __call__(self, rows: Array) -> Array:
        """Features of rows: (n, p)."""
        parts = [self._features(rows[start : start + CHUNK]) for start in range(0, len(rows), CHUNK)]
        return np.concatenate(parts) if parts else np.empty((0, len(self.offsets)))

    def _features(self, rows: Array) -> Array:
        scaled = rows / self.unit
        wide = _wide((scaled, _directions(scaled, self.noise)), self.means, self.widths)
        values: Array = _gaussian(wide, self.anchors) @ self.directions
        return values.astype(np.float64) - self.offsets

    def arrays(self) -> dict[str, Array]:
        """All of it as arrays, for a checkpoint."""
        return {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Make it again from its arrays."""
        rest = {name: values for name, values in arrays.items() if name not in ("unit", "noise")}
        return cls(float(arrays["unit"]), float(arrays["noise"]), **rest)


def _directions(rows: Array, noise: float) -> Array:
    """Samples divided by their norm; those that noise hides stay short."""
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", rows, rows) + noise, np.finfo(rows.dtype).tiny))
    directions: Array = rows / lengths[:, None]
    return directions


def _wide(views: tuple[Array, Array], means: Array, widths: Array) -> Array:
    """Samples beside their directions, in units of the median distances, in single precision."""
    parts = [(view - mean) / np.sqrt(width) for view, mean, width in zip(views, means, widths, strict=True)]
    return np.concatenate(parts, axis=1).astype(np.float32)


def _gaussian(wide: Array, anchors: Array) -> Array:
    """Values of the kernel between samples and anchors."""
    values = wide @ anchors.T
    values -= np.einsum("ij,ij->i", anchors, anchors) / 2
    values -= np.einsum("ij,ij->i", wide, wide)[:, None] / 2
    kernel: Array = np.exp(np.minimum(values, 0, out=values), out=values)
    return kernel
