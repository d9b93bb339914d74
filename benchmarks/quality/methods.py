"""What a method is, and which numbers it gets in each setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

#: What is given: the true numbers of spans and labels, only that of labels, or neither.
GIVEN = ("both", "subspaces", "nothing")
#: Rows (or the path of a video), number of spans, of labels, a generator, kind of data -> labels.
Run = Callable[[np.ndarray, "int | None", "int | None", np.random.Generator, str], np.ndarray]


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
        ``run(X, n_spans, n_labels, rng, kind) -> labels``.
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
    uses: tuple[str, ...] = ("spans", "labels")
    given: tuple[str, ...] = GIVEN
    needs: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    from_file: bool = False

    def told(self, given: str, n_spans: int, n_labels: int) -> tuple[int | None, int | None]:
        """Return the numbers of spans and labels that this method gets in a setting."""
        spans = n_spans if given == "both" and "spans" in self.uses else None
        return spans, n_labels if given != "nothing" and "labels" in self.uses else None
