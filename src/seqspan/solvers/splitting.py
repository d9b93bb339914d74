"""ADMM for every model: one smooth copy S of Z, and one block per term that is not quadratic.

The S-step is a least-squares problem. A thin SVD of X and the eigenbasis of the coupling make it diagonal.
Each block then takes its own proximal step. This solver is general and simple; :mod:`seqspan.solvers.fast`
is the same scheme for OSC and SpatSC, optimised for speed and memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from seqspan._core.solution import Solution
from seqspan._core.types import Array
from seqspan.models import Model
from seqspan.models.feasibility import check_feasible
from seqspan.models.terms import Squares, Term
from seqspan.solvers.loop import Algorithm, Stopping, run
from seqspan.solvers.scaling import at_ordinary_scale

RELAXATION = 1.7  # over-relaxation factor, in (0, 2)
BALANCE_UNTIL = 300  # iterations; then the penalties stay constant, as convergence proofs require
PENALTIES = {"fit": 1.0, "penalty": 3.0, "coupling": 10.0}  # initial ADMM penalty of each block


@dataclass(frozen=True)
class Block:
    """A term of a linear image of S: ``term(B)`` with ``B = image(S)``."""

    name: str
    term: Term
    image: Callable[[Array], Array]
    adjoint: Callable[[Array], Array]


@dataclass(frozen=True)
class Split:
    """Iterate of one block: B, the scaled multiplier u, the penalty r."""

    B: Array
    u: Array
    r: float

    @property
    def multiplier(self) -> Array:
        """Element of the term's subdifferential at B."""
        return self.r * self.u


@dataclass(frozen=True)
class State:
    """The smooth copy and the splits, keyed by block name."""

    S: Array
    splits: dict[str, Split]
    iteration: int = 0


@at_ordinary_scale
def solve_splitting(
    model: Model, X: Array, *, stopping: Stopping | None = None, start: State | None = None
) -> Solution[State]:
    """Minimise any model by ADMM with balanced penalties and over-relaxation.

    Parameters
    ----------
    model : Model
    X : array of shape (d, n)
    stopping : Stopping, optional
    start : State, optional
        Warm start: the ``state`` of an earlier solution.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        If the model's constraints are infeasible.

    Examples
    --------
    >>> from seqspan.datasets import make_subspaces
    >>> from seqspan.models import Osc
    >>> X, labels = make_subspaces(3, 2, 20, 10, rng=0)
    >>> solution = solve_splitting(Osc(0.1, 1.0), X, stopping=Stopping(tol=1e-3))
    >>> solution.converged, solution.gap <= 1e-3
    (True, True)
    """
    check_feasible(model, X)
    stopping = stopping or Stopping()
    blocks = _blocks(model, X)
    solve = _least_squares(model, X)

    def certify(s: State) -> tuple[float, float]:
        E = s.splits["fit"].multiplier if "fit" in s.splits else _quadratic_fit(model).weight * (X - X @ s.S)
        V = s.splits["coupling"].multiplier if "coupling" in s.splits else None
        Z = s.splits["penalty"].B
        return model.value(X, Z) + model.violation(X, Z, E), model.lower_bound(X, E, V)

    algorithm = Algorithm(
        step=lambda s: _step(blocks, solve, s),
        certify=certify,
        coefficients=lambda s: s.splits["penalty"].B,
    )
    return run(algorithm, start or _cold_start(blocks, X), stopping, warm=start is not None)


def _quadratic_fit(model: Model) -> Squares:
    """The loss, if it is quadratic and so needs no block of its own."""
    return model.loss if isinstance(model.loss, Squares) else Squares()


def _blocks(model: Model, X: Array) -> list[Block]:
    """List the blocks of a model: fit (unless quadratic), penalty, coupling (if any)."""
    blocks = [Block("penalty", model.penalty, lambda S: S, lambda B: B)]
    if not isinstance(model.loss, Squares):
        blocks.append(Block("fit", model.loss, lambda S: X - X @ S, lambda B: -X.T @ (B - X)))
    if model.coupling is not None:
        operator = model.coupling.operator
        blocks.append(Block("coupling", model.coupling.term, operator.apply, operator.adjoint))
    return blocks


def _cold_start(blocks: list[Block], X: Array) -> State:
    """Start from S = 0 with zero multipliers."""
    S = np.zeros((X.shape[1], X.shape[1]), dtype=X.dtype)
    energy = float(np.vdot(X, X)) / X.shape[1]  # 1 for unit columns, for which the penalties were tuned
    penalties = PENALTIES | {"fit": PENALTIES["fit"] / energy if energy > 0 else PENALTIES["fit"]}
    splits = {b.name: Split(b.image(S), np.zeros_like(b.image(S)), penalties[b.name]) for b in blocks}
    return State(S, splits)


def _least_squares(model: Model, X: Array) -> Callable[[Array, dict[str, Split]], Array]:
    """Return a solver of ``(w X^T X + r1 I) S + r2 S D D^T = F`` for any right-hand side and penalties."""
    sigma, Q = np.linalg.svd(X, full_matrices=False)[1:]
    operator = model.coupling.operator if model.coupling else None
    frequencies = (operator.eigenvalues(X.shape[1]) if operator else np.zeros(X.shape[1])).astype(X.dtype)
    quadratic = isinstance(model.loss, Squares)
    G_target = _quadratic_fit(model).weight * (X.T @ X) if quadratic else 0.0

    def solve(F: Array, splits: dict[str, Split]) -> Array:
        weight = _quadratic_fit(model).weight if quadratic else splits["fit"].r
        shift = splits["penalty"].r + (splits["coupling"].r if operator else 0.0) * frequencies
        F = operator.to_eigenbasis(F + G_target) if operator else F + G_target
        inner = 1 / (weight * sigma[:, None] ** 2 + shift) - 1 / shift
        S = F / shift + Q.T @ ((Q @ F) * inner)
        return operator.from_eigenbasis(S) if operator else S

    return solve


def _step(blocks: list[Block], solve: Callable[[Array, dict[str, Split]], Array], s: State) -> State:
    """Solve for S, then update every block from it."""
    F = sum(split.r * b.adjoint(split.B - split.u) for b in blocks for split in [s.splits[b.name]])
    S = solve(np.asarray(F), s.splits)
    iteration = s.iteration + 1
    balance = iteration % 10 == 0 and iteration <= BALANCE_UNTIL
    splits = {b.name: _update(b, S, s.splits[b.name], balance) for b in blocks}
    return State(S, splits, iteration)


def _update(block: Block, S: Array, old: Split, balance: bool) -> Split:
    """Over-relaxed proximal step of one block; also adapts its penalty if `balance` is set."""
    image = block.image(S)
    relaxed = RELAXATION * image + (1 - RELAXATION) * old.B + old.u
    B = block.term.prox(relaxed, 1 / old.r)
    new = Split(B, relaxed - B, old.r)
    return _balanced(new, old, image) if balance else new


def _balanced(new: Split, old: Split, image: Array) -> Split:
    """Scale the penalty to bring the relative primal and dual residuals closer together."""
    tiny = np.finfo(image.dtype).tiny
    primal = np.linalg.norm(image - new.B) / max(np.linalg.norm(new.B), np.linalg.norm(image), tiny)
    dual = np.linalg.norm(new.B - old.B) / max(np.linalg.norm(new.u), tiny)
    if primal == 0 or dual == 0:
        return new
    factor = float(np.clip(np.sqrt(primal / dual), 0.5, 2.0))
    return replace(new, u=new.u / factor, r=new.r * factor)
