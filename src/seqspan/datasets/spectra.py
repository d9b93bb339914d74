"""The paper's semi-synthetic data: each span mixes a few spectra of a library."""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.datasets.synthetic import correlated_coefficients


def make_spectra(
    library: Array,
    n_subspaces: int = 5,
    spectra_per_subspace: int = 5,
    samples_per_subspace: int = 20,
    *,
    coefficient_mean: float = 0.1,
    rng: np.random.Generator | int | None = None,
) -> tuple[Array, IntArray]:
    """Mix spectra of a library, as minerals mix in the layers of a drill core.

    ``X = [U_1 Q_1, ..., U_k Q_k]``: the columns of ``U_i`` are distinct spectra drawn at random from the
    library, and ``Q_i`` comes from ``correlated_coefficients``, as for the synthetic
    data.

    Parameters
    ----------
    library : array of shape (n_bands, n_spectra)
        One pure spectrum per column.
    n_subspaces : int
    spectra_per_subspace : int
        At most n_spectra.
    samples_per_subspace : int
    coefficient_mean : float
    rng : numpy.random.Generator, int or None
        Source of randomness, or a seed for one.

    Returns
    -------
    X : array of shape (n_bands, n)
        One sample per *column*; estimators take ``X.T``.
    labels : array of int, shape (n,)
        The subspace of each column, 0 to ``n_subspaces - 1``.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Semi-Synthetic Experiment".

    Examples
    --------
    >>> library = np.random.default_rng(0).random((321, 120))
    >>> X, labels = make_spectra(library, rng=0)
    >>> X.shape, np.bincount(labels)
    ((321, 100), array([20, 20, 20, 20, 20]))
    """
    if library.ndim != 2 or not np.isfinite(library).all():
        raise ValueError(f"library must be a finite matrix (n_bands, n_spectra); got shape {library.shape}.")
    n_spectra = library.shape[1]
    if not 1 <= spectra_per_subspace <= n_spectra:
        raise ValueError(
            f"spectra_per_subspace must be in [1, {n_spectra}] for {n_spectra} spectra; "
            f"got {spectra_per_subspace}."
        )
    if n_subspaces < 1 or samples_per_subspace < 1:
        raise ValueError(
            f"n_subspaces and samples_per_subspace must be at least 1; "
            f"got {n_subspaces} and {samples_per_subspace}."
        )
    random = np.random.default_rng(rng)
    spans = []
    for _ in range(n_subspaces):
        U = library[:, random.choice(n_spectra, spectra_per_subspace, replace=False)]
        Q = correlated_coefficients(
            spectra_per_subspace, samples_per_subspace, mean=coefficient_mean, rng=random
        )
        spans.append(U @ Q)
    return np.hstack(spans), np.repeat(np.arange(n_subspaces), samples_per_subspace)
