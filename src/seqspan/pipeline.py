"""The stages in order: X -> Z -> W -> k -> labels, boundaries.

Each stage is a plain function in its own file; nothing happens here but calling them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqspan._core.backend import is_on_gpu, to_host
from seqspan._core.memory import require_memory
from seqspan._core.spans import boundaries_from_labels, labels_from_boundaries
from seqspan._core.types import Array, IntArray
from seqspan.cuts.ordered.cut import MIN_LENGTH, ordered_cut
from seqspan.cuts.peaks import peak_boundaries
from seqspan.cuts.spectral.affinity import affinity
from seqspan.cuts.spectral.n_subspaces import estimate_n_subspaces
from seqspan.cuts.spectral.ncut import normalised_cut
from seqspan.models import Model
from seqspan.solvers import SOLVERS, Solution, Stopping
from seqspan.solvers.needs import cut_bytes, solver_bytes

__all__ = ["CUTS", "Segmentation", "represent", "segment"]

#: The ways from coefficients to labels.
CUTS = ("ncut", "ordered", "peaks")
SINGLE = 4  # bytes


@dataclass(frozen=True)
class Segmentation:
    """What a cut found.

    Parameters
    ----------
    labels : array of int, shape (n,)
        Of the samples.
    boundaries : array of int
        Interior starts of spans.
    n_subspaces : int
        Number of distinct labels.
    confidence : array of float, optional
        How sure each boundary is; only the ordered cut says it.

    Examples
    --------
    >>> found = Segmentation(np.array([0, 0, 1]), np.array([2]), n_subspaces=2)
    >>> [part.tolist() for part in np.split(np.arange(3), found.boundaries)]
    [[0, 1], [2]]
    """

    labels: IntArray
    boundaries: IntArray
    n_subspaces: int
    confidence: Array | None = None


def represent(
    X: Array, model: Model, solver: str, stopping: Stopping, *, device: str = "cpu", **options: Any
) -> Solution[Any]:
    """Minimise a model on X.

    Parameters
    ----------
    X : array of shape (d, n)
    model : Model
    solver : str
        A name in :data:`seqspan.solvers.SOLVERS`.
    stopping : Stopping
    device : {"cpu", "cuda"}
        With "cuda", the fast solver's form for a GPU; the solution then lies there.
    **options
        Passed to the solver: ``start`` for a warm start, ``n_threads`` for the fast one.

    Returns
    -------
    Solution

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> from seqspan.models import Osc
    >>> X, labels = make_subspaces(rng=0)
    >>> X /= np.linalg.norm(X, axis=0)
    >>> solution = represent(X, Osc(0.1, 1.0), "fast", Stopping(tol=1e-3))
    >>> solution.Z.shape, solution.gap <= 1e-3
    ((100, 100), True)
    """
    if device == "cuda":
        from seqspan.solvers.gpu.solver import solve_cuda

        return solve_cuda(model, X, stopping=stopping, **options)
    require_memory(
        solver_bytes(solver, model, X.shape, X.dtype, n_threads=options.get("n_threads")),
        f"Solver {solver!r} on {X.shape[1]} samples in {X.dtype}",
        "Take landmarks as atoms (dictionary='landmarks')"
        f"{', float32 instead of float64' if X.itemsize > SINGLE else ''} or fewer samples "
        "(preprocess='subsample:2' keeps every second).",
        loads="llvmlite" if solver == "fast" else None,
    )
    return SOLVERS[solver](model, X, stopping=stopping, **options)


def require_cut_memory(
    cut: str, shape: tuple[int, int], dtype: npt.DTypeLike, n_subspaces: int | str, *, beside: int = 0
) -> None:
    """Raise a MemoryError if a cut of coefficients of that shape, with so many bytes beside, will not fit."""
    require_memory(
        cut_bytes(cut, shape, dtype, n_subspaces) + beside,
        f"cut={cut!r} of {shape[1]} samples in {np.dtype(dtype)}",
        "Take fewer samples (preprocess='subsample:2' keeps every second), landmarks as atoms "
        "(dictionary='landmarks'), or another cut.",
        loads="llvmlite" if cut == "ordered" else None,
    )


def segment(
    Z: Array,
    X: Array | None = None,
    *,
    cut: str = "ncut",
    n_subspaces: int | str = "auto",
    n_spans: int | str = "auto",
    min_length: int = MIN_LENGTH,
    rng: np.random.Generator | None = None,
) -> Segmentation:
    """Turn coefficients into labels and boundaries.

    Parameters
    ----------
    Z : array of shape (n, n), or (m, n) where m landmarks are the atoms
        May lie on a GPU, where the normalised cut is then found too.
    X : array of shape (d, n), optional
        The samples, which the ordered cut looks at too.
    cut : {"ncut", "ordered", "peaks"}
        Normalised cut of the affinity, best spans in the order of time, or peaks of the column
        differences; peaks give each span its own label.
    n_subspaces : int or str
        Number of labels, or the name of an estimator of it; the ordered cut estimates it in its own way.
    n_spans : int or "auto"
        Number of spans, for ``cut="ordered"`` and ``cut="peaks"``; peaks take `n_subspaces` for "auto" if
        that is a number.
    min_length : int
        Samples that a span of the ordered cut has at least.
    rng : numpy.random.Generator, optional

    Returns
    -------
    Segmentation

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> from seqspan.models import Osc
    >>> X, labels = make_subspaces(rng=0)
    >>> X /= np.linalg.norm(X, axis=0)
    >>> Z = represent(X, Osc(0.1, 1.0), "fast", Stopping()).Z
    >>> segment(Z, X, cut="ordered", rng=np.random.default_rng(0)).boundaries
    array([20, 40, 60, 80])
    """
    if is_on_gpu(Z) and cut != "ncut":
        Z = to_host(Z)
    if not is_on_gpu(Z):
        require_cut_memory(cut, Z.shape, Z.dtype, n_subspaces)
    if cut == "peaks":
        wanted = n_subspaces if isinstance(n_spans, str) else n_spans
        boundaries = peak_boundaries(Z, None if isinstance(wanted, str) else wanted)
        labels = labels_from_boundaries(boundaries, Z.shape[1])
        return Segmentation(labels, boundaries, len(boundaries) + 1)
    if cut == "ordered":
        return _segment_in_order(Z, X, n_subspaces, n_spans, min_length, rng)
    W = affinity(Z)
    k = estimate_n_subspaces(W, n_subspaces) if isinstance(n_subspaces, str) else n_subspaces
    if is_on_gpu(W):
        from seqspan.cuts.spectral.on_device import cut_on_device

        labels = cut_on_device(W, k, rng=rng)
    else:
        labels = normalised_cut(W, k, rng=rng)
    return Segmentation(labels, boundaries_from_labels(labels), len(np.unique(labels)))


def _segment_in_order(
    Z: Array,
    X: Array | None,
    n_subspaces: int | str,
    n_spans: int | str,
    min_length: int,
    rng: np.random.Generator | None,
) -> Segmentation:
    """Ordered cut, with a label for every sample."""
    if X is None:
        raise ValueError("cut='ordered' needs the samples X beside Z; got X=None.")
    found = ordered_cut(
        to_host(X), Z, n_spans=n_spans, n_subspaces=n_subspaces, min_length=min_length, rng=rng
    )
    labels = found.sample_labels(Z.shape[1])
    return Segmentation(labels, found.boundaries, len(np.unique(labels)), found.confidence)
