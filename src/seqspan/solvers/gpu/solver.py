"""The fast solver on a GPU: iterates :mod:`seqspan.solvers.gpu.sweeps`, starting from coarser samples."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from seqspan._core.backend import require_cupy, require_device_memory, to_host
from seqspan._core.solution import Solution
from seqspan._core.types import Array
from seqspan.models import Model, Osc, SpatSc
from seqspan.solvers.fast.coarse import coarsen, pair_starts
from seqspan.solvers.fast.reduced import Reduced, decompose_atoms
from seqspan.solvers.fast.solver import (
    CHECK_EVERY,
    COARSE_ITERATIONS,
    COARSE_TOL,
    MAX_INITIAL_R2,
    MIN_COARSE_SAMPLES,
    MIN_PART_SAMPLES,
    PENALTIES,
)
from seqspan.solvers.fast.steps import advance
from seqspan.solvers.gpu.device_functions import device_functions_for
from seqspan.solvers.gpu.pieces import LENGTH
from seqspan.solvers.gpu.sweeps import State, Sweeps
from seqspan.solvers.loop import Algorithm, Stopping, run
from seqspan.solvers.scaling import at_ordinary_scale

#: Peak number of n x m and n x rank arrays, coefficients and cut included, and bytes for any size. CuPy's
#: pool may hold more, but returns it when memory runs short. A test checks these numbers.
PEAK_ARRAYS, PEAK_THIN_ARRAYS, FIXED_BYTES = 3.5, 24, 2**27
BLOCK_SAMPLES = 131_072  # samples converted to double precision at a time
MAX_PIECES = 65_535  # blocks that CUDA launches in the direction of time


@at_ordinary_scale
def solve_cuda(
    model: Model,
    X: Any,
    *,
    dictionary: Array | None = None,
    stopping: Stopping | None = None,
    start: State | None = None,
) -> Solution[State]:
    """Minimise OSC or SpatSC on the current CUDA device, in the precision of X (float32 or float64).

    Parameters
    ----------
    model : Osc or SpatSc
    X : NumPy or CuPy array of shape (d, n)
    dictionary : NumPy array of shape (d, n_atoms), optional
        Atoms that represent the samples instead of X, as for
        :func:`seqspan.solvers.fast.solver.solve_fast`.
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
    cupy = require_cupy()
    began = time.perf_counter()
    d, n = X.shape
    if n > MAX_PIECES * LENGTH:
        raise ValueError(f"device='cuda' takes at most {MAX_PIECES * LENGTH} samples; got {n}.")
    n_atoms = n if dictionary is None else dictionary.shape[1]
    require_device_memory(
        needed_bytes(d, n, X.itemsize, n_atoms, 1 + len(model.joins)),
        f"device='cuda' on {n} samples and {n_atoms} atoms in {X.dtype}",
        "Use landmarks as atoms (dictionary='landmarks'), fewer samples (preprocess='subsample:2' keeps "
        "every second one), or float32 instead of float64.",
    )
    columns = cupy.asarray(X)
    functions = device_functions_for(columns.dtype, cupy.cuda.Device().id)
    return solve_with(
        functions, model, columns, stopping or Stopping(), dictionary=dictionary, start=start, began=began
    )


def needed_bytes(d: int, n: int, itemsize: int, n_atoms: int | None = None, n_recordings: int = 1) -> int:
    """GPU memory in bytes for a fit of n samples with d features.

    Examples
    --------
    >>> round(needed_bytes(62, 9842, 4) / 2**30, 1), round(needed_bytes(62, 10**6, 4, 128) / 2**30, 1)
    (1.4, 7.3)
    """
    m = n if n_atoms is None else n_atoms
    large = PEAK_ARRAYS * n * m + (n_recordings - 1) * m
    return int((large + PEAK_THIN_ARRAYS * n * min(d, m)) * itemsize) + FIXED_BYTES


def solve_with(
    functions: Any,
    model: Osc | SpatSc,
    X: Any,
    stopping: Stopping,
    *,
    dictionary: Array | None = None,
    start: State | None = None,
    began: float | None = None,
) -> Solution[State]:
    """Minimise with the device functions of the device that holds X."""
    if dictionary is None:
        sweeps = Sweeps(model, reduce_on_device(X, functions.xp), functions)
        state = start or _cold_start(model, X, sweeps)
    elif model.zero_diagonal:
        raise ValueError("zero_diagonal=True needs the samples as atoms; got another dictionary.")
    else:
        data = reduce_onto_on_device(dictionary, X, functions.xp)
        sweeps = Sweeps(model, data, functions)
        state = start or _cold_start_same_atoms(sweeps, data)
    if state.joins != model.joins:
        sweeps.settle(state)
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
    if not _worth_halving(sweeps):
        return sweeps.zero_state(*_penalties(model))
    means, coarse_model = halve(X, sweeps.xp, model.joins), coarsen(model)
    coarse = Sweeps(coarse_model, reduce_on_device(means, sweeps.xp), sweeps.functions)
    return _start_from(coarse, _cold_start(coarse_model, means, coarse), sweeps)


def _cold_start_same_atoms(sweeps: Sweeps, data: Reduced) -> State:
    """The same for a fixed dictionary: only the samples are averaged, not the atoms."""
    if not _worth_halving(sweeps):
        return sweeps.zero_state(*_penalties(sweeps.model))
    model = sweeps.model
    means = replace(data, Y=halve(data.Y.T, sweeps.xp, model.joins).T, outside=data.outside / 2)
    coarse = Sweeps(coarsen(model, same_atoms=True), means, sweeps.functions)
    return _start_from(coarse, _cold_start_same_atoms(coarse, means), sweeps)


def _worth_halving(sweeps: Sweeps) -> bool:
    """Whether pairwise means are a much smaller problem: many short recordings have few pairs."""
    return bool(sweeps.n >= max(MIN_COARSE_SAMPLES, MIN_PART_SAMPLES * len(sweeps.recordings)))


def _penalties(model: Osc | SpatSc) -> tuple[float, float]:
    """Initial penalties."""
    return PENALTIES[0], min(PENALTIES[1] * model.lam2, MAX_INITIAL_R2)


def _start_from(coarse: Sweeps, state: State, sweeps: Sweeps) -> State:
    """Solve a coarse problem loosely and carry its state over."""
    algorithm = replace(_algorithm(coarse), coefficients=lambda _: np.empty(0))  # not needed
    # no warning: any starting point will do
    solution = run(algorithm, state, Stopping(COARSE_TOL, COARSE_ITERATIONS), warns=False)
    return coarse.prolong(solution.state, sweeps)


def halve(X: Any, xp: Any, joins: Sequence[int] = ()) -> Any:
    """:func:`seqspan.solvers.fast.coarse.halve` for NumPy or CuPy arrays."""
    n = X.shape[1]
    firsts = pair_starts(n, joins)
    seconds = np.append(firsts[1:], n) - 1  # the same, if a recording has an odd number of samples
    return (X[:, xp.asarray(firsts)] + X[:, xp.asarray(seconds)]) / 2


def reduce_onto_on_device(D: Array, X: Any, xp: Any) -> Reduced:
    """:func:`seqspan.solvers.fast.reduced.reduce_onto` for NumPy or CuPy arrays of samples.

    The host decomposes the atoms, which are few.
    """
    basis, sigma, Q = decompose_atoms(D, X.dtype)
    U, dtype, n = xp.asarray(basis), X.dtype, X.shape[1]
    Y, outside = xp.empty((n, len(sigma)), dtype), 0.0
    for start in range(0, n, BLOCK_SAMPLES):
        block = X[:, start : start + BLOCK_SAMPLES].astype(float)
        inside = block.T @ U
        Y[start : start + len(inside)] = inside
        outside += float(((block - U @ inside.T) ** 2).sum()) / 2
    return Reduced(xp.asarray(sigma.astype(dtype)), xp.asarray(Q.astype(dtype)), Y, outside)


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
