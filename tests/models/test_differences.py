"""The operators against dense matrices that follow the paper's definition entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import dense_incidence, dense_R
from tests.problems import ring_weights

from seqspan.models.differences import Graph, Path, differences, path_laplacian_eigenvalues, spread

unhurried = settings(deadline=None)  # a busy machine is no bug
sizes = st.integers(2, 12)
seeds = st.integers(0, 2**32 - 1)


def _operator(kind, n, seed):
    if kind == "path":
        return Path(), dense_R(n)
    if kind == "joined":
        return Path((2, 3)), dense_R(n, (2, 3))
    W = ring_weights(n, seed)
    return Graph(W), dense_incidence(W)


@unhurried
@given(m=sizes, n=sizes, seed=seeds)
def test_differences_and_spread_multiply_by_R(m, n, seed):
    rng = np.random.default_rng(seed)
    Z, V, R = rng.standard_normal((m, n)), rng.standard_normal((m, n - 1)), dense_R(n)
    np.testing.assert_allclose(differences(Z), Z @ R, atol=1e-14)
    np.testing.assert_allclose(spread(V), V @ R.T, atol=1e-14)


@pytest.mark.parametrize("kind", ["path", "joined", "graph"])
@unhurried
@given(m=sizes, n=st.integers(5, 12), seed=seeds)
def test_operators_equal_their_dense_matrices(kind, m, n, seed):
    operator, D = _operator(kind, n, seed)
    rng = np.random.default_rng(seed)
    Z, V = rng.standard_normal((m, n)), rng.standard_normal((m, D.shape[1]))
    np.testing.assert_allclose(operator.apply(Z), Z @ D, atol=1e-13)
    np.testing.assert_allclose(operator.adjoint(V), V @ D.T, atol=1e-13)
    # <ZD, V> = <Z, V D^T>: sums of at most 400 products of size 1
    assert np.sum(operator.apply(Z) * V) == pytest.approx(np.sum(Z * operator.adjoint(V)), abs=1e-11)


@pytest.mark.parametrize("kind", ["path", "joined", "graph"])
@unhurried
@given(n=st.integers(5, 12), seed=seeds)
def test_the_eigenbasis_makes_the_laplacian_diagonal(kind, n, seed):
    operator, D = _operator(kind, n, seed)
    F = np.random.default_rng(seed).standard_normal((3, n))
    basis = operator.to_eigenbasis(np.eye(n))
    np.testing.assert_allclose(basis @ basis.T, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(basis.T @ (D @ D.T) @ basis, np.diag(operator.eigenvalues(n)), atol=1e-11)
    np.testing.assert_allclose(operator.from_eigenbasis(operator.to_eigenbasis(F)), F, atol=1e-12)
    scaled = operator.from_eigenbasis(operator.to_eigenbasis(F) * operator.eigenvalues(n))
    np.testing.assert_allclose(scaled, F @ D @ D.T, atol=1e-10)


@pytest.mark.parametrize("kind", ["path", "graph"])
@unhurried
@given(n=st.integers(5, 30), seed=seeds)
def test_norm_squared_bounds_the_norm_and_not_by_much(kind, n, seed):
    operator, D = _operator(kind, n, seed)
    norm = np.linalg.norm(D, 2) ** 2
    assert norm <= operator.norm_squared() * (1 + 1e-12)
    assert operator.norm_squared() <= 1.2 * norm  # a path of 5: 4 against 3.62


@pytest.mark.parametrize("n", [2, 3, 7, 50])
def test_laplacian_eigenvalues_are_those_of_R_Rt(n):
    R = dense_R(n)
    np.testing.assert_allclose(path_laplacian_eigenvalues(n), np.linalg.eigvalsh(R @ R.T), atol=1e-13)


def test_the_graph_ignores_its_diagonal_and_counts_every_pair_once():
    W = ring_weights(6, 3)
    Z = np.random.default_rng(4).standard_normal((2, 6))
    np.testing.assert_array_equal(Graph(W + np.eye(6)).apply(Z), Graph(W).apply(Z))
    assert Graph(W).apply(Z).shape[1] == np.count_nonzero(W) // 2
    np.testing.assert_allclose(Graph(W + np.eye(6)).eigenvalues(6), Graph(W).eigenvalues(6), atol=1e-13)


def test_the_path_is_a_graph():
    n = 7
    W = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    Z = np.random.default_rng(5).standard_normal((3, n))
    np.testing.assert_allclose(Graph(W).apply(Z), -Path().apply(Z))  # z_i - z_j against z_j - z_i
    np.testing.assert_allclose(Graph(W).eigenvalues(n), Path().eigenvalues(n), atol=1e-13)


@pytest.mark.parametrize("kind", ["path", "joined", "graph"])
def test_float32_stays(kind):
    operator, _ = _operator(kind, 6, 1)
    Z = np.random.default_rng(6).standard_normal((6, 6)).astype(np.float32)
    V = operator.apply(Z)
    for A in (V, operator.adjoint(V), operator.to_eigenbasis(Z), operator.from_eigenbasis(Z)):
        assert A.dtype == np.float32
