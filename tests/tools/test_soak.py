"""The soak at toy size, and that it sees what it looks for."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.soak.__main__ import Tally, run_case, soak
from benchmarks.soak.cases import Case, draw_case
from benchmarks.soak.checks import _wrong_beside_linear_programme
from benchmarks.soak.command_line import other_than_command_line
from benchmarks.soak.histories import stale_attributes
from benchmarks.soak.refusals import rightly_refused
from benchmarks.soak.relations import RELATIONS, broken_relations

import seqspan
from seqspan import LSR, OSC, SSC
from seqspan.estimators import SubspaceSegmenter


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


ROWS = np.random.default_rng(3).uniform(-1, 1, (24, 4))


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.change.__name__)
def test_an_answer_that_depends_on_what_it_must_not_is_seen(monkeypatch, relation):
    fitted = LSR(2, preprocess="centre,scale", random_state=0).fit(ROWS)
    case = Case(0, fitted, ROWS, "")
    assert relation.applies(fitted, ROWS)
    monkeypatch.setattr("benchmarks.soak.relations.RELATIONS", [relation])
    assert list(broken_relations(case)) == []
    fit = LSR.fit

    def tampered(self, X):
        fit(self, X)
        self.objective_ *= 3

    monkeypatch.setattr(LSR, "fit", tampered)
    assert "from below" in next(broken_relations(case))


def test_relations_that_need_not_hold_are_not_checked():
    rescale, units, _, backwards, constant = RELATIONS
    kept = LSR(2, normalize=False).fit(ROWS)
    assert not any(relation.applies(kept, ROWS) for relation in (rescale, units, constant))
    halved = LSR(2, preprocess="subsample:2").fit(ROWS)
    assert rescale.applies(halved, ROWS)
    assert not backwards.applies(halved, ROWS)


def test_other_labels_after_an_exact_change_are_seen(monkeypatch):
    fitted = LSR(2, random_state=0).fit(ROWS)
    monkeypatch.setattr("benchmarks.soak.relations.RELATIONS", RELATIONS[:1])
    monkeypatch.setattr(fitted, "labels_", 1 - fitted.labels_)
    assert next(broken_relations(Case(0, fitted, ROWS, ""))).startswith("labels")


@pytest.mark.parametrize("seed", [7440, 9594])
def test_neither_ties_among_landmarks_nor_tiny_samples_are_faults(seed):
    tally = Tally()
    run_case(draw_case(seed), tally)
    assert tally.failures == []


def test_other_landmarks_after_an_exact_change_are_seen(monkeypatch):
    fitted = OSC(2, dictionary="landmarks", n_landmarks=3, random_state=0).fit(ROWS)
    monkeypatch.setattr("benchmarks.soak.relations.RELATIONS", RELATIONS[:1])
    assert list(broken_relations(Case(0, fitted, ROWS, ""))) == []
    fitted.segmentation_.representation.landmarks[:, 0] *= 2
    assert next(broken_relations(Case(0, fitted, ROWS, ""))).startswith("other landmarks")


def test_a_bound_above_a_linear_programme_is_seen_at_any_scale():
    """Of x, 2 x and 4 x, the least weights are 1/4, 1/2 and 2; samples of zeros need none."""
    for scale in (1.0, 1e-31, 1e300):
        X = scale * np.array([[1.0, 2.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
        assert list(_wrong_beside_linear_programme(X, 0.25 + 0.5 + 2.0)) == []
        assert "below the certified bound" in next(_wrong_beside_linear_programme(X, 2.76))


def test_attributes_that_stay_are_seen(monkeypatch):
    cases = [Case(seed, OSC(), ROWS, "") for seed in range(3, 200, 10)]
    assert [fault for case in cases for fault in stale_attributes(case)] == []
    monkeypatch.setattr(SubspaceSegmenter, "_forget", lambda self: setattr(self, "_stream", None))
    assert any("stale n_final_ after" in fault for case in cases for fault in stale_attributes(case))


def test_another_answer_of_the_command_line_is_seen(monkeypatch):
    case = Case(7, OSC(), ROWS, "")
    assert list(other_than_command_line(case)) == []
    other = seqspan.segment(ROWS, n_spans=2)
    monkeypatch.setattr(seqspan, "segment", lambda path: other)
    assert "the command line writes" in next(other_than_command_line(case))


def test_refusals_must_be_right():
    error = ValueError("X = XZ is infeasible")
    independent = Case(1, SSC(noise="none"), np.eye(5), "")
    assert rightly_refused(independent, error) == "infeasible"
    assert rightly_refused(Case(1, SSC(noise="none"), np.ones((5, 2)), ""), error) is None
    error = ValueError("use normalize=True")
    large = Case(1, LSR(normalize=False), ROWS, "", scale=1e200)
    assert rightly_refused(large, error) == "out of range"
    own = ValueError("kernel must return finite values; got 25 of 25 values that are infinite or NaN.")
    assert rightly_refused(large, own) == "out of range"
    assert rightly_refused(Case(1, LSR(normalize=False), ROWS, ""), own) is None
    assert rightly_refused(Case(1, LSR(normalize=False), ROWS, ""), error) is None
    assert rightly_refused(Case(1, LSR(), ROWS, "", scale=1e200), error) is None
