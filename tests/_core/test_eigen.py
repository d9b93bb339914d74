from __future__ import annotations

import numpy as np
import pytest

from seqspan._core import eigen as _eigen
from seqspan._core.eigen import principal_directions, symmetric_eigenpairs


@pytest.mark.parametrize("count", [None, 1, 3, 8, 20])
@pytest.mark.parametrize("driver", ["as it is", "gives up", "finds too few"])
def test_eigenpairs_also_where_lapack_gives_up(monkeypatch, count, driver):
    def fail(*_, **__):
        if driver == "gives up":
            raise np.linalg.LinAlgError("Internal Error.")
        return np.empty(0), np.empty((8, 0))

    if driver != "as it is":
        monkeypatch.setattr(_eigen, "eigh", fail)
    A = np.random.default_rng(0).standard_normal((8, 8))
    A = A + A.T
    values, vectors = symmetric_eigenpairs(A, count)
    assert len(values) == min(count or 8, 8)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[8 - len(values) :], atol=1e-12)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 12), (12, 40), (20, 20)])
@pytest.mark.parametrize("count", [1, 5, 30])
def test_principal_directions_are_the_left_singular_vectors(shape, count):
    samples = np.random.default_rng(0).standard_normal(shape)
    expected = np.linalg.svd(samples, full_matrices=False)[0][:, :count]
    found = principal_directions(samples, count)
    assert found.shape == expected.shape
    # each up to its sign
    np.testing.assert_allclose(np.abs(np.sum(found * expected, axis=0)), 1, atol=1e-9)
    np.testing.assert_allclose(found.T @ found, np.eye(found.shape[1]), atol=1e-9)


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)])
def test_principal_directions_are_no_more_than_samples_span(shape):
    rng = np.random.default_rng(1)
    samples = rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1]))
    assert principal_directions(samples, 5).shape == (shape[0], 2)
    assert principal_directions(np.zeros(shape), 5).shape == (shape[0], 0)
