"""What a solver asks for is at least what its arrays take."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from seqspan.models import LrrColumnNoise, Lsr, Osc, OscLowRank, Ssc, SscOutliers
from seqspan.solvers import SOLVERS, Stopping
from seqspan.solvers.fast.landmarks import choose_landmarks, solve_on_landmarks
from seqspan.solvers.memory import solver_bytes

SMALL_OBJECTS = 2**16  # bytes
FEW = Stopping(tol=1e-12, max_iter=3)  # with a certificate at the end
PAIRS = [
    ("fast", Osc(0.1, 1.0)), ("vladmap", Osc(0.1, 1.0)), ("ladmpsap", Osc(0.1, 1.0)),
    ("sylvester", Osc(0.1, 1.0)), ("splitting", Osc(0.1, 1.0)), ("splitting", OscLowRank(0.1, 1.0)),
    ("splitting", Ssc(0.1)), ("splitting", SscOutliers(10.0, 1.0)), ("splitting", LrrColumnNoise(0.4)),
    ("closed_form", Lsr(0.4)),
]  # fmt: skip


def _taken(solve, *arguments, **options):
    """Bytes at the peak of a second run; the first one imports and compiles."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solve(*arguments, **options)
        tracemalloc.start()
        try:
            solve(*arguments, **options)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("solver", "model"), PAIRS)
def test_a_solver_takes_no_more_than_it_asks_for(solver, model, dtype):
    X = np.random.default_rng(0).standard_normal((12, 160)).astype(dtype) / 4
    taken = _taken(SOLVERS[solver], model, X, stopping=FEW)
    assert taken <= solver_bytes(solver, model, X.shape, dtype) + SMALL_OBJECTS


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_landmarks_take_no_more_than_they_ask_for(dtype):
    X = np.random.default_rng(0).standard_normal((12, 400)).astype(dtype) / 4
    D = choose_landmarks(X, 60)
    taken = _taken(solve_on_landmarks, Osc(0.1, 1.0), X, D, stopping=FEW)
    assert taken <= solver_bytes("fast", Osc(0.1, 1.0), X.shape, dtype, n_atoms=60) + SMALL_OBJECTS
