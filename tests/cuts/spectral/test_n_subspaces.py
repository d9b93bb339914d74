"""The estimators of k against numpy's spectra, written out, and on planted graphs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from seqspan.cuts.spectral import spectrum as _spectrum
from seqspan.cuts.spectral.affinity import SharedAffinity
from seqspan.cuts.spectral.n_subspaces import (
    ESTIMATORS,
    count_laplacian_zeros,
    count_singular_values,
    estimate_n_subspaces,
    find_eigen_gap,
    find_soft_gap,
    find_svd_gap,
    laplacian_eigenvalues,
    soft_scores,
)

SPECTRAL_DATA = st.tuples(st.integers(0, 2**31), st.integers(2, 14))


def random_affinity(seed, n):
    W = np.random.default_rng(seed).random((n, n)) ** 3
    return W + W.T


def planted(groups, leak=0.0, seed=0):
    """Affinities of mean one within groups; `leak` is the share that samples give to all others."""
    groups = np.asarray(groups)
    rng = np.random.default_rng(seed)
    W = (groups[:, None] == groups) * rng.uniform(0.8, 1.2, (len(groups),) * 2)
    W /= W.sum(axis=1).mean()
    noise = rng.uniform(0, 2, W.shape) / len(groups)
    W = (1 - leak) * W + leak * noise
    return W + W.T


def laplacian_spectrum(W, *, normalised):
    """Ascending eigenvalues from the definitions, by dense matrices."""
    D = np.diag(W.sum(axis=1))
    if normalised:
        root = np.linalg.inv(np.sqrt(D))
        return np.linalg.eigvalsh(np.eye(len(W)) - root @ W @ root)
    return np.linalg.eigvalsh(D - W) / np.trace(D) * len(W)


@given(data=SPECTRAL_DATA)
def test_gaps_are_those_of_the_sorted_spectrum(data):
    W = random_affinity(*data)
    eigenvalues = np.sort(np.linalg.eigvalsh(W))[::-1]
    singular_values = np.linalg.svd(W)[1]
    assert find_eigen_gap(W) == 1 + max(range(len(W) - 1), key=lambda i: eigenvalues[i] - eigenvalues[i + 1])
    assert find_svd_gap(W) == 1 + max(
        range(len(W) - 1), key=lambda i: singular_values[i] - singular_values[i + 1]
    )
    for of, normalised in (("laplacian", False), ("normalised_laplacian", True)):
        expected = 1 + int(np.argmax(np.diff(laplacian_spectrum(W, normalised=normalised))))
        assert find_eigen_gap(W, of) == expected


@given(data=SPECTRAL_DATA, threshold=st.floats(0.05, 0.95))
def test_counts_are_those_of_the_sorted_spectrum(data, threshold):
    W = random_affinity(*data)
    sizes = np.linalg.svd(W, compute_uv=False)
    assert count_singular_values(W, threshold) == np.sum(sizes > threshold * sizes[0])
    for normalised in (False, True):
        values = laplacian_spectrum(W, normalised=normalised)
        assert count_laplacian_zeros(W, threshold, normalised=normalised) == np.sum(values < threshold)


@settings(max_examples=30)
@given(groups=st.lists(st.integers(0, 5), min_size=4, max_size=40), seed=st.integers(0, 2**31))
def test_zeros_of_the_laplacian_are_the_pieces_of_the_graph(groups, seed):
    W = planted(groups, seed=seed)
    pieces = connected_components(W)[0]
    # Rounding is all that keeps eigenvalues from zero; a piece of 40 has none but one below 0.6.
    assert count_laplacian_zeros(W, 1e-8) == pieces
    assert count_laplacian_zeros(W, 1e-8, normalised=False) == pieces


@pytest.mark.parametrize("method", sorted(ESTIMATORS))
@pytest.mark.parametrize("n_subspaces", [2, 3, 8])
def test_every_method_counts_clean_blocks(method, n_subspaces):
    W = planted(np.repeat(np.arange(n_subspaces), 12), leak=0.02, seed=n_subspaces)
    assert estimate_n_subspaces(W, method) == n_subspaces


@pytest.mark.parametrize("method", sorted(ESTIMATORS))
def test_every_method_can_find_a_single_subspace(method):
    assert estimate_n_subspaces(planted([0] * 30, leak=0.5), method) == 1


@pytest.mark.parametrize("leak", [0.0, 0.1, 0.25, 0.4])
@pytest.mark.parametrize(
    "groups",
    [[0], [0, 1], [0, 1, 0, 2], [0, 1, 2, 3, 4], [2, 0, 1, 1, 2, 0], list(range(8))],
    ids=lambda groups: "".join(map(str, groups)),
)
def test_auto_sees_through_leaks_of_any_strength(groups, leak):
    W = planted(np.repeat(groups, 20), leak=leak, seed=len(groups))
    assert estimate_n_subspaces(W) == len(set(groups))


@given(data=SPECTRAL_DATA)
def test_singular_values_of_a_laplacian_would_have_the_gaps_of_its_eigenvalues(data):
    """So there is no estimator by them."""
    W = random_affinity(*data)
    laplacian = np.diag(W.sum(axis=1)) - W
    singular = np.sort(np.linalg.svd(laplacian, compute_uv=False))
    assert find_eigen_gap(W, "laplacian") == 1 + int(np.argmax(np.diff(singular)))
    assert not [name for name in ESTIMATORS if name.startswith("svd_gap_")]


def test_singular_values_of_an_affinity_have_gaps_of_their_own():
    W = np.kron(np.eye(3), np.array([[0.0, 1.0], [1.0, 0.0]]))  # eigenvalues 1 and -1, three times each
    assert find_eigen_gap(W) == 3
    assert find_svd_gap(W + np.diag([0, 0, 0, 0, 1e-3, 1e-3]), max_subspaces=5) != 3


@given(data=SPECTRAL_DATA)
def test_the_laplacian_s_eigenvalues_are_those_of_numpy(data):
    W = random_affinity(*data)
    expected = laplacian_spectrum(W, normalised=True)
    np.testing.assert_allclose(laplacian_eigenvalues(W, len(W)), expected, atol=1e-9)
    np.testing.assert_allclose(laplacian_eigenvalues(W, 2), expected[:2], atol=1e-9)


def test_eigenvalues_of_a_large_affinity_are_as_accurate_as_asked_for(monkeypatch):
    monkeypatch.setattr(_spectrum, "DENSE_LIMIT", 100)
    W = random_affinity(0, 300)
    expected = laplacian_spectrum(W, normalised=True)[:4]
    np.testing.assert_allclose(laplacian_eigenvalues(W, 4, tol=1e-7), expected, atol=1e-12)


def test_eigenvalues_of_a_shared_affinity_are_those_of_it_written_out():
    shared = SharedAffinity(np.random.default_rng(0).random((3, 20)))
    W = shared.multiply(np.eye(20))
    np.testing.assert_allclose(
        laplacian_eigenvalues(shared, 2), laplacian_spectrum(W, normalised=True)[:2], atol=1e-12
    )


@given(data=SPECTRAL_DATA)
def test_the_soft_gap_is_its_formula(data):
    W = random_affinity(*data)
    values = laplacian_spectrum(W, normalised=True)
    zeroness = [1 / (1 + (10 * mu) ** 3) - mu for mu in values]
    gaps = [a - b for a, b in pairwise(zeroness)]
    gaps[0] /= 3
    np.testing.assert_allclose(soft_scores(values), gaps, atol=1e-12)
    assert find_soft_gap(W) == 1 + max(range(len(gaps)), key=gaps.__getitem__)


@pytest.mark.parametrize("method", sorted(ESTIMATORS))
def test_scale_and_order_of_the_samples_do_not_matter(method):
    W = planted(np.repeat([0, 1, 2], 10), leak=0.1)
    expected = estimate_n_subspaces(W, method)
    shuffled = np.random.default_rng(0).permutation(30)
    assert estimate_n_subspaces(1e-9 * W, method) == expected
    assert estimate_n_subspaces(W[np.ix_(shuffled, shuffled)], method) == expected
    assert estimate_n_subspaces(W.astype(np.float32), method) == expected


@pytest.mark.parametrize("method", sorted(ESTIMATORS))
def test_the_largest_number_asked_for_is_a_bound(method):
    W = planted(np.repeat(np.arange(6), 5))
    assert 1 <= estimate_n_subspaces(W, method, max_subspaces=4) <= 4
    assert estimate_n_subspaces(W, method, max_subspaces=1) == 1
    assert estimate_n_subspaces(np.ones((1, 1)), method) == 1
    assert 1 <= estimate_n_subspaces(np.zeros((5, 5)), method) <= 5


def test_samples_without_affinity_are_no_subspaces():
    W = planted(np.repeat([0, 1, 2], 10), leak=0.05)
    W[[4, 17]] = W[:, [4, 17]] = 0
    assert estimate_n_subspaces(W) == 3
    assert count_laplacian_zeros(W) == 3
    assert count_laplacian_zeros(W, normalised=False) == 5  # for D - W they are


@pytest.mark.parametrize("method", sorted(ESTIMATORS))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_affinities_need_only_the_leading_part_of_the_spectrum(method, dtype, monkeypatch):
    W = planted(np.repeat([0, 1, 2, 3, 0, 3, 1, 2], 50), leak=0.05).astype(dtype)
    monkeypatch.setattr(_spectrum, "DENSE_LIMIT", 100)
    dense_solver = _spectrum.symmetric_eigenpairs

    def refuse_large(matrix):
        assert len(matrix) < 200
        return dense_solver(matrix)

    monkeypatch.setattr(_spectrum, "symmetric_eigenpairs", refuse_large)
    assert estimate_n_subspaces(W, method, max_subspaces=10) == 4


def test_thresholds_are_passed_on():
    W = np.diag([8.0, 4.0, 2.0, 1.0])
    assert estimate_n_subspaces(W, "singular_values", threshold=0.2) == 3
    assert estimate_n_subspaces(W, "singular_values", threshold=0.6) == 1
    leaky = planted([0] * 5 + [1] * 5, leak=0.2)
    assert estimate_n_subspaces(leaky, "laplacian_zeros", threshold=0.5) == 2
    assert estimate_n_subspaces(leaky, "laplacian_zeros", threshold=0.01) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "guess"}, r"method must be one of \['auto', .*; got 'guess'"),
        ({"max_subspaces": 0}, "max_subspaces must be at least 1; got 0"),
        ({"threshold": 0.5}, "threshold is for the methods .*; got it with 'auto'"),
        ({"method": "singular_values", "threshold": 1.0}, r"in \[0, 1\), a fraction of the largest; got 1.0"),
        ({"method": "laplacian_zeros", "threshold": 0.0}, "threshold must be positive; got 0.0"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        estimate_n_subspaces(np.eye(4), **arguments)


def test_an_unknown_matrix_is_named():
    with pytest.raises(ValueError, match="'laplacian' or 'normalised_laplacian'; got 'degree'"):
        find_eigen_gap(np.eye(4), of="degree")
