"""Numbers of spans and labels that a cut can give."""

from __future__ import annotations

from seqspan._core.checks import check_choice, check_count
from seqspan._core.spans import part_slices
from seqspan.cuts.ordered.n_spans import GRAINS
from seqspan.cuts.spectral.n_subspaces import ESTIMATORS


def check_numbers(
    cut: str,
    n_samples: int,
    n_spans: int | str,
    n_subspaces: int | str,
    min_length: int,
    joins: tuple[int, ...] = (),
) -> None:
    """Check that the numbers of spans and labels are possible for a cut and a number of samples.

    Several recordings have at least one span each; `joins` are the samples at which another begins.

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
    n_recordings = len(joins) + 1
    if isinstance(n_spans, int) and n_spans < n_recordings:
        raise ValueError(
            f"n_spans is the number of spans of all recordings, at least one for each of {n_recordings}; "
            f"got {n_spans}."
        )
    if cut == "ordered":
        lengths = [part.stop - part.start for part in part_slices(joins, n_samples)]
        _check_room(lengths, n_spans, k, min_length)
    if cut == "ncut" and n_spans != "auto":
        raise ValueError(
            f"n_spans is for cut='ordered' and cut='peaks'; got n_spans={n_spans} with cut='ncut'."
        )
    if cut == "peaks" and isinstance(k, int) and n_spans not in ("auto", k):
        raise ValueError(
            f"cut='peaks' gives every span its own label, so n_subspaces must equal n_spans; "
            f"got n_subspaces={k} and n_spans={n_spans}."
        )


def check_grain(cut: str, grain: str, n_spans: int | str, n_subspaces: int | str) -> None:
    """Check that a grain is asked for where it decides something.

    Examples
    --------
    >>> check_grain("peaks", "fine", n_spans="auto", n_subspaces="auto")
    Traceback (most recent call last):
      ...
    ValueError: grain is for cut='ordered'; got grain='fine' with cut='peaks'.
    """
    check_choice("grain", grain, tuple(GRAINS))
    if grain == "default":
        return
    if cut != "ordered":
        raise ValueError(f"grain is for cut='ordered'; got grain={grain!r} with cut={cut!r}.")
    if not (isinstance(n_spans, str) and isinstance(n_subspaces, str)):
        raise ValueError(
            "grain chooses the numbers, so it goes with n_spans='auto' and n_subspaces='auto'; "
            f"got grain={grain!r} with n_spans={n_spans!r} and n_subspaces={n_subspaces!r}."
        )


def _check_room(lengths: list[int], n_spans: int | str, n_subspaces: int | str, min_length: int) -> None:
    """Check that the ordered cut has room for that many spans, and enough spans for that many labels."""
    most = sum(max(1, length // min_length) for length in lengths)
    for name, count in (("n_spans", n_spans), ("n_subspaces", n_subspaces)):
        if isinstance(count, int) and count > most:
            raise ValueError(
                f"{name} must be at most {most} for {sum(lengths)} samples with min_length={min_length}; "
                f"got {count}."
            )
    if isinstance(n_spans, int) and isinstance(n_subspaces, int) and n_subspaces > n_spans:
        raise ValueError(
            f"n_subspaces must be at most n_spans={n_spans}, because every span has one label; "
            f"got {n_subspaces}."
        )
    if n_subspaces == 1 and isinstance(n_spans, int) and n_spans > len(lengths):
        raise ValueError(
            f"n_subspaces must be at least 2 for n_spans={n_spans}, because neighbouring spans differ in "
            "label; got 1."
        )
