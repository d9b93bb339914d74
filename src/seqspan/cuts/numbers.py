"""Numbers of spans and labels that a cut can give."""

from __future__ import annotations

from seqspan._core.checks import check_count
from seqspan.cuts.spectral.n_subspaces import ESTIMATORS


def check_numbers(
    cut: str, n_samples: int, n_spans: int | str, n_subspaces: int | str, min_length: int
) -> None:
    """Check that the numbers of spans and labels are possible for a cut and a number of samples.

    Examples
    --------
    >>> check_numbers("ncut", 100, n_spans=3, n_subspaces="auto", min_length=5)
    Traceback (most recent call last):
      ...
    ValueError: n_spans is for cut='ordered' and cut='peaks'; got n_spans=3 with cut='ncut'.
    """
    what = f"{n_samples} samples"
    words = tuple(ESTIMATORS) if cut == "ncut" else ("auto",)
    k = check_count("n_subspaces", n_subspaces, n_samples, what, words)
    n_spans = check_count("n_spans", n_spans, n_samples, what, ("auto",))
    if cut == "ordered":
        _check_room(n_samples, n_spans, k, min_length)
    if cut == "ncut" and n_spans != "auto":
        raise ValueError(
            f"n_spans is for cut='ordered' and cut='peaks'; got n_spans={n_spans} with cut='ncut'."
        )
    if cut == "peaks" and isinstance(k, int) and n_spans not in ("auto", k):
        raise ValueError(
            f"cut='peaks' gives every span its own label, so n_subspaces must equal n_spans; "
            f"got n_subspaces={k} and n_spans={n_spans}."
        )


def _check_room(n_samples: int, n_spans: int | str, n_subspaces: int | str, min_length: int) -> None:
    """Check that the ordered cut has room for that many spans, and enough spans for that many labels."""
    most = max(1, n_samples // min_length)
    for name, count in (("n_spans", n_spans), ("n_subspaces", n_subspaces)):
        if isinstance(count, int) and count > most:
            raise ValueError(
                f"{name} must be at most {most} for {n_samples} samples with min_length={min_length}; "
                f"got {count}."
            )
    if isinstance(n_spans, int) and isinstance(n_subspaces, int) and n_subspaces > n_spans:
        raise ValueError(
            f"n_subspaces must be at most n_spans={n_spans}, because every span has one label; "
            f"got {n_subspaces}."
        )
