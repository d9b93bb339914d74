"""Slow and independent: every objective typed out again from its formula, and minimised by cvxpy.

Nothing here uses a term, an operator or a prox of the library; a model is only asked for its weights.
"""

from __future__ import annotations

import warnings
from functools import singledispatch

import cvxpy as cp
import numpy as np

from seqspan import models


def dense_R(n: int, joins: tuple[int, ...] = ()) -> np.ndarray:
    """The paper's R, (n, n - 1): -1 on the diagonal, 1 below it; without its columns across joins."""
    R = np.zeros((n, n - 1))
    for j in range(n - 1):
        R[j, j], R[j + 1, j] = -1, 1
    return R[:, [j for j in range(n - 1) if j + 1 not in joins]]


def dense_incidence(weights: np.ndarray) -> np.ndarray:
    """One column ``W_ij (e_i - e_j)`` for every pair i < j with a weight."""
    n = len(weights)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if weights[i, j] != 0]
    D = np.zeros((n, len(pairs)))
    for column, (i, j) in enumerate(pairs):
        D[i, column], D[j, column] = weights[i, j], -weights[i, j]
    return D


def _l1(A):
    return np.abs(A).sum()


def _nuclear(A):
    return np.sqrt(np.maximum(np.linalg.eigvalsh(A.T @ A), 0)).sum()


def _columns(A):
    return np.sqrt((A**2).sum(axis=0)).sum()


def _half_squares(A):
    return (A**2).sum() / 2


@singledispatch
def objective(model, X, Z):
    """Evaluate a model by its formula."""
    raise NotImplementedError(type(model).__name__)


@objective.register
def _(model: models.Ssc, X, Z):
    return _half_squares(X - X @ Z) + (np.abs(Z).sum(axis=0) * model.lam).sum()


@objective.register
def _(model: models.SscNoiseFree, X, Z):
    return _l1(Z)


@objective.register
def _(model: models.SscOutliers, X, Z):
    A = X - X @ Z
    if model.lam2 is None:
        return model.lam1 * _half_squares(A) + _l1(Z)
    if model.lam1 is None:
        return model.lam2 * _l1(A) + _l1(Z)
    huber = np.where(
        np.abs(A) * model.lam1 <= model.lam2,
        model.lam1 / 2 * A**2,
        model.lam2 * np.abs(A) - model.lam2**2 / (2 * model.lam1),
    )
    return huber.sum() + _l1(Z)


@objective.register
def _(model: models.Lrr, X, Z):
    return _half_squares(X - X @ Z) + model.lam * _nuclear(Z)


@objective.register
def _(model: models.LrrNoiseFree, X, Z):
    return _nuclear(Z)


@objective.register
def _(model: models.LrrColumnNoise, X, Z):
    return model.lam * _columns(X - X @ Z) + _nuclear(Z)


@objective.register
def _(model: models.Lsr, X, Z):
    return _half_squares(X - X @ Z) + model.lam * _half_squares(Z)


@objective.register
def _(model: models.GraphRegularised, X, Z):
    f = _nuclear(Z) if model.low_rank else _l1(Z)
    n = len(Z)
    pairs = sum(
        model.weights[i, j] * np.sqrt(((Z[:, i] - Z[:, j]) ** 2).sum())
        for i in range(n)
        for j in range(i + 1, n)
    )
    return _half_squares(X - X @ Z) + model.fit_weight * f + model.lam * pairs


@objective.register
def _(model: models.SpatSc, X, Z):
    return _half_squares(X - X @ Z) + model.lam1 * _l1(Z) + model.lam2 * _l1(Z @ dense_R(len(Z), model.joins))


@objective.register
def _(model: models.Osc, X, Z):
    coupled = _columns(Z @ dense_R(len(Z), model.joins))
    return _half_squares(X - X @ Z) + model.lam1 * _l1(Z) + model.lam2 * coupled


@objective.register
def _(model: models.OscLowRank, X, Z):
    coupled = _columns(Z @ dense_R(len(Z), model.joins))
    return _half_squares(X - X @ Z) + model.lam1 * _nuclear(Z) + model.lam2 * coupled


def minimum(model, X, **options) -> float:
    """Minimise a model by cvxpy and Clarabel; what is returned is its optimal value."""
    Z = cp.Variable((X.shape[1], X.shape[1]))
    cost, constraints = formulate(model, X, Z)
    problem = cp.Problem(cp.Minimize(cost), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cvxpy's own, about its own future
        problem.solve(solver=cp.CLARABEL, **options)
    if problem.status != cp.OPTIMAL:
        raise RuntimeError(f"The oracle found no optimum of {model}: {problem.status}.")
    return float(problem.value)


def _cp_half_squares(A):
    return cp.sum_squares(A) / 2


def _cp_columns(A):
    return cp.sum(cp.norm(A, 2, axis=0))


def _cp_l1(A):
    return cp.sum(cp.abs(A))


@singledispatch
def formulate(model, X, Z):
    """Write a model down for cvxpy: cost and constraints."""
    raise NotImplementedError(type(model).__name__)


@formulate.register
def _(model: models.Ssc, X, Z):
    lam = np.broadcast_to(model.lam, X.shape[1])
    weighted = sum(lam[j] * cp.norm1(Z[:, j]) for j in range(X.shape[1]))
    return _cp_half_squares(X - X @ Z) + weighted, [cp.diag(Z) == 0]


@formulate.register
def _(model: models.SscNoiseFree, X, Z):
    return _cp_l1(Z), [cp.diag(Z) == 0, X @ Z == X]


@formulate.register
def _(model: models.SscOutliers, X, Z):
    constraints, rest, cost = [cp.diag(Z) == 0], X - X @ Z, _cp_l1(Z)
    if model.lam2 is not None:
        S = cp.Variable(X.shape)
        rest, cost = rest - S, cost + model.lam2 * _cp_l1(S)
    if model.lam1 is None:
        return cost, [*constraints, rest == 0]
    return cost + model.lam1 * _cp_half_squares(rest), constraints


@formulate.register
def _(model: models.Lrr, X, Z):
    return _cp_half_squares(X - X @ Z) + model.lam * cp.normNuc(Z), []


@formulate.register
def _(model: models.LrrNoiseFree, X, Z):
    return cp.normNuc(Z), [X @ Z == X]


@formulate.register
def _(model: models.LrrColumnNoise, X, Z):
    return model.lam * _cp_columns(X - X @ Z) + cp.normNuc(Z), []


@formulate.register
def _(model: models.Lsr, X, Z):
    return _cp_half_squares(X - X @ Z) + model.lam * _cp_half_squares(Z), []


@formulate.register
def _(model: models.GraphRegularised, X, Z):
    f = cp.normNuc(Z) if model.low_rank else _cp_l1(Z)
    pairs = _cp_columns(Z @ dense_incidence(model.weights))
    return _cp_half_squares(X - X @ Z) + model.fit_weight * f + model.lam * pairs, []


@formulate.register
def _(model: models.SpatSc, X, Z):
    coupled = _cp_l1(Z @ dense_R(X.shape[1], model.joins))
    cost = _cp_half_squares(X - X @ Z) + model.lam1 * _cp_l1(Z) + model.lam2 * coupled
    return cost, [cp.diag(Z) == 0] if model.zero_diagonal else []


@formulate.register
def _(model: models.Osc, X, Z):
    coupled = _cp_columns(Z @ dense_R(X.shape[1], model.joins))
    cost = _cp_half_squares(X - X @ Z) + model.lam1 * _cp_l1(Z) + model.lam2 * coupled
    return cost, [cp.diag(Z) == 0] if model.zero_diagonal else []


@formulate.register
def _(model: models.OscLowRank, X, Z):
    coupled = _cp_columns(Z @ dense_R(X.shape[1], model.joins))
    return _cp_half_squares(X - X @ Z) + model.lam1 * cp.normNuc(Z) + model.lam2 * coupled, []


def plain_bound(model, X, E, V) -> float:
    """The certificate of the design notes for squared loss and a coupling, word for word.

    V is cut down to its ball, then ``s = min(1, weight / dual norm of X^T E - V D^T)`` scales (E, V).
    """
    graph = isinstance(model, models.GraphRegularised)
    D = dense_incidence(model.weights) if graph else dense_R(X.shape[1], model.joins)
    lam1, lam2 = (model.fit_weight, model.lam) if graph else (model.lam1, model.lam2)
    if isinstance(model, models.SpatSc):
        V = np.clip(V, -lam2, lam2)
    else:
        V = V * np.minimum(1, lam2 / np.maximum(np.sqrt((V**2).sum(axis=0)), 1e-300))
    M = X.T @ E - V @ D.T
    if getattr(model, "zero_diagonal", False):
        M = M - np.diag(np.diag(M))
    nuclear = isinstance(model, models.OscLowRank) or (graph and model.low_rank)
    size = np.sqrt(np.linalg.eigvalsh(M.T @ M)[-1]) if nuclear else np.abs(M).max()
    s = min(1.0, lam1 / size)
    return s * (E * X).sum() - s**2 * (E**2).sum() / 2
