"""Smooth recordings that resemble motion capture: periodic activities, one flowing into the next."""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray

FRAMES_PER_SECOND = 120
HARMONICS = 3
BLEND_SECONDS = 0.25


def make_motion(
    n_samples: int = 2000,
    n_features: int = 62,
    *,
    n_activities: int = 4,
    span_seconds: float = 4.0,
    noise: float = 0.2,
    rng: np.random.Generator | int | None = None,
) -> tuple[Array, IntArray]:
    """Draw joint angles of a person who repeats a few activities at 120 frames per second.

    An activity is a posture plus a motion of its own frequency around 1 Hz, with a few harmonics per
    joint. Activities follow each other in random order and blend within a quarter of a second.

    Parameters
    ----------
    n_samples, n_features : int
    n_activities : int
    span_seconds : float
        Mean length of a span; each is between half and one and a half times as long.
    noise : float
        Standard deviation of the measurement, in degrees.
    rng : numpy.random.Generator, int or None

    Returns
    -------
    X : array of shape (n_features, n_samples)
        Angles in degrees, one frame per column.
    labels : array of int, shape (n_samples,)

    Examples
    --------
    >>> X, labels = make_motion(600, rng=0)
    >>> X.shape, len(set(labels.tolist())) <= 4
    ((62, 600), True)
    """
    rng = np.random.default_rng(rng)
    labels = _activity_sequence(n_samples, n_activities, span_seconds * FRAMES_PER_SECOND, rng)
    weights = _blended_indicators(labels, n_activities)
    seconds = np.arange(n_samples) / FRAMES_PER_SECOND
    motions = [_activity(seconds, n_features, rng) for _ in range(n_activities)]
    X = sum(weight * motion for weight, motion in zip(weights, motions, strict=True))
    return np.asarray(X + noise * rng.standard_normal((n_features, n_samples))), labels


def _activity_sequence(n_samples: int, n_activities: int, mean: float, rng: np.random.Generator) -> IntArray:
    """Label samples span by span; neighbours in time differ."""
    labels: list[int] = []
    while len(labels) < n_samples:
        others = [k for k in range(n_activities) if not labels or n_activities == 1 or k != labels[-1]]
        length = int(np.ceil(mean * rng.uniform(0.5, 1.5)))
        labels += [int(rng.choice(others))] * length
    return np.array(labels[:n_samples], dtype=np.intp)


def _blended_indicators(labels: IntArray, n_activities: int) -> Array:
    """How much of every activity there is at every time: smooth over the blend, summing to one."""
    width = int(BLEND_SECONDS * FRAMES_PER_SECOND)
    window = np.hanning(width + 2)[1:-1]
    indicators = (labels == np.arange(n_activities)[:, None]).astype(float)
    padded = np.pad(indicators, ((0, 0), (width // 2, width - 1 - width // 2)), mode="edge")
    return np.stack([np.convolve(row, window / window.sum(), mode="valid") for row in padded])


def _activity(seconds: Array, n_features: int, rng: np.random.Generator) -> Array:
    """A posture and a periodic motion around it, some joints moving more than others."""
    posture = 20 * rng.standard_normal((n_features, 1))
    amplitude = 15 * rng.exponential(size=(n_features, 1))
    phase = 2 * np.pi * rng.uniform(0.6, 1.6) * seconds
    motion = np.zeros((n_features, seconds.size))
    for harmonic in range(1, HARMONICS + 1):
        mix = rng.standard_normal((n_features, 2)) / harmonic
        motion += mix[:, :1] * np.sin(harmonic * phase) + mix[:, 1:] * np.cos(harmonic * phase)
    return np.asarray(posture + amplitude * motion)
