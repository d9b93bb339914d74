"""The shared loop on a toy whose every number is known: when it looks, stops, tells and warns."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from seqspan.solvers.loop import Algorithm, Progress, Stopping, run


def halving(check_every=10, settled=None, bounds=lambda k: 1.0):
    """The state counts steps; the objective 1 + 2^-k falls towards its minimum 1."""
    return Algorithm(
        step=lambda k: k + 1,
        certify=lambda k: (1 + 0.5**k, bounds(k)),
        coefficients=lambda k: np.full((2, 2), k),
        settled=settled,
        check_every=check_every,
    )


@pytest.mark.parametrize(("tol", "expected"), [(0.6, 10), (1e-3, 10), (5e-4, 20), (1e-6, 20), (9e-7, 30)])
def test_stops_at_the_first_certificate_below_tol(tol, expected):
    solution = run(halving(), 0, Stopping(tol=tol))
    assert (solution.n_iter, solution.state, solution.converged) == (expected, expected, True)
    assert solution.gap == pytest.approx(0.5**expected / (1 + 0.5**expected))
    assert solution.objective == 1 + 0.5**expected
    np.testing.assert_array_equal(solution.Z, expected)
    assert [p.iteration for p in solution.history] == list(range(10, expected + 1, 10))


def test_the_gap_is_relative_to_the_objective():
    algorithm = Algorithm(lambda s: s, lambda s: (200.0, 150.0), lambda s: np.zeros(1), check_every=1)
    assert run(algorithm, 0, Stopping(tol=0.25)).gap == 0.25


def test_looks_every_so_often_and_at_the_end():
    told = []
    with pytest.warns(ConvergenceWarning):
        solution = run(halving(check_every=4), 0, Stopping(tol=0, max_iter=10, callback=told.append))
    assert [p.iteration for p in told] == [4, 8, 10]
    assert told == solution.history
    assert all(isinstance(p, Progress) and p.seconds >= 0 for p in told)


def test_a_bound_once_proven_stays():
    """A worse bound later does not widen the gap."""
    solution = run(halving(1, bounds=lambda k: 0.9999 if k == 2 else 0.0), 0, Stopping(tol=1e-2))
    assert solution.n_iter == 7  # 2^-7 + 1e-4 is below 1e-2 of the objective, 2^-6 is not
    assert solution.history[0].gap == 1.0
    assert all(p.gap < 0.3 for p in solution.history[1:])


def test_rounding_never_makes_the_gap_negative():
    solution = run(halving(1, bounds=lambda k: 3.0), 0, Stopping())
    assert (solution.gap, solution.n_iter) == (0.0, 1)


@pytest.mark.parametrize("objective", [np.nan, np.inf])
def test_an_objective_that_is_no_number_is_an_error_at_once(objective):
    algorithm = Algorithm(lambda s: s + 1, lambda s: (objective, 0.0), lambda s: np.zeros(1), check_every=2)
    with pytest.raises(ValueError, match=r"overflowed after 2 iterations: .* float64"):
        run(algorithm, 0, Stopping(max_iter=30))


def test_an_objective_of_zero_is_an_optimum():
    algorithm = Algorithm(lambda s: s, lambda s: (0.0, 0.0), lambda s: np.zeros(1), check_every=1)
    assert run(algorithm, 0, Stopping(tol=0)).converged


def test_a_warm_start_is_certified_first_and_a_cold_one_is_not():
    warm = run(halving(), 30, Stopping(tol=1e-6), warm=True)
    assert (warm.n_iter, [p.iteration for p in warm.history]) == (0, [0])
    cold = run(halving(), 30, Stopping(tol=1e-6))
    assert (cold.n_iter, cold.state) == (10, 40)
    not_good_enough = run(halving(), 5, Stopping(tol=1e-3), warm=True)
    assert [p.iteration for p in not_good_enough.history] == [0, 10]


def test_the_warning_names_what_was_reached_and_what_was_asked():
    message = r"max_iter=7 .*duality gap of 7\.8e-03.*tol=1\.0e-04.*raise max_iter or tol"
    with pytest.warns(ConvergenceWarning, match=message):
        solution = run(halving(), 0, Stopping(tol=1e-4, max_iter=7))
    assert (solution.n_iter, solution.converged, solution.state) == (7, False, 7)


def test_no_warning_when_the_last_iteration_is_good_enough():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(halving(), 0, Stopping(tol=0.1, max_iter=7)).converged


class TestPublishedRule:
    def test_stops_by_the_rule_alone_and_reports_the_gap(self):
        solution = run(halving(settled=lambda old, new: old == 2), 0, Stopping(tol=1e-9, published=True))
        assert (solution.n_iter, solution.converged) == (3, True)
        assert solution.gap == pytest.approx(0.125 / 1.125)
        assert [p.iteration for p in solution.history] == [3]

    def test_a_small_gap_does_not_stop_it(self):
        rule = halving(settled=lambda old, new: new == 25)
        assert run(rule, 0, Stopping(tol=0.5, published=True)).n_iter == 25
        assert run(rule, 20, Stopping(tol=0.5, published=True), warm=True).state == 25

    def test_not_meeting_it_warns(self):
        with pytest.warns(ConvergenceWarning, match="before the published stopping rule was met"):
            solution = run(
                halving(settled=lambda old, new: False), 0, Stopping(tol=1, max_iter=12, published=True)
            )
        assert not solution.converged

    def test_without_a_rule_the_gap_decides(self):
        solution = run(halving(), 0, Stopping(tol=1e-3, published=True))
        assert (solution.n_iter, solution.converged) == (10, True)
        with pytest.warns(ConvergenceWarning, match=r"before tol=1\.0e-09 was met"):
            run(halving(), 0, Stopping(tol=1e-9, max_iter=3, published=True))
