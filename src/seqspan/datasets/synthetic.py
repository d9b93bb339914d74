"""The paper's synthetic data: spans of samples, each drawn from one of several rotated subspaces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqspan._core.types import Array, IntArray

VARIANCE = 0.001  # of a coefficient; the covariance of neighbours in time is half of it


def correlated_coefficients(
    n_rows: int, n_samples: int, *, mean: float = 0.1, rng: np.random.Generator | int | None = None
) -> Array:
    """Draw coefficients Q of samples that are correlated with their neighbours in time.

    The rows are independent Gaussian series with covariance ``C = 0.001 * tridiag(1/2, 1, 1/2)``. The moving
    average ``q_t = mean + sqrt(0.001 / 2) (g_t + g_{t+1})`` of white noise g has exactly this covariance, so
    no matrix has to be factored. C is positive definite for every n: its eigenvalues are
    ``0.001 (1 + cos(pi j / (n + 1)))``.

    Parameters
    ----------
    n_rows : int
        Number of coefficients per sample: the dimension of the subspace.
    n_samples : int
    mean : float
        Mean of every coefficient. The paper does not give it; the authors' code uses 0.1.
    rng : numpy.random.Generator, int or None
        Source of randomness, or a seed for one.

    Returns
    -------
    Q : array of shape (n_rows, n_samples)

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Synthetic Subspace
    Segmentation": the covariance matrix C.

    Examples
    --------
    >>> Q = correlated_coefficients(4, 50_000, rng=0)
    >>> (Q.shape, f"{Q.mean():.2f}", f"{Q.var():.4f}")
    ((4, 50000), '0.10', '0.0010')
    """
    if n_rows < 1 or n_samples < 1:
        raise ValueError(
            f"n_rows and n_samples must be at least 1; got n_rows={n_rows}, n_samples={n_samples}."
        )
    white = np.random.default_rng(rng).standard_normal((n_rows, n_samples + 1))
    Q: Array = mean + np.sqrt(VARIANCE / 2) * (white[:, 1:] + white[:, :-1])
    return Q


def make_subspaces(
    n_subspaces: int = 5,
    dimension: int = 4,
    ambient: int = 100,
    samples_per_subspace: int | Sequence[int] = 20,
    *,
    coefficient_mean: float = 0.1,
    rng: np.random.Generator | int | None = None,
) -> tuple[Array, IntArray]:
    """Draw one span of samples from each of several subspaces, as in the paper's synthetic experiment.

    ``X = [U_1 Q_1, ..., U_k Q_k]`` with a random orthonormal basis ``U_1``, with ``U_{i+1} = T U_i`` for one
    random rotation T, and with ``Q_i`` from ``correlated_coefficients``.

    Parameters
    ----------
    n_subspaces : int
    dimension : int
        Dimension of each subspace.
    ambient : int
        Dimension d of the samples, at least `dimension`.
    samples_per_subspace : int or sequence of int
        One length for all subspaces, or one for each.
    coefficient_mean : float
    rng : numpy.random.Generator, int or None
        Source of randomness, or a seed for one.

    Returns
    -------
    X : array of shape (ambient, n)
        One sample per *column*; estimators take ``X.T``.
    labels : array of int, shape (n,)
        The subspace of each column, 0 to ``n_subspaces - 1``.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Synthetic Subspace
    Segmentation".

    Examples
    --------
    >>> X, labels = make_subspaces(n_subspaces=3, rng=0)
    >>> X.shape, labels[[0, 19, 20, 59]]
    ((100, 60), array([0, 0, 1, 2]))
    """
    if n_subspaces < 1:
        raise ValueError(f"n_subspaces must be at least 1; got {n_subspaces}.")
    return make_recurring_subspaces(
        range(n_subspaces),
        dimension,
        ambient,
        samples_per_subspace,
        coefficient_mean=coefficient_mean,
        rng=rng,
    )


def make_recurring_subspaces(
    order: Sequence[int],
    dimension: int = 4,
    ambient: int = 100,
    samples_per_span: int | Sequence[int] = 20,
    *,
    coefficient_mean: float = 0.1,
    rng: np.random.Generator | int | None = None,
) -> tuple[Array, IntArray]:
    """Draw spans of samples from subspaces that may recur, in a given order.

    Like :func:`make_subspaces`, except that span i lies in subspace ``order[i]``:
    ``X = [U_order[0] Q_0, U_order[1] Q_1, ...]``, with new coefficients ``Q_i`` for each span.

    Parameters
    ----------
    order : sequence of int
        The subspace of each span, counted from 0. There are ``max(order) + 1`` subspaces.
    dimension : int
        Dimension of each subspace.
    ambient : int
        Dimension d of the samples, at least `dimension`.
    samples_per_span : int or sequence of int
        One length for all spans, or one for each.
    coefficient_mean : float
    rng : numpy.random.Generator, int or None
        Source of randomness, or a seed for one.

    Returns
    -------
    X : array of shape (ambient, n)
        One sample per *column*; estimators take ``X.T``.
    labels : array of int, shape (n,)
        The subspace of each column.

    References
    ----------
    Tierney, Guo & Gao, Segmentation of Subspaces in Sequential Data, "Synthetic Subspace
    Segmentation". Recurring subspaces are what its section "Segmentation" leaves to spectral clustering.

    Examples
    --------
    >>> X, labels = make_recurring_subspaces((0, 1, 0, 2), samples_per_span=2, rng=0)
    >>> labels
    array([0, 0, 1, 1, 0, 0, 2, 2])
    """
    _check_order(order, dimension, ambient)
    lengths = _span_lengths(samples_per_span, len(order))
    rng = np.random.default_rng(rng)
    bases = _rotated_bases(max(order) + 1, dimension, ambient, rng)
    spans = [
        bases[subspace] @ correlated_coefficients(dimension, length, mean=coefficient_mean, rng=rng)
        for subspace, length in zip(order, lengths, strict=True)
    ]
    return np.hstack(spans), np.repeat(np.asarray(order, dtype=np.intp), lengths)


def _check_order(order: Sequence[int], dimension: int, ambient: int) -> None:
    """Refuse an empty or negative order, and subspaces of too high a dimension."""
    if len(order) == 0 or min(order) < 0:
        raise ValueError(f"order must name at least one subspace, counted from 0; got {list(order)}.")
    if not 1 <= dimension <= ambient:
        raise ValueError(f"dimension must be in [1, {ambient}] for ambient={ambient}; got {dimension}.")


def _span_lengths(samples: int | Sequence[int], n_spans: int) -> list[int]:
    """Return one positive length per span."""
    lengths = [samples] * n_spans if isinstance(samples, int | np.integer) else list(samples)
    if len(lengths) != n_spans or min(lengths) < 1:
        raise ValueError(
            f"the number of samples must be a positive int, or {n_spans} of them for {n_spans} spans; "
            f"got {samples}."
        )
    return lengths


def _rotated_bases(count: int, dimension: int, ambient: int, rng: np.random.Generator) -> list[Array]:
    """Draw an orthonormal basis U_1 and a rotation T; return U_1, T U_1, T^2 U_1, and so on."""
    bases = [np.linalg.qr(rng.standard_normal((ambient, dimension)))[0]]
    if count > 1:  # drawing T takes O(ambient^3) time
        rotation = _draw_rotation(ambient, rng)
        for _ in range(count - 1):
            bases.append(rotation @ bases[-1])
    return bases


def _draw_rotation(dimension: int, rng: np.random.Generator) -> Array:
    """Draw a rotation, all being equally likely [Mezzadri 2007].

    Rotations of ``scipy.stats`` are others for the same seed if SciPy is, and nobody could repeat a figure.
    """
    Q, R = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    Q *= np.sign(R.diagonal())  # without, signs would be LAPACK's choice
    Q[0] /= np.linalg.det(Q)
    return Q
