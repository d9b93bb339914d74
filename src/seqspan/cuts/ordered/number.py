"""What a sequence without any change would look like: surrogates with the same spectrum.

A surrogate is the sequence with the phases of its Fourier transform drawn anew, the same for all
features [Prichard & Theiler 1994]: a stationary process with the same autocorrelation and the same
correlation between features, and nothing that begins or ends. Splitting it explains something too,
because slow motion looks like change; a change is worth reporting if it explains more than that. It must
also explain more than in the same samples in random order: surrogates are nearly Gaussian, and of samples
that are not, some spans are always described better than others.

Where samples within a span are independent, surrogates ask too much: the jumps between spans make them slow
motion. But then the evidence says by itself how many spans there are, as slow motion never does: more spans
than that describe the sequence worse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqspan._core.threads import Team
from seqspan._core.types import Array
from seqspan.cuts.ordered.cost import Evidence
from seqspan.cuts.ordered.features import sample_features
from seqspan.cuts.ordered.search import best_costs

N_SURROGATES = 8
N_SHUFFLES = 4
N_SPANS = 8  # into which a sequence and its surrogates are divided
N_SAMPLES = 400  # that are looked at; longer sequences are thinned
LEAST_SLOPE = 0.01  # nats per sample; where samples are independent, chance explains nothing at all
LEAST_CHANCE = 0.5  # nats per sample that N_SPANS spans are always granted; a few draws may miss them
# Of a peak of the evidence (docs/ordered_cut.md says what was seen of either kind):
N_LOOKED_AT = 12  # spans up to which the evidence is followed
LEAST_BEYOND = 5  # numbers of spans that follow the peak
LEAST_HEIGHT = 1.0  # nats per sample that the peak explains beyond what any spans do in random order
LEAST_FALL = 15.0  # nats that each span beyond it costs, in the mean


@dataclass(frozen=True)
class Stationarity:
    """What dividing a sequence in `N_SPANS` explains, in nats per sample, and what it explains of surrogates.

    Parameters
    ----------
    explained : float
    by_chance : tuple of float
        The same for each surrogate.
    shuffled : tuple of float
        The same of the samples in random orders.
    has_peak : bool
        Whether a small number of spans explains clearly more than larger ones.
    """

    explained: float
    by_chance: tuple[float, ...]
    shuffled: tuple[float, ...] = ()
    has_peak: bool = False

    @property
    def ratio(self) -> float:
        """How much more is explained than in what explains most without a change; 0 if nothing is."""
        if self.explained <= 0:
            return 0.0
        return self.explained / max(*self.by_chance, *self.shuffled, LEAST_CHANCE)

    @property
    def slope(self) -> float:
        """What one more span explains by chance, in nats per sample."""
        return max(float(np.mean(self.by_chance)) / (N_SPANS - 1), LEAST_SLOPE)


def phase_surrogate(X: Array, rng: np.random.Generator) -> Array:
    """Draw a stationary sequence with the spectrum of X.

    Parameters
    ----------
    X : array of shape (d, n)
    rng : numpy.random.Generator

    Returns
    -------
    array of shape (d, n)
        Its mean, its covariance and its circular autocovariances are those of X.

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


def measure_stationarity(X: Array, rng: np.random.Generator, min_length: int = 5) -> Stationarity:
    """Compare what spans explain in a sequence with what they explain in its surrogates.

    Parameters
    ----------
    X : array of shape (d, n)
    rng : numpy.random.Generator
    min_length : int

    Returns
    -------
    Stationarity

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((10, 200))
    >>> bool(measure_stationarity(noise, np.random.default_rng(0)).ratio < 1.4)
    True
    """
    stride = -(-X.shape[1] // N_SAMPLES)
    X = _reduce(X[:, ::stride])
    shortest = min(max(3, min_length // stride), X.shape[1])
    with Team(1):  # several threads for such small matrices would mostly wait for each other
        explained = _explained(X, shortest)
        by_chance = [_explained(phase_surrogate(X, rng), shortest) for _ in range(N_SURROGATES)]
        shuffled = [_explained(X[:, rng.permutation(X.shape[1])], shortest) for _ in range(N_SHUFFLES)]
    return Stationarity(
        _of_n_spans(explained),
        tuple(map(_of_n_spans, by_chance)),
        tuple(map(_of_n_spans, shuffled)),
        has_peak(explained - max(float(curve.max()) for curve in shuffled), X.shape[1]),
    )


def _of_n_spans(explained: Array) -> float:
    """What N_SPANS spans explain, or as many as there is room for."""
    return float(explained[:N_SPANS][-1])


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
    beyond = len(explained) - 1 - best
    fall = float(explained[best] - explained[-1]) * n_samples
    high_enough = explained[best] >= LEAST_HEIGHT
    return bool(high_enough and beyond >= LEAST_BEYOND and fall >= LEAST_FALL * beyond)


def _reduce(X: Array, n_directions: int = 30) -> Array:
    """Coordinates along the leading directions: distances, all that the kernel sees, hardly change."""
    centred: Array = X.astype(np.float64) - X.mean(axis=1, keepdims=True, dtype=np.float64)
    if min(X.shape) <= n_directions:
        return centred
    left, _, _ = np.linalg.svd(centred, full_matrices=False)
    coordinates: Array = left[:, :n_directions].T @ centred
    return coordinates


def _explained(X: Array, shortest: int) -> Array:
    """Nats per sample that 1, 2, ... spans save against one."""
    C = Evidence([sample_features(X)]).span_costs(1, shortest, n_threads=1)
    costs = best_costs(C, min(N_LOOKED_AT, X.shape[1] // shortest), shortest)
    explained: Array = (costs[0] - costs) / X.shape[1]
    return explained
