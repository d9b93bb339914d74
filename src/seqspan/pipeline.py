"""The only way from a recording to a segmentation: :func:`represent`, then :func:`cut`.

``seqspan.segment``, the estimators and the command line all call these two functions and make no decisions
of their own. Every stage is a plain function in its own package. This module connects them, turns rows into
columns, and checks before each stage that there is enough memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from seqspan._core.backend import is_on_gpu, namespace, require_cupy, to_host
from seqspan._core.display import Display
from seqspan._core.kernels import Kernel, kernel_map
from seqspan._core.memory import OVERHEAD_BYTES, require_memory
from seqspan._core.scaling import convert_precision, leave_headroom, scale_columns
from seqspan._core.solution import Solution
from seqspan._core.spans import Division, divide_short_spans
from seqspan._core.text import count_of
from seqspan._core.types import Array
from seqspan.cuts import Cutter, cut_bytes, make_cutter
from seqspan.cuts.cutting import Cutting
from seqspan.cuts.numbers import check_grain, check_numbers
from seqspan.models import Model, Osc, OscLowRank, SpatSc
from seqspan.preprocess import Chain, make_chain
from seqspan.preprocess._steps import UnitNorm
from seqspan.recording import Recording
from seqspan.recording import as_recording as as_recording
from seqspan.representation import Representation
from seqspan.results.cache import SolutionCache
from seqspan.results.fingerprints import hash_problem
from seqspan.segmentation import Segmentation
from seqspan.solvers import SOLVERS, Stopping
from seqspan.solvers.fast.landmarks import (
    MAX_FULL_SAMPLES,
    choose_landmarks,
    on_landmarks,
    solve_on_landmarks,
)
from seqspan.solvers.memory import solver_bytes

__all__ = ["Method", "cut", "represent"]

MIN_SAMPLES = 3  # fewest samples that can be segmented
CONSTANT = "All samples are equal, so nothing divides the recording."  # note for the user
LLVM = "llvmlite"  # library that compiled loops load on first use


@dataclass(frozen=True)
class Method:
    """How samples are represented.

    Parameters
    ----------
    make_model : callable
        Makes the model for samples X (d, n), and chooses weights given as "auto" from them.
    solver : str
        A name in :data:`seqspan.solvers.SOLVERS`.
    preprocess : None, "auto", str or steps
        As for :func:`seqspan.preprocess.make_chain`; None leaves the rows as they are.
    normalize : bool
        Scale every sample to unit norm.
    kernel : {"linear", "cosine", "rbf"} or callable
    dtype : str, optional
        Precision of the solver; that of the samples by default.
    dictionary : {"samples", "landmarks", "auto"}, or array of shape (n_atoms, n_features)
        An array holds atoms with the features that samples have after preprocessing.
    n_landmarks : int or "auto"
    device : {"cpu", "cuda"}
    stopping : Stopping
    n_jobs : int, optional

    Examples
    --------
    >>> Method(lambda X: Osc(0.1, 1.0)).solver
    'fast'
    """

    make_model: Callable[[Array], Model]
    solver: str = "fast"
    preprocess: Any = None
    normalize: bool = True
    kernel: Kernel = "linear"
    dtype: str | None = None
    dictionary: str | Array = "samples"
    n_landmarks: int | str = "auto"
    device: str = "cpu"
    stopping: Stopping = field(default_factory=Stopping)
    n_jobs: int | None = None


@dataclass
class WarmStart:
    """The last solver's final state, as a starting point for a problem of the same shape.

    Examples
    --------
    >>> warm = WarmStart()
    >>> warm.keep(("osc", 100), "state")
    >>> warm.start_for(("osc", 100)), warm.start_for(("osc", 200))
    ('state', None)
    """

    problem: tuple[Any, ...] = ()
    state: Any = None

    def start_for(self, problem: tuple[Any, ...]) -> Any:
        """Return the state if it fits the problem, otherwise None."""
        return self.state if self.problem == problem else None

    def keep(self, problem: tuple[Any, ...], state: Any) -> None:
        """Keep the state for the next fit."""
        self.problem, self.state = problem, state


def represent(
    recording: Recording,
    method: Method,
    *,
    cutting: Cutting | None = None,
    cache: SolutionCache | None = None,
    warm: WarmStart | None = None,
    display: Display | None = None,
) -> Representation:
    """Preprocess a recording and represent its samples by each other, or by landmarks.

    Parameters
    ----------
    recording : Recording
    method : Method
    cutting : Cutting, optional
        Settings of the later cut, so that they are checked before spending minutes on solving.
    cache : SolutionCache, optional
        Cache of the last solution; it is reused if the problem is the same, and otherwise replaced.
    warm : WarmStart, optional
        State to start from; it is replaced by the final state of this solver.
    display : Display, optional
        Shows the stages and records their times.

    Returns
    -------
    Representation

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> X, _ = make_subspaces(rng=0)
    >>> found = represent(as_recording(X.T), Method(lambda X: Osc(0.1, 1.0)))
    >>> found.Z.shape, found.solution.gap <= 0.01
    ((100, 100), True)
    """
    display = display or Display()
    with display.stage("preparing"):
        chain = Chain() if method.preprocess is None else _choose_chain(recording, method)
        without, unit = _without_unit_norm(chain)
        samples = _prepare(recording, without, method)
        X = _columns(samples, method, unit=unit or method.normalize)
        rows = chain.rows(len(recording), recording.joins)
        if len(rows) < min(MIN_SAMPLES, len(recording)):
            raise ValueError(
                f"preprocess={method.preprocess!r} leaves {len(rows)} of {len(recording)} samples; at least "
                f"{MIN_SAMPLES} are needed."
            )
        joins = tuple(np.searchsorted(rows, recording.joins).tolist())
        if cutting is not None:
            _check(cutting, X.shape[1], joins)
        model = _with_joins(method.make_model(X), joins)
        atoms, notes = _choose_atoms(X, model, method, unit=unit or method.normalize)
        notes = (CONSTANT, *notes) if _is_constant(recording.X) else notes
    with display.stage("solving"):
        key = "" if cache is None else hash_problem(to_host(X), _describe(model, method, atoms))
        kept = None if cache is None else cache.load(key)
        solution = kept or _solve(X, model, method, atoms, warm, display)
        if cache is not None and kept is None:
            cache.save(key, solution)
    notes = (*notes, solution.message) if solution.message else notes
    return Representation(
        recording=recording,
        X=X,
        samples=samples,
        rows=rows,
        model=model,
        solution=solution,
        landmarks=atoms,
        steps=chain.records(),
        reasons=chain.reasons,
        notes=notes,
        reused=kept is not None,
        reach=chain.reach,
    )


def cut(
    found: Representation,
    cutting: Cutting,
    *,
    cutter: Cutter | None = None,
    display: Display | None = None,
) -> Segmentation:
    """Turn coefficients into spans and labels.

    Parameters
    ----------
    found : Representation
    cutting : Cutting
    cutter : Cutter, optional
        From an earlier cut of the same representation, to reuse what it computed.
    display : Display, optional
        Shows the stage and records its time.

    Returns
    -------
    Segmentation

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> X, _ = make_subspaces(rng=0)
    >>> found = represent(as_recording(X.T), Method(lambda X: Osc(0.1, 1.0)))
    >>> cut(found, Cutting("ordered")).boundaries
    array([20, 40, 60, 80])
    """
    display = display or Display()
    _check(cutting, found.X.shape[1], found.joins)
    with display.stage("cutting"):
        if cutter is None:
            _require_cut_memory(found, cutting)
            cutter = make_cutter(
                cutting.cut,
                found.samples.T,
                found.Z,
                min_length=cutting.min_length,
                rng=cutting.seed,
                n_jobs=cutting.n_jobs,
                joins=found.joins,
            )
        division = _leave_out_transitions(
            found, cutting, cutter, cutter.cut(cutting.n_spans, cutting.n_subspaces, cutting.grain)
        )
        labels = division.sample_labels(found.Z.shape[1])
    notes = _note_fewer_spans(cutting, division)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return Segmentation(
        recording=found.recording,
        labels=found.to_rows(labels),
        boundaries=found.rows[division.boundaries],
        gap=found.solution.gap,
        cutting=cutting,
        representation=found,
        cutter=cutter,
        seconds=display.seconds,
        again=cut,
        notes=notes,
    )


def _note_fewer_spans(cutting: Cutting, division: Division) -> tuple[str, ...]:
    """Say so if there are fewer spans than were asked for: coefficients have only so many peaks."""
    wanted = cutting.n_subspaces if isinstance(cutting.n_spans, str) else cutting.n_spans
    found = len(division.labels)
    if cutting.cut != "peaks" or isinstance(wanted, str) or found >= wanted:
        return ()
    return (f"{count_of(wanted, 'span')} were asked for, but the coefficients have peaks for {found} only.",)


def _leave_out_transitions(
    found: Representation, cutting: Cutting, cutter: Cutter, division: Division
) -> Division:
    """Divide spans between their neighbours in which hardly a sample is beside neighbours of its own kind.

    If samples were put beside their neighbours, those around a change are beside some of either kind, and
    such spans are what is found there. Labels are found without them, too. Numbers that were asked for stay.
    """
    if found.reach == 0 or not cutting.n_spans == cutting.n_subspaces == "auto":
        return division
    shortest = cutting.min_length + 2 * found.reach
    divided = divide_short_spans(division, shortest, found.Z.shape[1], found.joins)
    return cutter.share_labels(divided, found.reach)


def _check(cutting: Cutting, n_samples: int, joins: tuple[int, ...]) -> None:
    """Check that the cut can give the numbers that it will be asked for."""
    check_grain(cutting.cut, cutting.grain, cutting.n_spans, cutting.n_subspaces)
    check_numbers(cutting.cut, n_samples, cutting.n_spans, cutting.n_subspaces, cutting.min_length, joins)


def _with_joins(model: Model, joins: tuple[int, ...]) -> Model:
    """The same model without a penalty between recordings, if it couples neighbours at all."""
    return replace(model, joins=joins) if isinstance(model, Osc | SpatSc | OscLowRank) else model


def _choose_chain(recording: Recording, method: Method) -> Chain:
    """The preprocessing steps; "auto" chooses them by the kind of recording."""
    return make_chain(method.preprocess, to_host(recording.X), recording.kind, recording.joins)


def _is_constant(X: Array) -> bool:
    """Whether all rows are equal."""
    return bool((X.max(axis=0) == X.min(axis=0)).all())


def _without_unit_norm(chain: Chain) -> tuple[Chain, bool]:
    """The chain without unit norm as its last step, and whether that was its last step."""
    if chain.steps and isinstance(chain.steps[-1], UnitNorm):
        return replace(chain, steps=chain.steps[:-1]), True
    return chain, False


def _prepare(recording: Recording, chain: Chain, method: Method) -> Array:
    """Rows after preprocessing, in a precision that holds them."""
    X = recording.X
    if chain.steps:
        rows = to_host(X)
        X = chain.apply(leave_headroom(rows) if _ignores_scale(method) else rows, recording.joins)
        if not np.all(np.isfinite(X)):
            raise ValueError(f"preprocess={method.preprocess!r} overflowed {X.dtype}: scale X down first.")
    return X if X.dtype in (np.float32, np.float64) else X.astype(method.dtype or np.float64)


def _columns(rows: Array, method: Method, *, unit: bool) -> Array:
    """Samples as columns on the device, scaled to unit norm if requested, mapped by the kernel.

    The precision of the solver comes last: it may not hold the samples before they are scaled.
    """
    if method.device == "cuda":
        rows = require_cupy().asarray(rows)
    columns = namespace(rows).ascontiguousarray(rows.T)
    if method.kernel != "linear":
        # far from zero, samples of unit norm differ only in their last digits, which a kernel depends on
        columns = to_host(columns).astype(np.float64)
    if unit:
        columns = scale_columns(columns)
    mapped = kernel_map(columns, method.kernel)
    return convert_precision(mapped, method.dtype or rows.dtype)


def _ignores_scale(method: Method) -> bool:
    """Whether samples multiplied by any number have the same coefficients."""
    return method.normalize or method.kernel in ("cosine", "rbf")


def _choose_atoms(
    X: Array, model: Model, method: Method, *, unit: bool
) -> tuple[Array | None, tuple[str, ...]]:
    """Landmarks or given atoms, or None if the samples represent each other; also notes for the user."""
    n = X.shape[1]
    given = None if isinstance(method.dictionary, str) else np.asarray(method.dictionary)
    chosen = method.dictionary if isinstance(method.dictionary, str) else "landmarks"
    fits = isinstance(model, Osc | SpatSc) and (method.solver, method.kernel) == ("fast", "linear")
    if chosen == "landmarks" and not fits:
        what = "'landmarks'" if given is None else "array"
        raise ValueError(
            f"dictionary={what} is for OSC with penalty='l1' and SpatSC, with solver='fast' and "
            f"kernel='linear'; got {type(model).__name__} with solver={method.solver!r} and "
            f"kernel={method.kernel!r}."
        )
    if chosen == "samples" or not fits or (chosen == "auto" and n <= MAX_FULL_SAMPLES):
        return None, ()
    if given is not None:
        return _given_atoms(X, given, method, unit=unit), ()
    atoms = choose_landmarks(X, method.n_landmarks, n_jobs=method.n_jobs)
    if chosen == "landmarks":
        return atoms, ()
    note = (
        f"{n} samples are represented by {atoms.shape[1]} landmarks, because dictionary='auto' uses all "
        f"samples as atoms only up to {MAX_FULL_SAMPLES} samples."
    )
    warnings.warn(note, stacklevel=4)
    return atoms, (note,)


def _given_atoms(X: Array, atoms: Array, method: Method, *, unit: bool) -> Array:
    """The user's atoms as columns, scaled as the samples are."""
    if atoms.ndim != 2 or atoms.shape[1] != X.shape[0] or not np.all(np.isfinite(atoms)):
        raise ValueError(
            f"dictionary must hold finite atoms as rows with {X.shape[0]} features, as many as the samples "
            f"have; got shape {atoms.shape}."
        )
    return np.asarray(to_host(_columns(atoms.astype(X.dtype), method, unit=unit)))


def _solve(
    X: Array, model: Model, method: Method, atoms: Array | None, warm: WarmStart | None, display: Display
) -> Solution[Any]:
    """Run the solver. Its state is twice the size of the coefficients, so it is kept only for warm starts."""
    stopping = method.stopping
    options: dict[str, Any] = {
        "stopping": replace(stopping, callback=_both(display.follow(stopping.tol), stopping.callback))
    }
    problem = _describe_shape(model, method, X, atoms)
    if warm is not None and (start := warm.start_for(problem)) is not None:
        options["start"] = start
    solution = _find_solver(model, method, X, atoms)(**options)
    if warm is not None:
        warm.keep(problem, solution.state)
    return replace(solution, state=None)


def _find_solver(model: Model, method: Method, X: Array, atoms: Array | None) -> Callable[..., Solution[Any]]:
    """The solver with all arguments except the stopping rule and the starting point."""
    if method.device == "cuda":
        from seqspan.solvers.gpu.solver import solve_cuda

        if atoms is None or not isinstance(model, Osc | SpatSc):
            return partial(solve_cuda, model, X)
        return partial(solve_cuda, on_landmarks(model, atoms.shape[1], X.shape[1]), X, dictionary=atoms)
    _require_solver_memory(X, model, method, atoms)
    if atoms is not None and isinstance(model, Osc | SpatSc):
        return partial(solve_on_landmarks, model, X, atoms, n_jobs=method.n_jobs)
    if method.solver == "fast":
        return partial(SOLVERS["fast"], model, X, n_jobs=method.n_jobs)
    return partial(SOLVERS[method.solver], model, X)


def _both(first: Callable[[Any], None], second: Callable[[Any], None] | None) -> Callable[[Any], None]:
    """Combine two callbacks."""

    def callback(progress: Any) -> None:
        first(progress)
        if second is not None:
            second(progress)

    return callback


def _require_solver_memory(X: Array, model: Model, method: Method, atoms: Array | None) -> None:
    """Raise a MemoryError if the solver would not fit."""
    n = X.shape[1]
    n_atoms = None if atoms is None else atoms.shape[1]
    what = f"{n} samples" if atoms is None else f"{n} samples and {n_atoms} landmarks"
    narrower = "float32 instead of float64, " if X.dtype == np.float64 else ""
    fewer = (
        "landmarks as atoms (dictionary='landmarks')" if atoms is None else "fewer landmarks (n_landmarks)"
    )
    require_memory(
        OVERHEAD_BYTES
        + solver_bytes(method.solver, model, X.shape, X.dtype, n_atoms=n_atoms, n_jobs=method.n_jobs),
        f"Solver {method.solver!r} on {what} in {X.dtype}",
        f"Use {fewer}, {narrower}or fewer samples (preprocess='subsample:2' keeps every second one).",
        loads=LLVM if method.solver == "fast" else None,
    )


def _require_cut_memory(found: Representation, cutting: Cutting) -> None:
    """Raise a MemoryError if the cut would not fit."""
    Z = found.Z
    if is_on_gpu(Z) and cutting.cut == "ncut":
        return
    require_memory(
        OVERHEAD_BYTES + cut_bytes(cutting.cut, Z.shape, Z.dtype, cutting.n_subspaces),
        f"cut={cutting.cut!r} of {Z.shape[1]} samples in {Z.dtype}",
        "Use fewer samples (preprocess='subsample:2' keeps every second one), landmarks as atoms "
        "(dictionary='landmarks') or another cut.",
        loads=LLVM if cutting.cut == "ordered" else None,
    )


def _describe(model: Model, method: Method, atoms: Array | None) -> dict[str, Any]:
    """Everything besides the samples that a solution depends on."""
    return {
        "model": repr(model),
        "solver": method.solver,
        "device": method.device,
        "tol": method.stopping.tol,
        "max_iter": method.stopping.max_iter,
        "published": method.stopping.published,
        "n_atoms": None if atoms is None else atoms.shape[1],
        "atoms": None if isinstance(method.dictionary, str) else np.asarray(method.dictionary).tolist(),
    }


def _describe_shape(model: Model, method: Method, X: Array, atoms: Array | None) -> tuple[Any, ...]:
    """What two problems must have in common for a warm start."""
    shape = X.shape[1], (X if atoms is None else atoms).shape, X.dtype
    return type(model), getattr(model, "zero_diagonal", None), method.solver, method.device, *shape
