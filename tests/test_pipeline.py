from __future__ import annotations

import numpy as np
import pytest

from seqspan._core import memory
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
    monkeypatch.setattr(memory, "free_bytes", lambda *_: 1000)
    with pytest.raises(MemoryError, match=r"'fast' on 20 samples in float64 needs .*subsample"):
        represent(np.zeros((4, 20)), Osc(0.1, 1.0), "fast", Stopping())


@pytest.mark.parametrize("cut", ["ncut", "peaks"])
def test_segment_finds_blocks_and_their_number(cut):
    found = segment(BLOCKS, cut=cut)
    assert found.boundaries.tolist() == [6, 12]
    assert found.labels.tolist() == [0] * 6 + [1] * 6 + [2] * 6
    assert found.n_subspaces == 3


def test_segment_in_order_joins_blocks_that_return():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 0], [30, 20, 25])
    X = np.eye(4)[:, labels] + 0.05 * rng.standard_normal((4, 75))
    Z = (labels[:, None] == labels).astype(float)
    found = segment(Z, X, cut="ordered", rng=rng)
    assert found.boundaries.tolist() == [30, 50]
    assert found.labels.tolist() == labels.tolist()
    assert found.n_subspaces == 2
    assert segment(Z, X, cut="ordered", n_spans=2, rng=rng).boundaries.size == 1
    long = segment(Z, X, cut="ordered", n_spans=2, min_length=35, rng=rng)
    assert np.diff([0, *long.boundaries, 75]).min() >= 35
    apart = segment(Z, X, cut="ordered", n_spans=3, n_subspaces=3, rng=rng)
    assert apart.labels.tolist() == [0] * 30 + [1] * 20 + [2] * 25


def test_the_ordered_cut_needs_the_samples():
    with pytest.raises(ValueError, match="cut='ordered' needs the samples X beside Z; got X=None"):
        segment(BLOCKS, cut="ordered")


def test_the_number_of_spans_takes_precedence_for_peaks():
    assert segment(BLOCKS, cut="peaks", n_subspaces=3, n_spans=2).n_subspaces == 2
    assert segment(BLOCKS, cut="peaks", n_subspaces=2).n_subspaces == 2
    assert segment(BLOCKS, cut="ncut", n_subspaces=2).n_subspaces == 2
