"""The soak at toy size, and that it sees what it looks for."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.soak.__main__ import Tally, run_case, soak
from benchmarks.soak.cases import Case, draw_case

from seqspan import LSR, OSC


def test_a_hundred_random_fits():
    tally = soak(range(700_000, 700_100))
    assert tally.failures == []
    assert tally.counts["valid"] > 80
    assert tally.counts["invalid"] > 0


def test_a_seed_repeats_its_fit():
    one, same = draw_case(17), draw_case(17)
    assert one.words == same.words
    np.testing.assert_array_equal(np.asarray(one.X), np.asarray(same.X))


@pytest.mark.parametrize(
    ("attribute", "wrong", "fault"),
    [
        ("objective_", np.nan, "not finite"),
        ("coef_", np.full((12, 12), np.nan), "not finite"),
        ("dual_gap_", -1e-3, "negative gap"),
        ("dual_gap_", 0.0, "below the certified bound"),
        ("objective_", 1e3, "but coef_ has"),
        ("labels_", np.zeros(11, int), "labels of shape"),
        ("labels_", np.arange(12), "labels"),
        ("boundaries_", np.array([12]), "boundaries"),
        ("n_subspaces_", 3, "labels"),
    ],
)
def test_faults_are_seen(monkeypatch, attribute, wrong, fault):
    """A fit whose result is tampered with."""
    X = np.repeat(np.eye(2), 6, axis=0) + 0.01 * np.random.default_rng(0).standard_normal((12, 2))
    estimator = OSC(2, max_iter=1, tol=0.9, solver="vladmap") if "below" in fault else LSR(2)
    fit = type(estimator).fit

    def tampered(self, *given):
        fit(self, *given)
        setattr(self, {"coef_": "_coefficients"}.get(attribute, attribute), wrong)  # coef_ is a property

    monkeypatch.setattr(type(estimator), "fit", tampered)
    tally = Tally()
    run_case(Case(1, estimator, X, "tampered"), tally)
    assert any(fault in found for _, found, _ in tally.failures)


def test_a_crash_and_an_accepted_mistake_are_seen(monkeypatch):
    tally = Tally()
    run_case(Case(1, LSR(2), np.full((5, 2), np.nan), "invalid samples, called valid"), tally)
    run_case(Case(2, LSR(2), np.eye(4), "valid samples, called invalid", valid=False), tally)
    monkeypatch.setattr(LSR, "fit", lambda self, X: 1 / 0)
    run_case(Case(3, LSR(2), np.eye(4), "breaks down"), tally)
    assert tally.counts["crashes"] == 3
