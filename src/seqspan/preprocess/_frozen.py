"""Preprocessing of samples that arrive later, with the numbers learned from earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from seqspan._core.types import Array
from seqspan.preprocess._chain import Chain
from seqspan.preprocess._steps import (
    Centre,
    Delay,
    Pca,
    Scale,
    Step,
    Subsample,
    as_floats,
    column_deviations,
    column_means,
)


@dataclass(frozen=True, eq=False)
class FrozenChain:
    """A chain of steps and what each learned: means, deviations or directions, or nothing.

    Examples
    --------
    >>> from seqspan.preprocess import make_chain
    >>> frozen = FrozenChain.learn(make_chain("centre"), np.array([[1.0], [3.0]]))
    >>> frozen(np.array([[5.0]]))
    array([[3.]])
    """

    chain: Chain
    learned: tuple[Array | None, ...]

    @classmethod
    def learn(cls, chain: Chain, rows: Array) -> Self:
        """Learn from rows; on these rows, the result is that of the chain."""
        refuse_subsampling(chain)
        rows = as_floats(rows)
        learned: list[Array | None] = []
        for step in chain.steps:
            learned.append(_learn(step, rows))
            rows = _apply(step, learned[-1], rows)
        return cls(chain, tuple(learned))

    @property
    def reach(self) -> int:
        """Number of samples before and after a sample that it looks at."""
        return int(sum(step.offsets[-1] for step in self.chain.steps if isinstance(step, Delay)))

    def __call__(self, rows: Array) -> Array:
        """Preprocess rows."""
        rows = as_floats(rows)
        for step, learned in zip(self.chain.steps, self.learned, strict=True):
            rows = _apply(step, learned, rows)
        return rows


def refuse_subsampling(chain: Chain) -> None:
    """Raise a ValueError if a chain leaves out samples."""
    if any(isinstance(step, Subsample) for step in chain.steps):
        raise ValueError("samples that arrive later are all kept: preprocess must not contain 'subsample'.")


def _learn(step: Step, rows: Array) -> Array | None:
    """What a step learns from rows."""
    if isinstance(step, Centre):
        return column_means(rows)
    if isinstance(step, Scale):
        deviations = column_deviations(rows)
        return np.where(deviations > 0, deviations, 1)
    return step.directions(rows) if isinstance(step, Pca) else None


def _apply(step: Step, learned: Array | None, rows: Array) -> Array:
    """Apply a step with what it learned."""
    if learned is None:
        return step.apply(rows)
    if isinstance(step, Centre):
        done = rows - learned
    else:
        done = rows / learned if isinstance(step, Scale) else rows @ learned
    return np.asarray(done, dtype=rows.dtype)
