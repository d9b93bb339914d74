"""Named steps before a segmentation: composed, recorded, and applied again to give the same rows.

``preprocess(recording, ["centre", "pca:0.95"])`` applies a chain and keeps its record in ``recording.steps``;
``preprocess(read(path), recording.steps)`` gives the same X from the raw file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.preprocess._steps import (
    STEPS,
    Centre,
    Delay,
    Matrix,
    Pca,
    Scale,
    Step,
    Subsample,
    UnitNorm,
    as_floats,
    parse_step,
)
from seqspan.recording import Recording

__all__ = [
    "STEPS",
    "Centre",
    "Chain",
    "Delay",
    "Pca",
    "Scale",
    "Subsample",
    "UnitNorm",
    "make_chain",
    "preprocess",
]

Specification: TypeAlias = "str | Step | Iterable[str | Mapping[str, Any] | Step] | None"
OFFSET_SHARE = 0.5  # of the energy; a mean above it hides what varies
AWAY_FROM_ZERO = 0.5  # of a column's mean: amounts come nearer to zero than that
SPREAD_RATIO = 1.5  # of the largest to the median deviation; above it few columns speak for all
UNITS_RATIO = (
    5.0  # of the largest to the smallest deviation in a table, whose columns may have units of their own
)


@dataclass(frozen=True)
class Chain:
    """Steps in the order in which they are applied, and why they were chosen.

    Parameters
    ----------
    steps : tuple of Step
    reasons : tuple of str
        One sentence for each choice that "auto" made, those against a step included.

    Examples
    --------
    >>> chain = Chain((Centre(), UnitNorm()))
    >>> chain.apply(np.array([[0.0, 1.0], [0.0, 3.0]]))
    array([[ 0., -1.],
           [ 0.,  1.]])
    >>> Chain.from_records(chain.records()) == chain
    True
    """

    steps: tuple[Step, ...] = ()
    reasons: tuple[str, ...] = ()

    def apply(self, X: Matrix) -> Array:
        """Apply every step to rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        array of floats
        """
        rows = as_floats(X)
        for step in self.steps:
            rows = step.apply(rows)
        return rows

    def rows(self, n_samples: int) -> IntArray:
        """Return which of the raw rows each row after the chain stands for."""
        indices = np.arange(n_samples)
        for step in self.steps:
            indices = indices[step.rows(len(indices))]
        return indices

    def records(self) -> tuple[dict[str, Any], ...]:
        """Return names and settings as JSON knows them."""
        return tuple(step.record() for step in self.steps)

    @classmethod
    def from_records(cls, records: Iterable[Mapping[str, Any]]) -> Chain:
        """Make the chain that `records` describe."""
        return cls(tuple(parse_step(record) for record in records))


def make_chain(steps: Specification, X: Matrix | None = None, kind: str | None = None) -> Chain:
    """Make a chain from names, or let the data choose it.

    Parameters
    ----------
    steps : None, "auto", str, or iterable of steps
        None is unit norm alone. A string holds names with commas between them, ``"centre,pca:0.95"``.
    X : array of shape (n_samples, n_features), optional
        What "auto" looks at.
    kind : str, optional
        Kind of the data, such as "mocap", where it is known.

    Returns
    -------
    Chain

    Examples
    --------
    >>> make_chain("centre, delay:3").steps
    (Centre(), Delay(window=3, lag=1))
    >>> make_chain(None).steps
    (UnitNorm(),)
    """
    if steps is None:
        return Chain((UnitNorm(),))
    if isinstance(steps, Step):
        return Chain((steps,))
    if isinstance(steps, str):
        if steps == "auto":
            if X is None:
                raise ValueError("steps='auto' needs X to choose by; got X=None.")
            return choose_chain(X, kind)
        steps = [name.strip() for name in steps.split(",") if name.strip()]
    return Chain(tuple(parse_step(step) for step in steps))


def choose_chain(X: Matrix, kind: str | None = None) -> Chain:
    """Choose steps by what the data show, and say why.

    Centring moves the origin that the subspaces share, so it is right only where zero is a convention: not
    where values are amounts of something (pixels, spectra, histograms), but for angles, and for channels
    whose offset outweighs what varies; temperatures stay away from zero, amounts come near it. Scaling is for
    columns of different size or units, of which a few would speak for all.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    kind : str, optional

    Returns
    -------
    Chain
        Ends in unit norm, which the models assume.

    Examples
    --------
    >>> angles = np.random.default_rng(0).normal([90, -30], [1, 20], (50, 2))
    >>> chain = choose_chain(angles, "mocap")
    >>> [step.name for step in chain.steps]
    ['centre', 'scale', 'unit_norm']
    >>> chain.reasons[0]
    'centre: the zero of joint angles and positions is a convention of the skeleton'
    """
    centre, centre_reason = _choose_centre(X, kind)
    steps: list[Step] = [Centre()] if centre else []
    reasons = [centre_reason]
    if centre:
        scale, scale_reason = _choose_scale(X, kind)
        steps += [Scale()] if scale else []
        reasons.append(scale_reason)
    return Chain((*steps, UnitNorm()), (*reasons, "unit norm: the models compare directions"))


def _choose_centre(X: Matrix, kind: str | None) -> tuple[bool, str]:
    """Decide on centring."""
    if kind in ("video", "spectra"):
        return False, f"no centring: zero means no light in data of kind {kind}"
    if kind == "mocap":
        return True, "centre: the zero of joint angles and positions is a convention of the skeleton"
    if X.size and X.min() >= 0 and least_share(X) < AWAY_FROM_ZERO:
        return False, "no centring: no value is negative and some columns come near zero, a true one then"
    share = offset_share(X)
    if share > OFFSET_SHARE:
        return True, f"centre: the columns' means hold {share:.0%} of the energy and hide what varies"
    return False, f"no centring: the columns' means hold only {share:.0%} of the energy"


def _choose_scale(X: Matrix, kind: str | None) -> tuple[bool, str]:
    """Decide on scaling."""
    deviations = _varying_deviations(X)
    if kind == "table" and deviations.max() > UNITS_RATIO * deviations.min():
        ratio = deviations.max() / deviations.min()
        return True, f"scale: one column varies {ratio:.2g} times as much as another: units of their own"
    ratio = spread_ratio(X)
    if ratio > SPREAD_RATIO:
        return True, f"scale: the widest column varies {ratio:.1f} times as much as the median one"
    return False, f"no scaling: the widest column varies {ratio:.1f} times as much as the median one"


def offset_share(X: Matrix) -> float:
    """Return the share of the sum of squares that the columns' means hold."""
    energy = float(np.sum(np.square(X, dtype=float)))
    return len(X) * float(np.sum(X.mean(axis=0, dtype=float) ** 2)) / energy if energy else 0.0


def least_share(X: Matrix) -> float:
    """Return what part of its mean a column falls to, 1 % of samples aside; a quarter falls lower."""
    means = X.mean(axis=0, dtype=float)
    lows = np.percentile(X, 1, axis=0)[means > 0]
    return float(np.percentile(lows / means[means > 0], 25)) if lows.size else 0.0


def spread_ratio(X: Matrix) -> float:
    """Return the largest deviation of a column over the median one, constant columns left out."""
    deviations = _varying_deviations(X)
    return float(deviations.max() / np.median(deviations))


def _varying_deviations(X: Matrix) -> Array:
    """Standard deviations of the columns that are not constant; a one where all are."""
    deviations: Array = X.std(axis=0, dtype=float)
    varying = deviations[deviations > 0]
    return varying if varying.size else np.ones(1)


def preprocess(recording: Recording, steps: Specification = "auto") -> Recording:
    """Apply steps to a recording, and record them in it.

    Parameters
    ----------
    recording : Recording
    steps : None, "auto", str, or iterable of steps
        See `make_chain`; also ``recording.steps`` of an earlier run, to repeat it.

    Returns
    -------
    Recording
        New X, times and labels; views keep showing the samples as they were read.

    Examples
    --------
    >>> raw = Recording(X=np.array([[1.0, 9.0], [3.0, 9.0]]), times=np.arange(2.0), time_unit="s",
    ...                feature_names=("a", "b"), kind="mocap")
    >>> done = preprocess(raw, "centre")
    >>> done.X, done.steps
    (array([[-1.,  0.],
           [ 1.,  0.]]), ({'step': 'centre'},))
    >>> np.array_equal(preprocess(raw, done.steps).X, done.X)
    True
    """
    chain = make_chain(steps, recording.X, recording.kind)
    X, names = as_floats(recording.X), recording.feature_names
    for step in chain.steps:
        X = step.apply(X)
        names = step.name_features(names, X.shape[1])
    kept = recording.take(chain.rows(len(recording)))
    return replace(kept, X=X, feature_names=names, steps=(*recording.steps, *chain.records())).with_notes(
        *(f"preprocessing: {reason}" for reason in chain.reasons)
    )
