"""One battery for every solver on every model it can solve: optimal, certified, well-behaved."""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.oracles import minimum, objective, plain_bound
from tests.problems import CASES, SHAPES

from seqspan.datasets.synthetic import make_subspaces
from seqspan.models import Osc, SpatSc
from seqspan.solvers import SOLVERS, Stopping

TOL = 4e-6  # so that a value certified to TOL and the oracle's (to 1e-8) agree to 1e-5
MAX_ITER = 30_000
PUBLISHED = ("vladmap", "ladmpsap", "sylvester")


def _solves(solver, name):
    case = CASES[name]
    if solver == "splitting":
        return True
    if solver == "closed_form":
        return case.closed_form
    if solver in PUBLISHED:
        return case.coupled and (case.squares or solver == "ladmpsap")
    return name.startswith(("osc", "spatsc")) and not name.startswith(
        "osc_low_rank"
    )  # fast: l1 norm and neighbours


PAIRS = [(solver, name) for solver in SOLVERS for name in CASES if _solves(solver, name)]
COUPLED_PAIRS = [(solver, name) for solver, name in PAIRS if CASES[name].coupled]
ITERATIVE = [(solver, name) for solver, name in PAIRS if solver != "closed_form"]
EVERY = pytest.mark.parametrize(("solver", "name"), PAIRS)
EVERY_SHAPE = pytest.mark.parametrize("shape", SHAPES)


@cache
def _problem(name, shape):
    """A problem with a seed of its own."""
    return CASES[name].problem(shape, zlib.crc32(f"{name} {shape}".encode()))


@cache
def _minimum(name, shape):
    return minimum(*_problem(name, shape))


def _run(solver, name, model, X, stopping, **options):
    if solver in PUBLISHED:
        options.setdefault("mu", CASES[name].mu)
    return SOLVERS[solver](model, X, stopping=stopping, **options)


@cache
def _solution(solver, name, shape):
    model, X = _problem(name, shape)
    X = X.copy()
    X.setflags(write=False)
    return _run(solver, name, model, X, Stopping(tol=TOL, max_iter=MAX_ITER))


@EVERY
@EVERY_SHAPE
def test_reaches_the_minimum_found_by_cvxpy(solver, name, shape):
    model, X = _problem(name, shape)
    Z = _solution(solver, name, shape).Z
    assert objective(model, X, Z) == pytest.approx(_minimum(name, shape), rel=1e-5)


@EVERY
@EVERY_SHAPE
def test_obeys_the_constraints(solver, name, shape):
    _, X = _problem(name, shape)
    Z = _solution(solver, name, shape).Z
    if name.startswith(("ssc", "spatsc_joined", "osc_zero_diagonal")) or name == "spatsc":
        assert np.all(np.diag(Z) == 0)
    if CASES[name].exact:
        # a gap of TOL proves a relative residual of about TOL: see Model.violation; rounding besides
        assert np.linalg.norm(X - X @ Z) <= 2 * TOL * np.linalg.norm(X)


@EVERY
@EVERY_SHAPE
def test_the_gap_is_below_tol_and_covers_the_true_one(solver, name, shape):
    model, X = _problem(name, shape)
    solution = _solution(solver, name, shape)
    assert solution.converged
    assert solution.gap <= TOL
    true_gap = (objective(model, X, solution.Z) - _minimum(name, shape)) / solution.objective
    assert solution.gap >= true_gap - 3e-8  # the oracle's own tolerance
    if CASES[name].exact:
        assert solution.objective >= objective(model, X, solution.Z) - 1e-6  # the price of X != XZ is on top
    else:
        assert solution.objective == pytest.approx(objective(model, X, solution.Z), rel=1e-7)


def _dual_point(solver, X, solution):
    """E and V from the iterates of a solver, with the signs of its own derivation."""
    s = solution.state
    if solver == "vladmap":  # Lagrangian <Y, J - ZR>
        return X - X @ s.Z, -s.Y
    if solver == "ladmpsap":  # <Y1, XZ - X + E> and <Y2, J - ZR>
        return -s.Y1, -s.Y2
    if solver == "sylvester":  # <Y2, J - SR>, and the smooth copy S
        return X - X @ s.S, -s.Y2
    return X - X @ s.S, s.splits["coupling"].r * s.splits["coupling"].u


@pytest.mark.parametrize(
    ("solver", "name"),
    [p for p in COUPLED_PAIRS if p[0] in (*PUBLISHED, "splitting") and CASES[p[1]].squares],
)
def test_the_gap_computed_again_from_the_iterates(solver, name):
    """By the plain certificate of the design notes: no better than the library's, and not far from it."""
    model, X = _problem(name, "tall")
    solution = _solution(solver, name, "tall")
    E, V = _dual_point(solver, X, solution)
    plain = 1 - plain_bound(model, X, E, V) / objective(model, X, solution.Z)
    assert solution.gap <= plain + 1e-8
    assert plain <= 100 * TOL  # a wrong sign or scale costs percents


@pytest.mark.parametrize("name", CASES)
@EVERY_SHAPE
def test_all_solvers_agree(name, shape):
    values = [_solution(solver, name, shape).objective for solver, other in PAIRS if other == name]
    assert max(values) - min(values) <= TOL * max(values)


@pytest.mark.parametrize(("solver", "name"), ITERATIVE)
def test_a_warm_start_stops_at_once(solver, name):
    model, X = _problem(name, "wide")
    first = _solution(solver, name, "wide")
    # the bound that certified `first` may be an earlier iterate's; the last one's own is a little weaker
    again = _run(solver, name, model, X, Stopping(tol=10 * TOL), start=first.state)
    assert again.n_iter == 0
    assert again.converged
    np.testing.assert_array_equal(again.Z, first.Z)


@pytest.mark.parametrize(("solver", "name"), ITERATIVE)
def test_a_warm_start_goes_on_where_it_stopped(solver, name):
    model, X = _problem(name, "tall")
    with pytest.warns(ConvergenceWarning):
        first = _run(solver, name, model, X, Stopping(tol=-1, max_iter=30))
    with pytest.warns(ConvergenceWarning):
        second = _run(solver, name, model, X, Stopping(tol=-1, max_iter=20), start=first.state)
    with pytest.warns(ConvergenceWarning):
        whole = _run(solver, name, model, X, Stopping(tol=-1, max_iter=50))
    np.testing.assert_allclose(second.Z, whole.Z, atol=1e-12)


@pytest.mark.parametrize(("solver", "name"), ITERATIVE)
def test_too_few_iterations_warn_and_still_answer(solver, name):
    model, X = _problem(name, "wide")
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 .*gap of \d\.\de.*tol=1\.0e-09"):
        solution = _run(solver, name, model, X, Stopping(tol=1e-9, max_iter=3))
    assert (solution.n_iter, solution.converged) == (3, False)
    assert solution.gap > 1e-9
    assert solution.Z.shape == (X.shape[1], X.shape[1])
    assert np.all(np.isfinite(solution.Z))


@EVERY
def test_float32_is_enough_for_a_coarse_answer_and_stays(solver, name):
    model, X = _problem(name, "tall")
    solution = _run(solver, name, model, X.astype(np.float32), Stopping(tol=1e-3))
    assert solution.Z.dtype == np.float32
    # the gap, and 1e-5 for sums of 100 rounded numbers
    assert solution.objective <= _minimum(name, "tall") * (1 + 1e-3 + 1e-5)


@EVERY
def test_history_and_callback_tell_the_same_story(solver, name):
    model, X = _problem(name, "wide")
    told = []
    solution = _run(solver, name, model, X, Stopping(tol=1e-3, callback=told.append))
    assert told == solution.history
    iterations = [p.iteration for p in told]
    assert iterations == sorted(set(iterations))
    assert iterations[-1] == solution.n_iter
    assert all(p.gap >= 0 and np.isfinite(p.objective) for p in told)
    assert [p.seconds for p in told] == sorted(p.seconds for p in told)
    assert (told[-1].objective, told[-1].gap) == (solution.objective, solution.gap)


@EVERY
def test_the_caller_keeps_his_array(solver, name):
    model, X = _problem(name, "wide")
    before = X.copy()
    _run(solver, name, model, X, Stopping(tol=0.1))
    np.testing.assert_array_equal(X, before)


@EVERY
@pytest.mark.parametrize("published", [True, False])
def test_zero_data_have_zero_coefficients(solver, name, published):
    X = np.zeros(SHAPES["wide"])
    solution = _run(solver, name, CASES[name].make(X), X, Stopping(published=published, max_iter=50))
    assert solution.converged
    assert not np.any(solution.Z)


@pytest.mark.parametrize(("solver", "name"), COUPLED_PAIRS)
def test_the_published_rule_stops_and_reports_the_gap_it_stopped_at(solver, name):
    model, X = _problem(name, "tall")
    solution = SOLVERS[solver](model, X, stopping=Stopping(max_iter=MAX_ITER, published=True))
    assert solution.converged
    assert 0 < solution.n_iter < MAX_ITER
    least, nothing = _minimum(name, "tall"), objective(model, X, np.zeros((X.shape[1], X.shape[1])))
    assert solution.gap >= (solution.objective - least) / solution.objective - 3e-8
    # the rules prove nothing, but stopping near Z = 0 or at a wild point is not what they mean
    assert solution.objective - least <= 0.3 * (nothing - least)


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("model", [Osc(0.1, 1.0), SpatSc(0.1, 0.01)], ids=["osc", "spatsc"])
@pytest.mark.parametrize("solver", [s for s in SOLVERS if _solves(s, "osc")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_noise_makes_nothing_diverge(solver, model, published, unit):
    """Standard deviation 0.2 on unit columns, the paper's parameters: no worse than no coefficients."""
    rng = np.random.default_rng(zlib.crc32(f"{solver} {published}".encode()))
    X = make_subspaces(ambient=60, samples_per_subspace=8, rng=rng)[0]
    X = X / np.linalg.norm(X, axis=0) + 0.2 * rng.standard_normal(X.shape)
    X = X / np.linalg.norm(X, axis=0) if unit else X
    solution = SOLVERS[solver](model, X, stopping=Stopping(tol=1e-9, max_iter=120, published=published))
    start = np.sum(X**2) / 2
    assert all(p.objective <= 1.001 * start for p in solution.history)
    assert solution.history[-1].objective < start
    assert np.abs(solution.Z).sum() <= 2 * start / model.lam1
