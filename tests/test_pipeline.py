from __future__ import annotations

import numpy as np
import pytest

from seqspan import memory
from seqspan.models import Osc
from seqspan.pipeline import represent, segment
from seqspan.solvers import SOLVERS, Stopping

BLOCKS = np.kron(np.eye(3), np.ones((6, 6)))


def test_represent_calls_the_named_solver():
    X = np.repeat(np.eye(4), 5, axis=1)
    solution = represent(X, Osc(0.1, 1.0), "vladmap", Stopping(1e-3))
    direct = SOLVERS["vladmap"](Osc(0.1, 1.0), X, stopping=Stopping(1e-3))
    np.testing.assert_array_equal(solution.Z, direct.Z)


def test_represent_asks_for_memory_first(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match=r"'fast' on 20 samples in float64 needs .*subsample"):
        represent(np.zeros((4, 20)), Osc(0.1, 1.0), "fast", Stopping())


@pytest.mark.parametrize("cut", ["ncut", "peaks"])
def test_segment_finds_blocks_and_their_number(cut):
    found = segment(BLOCKS, cut=cut)
    assert found.boundaries.tolist() == [6, 12]
    assert found.labels.tolist() == [0] * 6 + [1] * 6 + [2] * 6
    assert found.n_subspaces == 3


def test_the_number_of_spans_takes_precedence_for_peaks():
    assert segment(BLOCKS, cut="peaks", n_subspaces=3, n_spans=2).n_subspaces == 2
    assert segment(BLOCKS, cut="peaks", n_subspaces=2).n_subspaces == 2
    assert segment(BLOCKS, cut="ncut", n_subspaces=2).n_subspaces == 2
