"""Weights that are left to the data: their scale, and what the estimators make of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from seqspan import LRR, LSR, OSC, SSC, SpatSC
from seqspan.datasets import make_recurring_subspaces, make_subspaces
from seqspan.metrics import clustering_error
from seqspan.models import Osc
from seqspan.models.weights import LAMBDA_1_FRACTION, choose_weights
from seqspan.solvers import SOLVERS, Stopping

COUPLED = pytest.mark.parametrize(("Estimator", "base"), [(OSC, 1.0), (SpatSC, 0.01)])
AUTO = {"lambda_1": "auto", "lambda_2": "auto"}


@pytest.fixture(scope="module")
def samples():
    X, labels = make_subspaces(3, 2, 20, 12, rng=7)
    return X.T, labels


@pytest.mark.parametrize("seed", range(3))
def test_all_coefficients_vanish_from_the_critical_weight_on_and_not_before(seed):
    X, _ = make_subspaces(3, 2, 10, 8, rng=seed)
    critical = choose_weights(X, "auto", "auto", 1.0)[0] / LAMBDA_1_FRACTION
    # next to nothing for change over time, so that the first weight alone decides
    above, below = (
        SOLVERS["fast"](Osc(share * critical, 1e-9), X, stopping=Stopping(1e-8)) for share in (1.05, 0.95)
    )
    # an entry costs a twentieth of the weight above what it saves, and the objective is right to 1e-8
    assert np.abs(above.Z).max() < 1e-5
    assert np.abs(below.Z).max() > 1e-3


@COUPLED
def test_on_unit_samples_the_weights_are_the_paper_s(Estimator, base, samples):
    X, labels = samples
    fitted = Estimator(3, **AUTO, random_state=0).fit(X)
    assert fitted.lambda_1_ == pytest.approx(0.1)
    assert fitted.lambda_2_ == pytest.approx(base)
    assert clustering_error(labels, fitted.labels_) == 0
    assert (fitted.lambda_1, fitted.lambda_2) == ("auto", "auto")
    assert clone(fitted).lambda_2 == "auto"


@COUPLED
@pytest.mark.parametrize("scale", [0.01, 30.0])
def test_weights_scale_with_the_square_of_the_samples(Estimator, base, scale, samples):
    X, _ = samples
    plain = Estimator(3, **AUTO, normalize=False, random_state=0).fit(X)
    scaled = Estimator(3, **AUTO, normalize=False, random_state=0).fit(scale * X)
    longest = np.sum(X**2, axis=1).max()
    assert (plain.lambda_1_, plain.lambda_2_) == (pytest.approx(0.1 * longest), pytest.approx(base * longest))
    assert scaled.lambda_1_ == pytest.approx(scale**2 * plain.lambda_1_)
    assert scaled.lambda_2_ == pytest.approx(scale**2 * plain.lambda_2_)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)


@COUPLED
def test_numbers_pass_through(Estimator, base, samples):
    X, _ = samples
    given = Estimator(3, lambda_1=0.3, lambda_2="auto").fit(X)
    assert (given.lambda_1_, given.lambda_2_) == (0.3, pytest.approx(base))
    given = Estimator(3, lambda_1="auto", lambda_2=0.7).fit(X)
    assert (given.lambda_1_, given.lambda_2_) == (pytest.approx(0.1), 0.7)
    given = Estimator(3, lambda_1=0.2, lambda_2=0.4).fit(X)
    assert (given.lambda_1_, given.lambda_2_) == (0.2, 0.4)


@COUPLED
@pytest.mark.parametrize("weight", ["wide", -1.0, 0, None, True])
@pytest.mark.parametrize("name", ["lambda_1", "lambda_2"])
def test_other_words_and_numbers_are_refused(Estimator, base, name, weight, samples):
    with pytest.raises(ValueError, match=f"{name} must be"):
        Estimator(3, **{name: weight}).fit(samples[0])


def test_what_is_minimised_has_the_chosen_weights(samples):
    X, _ = samples
    osc = OSC(3, **AUTO, normalize=False, tol=1e-5).fit(5 * X)
    value = Osc(osc.lambda_1_, osc.lambda_2_).value(5 * X.T, osc.coef_)
    assert osc.objective_ == pytest.approx(value, rel=1e-8)


@COUPLED
@pytest.mark.parametrize("scale", [1e30, 1e-30, 1e-37])
def test_weights_of_single_precision_samples_do_not_overflow(Estimator, base, scale, samples):
    X = samples[0]
    settings = {**AUTO, "normalize": False, "random_state": 0}
    plain = Estimator(3, **settings).fit(X)
    scaled = Estimator(3, **settings).fit((scale * X).astype(np.float32))
    assert scaled.lambda_1_ == pytest.approx(scale**2 * plain.lambda_1_, rel=1e-5)
    assert scaled.objective_ == pytest.approx(scale**2 * plain.objective_, rel=0.02)  # both gaps are 0.01
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_weights_whose_square_is_not_a_float_are_refused(scale, samples):
    with pytest.raises(ValueError, match=r"'auto' grow with the square .* use normalize=True"):
        OSC(3, **AUTO, normalize=False).fit(scale * samples[0])


def test_weights_are_chosen_again_for_other_samples(samples):
    X, _ = samples
    osc = OSC(3, **AUTO, normalize=False)
    first = osc.fit(X).lambda_1_
    assert osc.fit(2 * X).lambda_1_ == pytest.approx(4 * first)


@COUPLED
def test_samples_without_a_scale_still_have_weights(Estimator, base):
    fitted = Estimator(**AUTO).fit(np.zeros((12, 3)))
    assert (fitted.lambda_1_, fitted.lambda_2_) == (LAMBDA_1_FRACTION, base)


@pytest.mark.parametrize("estimator", [SSC(lambda_1="auto"), LRR(lambda_1="auto"), LSR(lambda_1="auto")])
def test_models_without_a_weight_of_change_have_no_auto(estimator, samples):
    with pytest.raises(ValueError, match=r"lambda_1 must be a number > 0; got 'auto'"):
        estimator.fit(samples[0])


@pytest.mark.parametrize("seed", range(3))
def test_with_no_numbers_given_recurring_spans_are_found(seed):
    X, labels = make_recurring_subspaces((0, 1, 2, 0), 3, 12, (20, 15, 25, 20), rng=seed)
    osc = OSC(**AUTO, cut="ordered", random_state=0).fit(X.T)
    assert clustering_error(labels, osc.labels_) == 0
