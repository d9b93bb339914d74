"""A few features per sample that say what a kernel says: the leading components of kernel PCA.

There are two views: what a sample looks like, and what represents it. Up to `N_ANCHORS` samples the
components are exact; of more, that many anchors spread evenly in time span the space.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.eigen import symmetric_eigenpairs
from seqspan._core.kernels import relative_distances, spread_anchors
from seqspan._core.scaling import binary_exponent
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray

N_FEATURES = 16  # of each view
N_ANCHORS = 1000  # samples
MIN_VARIANCE = 1e-7  # of the first component's; components below are rounding
MIN_DISTANCE = 1e-7  # squared, of the largest; closer samples are the same


def sample_features(X: Array, count: int = N_FEATURES, *, n_anchors: int = N_ANCHORS) -> Array:
    """Features of a kernel that compares samples by what they are and by their direction.

    The kernel is ``exp(-(a + b) / 2)``: a is the squared distance of two samples and b that of their
    directions, each divided by its median. Loudness tells a syllable from silence, and a mineral has the same
    direction in light and in shadow.

    Parameters
    ----------
    X : array of shape (d, n)
    count : int
    n_anchors : int
        Number of samples that span the space.

    Returns
    -------
    Y : array of shape (n, p), p <= count
        Columns of mean zero and variance one, most important first.

    Examples
    --------
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=1)
    >>> sample_features(X).shape
    (10, 1)
    """
    anchors = spread_anchors(X.shape[1], n_anchors)
    rounding = float(np.finfo(X.dtype).eps)
    distances = relative_distances(X, anchors, MIN_DISTANCE, rounding)
    distances += relative_distances(_directions(X), anchors, MIN_DISTANCE, rounding)
    distances /= -2
    return _components(np.exp(distances, out=distances), anchors, count)


def coefficient_features(Z: Array, count: int = N_FEATURES) -> Array:
    """Features of the kernel ``|cos(z_s, z_t)|`` between columns of Z: samples represented alike are alike.

    Parameters
    ----------
    Z : array of shape (m, n)
    count : int

    Returns
    -------
    Y : array of shape (n, p), p <= count
        Columns of mean zero and variance one, most important first.

    Examples
    --------
    >>> Z = np.kron(np.eye(2), np.ones((5, 5)))
    >>> coefficient_features(Z).shape
    (10, 1)
    """
    anchors = spread_anchors(Z.shape[1], N_ANCHORS)
    norms = np.maximum(np.linalg.norm(Z, axis=0), np.finfo(Z.dtype).tiny)
    kernel = np.abs(Z.T @ (Z[:, anchors] / norms[anchors])) / norms[:, None]
    return _components(kernel, anchors, count)


def _directions(X: Array) -> Array:
    """Samples divided by their norm; those that noise hides, because they are no longer than it, stay short.

    Noise of variance v makes neighbouring samples differ by 2 v or more. The median has the fewest changes.
    """
    X = np.ldexp(X, -binary_exponent(X))
    steps = np.diff(X, axis=1)
    noise = np.median(np.einsum("ij,ij->j", steps, steps)) / 2 if steps.size else 0
    directions: Array = X / np.sqrt(np.maximum(np.einsum("ij,ij->j", X, X) + noise, np.finfo(X.dtype).tiny))
    return directions


def _components(kernel: Array, anchors: IntArray, count: int) -> Array:
    """Leading components of kernel PCA on the anchors, extended to all samples and scaled to variance one.

    Parameters
    ----------
    kernel : array of shape (n, n_anchors)
    """
    at_anchors = kernel[anchors].astype(np.float64)
    means = at_anchors.mean(axis=0)
    centred = at_anchors - means - means[:, None] + means.mean()
    with Team(1):  # BLAS threads wait for each other here: 20 times the work on busy cores
        values, vectors = symmetric_eigenpairs(centred, count)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > MIN_VARIANCE * max(values[0], np.finfo(float).tiny)
    Y = (kernel - kernel.mean(axis=1, keepdims=True)) @ vectors[:, kept].astype(kernel.dtype)
    Y = Y.astype(np.float64) - Y.mean(axis=0, dtype=np.float64)
    deviation = Y.std(axis=0)
    varies = deviation > np.sqrt(MIN_VARIANCE) * deviation.max(initial=0)
    features: Array = Y[:, varies] / deviation[varies]
    return features if features.shape[1] else np.zeros((len(kernel), 1))
