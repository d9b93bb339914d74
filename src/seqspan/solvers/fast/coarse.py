"""A starting point from half the samples: pairwise means form a smaller problem of the same kind.

Neighbouring samples are similar, so the coefficients of a sequence are nearly those of its pairwise means:
repeat every column of the coarse Z twice, and divide every coefficient equally between the two atoms that the
mean stands for. The l1 norm of ``Z`` and the squared loss then double. The number of changes in time stays
the same, but their 2-norm shrinks by sqrt(2). So the means, with the same lam1 and with lam2 divided by
``2 sqrt(2)`` (OSC) or 2 (SpatSC), have the same minimiser and half the minimum. The multipliers carry over in
the same way.

With a dictionary of fixed atoms, only the columns are repeated: loss and l1 norm double, the changes in time
stay, so lam2 is halved.

No pair has samples of two recordings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from seqspan._core.spans import part_slices
from seqspan._core.types import Array, IntArray
from seqspan.models import Osc, SpatSc
from seqspan.solvers.fast.sweeps import State, Sweeps

# Factors by which the balanced penalties r1, r2 grow when the samples double; from synthetic and real data.
PENALTY_GROWTH = 2.0, 4.0
SAME_ATOMS_GROWTH = (1.0, 0.7)  # 20 iterations at 100,000 samples; (1, 2) takes 30


def pair_starts(n: int, joins: Sequence[int] = ()) -> IntArray:
    """First columns of the pairs that n columns fall into, recording by recording.

    Examples
    --------
    >>> pair_starts(7, (3,))
    array([0, 2, 3, 5])
    """
    return np.concatenate([np.arange(part.start, part.stop, 2) for part in part_slices(joins, n)])


def halve(X: Array, joins: Sequence[int] = ()) -> Array:
    """Average pairs of neighbouring columns; if their number is odd, the last one stays as it is.

    Parameters
    ----------
    X : array of shape (d, n)
    joins : sequence of int
        Columns at which another recording begins.

    Returns
    -------
    array of shape (d, n_pairs)

    Examples
    --------
    >>> halve(np.array([[1.0, 3.0, 5.0]]))
    array([[2., 5.]])
    """
    starts = pair_starts(X.shape[1], joins)
    ends = np.append(starts[1:], X.shape[1]) - 1  # the same as the start if a column is alone
    rows = X.T  # those of landmarks are contiguous
    return np.asarray((rows[starts] + rows[ends]).T * X.dtype.type(0.5))


def coarsen(model: Osc | SpatSc, *, same_atoms: bool = False) -> Osc | SpatSc:
    """The model for the pairwise means; `same_atoms` if only the samples are averaged, not the atoms.

    Examples
    --------
    >>> coarsen(SpatSc(0.1, 0.5, joins=(5,)))
    SpatSc(lam1=0.1, lam2=0.25, zero_diagonal=True, joins=(3,))
    """
    entrywise = same_atoms or isinstance(model, SpatSc)
    lengths = np.diff(np.array([0, *model.joins], dtype=np.intp))
    joins = tuple(np.cumsum((lengths + 1) // 2).tolist())
    return replace(model, lam2=model.lam2 / (2.0 if entrywise else 2 * np.sqrt(2)), joins=joins)


def prolong(coarse: Sweeps, c: State, fine: Sweeps) -> State:
    """Carry a coarse state over to twice the samples.

    Parameters
    ----------
    coarse, fine : Sweeps with the same block width
    c : State of the coarse problem

    Returns
    -------
    State of the fine problem
    """
    same_atoms = coarse.n_atoms == fine.n_atoms
    growth_1, growth_2 = SAME_ATOMS_GROWTH if same_atoms else PENALTY_GROWTH
    copies = 1 if same_atoms else 2
    s = fine.zero_state(c.r1 * growth_1, c.r2 * growth_2)
    starts = np.append(pair_starts(fine.n, fine.model.joins), fine.n)
    weights = (coarse.coupled if c.weights is None else c.weights).astype(fine.dtype)
    growth = np.array([growth_1, growth_2], fine.dtype)
    given = starts, coarse.multiplier_share(c), weights, coarse.constants(c), growth

    def carry_over(windows: range) -> None:
        for window in windows:
            pairs = coarse.edges[window], coarse.edges[window + 1]
            for b in range(fine.n_blocks):
                ours, offset = b // copies, b % copies * (fine.width // copies)
                fine.coarse_loops.carry_over(
                    c.V[ours], c.U[ours], s.V[b], s.U[b], *given,
                    coarse.diagonal + ours * coarse.width, offset, copies, *pairs,
                )  # fmt: skip

    fine.team.map(carry_over, coarse.n_windows)
    fine.settle(s)
    return s
