"""The fast solver on a GPU: iterates :mod:`seqspan.solvers.gpu.sweeps`, starting from coarser samples."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seqspan._core.backend import require_cupy, require_device_memory, to_host
from seqspan._core.solution import Solution
from seqspan._core.types import Array
from seqspan.models import Model, Osc, SpatSc
from seqspan.solvers.fast.coarse import PENALTY_GROWTH, coarsen
from seqspan.solvers.fast.reduced import Reduced
from seqspan.solvers.fast.solver import (
    CHECK_EVERY,
    COARSE_ITERATIONS,
    COARSE_TOL,
    MAX_INITIAL_R2,
    MIN_COARSE_SAMPLES,
    PENALTIES,
)
from seqspan.solvers.fast.steps import advance
from seqspan.solvers.gpu.device_functions import device_functions_for
from seqspan.solvers.gpu.sweeps import State, Sweeps
from seqspan.solvers.loop import Algorithm, Stopping, run
from seqspan.solvers.scaling import at_ordinary_scale

#: Peak number of n x n and n x rank arrays, coefficients and cut included, and bytes for any size. CuPy's
#: pool may hold more, but returns it when memory runs short. A test checks these numbers.
PEAK_ARRAYS, PEAK_THIN_ARRAYS, FIXED_BYTES = 3.5, 24, 2**27


@at_ordinary_scale
def solve_cuda(
    model: Model, X: Any, *, stopping: Stopping | None = None, start: State | None = None
) -> Solution[State]:
    """Minimise OSC or SpatSC on the current CUDA device, in the precision of X (float32 or float64).

    Parameters
    ----------
    model : Osc or SpatSc
    X : NumPy or CuPy array of shape (d, n)
    stopping : Stopping, optional
    start : State, optional
        Warm start: the ``state`` of an earlier solution. It is modified in place.

    Returns
    -------
    Solution
        The coefficients and the state are CuPy arrays.
    """
    if not isinstance(model, Osc | SpatSc):
        raise ValueError(f"device='cuda' minimises Osc and SpatSc; got {type(model).__name__}.")
    if model.joins:
        raise ValueError(
            "device='cuda' takes one recording at a time: fit several with device='cpu', or one by one."
        )
    cupy = require_cupy()
    began = time.perf_counter()
    d, n = X.shape
    require_device_memory(
        needed_bytes(d, n, X.itemsize),
        f"device='cuda' on {n} samples in {X.dtype}",
        "Use fewer samples (preprocess='subsample:2' keeps every second one), or float32 instead of float64.",
    )
    columns = cupy.asarray(X)
    return solve_with(
        device_functions_for(columns.dtype, cupy.cuda.Device().id),
        model,
        columns,
        stopping or Stopping(),
        start,
        began,
    )


def needed_bytes(d: int, n: int, itemsize: int) -> int:
    """GPU memory in bytes for a fit of n samples with d features.

    Examples
    --------
    >>> round(needed_bytes(62, 9842, 4) / 2**30, 1)
    1.4
    """
    return int((PEAK_ARRAYS * n * n + PEAK_THIN_ARRAYS * n * min(d, n)) * itemsize) + FIXED_BYTES


def solve_with(
    functions: Any,
    model: Osc | SpatSc,
    X: Any,
    stopping: Stopping,
    start: State | None = None,
    began: float | None = None,
) -> Solution[State]:
    """Minimise with the device functions of the device that holds X."""
    sweeps = Sweeps(model, reduce_on_device(X, functions.xp), functions)
    state = start or _cold_start(model, X, sweeps)
    return run(_algorithm(sweeps), state, stopping, warm=start is not None, began=began)


def _algorithm(sweeps: Sweeps) -> Algorithm[State]:
    return Algorithm(
        step=lambda s: _advance(sweeps, s),
        certify=sweeps.certify,
        coefficients=sweeps.coefficients,
        check_every=CHECK_EVERY,
    )


def _advance(sweeps: Sweeps, s: State) -> State:
    """One iteration, with the same penalty rules as on the CPU."""
    return cast(State, advance(cast(Any, sweeps), cast(Any, s)))


def _cold_start(model: Osc | SpatSc, X: Any, sweeps: Sweeps) -> State:
    """Start from the solution for pairwise means, as :mod:`seqspan.solvers.fast.solver` does."""
    if sweeps.n < MIN_COARSE_SAMPLES:
        return sweeps.zero_state(PENALTIES[0], min(PENALTIES[1] * model.lam2, MAX_INITIAL_R2))
    means, coarse_model = halve(X, sweeps.xp), coarsen(model)
    coarse = Sweeps(coarse_model, reduce_on_device(means, sweeps.xp), sweeps.functions)
    state = _cold_start(coarse_model, means, coarse)
    algorithm = replace(_algorithm(coarse), coefficients=lambda _: np.empty(0))  # not needed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # any starting point will do
        solution = run(algorithm, state, Stopping(COARSE_TOL, COARSE_ITERATIONS))
    return coarse.prolong(solution.state, sweeps, PENALTY_GROWTH)


def halve(X: Any, xp: Any) -> Any:
    """:func:`seqspan.solvers.fast.coarse.halve` for NumPy or CuPy arrays."""
    pairs = X.shape[1] // 2
    means = (X[:, 0 : 2 * pairs : 2] + X[:, 1::2]) / 2
    return xp.concatenate([means, X[:, 2 * pairs :]], axis=1)


def reduce_on_device(X: Any, xp: Any) -> Reduced:
    """:func:`seqspan.solvers.fast.reduced.reduce` for NumPy or CuPy arrays.

    The SVD of X is slow on a GPU. A thin QR leaves a small triangular factor, which the host decomposes.
    """
    dtype, (d, n) = X.dtype, X.shape
    precision = float(np.finfo(dtype).eps)
    X = X.astype(float)
    if d <= n:
        basis, triangle = xp.linalg.qr(X.T)
        rotation, sigma = _decompose(triangle, dtype, xp)
        kept = _resolved(sigma, 8 * precision)
        Q, sigma = basis @ rotation[:, : kept.sum()], xp.asarray(sigma[kept])
    else:
        w, Q = xp.linalg.eigh(X.T @ X)
        sigma = np.sqrt(np.maximum(to_host(w), 0))
        # the Gram matrix squares the condition number: below sqrt(eps) its eigenvalues are rounding error
        kept = _resolved(sigma, max(8 * precision, float(np.sqrt(n * np.finfo(float).eps))))
        Q, sigma = Q[:, xp.asarray(np.flatnonzero(kept))], xp.asarray(sigma[kept])
    return Reduced(sigma.astype(dtype), Q.astype(dtype), (Q * sigma).astype(dtype))


def _decompose(triangle: Any, dtype: Any, xp: Any) -> tuple[Any, Array]:
    """Left singular vectors of a small matrix, and its singular values (descending, on the host).

    For float32 they come from its Gram matrix. That loses values below 1e-8 of the largest, which float32
    cannot resolve anyway.
    """
    if dtype == np.float32:
        w, rotation = xp.linalg.eigh(triangle @ triangle.T)
        return rotation[:, ::-1], np.sqrt(np.maximum(to_host(w)[::-1], 0))
    left, sigma, _ = np.linalg.svd(to_host(triangle))
    return xp.asarray(left), sigma


def _resolved(sigma: Array, resolution: float) -> Array:
    """Which singular values are above rounding error; at least one, even if the data are all zero."""
    kept = sigma > resolution * sigma.max()
    kept[np.argmax(sigma)] = True
    return np.asarray(kept)
