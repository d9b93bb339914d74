"""Samples that no others represent are found, and only those."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.problems import two_subspaces

from seqspan import SSC
from seqspan.models import LrrNoiseFree, Ssc, SscNoiseFree
from seqspan.models.feasibility import check_feasible, independent_samples


def _cannot_be_represented(X):
    """The same by linear programmes: is there a z with X z = x_j and z_j = 0?"""
    n, alone = X.shape[1], []
    for j in range(n):
        others = np.delete(X, j, axis=1)
        found = linprog(np.zeros(n - 1), A_eq=others, b_eq=X[:, j], bounds=(None, None))
        alone += [j] if found.status == 2 else []
    return alone


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(4, 9), (9, 9), (12, 7), (30, 12)])
def test_independent_samples_are_those_without_a_solution(shape, seed):
    X = two_subspaces(shape, seed, noise=0.0)
    X[:, seed] = np.random.default_rng(seed).standard_normal(shape[0])
    assert independent_samples(X).tolist() == _cannot_be_represented(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1, 1e-4, 1e4])
def test_samples_of_subspaces_represent_each_other_up_to_rounding(dtype, scale):
    X = two_subspaces((40, 24), 3, noise=0.0)
    assert len(independent_samples((scale * X).astype(dtype))) == 0
    noisy = two_subspaces((40, 24), 3, noise=0.01)
    assert len(independent_samples((scale * noisy).astype(dtype))) == 24


def test_duplicates_and_zeros_are_represented():
    X = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    assert independent_samples(X).tolist() == [3]


@pytest.mark.parametrize("model", [Ssc(0.1), LrrNoiseFree()])
def test_models_with_noise_or_a_free_diagonal_are_feasible(model):
    check_feasible(model, np.eye(3))


def test_the_error_names_the_first_samples_and_what_to_do():
    with pytest.raises(
        ValueError, match=r"9 of 9 samples are no .* \(0, 1, 2, 3, 4, \.\.\.\)\. Use .* noise"
    ):
        check_feasible(SscNoiseFree(), np.eye(9))


def test_the_estimator_says_infeasible():
    X = two_subspaces((20, 12), 0).T
    with pytest.raises(ValueError, match="infeasible: 12 of 12"):
        SSC(2, noise="none").fit(X)
