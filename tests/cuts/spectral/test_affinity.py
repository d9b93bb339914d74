"""The affinity, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqspan.cuts.spectral.affinity import SharedAffinity, affinity, symmetric_affinity


@given(Z=arrays(float, (4, 4), elements=st.floats(-3, 3)))
def test_every_entry_is_the_sum_of_both_magnitudes(Z):
    before = Z.copy()
    W = symmetric_affinity(Z)
    for i in range(4):
        for j in range(4):
            assert W[i, j] == abs(Z[i, j]) + abs(Z[j, i])
    np.testing.assert_array_equal(Z, before)


def test_precision_is_kept_and_read_only_input_accepted():
    Z = -np.eye(3, dtype=np.float32)
    Z.setflags(write=False)
    assert symmetric_affinity(Z).dtype == np.float32


def test_a_rectangle_is_refused():
    with pytest.raises(ValueError, match=r"must be square.*got shape \(3, 4\)"):
        symmetric_affinity(np.zeros((3, 4)))


def test_a_vector_has_no_shared_affinity():
    with pytest.raises(ValueError, match=r"one row per atom and one column per sample; got \(3,\)"):
        SharedAffinity(np.ones(3))


@pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-6), (np.float64, 1e-13)])
def test_shared_affinity_with_an_unused_atom_and_a_lonely_sample(dtype, atol):
    Z = np.random.default_rng(2).standard_normal((4, 7)).astype(dtype)
    Z[2], Z[:, 5] = 0, 0
    Z.setflags(write=False)
    used = np.abs(Z[[0, 1, 3]]).astype(float)
    W = used.T @ np.diag(1 / used.sum(axis=1)) @ used
    shared = SharedAffinity(Z)
    np.testing.assert_allclose(shared.multiply(np.eye(7)), W, atol=atol)
    np.testing.assert_allclose(shared.degrees(), W.sum(axis=1), atol=atol)
    assert shared.dtype == dtype
    assert shared.degrees().dtype == shared.multiply(np.eye(7)).dtype == np.float64  # sums need it
    degrees = W.sum(axis=1)
    scale = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1)), 0)
    values, vectors = shared.leading(6)  # more than there are atoms
    scaled = scale[:, None] * W * scale
    np.testing.assert_allclose(values, np.linalg.eigvalsh(scaled)[::-1][:6], atol=atol)
    np.testing.assert_allclose(scaled @ vectors[:, :3], vectors[:, :3] * values[:3], atol=atol)
    np.testing.assert_allclose(np.linalg.norm(vectors[:, :3], axis=0), 1, atol=atol)
    np.testing.assert_array_equal(vectors[:, 4:], 0)


def test_weak_samples_count_as_strong_ones_do():
    """The normalised affinity does not depend on the size of the coefficients."""
    Z = np.random.default_rng(4).standard_normal((3, 8))
    strong, weak = (SharedAffinity(size * Z).leading(3) for size in (1.0, 1e-3))
    np.testing.assert_allclose(weak[0], strong[0])
    np.testing.assert_allclose(np.abs(weak[1]), np.abs(strong[1]), atol=1e-12)


@pytest.mark.parametrize("size", [1, 3, 4, 8, 20])
def test_pooled_affinities_are_sums_over_blocks(size):
    shared = SharedAffinity(np.random.default_rng(5).standard_normal((3, 8)))
    W = shared.multiply(np.eye(8))
    blocks = [slice(start, start + size) for start in range(0, 8, size)]
    sums = [[W[rows, columns].sum() for columns in blocks] for rows in blocks]
    np.testing.assert_allclose(shared.pooled(size), sums)


def test_the_affinity_is_shared_where_atoms_are_not_the_samples():
    Z = np.random.default_rng(3).standard_normal((4, 4))
    np.testing.assert_array_equal(affinity(Z), symmetric_affinity(Z))
    assert isinstance(affinity(Z[:3]), SharedAffinity)
