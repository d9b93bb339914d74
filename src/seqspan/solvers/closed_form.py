"""Models whose minimum can be written down: one SVD of X and nothing to iterate."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from seqspan._types import Array
from seqspan.models import Lrr, LrrNoiseFree, Lsr, Model
from seqspan.solvers.loop import Progress, Solution, Stopping


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
        Only its callback is used.

    Returns
    -------
    Solution
    """
    sigma, Qt = np.linalg.svd(X, full_matrices=False)[1:]
    kept = sigma > sigma.max(initial=0.0) * max(X.shape) * np.finfo(X.dtype).eps
    sigma, Qt = sigma[kept], Qt[kept]
    Z = np.asarray((Qt.T * _spectrum(model, sigma)) @ Qt)
    objective = model.value(X, Z)
    gap = model.gap(X, Z, _dual_point(model, X, Z))
    progress = Progress(1, objective, max(gap, 0.0) / objective if objective > 0 else 0.0, 0.0)
    if stopping is not None and stopping.callback is not None:
        stopping.callback(progress)
    return Solution(Z, objective, progress.gap, 1, True, None, [progress])


@singledispatch
def _spectrum(model: Model, sigma: Array) -> Array:
    """How each singular value of X is kept in Z."""
    raise ValueError(f"{type(model).__name__} has no closed form.")


@_spectrum.register
def _(model: Lrr, sigma: Array) -> Array:
    return np.asarray(np.maximum(1 - model.lam / sigma**2, 0))


@_spectrum.register
def _(model: LrrNoiseFree, sigma: Array) -> Array:
    return np.ones_like(sigma)


@_spectrum.register
def _(model: Lsr, sigma: Array) -> Array:
    return np.asarray(sigma**2 / (sigma**2 + model.lam))


def _dual_point(model: Model, X: Array, Z: Array) -> Array:
    """The optimal E; without noise the residual is zero and ``X^T E = Q Q^T`` determines it."""
    if not isinstance(model, LrrNoiseFree):
        return X - X @ Z
    # the cut-off of `kept` above; pinv's own is 1e-15 whatever the precision of X
    return np.linalg.pinv(X, rtol=max(X.shape) * float(np.finfo(X.dtype).eps)).T
