"""Smooth data that resemble motion capture: periodic activities that blend into each other."""

from __future__ import annotations

import numpy as np

from seqspan._core.types import Array, IntArray

FRAMES_PER_SECOND = 120
N_HARMONICS = 3  # of the frequency of an activity
BLEND_SECONDS = 0.25  # from one activity to the next
FREQUENCIES = (0.6, 1.6)  # lowest and highest of an activity, in Hz
POSTURE_DEGREES = 20.0  # standard deviation of a joint's angle at rest
MOTION_DEGREES = 15.0  # mean amplitude of a joint


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

    An activity is a posture plus a periodic motion with its own frequency near 1 Hz and a few harmonics per
    joint. Activities follow each other in random order and blend over a quarter of a second.

    Parameters
    ----------
    n_samples, n_features : int
    n_activities : int
    span_seconds : float
        Mean length of a span; lengths vary from half to one and a half times this.
    noise : float
        Standard deviation of the measurement noise, in degrees.
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
    labels = _draw_labels(n_samples, n_activities, span_seconds * FRAMES_PER_SECOND, rng)
    weights = _blend_weights(labels, n_activities)
    seconds = np.arange(n_samples) / FRAMES_PER_SECOND
    motions = [_draw_activity(seconds, n_features, rng) for _ in range(n_activities)]
    X = sum(weight * motion for weight, motion in zip(weights, motions, strict=True))
    return np.asarray(X + noise * rng.standard_normal((n_features, n_samples))), labels


def _draw_labels(n_samples: int, n_activities: int, mean: float, rng: np.random.Generator) -> IntArray:
    """Draw labels span by span; neighbouring spans have different labels."""
    labels: list[int] = []
    while len(labels) < n_samples:
        others = [k for k in range(n_activities) if not labels or n_activities == 1 or k != labels[-1]]
        length = int(np.ceil(mean * rng.uniform(0.5, 1.5)))
        labels += [int(rng.choice(others))] * length
    return np.array(labels[:n_samples], dtype=np.intp)


def _blend_weights(labels: IntArray, n_activities: int) -> Array:
    """Return the weight of each activity at each time: smooth where they blend, summing to one."""
    width = int(BLEND_SECONDS * FRAMES_PER_SECOND)
    window = np.hanning(width + 2)[1:-1]
    indicators = (labels == np.arange(n_activities)[:, None]).astype(float)
    padded = np.pad(indicators, ((0, 0), (width // 2, width - 1 - width // 2)), mode="edge")
    return np.stack([np.convolve(row, window / window.sum(), mode="valid") for row in padded])


def _draw_activity(seconds: Array, n_features: int, rng: np.random.Generator) -> Array:
    """Draw a posture and a periodic motion around it; some joints move more than others."""
    posture = POSTURE_DEGREES * rng.standard_normal((n_features, 1))
    amplitude = MOTION_DEGREES * rng.exponential(size=(n_features, 1))
    phase = 2 * np.pi * rng.uniform(*FREQUENCIES) * seconds
    motion = np.zeros((n_features, seconds.size))
    for harmonic in range(1, N_HARMONICS + 1):
        mix = rng.standard_normal((n_features, 2)) / harmonic
        motion += mix[:, :1] * np.sin(harmonic * phase) + mix[:, 1:] * np.cos(harmonic * phase)
    return np.asarray(posture + amplitude * motion)
