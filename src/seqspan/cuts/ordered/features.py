"""A few features of every sample that say what a kernel says: leading components of kernel PCA.

Kernels compare samples to `N_ANCHORS` of them spread evenly in time, so that no n x n kernel is ever
formed; with no more samples than anchors the components are exact.
"""

from __future__ import annotations

import numpy as np

from seqspan._core.eigen import symmetric_eigenpairs
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray

N_FEATURES = 20
N_ANCHORS = 1000
NEGLIGIBLE = 1e-7  # of the first component's variance; what is smaller is rounding


def sample_features(X: Array, count: int = N_FEATURES) -> Array:
    """Features of the kernel ``exp(-||x_s - x_t||^2 / m)``, with m the median squared distance.

    Parameters
    ----------
    X : array of shape (d, n)
    count : int

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
    X = X - X.mean(axis=1, keepdims=True)  # distances stay, and lose fewer digits where X is far from 0
    anchors = _anchors(X.shape[1])
    squares = np.einsum("ij,ij->j", X, X)
    distances = squares[:, None] + squares[anchors] - 2 * (X.T @ X[:, anchors])
    np.maximum(distances, 0, out=distances)
    between = distances[anchors][np.triu_indices(len(anchors), 1)]
    positive = between[between > NEGLIGIBLE * max(float(between.max(initial=0)), np.finfo(float).tiny)]
    scale = float(np.median(positive)) if len(positive) else 1.0
    return _components(np.exp(-distances / scale), anchors, count)


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
    anchors = _anchors(Z.shape[1])
    norms = np.maximum(np.linalg.norm(Z, axis=0), np.finfo(Z.dtype).tiny)
    kernel = np.abs(Z.T @ (Z[:, anchors] / norms[anchors])) / norms[:, None]
    return _components(kernel, anchors, count)


def _anchors(n_samples: int) -> IntArray:
    """Samples spread evenly in time."""
    return np.unique(np.linspace(0, n_samples - 1, min(n_samples, N_ANCHORS)).round().astype(np.intp))


def _components(kernel: Array, anchors: IntArray, count: int) -> Array:
    """Leading components of kernel PCA on the anchors, continued to all samples and scaled to variance one.

    Parameters
    ----------
    kernel : array of shape (n, n_anchors)
    """
    at_anchors = kernel[anchors].astype(np.float64)
    columns = at_anchors.mean(axis=0)
    centred = at_anchors - columns - columns[:, None] + columns.mean()
    with Team(1):  # the threads of BLAS wait for each other here: 20 times the work on busy cores
        values, vectors = symmetric_eigenpairs(centred, count)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > NEGLIGIBLE * max(values[0], np.finfo(float).tiny)
    Y = (kernel - kernel.mean(axis=1, keepdims=True)) @ vectors[:, kept].astype(kernel.dtype)
    Y = Y.astype(np.float64) - Y.mean(axis=0, dtype=np.float64)
    deviation = Y.std(axis=0)
    varies = deviation > np.sqrt(NEGLIGIBLE) * deviation.max(initial=0)
    features: Array = Y[:, varies] / deviation[varies]
    return features if features.shape[1] else np.zeros((len(kernel), 1))
