"""The null distribution: what spans explain of recordings in which nothing changes.

A surrogate is the recording with the phases of its Fourier transform drawn anew, the same for all features
[Prichard & Theiler 1994]: a stationary process with the same autocorrelation and the same correlation
between features, in which nothing starts or ends. Dividing it into spans explains something too, because
slow motion looks like change, so a change must explain more than that. It must also explain more than in the
same samples shuffled: surrogates are nearly Gaussian, and if samples are not, some spans are always described
better than others.

If samples within a span are independent, surrogates ask too much: the steps between spans turn into slow
motion. But then the evidence alone says how many spans there are, which it never does for slow motion: more
spans describe the recording worse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqspan._core.threads import Team
from seqspan._core.types import Array
from seqspan.cuts.ordered.cost import make_cost
from seqspan.cuts.ordered.search import least_costs

N_SURROGATES = 8
N_SHUFFLES = 4
N_SPANS = 8  # that a recording and its surrogates are divided into
MAX_SAMPLES = 400  # longer recordings are thinned
N_DIRECTIONS = 30  # leading directions of the samples that are kept
SHORTEST = 3  # samples, after thinning
MIN_CHANGE_RATIO = 1.35  # of what spans explain of the recording and of the null: more is a change
MIN_SLOPE = 0.01  # nats per sample and span; of independent samples spans explain nothing at all
MIN_NULL = 0.5  # nats per sample that N_SPANS spans may explain by chance, even if no draw shows it
# A peak of the evidence (docs/ordered_cut.md says what was seen of both kinds):
MAX_SPANS = 12  # up to which the evidence is computed
MIN_SPANS_AFTER_PEAK = 5  # numbers of spans that must be known beyond the peak
MIN_PEAK_HEIGHT = 1.0  # nats per sample that the peak explains beyond any number of spans of shuffled samples
MIN_FALL = 15.0  # nats that each span after the peak costs on average


@dataclass(frozen=True)
class NullComparison:
    """What `N_SPANS` spans explain of a recording and of the null, in nats per sample.

    Parameters
    ----------
    explained : float
        Of the recording.
    by_surrogates : tuple of float
        Of each surrogate.
    by_shuffles : tuple of float
        Of the samples in each random order.
    has_peak : bool
        Whether a small number of spans explains clearly more than larger ones.
    """

    explained: float
    by_surrogates: tuple[float, ...]
    by_shuffles: tuple[float, ...] = ()
    has_peak: bool = False

    @property
    def ratio(self) -> float:
        """How much more the recording explains than the draw of the null that explains most."""
        if self.explained <= 0:
            return 0.0
        return self.explained / max(*self.by_surrogates, *self.by_shuffles, MIN_NULL)

    @property
    def slope(self) -> float:
        """What one more span explains by chance, in nats per sample."""
        return max(float(np.mean(self.by_surrogates)) / (N_SPANS - 1), MIN_SLOPE)

    @property
    def shows_change(self) -> bool:
        """Whether anything changes in the recording."""
        return self.ratio >= MIN_CHANGE_RATIO or self.has_peak


def phase_surrogate(X: Array, rng: np.random.Generator) -> Array:
    """Draw a stationary recording with the spectrum of X.

    Parameters
    ----------
    X : array of shape (d, n)
    rng : numpy.random.Generator

    Returns
    -------
    array of shape (d, n)
        Mean, covariance and circular autocovariances are those of X.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((2, 50)).cumsum(axis=1)
    >>> S = phase_surrogate(X, np.random.default_rng(1))
    >>> bool(np.allclose(np.cov(S), np.cov(X)))
    True
    """
    n = X.shape[1]
    spectrum = np.fft.rfft(X, axis=1)
    phases: Array = rng.uniform(0, 2 * np.pi, size=(spectrum.shape[1],))
    phases[0] = 0  # the mean
    if n % 2 == 0:
        phases[-1] = 0  # the highest frequency of an even number of samples has no phase
    surrogate: Array = np.fft.irfft(spectrum * np.exp(1j * phases), n, axis=1)
    return surrogate


def compare_with_null(X: Array, rng: np.random.Generator, min_length: int = 5) -> NullComparison:
    """Compare what spans explain of a recording with what they explain of its surrogates and shuffles.

    Parameters
    ----------
    X : array of shape (d, n)
    rng : numpy.random.Generator
    min_length : int
        Length of the shortest span, in samples.

    Returns
    -------
    NullComparison

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((10, 200))
    >>> compare_with_null(noise, np.random.default_rng(0)).shows_change
    False
    """
    stride = -(-X.shape[1] // MAX_SAMPLES)
    X = _reduce(X[:, ::stride])
    shortest = min(max(SHORTEST, min_length // stride), X.shape[1])
    with Team(1):  # several threads would mostly wait for each other on matrices this small
        explained = _explained(X, shortest)
        surrogates = [_explained(phase_surrogate(X, rng), shortest) for _ in range(N_SURROGATES)]
        shuffles = [_explained(X[:, rng.permutation(X.shape[1])], shortest) for _ in range(N_SHUFFLES)]
    return NullComparison(
        _by_n_spans(explained),
        tuple(map(_by_n_spans, surrogates)),
        tuple(map(_by_n_spans, shuffles)),
        has_peak(explained - max(float(curve.max()) for curve in shuffles), X.shape[1]),
    )


def has_peak(explained: Array, n_samples: int) -> bool:
    """Whether some number of spans, more than one, is clearly better than more of them.

    Parameters
    ----------
    explained : array of shape (k,)
        What 1, 2, ..., k spans explain beyond chance, in nats per sample.
    n_samples : int

    Returns
    -------
    bool

    Examples
    --------
    >>> rises = np.array([0.0, 2.0, 5.0])
    >>> has_peak(np.append(rises, 5 - 0.2 * np.arange(1, 10)), 100)
    True
    >>> has_peak(np.append(rises, 5 + 0.1 * np.arange(1, 10)), 100)
    False
    """
    best = int(np.argmax(explained))
    n_after = len(explained) - 1 - best
    fall = float(explained[best] - explained[-1]) * n_samples
    high_enough = explained[best] >= MIN_PEAK_HEIGHT
    return bool(high_enough and n_after >= MIN_SPANS_AFTER_PEAK and fall >= MIN_FALL * n_after)


def _by_n_spans(explained: Array) -> float:
    """What N_SPANS spans explain, or as many as there is room for."""
    return float(explained[:N_SPANS][-1])


def _reduce(X: Array) -> Array:
    """Coordinates along the leading directions; distances, all that the kernel sees, hardly change."""
    centred: Array = X.astype(np.float64) - X.mean(axis=1, keepdims=True, dtype=np.float64)
    if min(X.shape) <= N_DIRECTIONS:
        return centred
    left, _, _ = np.linalg.svd(centred, full_matrices=False)
    coordinates: Array = left[:, :N_DIRECTIONS].T @ centred
    return coordinates


def _explained(X: Array, shortest: int) -> Array:
    """Nats per sample that 1, 2, ... spans save against one."""
    C = make_cost(X).span_costs(1, shortest, n_jobs=1)
    costs = least_costs(C, min(MAX_SPANS, X.shape[1] // shortest), shortest)
    explained: Array = (costs[0] - costs) / X.shape[1]
    return explained
