"""How sure a boundary would be at every place of a recording."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqspan._core.spans import MIN_LENGTH
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.confidence import REACH, boundary_confidence

MAX_PLACES = 2000  # a wide screen has no more pixels; longer recordings are averaged over blocks of samples


def describe_changes(Y: Array, joins: tuple[int, ...] = ()) -> dict[str, Any]:
    """The confidence that a boundary would have at the start of every block of samples, in thousandths.

    It is zero where another recording begins, and within `MIN_LENGTH` samples of either end, where no span
    can be and a few samples say little.
    """
    size = -(-len(Y) // MAX_PLACES)
    confidence = confidence_everywhere(average_blocks(Y, size), np.array(joins, dtype=np.intp) // size)
    margin = -(-MIN_LENGTH // size)
    confidence[:margin] = confidence[len(confidence) - margin + 1 :] = 0
    return {"size": size, "values": np.round(1000 * confidence).astype(int).tolist()}


def average_blocks(rows: Array, size: int) -> Array:
    """Means of blocks of `size` rows; the last block may be smaller.

    Examples
    --------
    >>> average_blocks(np.array([[1.0], [3.0], [7.0]]), 2)
    array([[2.],
           [7.]])
    """
    starts = np.arange(0, len(rows), size)
    counts = np.diff(np.append(starts, len(rows)))
    means: Array = np.add.reduceat(rows, starts, axis=0) / counts[:, None]
    return means


def confidence_everywhere(Y: Array, joins: IntArray | None = None) -> Array:
    """The confidence that a single boundary would have before each sample; zero for the first one.

    It is zero at joins of two recordings, too, and nobody looks across them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(-1, 0.1, (20, 2)), rng.normal(1, 0.1, (20, 2))])
    >>> int(np.argmax(confidence_everywhere(Y)))
    20
    """
    confidence = np.zeros(len(Y))
    known = np.empty(0, dtype=np.intp) if joins is None else joins[joins > 0]
    for first in range(1, REACH + 1):  # boundaries this far apart do not see each other
        places = np.union1d(np.arange(first, len(Y), REACH), known)
        confidence[places] = boundary_confidence(Y, places)
    confidence[known] = 0
    return confidence
