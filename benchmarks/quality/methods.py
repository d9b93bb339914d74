"""What a method is, and what it is told in each setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

#: What is given: the true numbers of spans and labels; of labels alone; neither.
GIVEN = ("both", "subspaces", "nothing")
#: Rows (or the path of a video), number of spans, of labels, a generator, kind of data -> labels.
Run = Callable[[np.ndarray, "int | None", "int | None", np.random.Generator, str], np.ndarray]


@dataclass(frozen=True)
class Method:
    """One variant of a peer or of seqspan.

    Parameters
    ----------
    name : str
        Of the variant, unique.
    peer : str
        What it is a variant of; tables show the best variant of each.
    run : function
        ``run(X, n_spans, n_labels, rng, kind) -> labels``.
    uses : tuple of {"spans", "labels"}
        The numbers it makes use of; in settings that differ only in others it is run once.
    given : tuple of str
        The settings in which it can run.
    needs : tuple of str
        Modules imported before the clock starts.
    kinds : tuple of str
        Kinds of data it is meant for; empty for all.
    from_file : bool
        It gets the path of the video, with ``#first-last`` for a part of it, instead of rows.
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
        """Numbers of spans and labels that this method hears of in a setting."""
        spans = n_spans if given == "both" and "spans" in self.uses else None
        return spans, n_labels if given != "nothing" and "labels" in self.uses else None
