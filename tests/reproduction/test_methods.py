"""The compared methods: certified, scored against the truth, with the paper's weights."""

from __future__ import annotations

import numpy as np
import pytest

from seqspan._core.scaling import scale_columns
from seqspan.datasets import make_subspaces
from seqspan.reproduction._methods import (
    METHODS,
    PAPER,
    PAPER_REAL,
    VARIANTS,
    minimise,
    paper_weights,
    run_method,
    score,
)

LABELS = np.repeat(np.arange(4), 10)


@pytest.mark.parametrize("method", [*METHODS, *VARIANTS])
def test_every_method_segments_clean_data_and_is_certified(method):
    X, labels = make_subspaces(rng=2)
    found = run_method(
        method, scale_columns(X), labels, paper_weights(method), 1e-3, np.random.default_rng(0)
    )
    assert found["error"] == found["error_linked"] == found["error_toolbox"] == 0
    assert found["gap"] <= (0.5 if method.endswith("as_coded") else 1e-3)  # its multiplier proves little


def test_the_weights_are_those_of_the_papers_table():
    assert PAPER == {"osc": (0.1, 1.0), "spatsc": (0.1, 0.01), "lrr": (0.4, None), "ssc": (0.2, None)}
    assert PAPER_REAL == {**PAPER, "ssc": (0.1, None)}


def test_weights_matter():
    X = scale_columns(make_subspaces(rng=2)[0])
    sums = [np.abs(minimise("ssc", X, (weight, None), 1e-3).Z).sum() for weight in (0.05, 0.4)]
    assert sums[1] < sums[0]


def test_the_score_counts_what_is_mislabelled():
    merged = np.kron(np.diag([1.0, 1.0, 1.0]), np.ones((10, 10)))
    merged = np.pad(merged, (0, 10))
    merged[20:, 20:] = np.kron(np.eye(2), np.ones((10, 10)))
    found = score(merged, LABELS, np.random.default_rng(0))
    assert found["error"] == found["error_linked"] == 0
    wrong = merged.copy()
    wrong[:, 5], wrong[5, :] = 0.0, 0.0
    wrong[5, 10:20] = wrong[10:20, 5] = 1.0  # sample 5 resembles the second span
    assert score(wrong, LABELS, np.random.default_rng(0))["error"] == pytest.approx(1 / 40)


def test_where_the_affinity_is_silent_only_the_linked_cut_knows_the_order():
    found = score(np.zeros((40, 40)), LABELS, np.random.default_rng(0))
    assert found["error_linked"] <= 0.1
    assert found["error"] > 0.3
    assert found["error_toolbox"] > 0.3


def test_the_plain_score_does_not_depend_on_the_order():
    rng = np.random.default_rng(3)
    Z = np.kron(np.eye(4), np.ones((10, 10))) + 1.2 * rng.random((40, 40))
    order = rng.permutation(40)
    errors = [
        score(A, truth, np.random.default_rng(0))["error"]
        for A, truth in ((Z, LABELS), (Z[np.ix_(order, order)], LABELS[order]))
    ]
    assert errors[0] == errors[1] < 0.5


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e85])
def test_a_diverged_answer_still_has_a_score(value):
    Z = np.random.default_rng(0).random((40, 40)) * (value if np.isfinite(value) else 1.0)
    if not np.isfinite(value):
        Z[3, 4] = value
    found = score(Z, LABELS, np.random.default_rng(0))
    assert 0.3 < found["error"] <= 0.75
