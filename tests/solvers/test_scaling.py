"""Every solver gives the same coefficients for samples of any size, and the objective in their units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.problems import CASES, two_subspaces

from seqspan.models import Absolute, Lsr, Model, Osc
from seqspan.solvers import SOLVERS, Stopping
from seqspan.solvers.fast.landmarks import choose_landmarks, solve_on_landmarks
from seqspan.solvers.scaling import SAFE_BITS, unusual_exponent

STOPPING = Stopping(tol=1e-4, max_iter=20_000)
PAIRS = [
    ("vladmap", "osc"), ("ladmpsap", "spatsc"), ("sylvester", "osc_low_rank"),
    ("splitting", "ssc_per_sample"), ("splitting", "ssc_noise_free"), ("splitting", "ssc_outliers"),
    ("splitting", "lrr_column_noise"),
    ("splitting", "graph_l1"), ("closed_form", "lrr"), ("closed_form", "lrr_noise_free"),
    ("closed_form", "lsr"), ("fast", "osc_zero_diagonal"), ("fast", "spatsc"),
]  # fmt: skip


def _heard(solve, model, X):
    """The solution, and the objectives that the callback was told."""
    told = []
    stopping = replace(STOPPING, callback=lambda progress: told.append(progress.objective))
    return solve(model, X, stopping=stopping), told


@pytest.mark.parametrize("exponent", [-300, 300])
@pytest.mark.parametrize(("solver", "name"), PAIRS)
def test_solutions_do_not_depend_on_the_scale(solver, name, exponent):
    model, X = CASES[name].problem("wide", 91)
    # the model for the large samples, which the solver gets, and that for ordinary ones
    large = np.ldexp(X, exponent)
    plain, told = _heard(SOLVERS[solver], model, np.ldexp(X, -unusual_exponent(X)))
    scaled, told_scaled = _heard(SOLVERS[solver], _at_scale(model, exponent), large)
    factor = 2.0 ** (exponent * model.objective_power)
    assert scaled.objective == pytest.approx(factor * plain.objective, rel=3e-4)  # both gaps are 1e-4
    assert scaled.gap <= STOPPING.tol
    assert told_scaled[-1] == scaled.objective == scaled.history[-1].objective
    assert told[-1] == plain.objective


def _at_scale(model, exponent):
    """`Model.rescaled` refuses weights outside single precision; here that is what is wanted."""
    powers = model.weight_powers.items()
    return replace(
        model, **{name: np.ldexp(getattr(model, name), power * exponent) for name, power in powers}
    )


@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_single_precision_samples_whose_squares_are_no_float32(scale):
    X = two_subspaces((6, 30), 5)
    plain = SOLVERS["fast"](Osc(0.1, 1.0), X, stopping=STOPPING)
    large = (scale * X).astype(np.float32)
    scaled = SOLVERS["fast"](Osc(0.1 * scale**2, scale**2), large, stopping=STOPPING)
    assert scaled.objective == pytest.approx(scale**2 * plain.objective, rel=3e-4)
    assert scaled.Z.dtype == np.float32


@pytest.mark.parametrize("method", ["means", "centres", "regular"])
@pytest.mark.parametrize("scale", [1e120, 1e-120])
def test_landmarks_are_as_large_as_the_samples(method, scale):
    X = 3 * two_subspaces((6, 60), 6)
    plain, large = (choose_landmarks(samples, 8, method) for samples in (X, scale * X))
    np.testing.assert_allclose(large, scale * plain, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(plain, axis=0), 3, rtol=1e-9)
    one = solve_on_landmarks(Osc(0.1, 1.0), X, plain, stopping=STOPPING)
    model = Osc(0.1 * scale**2, scale**2)
    other = solve_on_landmarks(model, scale * X, large, stopping=STOPPING)
    assert other.objective == pytest.approx(scale**2 * one.objective, rel=3e-4)
    same = SOLVERS["fast"](model, scale * X, dictionary=large, stopping=STOPPING)
    assert same.gap <= STOPPING.tol


def test_an_objective_that_is_no_float_is_an_error():
    X = 2.0**-600 * two_subspaces((6, 12), 7)
    with pytest.raises(ValueError, match=r"does not suit samples|is not a float"):
        SOLVERS["closed_form"](Lsr(2.0**-1074), X)


def test_only_unusual_samples_are_rescaled():
    assert unusual_exponent(np.array([[2.0**SAFE_BITS]])) == 0
    assert unusual_exponent(np.array([[2.0 ** (SAFE_BITS + 1)]])) == SAFE_BITS + 1
    assert unusual_exponent(np.array([[2.0 ** -(SAFE_BITS + 1)]])) == -SAFE_BITS - 1
    assert unusual_exponent(np.zeros((3, 2))) == 0
    assert unusual_exponent(np.full((64, 2), 2.0**14)) == 17  # norms count, not entries
    # the typical norm counts, but the largest stays in range
    assert unusual_exponent(np.array([[2.0**30, 2.0**18, 2.0**18, 0.0]])) == 18
    assert unusual_exponent(np.array([[2.0**60, 1.0, 1.0]])) == 60 - SAFE_BITS


@pytest.mark.parametrize("solver", ["fast", "splitting", "vladmap"])
@pytest.mark.parametrize("scale", [2.0**8, 2.0**-8])
def test_samples_of_any_norm_take_as_many_iterations_as_unit_columns(solver, scale):
    X = two_subspaces((6, 30), 5)
    plain = SOLVERS[solver](Osc(0.1, 1.0), X, stopping=STOPPING)
    scaled = SOLVERS[solver](Osc(0.1 * scale**2, scale**2), scale * X, stopping=STOPPING)
    assert scaled.n_iter <= 1.2 * plain.n_iter


def test_a_published_algorithm_gets_the_samples_as_they_are():
    X, solve = 30 * two_subspaces((6, 30), 5), SOLVERS["vladmap"]
    published = replace(STOPPING, published=True, max_iter=50)
    with pytest.warns(ConvergenceWarning):
        found, plain = (each(Osc(9.0, 90.0), X, stopping=published).Z for each in (solve, solve.__wrapped__))
    np.testing.assert_array_equal(found, plain)


def test_a_model_that_cannot_be_rescaled_takes_samples_of_ordinary_size():
    class Lasso(Model):
        penalty = Absolute(0.25)

    solved = SOLVERS["splitting"](Lasso(), 16 * np.eye(2), stopping=STOPPING).Z
    np.testing.assert_allclose(solved, (1 - 0.25 / 256) * np.eye(2), atol=1e-3)
    with pytest.raises(ValueError, match="Lasso has no weight_powers"):
        SOLVERS["splitting"](Lasso(), 1e30 * np.eye(2))
