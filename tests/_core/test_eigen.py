from __future__ import annotations

import numpy as np
import pytest

from seqspan._core import eigen as _eigen
from seqspan._core.eigen import symmetric_eigenpairs


@pytest.mark.parametrize("count", [None, 1, 3, 8, 20])
@pytest.mark.parametrize("gives_up", [False, True])
def test_eigenpairs_also_where_lapack_gives_up(monkeypatch, count, gives_up):
    if gives_up:

        def fail(*_, **__):
            raise np.linalg.LinAlgError("Internal Error.")

        monkeypatch.setattr(_eigen, "eigh", fail)
    A = np.random.default_rng(0).standard_normal((8, 8))
    A = A + A.T
    values, vectors = symmetric_eigenpairs(A, count)
    assert len(values) == min(count or 8, 8)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[8 - len(values) :], atol=1e-12)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-12)
