"""Preprocessing of samples that arrive later, with the numbers learned from earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from seqspan._core.types import Array
from seqspan.preprocess._chain import Chain
from seqspan.preprocess._steps import Subsample


@dataclass(frozen=True, eq=False)
class FrozenChain:
    """A chain of steps, and the same with what it learned: means, deviations and directions.

    Examples
    --------
    >>> import numpy as np
    >>> from seqspan.preprocess import make_chain
    >>> frozen = FrozenChain.learn(make_chain("centre"), np.array([[1.0], [3.0]]))
    >>> frozen(np.array([[5.0]]))
    array([[3.]])
    """

    chain: Chain
    learned: Chain

    @classmethod
    def learn(cls, chain: Chain, rows: Array) -> Self:
        """Learn from rows; on these rows, the result is that of the chain."""
        refuse_subsampling(chain)
        return cls(chain, chain.learn(rows))

    @property
    def reach(self) -> int:
        """Number of samples before and after a sample that it looks at."""
        return self.chain.reach

    def __call__(self, rows: Array) -> Array:
        """Preprocess rows."""
        return self.learned.apply(rows)


def refuse_subsampling(chain: Chain) -> None:
    """Raise a ValueError if a chain leaves out samples."""
    if any(isinstance(step, Subsample) for step in chain.steps):
        raise ValueError("samples that arrive later are all kept: preprocess must not contain 'subsample'.")
