"""The settings of a cut, together."""

from __future__ import annotations

from dataclasses import dataclass

from seqspan._core.spans import MIN_LENGTH


@dataclass(frozen=True)
class Cutting:
    """How coefficients become spans.

    Parameters
    ----------
    cut : {"ncut", "ordered", "peaks"}
    n_subspaces : int or str
        Number of labels, or the name of a method that estimates it.
    n_spans : int or "auto"
    grain : {"coarse", "default", "fine"}
        How much has to change for a new span, for the ordered cut without given numbers.
    min_length : int
        Minimum number of samples in a span, for the ordered cut.
    seed : int
        Seed of the cut's random numbers.
    n_jobs : int, optional

    Examples
    --------
    >>> Cutting("ordered", n_spans=12).n_subspaces
    'auto'
    """

    cut: str = "ncut"
    n_subspaces: int | str = "auto"
    n_spans: int | str = "auto"
    grain: str = "default"
    min_length: int = MIN_LENGTH
    seed: int = 0
    n_jobs: int | None = None
