"""Models with a closed-form minimum: one SVD of X, no iteration."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from seqspan._core.convergence import warn_not_converged
from seqspan._core.solution import Progress, Solution
from seqspan._core.types import Array
from seqspan.models import Lrr, LrrNoiseFree, Lsr, Model
from seqspan.solvers.loop import Stopping
from seqspan.solvers.scaling import at_ordinary_scale


@at_ordinary_scale
def solve_closed_form(model: Model, X: Array, *, stopping: Stopping | None = None) -> Solution[None]:
    """Minimise a low-rank or least-squares model exactly.

    Every such minimiser is ``Z = Q f(sigma) Q^T`` for the SVD ``X = U sigma Q^T``:

    - LRR, relaxed: ``f = 1 - lam / sigma^2`` where ``sigma^2 > lam``, else 0;
    - LRR, noise-free: ``f = 1``, the shape interaction matrix;
    - LSR: ``f = sigma^2 / (sigma^2 + lam)``.

    Parameters
    ----------
    model : Lrr, LrrNoiseFree or Lsr
    X : array of shape (d, n)
    stopping : Stopping, optional
        Only the callback and tol are used; tol decides when to warn about rounding errors.

    Returns
    -------
    Solution

    Warns
    -----
    ConvergenceWarning
        If the precision of X is too low to certify a gap of tol.

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> X, labels = make_subspaces(3, 2, 20, 10, rng=0)
    >>> solution = solve_closed_form(LrrNoiseFree(), X)
    >>> bool(np.allclose(X @ solution.Z, X)), solution.gap < 1e-9
    (True, True)
    """
    U, sigma, Qt = np.linalg.svd(X.astype(float, copy=False), full_matrices=False)
    kept = sigma > sigma.max(initial=0.0) * max(X.shape) * np.finfo(X.dtype).eps
    U, sigma, Qt = U[:, kept], sigma[kept], Qt[kept]
    unfitted = _unfitted_share(model, sigma)
    Z = ((Qt.T * (1 - unfitted)).astype(X.dtype) @ Qt.astype(X.dtype)).astype(X.dtype, copy=False)
    objective = model.value(X, Z)
    # X - XZ would be mostly rounding error if the fit is close; without noise, X^T E = Q Q^T determines E
    dual = 1 / sigma if isinstance(model, LrrNoiseFree) else sigma * unfitted
    gap = model.gap(X, Z, (U * dual) @ Qt)
    progress = Progress(1, objective, max(gap, 0.0) / objective if objective > 0 else 0.0, 0.0)
    stopping = stopping or Stopping()
    if stopping.callback is not None:
        stopping.callback(progress)
    message = "" if progress.gap <= stopping.tol else _warn_of_rounding(X, progress.gap, stopping.tol)
    return Solution(Z, objective, progress.gap, 1, not message, None, [progress], message)


def _warn_of_rounding(X: Array, gap: float, tol: float) -> str:
    """Warn that rounding errors leave a gap larger than tol, and return the message."""
    message = (
        f"In {X.dtype} rounding leaves a relative duality gap of {gap:.1e}, above tol={tol:g}. The result is "
        "within that gap of the optimum; use float64, a larger weight or a larger tol."
    )
    warn_not_converged(message, stacklevel=4)
    return message


@singledispatch
def _unfitted_share(model: Model, sigma: Array) -> Array:
    """Share ``1 - f`` of each singular value of X that XZ does not fit; stays accurate for f near 1."""
    raise ValueError(f"{type(model).__name__} has no closed form.")


@_unfitted_share.register
def _(model: Lrr, sigma: Array) -> Array:
    return np.asarray(np.minimum(model.lam / sigma**2, 1))


@_unfitted_share.register
def _(model: LrrNoiseFree, sigma: Array) -> Array:
    return np.zeros_like(sigma)


@_unfitted_share.register
def _(model: Lsr, sigma: Array) -> Array:
    return np.asarray(model.lam / (sigma**2 + model.lam))
