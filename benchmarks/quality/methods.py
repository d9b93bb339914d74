"""What a method is, and which numbers it gets in each setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Answer(NamedTuple):
    """Labels, and the boundaries of spans; two spans side by side may have the same label."""

    labels: np.ndarray
    boundaries: np.ndarray


#: What is given: the true numbers of spans and labels, only that of labels, or neither.
NUMBERS_GIVEN = ("both", "subspaces", "nothing")
#: Also: the true boundaries and the number of labels.
GIVEN = (*NUMBERS_GIVEN, "boundaries")
#: The numbers that a method may use.
NUMBERS = ("spans", "labels")
#: Number of spans (if the boundaries are given: a tuple of them) and number of labels; None if not given.
Told = tuple["int | tuple[int, ...] | None", "int | None"]
#: Rows (or the path of a video), what it is told (two arguments), a generator, kind of data -> labels; with
#: boundaries if spans were found first and labelled later.
Run = Callable[..., "np.ndarray | Answer"]


@dataclass(frozen=True)
class Method:
    """One variant of a peer or of seqspan.

    Parameters
    ----------
    name : str
        Unique name of the variant.
    peer : str
        What it is a variant of; the tables show the best variant of each peer.
    run : function
        ``run(X, n_spans, n_labels, rng, kind) -> labels``; in the setting "boundaries",
        ``run(X, boundaries, n_labels, rng, kind) -> labels``.
    uses : tuple of {"spans", "labels"}
        The numbers that it uses; in settings that differ only in other numbers, it runs once.
    given : tuple of str
        The settings in which it can run.
    needs : tuple of str
        Modules imported before the clock starts.
    kinds : tuple of str
        Kinds of data that it is made for; empty for all.
    from_file : bool
        Whether it gets the path of the video, with ``#first-last`` for a range of frames, instead of rows.
    """

    name: str
    peer: str
    run: Run
    uses: tuple[str, ...] = NUMBERS
    given: tuple[str, ...] = NUMBERS_GIVEN
    needs: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    from_file: bool = False

    def told(self, given: str, boundaries: Sequence[int], n_labels: int) -> Told:
        """Return the number of spans, or the boundaries, and the number of labels that this method gets."""
        labels = n_labels if given != "nothing" and "labels" in self.uses else None
        if given == "boundaries":
            return tuple(int(boundary) for boundary in boundaries), labels
        return len(boundaries) + 1 if given == "both" and "spans" in self.uses else None, labels
