"""A stream in which known states are recognised: `KnownStates.predict`, while samples arrive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from seqspan._core.spans import UNKNOWN, Division
from seqspan._core.threads import Team
from seqspan._core.types import Array, IntArray
from seqspan.cuts.online.boundaries import confidence_within
from seqspan.cuts.online.paths import Ended, GrowingPaths
from seqspan.cuts.online.stream import CHUNK, HELD
from seqspan.known import KnownStates
from seqspan.preprocess._frozen import refuse_subsampling
from seqspan.preprocess._steps import Delay

NUMBERS = ("n_samples", "final", "final_labels", "delays", "_n_done")


class KnownStream:
    """Spans of known states, block by block; how samples are divided into blocks changes nothing.

    A span is final as soon as no later sample can change it. If that takes more than 4,096 samples, the best
    path so far decides. Without such spans, the answer is that of :meth:`KnownStates.predict`.

    Parameters
    ----------
    known : KnownStates
        Whose preprocessing keeps all samples.

    Examples
    --------
    >>> import seqspan
    >>> from seqspan.datasets import make_recurring_subspaces
    >>> X, labels = make_recurring_subspaces((0, 1, 2, 0), 3, 12, 40, rng=0)
    >>> stream = KnownStream(seqspan.segment(X.T).states)
    >>> stream.extend(X.T)
    >>> stream.final, stream.final_labels, stream.later
    ([40, 80], [0, 1], array([120]))
    """

    prepared = None  # nothing is learned from the stream

    def __init__(self, known: KnownStates) -> None:
        refuse_subsampling(known.chain)
        self.known = known
        steps = known.chain.steps
        self._reach = int(sum(step.offsets[-1] for step in steps if isinstance(step, Delay)))
        states = known.states
        self._labels = np.append(states.labels, UNKNOWN)
        self._paths = GrowingPaths(len(self._labels), states.price, states.shortest)
        self.time_scale = float(states.shortest)
        self.n_samples = self._n_done = 0  # `_n_done`: those that the paths have seen
        self.final: list[int] = []
        self.final_labels: list[int] = []
        self.delays: list[int] = []
        self._rows: Array = np.empty((0, known.n_features))  # from `_reach` before the next to be done
        self._Y: Array = np.empty((0, 0))  # features of the last samples done

    def extend(self, rows: Array) -> None:
        """Add the next samples (any, n_features)."""
        self._rows = np.concatenate([self._rows, rows])
        self.n_samples += len(rows)
        with Team(1):  # in many small products, BLAS threads would wait for each other
            while self.n_samples - self._reach - self._n_done >= CHUNK:
                self._advance(CHUNK)

    @property
    def later(self) -> IntArray:
        """Boundaries of the best division that are not final."""
        return np.array([end for end, _ in self._paths.open_spans()[:-1]], dtype=np.intp)

    def confidence(self, boundaries: IntArray) -> Array:
        """How sure boundaries are; NaN where the samples around them are not held."""
        return confidence_within(self._Y, np.asarray(boundaries) - (self._n_done - len(self._Y)))

    def finish(self) -> Division:
        """End the stream: the best division of what is left is final."""
        n_left = self.n_samples - self._n_done
        if n_left:
            self._advance(n_left)
        rest = self._paths.open_spans() or [(self.n_samples, self._paths.cheapest_label())]
        self._finish(rest[:-1])
        labels = np.array([*self.final_labels, self._labels[rest[-1][1]]], dtype=np.intp)
        return Division(np.array(self.final, dtype=np.intp), labels, len(self.final))

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """All that the stream goes on with: JSON values, and arrays."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        return numbers, {"rows": self._rows, "Y": self._Y} | self._paths.state()

    def restore(self, numbers: Mapping[str, Any], arrays: Mapping[str, Array], prepared: object) -> None:
        """Go on from a state."""
        for name in NUMBERS:
            setattr(self, name, numbers[name])
        self._rows, self._Y = arrays["rows"], arrays["Y"]
        self._paths.restore(arrays)

    def _advance(self, count: int) -> None:
        """Process the next samples."""
        before = min(self._n_done, self._reach)
        rows = self._rows[: before + count + self._reach]
        samples = self.known.chain.apply(rows).T[:, before : before + count]
        Y, costs = self.known.states.describe(samples)
        self._Y = np.concatenate([self._Y, Y])[-HELD:] if self._Y.size else Y
        self._n_done += count
        self._rows = self._rows[before + count - min(self._n_done, self._reach) :]
        self._paths.extend(costs)
        self._finish(self._paths.settle())
        self._finish(self._paths.force(self._n_done - HELD))

    def _finish(self, spans: list[Ended]) -> None:
        """Make spans final."""
        for end, label in spans:
            self.final.append(end)
            self.final_labels.append(int(self._labels[label]))
            self.delays.append(min(self._n_done + self._reach, self.n_samples) - end)
