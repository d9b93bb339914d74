"""What tells labels apart: the features that differ most between them, summarised over blocks of time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import to_host
from seqspan._core.text import printable
from seqspan._core.types import Array, IntArray
from seqspan.preprocess._statistics import column_deviations, column_means
from seqspan.recording import Recording, SpectrumView

MAX_CHANNELS = 6  # features that are drawn
MAX_POINTS = 2000  # blocks in time; a wide screen has about as many pixels
MAX_RANKED = 20_000  # samples by which features are ranked
MAX_BLOCKS = 400  # blocks of samples whose spectra are averaged
MAX_BANDS = 160  # wavelengths per spectrum
N_TELLING_BANDS = 3  # wavelengths that are pointed out
STEPS = 999  # values of spectra in the page are integers from 0 to this


def label_information(X: Array, labels: IntArray) -> Array:
    r"""How much the label of a sample tells about each of its features, in nats per sample.

    ``log s - sum_k p_k log s_k``, with s the standard deviation of the feature, s_k that within label k, and
    p_k the share of its samples: the mutual information if the feature is Gaussian, also within each label.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    labels : array of int, shape (n_samples,)

    Returns
    -------
    information : array of shape (n_features,)
        Zero for constant features.

    Examples
    --------
    >>> t = np.arange(100.0)
    >>> X = np.stack([np.cos(t), np.cos(t) + 5 * (t < 50), np.cos(t) * (1 + 5 * (t < 50))], axis=1)
    >>> label_information(X, (t < 50).astype(int)).round(1)
    array([0. , 1.2, 0.5])
    """
    deviations = column_deviations(X)
    Y = (X - column_means(X)) / np.where(deviations > 0, deviations, 1)
    counts, _, squares = label_moments(Y, labels)
    variances = (squares + 1) / (counts + 1)  # one sample of the whole recording, so that none is zero
    information: Array = -np.sum(counts * np.log(variances), axis=0) / (2 * len(labels))
    return np.where(deviations > 0, np.maximum(information, 0), 0)


def label_moments(Y: Array, labels: IntArray) -> tuple[Array, Array, Array]:
    """Number of samples (k, 1), means (k, p) and squared deviations from them (k, p) of each label.

    Examples
    --------
    >>> label_moments(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1]))[1:]
    (array([[2.],
           [7.]]), array([[2.],
           [0.]]))
    """
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=labels.min(initial=0) - 1))
    counts = np.diff(np.append(starts, len(labels)))[:, None]
    means = np.add.reduceat(Y[order], starts, axis=0) / counts
    squares = np.add.reduceat((Y[order] - np.repeat(means, counts[:, 0], axis=0)) ** 2, starts, axis=0)
    return counts, means, squares


def rank_features(X: npt.NDArray[Any], labels: IntArray) -> IntArray:
    """Features in the order of what the label tells about them; in their own order if there is one label."""
    if len(np.unique(labels)) < 2:
        return np.arange(X.shape[1])
    step = -(-len(X) // MAX_RANKED)
    information = label_information(X[::step].astype(float), labels[::step])
    return np.argsort(-information, kind="stable")


def describe_channels(recording: Recording, labels: IntArray) -> dict[str, Any]:
    """The features that tell the labels apart best, as means and ranges of blocks of samples.

    Values are counted in standard deviations from the mean; ``zero`` and ``unit`` are these two in the units
    of the recording. Blocks may be longer than spans, so the means within labels are there as well.
    """
    X = to_host(recording.X)
    chosen = rank_features(X, labels)[:MAX_CHANNELS]
    values = X[:, chosen].astype(float)
    zeros, units = column_means(values), column_deviations(values)
    Y = (values - zeros) / np.where(units > 0, units, 1)
    size = -(-len(Y) // MAX_POINTS)
    starts = np.arange(0, len(Y), size)
    counts = np.diff(np.append(starts, len(Y)))[:, None]
    summaries = {
        "means": np.add.reduceat(Y, starts) / counts,
        "squares": np.add.reduceat(Y**2, starts) / counts,
        "lows": np.minimum.reduceat(Y, starts),
        "highs": np.maximum.reduceat(Y, starts),
    }
    if size == 1:
        summaries = {"means": Y}
    counts, means, squares = label_moments(Y, labels)
    found = {"labelMeans": means, "labelSpreads": np.sqrt(squares / counts)}
    channels = [
        {"name": printable(recording.feature_names[feature]), "zero": float(zero), "unit": float(unit)}
        | {name: _short(summary[:, place]) for name, summary in (summaries | found).items()}
        for place, (feature, zero, unit) in enumerate(zip(chosen, zeros, units, strict=True))
    ]
    return {"kind": "channels", "size": size, "total": X.shape[1], "channels": channels}


def _short(values: Array) -> list[float]:
    """Numbers with four significant digits."""
    return [float(f"{value:.4g}") for value in values]


def describe_spectra(view: SpectrumView, labels: IntArray) -> dict[str, Any]:
    """Mean spectra of blocks of samples, which the page averages, and the wavelengths that tell most."""
    size = -(-len(view.spectra) // MAX_BLOCKS)
    starts = np.arange(0, len(view.spectra), size)
    bands = np.unique(np.linspace(0, len(view.wavelengths) - 1, MAX_BANDS).astype(int))
    shown = view.spectra[:, bands].astype(float)
    means = np.add.reduceat(shown, starts, axis=0) / np.diff(np.append(starts, len(shown)))[:, None]
    low, high = float(means.min()), float(means.max())

    def digits(spectra: Array) -> list[list[int]]:
        parts = (spectra - low) / ((high - low) or 1.0)
        return np.round(parts * STEPS).astype(int).tolist()  # type: ignore[no-any-return]

    return {
        "kind": "spectra",
        "size": size,
        "bands": [float(f"{value:.6g}") for value in view.wavelengths[bands]],
        "unit": "µm" if view.unit == "um" else printable(view.unit),
        "low": low,
        "high": high,
        "blocks": digits(means),
        "labelMeans": digits(label_moments(shown, labels)[1]),
        "telling": telling_bands(shown, labels),
    }


def telling_bands(spectra: Array, labels: IntArray) -> list[int]:
    """Bands that tell the labels apart best, none close to another."""
    if len(np.unique(labels)) < 2:
        return []
    apart = spectra.shape[1] // 10
    found: list[int] = []
    for band in rank_features(spectra, labels).tolist():
        if all(abs(band - other) > apart for other in found):
            found.append(band)
        if len(found) == N_TELLING_BANDS:
            break
    return sorted(found)
