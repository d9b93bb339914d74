"""Random samples and random estimators, each from its own seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqspan import LRR, LSR, OSC, SSC, SpatSC
from seqspan.cuts.spectral.n_subspaces import ESTIMATORS
from seqspan.datasets import make_motion, make_subspaces
from seqspan.methods._base import PUBLISHED_RULES

INVALID = 0.05  # share of the fits that are wrong on purpose
ONLINE = 0.05  # share of the fits that use partial_fit
ORDINARY_SCALE = 1e6  # beyond it, in either direction, weights may not suit samples that are not scaled
LARGE_EVERY = 25  # fits; one of them is large, so that memory is always read equally long after a large one
DTYPES = ("float64", "float64", "float64", "float32", "float32", "int64", "int32", "uint8", "int8")
LAYOUTS = ("rows", "rows", "columns", "strided", "backwards", "read-only", "list")


@dataclass(frozen=True)
class Case:
    """One fit: an estimator, its samples, and whether the documentation allows it.

    Parameters
    ----------
    seed : int
    estimator : estimator of seqspan
    X : array-like of shape (n_samples, n_features), if valid
    words : str
        A description of what was drawn.
    valid : bool
    blocks : int
        If above zero, X goes to `partial_fit` in that many blocks.
    scale : float
        What samples of ordinary size were multiplied by.
    """

    seed: int
    estimator: Any
    X: Any
    words: str
    valid: bool = True
    blocks: int = 0
    scale: float = 1.0

    @property
    def may_overflow(self) -> bool:
        """Whether the fit may be refused, because samples that are not scaled leave the range of floats."""
        ordinary = 1 / ORDINARY_SCALE < self.scale < ORDINARY_SCALE
        return not ordinary and not getattr(self.estimator, "normalize", True)


def draw_case(seed: int) -> Case:
    """Draw the fit that belongs to a seed."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(list(KINDS)))
    n, d = _draw_shape(rng, large=seed % LARGE_EVERY == 0)
    X = KINDS[kind](rng, n, d)
    scale = _draw_scale(rng)
    dtype, layout = str(rng.choice(DTYPES)), str(rng.choice(LAYOUTS))
    X = _lay_out(_cast(X, dtype, scale), layout)
    what = f"{kind} {n} x {d} {dtype} {layout} scale {scale:.0e}"
    if rng.random() < INVALID:
        return _spoil(rng, seed, X, what)
    if rng.random() < ONLINE:
        estimator = (OSC, SpatSC)[rng.integers(2)](**_online_parameters(rng))
        return Case(seed, estimator, X, f"{what}; partial_fit {estimator}", blocks=int(rng.integers(1, 5)))
    estimator = _draw_estimator(rng, np.asarray(X))
    return Case(seed, estimator, X, f"{what}; {estimator}", scale=scale)


def _draw_shape(rng: np.random.Generator, *, large: bool) -> tuple[int, int]:
    n = rng.integers(60, 301) if large else rng.integers(3, 61)
    return int(n), int(rng.choice([1, 2, 3, rng.integers(4, 41), rng.integers(4, 41)]))


def _draw_scale(rng: np.random.Generator) -> float:
    """Draw a scale: mostly one, sometimes as large or small as numbers in double precision may be."""
    exponents = [0, 0, 0, 0, rng.uniform(-3, 3), rng.uniform(-37, 37), rng.uniform(-300, 300)]
    return float(10.0 ** rng.choice(exponents))


def _subspaces(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    k = int(rng.integers(1, 5))
    X = make_subspaces(k, min(2, d), d, -(-n // k), rng=rng)[0].T[:n]
    return X + rng.choice([0, 0.01, 0.3]) * rng.standard_normal(X.shape)


def _duplicates(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((2, d))[np.sort(rng.integers(2, size=n))]


def _outliers(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    X = _subspaces(rng, n, d)
    X[rng.integers(n), rng.integers(d)] *= 1e6
    return X


def _with_zeros(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    X = rng.standard_normal((n, d))
    X[rng.random(n) < 0.3] = 0
    X[:, rng.random(d) < 0.3] = 0
    return X


def _collinear(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return np.outer(rng.standard_normal(n), np.ones(d)) + 1e-9 * rng.standard_normal((n, d))


def _steps(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return np.repeat(rng.standard_normal((3, d)), -(-n // 3), axis=0)[:n]


KINDS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "subspaces": _subspaces,
    "noise": lambda rng, n, d: rng.standard_normal((n, d)),
    "walk": lambda rng, n, d: rng.standard_normal((n, d)).cumsum(axis=0),
    "motion": lambda rng, n, d: make_motion(max(n, 10), max(d, 2), rng=rng)[0].T[:n, :d],
    "constant": lambda rng, n, d: np.full((n, d), rng.standard_normal()),
    "zeros": lambda rng, n, d: np.zeros((n, d)),
    "duplicates": _duplicates,
    "rank one": lambda rng, n, d: np.outer(rng.standard_normal(n), rng.standard_normal(d)),
    "collinear": _collinear,
    "outliers": _outliers,
    "some zeros": _with_zeros,
    "steps": _steps,
    "unit vectors": lambda rng, n, d: np.eye(max(n, d))[:n, :d],
}


def _cast(X: np.ndarray, dtype: str, scale: float) -> np.ndarray:
    """Convert samples to a type, at the wanted scale as far as the type allows."""
    if dtype == "float64":
        return X * scale
    if dtype == "float32":
        size = float(np.abs(X).max()) or 1.0
        return (X * np.clip(scale, 1e-37 / size, 1e37 / size)).astype(np.float32)
    size = float(np.abs(X).max()) or 1.0
    whole = np.round(X / size * 100)
    return np.abs(whole).astype(dtype) if dtype.startswith("u") else whole.astype(dtype)


def _lay_out(X: np.ndarray, layout: str) -> Any:
    """Return the same values in another memory layout."""
    if layout == "columns":
        return np.asfortranarray(X)
    if layout == "strided":
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if layout == "backwards":
        return np.ascontiguousarray(X[::-1])[::-1]
    if layout == "list":
        return X.tolist()
    if layout == "read-only":
        X = X.copy()
        X.setflags(write=False)
    return X


def _weight(rng: np.random.Generator, typical: float) -> float:
    """Draw a weight: mostly near the typical one, sometimes nearly zero or far too large."""
    return float(typical * 10.0 ** rng.choice([0, rng.uniform(-1, 1), rng.uniform(-8, 8)]))


def _draw_estimator(rng: np.random.Generator, X: np.ndarray) -> Any:
    """Draw any estimator with any settings that suit the samples."""
    make = rng.choice([_coupled, _coupled, _coupled, _ssc, _lrr, _lsr])
    parameters = {
        "normalize": bool(rng.random() < 0.8),
        "preprocess": _draw_preprocess(rng, X),
        "random_state": int(rng.integers(1000)),
    }
    n_left = -(-len(X) // 2) if parameters["preprocess"] == "subsample:2" else len(X)
    return make(rng, parameters | _draw_cut(rng, n_left, ordered=make is _coupled), n_left)


def _draw_preprocess(rng: np.random.Generator, X: np.ndarray) -> Any:
    if rng.random() < 0.5:
        return None
    steps = ["auto", "centre", "centre,scale", "unit_norm", "pca:0.9", "delay:3", ["centre", "pca:0.95"]]
    return steps[rng.integers(len(steps))] if len(X) < 6 or rng.random() < 0.8 else "subsample:2"


def _draw_cut(rng: np.random.Generator, n: int, *, ordered: bool) -> dict[str, Any]:
    cut = str(rng.choice(["ncut", "peaks", *["ordered"] * ordered]))
    shortest = int(rng.choice([1, 2, 5, 5, 9]))
    most = max(1, n // shortest) if cut == "ordered" else n
    parameters: dict[str, Any] = {"cut": cut} | ({"min_length": shortest} if cut == "ordered" else {})
    few = int(rng.integers(1, min(most, 6) + 1)) if rng.random() < 0.95 else most
    words = ["auto", *ESTIMATORS] if cut == "ncut" else ["auto"]
    parameters["n_subspaces"] = few if rng.random() < 0.5 else str(rng.choice(words))
    if cut != "ncut" and rng.random() < 0.4:
        labels = parameters["n_subspaces"]
        fewest = labels if isinstance(labels, int) else 1
        most = 1 if labels == 1 else most  # neighbouring spans differ in label
        parameters["n_spans"] = few if cut == "peaks" else int(rng.integers(fewest, most + 1))
    return parameters


def _iteration(rng: np.random.Generator) -> dict[str, Any]:
    limits = {
        "tol": float(rng.choice([1e-1, 1e-2, 1e-2, 1e-4])),
        "max_iter": int(rng.choice([1, 7, 60, 300])),
    }
    return limits | {"warm_start": bool(rng.random() < 0.1)}


def _coupled(rng: np.random.Generator, parameters: dict[str, Any], n: int) -> Any:
    parameters |= _iteration(rng) | {
        "lambda_1": "auto" if rng.random() < 0.1 else _weight(rng, 0.1),
        "solver": str(rng.choice(["fast", "fast", "fast", "vladmap", "ladmpsap", "sylvester", "splitting"])),
        "n_jobs": (None, 1, 2, -1)[rng.integers(4)],
    }
    if parameters["solver"] in PUBLISHED_RULES and rng.random() < 0.25:
        parameters["stopping"] = "published"
    spatial = rng.random() < 0.4
    parameters["lambda_2"] = "auto" if rng.random() < 0.1 else _weight(rng, 0.01 if spatial else 1.0)
    if parameters["solver"] == "fast" and rng.random() < 0.2:
        parameters |= {"dictionary": "landmarks", "n_landmarks": int(rng.integers(1, 40))}
    elif rng.random() < 0.2:
        parameters["kernel"] = ("cosine", "rbf", _quadratic)[rng.integers(3)]
    if spatial:
        return SpatSC(**parameters, zero_diagonal=bool(rng.random() < 0.7))
    if parameters["solver"] != "fast" and rng.random() < 0.3:
        return OSC(**parameters, penalty="nuclear")
    return OSC(**parameters, zero_diagonal=bool(rng.random() < 0.3))


def _quadratic(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Stand for a kernel that a user wrote."""
    return np.asarray((A.T @ B + 1) ** 2)


def _ssc(rng: np.random.Generator, parameters: dict[str, Any], n: int) -> Any:
    noise = str(rng.choice(["gaussian", "gaussian", "none", "outliers"]))
    parameters |= _iteration(rng) | {"noise": noise}
    if noise == "gaussian":
        one = rng.random() < 0.8
        return SSC(**parameters, lambda_1=_weight(rng, 0.2) if one else rng.uniform(0.01, 1, n))
    pairs = [(_weight(rng, 10), _weight(rng, 1)), (None, _weight(rng, 1)), (_weight(rng, 10), None)]
    lambda_1, lambda_2 = pairs[rng.integers(3)] if noise == "outliers" else (None, None)
    return SSC(**parameters, lambda_1=lambda_1, lambda_2=lambda_2)


def _lrr(rng: np.random.Generator, parameters: dict[str, Any], n: int) -> Any:
    noise = str(rng.choice(["gaussian", "none", "columns"]))
    lambda_1 = None if noise == "none" else _weight(rng, 0.4)
    return LRR(**parameters, **_iteration(rng), noise=noise, lambda_1=lambda_1)


def _lsr(rng: np.random.Generator, parameters: dict[str, Any], n: int) -> Any:
    return LSR(**parameters, lambda_1=_weight(rng, 0.4))


def _online_parameters(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "time_scale": "auto" if rng.random() < 0.5 else int(rng.integers(1, 6)),
        "preprocess": (None, "auto", "centre")[rng.integers(3)],
        "n_subspaces": "auto" if rng.random() < 0.5 else int(rng.integers(1, 5)),
        "lambda_1": "auto" if rng.random() < 0.2 else _weight(rng, 0.1),
        "lambda_2": "auto" if rng.random() < 0.2 else _weight(rng, 0.1),
        "n_jobs": (None, 1)[rng.integers(2)],
    }


def _spoil(rng: np.random.Generator, seed: int, X: Any, what: str) -> Case:
    """Draw samples or settings that the documentation does not allow."""
    samples = np.array(X, dtype=float)
    broken = samples.copy()
    broken.flat[rng.integers(broken.size)] = rng.choice([np.nan, np.inf, -np.inf])
    spoiled: list[tuple[Any, dict[str, Any]]] = [
        (broken, {}),
        (samples[:2], {}),
        (samples[0], {}),
        (samples[:0], {}),
        (samples[:, :0], {}),
        (samples[None], {}),
        (samples.astype(complex) + 1j, {}),
        ([["a", "b"]] * 4, {}),
        (samples, {"n_subspaces": int(rng.choice([0, -1, len(samples) + 1]))}),
        (samples, {"n_subspaces": "many"}),
        (samples, {"lambda_1": float(rng.choice([0.0, -1.0, np.nan, np.inf]))}),
        (samples, {"cut": "scissors"}),
        (samples, {"tol": 0.0}),
        (samples, {"max_iter": 0}),
        (samples, {"preprocess": "polish"}),
        (samples, {"n_spans": 2, "cut": "ncut"}),
        (samples, {"min_length": 9, "cut": "ncut"}),
        (samples, {"n_subspaces": "soft_gap", "cut": "ordered"}),
        (samples, {"n_subspaces": 1, "n_spans": 2, "cut": "ordered"}),
        (samples, {"normalize": "False"}),
        (samples, {"n_subspaces": 3, "n_spans": 2, "cut": "peaks"}),
    ]
    data, settings = spoiled[rng.integers(len(spoiled))]
    estimator = (OSC, SpatSC, SSC, LRR)[rng.integers(4)](**settings)
    return Case(seed, estimator, data, f"invalid {what}; {estimator}", valid=False)
