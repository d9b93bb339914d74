"""Boundaries of a stream: which of them are two sides of one change, and how sure they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.confidence import boundary_confidence


def join_close(boundaries: list[int], shortest: int, before: Sequence[int] = ()) -> list[int]:
    """Replace boundaries of spans of fewer than `shortest` samples by one in the middle.

    Those that come so soon after the last boundary `before`, which stays, are left out.

    Examples
    --------
    >>> join_close([14, 50, 56, 90], 8), join_close([14, 50], 8, [10])
    ([14, 53, 90], [50])
    """
    joined: list[int] = []
    for boundary in boundaries:
        last = [*before, *joined][-1:]
        if not last or boundary - last[0] >= shortest:
            joined.append(boundary)
        elif joined:
            joined[-1] = (joined[-1] + boundary + 1) // 2
    return joined


def confidence_within(Y: Array, places: IntArray) -> Array:
    """Confidence of boundaries from the features of the samples held; NaN for places that are not among them.

    Examples
    --------
    >>> Y = np.repeat([[0.0], [1.0]], 20, axis=0) + 0.01 * np.cos(np.arange(40.0))[:, None]
    >>> confidence_within(Y, np.array([-3, 20])).round(1).tolist()
    [nan, 1.0]
    """
    held = (places > 0) & (places < len(Y))
    confidence = np.full(len(places), np.nan)
    if held.any():
        confidence[held] = boundary_confidence(Y, places[held])
    return confidence
