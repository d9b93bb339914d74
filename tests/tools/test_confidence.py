"""The benchmark of the confidence fits what was planted, and never to the set that it judges."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.confidence import (
    brier_skill,
    calibration_error,
    evidence_of,
    fit,
    leave_one_out,
    match,
)
from scipy.special import expit

from seqspan.cuts.ordered.confidence import INTERCEPT, SLOPE


def planted(intercept, slope, *, n=4000, seed=0):
    """Evidence, and whether boundaries with it were right."""
    rng = np.random.default_rng(seed)
    evidence = rng.uniform(-2, 6, n)
    return evidence, (rng.random(n) < expit(intercept + slope * evidence)).astype(float)


def test_the_numbers_that_were_planted_are_found():
    evidence, right = planted(-1.0, 0.8)
    names = np.repeat(["one", "two"], len(right) // 2)
    np.testing.assert_allclose(fit(names, evidence, right), (-1.0, 0.8), atol=0.15)


def test_a_set_is_judged_by_numbers_of_the_others():
    evidence, right = planted(-1.0, 0.8)
    names = np.repeat(["one", "two", "three", "four"], len(right) // 4)
    before = leave_one_out(names, evidence, right)
    right[names == "one"] = 1 - right[names == "one"]
    after = leave_one_out(names, evidence, right)
    assert after["one"] == before["one"]
    assert after["two"] != before["two"]


def test_evidence_is_what_the_confidence_was_computed_from():
    evidence = np.array([-3.0, 0.0, 4.0])
    np.testing.assert_allclose(evidence_of(expit(INTERCEPT + SLOPE * evidence)), evidence, atol=1e-12)
    assert np.isfinite(evidence_of(np.ones(1))).all()


def test_scores_of_a_confidence():
    right = np.repeat([0.0, 1.0], 50)
    assert calibration_error(right, right) == 0
    assert calibration_error(np.full(100, 0.9), right) == pytest.approx(0.4)
    assert brier_skill(right, right) == 1
    assert brier_skill(np.full(100, 0.5), right) == pytest.approx(0)
    assert brier_skill(1 - right, right) < 0


def test_each_boundary_is_paired_once_and_nearest_first():
    found = match(np.array([10, 30]), np.array([8, 9, 33, 60]), margin=3)
    assert found.tolist() == [False, True, True, False]
