"""Fits after other calls: whatever an estimator did before, a fit must give what a new estimator gives."""

from __future__ import annotations

import contextlib
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.soak.cases import Case
from seqspan._core.spans import MIN_LENGTH

EVERY = 10  # fits; one of them is repeated after other calls
MOST_CALLS = 4
WITHOUT_EQUALITY = {"segmentation_", "history_"}


def stale_attributes(case: Case) -> Iterator[str]:
    """Call other methods first, then fit, and yield every attribute that a new estimator does not have."""
    if case.seed % EVERY != 3:
        return
    rng = np.random.default_rng([case.seed, 2])
    fresh = clone(case.estimator)
    cold = {"warm_start": False, "random_state": 0}
    fresh.set_params(**{name: cold[name] for name in cold if name in fresh.get_params()})
    used, names = clone(fresh), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(rng.integers(1, MOST_CALLS + 1)):
            names.append(str(rng.choice(list(CALLS))))
            used = CALLS[names[-1]](rng, used)
        used.set_params(**fresh.get_params())
        for estimator in (used, fresh):
            _fit(estimator, case)
    yield from (f"stale {name} after {', '.join(names)}" for name in _different(used, fresh))


def _fit(estimator: Any, case: Case) -> None:
    if case.blocks:
        estimator._stream = None  # a stream of other samples would go on
        estimator.partial_fit(np.asarray(case.X))
    else:
        estimator.fit(case.X)


def _different(one: Any, other: Any) -> Iterator[str]:
    """Yield the names of attributes that only one has, or that are not equal."""
    first, second = _attributes(one), _attributes(other)
    for name in sorted(set(first) | set(second)):
        if (name in first) != (name in second):
            yield name
        elif name not in WITHOUT_EQUALITY:
            try:
                np.testing.assert_equal(first[name], second[name])
            except AssertionError:
                yield name


def _attributes(estimator: Any) -> dict[str, Any]:
    names = {name for name in vars(estimator) if name.endswith("_")} | {"coef_", "confidence_"}
    return {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}


def _samples(rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((int(rng.integers(8, 30)), int(rng.integers(1, 6))))


def _attempt(call: Callable[[], Any], estimator: Any) -> Any:
    """Call; parameters that do not suit the samples are refused, which is a history too."""
    with contextlib.suppress(ValueError):
        call()
    return estimator


def _stream(rng: np.random.Generator, estimator: Any) -> Any:
    if hasattr(estimator, "partial_fit"):
        _attempt(lambda: estimator.partial_fit(_samples(rng), last=bool(rng.integers(2))), estimator)
    return estimator


def _change(rng: np.random.Generator, estimator: Any) -> Any:
    return estimator.set_params(n_subspaces=int(rng.integers(1, 4)), cut="peaks", min_length=MIN_LENGTH)


CALLS: dict[str, Callable[[np.random.Generator, Any], Any]] = {
    "fit": lambda rng, estimator: _attempt(lambda: estimator.fit(_samples(rng)), estimator),
    "a failing fit": lambda rng, estimator: _attempt(lambda: estimator.fit([[np.nan]]), estimator),
    "partial_fit": _stream,
    "set_params": _change,
    "clone": lambda rng, estimator: clone(estimator),
    "pickle": lambda rng, estimator: pickle.loads(pickle.dumps(estimator)),
}
