"""What must not change the answer: scale, units, order of columns, an added constant, the direction of time.

Each relation turns samples into others that have the same minimum. Both fits bound it from above and below,
so the two intervals must overlap. If the change is exact in floating point, the labels must be equal too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.soak.cases import ORDINARY_SCALE, Case
from benchmarks.soak.checks import ROUNDING

EVERY = 4  # fits; for one of them a relation is checked
MIN_VARIATION = 0.05  # of the largest entry; less would drown in the rounding of an added constant
UNITS_BITS = 40  # columns are given units between 2**-40 and 2**40


@dataclass(frozen=True)
class Changed:
    """Samples that must have the same answer.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    words : str
        What was done.
    exact : bool
        Whether the change rounds nothing, so that the labels must be equal.
    """

    X: np.ndarray
    words: str
    exact: bool = False


def broken_relations(case: Case) -> Iterator[str]:
    """Fit changed samples, and yield what differs."""
    if case.seed % EVERY or case.blocks or case.estimator.get_params().get("stopping") == "published":
        return
    rng = np.random.default_rng([case.seed, 1])
    X = np.asarray(case.X)
    fitting = [relation for relation in RELATIONS if relation.applies(case.estimator, X)]
    if not fitting:
        return
    changed = fitting[rng.integers(len(fitting))].change(rng, X)
    if not np.all(np.isfinite(changed.X)):
        return
    other = clone(case.estimator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        other.fit(changed.X)
    yield from (f"warning: {w.message} ({changed.words})" for w in caught if w.category is RuntimeWarning)
    yield from (f"{fault} ({changed.words})" for fault in _differences(case.estimator, other, changed))


def _differences(one: Any, other: Any, changed: Changed) -> Iterator[str]:
    """Compare two fits that must have the same answer."""
    if one.preprocess_ != other.preprocess_:
        yield f"other steps: {other.preprocess_} instead of {one.preprocess_}"
        return
    rounding = max(ROUNDING[fit.segmentation_.representation.X.dtype] for fit in (one, other))
    if not _have_same_landmarks(one, other, rounding):
        # of samples that are equally far apart, rounding chooses; an exact change leaves it nothing to choose
        yield from ["other landmarks"] if changed.exact else []
        return
    slack = rounding * max(abs(one.objective_), abs(other.objective_))
    for first, second in ((one, other), (other, one)):
        bound = first.objective_ * (1 - first.dual_gap_)
        if bound > second.objective_ + slack:
            yield f"one fit is bounded by {bound:.9g} from below, the other reaches {second.objective_:.9g}"
    if changed.exact and not np.array_equal(one.labels_, other.labels_):
        yield f"labels {other.labels_.tolist()} instead of {one.labels_.tolist()}"


def _have_same_landmarks(one: Any, other: Any, rounding: float) -> bool:
    """Whether two fits represent their samples by the same landmarks, up to a rotation of everything."""
    found = [fit.segmentation_.representation for fit in (one, other)]
    if found[0].landmarks is None or found[1].landmarks is None:
        return found[0].landmarks is found[1].landmarks
    products = [each.landmarks.T.astype(float) @ np.hstack([each.landmarks, each.X]) for each in found]
    return products[0].shape == products[1].shape and bool(
        np.allclose(*products, rtol=0, atol=rounding * np.abs(products[0]).max())
    )


@dataclass(frozen=True)
class Relation:
    """A change, and whether the answer of an estimator must survive it."""

    change: Callable[[np.random.Generator, np.ndarray], Changed]
    applies: Callable[[Any, np.ndarray], bool]


def _steps(estimator: Any) -> list[str]:
    """Names of the preprocessing steps that were applied."""
    return [step["step"] for step in estimator.preprocess_]


def _rescale(rng: np.random.Generator, X: np.ndarray) -> Changed:
    """Multiply by a power of two, up to 1e300 in double and 1e37 in single precision, either way."""
    limit = 996 if X.dtype == np.float64 else 122
    exponent = int(rng.choice([-limit, limit, rng.integers(-limit, limit)]))
    size = int(np.frexp(float(np.abs(X).max()) or 1.0)[1])
    exponent = int(np.clip(exponent, -limit - size, limit - size))
    scaled = np.ldexp(X, exponent)
    return Changed(scaled, f"times 2**{exponent}", exact=np.array_equal(np.ldexp(scaled, -exponent), X))


def _ignores_scale(estimator: Any, X: np.ndarray) -> bool:
    """Constant columns keep their size when others are scaled, unless they are centred first."""
    scale_free = estimator.normalize or getattr(estimator, "kernel", "linear") in ("cosine", "rbf")
    steps = _steps(estimator)
    return bool(scale_free and X.dtype.kind == "f" and ("scale" not in steps or "centre" in steps))


def _change_units(rng: np.random.Generator, X: np.ndarray) -> Changed:
    exponents = rng.integers(-UNITS_BITS, UNITS_BITS, X.shape[1])
    scaled = np.ldexp(X, exponents)
    exact = np.array_equal(np.ldexp(scaled, -exponents), X)
    return Changed(scaled, f"columns times 2**{exponents.tolist()}", exact=exact)


def _ignores_units(estimator: Any, X: np.ndarray) -> bool:
    """Not for "auto", which may scale because of the units."""
    steps = _steps(estimator)
    return _is_ordinary(X) and steps[:2] == ["centre", "scale"] and estimator.preprocess != "auto"


def _is_ordinary(X: np.ndarray) -> bool:
    """Whether other units and constants leave the samples within range."""
    return X.dtype.kind == "f" and 1 / ORDINARY_SCALE < float(np.abs(X).max()) < ORDINARY_SCALE


def _shuffle_columns(rng: np.random.Generator, X: np.ndarray) -> Changed:
    return Changed(X[:, rng.permutation(X.shape[1])], "columns in another order")


def _reverse(rng: np.random.Generator, X: np.ndarray) -> Changed:
    return Changed(np.ascontiguousarray(X[::-1]), "backwards in time")


def _is_symmetric_in_time(estimator: Any, X: np.ndarray) -> bool:
    """Landmarks are means over runs of samples, and subsampling starts at the first one."""
    weights = estimator.get_params().get("lambda_1")
    landmarks = getattr(estimator, "dictionary_", "samples") == "landmarks"
    return not landmarks and "subsample" not in _steps(estimator) and not isinstance(weights, np.ndarray)


def _add_constant(rng: np.random.Generator, X: np.ndarray) -> Changed:
    size = np.abs(X).max(axis=0) * rng.uniform(-1, 1, X.shape[1])
    return Changed((X + size.astype(X.dtype)).astype(X.dtype), "with constants added to the columns")


def _is_centred(estimator: Any, X: np.ndarray) -> bool:
    """Not for "auto", which may centre because of the constant, nor if rounding of the sum would show."""
    if not _is_ordinary(X) or _steps(estimator)[:1] != ["centre"] or estimator.preprocess == "auto":
        return False
    typical = np.median(np.abs(X - np.median(X, axis=0)), axis=0)
    return bool(np.all(typical > MIN_VARIATION * np.abs(X).max(axis=0)))


RELATIONS = [
    Relation(_rescale, _ignores_scale),
    Relation(_change_units, _ignores_units),
    Relation(_shuffle_columns, lambda estimator, X: X.shape[1] > 1),
    Relation(_reverse, _is_symmetric_in_time),
    Relation(_add_constant, _is_centred),
]
