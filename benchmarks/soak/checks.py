"""What must hold for every fit; objectives are written again here from their formulas."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import linprog

from benchmarks.soak.cases import Case
from seqspan import models
from seqspan._core.scaling import binary_exponent, scale_columns
from seqspan.solvers import SOLVERS, Stopping
from seqspan.solvers.fast.landmarks import on_landmarks

ROUNDING = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}  # of objectives, relative
SOLVED_AGAIN = 25  # samples; up to this many, every third fit is solved again by another solver


def find_faults(case: Case, warned: bool) -> Iterator[str]:
    """Yield everything that is wrong with a fitted estimator."""
    fitted, n = case.estimator, len(case.X)
    yield from _not_finite(fitted)
    if case.blocks:
        yield from _wrong_spans_online(fitted, n)
        return
    yield from _wrong_labels(fitted, n)
    if fitted.dual_gap_ < 0:
        yield f"negative gap {fitted.dual_gap_}"
    if fitted.dual_gap_ > getattr(fitted, "tol", np.inf) and not warned and _stops_by_gap(fitted):
        yield f"gap {fitted.dual_gap_:.2e} above tol without a warning"
    yield from _wrong_certificate(case)


def _stops_by_gap(fitted: Any) -> bool:
    return bool(getattr(fitted, "stopping", "gap") == "gap")


def _not_finite(fitted: Any) -> Iterator[str]:
    """Check the fitted attributes and the history."""
    for name, value in vars(fitted).items():
        if name.endswith("_") and not name.startswith("_"):
            values = [vars(entry) for entry in value] if name == "history_" else [{name: value}]
            for entry in values:
                for key, number in entry.items():
                    if isinstance(number, float | np.ndarray) and not np.all(np.isfinite(number)):
                        yield f"{name} {key} is not finite"
    if hasattr(fitted, "dual_gap_") and not np.all(np.isfinite(fitted.coef_)):
        yield "coef_ is not finite"


def _wrong_labels(fitted: Any, n: int) -> Iterator[str]:
    labels, boundaries = np.asarray(fitted.labels_), np.asarray(fitted.boundaries_)
    if labels.shape != (n,) or labels.dtype.kind != "i":
        yield f"labels of shape {labels.shape}, {labels.dtype} for {n} samples"
        return
    if len(np.unique(labels)) != fitted.n_subspaces_ or labels.min() != 0 or labels[0] != 0:
        yield f"labels {np.unique(labels)} for n_subspaces_={fitted.n_subspaces_}"
    if labels.max() != fitted.n_subspaces_ - 1:
        yield f"largest label {labels.max()} of {fitted.n_subspaces_}"
    if np.any(np.diff(boundaries) <= 0) or np.any(boundaries < 1) or np.any(boundaries >= n):
        yield f"boundaries {boundaries} of {n} samples"
    changes = np.flatnonzero(np.diff(labels)) + 1
    same = np.isin(changes, boundaries).all() and (fitted.cut == "ordered" or len(changes) == len(boundaries))
    if not same:
        yield f"boundaries {boundaries} but labels change at {changes}"
    yield from _wrong_counts(fitted)


def _wrong_counts(fitted: Any) -> Iterator[str]:
    """Check the numbers that were asked for; with peaks there may be fewer."""
    if (
        fitted.cut != "peaks"
        and isinstance(fitted.n_subspaces, int)
        and fitted.n_subspaces_ != fitted.n_subspaces
    ):
        yield f"{fitted.n_subspaces_} labels instead of {fitted.n_subspaces}"
    if isinstance(fitted.n_spans, int):
        found = len(fitted.boundaries_) + 1
        if found > fitted.n_spans or (fitted.cut == "ordered" and found != fitted.n_spans):
            yield f"{found} spans instead of {fitted.n_spans}"


def _wrong_spans_online(fitted: Any, n: int) -> Iterator[str]:
    boundaries = np.asarray(fitted.boundaries_)
    if fitted.n_samples_seen_ != n or fitted.n_final_ != len(boundaries):
        yield f"{fitted.n_samples_seen_} of {n} samples, {fitted.n_final_} of {len(boundaries)} final"
    if np.any(np.diff(boundaries) <= 0) or np.any(boundaries < 1) or np.any(boundaries >= n):
        yield f"boundaries {boundaries} of {n} samples"
    if len(fitted.span_labels_) != len(boundaries) + 1 or fitted.span_labels_.min() < 0:
        yield f"span labels {fitted.span_labels_} for boundaries {boundaries}"
    if isinstance(fitted.n_subspaces, int) and fitted.n_subspaces_ > fitted.n_subspaces:
        yield f"{fitted.n_subspaces_} labels, more than {fitted.n_subspaces}"


def _wrong_certificate(case: Case) -> Iterator[str]:
    """Check that the objective is that of ``coef_``, and that no rival lies below the bound."""
    fitted = case.estimator
    model, X, D = _problem(case)
    rounding, on_samples = ROUNDING[X.dtype], D is X
    X, D, Z = X.astype(float), D.astype(float), np.asarray(fitted.coef_, dtype=float)
    # if the fit is perfect, the residual is rounding, which a large weight turns into a large value
    left = 4 * float(np.finfo(fitted.coef_.dtype).eps) * objective(model, X, np.zeros_like(Z))
    size = abs(fitted.objective_) + left / rounding
    exact = isinstance(model, models.SscNoiseFree | models.LrrNoiseFree)  # violating the constraint costs too
    here = objective(model, X - D @ Z, Z)
    if here > fitted.objective_ + rounding * size or (
        not exact and here < fitted.objective_ - rounding * size
    ):
        yield f"objective_ {fitted.objective_:.9g}, but coef_ has {here:.9g}"
    bound = fitted.objective_ * (1 - fitted.dual_gap_)
    if not exact:
        for name, rival in _rivals(Z, _has_no_diagonal(model)):
            value = objective(model, X - D @ rival, rival)
            if value < bound - rounding * max(size, value):
                yield f"{name} has {value:.9g}, below the certified bound {bound:.9g}"
    if len(X.T) > SOLVED_AGAIN or case.seed % 3 or not on_samples:
        return
    if isinstance(model, models.SscNoiseFree):
        yield from _wrong_beside_linear_programme(X, bound)
    elif not exact:
        yield from _wrong_beside_another(fitted, model, X, bound, rounding * size)


def _problem(case: Case) -> tuple[models.Model, np.ndarray, np.ndarray]:
    """Model, samples and atoms as columns, as the solver got them."""
    found = case.estimator.segmentation_.representation
    if found.landmarks is None:
        return found.model, found.X, found.X
    return on_landmarks(found.model, found.landmarks.shape[1], found.X.shape[1]), found.X, found.landmarks


def _has_no_diagonal(model: models.Model) -> bool:
    return isinstance(model, models.Ssc | models.SscOutliers) or bool(getattr(model, "zero_diagonal", False))


def _rivals(Z: np.ndarray, no_diagonal: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Yield other coefficients; none of them may lie below the bound."""
    for factor in (0.0, 0.5, 0.9, 1.1):
        yield f"{factor} coef_", factor * Z
    smooth = np.repeat(Z.mean(axis=1, keepdims=True), Z.shape[1], axis=1)
    blurred = (Z + np.roll(Z, 1, axis=1)) / 2
    for name, rival in (
        ("the mean of coef_", smooth),
        ("blurred coef_", blurred),
        ("identity", np.eye(*Z.shape)),
    ):
        if no_diagonal:
            np.fill_diagonal(rival, 0)
        yield name, rival


def _wrong_beside_another(
    fitted: Any, model: models.Model, X: np.ndarray, bound: float, slack: float
) -> Iterator[str]:
    """Check that the bound of each of two solvers lies below the objective of the other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = SOLVERS["splitting"](model, X, stopping=Stopping(1e-5, 500))
    if not np.isfinite(other.objective):
        return
    if other.objective < bound - slack:
        yield f"another solver reached {other.objective:.9g}, below the certified bound {bound:.9g}"
    other_bound = other.objective * (1 - other.gap)
    if other_bound > fitted.objective_ + slack:
        yield f"another solver's bound {other_bound:.9g} is above {fitted.objective_:.9g}"


def _wrong_beside_linear_programme(X: np.ndarray, bound: float) -> Iterator[str]:
    """Compare with the least ``||z||_1`` such that ``X z = x_j``, ``z_j = 0``, if there is one.

    The programme gets samples of norm one, because its tolerances are absolute.
    """
    norms = np.linalg.norm(np.ldexp(X, -binary_exponent(X)), axis=0)
    X, norms, least = scale_columns(X)[:, norms > 0], norms[norms > 0], 0.0  # zeros need and give nothing
    for j, sample in enumerate(X.T):
        others, prices = np.delete(X, j, axis=1), norms[j] / np.delete(norms, j)
        found = linprog(np.tile(prices, 2), A_eq=np.hstack([others, -others]), b_eq=sample)
        if found.status != 0:
            return
        least += float(found.fun)
    if bound > least * (1 + 1e-5):
        yield f"a linear programme reached {least:.9g}, below the certified bound {bound:.9g}"


def objective(model: models.Model, E: np.ndarray, Z: np.ndarray) -> float:
    """Evaluate a model at the residual E and coefficients Z, by its formula."""
    half, absolute = np.sum(E**2) / 2, np.abs(Z).sum()
    if isinstance(model, models.Ssc):
        return float(half + np.sum(np.abs(Z) * model.lam))
    if isinstance(model, models.Lsr):
        return float(half + model.lam / 2 * np.sum(Z**2))
    if isinstance(model, models.SscNoiseFree):
        return float(absolute)
    if isinstance(model, models.SscOutliers):
        return float(_huber(model, E) + absolute)
    if isinstance(model, models.SpatSc):
        return float(half + model.lam1 * absolute + model.lam2 * np.abs(np.diff(Z, axis=1)).sum())
    jumps = np.sqrt(np.sum(np.diff(Z, axis=1) ** 2, axis=0)).sum()
    if isinstance(model, models.Osc):
        return float(half + model.lam1 * absolute + model.lam2 * jumps)
    nuclear = np.linalg.svd(Z, compute_uv=False).sum()
    if isinstance(model, models.OscLowRank):
        return float(half + model.lam1 * nuclear + model.lam2 * jumps)
    if isinstance(model, models.LrrColumnNoise):
        return float(model.lam * np.sqrt(np.sum(E**2, axis=0)).sum() + nuclear)
    return float(nuclear if isinstance(model, models.LrrNoiseFree) else half + model.lam * nuclear)


def _huber(model: models.SscOutliers, E: np.ndarray) -> float:
    """Evaluate noise and outliers together: quadratic near zero, then linear."""
    size = np.abs(E)
    if model.lam1 is None or model.lam2 is None:
        return float(model.lam2 * size.sum() if model.lam1 is None else model.lam1 / 2 * np.sum(E**2))
    small = np.minimum(size, model.lam2 / model.lam1)
    return float(np.sum(model.lam1 / 2 * small**2 + model.lam2 * (size - small)))
