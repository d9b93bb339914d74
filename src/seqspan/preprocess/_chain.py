"""Chains of preprocessing steps: made from names, applied, recorded, and repeated from the record.

``preprocess(recording, "centre,pca:0.95")`` applies a chain and records it in ``recording.steps``;
``preprocess(read(path), recording.steps)`` gives the same X again from the raw file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from seqspan._core.spans import part_slices
from seqspan._core.types import Array, IntArray
from seqspan.preprocess._choice import choose_steps
from seqspan.preprocess._steps import LEARNED, Delay, Learned, Matrix, Step, UnitNorm, as_floats, parse_step
from seqspan.recording import Recording

Steps: TypeAlias = "str | Step | Iterable[str | Mapping[str, Any] | Step] | None"


@dataclass(frozen=True)
class Chain:
    """Preprocessing steps in order, and why they were chosen.

    :func:`make_chain` makes one from names.

    Parameters
    ----------
    steps : tuple of Step
    reasons : tuple of str
        One sentence for each decision that "auto" made, including those against a step.

    Examples
    --------
    >>> chain = make_chain("centre,unit_norm")
    >>> chain.apply(np.array([[0.0, 1.0], [0.0, 3.0]]))
    array([[ 0., -1.],
           [ 0.,  1.]])
    >>> chain.records()
    ({'step': 'centre'}, {'step': 'unit_norm'})
    """

    steps: tuple[Step, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def reach(self) -> int:
        """Number of rows before and after a row that it looks at."""
        return int(sum(step.offsets[-1] for step in self.steps if isinstance(step, Delay)))

    def apply(self, X: Matrix, joins: Sequence[int] = ()) -> Array:
        """Apply all steps to rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        joins : sequence of int
            Rows at which another recording begins. No step mixes rows of two recordings.

        Returns
        -------
        array of floats
        """
        rows = as_floats(X)
        for step in self.steps:
            rows, joins = apply_step(step, rows, joins)
        return rows

    def learn(self, X: Matrix, joins: Sequence[int] = ()) -> Chain:
        """Return a chain that does to any rows what this one does to X.

        Means, deviations and directions are those of X, whatever the rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        joins : sequence of int
            Rows at which another recording begins.

        Returns
        -------
        Chain
        """
        rows, steps = as_floats(X), []
        for step in self.steps:
            steps.append(step.learn(rows))
            rows, joins = apply_step(steps[-1], rows, joins)
        return replace(self, steps=tuple(steps))

    def rows(self, n_samples: int, joins: Sequence[int] = ()) -> IntArray:
        """Return the index of the original row for each row after the chain."""
        indices = np.arange(n_samples)
        for step in self.steps:
            parts = part_slices(joins, len(indices))
            kept = [indices[part][step.rows(part.stop - part.start)] for part in parts]
            indices, joins = np.concatenate(kept), _joins_of(kept)
        return indices

    def records(self) -> tuple[dict[str, Any], ...]:
        """Return the names and settings of the steps as JSON values; `make_chain` accepts them."""
        return tuple(step.record() for step in self.steps)

    def to_arrays(self) -> dict[str, Array]:
        """Return what the steps have learned, for a file with their `records`."""
        return {
            f"step_{place}": step.numbers
            for place, step in enumerate(self.steps)
            if isinstance(step, Learned)
        }

    @classmethod
    def from_arrays(cls, records: Iterable[Mapping[str, Any]], arrays: Mapping[str, Any]) -> Chain:
        """Make a chain that was learned before from its `records` and its `to_arrays`.

        Examples
        --------
        >>> learned = make_chain("centre,delay:3").learn(np.array([[0.0], [4.0]]))
        >>> Chain.from_arrays(learned.records(), learned.to_arrays()).apply(np.array([[5.0]]))
        array([[3., 3., 3.]])
        """
        return cls(
            tuple(
                LEARNED[str(record["step"])](np.asarray(arrays[f"step_{place}"]))
                if record["step"] in LEARNED
                else parse_step(record)
                for place, record in enumerate(records)
            )
        )


def apply_step(step: Step, rows: Array, joins: Sequence[int]) -> tuple[Array, Sequence[int]]:
    """Apply a step, to each recording alone if it looks at neighbouring rows; also the new joins."""
    if not joins or not step.looks_around:
        return step.apply(rows), joins
    parts = [step.apply(rows[part]) for part in part_slices(joins, len(rows))]
    return np.concatenate(parts), _joins_of(parts)


def _joins_of(parts: Sequence[Matrix]) -> list[int]:
    """Rows at which all parts but the first begin."""
    return list(accumulate(len(part) for part in parts[:-1]))


def make_chain(
    steps: Steps, X: Matrix | None = None, kind: str | None = None, joins: Sequence[int] = ()
) -> Chain:
    """Make a chain of steps from their names, or choose the steps by looking at the data.

    Parameters
    ----------
    steps : None, "auto", str, or iterable of str or mapping
        Names separated by commas, ``"centre,pca:0.95"``; or a list of names or of the records of an earlier
        chain. "auto" looks at the data. None is unit norm alone.
    X : array of shape (n_samples, n_features), optional
        The data, for "auto".
    kind : str, optional
        Kind of recording, for "auto".
    joins : sequence of int
        Rows at which another recording begins, for "auto".

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
                raise ValueError("steps='auto' needs X to choose the steps; got X=None.")
            return Chain(*choose_steps(X, kind, joins))
        steps = [name.strip() for name in steps.split(",") if name.strip()]
    return Chain(tuple(parse_step(step) for step in steps))


def preprocess(recording: Recording, steps: Steps = "auto") -> Recording:
    """Apply preprocessing steps to a recording, and record them in it.

    Parameters
    ----------
    recording : Recording
    steps : None, "auto", str, or iterable of str or mapping
        As for :func:`make_chain`. The ``steps`` of a preprocessed recording repeat its preprocessing.

    Returns
    -------
    Recording
        With new X, times, labels and steps. The view still shows the samples as they were read.

    Examples
    --------
    >>> raw = Recording(X=np.array([[1.0, 9.0], [3.0, 9.0]]), times=np.arange(2.0), time_unit="s",
    ...                 feature_names=("a", "b"), kind="mocap")
    >>> done = preprocess(raw, "centre")
    >>> done.X, done.steps
    (array([[-1.,  0.],
           [ 1.,  0.]]), ({'step': 'centre'},))
    >>> np.array_equal(preprocess(raw, done.steps).X, done.X)
    True
    """
    joins: Sequence[int] = recording.joins
    chain = make_chain(steps, recording.X, recording.kind, joins)
    X, names = as_floats(recording.X), recording.feature_names
    for step in chain.steps:
        X, joins = apply_step(step, X, joins)
        names = step.name_features(names, X.shape[1])
    kept = recording.take(chain.rows(len(recording), recording.joins))
    done = replace(kept, X=X, feature_names=names, steps=(*recording.steps, *chain.records()))
    return done.with_notes(*(f"preprocessing: {reason}" for reason in chain.reasons))
