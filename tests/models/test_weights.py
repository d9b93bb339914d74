"""Weights by themselves: their scale, the choice among them, and what the estimators make of it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from seqspan import LRR, LSR, OSC, SSC, SpatSC
from seqspan.datasets import make_recurring_subspaces, make_subspaces
from seqspan.estimators import ordered
from seqspan.metrics import clustering_error
from seqspan.models import Osc, weights
from seqspan.models.weights import CLEARLY, FACTORS, FRACTION, choose_lambda_2, critical_weight
from seqspan.solvers import SOLVERS, Stopping

COUPLED = pytest.mark.parametrize(("Estimator", "base"), [(OSC, 1.0), (SpatSC, 0.01)])


@pytest.fixture(scope="module")
def samples():
    X, labels = make_subspaces(3, 2, 20, 12, rng=7)
    return X.T, labels


@pytest.mark.parametrize("seed", range(3))
def test_all_coefficients_vanish_from_the_critical_weight_on_and_not_before(seed):
    X, _ = make_subspaces(3, 2, 10, 8, rng=seed)
    critical = critical_weight(X)
    # next to nothing for change in time, so that the first weight alone decides
    above, below = (
        SOLVERS["fast"](Osc(share * critical, 1e-9), X, stopping=Stopping(1e-8)) for share in (1.05, 0.95)
    )
    # an entry costs a twentieth of the weight above what it saves, and the objective is right to 1e-8
    assert np.abs(above.Z).max() < 1e-5
    assert np.abs(below.Z).max() > 1e-3


def choose(monkeypatch, found) -> float:
    """Choose among weights whose spans are given."""
    answers = iter(found)
    monkeypatch.setattr(weights, "_spans", lambda X, Z, n_threads: next(answers))
    X, _ = make_subspaces(2, 2, 10, 6, rng=0)
    return choose_lambda_2(X, lambda weight: Osc(0.1, weight), 2.0, 1)


HALVES = np.repeat([0, 1], 50)
PAIRS = np.tile([0, 0, 1, 1], 25)
STRIPES = np.tile([0, 1], 50)
NEARLY = np.repeat([0, 1], [52, 48])


@pytest.mark.parametrize(
    ("found", "factor"),
    [
        ((HALVES, HALVES, HALVES), 1.0),
        ((HALVES, STRIPES, PAIRS), 1.0),  # nobody agrees with anybody
        ((HALVES, NEARLY, HALVES), 1.0),  # the others agree better, but not clearly
        ((HALVES, STRIPES, HALVES), FACTORS[0]),  # the first of two that agree clearly better
        ((HALVES, HALVES, STRIPES), 1.0),
        ((STRIPES, HALVES, HALVES), 1.0),
    ],
)
def test_the_paper_s_weight_is_taken_unless_others_agree_clearly_better(monkeypatch, found, factor):
    assert choose(monkeypatch, found) == 2.0 * factor


def test_the_largest_weight_wins_where_it_is_between_the_others(monkeypatch):
    between = np.repeat([0, 1, 2], [50, 25, 25])  # shares the halves of one and the quarters of the other
    quarters = np.repeat([0, 1, 2, 3], 25)
    monkeypatch.setattr(weights, "CLEARLY", 0.0)
    assert choose(monkeypatch, (HALVES, quarters, between)) == 2.0 * FACTORS[2]


def test_the_middle_weight_is_the_paper_s():
    assert FACTORS[len(FACTORS) // 2] == 1.0
    assert sorted(FACTORS) == list(FACTORS)
    assert 0 < CLEARLY < 1


def test_long_sequences_are_thinned_and_each_weight_starts_where_the_last_ended(monkeypatch):
    X, _ = make_subspaces(4, 2, 10, 30, rng=1)
    seen, starts, ended = [], [], []
    solve = weights.solve_fast

    def spy(model, X, *, start, **options):
        seen.append((model, X))
        starts.append(start)
        solution = solve(model, X, start=start, **options)
        ended.append(solution.state)
        return solution

    monkeypatch.setattr(weights, "solve_fast", spy)
    monkeypatch.setattr(weights, "N_SAMPLES", 50)
    choose_lambda_2(X, lambda weight: Osc(0.1, weight), 1.0, 1)
    assert [model.lam2 for model, _ in seen] == list(FACTORS)
    for _, columns in seen:
        np.testing.assert_array_equal(columns, X[:, ::3])
    assert starts[0] is None
    assert all(start is end for start, end in zip(starts[1:], ended, strict=False))


def test_an_estimator_hands_over_no_more_samples_than_are_looked_at(monkeypatch):
    X, _ = make_subspaces(4, 2, 10, 30, rng=1)
    seen = []

    def spy(columns, make, base, n_threads):
        seen.append(columns)
        return base

    monkeypatch.setattr(ordered, "choose_lambda_2", spy)
    monkeypatch.setattr(ordered, "N_SAMPLES", 50)
    OSC(4, lambda_2="auto", normalize=False).fit(X.T)
    np.testing.assert_array_equal(seen[0], X[:, ::3])


@COUPLED
def test_on_unit_samples_the_weights_are_around_the_paper_s(Estimator, base, samples):
    X, labels = samples
    fitted = Estimator(3, lambda_1="auto", lambda_2="auto", random_state=0).fit(X)
    assert fitted.lambda_1_ == pytest.approx(0.1)
    assert fitted.lambda_2_ in [pytest.approx(factor * base) for factor in FACTORS]
    assert clustering_error(labels, fitted.labels_) == 0
    assert (fitted.lambda_1, fitted.lambda_2) == ("auto", "auto")
    assert clone(fitted).lambda_2 == "auto"


@COUPLED
@pytest.mark.parametrize("scale", [0.01, 30.0])
def test_weights_scale_with_the_square_of_the_samples(Estimator, base, scale, samples):
    X, _ = samples
    automatic = {"lambda_1": "auto", "lambda_2": "auto", "normalize": False}
    plain, scaled = Estimator(3, **automatic).fit(X), Estimator(3, **automatic).fit(scale * X)
    longest = np.sum(X**2, axis=1).max()
    assert plain.lambda_1_ == pytest.approx(FRACTION * longest)
    assert scaled.lambda_1_ == pytest.approx(scale**2 * plain.lambda_1_)
    assert scaled.lambda_2_ == pytest.approx(scale**2 * plain.lambda_2_)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)


@COUPLED
def test_numbers_pass_through(Estimator, base, samples, monkeypatch):
    X, _ = samples
    given = Estimator(3, lambda_1=0.3, lambda_2="auto").fit(X)
    assert given.lambda_1_ == 0.3
    assert given.lambda_2_ in [pytest.approx(factor * base) for factor in FACTORS]

    def fail(*_):
        raise AssertionError("nothing is left to choose")

    monkeypatch.setattr(ordered, "choose_lambda_2", fail)
    given = Estimator(3, lambda_1="auto", lambda_2=0.7).fit(X)
    assert (given.lambda_1_, given.lambda_2_) == (pytest.approx(0.1), 0.7)
    given = Estimator(3, lambda_1=0.2, lambda_2=0.4).fit(X)
    assert (given.lambda_1_, given.lambda_2_) == (0.2, 0.4)


def test_what_is_minimised_has_the_chosen_weights(samples):
    X, _ = samples
    osc = OSC(3, lambda_1="auto", lambda_2="auto", normalize=False, tol=1e-5).fit(5 * X)
    value = Osc(osc.lambda_1_, osc.lambda_2_).value(5 * X.T, osc.coef_)
    assert osc.objective_ == pytest.approx(value, rel=1e-8)


def test_weights_are_chosen_again_for_other_samples(samples):
    X, _ = samples
    osc = OSC(3, lambda_1="auto", lambda_2="auto", normalize=False)
    first = osc.fit(X).lambda_1_
    assert osc.fit(2 * X).lambda_1_ == pytest.approx(4 * first)


@COUPLED
def test_samples_without_a_scale_still_have_weights(Estimator, base):
    fitted = Estimator(lambda_1="auto", lambda_2="auto").fit(np.zeros((12, 3)))
    assert (fitted.lambda_1_, fitted.lambda_2_) == (FRACTION, base)


@pytest.mark.parametrize("n", [3, 5, 11])
def test_short_sequences_have_weights_too(n):
    X = np.random.default_rng(n).standard_normal((n, 4))
    fitted = OSC(1, lambda_1="auto", lambda_2="auto").fit(X)
    assert fitted.lambda_2_ in [pytest.approx(factor) for factor in FACTORS]


@pytest.mark.parametrize("estimator", [SSC(lambda_1="auto"), LRR(lambda_1="auto"), LSR(lambda_1="auto")])
def test_models_without_a_weight_of_change_have_no_auto(estimator, samples):
    with pytest.raises(ValueError, match=r"lambda_1 must be a number > 0; got 'auto'"):
        estimator.fit(samples[0])


@pytest.mark.parametrize("seed", range(3))
def test_with_nothing_told_recurring_spans_are_found(seed):
    X, labels = make_recurring_subspaces((0, 1, 2, 0), 3, 12, (20, 15, 25, 20), rng=seed)
    osc = OSC(lambda_1="auto", lambda_2="auto", cut="ordered", random_state=0).fit(X.T)
    assert clustering_error(labels, osc.labels_) == 0
