"""The affinity, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqspan.affinity import SharedAffinity, symmetric_affinity


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
